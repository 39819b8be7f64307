"""The environment of a run: an array of slots, assigned while a kernel's operations are bound.

A slot is the index of a value in the environment. A run begins with a copy of `Slots.template` and
adds arrays: memory of tensors, views of these, scratch arrays and states. The role of each slot is
determined before a run.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern, ViewError
from nkijit.dialects.declare.operation import scalar_constant
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import KernelOp, shared_tensors
from nkijit.dialects.nki.views import ViewOp, access_of, base_of, reach_of
from nkijit.dialects.reach import Reach
from nkijit.dialects.tiles import TileInfo, info_of
from nkijit.passes.analysis.flow.matmul_writes import MatmulWrites
from nkijit.passes.interpret.records.errors import failure
from nkijit.passes.numerics.storage import storage

Array = npt.NDArray[Any]
Env = list[Any]
"""The values of all slots in one run: arrays, numbers and states, by slot number."""
Step = Callable[[Env], object]
"""A function that has the effect of an operation on the environment of a run."""


UNWRITTEN_INTEGER = 4
"""The value of unwritten integers, as in the vendor's simulator; unwritten floats are NaN."""


def unwritten(dtype: DType) -> float:
    """Return the value of unwritten elements of a data type."""
    return np.nan if dtype.kind is Kind.float else UNWRITTEN_INTEGER


def strided(memory: Array, access: AccessPattern, dtype: np.dtype[Any]) -> Array:
    """Return a view of the elements that a pattern selects in contiguous memory."""
    strides = tuple(stride * dtype.itemsize for stride in access.strides)
    return np.ndarray(access.shape, dtype, memory, access.offset * dtype.itemsize, strides)


@dataclass(frozen=True, slots=True)
class OperandTile:
    """A tile as an operand of one instruction."""

    value: SSAValue
    base: SSAValue
    info: TileInfo

    @staticmethod
    def of(value: SSAValue) -> OperandTile:
        """Return the tile of a value."""
        return OperandTile(value, base_of(value), info_of(value))

    def overlaps(self, other: OperandTile) -> bool:
        """True if two tiles share a byte, or may."""
        return self.base is other.base and self.info.overlaps(other.info)

    def covers(self, other: OperandTile) -> bool:
        """True if an overlapping tile covers the same elements in the same order."""
        if self.info.indirection is None:
            return self.info == other.info
        return self.value is other.value


def _numbers() -> array[int]:
    return array("q")


@dataclass(slots=True)
class Views:
    """A group of slots whose views have the same shape, strides and data type.

    `strides` and `offsets` are in bytes. `slots`, `bases` (the slots of the viewed memory) and
    `offsets` have one entry per view.
    """

    number: int
    """The index of this group of views in `Slots.views`."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    slots: array[int] = field(default_factory=_numbers)
    bases: array[int] = field(default_factory=_numbers)
    offsets: array[int] = field(default_factory=_numbers)

    def subset(self, wanted: Collection[int]) -> Views:
        """Return the views whose slots are in `wanted`."""
        some = self._empty()
        for slot, base, offset in self._rows():
            if slot in wanted:
                some.add(slot, base, offset)
        return some

    def split(self, bases: Collection[int]) -> tuple[Views, Views]:
        """Split the group: return the views of memory in the slots `bases`, and all other views."""
        inside, outside = self._empty(), self._empty()
        for slot, base, offset in self._rows():
            (inside if base in bases else outside).add(slot, base, offset)
        return inside, outside

    def _empty(self) -> Views:
        return Views(self.number, self.shape, self.dtype, self.strides)

    def _rows(self) -> Iterator[tuple[int, int, int]]:
        return zip(self.slots, self.bases, self.offsets, strict=True)

    def add(self, slot: int, base: int, offset: int) -> None:
        """Add a view."""
        self.slots.append(slot)
        self.bases.append(base)
        self.offsets.append(offset)

    def by_place(self) -> dict[int, int]:
        """Return the slot of each view, by the view's base and offset as one number (`_place`)."""
        places = map(_place, self.bases, self.offsets)
        return dict(zip(places, self.slots, strict=True))

    def fill(self, env: Env) -> None:
        """Put the views into their slots of an environment."""
        make, shape, dtype, strides = np.ndarray, self.shape, self.dtype, self.strides
        for slot, base, offset in self._rows():
            env[slot] = make(shape, dtype, env[base], offset, strides)


def _place(base: int, offset: int) -> int:
    """Return a base and an offset as one number."""
    return (base << 48) + offset


