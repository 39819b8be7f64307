"""Rules on operators, reverse flags and accumulator commands."""

from __future__ import annotations

from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.declare.queries import alu_of, is_set, number_of
from nkijit.dialects.declare.rules.wording import one_of
from nkijit.dialects.declare.spec import Effect, Rule, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import reduce_cmd
from nkijit.dialects.operators import BYPASS, OPERATORS, AluKind
from nkijit.dialects.rule_texts.operators import (
    ACTIVATION,
    ALU_OPERATOR,
    COMPARISON,
    LOAD_NEEDS_INIT,
    OP1_NEEDS_OP0,
    OP_PAIR,
    OP_WITH_OPERAND,
    REDUCE_CMD,
    REDUCE_CMD_NEEDS_OP,
    REDUCE_INIT,
    REDUCE_OP,
    REVERSE_NEEDS_OP,
    SAME_KIND,
    UNARY_OPERAND,
)
from nkijit.dialects.tiles import is_tile

# ------------------------------------------------------------------ operators


def activation_function(name: str) -> Rule:
    """Return the rule that the field holds an activation function."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        word = op.value_of(name)
        if OPERATORS[word].activation is not None:
            return None
        return Violation(f"'{name}' is nl.{word}, which is not an activation function")

    return Rule(ACTIVATION, check)


def alu_operator(
    *names: str,
    kinds: tuple[AluKind, ...] = (AluKind.arithmetic, AluKind.bitvec),
    arities: tuple[int, ...] = (2,),
    bypass: bool = False,
) -> Rule:
    """Return the rule that the fields have ALU operators of these kinds and operand counts."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        for name in names:
            word = op.value_of(name)
            if word is None or (bypass and word == BYPASS):
                continue
            alu = OPERATORS[word].alu
            if alu is None:
                return Violation(f"'{name}' is nl.{word}, which is not an ALU operator")
            if alu.kind not in kinds:
                wanted = one_of(tuple(kind.value for kind in kinds))
                return Violation(f"'{name}' must be {wanted}, nl.{word} is {alu.kind.value}")
            if alu.arity not in arities:
                count = "one operand" if alu.arity == 1 else "two operands"
                return Violation(f"'{name}' is nl.{word}, an operator of {count}")
        return None

    return Rule(ALU_OPERATOR, check)


def comparison(*names: str, legal: tuple[str, ...]) -> Rule:
    """Return the rule that the fields hold one of the legal comparisons."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        for name in names:
            word = op.value_of(name)
            if word not in legal:
                listed = one_of(tuple(f"nl.{w}" for w in legal))
                return Violation(f"'{name}' must be {listed}, it is nl.{word}")
        return None

    return Rule(COMPARISON, check)


def same_kind(first: str, second: str) -> Rule:
    """Return the rule that the two operators are both bitvec, or both arithmetic."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        a, b = alu_of(op, first), alu_of(op, second)
        if a is None or b is None or a.kind is b.kind:
            return None
        return Violation(
            f"'{first}' is {a.kind.value} (nl.{op.value_of(first)}), "
            f"'{second}' is {b.kind.value} (nl.{op.value_of(second)})"
        )

    return Rule(SAME_KIND, check)


def op_pair(first: str, second: str, legal: tuple[tuple[str, str], ...]) -> Rule:
    """Return the rule that the two operators are one of the legal pairs.

    If only `first` is bypass, there is no violation, as `op1_needs_op0` reports one.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        pair = (op.value_of(first), op.value_of(second))
        if pair in legal or (pair[0] == BYPASS and pair[1] != BYPASS):
            return None
        listed = ", ".join(f"({a}, {b})" for a, b in legal)
        return Violation(f"({first}, {second}) is ({pair[0]}, {pair[1]}), legal are {listed}")

    return Rule(OP_PAIR, check)


def op1_needs_op0(second: str, first: str) -> Rule:
    """Return the rule that the second operator is set only if the first operator is set.

    An operator is set if it is present and not bypass.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        if not is_set(op, second) or is_set(op, first):
            return None
        return Violation(f"'{second}' is nl.{op.value_of(second)}, but '{first}' is not set")

    return Rule(OP1_NEEDS_OP0, check)


