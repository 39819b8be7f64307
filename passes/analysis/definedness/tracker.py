"""Propagation of marks through operations, for the static analysis and for sanitised runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.definedness.flows import left_by, shaped
from nkijit.passes.analysis.definedness.origins import Origins, Use, leaving, use_of
from nkijit.passes.analysis.definedness.shadow import DEFINED, MARK, UNWRITTEN, Marks

Mask = npt.NDArray[np.bool_]


def is_masked(effect: Effect) -> bool:
    """Return True for a tile with elements that a mask of the kernel leaves undefined."""
    owner = base_of(effect.value).owner
    return isinstance(owner, AllocOp) and owner.masked


class Tracker(ABC):
    """The marks of one core's memory, updated while operations are visited in program order."""

    def __init__(self, kernel: KernelOp, origins: Origins):
        self.kernel = kernel
        self.target = kernel.target
        self.leaving = {base_of(effect.value) for effect, _ in leaving(kernel)}
        self.origins = origins
        self.accumulators: dict[str, Marks] = {}
        """The marks of each engine's accumulators, by the engine's name."""

    @abstractmethod
    def read(self, op: Operation, effect: Effect, *, least: bool = False) -> Marks:
        """Return the marks of a tile, in its shape; `least`: see `Shadow.read`."""

    @abstractmethod
    def touched(self, op: Operation, effect: Effect) -> Mask | None:
        """Return which elements of a tile an operation accesses; None for all or if not known."""

    @abstractmethod
    def data(self, op: NisaOp, name: str) -> npt.NDArray[Any] | None: ...

    @abstractmethod
    def holds(self, op: NisaOp) -> Mask | None: ...

    @abstractmethod
    def added(self, op: NisaOp) -> Mask | bool | None: ...

    @abstractmethod
    def entirely_unwritten(self, op: Operation, effect: Effect) -> None:
        """Handle an operation's read of a completely unwritten tile."""

    @abstractmethod
    def used(self, use: Use) -> None:
        """Handle a use of undefined values."""

    def marks_read(self, op: Operation) -> dict[str, list[Marks]]:
        """Return the marks of the tiles that an operation reads, by operand; report uses."""
        found: dict[str, list[Marks]] = {}
        for effect in effects(op):
            if effect.role is Role.write:
                continue
            marks = self.read(op, effect)
            if effect.role is Role.read:
                marks = self._taken(op, effect, marks)
            if not effect.touched.is_index:
                found.setdefault(effect.touched.operand, []).append(marks)
        return found

    def _taken(self, op: Operation, effect: Effect, marks: Marks) -> Marks:
        """Return the marks of a read tile, with origins instead of `UNWRITTEN`.

        All marks are `DEFINED` if the read itself was reported.
        """
        if not marks.any():
            return marks
        touched = self.touched(op, effect)
        if touched is not None:
            marks = np.where(touched, marks, DEFINED)
        if self._nothing_written(op, effect, marks, touched):
            self.entirely_unwritten(op, effect)
            return np.zeros_like(marks)
        marks = self.origins.introduced(op, effect, marks)
        how = use_of(op, effect)
        if how is None:
            return marks
        use = self.origins.used(op, effect, how, marks)
        if use is not None:
            self.used(use)
        return np.zeros_like(marks)

    def _nothing_written(
        self, op: Operation, effect: Effect, marks: Marks, touched: Mask | None
    ) -> bool:
        def all_unwritten(marks: Marks) -> bool:
            seen = marks if touched is None else marks[touched]
            return seen.size > 0 and bool((seen == UNWRITTEN).all())

        if is_masked(effect):
            return False  # nothing is wrong before one of its elements is used
        # An element with one written unit does not count as unwritten.
        return all_unwritten(marks) and all_unwritten(self.read(op, effect, least=True))

    def written_by(self, op: NisaOp) -> Iterator[tuple[Effect, Marks]]:
        """Yield the tiles that an instruction writes, with their new marks."""
        read = self.marks_read(op)
        written = [effect for effect in effects(op) if effect.role is not Role.read]
        if not written:
            return
        left = left_by(_Reading(self, op, self.target, read))
        for effect in written:
            marks = left.get(effect.touched.operand)
            shape = info_of(effect.value).shape
            if marks is None:
                yield effect, np.zeros(shape, MARK)
                continue
            base = base_of(effect.value)
            if base in self.leaving:
                self.origins.wrote(op, base, marks)
            yield effect, shaped(marks, shape)

    def accumulators_of(self, op: NisaOp) -> Marks:
        """Return the marks of the accumulators of an instruction's engine."""
        use = op.SPEC.accumulators
        assert use is not None
        name = use.engine.name
        if name not in self.accumulators:
            self.accumulators[name] = np.zeros(self.target.pmax, MARK)
        return self.accumulators[name]


@dataclass(slots=True)
class _Reading:
    """The operands of one instruction, as a `flows.Reading`."""

    tracker: Tracker
    op: NisaOp
    target: Target
    read: dict[str, list[Marks]]

    def marks(self, name: str, number: int = 0) -> Marks:
        return self.read[name][number]

    def data(self, name: str) -> npt.NDArray[Any] | None:
        return self.tracker.data(self.op, name)

    def holds(self) -> Mask | None:
        return self.tracker.holds(self.op)

    def added(self) -> Mask | bool | None:
        return self.tracker.added(self.op)

    def accumulators(self) -> Marks:
        return self.tracker.accumulators_of(self.op)