@dataclass(slots=True, repr=False)
class Slots:
    """The slots of a kernel's environment. After compilation, slots can only be looked up."""

    kernel: KernelOp
    precise: bool
    """True if low-precision tensors keep their data type; False if they are kept in float32."""
    launch: Sequence[KernelOp] = ()
    """The programs of all cores, if there are several."""
    target: Target = field(init=False)
    template: Env = field(default_factory=list[Any])
    """The contents of slots at the start of a run: constants, or None until the run sets them."""
    views: list[Views] = field(default_factory=list[Views])
    scratch: dict[tuple[tuple[int, ...], int], int] = field(
        default_factory=dict[tuple[tuple[int, ...], int], int]
    )
    """The slots of float32 arrays for intermediate results.

    A key is a shape and the index among the instruction's arrays of this shape.
    """
    states: dict[str, tuple[int, Callable[[], Array]]] = field(
        default_factory=dict[str, tuple[int, Callable[[], Array]]]
    )
    """The slot of each array that outlives instructions, and the function that creates the array.

    The key is the name of the array.
    """
    lent: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """For each argument that is written at run-time addresses, the slot of its `lending.Lent`.

    The slot holds None if the argument is not lent.
    """
    matmuls: MatmulWrites = field(default_factory=MatmulWrites)
    # Keyed by identity: xDSL's hash of a value is slow, and values live as long as the kernel.
    _bases: dict[int, int] = field(default_factory=dict[int, int])
    _by_layout: dict[tuple[Any, ...], Views] = field(default_factory=dict[tuple[Any, ...], Views])
    """The groups of views, by shape, strides and data type."""
    _known: list[dict[int, int]] = field(default_factory=list[dict[int, int]])
    """For each group of views, the slots by base and offset; rebuilt on demand after `close`."""
    _kinds: array[int] = field(default_factory=_numbers)
    """For each slot, the index of its group of views; -1 for slots without a view."""
    _named: dict[str, int] = field(default_factory=dict[str, int])
    _registers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _shared: dict[SSAValue, int] | None = None
    _reaches: dict[int, Reach] = field(default_factory=dict[int, Reach])
    _plain: dict[int, Reach] = field(default_factory=dict[int, Reach])
    _closed: bool = False

    def __post_init__(self) -> None:
        self.target = self.kernel.target

    def new(self, value: Any = None) -> int:
        """Return a new slot that holds `value` when a run begins."""
        self._check_open()
        self.template.append(value)
        self._kinds.append(-1)
        return len(self.template) - 1

    def _check_open(self) -> None:
        if self._closed:
            raise AssertionError("a slot is asked for after the kernel was compiled")

    def close(self) -> None:
        """End compilation: slots can be looked up, but not added."""
        self._closed = True
        self._known.clear()
        self._kinds = _numbers()
        self.matmuls = MatmulWrites()

    def base(self, base: SSAValue) -> int:
        """Return the slot of the bytes of an argument, allocation or constant."""
        slot = self._bases.get(id(base))
        if slot is None:
            slot = self._bases[id(base)] = self.new()
        return slot

    def hold_constant(self, op: ConstantOp) -> None:
        """Put the bytes of a constant into its slot."""
        dtype = info_of(op.result).dtype
        elements = np.frombuffer(op.data.data, storage(dtype).newbyteorder("<"))
        memory = self.memory_with(op.result, elements.astype(self.stored(dtype)))
        self.template[self.base(op.result)] = memory.view(np.uint8)

    def names(self, base: SSAValue) -> list[SSAValue]:
        """Return the values that denote a tensor in the programs of the launch."""
        number = self.shared_number(base) if self.launch else -1
        return [shared_tensors(k)[number] for k in self.launch] if number >= 0 else [base]

    def reach(self, base: SSAValue) -> Reach:
        """Return the memory of a tensor, extended by any core's views that reach beyond it."""
        slot = self.base(base)
        reach = self._reaches.get(slot)
        if reach is None:
            reach = reach_of(*self.names(base))
            if not reach.extended:  # the same for all tensors of a type
                reach = self._plain.setdefault(id(reach.allocation), reach)
            self._reaches[slot] = reach
        return reach

    def access(self, value: SSAValue) -> AccessPattern:
        """Return the pattern of a tile in the memory of its tensor; run-time indices count as 0."""
        info = info_of(value)
        access = info.pattern if info.indirection is None else access_of(value)
        reach = self.reach(base_of(value))
        return reach.place(access, info.dtype.itemsize) if reach.extended else access

    def memory_with(self, base: SSAValue, array: Array) -> Array:
        """Return memory for a tensor that holds `array`, with elements of `array`'s data type.

        `array` has the elements of the tensor, in its shape or flat.
        """
        reach = self.reach(base)
        if not reach.extended:
            return array.reshape(-1)
        dtype = info_of(base).dtype
        memory = np.full(reach.size // dtype.itemsize, unwritten(dtype), array.dtype)
        inside = reach.inside(dtype.itemsize)
        strided(memory, inside, array.dtype)[...] = array.reshape(inside.shape)
        return memory

    def scratch_of(self, shape: tuple[int, ...], number: int = 0) -> int:
        """Return the slot of a float32 array for intermediate results; steps share these arrays."""
        key = (shape, number)
        slot = self.scratch.get(key)
        if slot is None:
            slot = self.scratch[key] = self.new()
        return slot

    def lent_as(self, base: SSAValue) -> int | None:
        """Return the slot of an argument's `Lent` (see `lending.py`), None for other tensors."""
        if base not in self.kernel.arguments:
            return None
        if base not in self.lent:
            self.lent[base] = self.new()
        return self.lent[base]

    def state(self, name: str, initial: Callable[[], Array]) -> int:
        """Return the slot of an array that outlives instructions; `initial()` creates it."""
        if name not in self.states:
            self.states[name] = self.new(), initial
        return self.states[name][0]

    def view(self, base: SSAValue, access: AccessPattern, dtype: DType) -> int:
        """Return the slot of a view of `base`'s memory; equal views have the same slot."""
        stored = self.stored(dtype)
        views = self._views_with_layout(access, dtype, stored, base)
        return self.view_at(views, self.base(base), access.offset * stored.itemsize)

    def view_at(self, views: Views, base: int, offset: int) -> int:
        """Return the slot of a view of the memory in slot `base` that begins at byte `offset`."""
        if not self._known:
            self._known = [each.by_place() for each in self.views]
        at, known = _place(base, offset), self._known[views.number]
        slot = known.get(at)
        if slot is None:
            slot = known[at] = self.new()
            self._kinds[slot] = views.number
            views.add(slot, base, offset)
        return slot

    def views_of(self, slot: int) -> Views | None:
        """Return the group of views that a slot belongs to; None for other slots."""
        number = self._kinds[slot]
        return None if number < 0 else self.views[number]

    def _views_with_layout(
        self, access: AccessPattern, dtype: DType, stored: np.dtype[Any], base: SSAValue
    ) -> Views:
        of = info_of(base).dtype
        if dtype is not of and (
            stored.itemsize != dtype.itemsize or self.stored(of).itemsize != of.itemsize
        ):
            raise failure(
                _view_as(base, dtype),
                f"a view of {of.name} as {dtype.name} reads bits, which "
                "NKI_PRECISE_FP=0 does not keep",
            )
        key = access.shape, access.strides, dtype.name
        views = self._by_layout.get(key)
        if views is None:
            self._check_open()
            strides = tuple(stride * stored.itemsize for stride in access.strides)
            views = self._by_layout[key] = Views(len(self.views), access.shape, stored, strides)
            self.views.append(views)
            self._known.append({})
        return views

    def shaped(self, value: SSAValue, shape: tuple[int, ...]) -> tuple[int, tuple[int, ...] | None]:
        """Return (slot of a view of `value` with the given shape, None).

        If no view can have the shape, return the slot of `value`'s own view, and the shape to which
        the caller must reshape its array.
        """
        base, info = base_of(value), info_of(value)
        access = self.access(value)
        if access.shape != shape:
            try:
                return self.view(base, access.reshape(shape, on_chip=False), info.dtype), None
            except ViewError:
                return self.view(base, access, info.dtype), shape
        return self.view(base, access, info.dtype), None

    def stored(self, dtype: DType) -> np.dtype[Any]:
        """Return the NumPy type in which a data type is stored."""
        return storage(dtype, precise=self.precise)

    def named(self, name: str, value: Any = None) -> int:
        """Return the slot of a named value; every run begins with `value` in it."""
        slot = self._named.get(name)
        if slot is None:
            slot = self._named[name] = self.new(value)
        return slot

    def shared_tensors(self) -> list[SSAValue]:
        """Return the tensors that all cores access and may write, ordered by `shared_number`."""
        return shared_tensors(self.kernel)

    def shared_number(self, base: SSAValue) -> int:
        """Return the number of a tensor that all cores can access and write; -1 for others."""
        if self._shared is None:
            self._shared = {value: number for number, value in enumerate(self.shared_tensors())}
        return self._shared.get(base, -1)

    def register(self, value: SSAValue) -> int:
        """Return the slot of a register, or of an integer that the program computes."""
        slot = self._registers.get(value)
        if slot is None:
            slot = self._registers[value] = self.new()
        return slot

    def register_reader(self, value: SSAValue, op: Operation) -> Callable[[Env], int]:
        """Return a function that reads a register, an induction variable or a constant."""
        number = scalar_constant(value)
        if number is not None:
            constant = int(number)
            return lambda env: constant
        slot = self.register(value)
        name = value.name_hint or "?"

        def read(env: Env) -> int:
            content = env[slot]
            if content is None:
                raise failure(op, f"register '{name}' is read before anything was written")
            return content

        return read


def _view_as(base: SSAValue, dtype: DType) -> Operation:
    """Return the first view of allocation `base` with data type `dtype`."""
    views = (use.operation for use in base.uses if isinstance(use.operation, ViewOp))
    return next(view for view in views if info_of(view.result).dtype is dtype)
