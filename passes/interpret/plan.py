"""Compile a kernel into a plan of NumPy calls, and run it.

Compiling resolves views, data types and branches once; a run allocates the kernel's tensors and
walks the plan. A plan holds no run's data, so threads may run it at the same time.

Semantics attach to op classes from outside: a function per op, registered with `@semantics`,
takes a `Binding` (what is known of one op before any data) and returns the call to make. All
arithmetic is in float32; `Binding` loads operands and rounds results, which is the one path that
writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt
from xdsl.ir import BlockArgument, Operation, SSAValue

from nkijit.dialects.access import AccessPattern, ViewError
from nkijit.dialects.declare import NisaOp, scalar_constant
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.fields import Role
from nkijit.dialects.hardware import Target
from nkijit.dialects.nki import AllocOp, DevicePrintOp, KernelOp, ReturnOp, base_of
from nkijit.dialects.tiles import TileInfo, info_of, is_tile
from nkijit.passes.interpret.numerics import int_rounder, loader, rounder, storage

Array = npt.NDArray[Any]
Env = list[Any]
Step = Callable[[Env], object]
Compute = Callable[..., object]

FLOAT32 = np.dtype(np.float32)
UNWRITTEN_INTEGER = 4
"""What unwritten integers hold, as in the vendor's simulator; unwritten floats hold NaN."""


def _unwritten(dtype: DType) -> float:
    return np.nan if dtype.kind is Kind.float else UNWRITTEN_INTEGER


class InterpretationError(Exception):
    """A kernel cannot be interpreted, or not with these inputs."""


class Listener(Protocol):
    """Told of every operation that has run, with the tiles that it wrote."""

    def did_run(self, op: Operation, written: Sequence[Array]) -> None:
        """`written` are views of the tiles in their stored data types."""
        ...


# ------------------------------------------------------------------ registry

Semantics = Callable[["Binding"], Step]
_SEMANTICS: dict[type[NisaOp], Semantics] = {}
_S = TypeVar("_S", bound=Semantics)


def semantics(op_class: type[NisaOp]) -> Callable[[_S], _S]:
    """Register the function that binds an op of this class."""

    def register(function: _S) -> _S:
        if op_class in _SEMANTICS:
            raise ValueError(f"{op_class.name} has semantics already")
        _SEMANTICS[op_class] = function
        return function

    return register


# ------------------------------------------------------------------ binding one op


@dataclass(frozen=True, slots=True)
class Source:
    """An operand that is read: where it is in the environment, and how it becomes float32."""

    slot: int
    load: Callable[[Array], Array] | None = None
    shape: tuple[int, ...] | None = None
    """A run-time reshape, for a layout that no view of the wanted shape has."""
    tile: _Tile | None = None

    def read(self, env: Env) -> Any:
        """The operand's values."""
        array = env[self.slot]
        if self.shape is not None:
            array = array.reshape(self.shape)
        return array if self.load is None else self.load(array)

    @property
    def direct(self) -> bool:
        """True when the environment holds the values as they are used."""
        return self.load is None and self.shape is None


@dataclass(frozen=True, slots=True)
class _Tile:
    base: SSAValue
    info: TileInfo

    @property
    def bytes(self) -> AccessPattern:
        """The access pattern in bytes, elements spread out, for comparing views of any dtype."""
        size = self.info.dtype.itemsize
        if size == 1:
            return self.info.pattern
        strides = tuple(stride * size for stride in self.info.strides)
        return AccessPattern(self.info.offset * size, (*strides, 1), (*self.info.shape, size))

    def overlaps(self, other: _Tile) -> bool:
        if self.base is not other.base:
            return False
        if self.info.dtype.bits == other.info.dtype.bits:
            return self.info.pattern.overlaps(other.info.pattern)
        return self.bytes.overlaps(other.bytes)


