"""Slots of an environment whose tiles contain digests in the place of elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.views import base_of, views_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.records.environment import Array, Env, Slots, Views
from nkijit.passes.interpret.records.operands import Read
from nkijit.passes.interpret.records.records import Destination, Scaled, Source
from nkijit.passes.numerics.storage import int_rounder, rounder, storage
from nkijit.passes.prove.algebra import Algebra
from nkijit.passes.prove.digests import CELL, Cells
from nkijit.passes.prove.errors import NotProvableError
from nkijit.passes.prove.parts import join, part_type, recast, split


class DigestSlots(Slots):
    """Slots whose views select cells: one digest for each element of a tensor.

    A cell has the digest of the element in the tensor's own data type. A view as another data type
    of equal width has other digests for the same bits (`read`, `write`). A tensor with views of
    several widths has a cell for each granule, and its wider views select several cells at a time.
    """

    algebra: Algebra

    def __post_init__(self) -> None:
        super().__post_init__()
        self._granules: dict[int, int] = {}

    def view(self, base: SSAValue, access: AccessPattern, dtype: DType) -> int:
        """Return the slot of a view of `base`'s cells; equal views have the same slot."""
        if self.reach(base).extended:
            raise NotProvableError("a view reaches beyond its tensor")
        stored = cell_type(dtype.itemsize // self.granule(base))
        strides = tuple(stride * stored.itemsize for stride in access.strides)
        key = access.shape, strides, stored.itemsize
        views = self._by_layout.get(key)
        if views is None:
            self._check_open()
            views = Views(len(self.views), access.shape, stored, strides)
            self._by_layout[key] = views
            self.views.append(views)
            self._known.append({})
        return self.view_at(views, self.base(base), access.offset * stored.itemsize)

    def granule(self, base: SSAValue) -> int:
        """Return the number of bytes that a digest of a tensor represents.

        It is the width of the tensor's elements, or of a view with narrower elements.
        """
        found = self._granules.get(id(base))
        if found is None:
            widths = [
                info_of(value).dtype.itemsize
                for name in self.names(base)
                for value in (name, *views_of(name))
            ]
            found = self._granules[id(base)] = min(widths)
        return found

    def count(self, base: SSAValue) -> int:
        """Return the number of digests of a tensor."""
        info = info_of(base)
        return info.size * info.dtype.itemsize // self.granule(base)

    def is_mixed(self, base: SSAValue) -> bool:
        """Return whether a tensor has views of several widths."""
        return self.granule(base) != info_of(base).dtype.itemsize or any(
            info_of(view).dtype.itemsize != self.granule(base) for view in views_of(base)
        )

    def cells_in(self, base: SSAValue, cells: Cells) -> Cells:
        """Return the digests of a tensor's elements as memory for the tensor."""
        dtype, size = info_of(base).dtype, self.granule(base)
        if dtype.itemsize == size:
            return np.ascontiguousarray(cells).reshape(-1)
        return split(self.algebra, cells, dtype, part_type(dtype, size)).reshape(-1)

    def elements_in(self, base: SSAValue, memory: Cells) -> Cells:
        """Return the digests of a tensor's elements from its memory, as a flat array."""
        dtype, size = info_of(base).dtype, self.granule(base)
        if dtype.itemsize == size:
            return memory
        parts = memory.reshape(-1, dtype.itemsize // size)
        return join(self.algebra, parts, part_type(dtype, size), dtype)

    def hold_constant(self, op: ConstantOp) -> None:
        """Put the digests of a constant into its slot."""
        dtype = info_of(op.result).dtype
        elements = np.frombuffer(op.data.data, storage(dtype).newbyteorder("<"))
        cells = stored_numbers(elements, dtype, self.algebra)
        self.template[self.base(op.result)] = self.cells_in(op.result, cells)


def cell_type(count: int) -> np.dtype[Any]:
    """Return the data type of arrays with `count` digests per element."""
    return CELL if count == 1 else np.dtype((np.void, count * CELL.itemsize))


def stored_numbers(values: Array, dtype: DType, algebra: Algebra) -> Cells:
    """Return the digests of constant elements, as they are stored in a data type."""
    if dtype.kind is Kind.packed:
        return algebra.elements(("packed", dtype.name), algebra.number(values))
    return algebra.number(values.astype(values.dtype.newbyteorder("=")))


def rounded_number(value: float, dtype: DType) -> Array:
    """Return a number as a data type stores it."""
    stored = np.empty((), storage(dtype))
    if isinstance(value, int):
        int_rounder(dtype)(stored, np.asarray(value))
    else:
        rounder(dtype)(stored, np.asarray(value, np.float32))
    return stored


def read(source: Source | Scaled, algebra: Algebra) -> Read:
    """Return a function that reads the digests of an operand, as float32 if the source says so."""
    if isinstance(source, Scaled):
        raise NotProvableError("an MX operand is read as a tile")
    if source.constant is not None:
        found = algebra.number(source.constant)
        return lambda env: found
    slot, shape, lanes, dtype = source.slot, source.reshape, source.lanes, source.dtype
    tile = source.tile
    own = shown = None
    if tile is not None:
        own, shown = info_of(tile.base).dtype, tile.info.dtype
        if dtype is not None and dtype.kind is Kind.packed:
            raise NotProvableError(f"{dtype.name} is read as a number")

    def reader(env: Env) -> Cells:
        cells: Cells = env[slot]
        if shape is not None:
            cells = cells.reshape(shape)
        if lanes is not None:
            cells = cells[lanes]
        if own is not None and shown is not None:
            cells = elements(algebra, cells, own, shown)
        return cells if dtype is None else algebra.as_float32(cells, dtype)

    return reader


def elements(algebra: Algebra, cells: Cells, own: DType, shown: DType) -> Cells:
    """Return the digests of elements that are read as the data type `shown`."""
    count = cells.dtype.itemsize // CELL.itemsize
    part = part_type(own, shown.itemsize // count)
    if count == 1:
        return recast(algebra, cells, part, shown)
    parts = np.ascontiguousarray(cells).view(CELL).reshape(*cells.shape, count)
    return join(algebra, parts, part, shown)


def write(env: Env, into: Destination, values: Cells, algebra: Algebra) -> None:
    """Write digests of stored elements to a tile."""
    own, shown = info_of(base_of(into.tile.value)).dtype, into.dtype
    written: Cells = env[into.slot]
    count = written.dtype.itemsize // CELL.itemsize
    part = part_type(own, shown.itemsize // count)
    if count > 1:
        parts = np.ascontiguousarray(split(algebra, values, shown, part))
        values = parts.view(written.dtype)[..., 0]
    elif part is not shown:
        values = recast(algebra, values, shown, part)
    if values.shape != into.shape:
        values = np.broadcast_to(values, into.shape)
    written[...] = values if into.reshape is None else values.reshape(into.reshape)
