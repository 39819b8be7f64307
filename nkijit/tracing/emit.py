"""Instructions: a call of an API function becomes one op in the IR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from functools import cache, lru_cache
from math import copysign, isinf, isnan
from struct import pack
from typing import Any, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue

from nkijit.dialects.declare.creation import created
from nkijit.dialects.declare.kinds import (
    ArgumentError,
    OperandKind,
    PropertyKind,
    Role,
)
from nkijit.dialects.declare.operation import NisaOp, segments_attr
from nkijit.dialects.declare.properties import OperatorKind, WordKind, is_int32
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.python_values import as_float, as_index, described, one_line
from nkijit.dialects.rule_texts.access import FROZEN_REGISTER
from nkijit.dialects.rule_texts.operands import ARGUMENT, CONSTANT_RANGE, EMPTY_OPERAND, EMPTY_SLICE
from nkijit.dialects.rule_texts.portability import PORTABLE_NUMBER
from nkijit.tracing.hints import explained, hint_for
from nkijit.tracing.locations import author_frame
from nkijit.tracing.operator_hints import operator_texts
from nkijit.tracing.registers import VirtualRegister, register_value
from nkijit.tracing.tracer import Tracer, current_tracer, tracer_for
from nkijit.tracing.views import TensorView

_Encoder = tuple[str, bool, bool, Any, dict[Any, Attribute | None]]
_ENCODERS: dict[type[NisaOp], tuple[_Encoder, ...]] = {}
_SEGMENT_ATTRS: dict[tuple[int, ...], Attribute] = {}

_PRODUCER = "pass what functions of nisa return in this kernel"


class NkiInstruction:
    """Handle of a traced instruction (`nki.isa.NkiInstruction`)."""

    __slots__ = ("_op",)

    def __init__(self, handle: NisaOp | None):
        self._op = handle

    def depends_on(self, *producers: NkiInstruction) -> NkiInstruction:
        """Run this instruction after each of `producers`; returns itself.

        Edges into or out of loops on the device and cycles are findings of the kernel.
        Source: NKI API reference, nki.isa.NkiInstruction.
        """
        tracer = tracer_for("depends_on")
        for producer in producers:
            instruction: Any = producer
            if not isinstance(instruction, NkiInstruction):
                message = f"expected an instruction, got {one_line(instruction)}"
                tracer.fail(ARGUMENT, "depends_on", message, _PRODUCER)
            # A rejected instruction has no op in the kernel.
            if self._op is None or instruction._op is None:
                continue
            if not tracer.has(self._op) or not tracer.has(instruction._op):
                message = "the instruction belongs to another kernel"
                tracer.fail(ARGUMENT, "depends_on", message, _PRODUCER)
            tracer.run_after(self._op, instruction._op)
        return self

    def __repr__(self) -> str:
        return "NkiInstruction()" if self._op is None else f"NkiInstruction({self._op.name})"


_problem_in_float32 = lru_cache(maxsize=1024)(DTYPES["float32"].cannot_hold)


def _encoders(op_class: type[NisaOp]) -> tuple[_Encoder, ...]:
    result: list[_Encoder] = []
    for f in op_class.SPEC.fields:
        is_tile = isinstance(f.kind, OperandKind) and f.kind.accepts_tile and not f.variadic
        result.append((f.name, f.is_operand, is_tile, f.kind, {}))
    _ENCODERS[op_class] = tuple(result)
    return _ENCODERS[op_class]


def emit(op_class: type[NisaOp], arguments: dict[str, Any]) -> NkiInstruction:
    """Append one instruction.

    Args:
        op_class: the instruction.
        arguments: its arguments by name, as the API function received them.
    """
    tracer = current_tracer.get()
    if tracer is None:
        tracer = tracer_for(op_class.name)
    location = tracer.location(2)
    operands: list[SSAValue] = []
    present: list[int] = []
    properties: dict[str, Attribute] = {}
    for name, is_operand, is_tile, kind, encoded in _ENCODERS.get(op_class) or _encoders(op_class):
        value = arguments[name]
        if is_operand and is_tile and isinstance(value, TensorView):
            if value.storage.tracer is tracer:
                if 0 in value.shape:
                    return _leave_out(tracer, op_class, arguments)
                operands.append(value.ssa_value(location))
                present.append(1)
                continue
        elif value is not kind.default and isinstance(value, float):
            problem = _problem_in_float32(value)
            if problem is not None:
                message = f"'{name}' is {one_line(value)}, which is stored as a float32; {problem}"
                tracer.record(CONSTANT_RANGE, op_class.name, message)
        if is_operand:
            try:
                values = _operands(tracer, kind, value)
            except ArgumentError as error:
                return _reject(tracer, op_class, name, error, hint_for(value, kind.expected))
            operands += values
            present.append(len(values))
        elif value is kind.default and not kind.required:
            continue
        else:
            try:
                attr = _encode(kind, value, encoded)
            except ArgumentError as rejection:
                member = _member_numbered(kind, value)
                if member is None:
                    if isinstance(kind, OperatorKind):
                        error, hint = _of_operator(tracer, name, kind, value)
                    else:
                        error, hint = rejection, hint_for(value, kind.expected)
                    return _reject(tracer, op_class, name, error, hint)
                shown = f"{type(member).__name__}.{member.name}"
                message = f"'{name}' is the number {value}, which stands for {shown}"
                tracer.record(PORTABLE_NUMBER, op_class.name, message, f"write nisa.{shown}")
                attr = _encode(kind, member, encoded)
            if attr is not None:
                properties[name] = attr
    instruction_name = arguments.get("name")
    if instruction_name is not None:
        if not isinstance(instruction_name, str):
            error = ArgumentError(f"expected a string, got {_shown(instruction_name)}")
            return _reject(tracer, op_class, "name", error, "pass a word in quotes")
        properties["name"] = StringAttr(instruction_name)
    if op_class.SPEC.has_segments:
        key = tuple(present)
        segments = _SEGMENT_ATTRS.get(key)
        if segments is None:
            segments = _SEGMENT_ATTRS[key] = segments_attr(key)
        properties["operandSegmentSizes"] = segments
    op = created(op_class, operands, (), properties, location)
    tracer.append_created(op)
    return NkiInstruction(op)


def emit_with_defaults(op_class: type[NisaOp], **arguments: Any) -> NkiInstruction:
    """Append one instruction; arguments that are left out have their defaults."""
    return emit(op_class, {**_defaults(op_class), **arguments})


@cache
def _defaults(op_class: type[NisaOp]) -> dict[str, Any]:
    return {field.name: field.kind.default for field in op_class.SPEC.fields}


def _encode(
    kind: PropertyKind, value: Any, encoded: dict[Any, Attribute | None]
) -> Attribute | None:
    """Return the attribute of a property's value, None for the default; cached by value."""
    key = _key(kind, value)
    try:
        if key is not None and key in encoded:
            return encoded[key]
    except TypeError:  # not hashable: a list in the place of an operator
        key = None
    attr = kind.encode(value)
    if not kind.required and kind.decode(attr) == kind.default:
        attr = None
    if key is not None:
        encoded[key] = attr
    return attr