class Binding:
    """What is known of one instruction before any data is."""

    def __init__(self, compiler: _Compiler, op: NisaOp):
        self.op = op
        self.target = compiler.target
        self._compiler = compiler

    def value(self, name: str) -> Any:
        """A compile-time argument."""
        return self.op.value_of(name)

    def has(self, name: str) -> bool:
        """True when the operand is given."""
        return self.op.operand_named(name) is not None

    def tile(self, name: str) -> TileInfo:
        """The type of a tile operand."""
        return info_of(self._operand(name))

    def dtype(self, name: str) -> DType:
        """The data type of a tile operand."""
        return self.tile(name).dtype

    def constant(self, value: Any) -> Source:
        """A value that is the same in every run."""
        return Source(self._compiler.constant_slot(value))

    def number(self, name: str) -> int | float | None:
        """The operand's number; its default when it was left out; None for a tile."""
        value = self.op.operand_named(name)
        if value is None:
            return self.op.SPEC.by_name[name].default
        return None if is_tile(value) else scalar_constant(value)

    def read(self, name: str, shape: tuple[int, ...] | None = None, *, raw: bool = False) -> Source:
        """An operand to read: a float32 number, or a tile as float32 in (P, N) form.

        Args:
            name: the operand.
            shape: another shape of as many elements.
            raw: keep the stored data type.
        """
        number = self.number(name)
        if number is not None:
            return self.constant(np.float32(number))
        value = self._operand(name)
        info = info_of(value)
        wanted = (info.partitions, info.free_size) if shape is None else shape
        slot, reshape = self._compiler.shaped_slot(value, wanted)
        load = None if raw else loader(info.dtype, self._compiler.precise)
        return Source(slot, load, reshape, _Tile(base_of(value), info))

    def scratch(self, shape: tuple[int, ...], index: int = 0) -> int:
        """A float32 array for intermediate results, shared by steps that run one by one."""
        return self._compiler.scratch_slot(shape, index)

    def compute(
        self, function: Compute, sources: Sequence[Source], name: str = "dst", *, early: int
    ) -> tuple[Step, int]:
        """Call `function(*sources, out)` and round `out`, float32 in (P, N) form, into a tile.

        The first `early` sources are read element by element before `out` is written; `out` may
        be the same array as one of them.

        Returns the step and the slot that holds the float32 results after it.
        """
        info = self.tile(name)
        shape = (info.partitions, info.free_size)
        dst = self.read(name, raw=True)
        direct = dst.shape is None and self._is_float32(info)
        if direct and self._writes_in_place(dst, sources, early):
            return _call(function, sources, dst.slot), dst.slot
        scratch = self.scratch(shape)
        call, store = _call(function, sources, scratch), self.store(scratch, shape, name)

        def step(env: Env) -> None:
            call(env)
            store(env)

        return step, scratch

    def store(self, slot: int, shape: tuple[int, ...], name: str) -> Step:
        """Round the values of `slot`, an array of `shape`, into the tile `name`."""
        info = self.tile(name)
        target = self._compiler.shaped_slot(self._operand(name), shape)
        round_into = rounder(info.dtype, self._compiler.precise)
        index = target[0]
        if target[1] is None:
            return lambda env: round_into(env[index], env[slot])
        return lambda env: round_into(env[index], env[slot].reshape(info.shape))

    def storage(self, name: str) -> np.dtype[Any]:
        """The stored data type of a tile."""
        return storage(self.dtype(name), precise=self._compiler.precise)

    def rounded(self, value: Any, name: str) -> Array:
        """Values as the tile `name` stores them."""
        values = np.asarray(value)
        stored = np.empty(values.shape, self.storage(name))
        if self.dtype(name).kind is Kind.packed:
            stored[...] = 0  # the one value that a packed tile is set to
        elif values.dtype.kind in "iu":
            int_rounder(self.dtype(name), self._compiler.precise)(stored, values)
        else:
            rounder(self.dtype(name), self._compiler.precise)(stored, values.astype(np.float32))
        return stored

    def matmul_writes(self, name: str) -> Array:
        """Which bytes of a PSUM tile a matmul has written so far, as an array to read and set."""
        return self._compiler.matmul_map(self._operand(name))

    def accumulators(self) -> int:
        """The slot of the accumulators of the instruction's engine, float32 (lanes, 1)."""
        use = self.op.SPEC.accumulators
        assert use is not None
        return self._compiler.accumulator_slot(use.engine.name)

    def lanes(self, name: str) -> slice:
        """The lanes, which are partitions, that a tile occupies."""
        value = self._operand(name)
        base = info_of(base_of(value))
        info = info_of(value)
        elements = base.free_size * base.dtype.bits // info.dtype.bits
        first, count = info.pattern.partition_range(elements)
        return slice(first, first + count)

    def _operand(self, name: str) -> SSAValue:
        value = self.op.operand_named(name)
        if value is None:
            raise InterpretationError(f"{self.op.name} has no operand '{name}'")
        return value

    def _is_float32(self, info: TileInfo) -> bool:
        # tfloat32 is stored as float32 but has to be rounded.
        stored = storage(info.dtype, precise=self._compiler.precise)
        return stored == FLOAT32 and info.dtype.name != "tfloat32"

    def _writes_in_place(self, dst: Source, sources: Sequence[Source], early: int) -> bool:
        """True when results may go straight to dst: nothing that is read is overwritten first."""
        assert dst.tile is not None
        pattern = dst.tile.info
        if any(s == 0 and n > 1 for s, n in zip(pattern.strides, pattern.shape, strict=True)):
            return False
        for position, source in enumerate(sources):
            tile = source.tile
            if tile is None or not tile.overlaps(dst.tile):
                continue
            if position >= early or tile.info != dst.tile.info:
                return False
        return True


