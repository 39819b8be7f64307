"""The verification passes, for `nkijit-opt` and for `TracedKernel.verify`.

A pass collects all its findings and raises one NkiValidationError with them if one is an error.
Passes never change the IR.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from nkijit.dialects.nki.kernel import KernelOp, launches
from nkijit.dialects.rule_texts.dataflow import REGISTER_BITS
from nkijit.dialects.rule_texts.hazards import ANTI_DEPENDENCE, OUTPUT_DEPENDENCE
from nkijit.dialects.rule_texts.lint import LINT, ROUNDED_INTEGERS, SATURATED_SUM, SUSPECTED
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.dialects.walks import unchanged
from nkijit.passes.analysis.flow.dependences import Dependences
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import collapse
from nkijit.passes.verify.accumulators import check_accumulators
from nkijit.passes.verify.addresses import check_addresses
from nkijit.passes.verify.capacity import check_capacity
from nkijit.passes.verify.collectives import check_collectives
from nkijit.passes.verify.constants import check_constants
from nkijit.passes.verify.cores import check_cores
from nkijit.passes.verify.hazards import check_serialised
from nkijit.passes.verify.indices import check_indices
from nkijit.passes.verify.init import check_init
from nkijit.passes.verify.integers import check_integers
from nkijit.passes.verify.launch import check_launch
from nkijit.passes.verify.lint import check_lint
from nkijit.passes.verify.psum import check_psum
from nkijit.passes.verify.registers import check_register_bits, check_registers, check_while_loops
from nkijit.passes.verify.results import check_results
from nkijit.passes.verify.rules import CATEGORIES, check_rules
from nkijit.passes.verify.schedule import check_schedule
from nkijit.passes.verify.selections import check_selections
from nkijit.passes.verify.sums import check_saturated_sums


class VerificationPass(ModulePass):
    """A pass that raises NkiValidationError if a rule is broken."""

    NEEDS_ALL: ClassVar[bool] = False
    """True if the pass is skipped after tracing errors, to avoid follow-up findings."""
    SUSPECTED: ClassVar[tuple[RuleText, ...]] = ()
    """The rules that `suspect` reports."""
    ADVICE: ClassVar[tuple[RuleText, ...]] = ()
    """The rules about which `advise` returns warnings."""

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        """Return the findings about the program of one core, in program order."""
        return ()

    def find_together(self, kernels: Sequence[KernelOp]) -> Iterable[Diagnostic]:
        """Return the findings about the programs of all cores of a launch together."""
        return ()

    def suspect(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        """Return suspicious findings about one core's program, which has no errors."""
        return ()

    def advise(self, program: Dependences) -> Iterable[Diagnostic]:
        """Return advice about one core's program, which has no errors."""
        return ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [d for kernels in launches(op) for d in find_all(kernels, (type(self),))]
        if any(d.severity == "error" for d in found):
            raise NkiValidationError(found)


class _RulesPass(VerificationPass):
    """Check the rules of `CATEGORIES` that operations declare."""

    CATEGORIES: ClassVar[tuple[str, ...]]

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return check_rules(kernel, self.CATEGORIES)


class VerifyBuffersPass(_RulesPass):
    """Check that operands are in buffers that the instruction and its engine can access."""

    name = "verify-buffers"
    CATEGORIES = ("buffer",)


class VerifyShapesPass(_RulesPass):
    """Check that tiles fit the hardware, the instruction and each other."""

    name = "verify-shapes"
    CATEGORIES = ("shape",)


class VerifyDtypesPass(_RulesPass):
    """Check that operands have data types that the instruction takes."""

    name = "verify-dtypes"
    CATEGORIES = ("dtype",)


class VerifyOperatorsPass(_RulesPass):
    """Check that operators, reverse flags and commands combine as the instruction allows."""

    name = "verify-operators"
    CATEGORIES = ("operator",)


class VerifyTargetPass(_RulesPass):
    """Check that the target supports the instruction, its operators and its arguments."""

    name = "verify-target"
    CATEGORIES = ("target",)


class VerifyAccessPass(_RulesPass):
    """Check that engines can access and walk their operands, also at run-time addresses."""

    name = "verify-access"
    CATEGORIES = ("access",)

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return (*super().find(kernel), *check_indices(kernel))


class VerifyInstructionsPass(_RulesPass):
    """Check all rules that instructions, allocations and views declare, each op by itself."""

    name = "verify-instructions"
    CATEGORIES = CATEGORIES


class VerifyIndicesPass(VerificationPass):
    """Check that indices computed on the device stay within their tensors."""

    name = "verify-indices"

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return check_indices(kernel)


class VerifyConstantsPass(VerificationPass):
    """Check that constant data is not written."""

    name = "verify-constants"

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return check_constants(kernel)


class VerifyAccumulatorsPass(VerificationPass):
    """Check that accumulator registers and PSUM are defined before they are continued or read."""

    name = "verify-accumulators"

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return (*check_accumulators(kernel), *check_psum(kernel))


