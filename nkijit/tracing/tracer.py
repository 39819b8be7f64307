"""Tracing: the kernel runs once as Python, and every call of `nki.isa` appends one op to the IR.

One `Tracer` builds one kernel. Mistakes that the IR can represent are left to the verification
passes. A value that no op can represent is recorded as a finding, and the instruction is omitted,
so that the user sees all mistakes together. A view that cannot exist ends the trace.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, Protocol, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    i32,
    i64,
)
from xdsl.dialects.scf import WhileOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.attributes import float_to_text, to_float32
from nkijit.dialects.core_program import core_suffix
from nkijit.dialects.declare.creation import append, name_value
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.properties import f32, is_int32
from nkijit.dialects.dtypes import DType
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import KernelOp, NoReorderOp, new_body
from nkijit.dialects.nki.registers import ReadRegisterOp, RegisterOp
from nkijit.dialects.nki.views import DynamicPart, ViewOp
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.access import (
    LOOP_LEFT,
    NO_REORDER_LOOP,
    SCHEDULE_NAME,
)
from nkijit.dialects.rule_texts.operands import ARGUMENT, TRACE_LIMIT
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import NkiMemRef, ViewForm, allocation_type
from nkijit.host.file_state import FileState
from nkijit.passes.diagnostics.diagnostic import Diagnostic, Operand
from nkijit.passes.diagnostics.environment import limit_of
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.places import Position, positions
from nkijit.tracing.api_names import ApiName
from nkijit.tracing.dtype_names import CLASSIC
from nkijit.tracing.hints import explained, hint_for
from nkijit.tracing.locations import (
    CallSites,
    Sites,
    assigned_name,
    author_frame,
    definition_of,
    evaluated,
    ssa_name,
)
from nkijit.tracing.mixed_apis import mixed_apis, other_api_called

LIMIT = 2_000_000
"""The default maximum number of operations of a trace; this number takes about 5 GB of memory."""
LIMIT_VARIABLE = "NKIJIT_TRACE_LIMIT"

current_tracer: ContextVar[Tracer | None] = ContextVar("nkijit_tracer", default=None)
"""The tracer of the kernel that is being traced; see `active_tracer`. Hot code reads it directly.
"""


def active_tracer() -> Tracer | None:
    """Return the tracer of the kernel that is being traced in this context, if any."""
    return current_tracer.get()


def tracer_for(call: str) -> Tracer:
    """Return the active tracer. Raises RuntimeError outside a kernel, with the name of the call."""
    tracer = current_tracer.get()
    if tracer is None:
        raise RuntimeError(
            f"{call} can only be called inside a kernel: {_under_jit(author_frame())}; in the "
            "public error reference: err_nki_api_outside_of_nki_kernel"
        )
    return tracer


def _under_jit(frame: FrameType | None) -> str:
    """Return the advice for a call outside a kernel, in the frame of the user's code."""
    name = "" if frame is None else frame.f_code.co_name
    if frame is None or not name.isidentifier():
        return "move it into a function under @nki.jit"
    place = definition_of(frame.f_code).line_text
    return f"write @nki.jit above {name} ({place}), or above the kernel that calls {name}"


def check_api(generation: str, call: str) -> None:
    """End the trace of a kernel that is of another API than a function that it calls, if any."""
    tracer = current_tracer.get()
    if tracer is not None:
        tracer.check_api(generation, call)


class Storage:
    """The memory of one allocation or kernel argument, shared by all views of a tensor."""

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


class _Scope:
    """A block that is being filled: the kernel's body, or the body of a loop or `nl.no_reorder`."""

    __slots__ = ("block", "op", "views")

    def __init__(self, block: Block, op: Operation | None):
        self.block = block
        self.op = op
        """The operation whose body is the block; None for the kernel's body."""
        self.views: dict[tuple[Any, ...], SSAValue] = {}


@dataclass(frozen=True, slots=True)
class PythonWhile:
    """A loop `while register:` of Python with a body that is being traced."""

    frame: FrameType
    loop: ast.While
    register: SSAValue
    op: WhileOp


