"""Creation of instructions from their arguments by name."""

from __future__ import annotations

from typing import Any, TypeVar

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, SSAValue

from nkijit.dialects.declare.creation import created
from nkijit.dialects.declare.kinds import OperandKind
from nkijit.dialects.declare.operation import SEGMENTS, NisaOp, segments_attr

_OpT = TypeVar("_OpT", bound=NisaOp)


def instruction(op_class: type[_OpT], location: LocationAttr, **arguments: object) -> _OpT:
    """Create an instruction from its arguments by name.

    Operands are SSA values. Other arguments are attributes, or Python values that the argument's
    kind converts to attributes. None means that an argument is omitted.
    """
    operands: list[SSAValue] = []
    present: list[int] = []
    properties: dict[str, Attribute] = {}
    for f in op_class.SPEC.fields:
        value: Any = arguments.get(f.name)
        if isinstance(f.kind, OperandKind):
            present.append(0 if value is None else 1)
            operands += () if value is None else (value,)
        elif value is not None:
            attribute = value if isinstance(value, Attribute) else f.kind.encode(value)
            properties[f.name] = attribute
    if op_class.SPEC.has_segments:
        properties[SEGMENTS] = segments_attr(present)
    return created(op_class, operands, (), properties, location)


def arguments_of(op: NisaOp) -> dict[str, object]:
    """Return the arguments of an instruction by name, as `instruction` takes them."""
    found: dict[str, object] = {}
    for f in op.SPEC.fields:
        found[f.name] = op.operand_named(f.name) if f.is_operand else op.properties.get(f.name)
    return found
