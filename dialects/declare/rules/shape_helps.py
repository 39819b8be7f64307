"""Help texts for operands with shapes that do not fit together, by kind of mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.rules.wording import variable_of
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import TileInfo

_DST = "dst"


def variable(op: NisaOp, name: str) -> str:
    """Return the name of an operand's variable in the kernel, else the operand in quotes."""
    field, _, position = name.partition("[")
    values = op.operands_named(field)
    value = values[int(position.rstrip("]")) if position else 0] if values else None
    return variable_of(value, f"'{name}'")


def for_partitions(op: NisaOp, tiles: Mapping[str, TileInfo]) -> str:
    """Return the help for operands with different numbers of partitions."""
    sizes = {name: tile.partitions for name, tile in tiles.items()}
    most, least = max(sizes.values()), min(sizes.values())
    dst = tiles.get(_DST)
    read = {name: tile for name, tile in tiles.items() if name != _DST}
    row = next((name for name, size in sizes.items() if size == 1 and name != _DST), None)
    if dst is not None and len({tile.partitions for tile in read.values()}) == 1:
        source = next(iter(read.values()))
        if dst.partitions == source.free_size and dst.free_size == source.partitions:
            return (
                f"'{_DST}' has the shape of the transpose: transpose with nisa.nc_transpose, or "
                f"allocate 'dst' with {numbered(source.partitions, 'partition')}"
            )
        if dst.partitions == 1:
            return (
                "each partition has its own result: allocate 'dst' with "
                f"{numbered(source.partitions, 'partition')}; nisa.tensor_partition_reduce "
                "combines partitions"
            )
        if dst.partitions < source.partitions:
            name = variable(op, next(iter(read)))
            return (
                f"allocate 'dst' with {numbered(source.partitions, 'partition')}, or read "
                f"{name}[0:{dst.partitions}] only"
            )
    if row is not None and all(size in (1, most) for size in sizes.values()):
        name = variable(op, row)
        shape = (most, *tiles[row].shape[1:])
        return (
            f"repeat the row in {numbered(most, 'partition')} with nl.broadcast_to({name}, "
            f"shape={shape})"
        )
    larger = [f"{variable(op, name)}[0:{least}]" for name, size in sizes.items() if size > least]
    return f"slice to the same number of partitions: {', '.join(dict.fromkeys(larger))}"


def for_free_sizes(op: NisaOp, tiles: Mapping[str, TileInfo]) -> str | None:
    """Return the help for operands with different numbers of elements per partition.

    None if the rule's own help applies.
    """
    sizes = {name: tile.free_size for name, tile in tiles.items()}
    most = max(sizes.values())
    one = next((name for name, size in sizes.items() if size == 1 and name != _DST), None)
    if one is not None and all(size in (1, most) for size in sizes.values()) and most > 1:
        name = variable(op, one)
        if sizes.get(_DST) == 1:
            return "allocate 'dst' with as many elements per partition as the tiles that it is of"
        repeat = f"repeat the element in each partition, {name}.broadcast(1, {most})"
        is_binary = len(sizes.keys() - {_DST}) > 1
        scalar = f", or pass {name} as operand0 of nisa.tensor_scalar"
        return f"{repeat}{scalar if is_binary else ''}"
    if _DST in sizes and len({size for name, size in sizes.items() if name != _DST}) == 1:
        read = next(name for name in sizes if name != _DST)
        if len(tiles[read].shape) == len(tiles[_DST].shape) == 2:
            larger, smaller = sorted((read, _DST), key=lambda name: -sizes[name])
            return (
                f"slice the larger one, {variable(op, larger)}[:, 0:{sizes[smaller]}], or allocate "
                f"'dst' with {numbered(sizes[read], 'element')} per partition"
            )
    return None


def for_column(op: NisaOp, name: str, column: TileInfo, partitions: int) -> str | None:
    """Return the help for a per-partition operand of a wrong shape.

    None if the rule's own help applies.
    """
    operand = variable(op, name)
    if column.size == 1:
        return (
            f"repeat the number in {numbered(partitions, 'partition')} with "
            f"nl.broadcast_to({operand}, "
            f"shape=({partitions}, 1)), or pass a number of Python"
        )
    if column.partitions == 1:
        return (
            "a row has an operand for each column: repeat it in "
            f"{numbered(partitions, 'partition')} with "
            f"nl.broadcast_to({operand}, shape=({partitions}, {column.free_size})), and use "
            "nisa.tensor_tensor"
        )
    if column.partitions == partitions:
        return f"pass one column, {operand}[:, 0:1], or a number"
    if column.free_size == 1 and column.partitions > partitions:
        return f"slice it to the partitions of the data, {operand}[0:{partitions}]"
    return None


