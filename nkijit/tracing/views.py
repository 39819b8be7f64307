"""Views of tensors during tracing: shape, strides, dtype and buffer, no data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, Self, cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern, DynamicSlice, Indirection, ViewError
from nkijit.dialects.dtypes import DTYPES, DType
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import DynamicPart, numbers_held
from nkijit.dialects.python_values import as_index, one_line
from nkijit.dialects.rule_texts import view_helps as helps
from nkijit.dialects.rule_texts.operands import (
    COUNTS_AS_TRUE,
    EMPTY_OPERAND,
    EQUAL_TENSOR,
    UNSUPPORTED,
    VIEW,
)
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.dtype_words import UnknownDTypeError
from nkijit.tracing.locations import author_frame, while_test
from nkijit.tracing.objects import NKIObject
from nkijit.tracing.registers import VirtualRegister, register_value
from nkijit.tracing.tracer import Storage


@dataclass(frozen=True, slots=True)
class _Dynamic:
    """The part of a view's address that is known only at run time; see `views.DynamicPart`."""

    indirection: Indirection
    index: TensorView | VirtualRegister
    scale: int
    bound: int
    count: int | None = None


class TensorView(NKIObject):
    """The elements of an allocation that an access pattern selects: the base of `NkiTensor`."""

    __slots__ = ("_access", "_dynamic", "_whole", "dtype", "storage")

    storage: Storage
    _access: AccessPattern
    _dynamic: _Dynamic | None

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: str,
        storage: Storage,
        buffer: MemoryRegion | str = MemoryRegion.sbuf,
        name: str = "",
    ):
        """Bind a tensor to existing storage, from its first element on."""
        del buffer, name  # the storage has both
        self.storage = storage
        dims = tuple(shape)
        of = AccessPattern.empty if 0 in dims else AccessPattern.contiguous
        self._access = of(dims)
        self._dynamic = None
        self.dtype = dtype
        self._whole = shape == storage.shape and dtype == storage.dtype.name

    def __dir__(self) -> list[str]:
        """Return the members that the reference documents, for completion in editors."""
        hidden = ("ssa_value", "storage")
        return [n for n in super().__dir__() if not n.startswith("_") and n not in hidden]

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions."""
        dynamic = self._dynamic
        if dynamic is None or dynamic.count is None:
            return self._access.shape
        return (self._access.shape[0], dynamic.count)

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements between neighbours, per dimension; not affected by a run-time index."""
        return self._access.strides

    @property
    def offset(self) -> int:
        """The position of the first element: elements from the start of the storage."""
        return self._access.offset

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def buffer(self) -> MemoryRegion:
        """The memory of the tensor."""
        return self.storage.region

    @property
    def name(self) -> str:
        """The tensor's name."""
        return self.storage.name

    @property
    def address(self) -> tuple[int, int] | None:
        """The allocation's fixed address (partition, byte in the partition); None if it has none.

        Not in the API reference; kernels that lay out SBUF by hand read it (NKI Library,
        allocator).
        """
        op = self.storage.value.owner
        return op.fixed_address if isinstance(op, AllocOp) else None

    @property
    def _on_chip(self) -> bool:
        return self.storage.region.on_chip

    @property
    def _first_dim_fixed(self) -> bool:
        """True if dim 0 must not change: the partition dimension, or rows of an index tile."""
        return self.storage.region.on_chip or self._by_vector

    @property
    def _by_vector(self) -> bool:
        return self._dynamic is not None and self._dynamic.indirection is Indirection.vector

    def ssa_value(self, location: LocationAttr | None = None) -> SSAValue:
        """Return the tensor's SSA value; the first call emits a view.

        `location`: the location of the user's current call, if the caller has it.
        """
        storage = self.storage
        if self._whole:
            return storage.value
        if 0 in self._access.shape:
            storage.tracer.fail(
                EMPTY_OPERAND, f"tensor '{self.name}'", f"its shape {self.shape} has no elements"
            )
        dynamic, part = self._dynamic, None
        if dynamic is not None:
            index = dynamic.index
            value = index.ssa_value() if isinstance(index, TensorView) else register_value(index)
            part = DynamicPart(
                dynamic.indirection, value, dynamic.scale, dynamic.bound, dynamic.count
            )
        return storage.tracer.view(storage, self._access, DTYPES[self.dtype], part, location)

    def _with(
        self, access: AccessPattern, dtype: str | None = None, dynamic: _Dynamic | None = None
    ) -> Self:
        storage = self.storage
        cls = type(self)
        tensor = cls.__new__(cls)
        tensor.storage = storage
        tensor._access = access
        tensor._dynamic = self._dynamic if dynamic is None else dynamic
        tensor.dtype = self.dtype if dtype is None else dtype
        tensor._whole = (
            tensor._dynamic is None
            and access.offset == 0
            and access.shape == storage.shape
            and tensor.dtype == storage.dtype.name
            and access.is_contiguous(False)
        )
        return tensor

    def _derive(self, view: Callable[..., AccessPattern], *args: Any, **kwargs: Any) -> Self:
        try:
            if self._dynamic is not None and self._dynamic.count is not None:
                raise ViewError(
                    "a view made with .indirect() is used as it is", helps.INDIRECT_LAST
                )
            return self._with(view(self._access, *args, **kwargs))
        except ViewError as error:
            self._fail(error)

    def _fail(self, error: ViewError) -> NoReturn:
        self._deny(str(error), error.help)

    def _deny(self, message: str, help: str) -> NoReturn:
        """End the trace at a view that is impossible; `help` as in `ViewError`."""
        tracer = self.storage.tracer
        name = "t" if self.name == self.buffer.value else self.name
        text = helps.named(help, name, classic=tracer.is_classic)
        tracer.fail(VIEW, f"view of '{self.name}'", message, text)

    def _dtype_named(self, dtype: Any) -> DType:
        try:
            return as_dtype(dtype)
        except UnknownDTypeError as error:
            self._deny(str(error), error.help)

    def _refuse(self, message: str, help: str) -> NoReturn:
        self.storage.tracer.fail(UNSUPPORTED, f"tensor '{self.name}'", message, help)

    # ---------------------------------------------------------------- queries

    def is_contiguous(self) -> bool:
        """True when the view is dense and row-major; on chip, within each partition."""
        return self._access.is_contiguous(self._on_chip)

    def get_pattern(self) -> list[list[int]]:
        """The access pattern as `[[stride, count], …]`."""
        return self._access.pairs

    def is_indirect(self) -> bool:
        """True when the address is known only at run time."""
        return self._dynamic is not None

    # ---------------------------------------------------------------- views

    def __getitem__(self, key: Any) -> Self:
        """NumPy-style indexing with integers, slices, `...`, `nl.ds` and ranges.

        On chip an integer on dim 0 keeps the dimension at size 1 and the result has at least two
        dimensions; in HBM an integer drops the dimension. In one dimension other than the partition
        dimension, the index or the start of an `nl.ds` may be a register or a tensor of one
        element, with a value known only when the kernel runs.
        """
        keys = cast(tuple[Any, ...], key if isinstance(key, tuple) else (key,))
        for position, item in enumerate(keys):
            index = item.start if isinstance(item, DynamicSlice) else item
            if isinstance(index, (TensorView, VirtualRegister)):
                return self._index_dynamically(keys, position, index)
        self._check_rows(keys)
        return self._derive(AccessPattern.index, key, on_chip=self._on_chip)

    def slice(self, dim: int, start: int, end: int, step: int = 1) -> Self:
        """Elements `start` to `end` (exclusive) of one dimension, every `step`-th."""
        if self._by_vector and dim in (0, -self.ndim):
            self._check_rows((0,))
        return self._derive(AccessPattern.slice, dim, start, end, step)

    def select(self, dim: int, index: int | TensorView | VirtualRegister) -> Self:
        """Select one element along a dimension, and remove the dimension.

        Args:
            dim: the dimension.
            index: an int; or, except for the partition dimension, a value known only when the
                kernel runs: a register, or an int32/uint32 tensor of one element in SBUF.
        """
        if isinstance(index, (TensorView, VirtualRegister)):
            at = self._dim(dim)
            return self._select_dynamically(at, index, 1, self.select(at, 0)._access)
        if self._by_vector and dim in (0, -self.ndim):
            self._check_rows((0,))
        return self._derive(AccessPattern.select, dim, index, on_chip=self._on_chip)

    def permute(self, dims: tuple[int, ...]) -> Self:
        """Reorder the dimensions; on chip dim 0 remains first."""
        return self._derive(AccessPattern.permute, dims, on_chip=self._first_dim_fixed)

    def broadcast(self, dim: int, size: int) -> Self:
        """Repeat a dimension of size 1; on chip not dim 0."""
        return self._derive(AccessPattern.broadcast, dim, size, on_chip=self._first_dim_fixed)

    def expand_dim(self, dim: int) -> Self:
        """Insert a dimension of size 1; on chip not at 0."""
        return self._derive(AccessPattern.expand_dim, dim, on_chip=self._first_dim_fixed)

    def squeeze_dim(self, dim: int) -> Self:
        """Remove a dimension of size 1; on chip not dim 0."""
        return self._derive(AccessPattern.squeeze_dim, dim, on_chip=self._first_dim_fixed)

    def reshape_dim(self, dim: int, shape: tuple[int, ...]) -> Self:
        """Split a dimension; one size may be -1."""
        return self._derive(AccessPattern.reshape_dim, dim, shape, on_chip=self._first_dim_fixed)

    def flatten_dims(self, start_dim: int, end_dim: int) -> Self:
        """Merge the dimensions `start_dim` to `end_dim` (inclusive)."""
        return self._derive(
            AccessPattern.flatten_dims, start_dim, end_dim, on_chip=self._first_dim_fixed
        )

    def reshape(self, shape: tuple[int, ...]) -> Self:
        """The same elements in another shape, without a copy; on chip dim 0 does not change."""
        return self._derive(AccessPattern.reshape, shape, on_chip=self._first_dim_fixed)

    def rearrange(
        self,
        src_pattern: tuple[Any, ...],
        dst_pattern: tuple[Any, ...],
        fixed_sizes: dict[str, int] | None = None,
    ) -> Self:
        """Split, reorder and merge named dimensions, as einops does."""
        return self._derive(
            AccessPattern.rearrange,
            src_pattern,
            dst_pattern,
            fixed_sizes,
            on_chip=self._first_dim_fixed,
        )

    def ap(
        self,
        pattern: list[list[int]],
        offset: int | None = None,
        scalar_offset: Any = None,
        vector_offset: Any = None,
        indirect_dim: int = 0,
        dtype: str | None = None,
    ) -> Self:
        """An explicit access pattern over the storage.

        Args:
            pattern: `[[stride, count], …]` in elements of `dtype`.
            offset: elements added to the view's own offset; None adds nothing.
            scalar_offset: a register or an int32/uint32 tensor of one element in SBUF: the pattern
                starts that many elements of `indirect_dim` further on.
            vector_offset: int32/uint32 tensor in SBUF: element `w` of the pattern's dim 0 is
                element `vector_offset[w]` of this tensor's dim 0. The stride of the pattern's first
                pair is not used. HBM only.
            indirect_dim: dimension of this tensor that the offset counts in.
            dtype: read the bits as this data type.

        An explicit pattern replaces the view that it is called on, even a view with a run-time
        index. A pattern without scalar_offset and vector_offset may address memory outside of the
        tensor, whose contents are undefined: a strict run stops (`pattern-bounds`), and
        `nki.simulate` reads unwritten memory.
        Source: NKI API reference, NkiTensor.ap; NKI deep dive, access patterns.
        """
        if scalar_offset is not None and vector_offset is not None:
            self._deny("scalar_offset and vector_offset exclude each other", helps.ONE_OFFSET)
        index = scalar_offset if vector_offset is None else vector_offset
        if index is None and as_index(indirect_dim) != 0:
            self._deny("indirect_dim goes with scalar_offset or vector_offset", helps.STATIC_AP)
        storage = self.storage
        old = DTYPES[self.dtype]
        new = old if dtype is None else self._dtype_named(dtype)
        # The pattern counts elements of the new type, from an offset in the old one.
        bits = storage.dtype.bits
        last = storage.shape[-1] * bits
        start = self._access.offset * old.bits
        try:
            if last % new.bits or start % new.bits:
                raise ViewError(
                    f"rows of {storage.shape[-1]} {storage.dtype.name} elements cannot be read "
                    f"as {new.name}",
                    helps.for_ratio(max(1, new.bits // bits)),
                )
            base_shape = (*storage.shape[:-1], last // new.bits)
            rows = 0
            if vector_offset is not None:  # the rows are known only at run time
                given = AccessPattern.from_pairs(pattern, 0)
                rows = given.shape[0]
                pattern = [[1, 1], *given.pairs[1:]]
            # Verification checks the bounds of a pattern without an index.
            access = AccessPattern(start // new.bits, self.strides, self.shape).ap(
                pattern,
                offset,
                base_shape=base_shape,
                on_chip=self._on_chip,
                bounded=index is not None,
            )
            if index is None:
                return self._without_index()._with(access, new.name)
            dim = self._dim(indirect_dim)
            scale = self.strides[dim] * old.bits
            if scale % new.bits:
                raise ViewError(
                    f"a step of dim {dim} is not a whole number of {new.name}",
                    helps.for_ratio(max(1, new.bits // bits)),
                )
            scale //= new.bits
            if rows:
                access = AccessPattern(
                    access.offset, (scale, *access.strides[1:]), (rows, *access.shape[1:])
                )
        except ViewError as error:
            self._fail(error)
        kind = Indirection.scalar if vector_offset is None else Indirection.vector
        target = self._without_index()
        dynamic = target._dynamic_part(kind, index, dim, scale, self.shape[dim], access, new)
        return target._with(access, new.name, dynamic)

    def view(self, dtype: str) -> Self:
        """Read the bits as another data type; the last dimension is rescaled."""
        new = self._dtype_named(dtype)
        try:
            if self._dynamic is not None:
                raise ViewError(
                    "the bits of a view whose address is known at run time only", helps.VIEW_FIRST
                )
            access = self._access.reinterpret(DTYPES[self.dtype].bits, new.bits)
        except ViewError as error:
            self._fail(error)
        return self._with(access, new.name)

    reinterpret_cast = view

    def vector_select(self, dim: int, vector_offset: Any) -> Self:
        """The rows that an index tile selects: row `w` is row `vector_offset[w]` of this tensor.

        Args:
            dim: 0.
            vector_offset: (P, 1) int32/uint32 tensor in SBUF; the view has P rows.

        For DMA from or to HBM. Source: NKI API reference, NkiTensor.vector_select.
        """
        if self._dim(dim) != 0:
            self._deny(f"vector_select of dim {dim}; legal: dim 0", helps.VECTOR_DIM)
        if not isinstance(vector_offset, TensorView):
            message = f"vector_offset is {one_line(vector_offset)}; legal: a tensor"
            self._deny(message, helps.INDEX_TILE)
        old = self._access
        access = AccessPattern(old.offset, old.strides, (vector_offset.shape[0], *old.shape[1:]))
        dynamic = self._dynamic_part(
            Indirection.vector, vector_offset, 0, old.strides[0], old.shape[0], access
        )
        return self._with(access, dynamic=dynamic)

    def indirect(self, index: Any, num_elem: Any = None) -> Self:
        """Tensor indirection: the elements of each partition that an index tile selects.

        Args:
            index: (P, K) int32/uint32 tile in SBUF with as many partitions as this tile: numbers of
                elements of the free dimensions. Groups of 16 partitions (32 on the Tensor Engine)
                share the numbers in their rows, which count down the partitions first.
            num_elem: the number of elements to select, by default K per partition of a group.

        Returns a (P, num_elem) view. NeuronCore-v4 and newer, for the operands of the instructions
        that document it. Source: NKI API reference, NkiTensor.indirect.
        """
        if not isinstance(index, TensorView):
            self._deny(f"index is {one_line(index)}; legal: a tensor", helps.INDEX_TILE)
        if not self._on_chip:
            self._deny(
                "indirect of a tensor in HBM; legal: a tile in SBUF or PSUM",
                helps.INDIRECT_IN_HBM,
            )
        count = numbers_held(info_of(index.ssa_value())) if num_elem is None else num_elem
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            self._deny(
                f"num_elem is {one_line(num_elem)}; legal: an int of at least 1",
                helps.for_integer(num_elem) if type(num_elem) is not int else helps.NUM_ELEM,
            )
        free = math.prod(self.shape[1:])
        self._check_index(index)
        self._check_inside(self._access, DTYPES[self.dtype].bits)
        return self._with(self._access, dynamic=_Dynamic(Indirection.tensor, index, 1, free, count))

    # ---------------------------------------------------------------- addresses at run time

    def _without_index(self) -> Self:
        if self._dynamic is None:
            return self
        tensor = self._with(self._access)
        tensor._dynamic = None
        return tensor

    def _dim(self, dim: Any) -> int:
        number = dim if type(dim) is int else -self.ndim - 1
        if not -self.ndim <= number < self.ndim:
            self._deny(
                f"there is no dim {one_line(dim)}; the shape is {self.shape}",
                helps.for_dim(self.ndim),
            )
        return number % self.ndim

    def _check_index(self, index: TensorView | VirtualRegister) -> None:
        if self._dynamic is not None:
            self._deny("the view is indirect already", helps.ONE_INDEX)
        tracer = index.storage.tracer if isinstance(index, TensorView) else index.tracer
        if tracer is not self.storage.tracer:
            self._deny("the index belongs to another kernel", helps.INDEX_OF_ANOTHER_KERNEL)
        if isinstance(index, TensorView) and index.is_indirect():
            self._deny("the address of the index is known at run time only, too", helps.COPY_INDEX)

    def _check_rows(self, keys: tuple[Any, ...]) -> None:
        if not self._by_vector:
            return
        rest = len([key for key in keys if key is not Ellipsis])
        first = keys[0]
        is_whole = isinstance(first, slice) and cast(Any, first) == slice(None)
        if first is Ellipsis:
            is_whole = rest < self.ndim
        if not is_whole:
            self._deny("dim 0 is selected by an index tile; legal: `:` there", helps.SLICE_INDICES)

    def _index_dynamically(
        self, keys: tuple[Any, ...], position: int, index: TensorView | VirtualRegister
    ) -> Self:
        item = keys[position]
        width = cast(Any, item).size if isinstance(item, DynamicSlice) else 1
        static = DynamicSlice(0, width) if isinstance(item, DynamicSlice) else 0
        after = len(keys) - position
        is_after = any(key is Ellipsis for key in keys[:position])
        dim = self.ndim - after if is_after else position
        if not 0 <= dim < self.ndim:
            dots = sum(key is Ellipsis for key in keys)
            help = helps.for_keys(len(keys), self.ndim, dots)
            self._deny(
                f"{numbered(len(keys), 'index', 'indices')}; the shape is {self.shape}", help
            )
        view = self[(*keys[:position], static, *keys[position + 1 :])]
        if width == 0:
            return view
        if view._dynamic is not self._dynamic:
            self._deny("two indices known at run time only; legal: one", helps.ONE_INDEX)
        return self._select_dynamically(dim, index, width, view._access)

    def _select_dynamically(
        self, dim: int, index: TensorView | VirtualRegister, width: int, access: AccessPattern
    ) -> Self:
        dynamic = self._dynamic_part(
            Indirection.scalar, index, dim, self.strides[dim], self.shape[dim] - width + 1, access
        )
        return self._with(access, dynamic=dynamic)

    def _dynamic_part(
        self,
        kind: Indirection,
        index: Any,
        dim: int,
        scale: int,
        bound: int,
        access: AccessPattern,
        dtype: DType | None = None,
    ) -> _Dynamic:
        """Return the dynamic part of a view.

        Its bound keeps the view in the allocation: valid indices are 0 <= index < bound.
        """
        expected = (TensorView,) if kind is Indirection.vector else (TensorView, VirtualRegister)
        if not isinstance(index, expected):
            help = helps.for_offset(index, is_vector=kind is Indirection.vector)
            self._deny(f"the index is {one_line(index)}; legal: a tensor or a register", help)
        self._check_index(index)
        if scale < 0:
            self._deny(f"an index for dim {dim}, which runs backwards", helps.FORWARD_INDEX)
        if dim == 0 and self._on_chip:
            size = index.size if isinstance(index, TensorView) else 1
            self._deny(
                "the partition dimension is not addressed at run time",
                helps.for_partition_index(size, is_vector=kind is Indirection.vector),
            )
        if kind is Indirection.vector and dim != 0:
            self._deny(f"vector_offset with indirect_dim={dim}; legal: 0", helps.VECTOR_DIM)
        storage = self.storage
        bits = DTYPES[self.dtype].bits if dtype is None else dtype.bits
        rows = access.shape[0] if kind is Indirection.scalar else 1
        first = AccessPattern(access.offset, access.strides, (rows, *access.shape[1:]))
        last = math.prod(storage.shape) * storage.dtype.bits // bits - 1
        self._check_inside(first, bits)
        if self._on_chip:  # the pattern does not leave its partitions
            row = math.prod(storage.shape[1:]) * storage.dtype.bits // bits
            last = first.columns(row)[1]
            fit = (row - 1 - last) // scale + 1 if scale else bound
        else:
            fit = (last - first.bounds[1]) // scale + 1 if scale else bound
        return _Dynamic(kind, index, scale, min(bound, fit))

    def _check_inside(self, access: AccessPattern, bits: int) -> None:
        """Refuse a pattern that exceeds the storage; `bits` is the size of an element."""
        storage = self.storage
        try:
            access.check_bounds(math.prod(storage.shape) * storage.dtype.bits // bits)
            if self._on_chip:
                access.free_range(math.prod(storage.shape[1:]) * storage.dtype.bits // bits)
        except ViewError as error:
            self._fail(error)

    def __bool__(self) -> bool:
        """Return True and record a warning: the values of a tensor are known only on the device.

        A tensor as the test of `while` is an error, because the loop would never end.
        """
        frame = author_frame()
        if frame is not None and while_test(frame) is not None:
            self._refuse(
                "the values of a tensor are not known while a kernel is traced",
                "decide on shapes, dtypes and other arguments, or compute with instructions",
            )
        tracer = self.storage.tracer
        if tracer.is_open:
            tracer.record(COUNTS_AS_TRUE, f"tensor '{self.name}'", "a tensor counts as true")
        return True

    __iter__ = None  # otherwise Python would index 0, 1, 2, … until a view error

    def __len__(self) -> int:
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        """Compare by identity, as Python does; a comparison with a number records a warning."""
        if isinstance(other, (int, float)) and not isinstance(other, bool):
            tracer = self.storage.tracer
            if tracer.is_open:
                message = f"it is compared with {one_line(other)}, which is never equal"
                tracer.record(EQUAL_TENSOR, f"tensor '{self.name}'", message)
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        text = (
            f"{type(self).__name__}({self.name or '?'}: {self.buffer.value} {shape} {self.dtype})"
        )
        values = self.storage.tracer.values
        return text if values is None else f"{text}\n{values.shown(self)}"

    @property
    def _elements(self) -> AccessPattern | None:
        """The view's access pattern; None if an index selects the elements at run time."""
        return self._access if self._dynamic is None else None
