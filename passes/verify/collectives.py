"""Checks of collectives in two instructions: a prepare, and a trigger that starts it."""

from __future__ import annotations

from collections.abc import Iterator

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.ncc import TRIGGER_OF
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.rule_texts.cores import COLLECTIVE_SPLIT
from nkijit.passes.diagnostics.diagnose import diagnose, mention
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.verify.schedule import loop_block

_TRIGGERS = frozenset(TRIGGER_OF.values())


def check_collectives(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield findings about unpaired prepares and triggers, and metadata changed in between."""
    prepared: NisaOp | None = None
    for op in kernel.operations:
        if type(op) in TRIGGER_OF and isinstance(op, NisaOp):
            if prepared is not None:
                yield _found(op, "comes before the trigger of another prepare", prepared)
            prepared = op
        elif type(op) in _TRIGGERS and isinstance(op, NisaOp):
            mismatch = _mismatch(prepared, op)
            if mismatch:
                yield _found(op, mismatch, prepared)
            prepared = None
        elif prepared is not None:
            (metadata,) = prepared.operands_named("metadata_tensor")
            base = base_of(metadata)
            if any(r is not Role.read and base_of(v) is base for v, r in reads_and_writes(op)):
                yield diagnose(
                    COLLECTIVE_SPLIT,
                    op,
                    f"writes the metadata that '{mention(prepared)}' has read",
                    related=[(prepared, "it is read here")],
                )
    if prepared is not None:
        yield diagnose(COLLECTIVE_SPLIT, prepared, "is not triggered")


def _found(op: NisaOp, message: str, prepared: NisaOp | None) -> Diagnostic:
    related = [] if prepared is None else [(prepared, "it is prepared here")]
    return diagnose(COLLECTIVE_SPLIT, op, message, related=related)


def _mismatch(prepared: NisaOp | None, trigger: NisaOp) -> str:
    """Return why a trigger does not match the last prepare; "" if both match."""
    if prepared is None:
        return "nothing is prepared"
    if TRIGGER_OF[type(prepared)] is not type(trigger):
        return f"'{mention(prepared)}' was prepared"
    for f in prepared.SPEC.fields:
        if f.is_operand:
            same = list(prepared.operands_named(f.name)) == list(trigger.operands_named(f.name))
        else:
            same = prepared.value_of(f.name) == trigger.value_of(f.name)
        if not same:
            return f"'{f.name}' is not what was prepared"
    if loop_block(prepared.parent_block()) is not loop_block(trigger.parent_block()):
        return "its prepare is in another loop on the device"
    return ""