def for_contraction(op: NisaOp, stationary: TileInfo, moving: TileInfo) -> str:
    """Return the help for inputs of a matmul with different numbers of rows to contract."""
    rows = min(stationary.partitions, moving.partitions)
    for name, tile, other in (
        ("stationary", stationary, moving),
        ("moving", moving, stationary),
    ):
        if tile.free_size == other.partitions:
            return (
                f"'{name}' has the contracted dimension in its columns: transpose it first, "
                f"nisa.nc_transpose of {variable(op, name)} to ({tile.free_size}, "
                f"{tile.partitions}), or load it with nisa.dma_transpose"
            )
    larger = "stationary" if stationary.partitions > rows else "moving"
    return (
        f"contract as many rows of both, {variable(op, larger)}[0:{rows}], or load tiles with the "
        "same rows of the contracted dimension"
    )


def for_product(op: NisaOp, dst: TileInfo, rows: int, columns: int, most: int) -> str | None:
    """Return the help for a matmul with a destination of a wrong shape.

    `rows` and `columns` are those of the product, `most` is the largest number of rows. None if the
    rule's own help applies.
    """
    if (dst.partitions, dst.free_size) == (columns, rows):
        exchange = (
            "'dst' has the shape of the transposed product: exchange 'stationary' and 'moving'"
        )
        return exchange if rows > most else f"{exchange}, or allocate 'dst' as ({rows}, {columns})"
    if rows > most:
        return None
    if dst.partitions >= rows and dst.free_size >= columns:
        return f"write to a part of 'dst', {variable(op, 'dst')}[0:{rows}, 0:{columns}]"
    return (
        f"the rows of 'dst' are the columns of 'stationary': allocate 'dst' as "
        f"nl.ndarray(({rows}, {columns}), nl.float32, buffer=nl.psum)"
    )


def for_shapes(shapes: Mapping[str, Sequence[int]]) -> str:
    """Return the help for operands with shapes that do not broadcast."""
    names = list(shapes)
    rank = max(map(len, shapes.values()))
    low = next((name for name in names if len(shapes[name]) < rank), None)
    if low is not None:
        return (
            f"give '{low}' {numbered(rank, 'dimension')}, each of the same size or 1, with reshape"
        )
    for dim in range(rank):
        sizes = {name: shapes[name][dim] for name in names if shapes[name][dim] > 1}
        if len(set(sizes.values())) > 1:
            large = max(sizes, key=lambda name: sizes[name])
            small = min(sizes, key=lambda name: sizes[name])
            if tuple(shapes[large]) == tuple(reversed(shapes[small])):
                return f"'{small}' has the shape of the transpose: transpose it with nl.transpose"
            keys = ", ".join([*[":"] * dim, f"0:{sizes[small]}"])
            return f"each dimension has the same size or 1: slice dim {dim} of '{large}', [{keys}]"
    return "give the tiles the same number of dimensions, each of the same size or 1"


def for_contracted(
    shapes: Mapping[str, Sequence[int]], axes: Mapping[str, Sequence[int]]
) -> str | None:
    """Return the help for a matmul's inputs with different sizes in the contracted dimension.

    The help is to transpose an input that has the required size in another dimension. None if there
    is no such input.

    Args:
        shapes: the shapes of the two inputs, by name.
        axes: for each dimension of an input, its number in the tile that the call spans.
    """
    (one, first), (other, second) = shapes.items()
    if not {one, other} <= axes.keys():
        return None
    shared = next(dim for dim in axes[one] if dim in axes[other])
    for name, own, size in (
        (one, first, second[axes[other].index(shared)]),
        (other, second, first[axes[one].index(shared)]),
    ):
        at = axes[name].index(shared)
        elsewhere = [dim for dim, length in enumerate(own) if length == size and dim != at]
        if elsewhere:
            where = "columns" if elsewhere[0] else "partitions"
            how = "pass transpose_x=True, or " if name == "x" and not elsewhere[0] else ""
            return (
                f"'{name}' has the contracted dimension in its {where}: {how}transpose it first "
                "with nisa.nc_transpose"
            )
    return None
