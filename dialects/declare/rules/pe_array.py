"""Rules of matrix multiplications on the Tensor Engine's array of processing elements.

`stationary` (K, M) is loaded into the array and `moving` (K, N) streams through it; `dst` (M, N)
is in PSUM. A `Columns` function of each instruction returns M and N of its tiles.
"""

from __future__ import annotations

from collections.abc import Callable

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import required_tile
from nkijit.dialects.declare.rules import shape_helps as helps
from nkijit.dialects.declare.spec import Rule, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import nc_version
from nkijit.dialects.rule_texts.shapes import MATMUL_POSITION, MATMUL_SHAPE, MATMUL_TILE
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import TileInfo

LOAD_STATIONARY = "LOAD_STATIONARY"
"""The engine instruction that loads a stationary tile into the array."""
MULTIPLY_MOVING = "MULTIPLY_MOVING"
"""The engine instruction that streams a moving tile through the array."""

Columns = Callable[[NisaOp, TileInfo], int]

_ROW_TILES = (32, 64)
"""Legal heights and widths of the tiles into which the array is split.

32 requires NeuronCore-v3 or newer.
"""


def free_size(op: NisaOp, tile: TileInfo) -> int:
    """Return the number of columns of a matmul input that is contracted only over partitions."""
    return tile.free_size


def product_shape(columns: Columns) -> Rule:
    """Return the rule that `dst` has the shape of the product of the inputs."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        dst, stationary, moving = _tiles(op)
        if stationary.partitions != moving.partitions:
            return Violation(
                f"the contraction runs over {numbered(stationary.partitions, 'partition')} of "
                "'stationary' "
                f"and {moving.partitions} of 'moving'",
                ("stationary", "moving"),
                helps.for_contraction(op, stationary, moving),
            )
        expected = (columns(op, stationary), columns(op, moving))
        if (dst.partitions, dst.free_size) == expected:
            return None
        return Violation(
            f"'dst' must be ({expected[0]}, {expected[1]}), it has "
            f"{numbered(dst.partitions, 'partition')} "
            f"and {numbered(dst.free_size, 'element')} per partition",
            ("dst", "stationary", "moving"),
            helps.for_product(op, dst, *expected, target.pmax),
        )

    return Rule(MATMUL_SHAPE, check)


def fits_the_array(columns: Columns) -> Rule:
    """Return the rule that the inputs fit the array, or its tile, and that the result fits PSUM."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        dst, stationary, moving = _tiles(op)
        size = op.value_of("tile_size") or ()
        if len(size) != 2:  # omitted, or an error that `tiling_mode` reports
            size = (target.pmax, target.gemm_stationary_fmax)
        rows, width = size
        if stationary.partitions > rows:
            return Violation(
                f"the contraction has {numbered(stationary.partitions, 'row')}, at most {rows} fit",
                ("stationary", "moving"),
            )
        if columns(op, stationary) > width:
            return Violation(
                f"'stationary' has {numbered(columns(op, stationary), 'column')}, at most "
                f"{width} fit",
                ("stationary",),
            )
        limit = target.moving_columns_max
        if target.version >= nc_version.gen4 and dst.dtype.name == "bfloat16":
            limit *= 2  # the whole of PSUM, in elements of half the size
        if columns(op, moving) > limit:
            return Violation(
                f"'moving' has {numbered(columns(op, moving), 'column')}, at most {limit} fit on "
                f"{target.platform}",
                ("moving",),
            )
        return None

    return Rule(MATMUL_TILE, check)


def tiling_mode(rows_only: Callable[[NisaOp], str | None]) -> Rule:
    """Return the rule that `tile_position` and `tile_size` name a tile of the array.

    `rows_only` returns the reason why the array cannot be split into columns, or None.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        position, size = op.value_of("tile_position") or (), op.value_of("tile_size") or ()
        if not position and not size:
            return None
        if len(position) != 2 or len(size) != 2:
            return Violation(
                "'tile_position' and 'tile_size' are given together, two numbers each; they are "
                f"{position} and {size}"
            )
        full = target.pmax
        smallest = _ROW_TILES[target.version is nc_version.gen2]
        for axis, start, extent in zip(("row", "column"), position, size, strict=True):
            if extent not in (*_ROW_TILES, full) or extent < smallest:
                return Violation(
                    f"the {axis} size of a tile is {smallest} to {full}, it is {extent}"
                )
            if start % extent or not 0 <= start < full:
                return Violation(
                    f"the start {axis} must be a multiple of the {axis} size {extent} below "
                    f"{full}, it is {start}"
                )
        reason = rows_only(op)
        if reason is not None and size[1] != full:
            return Violation(f"{reason} goes with a column size of {full}, it is {size[1]}")
        return None

    return Rule(MATMUL_POSITION, check)


def _tiles(op: NisaOp) -> tuple[TileInfo, TileInfo, TileInfo]:
    return required_tile(op, "dst"), required_tile(op, "stationary"), required_tile(op, "moving")
