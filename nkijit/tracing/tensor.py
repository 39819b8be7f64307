"""Tensors during tracing: views, with assignment."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import BlockArgument

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.nisa.movement import DmaCopyOp, MemsetOp, TensorCopyOp
from nkijit.dialects.nki.allocation import MASKED, AllocOp
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.dialects.tiles import info_of
from nkijit.tracing.emit import emit_with_defaults
from nkijit.tracing.hints import hint_for
from nkijit.tracing.tracer import Storage
from nkijit.tracing.views import TensorView


class NkiTensor(TensorView):
    """A tensor, or a view of one (`nki.language.NkiTensor`).

    Tensors come from `nl.ndarray` and from a kernel's arguments. Views share the storage and cost
    nothing; a view is added to the IR only when an instruction uses it. SBUF and PSUM tensors have
    the partition dimension at dim 0.

    Attributes:
        shape: dimensions.
        strides: elements between neighbours, per dimension.
        offset: elements from the start of the storage.
        dtype: name of the data type, e.g. `nl.float32`.
        buffer: `nl.sbuf`, `nl.psum`, `nl.hbm` or `nl.shared_hbm`.
        name: the `name=` argument, else the variable that the tensor was assigned to.
        data: the tensor itself; a grid of tiles has this attribute, too.

    A view that cannot exist raises `nki.isa.NkiValidationError` at the user's line.
    Source: NKI API reference, nki.language.NkiTensor.
    """

    __slots__ = ()

    @property
    def data(self) -> NkiTensor:
        """The tensor itself, for code that takes both tensors and grids of tiles (`nl.tiles`)."""
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write the view `t[key]` with one instruction: `t[key] = value`.

        A tensor is copied, on chip by `nisa.tensor_copy` and to or from HBM by `nisa.dma_copy`; a
        number fills a tile with `nisa.memset`. Nothing is broadcast. The reference lists this
        method without a description; its migration guide copies tiles with it.
        """
        view = self[key]
        if isinstance(value, NkiTensor):
            if value.shape != view.shape:
                message = f"the shape of the view is {view.shape}, not {value.shape}"
                self._fail_assignment(message, "assign to a part that has the value's shape")
            copy = TensorCopyOp if view._on_chip and value._on_chip else DmaCopyOp
            emit_with_defaults(copy, dst=view, src=value)
        elif isinstance(value, (int, float)) and view._on_chip:
            emit_with_defaults(MemsetOp, dst=view, value=value)
        else:
            legal = "a tile or a number" if view._on_chip else "a tensor"
            message = f"expected {legal}, got {one_line(value)}"
            self._fail_assignment(message, hint_for(value, "a tile"))

    def _fail_assignment(self, message: str, help: str) -> NoReturn:
        self.storage.tracer.fail(ARGUMENT, f"assignment to '{self.name}'", message, help)


def whole_of(storage: Storage) -> NkiTensor:
    """Return the tensor that covers a whole allocation."""
    tensor = NkiTensor.__new__(NkiTensor)
    tensor.storage = storage
    tensor._access = info_of(storage.value).pattern  # pyright: ignore[reportPrivateUsage]
    tensor._dynamic = None  # pyright: ignore[reportPrivateUsage]
    tensor._whole = True  # pyright: ignore[reportPrivateUsage]
    tensor.dtype = storage.dtype.name
    return tensor


def with_shape(tensor: NkiTensor, shape: tuple[int, ...]) -> NkiTensor:
    """Return `tensor`, or a view of it without elements if `shape` has a size of 0."""
    if 0 not in shape:
        return tensor
    return tensor._with(AccessPattern.empty(shape))  # pyright: ignore[reportPrivateUsage]


# ------------------------------------------------------------------ for the classic API
# Not methods, because the members of a tensor are those of the reference.


def with_pattern(tensor: NkiTensor, access: AccessPattern) -> NkiTensor:
    """Return the elements of the allocation that a pattern selects, in the tensor's dtype."""
    return tensor._without_index()._with(access)  # pyright: ignore[reportPrivateUsage]


def is_argument(tensor: NkiTensor) -> bool:
    """Return True for an argument of the kernel, False for a view of one."""
    whole = tensor._whole  # pyright: ignore[reportPrivateUsage]
    return whole and isinstance(tensor.storage.value, BlockArgument)


def first_partition(tile: NkiTensor) -> int:
    """Return a tile's first partition, relative to its allocation if the latter has no address."""
    storage = tile.storage
    if tile.offset == 0:
        return 0 if tile.address is None else tile.address[0]
    row = math.prod(storage.shape[1:]) * storage.dtype.bits // DTYPES[tile.dtype].bits
    first = tile.offset // row
    return first if tile.address is None else tile.address[0] + first


def mark_allocation_masked(tile: NkiTensor) -> None:
    """Mark a tile's allocation in the IR as partly unwritten, because of a mask."""
    allocation = tile.storage.value.owner
    if isinstance(allocation, AllocOp):
        allocation.attributes[MASKED] = UnitAttr()
