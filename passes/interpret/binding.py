"""From one operation to the call that computes it, before there is any data.

Semantics attach to op classes from outside: a function per op, registered with `@semantics`,
takes a `Binding` (what is known of one op before any data) and returns the call to make. All
arithmetic is in float32; `Binding` loads operands and rounds results, which is the one path that
writes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern, Indirection, ViewError
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp, shared_tensors
from nkijit.dialects.nki.views import ViewOp, base_of
from nkijit.dialects.tiles import TileInfo, info_of, is_tile
from nkijit.passes.analysis.accumulators import lanes_of
from nkijit.passes.interpret.errors import InterpretationError, failure
from nkijit.passes.interpret.indirect import (
    Indirect,
    index_reader,
    make_indirect,
    with_indirects,
)
from nkijit.passes.interpret.numerics import int_rounder, loader, rounder, storage

Array = npt.NDArray[Any]
Env = list[Any]
Step = Callable[[Env], object]
Compute = Callable[..., object]

FLOAT32 = np.dtype(np.float32)


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
    value: SSAValue
    base: SSAValue
    info: TileInfo

    @staticmethod
    def of(value: SSAValue) -> _Tile:
        return _Tile(value, base_of(value), info_of(value))

    def overlaps(self, other: _Tile) -> bool:
        return self.base is other.base and self.info.overlaps(other.info)

    def covers(self, other: _Tile) -> bool:
        """True when an overlapping tile has the same elements in the same order."""
        if self.info.indirection is None:
            return self.info == other.info
        return self.value is other.value


class Binding:
    """What is known of one instruction before any data is."""

    def __init__(self, compiler: Compiler, op: NisaOp):
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
        slot, reshape = self._slot(name, value, wanted)
        load = None if raw else loader(info.dtype, self._compiler.precise)
        return Source(slot, load, reshape, _Tile.of(value))

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
        target = self._slot(name, self._operand(name), shape)
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

    def mark_written(self, name: str) -> None:
        """Note that a matmul writes a PSUM tile, or somewhere in its tensor."""
        self.matmul_writes(name)[...] = True
        if self.tile(name).indirection is not None:
            self._compiler.scattered.add(base_of(self._operand(name)))

    def scattered(self, name: str) -> bool:
        """True when a matmul has written somewhere in the tensor that a tile is of."""
        return base_of(self._operand(name)) in self._compiler.scattered

    def matmul_writes(self, name: str) -> Array:
        """Which bytes of a PSUM tile a matmul has written so far, as an array to read and set."""
        return self._compiler.matmul_map(self._operand(name))

    def state(self, name: str, initial: Callable[[], Array]) -> int:
        """The slot of a state that outlives instructions; a run begins with `initial()`."""
        return self._compiler.state_slot(name, initial)

    def accumulators(self) -> int:
        """The slot of the accumulators of the instruction's engine, float32 (lanes, 1)."""
        use = self.op.SPEC.accumulators
        assert use is not None
        lanes = self.target.pmax
        return self.state(
            f"accumulators of {use.engine.name}",
            lambda: np.full((lanes, 1), np.nan, np.float32),
        )

    def lanes(self, name: str) -> slice:
        """The lanes of an engine that work on a tile."""
        return lanes_of(self._operand(name))

    def item(self, name: str, index: int) -> Binding:
        """The instruction with one value of the list operand `name` in the place of the list."""
        return _ItemBinding(self._compiler, self.op, name, index)

    def register(self, name: str) -> Callable[[Env], int]:
        """Reads the value of a register or integer operand; its default when it was left out."""
        value = self.op.operand_named(name)
        if value is None:
            default = self.op.SPEC.by_name[name].default
            return lambda env: default
        return self._compiler.register_reader(value, self.op)

    def register_slot(self, name: str) -> int:
        """The slot of a register that the instruction writes."""
        return self._compiler.register_slot(self._operand(name))

    def valid_rows(self, name: str) -> int | None:
        """The slot that says which rows of an operand are in bounds, for `oob_mode.skip`.

        None for an operand without a vector of indices. Whoever asks restores the other rows.
        """
        return self._compiler.valid_rows(name)

    # ---------------------------------------------------------------- other cores and ranks

    @property
    def cores(self) -> range:
        """The cores that the kernel is launched on."""
        return range(self._compiler.kernel.core[1])

    def core_slot(self) -> int:
        """The slot that says which core of which rank this is (`machine.Core`)."""
        return self._compiler.named_slot("core")

    def watch_slot(self) -> int:
        """The slot of who watches the memory that cores share, or None."""
        return self._compiler.named_slot("watch")

    def shared_number(self, value: SSAValue) -> int:
        """The number of the tensor that an operand is in, the same on all cores; see `Compiler`."""
        return self._compiler.shared_number(base_of(value))

    def meets(self, drive: Callable[[Env], Generator[Any, None, None]]) -> Step:
        """The step of an instruction that waits for others; `drive` yields the meeting."""
        self._compiler.driver = drive
        return drive

    def _slot(
        self, name: str, value: SSAValue, shape: tuple[int, ...]
    ) -> tuple[int, tuple[int, ...] | None]:
        if info_of(value).indirection is None:
            return self._compiler.shaped_slot(value, shape)
        return self._compiler.indirect_slot(self.op, name, value, shape)

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
            if position >= early or not tile.covers(dst.tile):
                return False
        return True


