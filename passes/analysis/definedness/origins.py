"""Where undefined values come from, and what uses them."""

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
"""Origins that are told apart; those that come later count as the last one."""

USES: dict[type[Operation], dict[str, str]] = {
    RegisterLoadOp: {"src": "goes into a register"},
    NcNGatherOp: {"indices": "says which elements are gathered"},
    LocalGatherOp: {"index": "says which elements are gathered"},
    SetRngSeedOp: {"src_seeds": "seeds a generator"},
    RandSetStateOp: {"src_seeds": "seeds a generator"},
}
"""Operands whose values decide what happens, and in which way; tiles of indices do, too."""


def use_of(op: Operation, effect: Effect) -> str | None:
    """In which way a value decides what happens; None for one that is only computed on."""
    if effect.touched.is_index:
        return f"says where '{effect.touched.operand}' is"
    return USES.get(type(op), {}).get(effect.touched.operand)


def leaving(kernel: KernelOp) -> Iterator[tuple[Effect, str]]:
    """The tensors with which a kernel's values leave it, and in which way they do."""
    end = kernel.body.block.last_op
    # A trace that was broken off has no results.
    results = effects(end) if isinstance(end, ReturnOp) else ()
    yield from ((effect, "is returned") for effect in results)
    shown = {base_of(effect.value) for effect in results}
    for op in kernel.operations:
        for effect in effects(op):
            base = base_of(effect.value)
            if effect.role is not Role.read and base not in shown and base in kernel.arguments:
                shown.add(base)
                what = Touched(base.name_hint or "argument")
                yield Effect(what, base, Role.read, False), "is an argument"


@dataclass(frozen=True, slots=True)
class Origin:
    """A read of memory that nothing has written, of which other parts are written."""

    op: Operation
    effect: Effect
    missing: Mask
    """The elements of the tile that nothing has written, when it was first read."""


@dataclass(frozen=True, slots=True)
class Use:
    """Undefined values that matter."""

    op: Operation
    """What uses them; for a tensor that leaves the kernel, the last that wrote some."""
    effect: Effect
    """The tile that they are in."""
    how: str
    """What their use is, as the rest of a sentence about it."""
    undefined: Mask
    """Which elements of the tile they are."""
    origin: Origin
    leaves: bool = False
    """They leave the kernel."""


@dataclass(slots=True)
class Origins:
    """Numbers for the reads that bring in undefined values: marks above `UNWRITTEN`."""

    _found: list[Origin] = field(default_factory=list[Origin])
    _numbers: dict[tuple[Operation, str], int] = field(
        default_factory=dict[tuple[Operation, str], int]
    )
    _writers: dict[tuple[SSAValue, int], Operation] = field(
        default_factory=dict[tuple[SSAValue, int], Operation]
    )

    def introduced(self, op: Operation, effect: Effect, marks: Marks) -> Marks:
        """The marks of a tile that is read, with a number where nothing has written it."""
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
        """Note what wrote undefined values into a tensor that leaves the kernel."""
        numbers = marks[marks > UNWRITTEN]
        if numbers.size:
            for number in np.flatnonzero(np.bincount(numbers)):
                self._writers[base, int(number)] = op

    def used(self, op: Operation, effect: Effect, how: str, marks: Marks) -> Use | None:
        """The use of a tile that an operation depends on, if some of it is undefined."""
        undefined = marks > UNWRITTEN
        if not undefined.any():
            return None
        return Use(op, effect, how, undefined, self.of(marks[undefined]))

    def left(self, effect: Effect, how: str, marks: Marks) -> Use | None:
        """The use of a tensor that leaves the kernel, if some of it is undefined."""
        undefined = marks > UNWRITTEN
        if not undefined.any():
            return None
        origin = self.of(marks[undefined])
        number = self._numbers[origin.op, origin.effect.name]
        op = self._writers.get((base_of(effect.value), number), origin.op)
        return Use(op, effect, how, undefined, origin, leaves=True)

    def of(self, numbers: Any) -> Origin:
        """The first of the origins with these numbers."""
        return self._found[int(numbers.min()) - UNWRITTEN - 1]
