"""Rules on arguments that other arguments of the instruction switch off.

Each rule is about one argument that the kernel passes. An argument with its default value counts as
omitted, also if the kernel passes that value. So do the numbers 0 and 1 for an argument that a call
cannot omit: they change nothing as the operand of an addition or a multiplication.
"""

from __future__ import annotations

from collections.abc import Callable

from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.declare.queries import alu_of, is_set
from nkijit.dialects.declare.rules.wording import one_of
from nkijit.dialects.declare.spec import Effect, Rule, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import reduce_cmd
from nkijit.dialects.operators import BYPASS, OPERATORS
from nkijit.dialects.rule_texts.operators import NO_EFFECT
from nkijit.dialects.tiles import info_of, is_tile

Reason = Callable[[NisaOp], str | None]
"""A function that returns why an instruction ignores an argument; None if it does not."""


def only_with_command(name: str, *commands: reduce_cmd, reported: tuple[reduce_cmd, ...]) -> Rule:
    """Return the rule that the argument is passed only with one of these values of reduce_cmd.

    `reported` are the commands that break the rule. Other commands are illegal for the instruction,
    or it is usual to pass the argument although these commands ignore it.
    """
    listed = one_of(tuple(command.name for command in commands))

    def reason(op: NisaOp) -> str | None:
        command = op.value_of("reduce_cmd")
        return f"'reduce_cmd' is {command.name}" if command in reported else None

    first = f"reduce_cmd=nisa.reduce_cmd.{commands[0].name}"
    return _rule(name, f"if reduce_cmd is {listed}", reason, f"pass {first}")


def only_with_parameter(name: str, function: str) -> Rule:
    """Return the rule that the argument is passed only with a parametric activation function."""
    parametric = tuple(
        f"nl.{word}"
        for word, operator in OPERATORS.items()
        if operator.activation is not None and operator.activation.parametric
    )

    def reason(op: NisaOp) -> str | None:
        word = op.value_of(function)
        activation = OPERATORS[word].activation
        if activation is None or activation.parametric:  # another rule is about other operators
            return None
        return f"'{function}' is nl.{word}, a function without a parameter"

    condition = f"if {function} is {one_of(parametric)}"
    return _rule(name, condition, reason, f"pass {function}={parametric[0]}")


def only_with_operator(name: str, operator: str) -> Rule:
    """Return the rule that an operand is passed only if its operator is not bypass."""

    def reason(op: NisaOp) -> str | None:
        return None if is_set(op, operator) else f"'{operator}' is nl.{BYPASS}"

    return _rule(
        name,
        f"if {operator} is not {BYPASS}",
        reason,
        f"pass an operator as {operator}",
        "pass {name}=0",
    )


def only_with_two_operands(name: str, operator: str) -> Rule:
    """Return the rule that a reverse flag is passed only with an operator of two operands.

    `reverse_needs_op` is about flags without an operator.
    """

    def reason(op: NisaOp) -> str | None:
        alu = alu_of(op, operator)
        if alu is None or alu.arity == 2:
            return None
        return f"'{operator}' is nl.{op.value_of(operator)}, an operator of one operand"

    return _rule(
        name,
        f"if {operator} has two operands",
        reason,
        f"pass an operator of two operands as {operator}, e.g. nl.subtract",
    )


def only_with(name: str, other: str) -> Rule:
    """Return the rule that an argument is passed only together with the operand `other`."""

    def reason(op: NisaOp) -> str | None:
        return None if op.operand_named(other) is not None else f"'{other}' is not given"

    return _rule(name, f"together with {other}", reason, f"pass {other}=")


def only_with_indices(name: str) -> Rule:
    """Return the rule that an argument is passed only if an index addresses one of the tiles."""

    def reason(op: NisaOp) -> str | None:
        tiles = [info_of(value) for value in op.operands if is_tile(value)]
        if any(tile.indirection is not None for tile in tiles):
            return None
        return "no tile is addressed by an index that is known only at run time"

    return _rule(
        name,
        "if an index known only at run time addresses a tile",
        reason,
        "address a tile with an index in a register or a tile",
    )


def _rule(
    name: str, condition: str, reason: Reason, instead: str, without: str = "leave {name} out"
) -> Rule:
    """Return the rule that an argument is omitted where it has no effect.

    Args:
        name: the argument.
        condition: the condition under which it has an effect, as in `Effect`.
        reason: returns why an instruction ignores the argument.
        instead: the change to the instruction after which the argument has an effect.
        without: how to call the instruction without the argument.
    """
    fix = f"{instead}, or {without.format(name=name)}"

    def check(op: NisaOp, target: Target) -> Violation | None:
        if not _is_passed(op, name):
            return None
        why = reason(op)
        if why is None:
            return None
        value = op.operand_named(name) if op.SPEC.by_name[name].is_operand else None
        tiles = (name,) if value is not None and is_tile(value) else ()
        return Violation(f"'{name}' has no effect, as {why}", tiles, fix)

    return Rule(NO_EFFECT, check, effect=Effect(name, condition))


def _is_passed(op: NisaOp, name: str) -> bool:
    """True if a call passes an argument: its value is neither the default nor a placeholder.

    `_PLACEHOLDERS` count only for an argument that a call cannot omit.
    """
    field = op.SPEC.by_name[name]
    if not field.is_operand:
        return op.value_of(name) != field.default
    value = op.operand_named(name)
    if value is None:
        return False
    unused = _PLACEHOLDERS if field.required else (field.default,)
    return is_tile(value) or scalar_constant(value) not in unused


_PLACEHOLDERS = (0, 1)
"""Numbers for an operand that a call cannot omit."""
