"""What is known of one instruction before there is any data: its arguments, and where tiles are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from nkijit.dialects.access import Indirection
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import TileInfo, info_of, is_tile
from nkijit.passes.analysis.flow.accumulators import lanes_of
from nkijit.passes.interpret.records.environment import Array, Env, OperandTile, Slots, Step
from nkijit.passes.interpret.records.indirect import Located, make_indirect
from nkijit.passes.interpret.records.operands import Read, reader, store
from nkijit.passes.interpret.records.records import Destination, Shape, Source
from nkijit.passes.numerics.storage import int_rounder, rounder


class Binding:
    """What is known of one instruction before any data is."""

    def __init__(self, slots: Slots, op: NisaOp, history: Any = None):
        """`history`: what the instructions before it say about it (`registry.semantics`)."""
        self.op = op
        self.slots = slots
        self.history = history
        self.target = slots.target
        self.indirects: list[Located] = []
        """Operands whose address is known at run time only."""

    # ---------------------------------------------------------------- arguments

    def value(self, name: str) -> Any:
        """A compile-time argument."""
        return self.op.value_of(name)

    def has(self, name: str) -> bool:
        """True when the operand is given."""
        return self.op.operand_named(name) is not None

    def tile(self, name: str) -> TileInfo:
        """The type of a tile operand."""
        return info_of(self.operand(name))

    def dtype(self, name: str) -> DType:
        """The data type of a tile operand."""
        return self.tile(name).dtype

    def number(self, name: str) -> int | float | None:
        """The operand's number; its default when it was left out; None for a tile."""
        value = self.op.operand_named(name)
        if value is None:
            return self.op.SPEC.by_name[name].default
        return None if is_tile(value) else scalar_constant(value)

    def operand(self, name: str) -> SSAValue:
        """The value of an operand that is given."""
        return self.op.required(name)

    def item(self, name: str, index: int) -> Binding:
        """The instruction with one value of the list operand `name` in the place of the list."""
        return _ItemBinding(self, name, index)

    # ---------------------------------------------------------------- operands

    def constant(self, value: Any) -> Source:
        """A value that is the same in every run."""
        return Source(self.slots.new(value), constant=value)

    def read(self, name: str, shape: Shape | None = None, *, raw: bool = False) -> Source:
        """An operand to read: a float32 number, or a tile as float32 in (P, N) form.

        Args:
            name: the operand.
            shape: another shape of as many elements.
            raw: keep the stored data type.
        """
        number = self.number(name)
        if number is not None:
            return self.constant(np.float32(number))
        value = self.operand(name)
        info = info_of(value)
        wanted = (info.partitions, info.free_size) if shape is None else shape
        slot, reshape = self._locate(name, value, wanted)
        return Source(slot, None if raw else info.dtype, reshape, tile=OperandTile.of(value))

    def reader(self, name: str, shape: Shape | None = None, *, raw: bool = False) -> Read:
        """What reads an operand in a run; the arguments are those of `read`."""
        return reader(self.read(name, shape, raw=raw), self.slots)

    def into(self, name: str = "dst", shape: Shape | None = None) -> Destination:
        """A tile to write, in (P, N) form, or in another shape of as many elements."""
        value = self.operand(name)
        info = info_of(value)
        wanted = (info.partitions, info.free_size) if shape is None else shape
        slot, reshape = self._locate(name, value, wanted)
        seen = None if reshape is None else info.shape
        return Destination(slot, info.dtype, wanted, seen, OperandTile.of(value))

    def as_stored(self, name: str = "dst") -> Destination:
        """A tile to write, in its own shape."""
        return self.into(name, self.tile(name).shape)

    def rounds(self, name: str, shape: Shape) -> tuple[int, Step]:
        """The slot of a float32 array of a shape, and the step that rounds it into a tile."""
        scratch = self.slots.scratch_of(shape)
        return scratch, store(scratch, self.into(name, shape), self.slots)

    def storage(self, name: str) -> np.dtype[Any]:
        """The stored data type of a tile."""
        return self.slots.stored(self.dtype(name))

    def rounded(self, value: Any, name: str) -> Array:
        """Values as the tile `name` stores them."""
        values = np.asarray(value)
        dtype, precise = self.dtype(name), self.slots.precise
        stored = np.empty(values.shape, self.storage(name))
        if dtype.kind is Kind.packed:
            stored[...] = 0  # the one value that a packed tile is set to
        elif values.dtype.kind in "iu":
            int_rounder(dtype, precise)(stored, values)
        else:
            rounder(dtype, precise)(stored, values.astype(np.float32))
        return stored

    def valid_rows(self, name: str) -> int | None:
        """The slot that says which rows of an operand are in bounds, for `oob_mode.skip`.

        None for an operand without a vector of indices. The caller restores the other rows.
        """
        for located in self.indirects:
            indirect = located.indirect
            if indirect.name == name and indirect.part.indirection is Indirection.vector:
                indirect.handled = True
                return indirect.valid
        return None

    # ---------------------------------------------------------------- engines and registers

    def lanes(self, name: str) -> slice:
        """The lanes of an engine that work on a tile."""
        return lanes_of(self.operand(name))

    def register(self, name: str) -> Callable[[Env], int]:
        """Reads the value of a register or integer operand; its default when it was left out."""
        value = self.op.operand_named(name)
        if value is None:
            default = self.op.SPEC.by_name[name].default
            return lambda env: default
        return self.slots.register_reader(value, self.op)

    def register_slot(self, name: str) -> int:
        """The slot of a register that the instruction writes."""
        return self.slots.register(self.operand(name))

    # ---------------------------------------------------------------- other cores and ranks

    @property
    def cores(self) -> range:
        """The cores that the kernel is launched on."""
        return range(self.slots.kernel.core[1])

    def core_slot(self) -> int:
        """The slot that says which core of which rank this is (`machine.Core`)."""
        return self.slots.named("core")

    def watch_slot(self) -> int:
        """The slot of the watch over memory that cores share, or None."""
        return self.slots.named("watch")

    def shared_number(self, value: SSAValue) -> int:
        """The number of the tensor that an operand is in, the same on all cores; see `Slots`."""
        return self.slots.shared_number(base_of(value))

    # ---------------------------------------------------------------- where tiles are

    def slot_of(self, name: str, value: SSAValue, shape: Shape) -> int:
        """The slot of an operand in a shape that a view of it has."""
        return self._locate(name, value, shape)[0]

    def _locate(self, name: str, value: SSAValue, shape: Shape) -> tuple[int, Shape | None]:
        if info_of(value).indirection is None:
            return self.slots.shaped(value, shape)
        return self._indirect_slot(name, value, shape)

    def _indirect_slot(self, name: str, value: SSAValue, shape: Shape) -> tuple[int, Shape | None]:
        # The slot of an operand whose address is known at run time only.
        for located in self.indirects:
            indirect = located.indirect
            if located.value is value and located.shape == shape:
                return indirect.slots[0][0], located.reshape
            if located.value is value and indirect.part.indirection is not Indirection.scalar:
                indirect.slots.append((self.slots.new(), shape))
                return indirect.slots[-1][0], None
        roles = {f.role for f, given in self.op.given_operands() if given is value}
        role = roles.pop()
        if roles or role is None:  # read by one argument, written by another
            role = Role.update
        indirect, reshape = make_indirect(self.slots, self.op, name, role, value, shape)
        self.indirects.append(Located(indirect, value, shape, reshape))
        return indirect.slots[0][0], reshape


class _ItemBinding(Binding):
    """A binding that sees one of several values of a list operand."""

    def __init__(self, whole: Binding, name: str, index: int):
        super().__init__(whole.slots, whole.op, whole.history)
        self.indirects = whole.indirects
        self._name = name
        self._index = index

    def operand(self, name: str) -> SSAValue:
        if name == self._name:
            return self.op.operands_named(name)[self._index]
        return super().operand(name)
