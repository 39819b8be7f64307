"""The properties of an instruction that are known before a run: arguments, slots of tiles."""

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
    """The properties of an instruction that are known before a run."""

    def __init__(self, slots: Slots, op: NisaOp, history: Any = None):
        """Bind an instruction. `history` is the result of `history_of` (`registry.py`)."""
        self.op = op
        self.slots = slots
        self.history = history
        self.target = slots.target
        self.indirects: list[Located] = []
        """The operands with run-time addresses."""

    # ---------------------------------------------------------------- arguments

    def value(self, name: str) -> Any:
        """Return a compile-time argument."""
        return self.op.value_of(name)

    def has(self, name: str) -> bool:
        """True if the operand is present."""
        return self.op.operand_named(name) is not None

    def tile(self, name: str) -> TileInfo:
        """Return the type of a tile operand."""
        return info_of(self.operand(name))

    def dtype(self, name: str) -> DType:
        """Return the data type of a tile operand."""
        return self.tile(name).dtype

    def number(self, name: str) -> int | float | None:
        """Return the number of a scalar operand, or its default if omitted; None for a tile."""
        value = self.op.operand_named(name)
        if value is None:
            return self.op.SPEC.by_name[name].default
        return None if is_tile(value) else scalar_constant(value)

    def operand(self, name: str) -> SSAValue:
        """Return the value of an operand that is present."""
        return self.op.required(name)

    def item(self, name: str, index: int) -> Binding:
        """Return a binding in which the list operand `name` is replaced by its value `index`."""
        return _ItemBinding(self, name, index)

    # ---------------------------------------------------------------- operands

    def constant(self, value: Any) -> Source:
        """Return a source for a value that is constant over all runs."""
        return Source(self.slots.new(value), constant=value)

    def read(self, name: str, shape: Shape | None = None, *, raw: bool = False) -> Source:
        """Return an operand to read: a float32 number, or a tile as float32 in (P, N) form.

        Args:
            name: the operand.
            shape: another shape with the same number of elements.
            raw: keep the stored data type instead of converting to float32.
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
        """Return a function that reads an operand in a run; arguments as for `read`."""
        return reader(self.read(name, shape, raw=raw), self.slots)

    def into(self, name: str = "dst", shape: Shape | None = None) -> Destination:
        """Return a tile to write, in (P, N) form or in a `shape` of the same size."""
        value = self.operand(name)
        info = info_of(value)
        wanted = (info.partitions, info.free_size) if shape is None else shape
        slot, reshape = self._locate(name, value, wanted)
        seen = None if reshape is None else info.shape
        return Destination(slot, info.dtype, wanted, seen, OperandTile.of(value))

    def as_stored(self, name: str = "dst") -> Destination:
        """Return a tile to write, in its own shape."""
        return self.into(name, self.tile(name).shape)

    def rounds(self, name: str, shape: Shape) -> tuple[int, Step]:
        """Return the slot of a float32 array, and the step that rounds the array into a tile."""
        scratch = self.slots.scratch_of(shape)
        return scratch, store(scratch, self.into(name, shape), self.slots)

    def storage(self, name: str) -> np.dtype[Any]:
        """Return the stored data type of a tile."""
        return self.slots.stored(self.dtype(name))

    def rounded(self, value: Any, name: str) -> Array:
        """Return values as the tile `name` stores them."""
        values = np.asarray(value)
        dtype, precise = self.dtype(name), self.slots.precise
        stored = np.empty(values.shape, self.storage(name))
        if dtype.kind is Kind.packed:
            stored[...] = 0  # the only value that a packed tile is set to
        elif values.dtype.kind in "iu":
            int_rounder(dtype, precise)(stored, values)
        else:
            rounder(dtype, precise)(stored, values.astype(np.float32))
        return stored

    def valid_rows(self, name: str) -> int | None:
        """Return the slot of a mask of the rows whose index is in bounds (`oob_mode.skip`).

        None for an operand without an index vector. The caller restores the rows that are out of
        bounds.
        """
        for located in self.indirects:
            indirect = located.indirect
            if indirect.name == name and indirect.part.indirection is Indirection.vector:
                indirect.handled = True
                return indirect.valid
        return None

    # ---------------------------------------------------------------- engines and registers

    def lanes(self, name: str) -> slice:
        """Return the lanes of the engine that process a tile."""
        return lanes_of(self.operand(name))

    def register(self, name: str) -> Callable[[Env], int]:
        """Return a function that reads a register or integer operand, or gives the default."""
        value = self.op.operand_named(name)
        if value is None:
            default = self.op.SPEC.by_name[name].default
            return lambda env: default
        return self.slots.register_reader(value, self.op)

    def register_slot(self, name: str) -> int:
        """Return the slot of a register that the instruction writes."""
        return self.slots.register(self.operand(name))

    # ---------------------------------------------------------------- other cores and ranks

    @property
    def cores(self) -> range:
        """The numbers of the cores that the kernel is launched on."""
        return range(self.slots.kernel.core[1])

    def core_slot(self) -> int:
        """Return the slot of the running core's `machine.Core`, i.e. its rank and number."""
        return self.slots.named("core")

    def watch_slot(self) -> int:
        """Return the slot of the run's RaceWatch; a run without one has None in the slot."""
        return self.slots.named("watch")

    def shared_number(self, value: SSAValue) -> int:
        """Return the number that identifies an operand's tensor on all cores; see `Slots`."""
        return self.slots.shared_number(base_of(value))

    # ---------------------------------------------------------------- slots of tiles

    def slot_of(self, name: str, value: SSAValue, shape: Shape) -> int:
        """Return the slot of an operand in some shape.

        One of the operand's views must have this shape.
        """
        return self._locate(name, value, shape)[0]

    def _locate(self, name: str, value: SSAValue, shape: Shape) -> tuple[int, Shape | None]:
        if info_of(value).indirection is None:
            return self.slots.shaped(value, shape)
        return self._indirect_slot(name, value, shape)

    def _indirect_slot(self, name: str, value: SSAValue, shape: Shape) -> tuple[int, Shape | None]:
        # The slot of an operand with a run-time address.
        for located in self.indirects:
            indirect = located.indirect
            if located.value is value and located.shape == shape:
                return indirect.slots[0][0], located.reshape
            if located.value is value and indirect.part.indirection is not Indirection.scalar:
                indirect.slots.append((self.slots.new(), shape))
                return indirect.slots[-1][0], None
        roles = {f.role for f, given in self.op.given_operands() if given is value}
        role = roles.pop()
        if roles or role is None:  # one argument reads it, another one writes it
            role = Role.update
        indirect, reshape = make_indirect(self.slots, self.op, name, role, value, shape)
        self.indirects.append(Located(indirect, value, shape, reshape))
        return indirect.slots[0][0], reshape


class _ItemBinding(Binding):
    """A binding in which a list operand is replaced by one of the list's values."""

    def __init__(self, whole: Binding, name: str, index: int):
        super().__init__(whole.slots, whole.op, whole.history)
        self.indirects = whole.indirects
        self._name = name
        self._index = index

    def operand(self, name: str) -> SSAValue:
        if name == self._name:
            return self.op.operands_named(name)[self._index]
        return super().operand(name)