def _call(function: Compute, sources: Sequence[Source], out: int) -> Step:
    """A call with the usual numbers of operands spelled out: these run once per instruction."""
    if all(source.direct for source in sources):
        slots = [source.slot for source in sources]
        if len(slots) == 1:
            (a,) = slots
            return lambda env: function(env[a], env[out])
        if len(slots) == 2:
            a, b = slots
            return lambda env: function(env[a], env[b], env[out])
        if len(slots) == 3:
            a, b, c = slots
            return lambda env: function(env[a], env[b], env[c], env[out])
    return lambda env: function(*[source.read(env) for source in sources], env[out])


# ------------------------------------------------------------------ compiling a kernel


@dataclass(slots=True)
class _Buffer:
    """A tensor of the kernel: an input, or an allocation of its own."""

    slot: int
    elements: int
    dtype: np.dtype[Any]
    fill: float | None
    """What is there before anything is written; None when nothing can read it."""


@dataclass(slots=True)
class _View:
    slot: int
    base: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int
    strides: tuple[int, ...]


@dataclass(slots=True)
class _Compiler:
    kernel: KernelOp
    precise: bool
    target: Target = field(init=False)
    template: Env = field(default_factory=list[Any])
    views: list[_View] = field(default_factory=list[_View])
    scratch: dict[tuple[tuple[int, ...], int], int] = field(
        default_factory=dict[tuple[tuple[int, ...], int], int]
    )
    accumulators: dict[str, int] = field(default_factory=dict[str, int])
    _bases: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _slots: dict[tuple[Any, ...], int] = field(default_factory=dict[tuple[Any, ...], int])
    _matmuls: dict[SSAValue, Array] = field(default_factory=dict[SSAValue, Array])

    def __post_init__(self) -> None:
        self.target = self.kernel.target

    def _new_slot(self, value: Any = None) -> int:
        self.template.append(value)
        return len(self.template) - 1

    def constant_slot(self, value: Any) -> int:
        return self._new_slot(value)

    def base_slot(self, base: SSAValue) -> int:
        slot = self._bases.get(base)
        if slot is None:
            slot = self._bases[base] = self._new_slot()
        return slot

    def scratch_slot(self, shape: tuple[int, ...], index: int) -> int:
        key = (shape, index)
        slot = self.scratch.get(key)
        if slot is None:
            slot = self.scratch[key] = self._new_slot()
        return slot

    def accumulator_slot(self, engine: str) -> int:
        slot = self.accumulators.get(engine)
        if slot is None:
            slot = self.accumulators[engine] = self._new_slot()
        return slot

    def slot_of(self, base: SSAValue, access: AccessPattern, dtype: DType) -> int:
        """The slot of a view of `base`; equal views share one."""
        key = (base, access.offset, access.strides, access.shape, dtype.name)
        slot = self._slots.get(key)
        if slot is None:
            stored = storage(dtype, precise=self.precise)
            own = storage(info_of(base).dtype, precise=self.precise)
            if dtype is not info_of(base).dtype and (
                stored.itemsize != dtype.itemsize or own.itemsize != info_of(base).dtype.itemsize
            ):
                raise InterpretationError(
                    f"a view of {info_of(base).dtype.name} as {dtype.name} reads bits, which "
                    "NKI_PRECISE_FP=0 does not keep"
                )
            slot = self._slots[key] = self._new_slot()
            size = stored.itemsize
            strides = tuple(stride * size for stride in access.strides)
            self.views.append(
                _View(
                    slot, self.base_slot(base), access.shape, stored, access.offset * size, strides
                )
            )
        return slot

    def shaped_slot(
        self, value: SSAValue, shape: tuple[int, ...]
    ) -> tuple[int, tuple[int, ...] | None]:
        """A slot for `value` in `shape`, and a run-time reshape when no view has that shape."""
        base, info = base_of(value), info_of(value)
        access = info.pattern
        if access.shape != shape:
            try:
                access = access.reshape(shape, on_chip=False)
            except ViewError:
                return self.slot_of(base, info.pattern, info.dtype), shape
        return self.slot_of(base, access, info.dtype), None

    def matmul_map(self, value: SSAValue) -> Array:
        tile = _Tile(base_of(value), info_of(value))
        written = self._matmuls.get(tile.base)
        if written is None:
            base = info_of(tile.base)
            written = np.zeros(base.size * base.dtype.itemsize, np.bool_)
            self._matmuls[tile.base] = written
        size = tile.info.dtype.itemsize
        strides = tuple(stride * size for stride in tile.info.strides)
        # One flag stands for an element: its first byte.
        return np.ndarray(tile.info.shape, np.bool_, written, tile.info.offset * size, strides)

    def bind(self, op: NisaOp) -> Step:
        function = _SEMANTICS.get(type(op))
        if function is None:
            raise InterpretationError(f"{op.name} cannot be interpreted")
        return function(Binding(self, op))

    def print_step(self, op: DevicePrintOp) -> Step:
        info = info_of(op.tensor)
        slot = self.slot_of(base_of(op.tensor), info.pattern, info.dtype)
        prefix = op.prefix.data
        return lambda env: print(prefix, env[slot], sep="\n")


