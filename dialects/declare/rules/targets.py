"""Rules on generations and engines."""

from __future__ import annotations

from collections.abc import Callable

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import alu_of
from nkijit.dialects.declare.rules.wording import one_of
from nkijit.dialects.declare.spec import Rule, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine, nc_version
from nkijit.dialects.rule_texts.targets import (
    ARGUMENT_GENERATION,
    ENGINE,
    GENERATION,
    OPERATOR_GENERATION,
)

# ------------------------------------------------------------------ targets and engines


def since(version: nc_version) -> Rule:
    """Return the rule that the instruction requires at least this NeuronCore generation."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        if target.version >= version:
            return None
        return Violation(
            f"the instruction needs NeuronCore-v{version.value}, "
            f"the target {target.platform} is NeuronCore-v{target.version.value}"
        )

    return Rule(GENERATION, check)


def operators_since(*names: str) -> Rule:
    """Return the rule that the operators in the fields exist on the target."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        for name in names:
            alu = alu_of(op, name)
            if alu is not None and alu.since > target.version:
                return Violation(
                    f"'{name}' is nl.{op.value_of(name)}, an operator of NeuronCore-"
                    f"v{alu.since.value}, the target {target.platform} is "
                    f"NeuronCore-v{target.version.value}"
                )
        return None

    return Rule(OPERATOR_GENERATION, check)


def argument_since(
    version: nc_version, what: str, given: Callable[[NisaOp], bool], *operands: str
) -> Rule:
    """Return the rule that an argument's value requires at least a given generation.

    `what` describes the value, and `given` returns True for instructions that have it.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        if target.version >= version or not given(op):
            return None
        return Violation(
            f"{what} needs NeuronCore-v{version.value}, the target {target.platform} is "
            f"NeuronCore-v{target.version.value}",
            operands,
        )

    return Rule(ARGUMENT_GENERATION, check)


def engine_supported() -> Rule:
    """Return the rule that `engine` is one that the instruction supports."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        chosen = op.value_of("engine")
        if chosen is engine.unknown or chosen in op.SPEC.engines:
            return None
        supported = one_of(tuple(e.name for e in op.SPEC.engines))
        return Violation(f"the instruction runs on {supported}, not on {chosen.name}")

    return Rule(ENGINE, check)
