"""Slots of an environment whose tiles contain digests in the place of elements."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.records.environment import Array, Env, Slots, Views
from nkijit.passes.interpret.records.operands import Read
from nkijit.passes.interpret.records.records import Destination, Scaled, Source
from nkijit.passes.numerics.storage import int_rounder, rounder, storage
from nkijit.passes.prove.algebra import Algebra
from nkijit.passes.prove.digests import CELL, Cells
from nkijit.passes.prove.errors import NotProvableError


class DigestSlots(Slots):
    """Slots whose views select cells: one digest for each element of a tensor.

    A cell has the digest of the element in the tensor's own data type. A view as another data type
    of equal width has other digests for the same bits (`read`, `write`).
    """

    algebra: Algebra

    def view(self, base: SSAValue, access: AccessPattern, dtype: DType) -> int:
        """Return the slot of a view of `base`'s cells; equal views have the same slot."""
        of = info_of(base).dtype
        if of.itemsize != dtype.itemsize:
            raise NotProvableError(f"{of.name} is read or written as {dtype.name}, bit by bit")
        if self.reach(base).extended:
            raise NotProvableError("a view reaches beyond its tensor")
        strides = tuple(stride * CELL.itemsize for stride in access.strides)
        key = access.shape, strides
        views = self._by_layout.get(key)
        if views is None:
            self._check_open()
            views = Views(len(self.views), access.shape, CELL, strides)
            self._by_layout[key] = views
            self.views.append(views)
            self._known.append({})
        return self.view_at(views, self.base(base), access.offset * CELL.itemsize)

    def hold_constant(self, op: ConstantOp) -> None:
        """Put the digests of a constant into its slot."""
        dtype = info_of(op.result).dtype
        elements = np.frombuffer(op.data.data, storage(dtype).newbyteorder("<"))
        cells = stored_numbers(elements, dtype, self.algebra)
        self.template[self.base(op.result)] = np.ascontiguousarray(cells).reshape(-1)


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
        if own is not None and shown is not None and own is not shown:
            cells = algebra.recast(cells, own, shown)
        return cells if dtype is None else algebra.as_float32(cells, dtype)

    return reader


def write(env: Env, into: Destination, values: Cells, algebra: Algebra) -> None:
    """Write digests of stored elements to a tile."""
    own, shown = info_of(base_of(into.tile.value)).dtype, into.dtype
    if own is not shown:
        values = algebra.recast(values, shown, own)
    written: Cells = env[into.slot]
    if values.shape != into.shape:
        values = np.broadcast_to(values, into.shape)
    written[...] = values if into.reshape is None else values.reshape(into.reshape)
