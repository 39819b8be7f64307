"""Field definitions for the bodies of instruction classes.

Each function returns an xDSL field definition with a *kind* (`declare/kinds.py`): a constraint that
verifies the attribute, encodes the user's value, and prints and parses the textual form.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, var_operand_def

from nkijit.dialects.access import Indirection
from nkijit.dialects.attributes import WordAttr
from nkijit.dialects.declare.kinds import OperandKind, Role
from nkijit.dialects.declare.properties import (
    FlagKind,
    GroupsKind,
    IntegerKind,
    IntegersKind,
    NumberKind,
    NumbersKind,
    OperatorKind,
    PairsKind,
    WordKind,
)

# The return types are those of xDSL's own field definitions, so that `op.data` is an SSAValue for
# type checkers.


def written(*indirections: Indirection) -> SSAValue:
    """A field for a tile that the instruction writes."""
    return operand_def(OperandKind(Role.write, indirections=indirections))


def updated(
    *indirections: Indirection, partial: bool = False, inside_quadrants: bool = False
) -> SSAValue:
    """A field for a tile that the instruction adds to or, with `partial`, writes only in part."""
    kind = OperandKind(
        Role.update,
        indirections=indirections,
        partial=partial,
        inside_quadrants=inside_quadrants,
    )
    return operand_def(kind)


def opt_written() -> SSAValue | None:
    """A field for a tile that the instruction writes if the argument is present."""
    return opt_operand_def(OperandKind(Role.write, required=False))


def tile(
    *indirections: Indirection,
    partial: bool = False,
    inside_quadrants: bool = False,
    any_order: bool = False,
) -> SSAValue:
    """A field for a tile that the instruction reads, with `partial` perhaps only in part."""
    kind = OperandKind(
        Role.read,
        indirections=indirections,
        partial=partial,
        inside_quadrants=inside_quadrants,
        any_order=any_order,
    )
    return operand_def(kind)


def tiles(*indirections: Indirection, partial: bool = False) -> Sequence[SSAValue]:
    """A field for a list of tiles that are read, with `partial` perhaps only in part."""
    kind = OperandKind(Role.read, variadic=True, indirections=indirections, partial=partial)
    return var_operand_def(kind)


def written_tiles(*, partial: bool = False) -> Sequence[SSAValue]:
    """A field for a list of tiles that are written, with `partial` perhaps only in part."""
    return var_operand_def(OperandKind(Role.write, variadic=True, partial=partial))


def written_register() -> SSAValue:
    """A field for a register that the instruction writes."""
    return operand_def(OperandKind(Role.write, accepts_tile=False, accepts_register=True))


def register() -> SSAValue:
    """A field for a register that the instruction reads."""
    return operand_def(OperandKind(Role.read, accepts_tile=False, accepts_register=True))


def integer_or_register(default: int | None = None) -> Any:
    """A field for an integer or a register; optional if it has a default."""
    kind = OperandKind(
        Role.read,
        accepts_scalar=True,
        required=default is None,
        default=default,
        accepts_tile=False,
        accepts_register=True,
    )
    return operand_def(kind) if default is None else opt_operand_def(kind)


def tile_or_scalar() -> SSAValue:
    """A field for a number, or a [P, 1] tile, that the instruction reads."""
    return operand_def(OperandKind(Role.read, accepts_scalar=True))


def opt_tile_or_scalar(default: float | None = None) -> SSAValue | None:
    """An optional field for a number, or a [P, 1] tile, that the instruction reads."""
    kind = OperandKind(Role.read, accepts_scalar=True, required=False, default=default)
    return opt_operand_def(kind)


def operator() -> Attribute:
    """A field for an operator."""
    return prop_def(OperatorKind())


def opt_operator(default: str | None = None) -> Attribute | None:
    """An optional field for an operator."""
    return opt_prop_def(OperatorKind(required=False, default=default))


def flag(default: bool = False) -> Attribute | None:
    """A field for a boolean."""
    return opt_prop_def(FlagKind(required=False, default=default))


def opt_flag() -> Attribute | None:
    """A field for True, False or None."""
    return opt_prop_def(FlagKind(required=False, default=None))


def word(attr_class: type[WordAttr[Any]], default: Enum) -> Attribute | None:
    """A field for a member of a public enumeration."""
    return opt_prop_def(WordKind(required=False, default=default, attr_class=attr_class))


def integer(default: int) -> Attribute | None:
    """A field for a compile-time integer with a default."""
    return opt_prop_def(IntegerKind(required=False, default=default))


def required_integer() -> Attribute:
    """A field for a compile-time integer without a default."""
    return prop_def(IntegerKind())


def groups() -> Attribute:
    """A field for groups of ranks."""
    return prop_def(GroupsKind())


def opt_integer() -> Attribute | None:
    """An optional field for a compile-time integer."""
    return opt_prop_def(IntegerKind(required=False))


def number() -> Attribute:
    """A field for a compile-time number."""
    return prop_def(NumberKind())


def opt_number(default: float) -> Attribute | None:
    """An optional field for a compile-time number."""
    return opt_prop_def(NumberKind(required=False, default=default))


def opt_numbers() -> Attribute | None:
    """An optional field for a list of numbers."""
    return opt_prop_def(NumbersKind(required=False))


def integers() -> Attribute:
    """A field for one or more integers."""
    return prop_def(IntegersKind())


def opt_integers(default: tuple[int, ...] | None = ()) -> Attribute | None:
    """An optional field for a tuple of integers, by default empty."""
    return opt_prop_def(IntegersKind(required=False, default=default))


def pairs() -> Attribute:
    """A field for a list of [step, count] pairs."""
    return prop_def(PairsKind())
