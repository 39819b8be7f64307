"""The verification passes, for `nkijit-opt` and for `verify_module`.

A pass collects every finding of its category and raises one NkiValidationError that carries
them all. The IR is never changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from nkijit.passes.verify.accumulators import check_accumulators
from nkijit.passes.verify.diagnostics import Diagnostic, NkiValidationError
from nkijit.passes.verify.rules import check_rules


def find_all(module: ModuleOp) -> list[Diagnostic]:
    """The findings of every verification pass."""
    return [*check_rules(module), *check_accumulators(module)]


class VerificationPass(ModulePass):
    """Raise NkiValidationError when `CHECK` finds an error."""

    CHECK: ClassVar[Callable[[ModuleOp], list[Diagnostic]]]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = type(self).CHECK(op)
        if any(d.severity == "error" for d in found):
            raise NkiValidationError(found)


class VerifyBuffersPass(VerificationPass):
    """Operands live in buffers that their instruction and engine can reach."""

    name = "verify-buffers"
    CHECK = staticmethod(lambda module: check_rules(module, ("buffer",)))


class VerifyShapesPass(VerificationPass):
    """Tiles fit the hardware, the instruction and each other."""

    name = "verify-shapes"
    CHECK = staticmethod(lambda module: check_rules(module, ("shape",)))


class VerifyDtypesPass(VerificationPass):
    """Operands have data types that the instruction takes."""

    name = "verify-dtypes"
    CHECK = staticmethod(lambda module: check_rules(module, ("dtype",)))


class VerifyOperatorsPass(VerificationPass):
    """Operators, reverse flags and commands combine as the instruction allows."""

    name = "verify-operators"
    CHECK = staticmethod(lambda module: check_rules(module, ("operator",)))


class VerifyTargetPass(VerificationPass):
    """The target has the instruction, its operators and its arguments."""

    name = "verify-target"
    CHECK = staticmethod(lambda module: check_rules(module, ("target",)))


class VerifyAccumulatorsPass(VerificationPass):
    """Accumulator registers are defined where they are continued on or read."""

    name = "verify-accumulators"
    CHECK = staticmethod(check_accumulators)


class VerifyPass(VerificationPass):
    """All verification passes; their findings come in one error."""

    name = "verify"
    CHECK = staticmethod(find_all)


VERIFICATION_PASSES: tuple[type[VerificationPass], ...] = (
    VerifyBuffersPass,
    VerifyShapesPass,
    VerifyDtypesPass,
    VerifyOperatorsPass,
    VerifyTargetPass,
    VerifyAccumulatorsPass,
    VerifyPass,
)