def _reads_and_writes(op: Operation) -> Iterable[tuple[SSAValue, Role]]:
    if isinstance(op, NisaOp):
        for f, value in op.given_operands():
            if is_tile(value):
                yield value, cast(Any, f.kind).role
    elif isinstance(op, DevicePrintOp):
        yield op.tensor, Role.read
    elif isinstance(op, ReturnOp):
        for value in op.values:
            yield value, Role.read


def _needs_fill(kernel: KernelOp) -> set[SSAValue]:
    """Allocations that something might read before they are written completely."""
    judged: set[SSAValue] = set()
    result: set[SSAValue] = set()
    for op in kernel.body.block.ops:
        # What an instruction reads, it reads before it writes.
        for value, role in sorted(_reads_and_writes(op), key=lambda item: item[1] is Role.write):
            base = base_of(value)
            if base in judged:
                continue
            judged.add(base)
            info = info_of(value)
            whole = info.size * info.dtype.bits == info_of(base).size * info_of(base).dtype.bits
            distinct = all(s != 0 or n == 1 for s, n in zip(info.strides, info.shape, strict=True))
            # A matmul that has been resolved to overwrite writes all of dst, too; telling it
            # apart is not worth the fill of a PSUM tile that it saves.
            if role is not Role.write or not whole or not distinct:
                result.add(base)
    return result


