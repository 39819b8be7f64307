"""Tracing: the kernel runs once as Python, every call of `nki.isa` appends one op.

One `Tracer` builds one kernel. Mistakes that the IR can hold are left to the verification
passes; a value that no op can hold is recorded as a diagnostic and the instruction is left out,
so that the author sees all mistakes together. A view that cannot exist ends the trace.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextvars import ContextVar
from enum import Enum
from math import copysign, isinf, isnan
from pathlib import Path
from typing import Any, NoReturn, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.attributes import float_to_text, to_float32
from nkijit.dialects.constant import ConstantOp
from nkijit.dialects.declare import NisaOp, RuleText, segments_attr
from nkijit.dialects.dtypes import DType
from nkijit.dialects.fields import ArgumentError, OperandKind, OperatorKind, PropertyKind, f32
from nkijit.dialects.hardware import MemoryRegion, Target
from nkijit.dialects.nki import AllocOp, KernelOp, ViewOp, new_body
from nkijit.dialects.rule_texts import ARGUMENT, UNSUPPORTED
from nkijit.dialects.tiles import NkiMemRef, memref_type
from nkijit.passes.verify.diagnostics import (
    Diagnostic,
    NkiValidationError,
    Position,
    positions,
)
from nkijit.source import assigned_name, author_frame, location_of, ssa_name

_current: ContextVar[Tracer | None] = ContextVar("nkijit_tracer", default=None)


def active_tracer() -> Tracer | None:
    """The tracer of the kernel that is being traced in this context, if any."""
    return _current.get()


def tracer_for(what: str) -> Tracer:
    """The active tracer; outside a kernel an error that names the call."""
    tracer = _current.get()
    if tracer is None:
        raise RuntimeError(f"{what} can only be called inside a kernel (a function under @nki.jit)")
    return tracer


class Storage:
    """One allocation or kernel argument: what all views of a tensor share."""

    __slots__ = ("dtype", "name", "region", "shape", "tracer", "value")

    def __init__(
        self,
        tracer: Tracer,
        value: SSAValue,
        shape: tuple[int, ...],
        dtype: DType,
        region: MemoryRegion,
        name: str,
    ):
        self.tracer = tracer
        self.value = value
        self.shape = shape
        self.dtype = dtype
        self.region = region
        self.name = name


class Tracer:
    """Builds the IR of one kernel."""

    def __init__(
        self,
        name: str,
        target: Target,
        arguments: list[tuple[str, NkiMemRef]],
        grid_dims: int = 0,
    ):
        self.target = target
        self.grid_dims = grid_dims
        self.diagnostics: list[Diagnostic] = []
        region, self._block = new_body([memref for _, memref in arguments])
        self.kernel = KernelOp(name, target.platform, region)
        self.module = ModuleOp([self.kernel])
        self._constants: dict[bytes | int, arith.ConstantOp] = {}
        self._data: dict[tuple[bytes, NkiMemRef], ConstantOp] = {}
        self.files: dict[Path, int] = {}
        self._views: dict[tuple[Any, ...], SSAValue] = {}
        used: set[str | None] = set()
        for argument, (argument_name, _) in zip(self._block.args, arguments, strict=True):
            hint = ssa_name(argument_name)
            while hint in used:  # `x_0` beside element 0 of `x`
                hint = f"{hint}_"
            used.add(hint)
            argument.name_hint = hint

    @property
    def arguments(self) -> tuple[SSAValue, ...]:
        """The kernel's arguments in the IR."""
        return self._block.args

    def run(self, function: Callable[[], Any]) -> Any:
        """Call the kernel's body with this tracer active."""
        token = _current.set(self)
        try:
            return function()
        finally:
            _current.reset(token)

    def append(self, op: Operation, location: LocationAttr) -> None:
        """Add an op at the end of the kernel."""
        op.location = location
        self._block.add_op(op)

    def finish(self, terminator: Operation, location: LocationAttr) -> None:
        """Close the kernel: constants go to its top, the terminator to its end."""
        self.append(terminator, location)
        first = self._block.first_op
        constants = [*self._constants.values(), *self._data.values()]
        if constants and first is not None:
            self._block.insert_ops_before(constants, first)

    # ---------------------------------------------------------------- values

    def allocate(
        self,
        shape: tuple[int, ...],
        dtype: DType,
        region: MemoryRegion,
        name: str,
        address: tuple[int, int] | None,
    ) -> Storage:
        """Emit an allocation, named after `name=` or the variable it is assigned to."""
        frame = author_frame()
        op = AllocOp(memref_type(dtype, shape, region), name or None, address)
        hint = ssa_name(name) if name else assigned_name(frame)
        op.result.name_hint = hint or region.value
        self.append(op, location_of(frame))
        return Storage(self, op.result, shape, dtype, region, name or hint or region.value)

    def view(self, storage: Storage, access: AccessPattern, dtype: DType) -> SSAValue:
        """The value of a view; equal views are emitted once."""
        key = (storage.value, access.offset, access.strides, access.shape, dtype.name)
        value = self._views.get(key)
        if value is None:
            op = ViewOp.of(storage.value, access, dtype)
            op.result.name_hint = storage.value.name_hint
            self.append(op, location_of(author_frame()))
            value = self._views[key] = op.result
        return value

    def constant(self, number: int | float) -> SSAValue:
        """The value of a compile-time number: int32 where it fits, else int64; else float32."""
        # By bits, so that 0.0 and -0.0 differ and NaN equals itself.
        key = struct.pack("<d", number) if isinstance(number, float) else number
        op = self._constants.get(key)
        if op is None:
            attr = number_attr(number)
            op = self._constants[key] = arith.ConstantOp(attr)
            text = float_to_text(attr.value.data) if isinstance(number, float) else str(number)
            op.result.name_hint = f"c{text.replace('+', '')}"
        return op.result

    def data(self, data: bytes, shape: tuple[int, ...], dtype: DType, name: str) -> Storage:
        """A tensor of constant data in shared HBM; equal ones are emitted once.

        Named `name`, else after the variable that the first of them is assigned to.
        """
        region = MemoryRegion.shared_hbm
        memref = memref_type(dtype, shape, region)
        op = self._data.get((data, memref))
        if op is None:
            frame = author_frame()
            op = self._data[data, memref] = ConstantOp.of(data, memref)
            op.result.name_hint = name or assigned_name(frame) or "constant"
            op.location = location_of(frame)
        return Storage(self, op.result, shape, dtype, region, op.result.name_hint or "constant")

    def reads(self, path: Path) -> None:
        """Note that the kernel depends on a file. Raises OSError when there is none."""
        self.files[path] = path.stat().st_mtime_ns

    # ---------------------------------------------------------------- errors

    def record(self, rule: RuleText, subject: str, message: str, help: str = "") -> None:
        """Note a mistake at the author's line and go on."""
        where = tuple(positions(location_of(author_frame())))
        self.diagnostics.append(Diagnostic(rule, message, subject, where, help=help))

    def record_at(self, function: Callable[..., Any], rule: RuleText, message: str) -> None:
        """Note a mistake of a kernel as a whole, at its definition."""
        where: tuple[Position, ...] = ()
        code = getattr(function, "__code__", None)
        if code is not None:
            where = (Position(code.co_filename, code.co_firstlineno, 1),)
        name = getattr(function, "__name__", type(function).__name__)
        self.diagnostics.append(Diagnostic(rule, message, f"kernel '{name}'", where))

    def fail(self, rule: RuleText, subject: str, message: str, help: str = "") -> NoReturn:
        """End the trace with a mistake after which it makes no sense to go on."""
        self.record(rule, subject, message, help)
        raise NkiValidationError(self.diagnostics)


