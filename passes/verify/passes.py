"""The verification passes, for `nkijit-opt` and for `verify_module`.

A pass collects every finding of its category and raises one NkiValidationError that carries
them all. The IR is never changed.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from nkijit.passes.verify.accumulators import check_accumulators
from nkijit.passes.verify.constants import check_constants
from nkijit.passes.verify.diagnostics import Diagnostic, NkiValidationError, collapse
from nkijit.passes.verify.launch import check_launches
from nkijit.passes.verify.psum import check_psum
from nkijit.passes.verify.rules import check_rules
from nkijit.passes.verify.schedule import check_schedule


def find_all(module: Operation) -> list[Diagnostic]:
    """The findings of every verification pass."""
    return collapse(
        [
            *check_rules(module),
            *check_constants(module),
            *check_accumulators(module),
            *check_psum(module),
            *check_schedule(module),
        ]
    )


class VerificationPass(ModulePass):
    """Raise NkiValidationError when a rule of these categories is broken."""

    CATEGORIES: ClassVar[tuple[str, ...]] = ()

    def find(self, module: Operation) -> list[Diagnostic]:
        """The findings, in program order."""
        return collapse(check_rules(module, self.CATEGORIES))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = self.find(op)
        if any(d.severity == "error" for d in found):
            raise NkiValidationError(found)


class VerifyBuffersPass(VerificationPass):
    """Operands live in buffers that their instruction and engine can reach."""

    name = "verify-buffers"
    CATEGORIES = ("buffer",)


class VerifyConstantsPass(VerificationPass):
    """Constant data is not written."""

    name = "verify-constants"

    def find(self, module: Operation) -> list[Diagnostic]:
        return collapse(check_constants(module))


class VerifyShapesPass(VerificationPass):
    """Tiles fit the hardware, the instruction and each other."""

    name = "verify-shapes"
    CATEGORIES = ("shape",)


class VerifyDtypesPass(VerificationPass):
    """Operands have data types that the instruction takes."""

    name = "verify-dtypes"
    CATEGORIES = ("dtype",)


class VerifyOperatorsPass(VerificationPass):
    """Operators, reverse flags and commands combine as the instruction allows."""

    name = "verify-operators"
    CATEGORIES = ("operator",)


class VerifyTargetPass(VerificationPass):
    """The target has the instruction, its operators and its arguments."""

    name = "verify-target"
    CATEGORIES = ("target",)


class VerifyAccessPass(VerificationPass):
    """Access patterns are such that engines can walk them."""

    name = "verify-access"
    CATEGORIES = ("access",)


class VerifyAccumulatorsPass(VerificationPass):
    """Accumulator registers, and PSUM, are defined where they are continued on or read."""

    name = "verify-accumulators"

    def find(self, module: Operation) -> list[Diagnostic]:
        return collapse([*check_accumulators(module), *check_psum(module)])


class VerifySchedulePass(VerificationPass):
    """Edges that the author adds between instructions can be kept."""

    name = "verify-schedule"

    def find(self, module: Operation) -> list[Diagnostic]:
        return collapse(check_schedule(module))


class VerifyLaunchPass(VerificationPass):
    """The programs of two cores fit together."""

    name = "verify-launch"

    def find(self, module: Operation) -> list[Diagnostic]:
        return check_launches(module)


class VerifyPass(VerificationPass):
    """All verification passes; their findings come in one error."""

    name = "verify"

    def find(self, module: Operation) -> list[Diagnostic]:
        return [*find_all(module), *check_launches(module)]


VERIFICATION_PASSES: tuple[type[VerificationPass], ...] = (
    VerifyBuffersPass,
    VerifyShapesPass,
    VerifyDtypesPass,
    VerifyOperatorsPass,
    VerifyTargetPass,
    VerifyAccessPass,
    VerifyAccumulatorsPass,
    VerifyConstantsPass,
    VerifySchedulePass,
    VerifyLaunchPass,
    VerifyPass,
)