def _key(kind: PropertyKind, value: Any) -> tuple[Any, ...] | None:
    """Return the cache key of a property's value; None if such a value cannot be cached.

    Values with the same key have the same attribute. Python's `==` is too coarse for this: 0.0
    equals -0.0 and 1 equals 1.0, also in a tuple, but their attributes differ.
    """
    value_type = cast(type[Any], type(value))
    if value_type is int or value_type is bool or isinstance(value, Enum):
        return value_type, value
    if value_type is float:
        return value_type, pack("<d", value)
    if value_type is tuple or value_type is list:
        if all(type(item) is int for item in value):
            return value_type, *value
        rows = [_key(kind, item) if type(item) in (tuple, list) else None for item in value]
        return None if None in rows else (value_type, *rows)
    return (value_type, value) if isinstance(kind, OperatorKind) else None


def _member_numbered(kind: PropertyKind, value: Any) -> Enum | None:
    """Return the enumeration member with a given number (NKI before 0.3), or None."""
    number = None if isinstance(value, Enum) else _number(value)
    if not isinstance(kind, WordKind) or not isinstance(number, int):
        return None
    try:
        return kind.attr_class.ENUM(number)
    except ValueError:
        return None


def _operands(tracer: Tracer, kind: OperandKind, value: Any) -> Sequence[SSAValue]:
    """Return the SSA values of an operand: one per tile, register or number in it.

    The list is empty if an optional operand is omitted. Raises ArgumentError for other types of
    values.
    """
    if kind.variadic:
        if not isinstance(value, (list, tuple)) or not value:
            raise ArgumentError(f"expected {kind.expected}, got {_shown(value)}")
        one = replace(kind, variadic=False)
        items = cast(Sequence[Any], value)
        return [operand for item in items for operand in _operands(tracer, one, item)]
    if isinstance(value, TensorView) and kind.accepts_tile:
        if value.storage.tracer is not tracer:
            raise ArgumentError(f"tensor '{value.name}' belongs to another kernel")
        return (value.ssa_value(),)
    if isinstance(value, VirtualRegister) and kind.accepts_register:
        if value.tracer is not tracer:
            raise ArgumentError("the register belongs to another kernel")
        if kind.role is not Role.read and (value.frozen or value.is_value):
            written = "the induction variable" if value.frozen else "a scalar"
            tracer.fail(FROZEN_REGISTER, "register", f"{written} is written")
        return (register_value(value),)
    if value is None and not kind.required:
        return ()
    number = _number(value) if kind.accepts_scalar else None
    fits = not kind.accepts_register or (isinstance(number, int) and is_int32(number))
    if number is None or not fits:
        raise ArgumentError(f"expected {kind.expected}, got {_shown(value)}")
    if not kind.required and _is_default(number, kind.default):
        return ()
    return (tracer.constant(number),)


