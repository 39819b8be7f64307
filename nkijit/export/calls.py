"""Instructions as function calls, from their declarations and the API signatures.

An instruction's function has the same name. Its fields are keyword arguments, in the order of the
public signature. A register that is not a parameter is the function's result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, cast

from xdsl.ir import SSAValue

from nkijit import collectives, isa
from nkijit.dialects.attributes import string_source
from nkijit.dialects.declare.kinds import OperandKind, PropertyKind, operator_word
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.properties import IntegersKind
from nkijit.dialects.declare.spec import Field
from nkijit.export.errors import ExportError

_APIS = {"nisa": (isa, "nisa"), "ncc": (collectives, "ncc")}
"""Maps each dialect to the module of its functions, and that module's exported name."""


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter of an API function, and the field of the instruction that it sets."""

    name: str
    annotation: str
    default: Any
    """The default value; `inspect.Parameter.empty` for a required parameter."""
    field: Field | None
    """The field of the instruction; None if the parameter sets no field."""

    @property
    def is_optional(self) -> bool:
        return self.default is not inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Function:
    """The API function of an instruction."""

    name: str
    """The qualified name, e.g. `nisa.tensor_copy`."""
    parameters: tuple[_Parameter, ...]
    result: str | None
    """The operand of the instruction that the function allocates and returns: a register.

    None for most functions, which return the instruction.
    """

    @property
    def unknown(self) -> list[str]:
        """The required parameters that no field of the instruction determines."""
        return [p.name for p in self.parameters if p.field is None and not p.is_optional]


@cache
def function_of(op_class: type[NisaOp]) -> Function | None:
    """Return the function that emits instructions of a class, or None."""
    module, prefix = _APIS[op_class.name.partition(".")[0]]
    function = getattr(module, op_class.SPEC.name, None)
    if function is None:
        return None
    fields = op_class.SPEC.by_name
    signature_parameters = inspect.signature(function).parameters.values()
    parameters = tuple(
        _Parameter(p.name, str(p.annotation), p.default, fields.get(p.name))
        for p in signature_parameters
        if p.name != "name"
    )
    known = {p.name for p in parameters}
    results = [f.name for f in op_class.SPEC.fields if f.name not in known]
    return Function(f"{prefix}.{op_class.SPEC.name}", parameters, results[0] if results else None)


def call_source(
    op: NisaOp,
    function: Function,
    operand: Callable[[SSAValue], str],
    extra: dict[str, str] | None = None,
    varied: Mapping[str, Any] | None = None,
) -> str:
    """Return the call that emits an instruction.

    Args:
        op: the instruction.
        function: its function.
        operand: returns the expression of an operand.
        extra: expressions of arguments that the instruction does not have.
        varied: values of fields that differ between iterations. They are written even if they equal
            the default.
    """
    arguments: list[str] = []
    more, other = extra or {}, varied or {}
    for p in function.parameters:
        if p.name in other and p.field is not None:
            source = _property(cast(PropertyKind, p.field.kind), other[p.name], p.annotation)
        else:
            source = more.get(p.name) if p.field is None else _argument(op, p, p.field, operand)
        if source is not None:
            arguments.append(f"{p.name}={source}")
        elif not p.is_optional:
            if p.field is None:
                raise ExportError.at(op, f"nothing says what '{p.name}' of {function.name} is")
            arguments.append(f"{p.name}=None")
    if op.instruction_name is not None:
        arguments.append(f"name={string_source(other.get('name', op.label))}")
    return f"{function.name}({', '.join(arguments)})"


def _argument(
    op: NisaOp, parameter: _Parameter, field: Field, operand: Callable[[SSAValue], str]
) -> str | None:
    """Return the expression of an argument; None if it is omitted."""
    kind = field.kind
    if isinstance(kind, OperandKind):
        values = [operand(value) for value in op.operands_named(field.name)]
        if not kind.variadic:
            return values[0] if values else None
        return list_source(values, parameter.annotation)
    attr = op.properties.get(field.name)
    if attr is None:
        return None
    value = kind.decode(attr)
    if parameter.is_optional and _same(value, parameter.default):
        return None
    return _property(kind, value, parameter.annotation)


def list_source(values: Sequence[str], annotation: str) -> str:
    """Return the text of a list of tensors, nested if the API takes one list per channel."""
    nested = annotation.startswith("list[list[")
    return f"[{', '.join(f'[{value}]' if nested else value for value in values)}]"


def _property(kind: PropertyKind, value: Any, annotation: str) -> str:
    if isinstance(kind, IntegersKind):
        numbers = cast("tuple[int, ...]", value)
        if annotation.startswith("list"):
            return repr(list(numbers))
        if len(numbers) == 1 and annotation.startswith("int"):
            return repr(numbers[0])
    return kind.source(value)


def _same(value: Any, default: Any) -> bool:
    """Whether a field's value equals a parameter's default."""
    if default is None or isinstance(default, (bool, Enum)):
        return value is default
    if isinstance(default, (list, tuple)):
        return tuple(cast("Sequence[Any]", default)) == value
    word = operator_word(default)
    if word is not None:
        return value == word
    return type(value) is type(default) and repr(value) == repr(default)
