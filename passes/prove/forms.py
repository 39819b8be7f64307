"""Forms of instructions on digests: an instruction without a term has a step that reports it."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.dtypes import DType
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import is_tile
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Env, Step
from nkijit.passes.interpret.records.records import Meets
from nkijit.passes.interpret.steps.forms import Bind, Frame, StepForm, StepForms, whole
from nkijit.passes.prove.addresses import with_addresses
from nkijit.passes.prove.algebra import Algebra
from nkijit.passes.prove.errors import NotProvableError
from nkijit.passes.prove.held import held_type
from nkijit.passes.prove.memory import DigestSlots


class DigestForms(StepForms):
    """The forms of a kernel's instructions; see `StepForms`."""

    def __init__(self, slots: DigestSlots, bind: Bind, algebra: Algebra):
        """Start without forms. `bind` returns the step that computes a record's digests."""
        super().__init__(slots, bind)
        self._algebra, self._cells = algebra, slots
        self._types: dict[int, DType | None] = {}
        """The type that a tensor holds, by the `id` of its value."""

    def bind(self, op: NisaOp) -> tuple[StepForm, Frame, Binding | None]:
        """Return the form of an instruction, and the frame that selects its slots.

        The step of an instruction without a term raises NotProvableError.
        """
        try:
            form, frame, binding = super().bind(op)
            if binding is None:
                return form, frame, None
            if binding.indirects or isinstance(form.record, Meets):
                self._check_widths(op)
            if not binding.indirects:
                return StepForm(_located(form.step, op), form.record), frame, binding
            step = with_addresses(op, form.step, binding, self._algebra)
        except NotProvableError as error:
            return StepForm(_refuse(op, error.reason), None), whole, None
        # Without the binding, the caller adds no addresses itself.
        return StepForm(_located(step, op), form.record), whole, None

    def _key(self, op: NisaOp, history: Any) -> tuple[object, ...] | None:
        """Return a key that also has the granule of each tensor, and the type that it holds."""
        key = super()._key(op, history)
        if key is None:
            return None
        bases = [base_of(value) for value in operand_tuple(op) if is_tile(value)]
        return (*key, *map(self._cells.granule, bases), *map(self._held, bases))

    def _held(self, base: SSAValue) -> DType | None:
        if id(base) not in self._types:
            self._types[id(base)] = held_type(base)
        return self._types[id(base)]

    def _check_widths(self, op: NisaOp) -> None:
        """Raise NotProvableError if the instruction moves cells that are not whole elements."""
        for value in operand_tuple(op):
            if is_tile(value) and self._cells.is_mixed(base_of(value)):
                raise NotProvableError("it moves elements of a tensor with views of other widths")


def _located(step: Step, op: NisaOp) -> Step:
    """Return a step that adds the instruction to a NotProvableError."""

    def located(env: Env) -> object:
        try:
            return step(env)
        except NotProvableError as error:
            raise NotProvableError(error.reason, error.op or op) from None

    return located


def _refuse(op: NisaOp, reason: str) -> Step:
    def step(env: Env) -> None:
        raise NotProvableError(reason, op)

    return step