def _is_default(number: int | float, default: float | None) -> bool:
    return default is not None and number == default and copysign(1, number) == copysign(1, default)


def _number(value: Any) -> int | float | None:
    kind = cast(type[Any], type(value))
    if kind is float or kind is int:
        return value if kind is float or -(2**63) <= value < 2**63 else None
    if kind is bool or getattr(value, "shape", ()) != ():
        return None
    number = as_index(value)
    if number is None:
        return as_float(value)
    return number if -(2**63) <= number < 2**63 else None


def _of_operator(
    tracer: Tracer, name: str, kind: OperatorKind, value: Any
) -> tuple[ArgumentError, str]:
    """Return the error and the hint for an argument that is no operator."""
    classic = "classic" in tracer.kernel.properties
    got, hint = operator_texts(name, value, kind.expected, author_frame(2), classic=classic)
    return ArgumentError(f"expected {kind.expected}, got {got}"), hint


def _leave_out(tracer: Tracer, op_class: type[NisaOp], arguments: dict[str, Any]) -> NkiInstruction:
    """Report an instruction with an empty tile, which does not become an op."""
    written: list[tuple[str, TensorView]] = []
    read: list[tuple[str, TensorView]] = []
    for field in op_class.SPEC.fields:
        value = arguments[field.name]
        if field.is_operand and isinstance(value, TensorView):
            (read if field.role is Role.read else written).append((field.name, value))
    name, tile = next(part for part in (*written, *read) if 0 in part[1].shape)
    shown = f"'{name}' {tile.shape} is empty"
    left = [(name, tile) for name, tile in written if 0 not in tile.shape]
    unread = [(name, tile) for name, tile in read if 0 not in tile.shape]
    if left:
        name, tile = left[0]
        message = f"{shown}, so nothing would be written to '{name}' {tile.shape}"
        tracer.record(EMPTY_OPERAND, op_class.name, message)
    elif read and len(unread) == len(read):
        name, tile = unread[0]
        message = f"{shown}, but '{name}' has shape {tile.shape}"
        tracer.record(EMPTY_OPERAND, op_class.name, message, "let both have the same shape")
    else:
        message = f"{shown}, so the instruction is left out"
        tracer.record(EMPTY_SLICE, op_class.name, message)
    return NkiInstruction(None)


def _reject(
    tracer: Tracer, op_class: type[NisaOp], argument: str, error: ArgumentError, hint: str
) -> NkiInstruction:
    tracer.check_called()
    hint = hint or explained(op_class.name)
    tracer.record(ARGUMENT, op_class.name, f"'{argument}': {error}", hint)
    return NkiInstruction(None)


def _shown(value: Any) -> str:
    if isinstance(value, float) and (isnan(value) or isinf(value)):
        return str(value)
    return described(value)
