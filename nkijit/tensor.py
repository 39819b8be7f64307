"""Tensors as a kernel sees them while it is traced: shape, strides, dtype and buffer, no data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern, ViewError
from nkijit.dialects.dtypes import DTYPES, DType
from nkijit.dialects.hardware import MemoryRegion
from nkijit.dialects.rule_texts import UNSUPPORTED, VIEW
from nkijit.names import as_dtype
from nkijit.objects import NKIObject

if TYPE_CHECKING:
    from nkijit.tracer import Storage


class NkiTensor(NKIObject):
    """A tensor, or a view of one (`nki.language.NkiTensor`).

    Tensors come from `nl.ndarray` and from a kernel's arguments. Views share the storage and
    cost nothing; what they are reaches the IR only when an instruction uses them. SBUF and PSUM
    tensors have the partition dimension at dim 0.

    Attributes:
        shape: dimensions.
        strides: elements between neighbours, per dimension.
        offset: elements from the start of the storage.
        dtype: name of the data type, e.g. `nl.float32`.
        buffer: `nl.sbuf`, `nl.psum`, `nl.hbm` or `nl.shared_hbm`.
        name: the `name=` argument, else the variable that the tensor was assigned to.

    A view that cannot exist raises `nki.isa.NkiValidationError` at the author's line.
    Source: NKI API reference, nki.language.NkiTensor.
    """

    __slots__ = ("_access", "_whole", "dtype", "storage")

    storage: Storage
    _access: AccessPattern

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: str,
        storage: Storage,
        buffer: MemoryRegion | str = MemoryRegion.sbuf,
        name: str = "",
    ):
        """Bind a tensor to existing storage, from its first element on."""
        del buffer, name  # both are the storage's
        self.storage = storage
        self._access = AccessPattern.contiguous(tuple(shape))
        self.dtype = dtype
        self._whole = shape == storage.shape and dtype == storage.dtype.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions."""
        return self._access.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements between neighbours, per dimension."""
        return self._access.strides

    @property
    def offset(self) -> int:
        """Elements from the start of the storage to the first element."""
        return self._access.offset

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._access.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._access.size

    @property
    def buffer(self) -> MemoryRegion:
        """Where the tensor lives."""
        return self.storage.region

    @property
    def name(self) -> str:
        """The tensor's name."""
        return self.storage.name

    @property
    def _on_chip(self) -> bool:
        return self.storage.region.on_chip

    def ssa_value(self) -> SSAValue:
        """The tensor in the IR; a view is emitted when this first asks for it."""
        if self._whole:
            return self.storage.value
        return self.storage.tracer.view(self.storage, self._access, DTYPES[self.dtype])

    def _with(self, access: AccessPattern, dtype: str | None = None) -> NkiTensor:
        storage = self.storage
        tensor: NkiTensor = NkiTensor.__new__(NkiTensor)
        tensor.storage = storage
        tensor._access = access
        tensor.dtype = self.dtype if dtype is None else dtype
        tensor._whole = (
            access.offset == 0
            and access.shape == storage.shape
            and tensor.dtype == storage.dtype.name
            and access.is_contiguous(False)
        )
        return tensor

    def _derive(self, view: Callable[..., AccessPattern], *args: Any, **kwargs: Any) -> NkiTensor:
        try:
            return self._with(view(self._access, *args, **kwargs))
        except ViewError as error:
            self._fail(error)

    def _fail(self, error: ViewError) -> NoReturn:
        self.storage.tracer.fail(VIEW, f"view of '{self.name}'", str(error))

    def _dtype_named(self, dtype: Any) -> DType:
        try:
            return as_dtype(dtype)
        except ValueError as error:
            self._fail(ViewError(str(error)))

    def _refuse(self, what: str, help: str) -> NoReturn:
        self.storage.tracer.fail(UNSUPPORTED, f"tensor '{self.name}'", what, help)

    # ---------------------------------------------------------------- queries

    def is_contiguous(self) -> bool:
        """True when the view is dense and row-major; on chip, within each partition."""
        return self._access.is_contiguous(self._on_chip)

    def get_pattern(self) -> list[list[int]]:
        """The access pattern as `[[stride, count], …]`."""
        return self._access.pairs

    def is_indirect(self) -> bool:
        """True when the address is known at run time only; no such view exists yet."""
        return False

    # ---------------------------------------------------------------- views

    def __getitem__(self, key: Any) -> NkiTensor:
        """NumPy-style indexing with integers, slices, `...` and `nl.ds`.

        On chip an integer on dim 0 keeps the dimension at size 1 and the result has at least
        two dimensions; in HBM an integer drops the dimension.
        """
        return self._derive(AccessPattern.index, key, on_chip=self._on_chip)

    def slice(self, dim: int, start: int, end: int, step: int = 1) -> NkiTensor:
        """Elements `start` to `end` (exclusive) of one dimension, every `step`-th."""
        return self._derive(AccessPattern.slice, dim, start, end, step)

    def select(self, dim: int, index: int | NkiTensor) -> NkiTensor:
        """One element along a dimension, which is removed. A tensor as index is refused."""
        if isinstance(index, NkiTensor):
            self._refuse("select with a tensor as index is not modelled yet", "use an integer")
        return self._derive(AccessPattern.select, dim, index, on_chip=self._on_chip)

    def permute(self, dims: tuple[int, ...]) -> NkiTensor:
        """Reorder the dimensions; on chip dim 0 stays first."""
        return self._derive(AccessPattern.permute, dims, on_chip=self._on_chip)

    def broadcast(self, dim: int, size: int) -> NkiTensor:
        """Repeat a dimension of size 1; on chip not dim 0."""
        return self._derive(AccessPattern.broadcast, dim, size, on_chip=self._on_chip)

    def expand_dim(self, dim: int) -> NkiTensor:
        """Insert a dimension of size 1; on chip not at 0."""
        return self._derive(AccessPattern.expand_dim, dim, on_chip=self._on_chip)

    def squeeze_dim(self, dim: int) -> NkiTensor:
        """Remove a dimension of size 1; on chip not dim 0."""
        return self._derive(AccessPattern.squeeze_dim, dim, on_chip=self._on_chip)

    def reshape_dim(self, dim: int, shape: tuple[int, ...]) -> NkiTensor:
        """Split a dimension; one size may be -1."""
        return self._derive(AccessPattern.reshape_dim, dim, shape, on_chip=self._on_chip)

    def flatten_dims(self, start_dim: int, end_dim: int) -> NkiTensor:
        """Merge the dimensions `start_dim` to `end_dim` (inclusive)."""
        return self._derive(AccessPattern.flatten_dims, start_dim, end_dim, on_chip=self._on_chip)

    def reshape(self, shape: tuple[int, ...]) -> NkiTensor:
        """The same elements in another shape, without a copy; on chip dim 0 stays as it is."""
        return self._derive(AccessPattern.reshape, shape, on_chip=self._on_chip)

    def rearrange(
        self,
        src_pattern: tuple[Any, ...],
        dst_pattern: tuple[Any, ...],
        fixed_sizes: dict[str, int] | None = None,
    ) -> NkiTensor:
        """Split, reorder and merge named dimensions, as einops does."""
        return self._derive(
            AccessPattern.rearrange,
            src_pattern,
            dst_pattern,
            fixed_sizes,
            on_chip=self._on_chip,
        )

    def ap(
        self,
        pattern: list[list[int]],
        offset: int | None = None,
        scalar_offset: Any = None,
        vector_offset: Any = None,
        indirect_dim: int = 0,
        dtype: str | None = None,
    ) -> NkiTensor:
        """An explicit access pattern over the storage.

        Args:
            pattern: `[[stride, count], …]` in elements of `dtype`.
            offset: elements added to the view's own offset; None adds nothing.
            scalar_offset: refused, addresses known at run time are not modelled yet.
            vector_offset: refused, as `scalar_offset`.
            indirect_dim: goes with the two before.
            dtype: read the bits as this data type.
        """
        for name, value in (("scalar_offset", scalar_offset), ("vector_offset", vector_offset)):
            if value is not None:
                self._refuse(f"ap({name}=…) is not modelled yet", f"leave {name} out")
        if indirect_dim != 0:
            self._refuse("ap(indirect_dim=…) is not modelled yet", "leave indirect_dim out")
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
                    f"as {new.name}"
                )
            base_shape = (*storage.shape[:-1], last // new.bits)
            access = AccessPattern(start // new.bits, (1,), (1,)).ap(
                pattern, offset, base_shape=base_shape, on_chip=self._on_chip
            )
        except ViewError as error:
            self._fail(error)
        return self._with(access, new.name)

    def view(self, dtype: str) -> NkiTensor:
        """Read the bits as another data type; the last dimension is rescaled."""
        new = self._dtype_named(dtype)
        try:
            access = self._access.reinterpret(DTYPES[self.dtype].bits, new.bits)
        except ViewError as error:
            self._fail(error)
        return self._with(access, new.name)

    reinterpret_cast = view

    def vector_select(self, dim: int, vector_offset: NkiTensor) -> NoReturn:
        """Refused: addresses known at run time are not modelled yet."""
        self._refuse("vector_select is not modelled yet", "select rows with integers")

    def indirect(self, index: NkiTensor, num_elem: int | None = None) -> NoReturn:
        """Refused: tensor indirection is not modelled yet."""
        self._refuse("indirect is not modelled yet", "access the tile with static patterns")

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        self._refuse(
            "assignment to elements is not modelled yet",
            "write with nisa.tensor_copy, nisa.dma_copy or nl.store",
        )

    def __bool__(self) -> NoReturn:
        self._refuse(
            "the values of a tensor are not known while a kernel is traced",
            "decide on shapes, dtypes and other arguments, or compute with instructions",
        )

    __iter__ = None  # without it Python would index 0, 1, 2, … until a view error

    def __len__(self) -> int:
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"NkiTensor({self.name or '?'}: {self.buffer.value} {shape} {self.dtype})"