def _refuse_shared_addresses(kernel: KernelOp) -> None:
    """Every allocation has memory of its own here: tiles in use together must not overlap.

    Tiles that take the same address one after the other are fine.
    """
    placed = [op for op in kernel.body.block.ops if isinstance(op, AllocOp) and op.fixed_address]
    if not placed:
        return
    uses: dict[SSAValue, tuple[int, int]] = {}
    for position, op in enumerate(kernel.body.block.ops):
        for value, _ in _reads_and_writes(op):
            first, _ = uses.get(base_of(value), (position, position))
            uses[base_of(value)] = (first, position)
    in_use: list[AllocOp] = []
    for op in sorted((op for op in placed if op.result in uses), key=lambda op: uses[op.result]):
        in_use = [other for other in in_use if uses[other.result][1] > uses[op.result][0]]
        for other in in_use:
            if _overlap(op, other):
                raise InterpretationError(
                    f"'{other.result.name_hint}' and '{op.result.name_hint}' are in use at the "
                    "same time and share addresses, which the interpreter does not model yet"
                )
        in_use.append(op)


def _overlap(a: AllocOp, b: AllocOp) -> bool:
    infos = info_of(a.result), info_of(b.result)
    addresses = cast(tuple[int, int], a.fixed_address), cast(tuple[int, int], b.fixed_address)
    if infos[0].region is not infos[1].region:
        return False
    sizes = [(info.partitions, info.partition_bytes) for info in infos]
    return all(
        addresses[0][axis] < addresses[1][axis] + sizes[1][axis]
        and addresses[1][axis] < addresses[0][axis] + sizes[0][axis]
        for axis in (0, 1)
    )