class TracedValues(Protocol):
    """The values of tensors at the current point of a trace."""

    def of(self, view: Any, /) -> Any:
        """Return the elements of a view as an array."""
        ...

    def shown(self, view: Any, /) -> str:
        """Return the elements of a view as text."""
        ...


class Tracer:
    """Builds the IR of one kernel."""

    def __init__(
        self,
        name: str,
        target: Target,
        arguments: list[tuple[str, NkiMemRef]],
        grid_dims: int = 0,
        core: tuple[int, int] = (0, 1),
    ):
        """`core`: the number of the core that the kernel is traced for, and the number of cores."""
        self.target = target
        self.grid_dims = grid_dims
        self.core = core
        self.diagnostics: list[Diagnostic] = []
        self.history: list[Operation] | None = None
        """The appended operations in order; None if no code needs them."""
        self.launched: tuple[Position, int] | None = None
        """The position of the first `nl.program_id`, and the number of programs of the launch."""
        self.values: TracedValues | None = None
        """The values of tensors; None unless the kernel runs by `kernel.step`."""
        region, self._block = new_body([memref for _, memref in arguments])
        self._scopes = [_Scope(self._block, None)]
        self._calls = CallSites()
        self._removed: list[AllocOp | ViewOp] = []
        self.whiles: list[PythonWhile] = []
        """The open loops `while register:` of the user's Python code, the outermost first."""
        self._failed = False
        self._name = name
        self._appended = 0
        self._limit = limit_of(LIMIT_VARIABLE, LIMIT)
        self.is_too_long = False
        """Whether the trace has ended because of its limit, so that its findings are incomplete."""
        program = None if core[1] == 1 else core
        symbol = name if program is None else name + core_suffix(core[0])
        self.kernel = KernelOp(symbol, target.platform, region, program)
        self._numbered = 0
        self._constants: dict[bytes | int, arith.ConstantOp] = {}
        self._data: dict[tuple[bytes, NkiMemRef], ConstantOp] = {}
        self.files: dict[Path, FileState] = {}
        used: set[str | None] = set()
        for argument, (argument_name, _) in zip(self._block.args, arguments, strict=True):
            hint = ssa_name(argument_name)
            while hint in used:  # argument `x_0` and element 0 of `x`
                hint = f"{hint}_"
            used.add(hint)
            argument.name_hint = hint

    @property
    def arguments(self) -> tuple[SSAValue, ...]:
        """The kernel's arguments in the IR."""
        return self._block.args

    def run(self, function: Callable[[], Any]) -> Any:
        """Call the kernel's body with this tracer active."""
        # Without the token of `set`, which an interrupt could lose.
        around = current_tracer.get()
        try:
            current_tracer.set(self)
            return function()
        finally:
            current_tracer.set(around)
            self._calls.forget()

    def append(self, op: Operation, location: LocationAttr) -> None:
        """Append an op at the current point of the trace."""
        op.location = location
        self._scopes[-1].block.add_op(op)
        self._count(op)

    def append_created(self, op: Operation) -> None:
        """Append an op without regions that was just created with its location."""
        append(self._scopes[-1].block, op)
        self._count(op)

    def _count(self, op: Operation) -> None:
        """Count an appended operation. Ends the trace if the count exceeds the limit."""
        if self.history is not None:
            self.history.append(op)
        self._appended += 1
        if self._appended <= self._limit:
            return
        if not self.is_too_long:  # the user may have caught the exception of an earlier operation
            message = f"its trace has more than {self._limit} operations, and does not end"
            self.record(TRACE_LIMIT, f"kernel '{self._name}'", message)
            self.is_too_long = self._failed = True
        raise NkiValidationError(self.diagnostics)

    def location(self, inner: int = 1) -> LocationAttr:
        """Return the location of the user's current call.

        `inner`: the number of innermost frames to skip, including the frame of this function.
        """
        return self._calls.location(author_frame(inner + 1))

    def sites(self) -> Sites:
        """Return the user's calls that are being executed, the innermost first."""
        return self._calls.sites(author_frame(2))

    def mark(self) -> tuple[Block, Operation | None]:
        """Return the current point of the trace: the open block, and its last operation."""
        block = self._scopes[-1].block
        return block, block.last_op

    def _append_storage(self, op: Operation) -> None:
        """Append an allocation before the outermost open loop.

        A tile that is allocated in the body of a loop has one allocation for all iterations, and
        the Python code after the loop may use it.
        """
        if len(self._scopes) == 1:
            self.append_created(op)
            return
        outermost = self._scopes[1].op
        assert outermost is not None
        self._block.insert_op_before(op, outermost)
        self._count(op)

    def remove(self, op: AllocOp | ViewOp) -> None:
        """Remove an allocation or a view from the IR; `finish` restores it if it has a user.

        An allocation must be removed before its views.
        """
        if op.parent is None:  # an allocation without elements
            return
        op.detach()
        self._removed.append(op)

    def _settle_removed(self) -> None:
        first = self._block.first_op
        for op in reversed(self._removed):
            if op.results[0].first_use is None:
                op.erase()
            elif first is not None:
                self._block.insert_op_before(op, first)
                first = op

    def constants(self) -> list[Operation]:
        """Return the constants so far, which `finish` inserts at the top."""
        return [*self._constants.values(), *self._data.values()]

    def open_loops(self) -> list[tuple[Block, Operation]]:
        """Return the open blocks inside the kernel's body, each with its operation."""
        return [(scope.block, scope.op) for scope in self._scopes if scope.op is not None]

    def device_loops(self) -> list[Operation]:
        """Return the open loops on the device, the outermost first."""
        return [op for _, op in self.open_loops() if not isinstance(op, NoReorderOp)]

    def open(self, op: Operation, block: Block, location: LocationAttr) -> None:
        """Append an op with a body; the following ops go into `block` until `close`."""
        self.append(op, location)
        self._scopes.append(_Scope(block, op))

    def go_on_in(self, block: Block) -> None:
        """Continue in another block of the operation that `open` appended last."""
        self._scopes[-1] = _Scope(block, self._scopes[-1].op)

    def close(self, op: Operation, terminator: Operation | None = None) -> None:
        """Continue after the op that `open` appended."""
        if not self._is_filling(op):  # closed together with an outer loop
            return
        scope = self._scopes[-1]
        if scope.op is not op:
            # An inner loop was left before its end, by break or return.
            self.record(LOOP_LEFT, "a loop on the device", "its body was left before its end")
            while self._scopes[-1].op is not op:
                self._seal(self._scopes.pop())
            scope = self._scopes[-1]
        if terminator is not None:
            scope.block.add_op(terminator)
        self._scopes.pop()

    def _is_filling(self, op: Operation) -> bool:
        return any(scope.op is op for scope in self._scopes)

    def _seal(self, scope: _Scope) -> None:
        if not isinstance(scope.op, NoReorderOp):
            scope.block.add_op(YieldOp())

    def is_inside(self, block: Block) -> bool:
        """Return True while `block`, or a block inside it, is being filled."""
        return any(scope.block is block for scope in self._scopes)

    @property
    def is_classic(self) -> bool:
        """Whether the kernel is of the classic API."""
        return "classic" in self.kernel.properties

    @property
    def is_open(self) -> bool:
        """Whether the trace can still be extended; user code may continue after the trace's end."""
        return current_tracer.get() is self and not self._failed

    def finish(self, terminator: Operation, location: LocationAttr) -> None:
        """Close the kernel: insert constants at its top and append the terminator."""
        if len(self._scopes) > 1:
            self.record(LOOP_LEFT, "a loop on the device", "its body was left before its end")
            while len(self._scopes) > 1:
                self._seal(self._scopes.pop())
        self._limit += 1
        self.append(terminator, location)
        self._settle_removed()
        first = self._block.first_op
        constants = self.constants()
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
        """Emit an allocation, named after `name=` or the variable it is assigned to.

        A shape with a size of 0 has no memory: the allocation has size 1 there, and is not emitted.
        """
        frame = author_frame(2)
        is_empty = 0 in shape
        if is_empty:
            shape = tuple(max(size, 1) for size in shape)
        memref = allocation_type(dtype, shape, region)
        op = AllocOp.of(memref, name or None, address, self._calls.location(frame))
        value = op.results[0]
        hint = ssa_name(name) if name else assigned_name(frame)
        name_value(value, hint or region.value)
        if not is_empty:
            self._append_storage(op)
        return Storage(self, value, shape, dtype, region, name or hint or region.value)

    def view(
        self,
        storage: Storage,
        access: AccessPattern,
        dtype: DType,
        dynamic: DynamicPart | None = None,
        location: LocationAttr | None = None,
    ) -> SSAValue:
        """Return the value of a view; equal views are emitted once, where they are first used.

        `location`: the location of the user's current call, if the caller has it.
        """
        source, offset, counts = storage.value, access.offset, access.shape
        form = ViewForm.of(dtype, storage.region, access.strides, counts, counts)
        key = (source, form, offset, dynamic)
        for scope in self._scopes:
            value = scope.views.get(key)
            if value is not None:
                return value
        if location is None:
            location = self.location(2)
        if dynamic is None:
            op = ViewOp.at(source, form, offset, location)
        else:
            op = ViewOp.of(source, access, dtype, dynamic, location)
        value = op.results[0]
        value._name = source._name  # pyright: ignore[reportPrivateUsage]
        self.append_created(op)
        self._scopes[-1].views[key] = value
        return value

    def allocate_register(self) -> SSAValue:
        """Emit a register that is named after the variable that it is assigned to."""
        frame = author_frame()
        op = RegisterOp.of()
        op.result.name_hint = assigned_name(frame) or "register"
        op.location = self._calls.location(frame)
        self._append_storage(op)
        return op.result

    def read_register(self, register: SSAValue) -> SSAValue:
        """Emit a read of a register at the current point of the trace, and return the value."""
        op = ReadRegisterOp.of(register)
        op.result.name_hint = register.name_hint
        self.append(op, self.location())
        return op.result

    # ---------------------------------------------------------------- loops

    def refuse_loop(self, call: str) -> None:
        """End the trace inside nl.no_reorder, where no loop on the device is allowed."""
        if any(isinstance(scope.op, NoReorderOp) for scope in self._scopes):
            self.fail(NO_REORDER_LOOP, call, "a loop on the device is inside nl.no_reorder")

    def constant(self, number: int | float) -> SSAValue:
        """Return the value of a compile-time number: an int32, int64 if too large, or float32."""
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
        """Return a tensor of constant data in shared HBM; equal constants are emitted once.

        The tensor is named `name`, else after the variable that the first request assigns it to.
        """
        region = MemoryRegion.shared_hbm
        memref = allocation_type(dtype, shape, region)
        op = self._data.get((data, memref))
        if op is None:
            frame = author_frame()
            op = self._data[data, memref] = ConstantOp.of(data, memref)
            op.result.name_hint = name or assigned_name(frame) or "constant"
            op.location = self._calls.location(frame)
        return Storage(self, op.result, shape, dtype, region, op.result.name_hint or "constant")

    def reads_program_id(self, programs: int) -> None:
        """Record that the kernel depends on the index of its program in a launch along one axis."""
        if self.launched is None:
            place = next(iter(positions(self.location(2))), None)
            self.launched = None if place is None else (place, programs)

    def reads(self, path: Path) -> None:
        """Record that the kernel depends on a file. Raises OSError when there is none."""
        self.files[path] = FileState.of(path)

    # ---------------------------------------------------------------- order

    def has(self, op: Operation) -> bool:
        """Return True for an operation of the kernel that is being traced."""
        return op.get_toplevel_object() is self.kernel.get_toplevel_object()

    def run_after(self, consumer: NisaOp, producer: NisaOp) -> None:
        """Add an edge: `consumer` runs after `producer`."""
        if producer.instruction_name is None:
            name = f"{producer.SPEC.name}.{self._numbered}"
            self._numbered += 1
            producer.properties["name"] = StringAttr(name)
        consumer.run_after(cast(StringAttr, producer.instruction_name).data)

    def schedule(self, edges: Sequence[tuple[str, str]], function: Callable[..., Any]) -> None:
        """Add edges between instructions by name, given as pairs: a consumer and its producer."""
        if not edges:
            return
        named: dict[str, list[NisaOp]] = {}
        for op in self.kernel.operations:
            if isinstance(op, NisaOp) and op.instruction_name is not None:
                named.setdefault(op.label, []).append(op)
        for edge in edges:
            wrong = [name for name in edge if len(named.get(name, ())) != 1]
            for name in wrong:
                count = len(named.get(name, ()))
                what = f"{numbered(count, 'instruction')} have" if count else "no instruction has"
                self.record_at(function, SCHEDULE_NAME, f"{what} the name '{name}'")
            if not wrong:
                named[edge[0]][0].run_after(edge[1])

    # ---------------------------------------------------------------- errors

    def record(self, rule: RuleText, subject: str, message: str, help: str = "") -> None:
        """Record a finding at the user's line and continue."""
        where = tuple(positions(self.location()))
        self.diagnostics.append(Diagnostic(rule, message, subject, where, help=help))

    def record_at(
        self,
        function: Callable[..., Any],
        rule: RuleText,
        message: str,
        operands: tuple[Operand, ...] = (),
        help: str = "",
    ) -> None:
        """Record a finding about a whole kernel, at its definition."""
        where: tuple[Position, ...] = ()
        code = getattr(function, "__code__", None)
        if code is not None:
            where = (definition_of(code),)
        name = getattr(function, "__name__", type(function).__name__)
        found = Diagnostic(rule, message, f"kernel '{name}'", where, help=help, operands=operands)
        self.diagnostics.append(found)

    def fail(self, rule: RuleText, subject: str, message: str, help: str = "") -> NoReturn:
        """Record a finding and end the trace, for mistakes that leave nothing to continue with."""
        self.stop(self.finding(rule, subject, message, help))

    def finding(self, rule: RuleText, subject: str, message: str, help: str = "") -> Diagnostic:
        """Return a finding at the user's current call, for `stop`."""
        where = tuple(positions(self.location()))
        return Diagnostic(rule, message, subject, where, help=help)

    def stop(self, finding: Diagnostic) -> NoReturn:
        """Record a finding and end the trace."""
        self.diagnostics.append(finding)
        self._failed = True
        raise NkiValidationError(self.diagnostics)

    def check_api(self, generation: str, call: str) -> None:
        """End the trace if the kernel is of another API than a function that it calls.

        Args:
            generation: the package of the function's API.
            call: the function's name in findings.
        """
        if self.is_classic != (generation == CLASSIC):
            short, _, name = call.partition(".")
            self._refuse_mixture(ApiName(generation, short, name))

    def check_called(self) -> None:
        """End the trace if the user's current call is of a function of the other API."""
        frame = author_frame()
        node = None if frame is None else evaluated(frame.f_code, frame.f_lasti)
        other = other_api_called(node, frame, classic=self.is_classic)
        if other is not None:
            self._refuse_mixture(other)

    def _refuse_mixture(self, name: ApiName) -> NoReturn:
        self.stop(mixed_apis(name, tuple(positions(self.location()))))

    def wrong_argument(self, call: str, name: str, expected: str, value: Any) -> NoReturn:
        """End the trace at an argument of an unexpected type."""
        self.check_called()
        hint = hint_for(value, expected) or explained(call, self.is_classic)
        self.fail(ARGUMENT, call, f"'{name}': expected {expected}, got {one_line(value)}", hint)


def number_attr(number: int | float) -> Any:
    """Return the attribute of a compile-time number. Floats beyond float32 become infinite."""
    if isinstance(number, float):
        return FloatAttr(to_float32(number), f32)
    return IntegerAttr(number, i32 if is_int32(number) else i64)