class VerifyInitPass(VerificationPass):
    """Check that data is written before use or return, and that register numbers are integers."""

    name = "verify-init"
    NEEDS_ALL = True
    SUSPECTED = (REGISTER_BITS,)

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return (*check_registers(kernel), *check_while_loops(kernel))

    def suspect(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return check_register_bits(kernel)

    def find_together(self, kernels: Sequence[KernelOp]) -> Iterable[Diagnostic]:
        return check_init(kernels)


class VerifyHazardsPass(VerificationPass):
    """Check that no memory is used while another operation writes it."""

    name = "verify-hazards"
    ADVICE = (ANTI_DEPENDENCE, OUTPUT_DEPENDENCE)

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return check_addresses(kernel)

    def advise(self, program: Dependences) -> Iterable[Diagnostic]:
        return check_serialised(program)

    def find_together(self, kernels: Sequence[KernelOp]) -> Iterable[Diagnostic]:
        return check_cores(kernels)


class VerifyCapacityPass(VerificationPass):
    """Check that the tiles in use at the same time fit into SBUF and PSUM."""

    name = "verify-capacity"

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return check_capacity(kernel)


class VerifySchedulePass(VerificationPass):
    """Check that the ordering edges that the kernel adds between instructions can be respected."""

    name = "verify-schedule"

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return check_schedule(kernel)


class VerifyCollectivesPass(VerificationPass):
    """Check that collectives in two parts are prepared and triggered in pairs."""

    name = "verify-collectives"
    NEEDS_ALL = True

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return check_collectives(kernel)


class LintPass(VerificationPass):
    """Warn about allocations and instructions that waste time or memory."""

    name = "lint"
    ADVICE = LINT

    def advise(self, program: Dependences) -> Iterable[Diagnostic]:
        return check_lint(program)


class VerifyResultsPass(VerificationPass):
    """Check that the results of instructions are used, and that selections find elements."""

    name = "verify-results"
    NEEDS_ALL = True
    SUSPECTED = SUSPECTED

    def suspect(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return (*check_results(kernel), *check_selections(kernel))


class VerifyIntegersPass(VerificationPass):
    """Check integers: float32 rounds none of 32 bits, and narrow types hold their sums."""

    name = "verify-integers"
    NEEDS_ALL = True
    SUSPECTED = (ROUNDED_INTEGERS, SATURATED_SUM)

    def suspect(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return (*check_integers(kernel), *check_saturated_sums(kernel))


class VerifyLaunchPass(VerificationPass):
    """Check that the programs of two cores match."""

    name = "verify-launch"

    def find_together(self, kernels: Sequence[KernelOp]) -> Iterable[Diagnostic]:
        return check_launch(kernels)


WHOLE: tuple[type[VerificationPass], ...] = (
    VerifyInstructionsPass,
    VerifyIndicesPass,
    VerifyConstantsPass,
    VerifyAccumulatorsPass,
    VerifyInitPass,
    VerifyHazardsPass,
    VerifyCapacityPass,
    VerifySchedulePass,
    VerifyCollectivesPass,
    VerifyLaunchPass,
    VerifyResultsPass,
    VerifyIntegersPass,
    LintPass,
)
"""The passes that make up `verify`."""


class VerifyPass(VerificationPass):
    """Run all verification passes; raise a single error with the findings of all passes."""

    name = "verify"

    def find(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return (d for part in WHOLE for d in part().find(kernel))

    def find_together(self, kernels: Sequence[KernelOp]) -> Iterable[Diagnostic]:
        return (d for part in WHOLE for d in part().find_together(kernels))

    def suspect(self, kernel: KernelOp) -> Iterable[Diagnostic]:
        return (d for part in WHOLE for d in part().suspect(kernel))

    def advise(self, program: Dependences) -> Iterable[Diagnostic]:
        return (d for part in WHOLE for d in part().advise(program))


VERIFICATION_PASSES: tuple[type[VerificationPass], ...] = (
    VerifyBuffersPass,
    VerifyShapesPass,
    VerifyDtypesPass,
    VerifyOperatorsPass,
    VerifyTargetPass,
    VerifyAccessPass,
    *WHOLE,
    VerifyPass,
)


def find_all(
    kernels: Sequence[KernelOp],
    passes: Sequence[type[VerificationPass]] = WHOLE,
    *,
    advise: bool = True,
    suspect: bool = True,
) -> list[Diagnostic]:
    """Return the findings of passes about a kernel, given as one program per core.

    A finding on both cores is reported once. Findings of `VerificationPass.suspect` and `advise`
    are included only if there are no errors; `suspect=False` and `advise=False` omit these.
    """
    found: list[Diagnostic] = []
    with unchanged(kernels):
        for kernel in kernels:
            _add(found, (d for p in passes for d in p().find(kernel)))
        found += collapse(d for p in passes for d in p().find_together(kernels))
        if suspect and not _has_errors(found):
            for kernel in kernels:
                _add(found, (d for p in passes for d in p().suspect(kernel)))
        return with_advice(found, kernels, passes) if advise else found


def with_advice(
    found: Sequence[Diagnostic],
    kernels: Sequence[KernelOp],
    passes: Sequence[type[VerificationPass]] = WHOLE,
) -> list[Diagnostic]:
    """Return findings that `find_all` returned without advice, with the advice added."""
    advised = list(found)
    if _has_errors(advised):
        return advised
    for kernel in kernels:
        program = Dependences(kernel)
        _add(advised, (d for p in passes for d in p().advise(program)))
    return advised


def _has_errors(found: Iterable[Diagnostic]) -> bool:
    return any(d.severity == "error" for d in found)


def _add(found: list[Diagnostic], more: Iterable[Diagnostic]) -> None:
    """Add to `found` the findings of one core that were not reported for another core."""
    known = set(found)
    found += [d for d in collapse(more) if d not in known]