def number_attr(number: int | float) -> Any:
    """The attribute of a compile-time number. Floats beyond float32 become infinite."""
    if isinstance(number, float):
        return FloatAttr(to_float32(number), f32)
    return IntegerAttr(number, i32 if -(2**31) <= number < 2**31 else i64)


# ---------------------------------------------------------------------- instructions

_Encoder = tuple[str, bool, bool, bool, Any, Any, dict[Any, Attribute | None]]
_ENCODERS: dict[type[NisaOp], tuple[_Encoder, ...]] = {}
_SEGMENT_ATTRS: dict[tuple[int, ...], Attribute] = {}


class NkiInstruction:
    """Handle of a traced instruction (`nki.isa.NkiInstruction`)."""

    __slots__ = ("_op",)

    def __init__(self, handle: NisaOp | None):
        self._op = handle

    def depends_on(self, *producers: NkiInstruction) -> NkiInstruction:
        """Scheduling edges are refused until nkijit models them."""
        tracer_for("depends_on").record(
            UNSUPPORTED, "depends_on", "scheduling edges are not modelled yet"
        )
        return self

    def __repr__(self) -> str:
        return "NkiInstruction()" if self._op is None else f"NkiInstruction({self._op.name})"


def _encoders(op_class: type[NisaOp]) -> tuple[_Encoder, ...]:
    result: list[_Encoder] = []
    for f in op_class.SPEC.fields:
        scalar = isinstance(f.kind, OperandKind) and f.kind.accepts_scalar
        result.append((f.name, f.is_operand, f.required, scalar, f.default, f.kind, {}))
    _ENCODERS[op_class] = tuple(result)
    return _ENCODERS[op_class]


