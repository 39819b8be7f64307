"""Shapes of results and axes of reductions, as source expressions in terms of the operands."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, cast

from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.observing import Seen
from nkijit.migrate.rewriting import Rewriter
from nkijit.migrate.values import Plain, TensorValue, Value


def shape_text(tiles: Mapping[str, TensorValue], seen: Sequence[Seen]) -> str:
    """Return an expression for the shape of a result, from the shapes of operands."""
    last = seen[-1].shape
    for tile in tiles.values():
        if tile.is_name and tile.keys is None and tile.seen[-1].shape == last:
            return tile.shape
    dims: list[str] = []
    for dim, size in enumerate(last):
        dims.append(_dim_text(list(tiles.values()), dim, size, seen))
    return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"


def _dim_text(tiles: Sequence[TensorValue], dim: int, size: int, seen: Sequence[Seen]) -> str:
    for tile in tiles:
        shape = tile.seen[-1].shape
        is_known = tile.is_name or tile.keys is not None or (tile.sizes and tile.sizes[dim])
        if is_known and dim < len(shape) and shape[dim] == size > 1:
            return tile.size(dim)
    if len({s.shape[dim] for s in seen}) > 1:
        raise NoRewriteError("the size of a result")
    return str(size)


def _axes(node: ast.expr, rank: int) -> list[int] | None:
    """Return the literal dimensions in order; None if they are not literals."""
    try:
        value: Any = ast.literal_eval(node)
    except ValueError:
        return None
    items = cast("list[int]", value) if isinstance(value, (list, tuple)) else [value]
    return sorted(d % rank for d in items)


def moved_last(data: Any, axis: ast.expr, keepdims: bool) -> dict[str, Value]:
    """Move the reduced dimensions of an operand to the end.

    Returns the new `data` and `axis`; {} if the reduced dimensions are already last or not
    literals.
    """
    assert isinstance(data, TensorValue)
    rank = data.rank
    inner = _axes(axis, rank)
    if inner is None:
        return {}
    last = list(range(rank - len(inner), rank))
    if inner == last:
        return {}
    if keepdims:
        raise NoRewriteError("a reduction that keeps dimensions which are not the last ones", axis)
    order = [d for d in range(rank) if d not in inner] + inner
    axes = str(last[0]) if len(last) == 1 else f"({', '.join(map(str, last))})"
    text = f"{data.text}.permute(({', '.join(map(str, order))}))"
    return {"data": TensorValue(text, data.seen, is_view=True), "axis": Plain(axes)}


def reduced_shape(data: TensorValue, axis: ast.expr, seen: Sequence[Seen]) -> str | None:
    """Return the shape of a reduction; None if its axes are not literals."""
    rank = data.rank
    inner = _axes(axis, rank)
    if inner is None:
        return None
    remaining = [data.size(d) for d in range(rank) if d not in inner]
    remaining += ["1"] * (len(remaining) == 1)
    with_ones = ["1" if d in inner else data.size(d) for d in range(rank)]
    count = len(seen[-1].shape)
    dims = with_ones if count == rank and len(remaining) != rank else remaining
    return f"({', '.join(dims)})" if len(dims) == count else None


def axes_text(rewriter: Rewriter, node: ast.expr) -> str:
    """Return the text of axes for the current API: an integer or a tuple."""
    if isinstance(node, (ast.List, ast.Tuple)):
        items = [rewriter.text(item) for item in node.elts]
        return items[0] if len(items) == 1 else f"({', '.join(items)})"
    return rewriter.text(node)


__all__ = ["axes_text", "moved_last", "reduced_shape", "shape_text"]
