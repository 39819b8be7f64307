"""Forms of instructions on digests: an instruction without a term has a step that reports it."""

from __future__ import annotations

from nkijit.dialects.declare.operation import NisaOp
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Env, Step
from nkijit.passes.interpret.steps.forms import Frame, StepForm, StepForms, whole
from nkijit.passes.prove.errors import NotProvableError


class DigestForms(StepForms):
    """The forms of a kernel's instructions; see `StepForms`."""

    def bind(self, op: NisaOp) -> tuple[StepForm, Frame, Binding | None]:
        """Return the form of an instruction, and the frame that selects its slots.

        The step of an instruction without a term raises NotProvableError.
        """
        try:
            form, frame, binding = super().bind(op)
            if binding is not None and binding.indirects:
                raise NotProvableError("its address is known only at run time")
        except NotProvableError as error:
            return StepForm(_refuse(op, error.reason), None), whole, None
        return form, frame, binding


def _refuse(op: NisaOp, reason: str) -> Step:
    def step(env: Env) -> None:
        raise NotProvableError(reason, op)

    return step
