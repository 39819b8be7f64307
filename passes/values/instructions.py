"""Descriptions of the instructions of a run: names, source lines, loops, operands, statistics."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import FloatAttr
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.effects import effects
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.diagnostics.places import Position, positions

Array = npt.NDArray[Any]
LoopIndices = tuple[tuple[str, int], ...]
"""(name, iteration) of each surrounding loop, outermost first."""
DeviceLoops = tuple[tuple[Operation, int], ...]
"""(loop, iteration) of each surrounding loop on the device, outermost first."""
TracedIndices = tuple[tuple[str, int | None], ...]
"""(name, iteration) of each surrounding loop in the user's source, outermost first.

The iteration is None for a loop on the device.
"""

_NUMBERED = re.compile(r"\.(\d+)$")


def authors_name(value: SSAValue) -> str:
    """Return the name that a tensor, register or argument has in the kernel; `?` if unknown."""
    hint = base_of(value).name_hint
    return "?" if hint is None else _NUMBERED.sub(r"_\1", hint)


def loop_name(op: Operation) -> str:
    """Return the name of a loop's induction variable, else `loop`; `while` for other loops."""
    if isinstance(op, ForOp):
        hint = op.body.block.args[0].name_hint
        return "loop" if hint is None else _NUMBERED.sub(r"_\1", hint)
    return "while"


def named(loops: DeviceLoops) -> LoopIndices:
    """Replace the operations of loops on the device by the loops' names."""
    return tuple((loop_name(op), value) for op, value in loops)


def merged(traced: TracedIndices, device: LoopIndices) -> LoopIndices:
    """Return the Python loops and device loops around an instruction, as far as known."""
    inner = iter(device)
    found: list[tuple[str, int]] = []
    for name, value in traced:
        if value is not None:
            found.append((name, value))
        else:
            found += [entry for entry in (next(inner, None),) if entry is not None]
    return (*found, *inner)


def loops_text(loops: LoopIndices) -> str:
    """Format loops: `i=3, j=0`."""
    return ", ".join(f"{name}={value}" for name, value in loops)


@dataclass(frozen=True, slots=True)
class OperandShape:
    """An operand of an instruction, without values."""

    name: str
    """The operand's name in the instruction's signature, e.g. `data`."""
    tile: str
    """The kernel's name of the operand's tensor; empty for a number."""
    value: SSAValue
    role: Role
    shape: tuple[int, ...]
    dtype: str
    """The public name of the operand's data type, e.g. `bfloat16`."""

    @property
    def is_read(self) -> bool:
        """True if the instruction reads the operand."""
        return self.role is not Role.write

    @property
    def is_written(self) -> bool:
        """True if the instruction writes the operand."""
        return self.role is not Role.read

    def __str__(self) -> str:
        size = "x".join(map(str, self.shape))
        return f"{self.tile}: {size} {self.dtype}" if self.tile else self.name


def operands_of(op: Operation) -> tuple[OperandShape, ...]:
    """Return the tiles that an instruction touches, written tiles first, as in signatures."""
    found: list[OperandShape] = []
    for effect in effects(op):
        info = info_of(effect.value)
        found.append(
            OperandShape(
                effect.name,
                authors_name(effect.value),
                effect.value,
                effect.role,
                info.shape,
                info.dtype.name,
            )
        )
    return tuple(sorted(found, key=lambda operand: not operand.is_written))


def numbers_of(op: Operation) -> dict[str, float]:
    """Return the constant numbers among an instruction's arguments, by name."""
    found: dict[str, float] = {}
    if isinstance(op, NisaOp):
        for f, value in op.given_operands():
            if not is_tile(value):
                number = scalar_constant(value)
                if number is not None:
                    found[f.name] = number
        for name, attribute in op.properties.items():
            if isinstance(attribute, FloatAttr):
                found[name] = attribute.value.data
    return found


def as_authors_see(value: SSAValue, array: Array) -> Array:
    """Return stored values in a tile's shape, with stored booleans as bool."""
    info = info_of(value)
    shaped = array.reshape(info.shape)
    return shaped != 0 if info.dtype.kind is Kind.boolean else shaped


def place_of(op: Operation) -> Position | None:
    """Return the innermost call in the user's source that created an operation, or None."""
    places = positions(op.location)
    return places[0] if places else None


def short_place(place: Position | None) -> str:
    """Format a position: `kernel.py:14`."""
    return "?" if place is None else place.line_text


def smallest_normal(dtype: np.dtype[Any]) -> float:
    """Return the smallest normal number of a float type; 0 for integers and booleans."""
    if dtype.kind in "biu":
        return 0.0
    return float(cast(Any, ml_dtypes).finfo(dtype).smallest_normal)


def ends_of(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return the smallest and the largest finite number of a data type, at which values saturate.

    NaN replaces a number at which values do not saturate: 0 of unsigned integers, which is an
    ordinary value, and both numbers for booleans.
    """
    if dtype.kind == "b":
        return np.nan, np.nan
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return float(limits.min) if limits.min else np.nan, float(limits.max)
    limits = cast(Any, ml_dtypes).finfo(dtype)
    return float(limits.min), float(limits.max)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of an array's elements. NaN and infinities are only counted."""

    count: int
    nans: int
    infinities: int
    least: float
    largest: float
    mean: float
    zeros: int
    subnormals: int
    """The number of nonzero elements that are smaller than the smallest normal number."""
    saturated: int
    """The number of elements at an end of their data type's range; see `ends_of`."""

    @staticmethod
    def of(array: Array) -> Statistics:
        """Return the statistics of an array of numbers or booleans."""
        values = array.astype(np.float64).reshape(-1)
        finite = values[np.isfinite(values)]
        bad = values.size - finite.size
        nans = int(np.isnan(values).sum()) if bad else 0
        zeros = finite.size - int(np.count_nonzero(finite))
        small = 0
        smallest = smallest_normal(array.dtype)
        if smallest:
            small = int(np.count_nonzero(np.abs(finite) < smallest)) - zeros
        numbers = np.nan, np.nan, np.nan
        saturated = 0
        if finite.size:
            least, largest = float(finite.min()), float(finite.max())
            numbers = least, largest, float(finite.mean())
            low, high = ends_of(array.dtype)
            for end, number in ((low, least), (high, largest)):
                saturated += int(np.count_nonzero(finite == end)) if end == number else 0
        return Statistics(values.size, nans, bad - nans, *numbers, zeros, small, saturated)

    def __str__(self) -> str:
        numbers = f"min {self.least:.4g}, max {self.largest:.4g}, mean {self.mean:.4g}"
        if np.isnan(self.mean):
            numbers = "nothing finite"
        counts = (self.nans, "NaN"), (self.infinities, "Inf"), (self.saturated, "saturated")
        return ", ".join([numbers, *(f"{count} {name}" for count, name in counts if count)])
