"""Checks that no instruction writes constant data, which is loaded once and shared by all uses."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from nkijit.dialects.declare.kinds import OperandKind, Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.effects import role_of
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of, used_of
from nkijit.dialects.rule_texts.operands import CONSTANT_WRITTEN
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic


def check_constants(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a finding for each instruction that writes constant data."""
    constants = [op for op in kernel.operations if type(op) is ConstantOp]
    if not constants:
        return
    held = {op.result for op in constants}
    if not any(map(_is_written, held)):
        return
    for op in kernel.operations:
        if not isinstance(op, NisaOp):
            continue
        for f, value in op.given_operands():
            written = isinstance(f.kind, OperandKind) and f.kind.role is not Role.read
            if written and base_of(value) in held:
                yield diagnose(
                    CONSTANT_WRITTEN, op, f"'{f.name}' is constant data", [(f.name, value)]
                )


def _is_written(constant: SSAValue) -> bool:
    """Whether an instruction writes to a constant or to one of its views."""
    return any(
        role_of(use) not in (None, Role.read) for value in used_of(constant) for use in value.uses
    )
