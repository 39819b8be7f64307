"""Rules on the shapes of operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import tile_of, tiles_in
from nkijit.dialects.declare.rules import shape_helps as helps
from nkijit.dialects.declare.spec import Check, Rule, Violation
from nkijit.dialects.hardware.targets import PARTITIONS_PER_GPSIMD_CORE, Target
from nkijit.dialects.rule_texts.access import ONE_ELEMENT
from nkijit.dialects.rule_texts.cores import SAME_SHAPE
from nkijit.dialects.rule_texts.shapes import (
    COLUMN,
    FREE_SIZE,
    FREE_SIZE_RANGE,
    GPSIMD_CORES,
    MAX_DIMS,
    PARTITIONS,
    PATTERN,
    SIZE,
    TRANSPOSED_COPY,
)
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import TileInfo


def same_shape(first: str, second: str) -> Rule:
    """Return the rule that the two tiles have the same shape."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        a, b = tile_of(op, first), tile_of(op, second)
        if a is None or b is None or a.shape == b.shape:
            return None
        return Violation(
            f"'{first}' and '{second}' must have the same shape, they have {a.shape} and {b.shape}",
            (first, second),
        )

    return Rule(SAME_SHAPE, check)


def one_element(name: str) -> Rule:
    """Return the rule that the tile has a single element."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        tile = tile_of(op, name)
        if tile is None or tile.size == 1:
            return None
        return Violation(f"'{name}' must have one element, it has {tile.size}", (name,))

    return Rule(ONE_ELEMENT, check)


# ------------------------------------------------------------------ shapes


def partitions_match(*names: str) -> Rule:
    """Return the rule that the tiles have the same partition size."""
    check = _same(names, lambda t: t.partitions, "partitions", helps.for_partitions)
    return Rule(PARTITIONS, check)


def free_size_match(*names: str) -> Rule:
    """Return the rule that the tiles have the same number of elements per partition."""
    unit = "elements per partition"
    return Rule(FREE_SIZE, _same(names, lambda t: t.free_size, unit, helps.for_free_sizes))


def size_match(*names: str) -> Rule:
    """Return the rule that the tensors have the same number of elements."""
    return Rule(SIZE, _same(names, lambda t: t.size, "elements"))


def not_transposed(first: str, second: str) -> Rule:
    """Return the rule that a tensor's dimensions are not a permutation of the other tensor's.

    Other shapes of the same size are legal: they split and merge dimensions in a copy. Dimensions
    of size 1 are ignored.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        a, b = tile_of(op, first), tile_of(op, second)
        if a is None or b is None or a.shape == b.shape:
            return None
        one, other = ([size for size in tile.shape if size > 1] for tile in (a, b))
        if one == other or sorted(one) != sorted(other):
            return None
        return Violation(
            f"'{first}' has shape {a.shape} and '{second}' {b.shape}: the elements are copied in "
            "row-major order, not transposed",
            (first, second),
        )

    return Rule(TRANSPOSED_COPY, check)


def _same(
    names: tuple[str, ...],
    measure: Callable[[TileInfo], int],
    unit: str,
    help_for: Callable[[NisaOp, Mapping[str, TileInfo]], str | None] = lambda op, tiles: None,
) -> Check:
    def check(op: NisaOp, target: Target) -> Violation | None:
        sizes = {name: measure(tile) for name, tile in tiles_in(op, names)}
        if len(set(sizes.values())) <= 1:
            return None
        listed = ", ".join(f"'{name}' has {size}" for name, size in sizes.items())
        help = help_for(op, dict(tiles_in(op, names)))
        return Violation(f"different numbers of {unit}: {listed}", tuple(sizes), help)

    return check


def column_of(name: str, data: str) -> Rule:
    """Return the rule that a tile in `name` has one element for each partition of `data`."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        column, tile = tile_of(op, name), tile_of(op, data)
        if column is None or tile is None:
            return None
        if column.partitions == tile.partitions and column.free_size == 1:
            return None
        shape = "x".join(map(str, column.shape))
        return Violation(
            f"'{name}' must have shape ({tile.partitions}, 1), one element for each partition of "
            f"'{data}', it is {shape}",
            (name, data),
            helps.for_column(op, name, column, tile.partitions),
        )

    return Rule(COLUMN, check)


def at_most_dims(limit: int, *names: str) -> Rule:
    """Return the rule that the tiles have at most `limit` dimensions."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        for name in names:
            tile = tile_of(op, name)
            if tile is not None and len(tile.shape) > limit:
                return Violation(
                    f"'{name}' has {numbered(len(tile.shape), 'dimension')}, at most {limit} are "
                    "possible",
                    (name,),
                )
        return None

    return Rule(MAX_DIMS, check)


def free_size_in(low: int, high: int, *names: str) -> Rule:
    """Return the rule that the tiles have `low` to `high` elements per partition."""
    legal = str(low) if low == high else f"{low} to {high}"

    def check(op: NisaOp, target: Target) -> Violation | None:
        for name in names:
            tile = tile_of(op, name)
            if tile is not None and not low <= tile.free_size <= high:
                return Violation(
                    f"'{name}' must have {legal} elements per partition, it has {tile.free_size}",
                    (name,),
                )
        return None

    return Rule(FREE_SIZE_RANGE, check)


def whole_gpsimd_cores(*names: str) -> Rule:
    """Return the rule that the tiles consist of whole groups of a GpSimd core's partitions."""
    group = PARTITIONS_PER_GPSIMD_CORE

    def check(op: NisaOp, target: Target) -> Violation | None:
        for name, tile in tiles_in(op, names):
            if tile.partitions % group:
                return Violation(
                    f"'{name}' has {numbered(tile.partitions, 'partition')}, not a multiple of "
                    f"{group}",
                    (name,),
                )
        return None

    return Rule(GPSIMD_CORES, check)


MAX_PATTERN_DIMS = 4
"""Largest number of dimensions of a generated pattern."""


def pattern_fits(name: str) -> Rule:
    """Return the rule that `pattern` is well formed and has as many elements as a partition."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        pattern, tile = op.value_of("pattern"), tile_of(op, name)
        if not 1 <= len(pattern) <= MAX_PATTERN_DIMS:
            return Violation(
                f"'pattern' has {len(pattern)} pairs, 1 to {MAX_PATTERN_DIMS} are possible"
            )
        counts = [count for _, count in pattern]
        if min(counts) < 1:
            return Violation(f"'pattern' has counts {counts}, each must be positive")
        if tile is None or math.prod(counts) == tile.free_size:
            return None
        return Violation(
            f"'pattern' has {numbered(math.prod(counts), 'element')}, '{name}' has "
            f"{tile.free_size} per "
            "partition",
            (name,),
        )

    return Rule(PATTERN, check)