def emit(op_class: type[NisaOp], arguments: dict[str, Any]) -> NkiInstruction:
    """Append one instruction.

    Args:
        op_class: the instruction.
        arguments: its arguments by name, as the API function received them.
    """
    tracer = _current.get()
    if tracer is None:
        tracer = tracer_for(f"nisa.{op_class.SPEC.name}")
    operands: list[SSAValue] = []
    present: list[int] = []
    properties: dict[str, Attribute] = {}
    for name, is_operand, required, scalar, default, kind, encoded in _ENCODERS.get(
        op_class
    ) or _encoders(op_class):
        value = arguments[name]
        if is_operand:
            if type(value) is NkiTensor:
                if value.storage.tracer is not tracer:
                    return _reject(tracer, op_class, name, _foreign(value))
                operands.append(value.ssa_value())
                present.append(1)
            elif value is None and not required:
                present.append(0)
            else:
                number = _number(value) if scalar else None
                if number is None:
                    error = ArgumentError(f"expected {kind.expected}, got {_shown(value)}")
                    return _reject(tracer, op_class, name, error)
                if not required and _is_default(number, default):
                    present.append(0)
                else:
                    operands.append(tracer.constant(number))
                    present.append(1)
        elif value is default and not required:
            continue
        else:
            try:
                attr = _encode(kind, value, encoded)
            except ArgumentError as error:
                return _reject(tracer, op_class, name, error)
            if attr is not None:
                properties[name] = attr
    instruction_name = arguments["name"]
    if instruction_name is not None:
        if not isinstance(instruction_name, str):
            error = ArgumentError(f"expected a string, got {_shown(instruction_name)}")
            return _reject(tracer, op_class, "name", error)
        properties["name"] = StringAttr(instruction_name)
    if op_class.SPEC.has_segments:
        key = tuple(present)
        segments = _SEGMENT_ATTRS.get(key)
        if segments is None:
            segments = _SEGMENT_ATTRS[key] = segments_attr(key)
        properties["operandSegmentSizes"] = segments
    op = op_class.create(operands=operands, properties=properties)
    tracer.append(op, location_of(author_frame()))
    return NkiInstruction(op)


def _encode(
    kind: PropertyKind, value: Any, encoded: dict[Any, Attribute | None]
) -> Attribute | None:
    """The attribute of a property value, None for the default.

    Made once per value where equal values have equal attributes: 0.0 and -0.0 do not, nor do
    tuples that hold 1 and 1.0.
    """
    value_type = cast(type[Any], type(value))
    key = (value_type, value)
    cached = value_type in (int, bool) or isinstance(value, Enum) or isinstance(kind, OperatorKind)
    try:
        if cached and key in encoded:
            return encoded[key]
    except TypeError:  # a list in the place of an operator
        cached = False
    attr = kind.encode(value)
    if not kind.required and kind.decode(attr) == kind.default:
        attr = None
    if cached:
        encoded[key] = attr
    return attr


def _is_default(number: int | float, default: float | None) -> bool:
    return default is not None and number == default and copysign(1, number) == copysign(1, default)


def _number(value: Any) -> int | float | None:
    """A Python or NumPy number as int or float; None for anything else."""
    kind = cast(type[Any], type(value))
    if kind is float or kind is int:
        return value if kind is float or -(2**63) <= value < 2**63 else None
    if kind is bool or getattr(value, "shape", ()) != ():
        return None
    try:
        if hasattr(value, "__index__"):
            return int(value.__index__())
        if hasattr(value, "__float__"):
            return float(value)
    except TypeError:
        pass
    return None


def _reject(
    tracer: Tracer, op_class: type[NisaOp], argument: str, error: ArgumentError
) -> NkiInstruction:
    tracer.record(ARGUMENT, op_class.name, f"'{argument}': {error}")
    return NkiInstruction(None)


def _foreign(value: Any) -> ArgumentError:
    return ArgumentError(f"tensor '{value.name}' belongs to another kernel")


def _shown(value: Any) -> str:
    if isinstance(value, float) and (isnan(value) or isinf(value)):
        return str(value)
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


# NkiTensor needs the tracer and `emit` needs NkiTensor: the class is looked up once, here.
from nkijit.tensor import NkiTensor  # noqa: E402
