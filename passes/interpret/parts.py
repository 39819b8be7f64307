"""Which elements instructions touch of the operands that they may touch in part (`partial`).

A function per operand, registered with `@part` beside the semantics of its instruction (`nisa/`).
It sees the values that the other operands hold now and says, element by element of the tile, what
the instruction touches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.targets import PARTITIONS_PER_GPSIMD_CORE
from nkijit.dialects.tiles import TileInfo
from nkijit.passes.interpret.environment import Array

Mask = npt.NDArray[np.bool_]
Values = Callable[[str], Array]
"""The values of another operand, in the shape of its tile."""
Part = Callable[[NisaOp, TileInfo, Values], Mask]

_PARTS: dict[tuple[type[NisaOp], str], Part] = {}
_P = TypeVar("_P", bound=Part)


def part_of(op: NisaOp, name: str, tile: TileInfo, values: Values) -> Mask | None:
    """Which elements of an operand an instruction touches; None when nothing is known."""
    touched = _PARTS.get((type(op), name))
    return None if touched is None else touched(op, tile, values)


def part(op_class: type[NisaOp], *names: str) -> Callable[[_P], _P]:
    """Register the function that says which elements of these operands are touched."""

    def register(function: _P) -> _P:
        for name in names:
            _PARTS[op_class, name] = function
        return function

    return register


def rows_of(tile: TileInfo, rows: list[int]) -> Mask:
    """Whole rows of a tile."""
    mask = np.zeros(tile.shape, np.bool_)
    mask[rows] = True
    return mask


def first_elements(tile: TileInfo, count: int) -> Mask:
    """The first elements of every 16 partitions, down the partitions first."""
    group = PARTITIONS_PER_GPSIMD_CORE
    number = np.arange(tile.free_size) * group + np.arange(group)[:, None]
    return np.tile(number < count, (tile.partitions // group, 1)).reshape(tile.shape)