class Plan:
    """A kernel, compiled. `run` may be called from several threads at the same time."""

    def __init__(self, kernel: KernelOp, *, precise: bool = True):
        """Compile `kernel`.

        Args:
            kernel: a verified kernel.
            precise: keep low-precision tensors in their own data type; False keeps them in
                float32 (`NKI_PRECISE_FP=0`).
        """
        self.kernel = kernel
        self.precise = precise
        _refuse_shared_addresses(kernel)
        compiler = _Compiler(kernel, precise)
        self._ops: list[Operation] = []
        self._steps: list[Step] = []
        for op in kernel.body.block.ops:
            if isinstance(op, NisaOp):
                self._steps.append(compiler.bind(op))
            elif isinstance(op, DevicePrintOp):
                self._steps.append(compiler.print_step(op))
            else:
                continue
            self._ops.append(op)
        written = {
            base_of(value)
            for op in kernel.body.block.ops
            for value, role in _reads_and_writes(op)
            if role is not Role.read
        }
        fills = _needs_fill(kernel)
        self._inputs: list[tuple[str, TileInfo, int, bool]] = [
            (
                value.name_hint or f"argument {i}",
                info_of(value),
                compiler.base_slot(value),
                value in written,
            )
            for i, value in enumerate(kernel.arguments)
        ]
        self._buffers: list[_Buffer] = []
        for op in kernel.body.block.ops:
            if isinstance(op, AllocOp):
                info = info_of(op.result)
                stored = storage(info.dtype, precise=precise)
                fill = _unwritten(info.dtype) if op.result in fills else None
                self._buffers.append(
                    _Buffer(compiler.base_slot(op.result), info.size, stored, fill)
                )
        self._results: list[tuple[int, bool, bool]] = []
        for value in kernel.return_op.values:
            info = info_of(value)
            slot = compiler.slot_of(base_of(value), info.pattern, info.dtype)
            # An allocation is this run's own; a view or an input is copied out.
            copied = isinstance(value, BlockArgument) or value is not base_of(value)
            self._results.append((slot, copied, info.dtype.kind is Kind.boolean))
        self._compiler = compiler
        self._views = compiler.views
        self._template = compiler.template
        self._scratch = list(compiler.scratch.items())
        self._accumulators = list(compiler.accumulators.values())

    def run(self, inputs: Sequence[Array], listener: Listener | None = None) -> list[Array]:
        """Run the kernel.

        Args:
            inputs: one array per kernel argument, of its shape and data type.
            listener: told of every operation that has run.

        Returns the results in order. Inputs that the kernel wrote are updated when it has run to
        its end; other inputs are never written.
        """
        env = self._template.copy()
        copies: list[tuple[Array, int, TileInfo]] = []
        if len(inputs) != len(self._inputs):
            raise InterpretationError(f"expected {len(self._inputs)} inputs, got {len(inputs)}")
        for array, (name, info, slot, is_written) in zip(inputs, self._inputs, strict=True):
            env[slot] = self._bytes_of(array, name, info, is_written)
            if is_written:
                copies.append((array, slot, info))
        for buffer in self._buffers:
            if buffer.fill is None:
                env[buffer.slot] = np.empty(buffer.elements * buffer.dtype.itemsize, np.uint8)
            else:
                filled = np.full(buffer.elements, buffer.fill, buffer.dtype)
                env[buffer.slot] = filled.view(np.uint8)
        for (shape, _), slot in self._scratch:
            env[slot] = np.empty(shape, np.float32)
        for slot in self._accumulators:
            env[slot] = np.full((self._compiler.target.pmax, 1), np.nan, np.float32)
        make = np.ndarray
        for v in self._views:
            env[v.slot] = make(v.shape, v.dtype, env[v.base], v.offset, v.strides)
        # Engines do not trap: overflow, NaN and division by zero are values.
        with np.errstate(all="ignore"):
            if listener is None:
                for step in self._steps:
                    step(env)
            else:
                self._run_with(listener, env)
        for array, slot, info in copies:
            stored = storage(info.dtype, precise=self.precise)
            result = np.ndarray(info.shape, stored, env[slot])
            np.copyto(array, result.astype(array.dtype, copy=False).reshape(array.shape))
        results: list[Array] = []
        for slot, copied, boolean in self._results:
            result = env[slot].copy() if copied else env[slot]
            results.append(result.view(np.bool_) if boolean else result)
        return results

    def _run_with(self, listener: Listener, env: Env) -> None:
        for op, step in zip(self._ops, self._steps, strict=True):
            step(env)
            written = [
                self._array(value, env)
                for value, role in _reads_and_writes(op)
                if role is not Role.read
            ]
            listener.did_run(op, written)

    def _array(self, value: SSAValue, env: Env) -> Array:
        info = info_of(value)
        stored = storage(info.dtype, precise=self.precise)
        strides = tuple(stride * stored.itemsize for stride in info.strides)
        raw = env[self._compiler.base_slot(base_of(value))]
        return np.ndarray(info.shape, stored, raw, info.offset * stored.itemsize, strides)

    def _bytes_of(self, array: Array, name: str, info: TileInfo, is_written: bool) -> Array:
        stored = storage(info.dtype, precise=self.precise)
        if array.shape != info.shape:
            raise InterpretationError(
                f"input '{name}': expected shape {info.shape}, got {array.shape}"
            )
        if is_written:
            if not array.flags.writeable:
                raise InterpretationError(f"input '{name}' is read-only, but the kernel writes it")
            array = np.array(array, order="C", copy=True)
        else:
            array = np.ascontiguousarray(array)
        if array.dtype != stored:
            array = _as_stored(array, name, info, stored)
        return array.reshape(-1).view(np.uint8)


def _as_stored(array: Array, name: str, info: TileInfo, stored: np.dtype[Any]) -> Array:
    expected = storage(info.dtype)
    if info.dtype.name == "bool_" and array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype != expected:
        raise InterpretationError(
            f"input '{name}': expected {info.dtype.name}, got an array of {array.dtype}"
        )
    return array.astype(stored)