def reverse_needs_op(*pairs: tuple[str, str]) -> Rule:
    """Return the rule that a reverse flag is True only if its operator is set.

    `pairs` are the fields (flag, operator).
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        for flag, operator in pairs:
            if op.value_of(flag) and not is_set(op, operator):
                return Violation(f"'{flag}' is True, but '{operator}' is not set")
        return None

    return Rule(REVERSE_NEEDS_OP, check)


def op_with_operand(operator: str, operand: str) -> Rule:
    """Return the rule that operator and operand are both present or both omitted.

    A unary operator needs no operand.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        alu = alu_of(op, operator)
        has_operand = op.operand_named(operand) is not None
        if op.value_of(operator) is None:
            if has_operand:
                return Violation(f"'{operand}' is given, but '{operator}' is not", (operand,))
        elif not has_operand and alu is not None and alu.arity == 2:
            word = op.value_of(operator)
            return Violation(f"'{operator}' is nl.{word}, which needs '{operand}'")
        return None

    return Rule(OP_WITH_OPERAND, check)


def unary_operand(*pairs: tuple[str, str]) -> Rule:
    """Return the rule that the operand of a unary operator is omitted or 0.

    `pairs` are the fields (operator, operand).
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        for operator, operand in pairs:
            alu, value = alu_of(op, operator), op.operand_named(operand)
            if alu is None or alu.arity != 1 or value is None:
                continue
            if is_tile(value) or scalar_constant(value) != 0:
                shown = "a tile" if is_tile(value) else str(scalar_constant(value))
                return Violation(
                    f"'{operator}' is nl.{op.value_of(operator)}, which takes no operand, but "
                    f"'{operand}' is {shown}"
                )
        return None

    return Rule(UNARY_OPERAND, check)


def reduce_op_in(*legal: str, name: str = "reduce_op") -> Rule:
    """Return the rule that the accumulators' operator is one of `legal`, or omitted."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        word = op.value_of(name)
        if word is None or word in legal:
            return None
        listed = one_of(tuple(f"nl.{w}" for w in legal))
        return Violation(f"'{name}' must be {listed}, it is nl.{word}")

    return Rule(REDUCE_OP, check)


def reduce_cmd_in(*legal: reduce_cmd) -> Rule:
    """Return the rule that `reduce_cmd` is one of `legal`."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        command = op.value_of("reduce_cmd")
        if command in legal:
            return None
        listed = one_of(tuple(command.name for command in legal))
        return Violation(f"'reduce_cmd' must be {listed}, it is {command.name}")

    return Rule(REDUCE_CMD, check)


def reduce_cmd_needs_op(*, reset: bool) -> Rule:
    """Return the rule that every command that reduces has a `reduce_op`.

    With `reset`, `reduce_cmd.reset` needs a `reduce_op` as well, because the identity depends on
    the operator.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        command = op.value_of("reduce_cmd")
        needs_op = command.reduces or (reset and command is reduce_cmd.reset)
        if not needs_op or op.value_of("reduce_op") is not None:
            return None
        return Violation(f"'reduce_cmd' is {command.name}, but 'reduce_op' is not given")

    return Rule(REDUCE_CMD_NEEDS_OP, check)


def reduce_res_needs_op() -> Rule:
    """Return the rule that a requested reduction has a `reduce_op`.

    `reduce_res` or `reduce_cmd` requests the optional reduction.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        if op.value_of("reduce_op") is not None:
            return None
        if op.operand_named("reduce_res") is not None:
            return Violation("'reduce_res' is given, but 'reduce_op' is not given", ("reduce_res",))
        command = op.value_of("reduce_cmd")
        if command in (reduce_cmd.idle, op.SPEC.by_name["reduce_cmd"].default):
            return None
        return Violation(f"'reduce_cmd' is {command.name}, but 'reduce_op' is not given")

    return Rule(REDUCE_CMD_NEEDS_OP, check)


def reduce_init_unset() -> Rule:
    """Return the rule that `reduce_init` has its default unless `reduce_cmd` loads it."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        init, command = op.operand_named("reduce_init"), op.value_of("reduce_cmd")
        if init is None or command is reduce_cmd.load_reduce:
            return None
        if not is_tile(init) and number_of(init) == op.SPEC.by_name["reduce_init"].default:
            return None
        return Violation(f"'reduce_init' is given, but 'reduce_cmd' is {command.name}")

    return Rule(REDUCE_INIT, check, effect=Effect("reduce_init", "if reduce_cmd is load_reduce"))


def load_needs_init(name: str) -> Rule:
    """Return the rule that `reduce_cmd.load_reduce` requires the operand that it loads, `name`."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        command = op.value_of("reduce_cmd")
        if command is not reduce_cmd.load_reduce or op.operand_named(name) is not None:
            return None
        return Violation(f"'reduce_cmd' is {command.name}, but '{name}' is not given")

    return Rule(LOAD_NEEDS_INIT, check)
