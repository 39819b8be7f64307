"""Origins of undefined values, and their uses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import Effect, Touched, effects
from nkijit.dialects.nisa.gather import LocalGatherOp, NcNGatherOp
from nkijit.dialects.nisa.random import RandSetStateOp, SetRngSeedOp
from nkijit.dialects.nisa.registers import RegisterLoadOp
from nkijit.dialects.nki.kernel import KernelOp, ReturnOp
from nkijit.dialects.nki.views import base_of
from nkijit.passes.analysis.definedness.shadow import MARK, UNWRITTEN, Marks

Mask = npt.NDArray[np.bool_]

MOST = np.iinfo(MARK).max - UNWRITTEN - 1
"""The largest number of distinct origins; all later origins share the last number."""

USES: dict[type[Operation], dict[str, str]] = {
    RegisterLoadOp: {"src": "goes into a register"},
    NcNGatherOp: {"indices": "says which elements are gathered"},
    LocalGatherOp: {"index": "says which elements are gathered"},
    SetRngSeedOp: {"src_seeds": "seeds a generator"},
    RandSetStateOp: {"src_seeds": "seeds a generator"},
}
"""For each operation, the operands that control it, with a phrase for their effect.

`use_of` handles the index tiles of indirect accesses.
"""


def use_of(op: Operation, effect: Effect) -> str | None:
    """Return a phrase for the effect of a value on control or addresses; None for plain data."""
    if effect.touched.is_index:
        return f"says where '{effect.touched.operand}' is"
    return USES.get(type(op), {}).get(effect.touched.operand)


def leaving(kernel: KernelOp) -> Iterator[tuple[Effect, str]]:
    """Yield the tensors whose contents leave a kernel, each with a phrase, e.g. "is returned"."""
    end = kernel.body.block.last_op
    # A trace that ended with an error has no results.
    results = effects(end) if isinstance(end, ReturnOp) else ()
    yield from ((effect, "is returned") for effect in results)
    shown = {base_of(effect.value) for effect in results}
    for op in kernel.operations:
        for effect in effects(op):
            base = base_of(effect.value)
            if effect.role is not Role.read and base not in shown and base in kernel.arguments:
                shown.add(base)
                touched = Touched(base.name_hint or "argument")
                yield Effect(touched, base, Role.read, False), "is an argument"


@dataclass(frozen=True, slots=True)
class Origin:
    """An origin of undefined values: a read of partly unwritten memory."""

    op: Operation
    effect: Effect
    missing: Mask
    """True for the elements of the tile that were unwritten at the read."""


@dataclass(frozen=True, slots=True)
class Use:
    """A use of undefined values that affects behaviour or results."""

    op: Operation
    """The operation that uses the values; for a tensor that leaves the kernel, its last writer."""
    effect: Effect
    """The tile that contains the undefined values."""
    how: str
    """A phrase for the use, which completes the sentence of a finding."""
    undefined: Mask
    """True for the undefined elements of the tile."""
    origin: Origin
    leaves: bool = False
    """True if the values leave the kernel."""


@dataclass(slots=True)
class Origins:
    """The origins of undefined values; a mark above `UNWRITTEN` is an origin's number."""

    _found: list[Origin] = field(default_factory=list[Origin])
    _numbers: dict[tuple[Operation, str], int] = field(
        default_factory=dict[tuple[Operation, str], int]
    )
    _writers: dict[tuple[SSAValue, int], Operation] = field(
        default_factory=dict[tuple[SSAValue, int], Operation]
    )

    def introduced(self, op: Operation, effect: Effect, marks: Marks) -> Marks:
        """Replace the mark `UNWRITTEN` in the marks of a read tile by the number of an origin."""
        missing = marks == UNWRITTEN
        if not missing.any():
            return marks
        key = (op, effect.name)
        number = self._numbers.get(key)
        if number is None:
            if len(self._found) < MOST:
                self._found.append(Origin(op, effect, missing))
            number = self._numbers[key] = UNWRITTEN + len(self._found)
        return np.where(missing, MARK(number), marks)

    def wrote(self, op: Operation, base: SSAValue, marks: Marks) -> None:
        """Record an operation that wrote undefined values to a tensor that leaves the kernel."""
        numbers = marks[marks > UNWRITTEN]
        if numbers.size:
            for number in np.flatnonzero(np.bincount(numbers)):
                self._writers[base, int(number)] = op

    def used(self, op: Operation, effect: Effect, how: str, marks: Marks) -> Use | None:
        """Return the use of a tile on which an operation depends; None if the tile is defined."""
        undefined = marks > UNWRITTEN
        if not undefined.any():
            return None
        return Use(op, effect, how, undefined, self.of(marks[undefined]))

    def left(self, effect: Effect, how: str, marks: Marks) -> Use | None:
        """Return the use of a tensor that leaves the kernel; None if the tensor is defined."""
        undefined = marks > UNWRITTEN
        if not undefined.any():
            return None
        origin = self.of(marks[undefined])
        number = self._numbers[origin.op, origin.effect.name]
        op = self._writers.get((base_of(effect.value), number), origin.op)
        return Use(op, effect, how, undefined, origin, leaves=True)

    def of(self, numbers: Any) -> Origin:
        """Return the origin with the lowest of the given numbers, which is the earliest read."""
        return self._found[int(numbers.min()) - UNWRITTEN - 1]