class _ItemBinding(Binding):
    """A binding that sees one of several values of a list operand."""

    def __init__(self, compiler: Compiler, op: NisaOp, name: str, index: int):
        super().__init__(compiler, op)
        self._name = name
        self._index = index

    def _operand(self, name: str) -> SSAValue:
        if name == self._name:
            return self.op.operands_named(name)[self._index]
        return super()._operand(name)


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


# ------------------------------------------------------------------ the environment


@dataclass(slots=True)
class View:
    """A slot that holds a view of another slot's bytes; `offset` and `strides` count bytes."""

    slot: int
    base: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int
    strides: tuple[int, ...]


@dataclass(slots=True)
class Compiler:
    """Gives out slots of a plan's environment while its operations are bound."""

    kernel: KernelOp
    precise: bool
    target: Target = field(init=False)
    template: Env = field(default_factory=list[Any])
    views: list[View] = field(default_factory=list[View])
    scratch: dict[tuple[tuple[int, ...], int], int] = field(
        default_factory=dict[tuple[tuple[int, ...], int], int]
    )
    states: dict[str, tuple[int, Callable[[], Array]]] = field(
        default_factory=dict[str, tuple[int, Callable[[], Array]]]
    )
    _bases: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _slots: dict[tuple[Any, ...], int] = field(default_factory=dict[tuple[Any, ...], int])
    _matmuls: dict[SSAValue, Array] = field(default_factory=dict[SSAValue, Array])
    scattered: set[SSAValue] = field(default_factory=set[SSAValue])
    """PSUM tensors that a matmul has written at addresses known at run time only."""
    driver: Callable[[Env], Any] | None = None
    """What drives the instruction that was just bound, if it meets other cores."""
    _named: dict[str, int] = field(default_factory=dict[str, int])
    _shared: dict[SSAValue, int] | None = None
    _registers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _indirects: list[tuple[Indirect, SSAValue, tuple[int, ...], tuple[int, ...] | None]] = field(
        default_factory=list[tuple[Indirect, SSAValue, tuple[int, ...], tuple[int, ...] | None]]
    )
    """Operands of the instruction that is being bound whose address is known at run time only."""
    resolved: dict[Operation, list[tuple[SSAValue, Indirect]]] = field(
        default_factory=dict[Operation, list[tuple[SSAValue, Indirect]]]
    )
    """Such operands of all instructions."""

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

    def hold_constant(self, op: ConstantOp) -> None:
        dtype = info_of(op.result).dtype
        elements = np.frombuffer(op.data.data, storage(dtype).newbyteorder("<"))
        stored = elements.astype(storage(dtype, precise=self.precise))
        self.template[self.base_slot(op.result)] = stored.view(np.uint8)

    def scratch_slot(self, shape: tuple[int, ...], index: int) -> int:
        key = (shape, index)
        slot = self.scratch.get(key)
        if slot is None:
            slot = self.scratch[key] = self._new_slot()
        return slot

    def state_slot(self, name: str, initial: Callable[[], Array]) -> int:
        if name not in self.states:
            self.states[name] = self._new_slot(), initial
        return self.states[name][0]

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
                View(
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
        tile = _Tile.of(value)
        if tile.info.indirection is not None:  # it may be anywhere
            tile = _Tile.of(tile.base)
        written = self._matmuls.get(tile.base)
        if written is None:
            base = info_of(tile.base)
            written = np.zeros(base.size * base.dtype.itemsize, np.bool_)
            self._matmuls[tile.base] = written
        size = tile.info.dtype.itemsize
        strides = tuple(stride * size for stride in tile.info.strides)
        # One flag stands for an element: its first byte.
        return np.ndarray(tile.info.shape, np.bool_, written, tile.info.offset * size, strides)

    def stored(self, dtype: DType) -> np.dtype[Any]:
        """The NumPy type that a data type is stored in."""
        return storage(dtype, precise=self.precise)

    def named_slot(self, name: str) -> int:
        """A slot for what a run as a whole has one of."""
        slot = self._named.get(name)
        if slot is None:
            slot = self._named[name] = self._new_slot()
        return slot

    def shared_tensors(self) -> list[SSAValue]:
        """The tensors that all cores see and may write, in the order of their numbers."""
        return shared_tensors(self.kernel)

    def shared_number(self, base: SSAValue) -> int:
        """The number of a tensor that all cores see and may write; -1 for others."""
        if self._shared is None:
            self._shared = {value: number for number, value in enumerate(self.shared_tensors())}
        return self._shared.get(base, -1)

    def register_slot(self, value: SSAValue) -> int:
        """The slot of a register, or of an integer that the program computes."""
        slot = self._registers.get(value)
        if slot is None:
            slot = self._registers[value] = self._new_slot()
        return slot

    def register_reader(self, value: SSAValue, op: Operation) -> Callable[[Env], int]:
        """Reads a register, an induction variable or a constant."""
        number = scalar_constant(value)
        if number is not None:
            constant = int(number)
            return lambda env: constant
        slot = self.register_slot(value)
        name = value.name_hint or "?"

        def read(env: Env) -> int:
            content = env[slot]
            if content is None:
                raise failure(op, f"register '{name}' is read before anything was written")
            return content

        return read

    def index_reader(self, view: ViewOp) -> Callable[[Env], Any]:
        """Reads the indices of a view whose address is known at run time only."""
        assert view.dynamic is not None
        return index_reader(self, view, view, view.dynamic)

    def indirect_slot(
        self, op: NisaOp, name: str, value: SSAValue, shape: tuple[int, ...]
    ) -> tuple[int, tuple[int, ...] | None]:
        """A slot for an operand with an address known at run time only, for one instruction."""
        for indirect, operand, wanted, reshape in self._indirects:
            if operand is value and wanted == shape:
                return indirect.slots[0][0], reshape
            if operand is value and indirect.part.indirection is not Indirection.scalar:
                indirect.slots.append((self._new_slot(), shape))
                return indirect.slots[-1][0], None
        roles = {f.role for f, given in op.given_operands() if given is value}
        role = roles.pop()
        if roles or role is None:  # read by one argument, written by another
            role = Role.update
        indirect, reshape = make_indirect(self, op, name, role, value, shape)
        self._indirects.append((indirect, value, shape, reshape))
        return indirect.slots[0][0], reshape

    def valid_rows(self, name: str) -> int | None:
        for indirect, *_ in self._indirects:
            if indirect.name == name and indirect.part.indirection is Indirection.vector:
                indirect.handled = True
                return indirect.valid
        return None

    def bind(self, op: NisaOp) -> Step:
        function = _SEMANTICS.get(type(op))
        if function is None:
            raise InterpretationError(f"{op.name} cannot be interpreted")
        self._indirects = []
        self.driver = None
        step = function(Binding(self, op))
        if not self._indirects:
            return step
        if self.driver is not None:
            raise failure(op, "an address known at run time only is not modelled here")
        step = with_indirects(self, op, step)
        self.resolved[op] = [(value, indirect) for indirect, value, *_ in self._indirects]
        return step

    @property
    def indirects(self) -> list[Indirect]:
        """What resolves the addresses of the instruction that is being bound."""
        return [indirect for indirect, *_ in self._indirects]

    def print_step(self, op: DevicePrintOp) -> Step:
        info = info_of(op.tensor)
        slot = self.slot_of(base_of(op.tensor), info.pattern, info.dtype)
        prefix = op.prefix.data
        return lambda env: print(prefix, env[slot], sep="\n")
