"""The memories of a core, by address: one SBUF, one PSUM, and separate HBM tensors.

The interpreter computes on a separate array for each allocation. Here, each allocation also has a
*home*: the bytes at its address, which other allocations may share. A `MemoryTile` is an operand in
both memories. On-chip homes are initialised with a pattern that is not a plausible number, so that
reads of unwritten memory, or at a wrong address, become visible.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.views import ViewOp, access_of, base_of, selectable
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.records.environment import Array, Env, Slots
from nkijit.passes.interpret.records.errors import failure
from nkijit.passes.interpret.records.indirect import Indirect
from nkijit.passes.lower.program import Placement

PATTERNS = (0xFF, 0x7F, 0xFB)
"""Bytes that fill unwritten memory: NaN or large numbers in most data types."""


@dataclass(frozen=True, slots=True, eq=False)
class MemoryTile:
    """The bits of all elements of an operand that an instruction may access, in both memories.

    `home` is a view of the core's memory. `own` is a view of the array that the interpreter
    computes on, which holds the pattern except while an instruction runs.
    """

    home: Array
    own: Array
    pattern: int

    def enter(self, bits: Array) -> None:
        """Copy bits of memory into the interpreter's array."""
        self.own[...] = bits

    def leave(self) -> None:
        """Overwrite the interpreter's array with the pattern."""
        self.own[...] = self.pattern


class Memory:
    """The memories of one core during a run."""

    def __init__(
        self,
        placement: Placement,
        slots: Slots,
        homes: Env,
        own: Env,
        unwritten: Collection[SSAValue],
        pattern: int,
    ):
        """Fill the memories with `pattern`.

        Args:
            placement: the addresses of on-chip allocations.
            slots: the slots of the compiled kernel.
            homes: the environment with the HBM tensors of the run.
            own: the environment in which instructions run.
            unwritten: HBM tensors that no core writes; both environments may share them.
            pattern: a byte of `PATTERNS`, for unwritten memory.
        """
        self._slots = slots
        self._addresses = placement.addresses
        self._homes, self._own = homes, own
        self._unwritten = unwritten
        self._pattern = pattern
        lanes = slots.target.pmax
        self._chip = {
            MemoryRegion.sbuf: np.full((lanes, placement.sbuf_bytes), pattern, np.uint8),
            MemoryRegion.psum: np.full((lanes, placement.psum_bytes), pattern, np.uint8),
        }
        self._tiles: dict[SSAValue, MemoryTile | None] = {}
        kernel = slots.kernel
        allocated = (op.result for op in kernel.operations if isinstance(op, AllocOp))
        for base in (*kernel.arguments, *allocated):
            if base not in unwritten:
                own[slots.base(base)][...] = pattern

    def tile(self, value: SSAValue) -> MemoryTile | None:
        """Return an operand as a `MemoryTile`.

        None for tensors that are never written, because one array is enough for them.
        """
        if value not in self._tiles:
            self._tiles[value] = self._find(value)
        return self._tiles[value]

    def _find(self, value: SSAValue) -> MemoryTile | None:
        base, access, size = base_of(value), access_of(value), info_of(value).dtype.itemsize
        if isinstance(base.owner, ConstantOp) or base in self._unwritten:
            return None
        if isinstance(value.owner, ViewOp) and value.owner.dynamic is not None:
            access = selectable(access, value.owner.dynamic)
        steps = zip(access.strides, access.shape, strict=True)
        strides = [0 if count == 1 else step * size for step, count in steps]
        dtype, offset = np.dtype(f"u{size}"), access.offset * size
        array = self._own[self._slots.base(base)]
        return MemoryTile(
            self._home(base, access.shape, strides, offset, dtype),
            np.ndarray(access.shape, dtype, array, offset, strides),
            int.from_bytes(bytes([self._pattern]) * size),
        )

    def _home(
        self,
        base: SSAValue,
        shape: Sequence[int],
        strides: Sequence[int],
        offset: int,
        dtype: np.dtype[np.unsignedinteger],
    ) -> Array:
        info = info_of(base)
        if not info.region.on_chip:
            array = self._homes[self._slots.base(base)]
            return np.ndarray(shape, dtype, array, offset, strides)
        assert isinstance(base.owner, AllocOp)
        memory, row = self._chip[info.region], info.partition_bytes
        pitch = memory.shape[1]
        partition, byte = self._addresses[base.owner]
        first, column = divmod(offset, row)
        end = column + dtype.itemsize
        steps: list[int] = []
        for count, stride in zip(shape, strides, strict=True):
            over_partitions = stride % row == 0
            steps.append(stride // row * pitch if over_partitions else stride)
            end += 0 if over_partitions else (count - 1) * stride
        if end > row:
            raise failure(
                base.owner,
                f"a view of {base.name_hint or 'a tile'} goes on from one partition to the next, "
                "which addresses on the chip do not",
            )
        return np.ndarray(shape, dtype, memory, (partition + first) * pitch + byte + column, steps)

    def selected(self, value: SSAValue, indirect: Indirect) -> Array:
        """Return a mask of the elements of `MemoryTile.own` that a tile's index selects now."""
        tile = self.tile(value)
        assert tile is not None
        base = self._own[self._slots.base(base_of(value))]
        marks = np.zeros(base.nbytes, np.uint8)

        def marks_of(view: Array) -> Array:
            start = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            return np.ndarray(view.shape, f"u{view.dtype.itemsize}", marks, start, view.strides)

        marks_of(self._own[indirect.rows])[indirect.places(self._own)] = 1
        return marks_of(tile.own) != 0
