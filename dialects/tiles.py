"""Tiles: the memref types of NKI, and the shape, data type and layout that these types describe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from nkijit.dialects.access import AccessPattern, Indirection
from nkijit.dialects.attributes import MEMORY_SPACES, MemorySpaceAttr, integer_attr, variant
from nkijit.dialects.dtypes import DType, dtype_of_type
from nkijit.dialects.hardware.words import MemoryRegion

MAX_RANK = 60
"""Largest number of dimensions of a tensor. NumPy's limit is 64; nkijit uses some of these."""

NkiMemRef = MemRefType[Attribute]


@dataclass(frozen=True)
class TileInfo:
    """The contents of a memref type in NKI's terms: shape, data type, buffer and layout.

    Created once per type and cached on it, so its derived properties are computed once.
    """

    shape: tuple[int, ...]
    dtype: DType
    region: MemoryRegion
    strides: tuple[int, ...]
    """Distance between neighbouring elements of each dimension, in elements.

    0 for a dimension that is addressed by an index tile.
    """
    offset: int
    """Offset of the first element in the allocation, in elements; 0 if it is known only at run
    time.
    """
    indirection: Indirection | None = None
    """The kind of run-time address (`Indirection`); None when the whole address is static."""

    @property
    def partitions(self) -> int:
        """Size of dim 0, the partition dimension of an on-chip tile."""
        return self.shape[0]

    @cached_property
    def free_size(self) -> int:
        """Number of elements per partition."""
        size = 1
        for dim in self.shape[1:]:
            size *= dim
        return size

    @cached_property
    def size(self) -> int:
        """Number of elements of the tile."""
        return self.shape[0] * self.free_size

    @cached_property
    def partition_bytes(self) -> int:
        """Number of bytes per partition."""
        return self.free_size * self.dtype.itemsize

    @cached_property
    def run_bytes(self) -> int:
        """Bytes of each contiguous run of elements; on chip, within a partition."""
        expected = 1
        first = 1 if self.region.on_chip else 0
        for stride, count in reversed(list(zip(self.strides, self.shape, strict=True))[first:]):
            if count != 1 and stride != expected:
                break
            expected *= count
        return expected * self.dtype.itemsize

    @cached_property
    def pattern(self) -> AccessPattern:
        """The access pattern relative to the allocation."""
        return AccessPattern(self.offset, self.strides, self.shape)

    @cached_property
    def byte_pattern(self) -> AccessPattern:
        """The access pattern in bytes, comparable between views of different data types.

        If elements are larger than a byte, a last dimension walks the bytes of an element.
        """
        size = self.dtype.itemsize
        if size == 1:
            return self.pattern
        strides = tuple(stride * size for stride in self.strides)
        return AccessPattern(self.offset * size, (*strides, 1), (*self.shape, size))

    def overlaps(self, other: TileInfo) -> bool:
        """True when two views of one allocation touch or may touch a common byte."""
        if self.indirection is not None or other.indirection is not None:
            return True
        if self.dtype.bits == other.dtype.bits:
            return self.pattern.overlaps(other.pattern)
        return self.byte_pattern.overlaps(other.byte_pattern)

    def __str__(self) -> str:
        return f"{self.region.value} {'x'.join(map(str, self.shape))} {self.dtype.name}"


def tile_info(memref: NkiMemRef) -> TileInfo:
    """Return the shape, data type, buffer and layout of a memref.

    Raises ValueError for a memref without an NKI data type or memory space.
    """
    known = memref.__dict__.get(_INFO)
    if known is not None:
        return known
    shape = memref.get_shape()
    dtype = dtype_of_type(memref.element_type)
    space = memref.memory_space
    if dtype is None or not isinstance(space, MemorySpaceAttr):
        raise ValueError(f"not a memref of NKI: {memref}")
    layout = memref.layout
    if isinstance(layout, StridedLayoutAttr):
        strides, offset = layout.get_strides(), layout.get_offset()
        kind = _indirection_of(strides, offset)
        known = tuple(0 if stride is None else stride for stride in strides)
        info = TileInfo(shape, dtype, space.REGION, known, offset or 0, kind)
    else:
        info = TileInfo(shape, dtype, space.REGION, AccessPattern.contiguous(shape).strides, 0)
    object.__setattr__(memref, _INFO, info)
    return info


_INFO = "_nki_tile"
"""Attribute of a memref type that caches its `TileInfo`; xDSL attributes are immutable."""


def _indirection_of(strides: Sequence[int | None], offset: int | None) -> Indirection | None:
    if strides[-1] is None:
        return Indirection.tensor if len(strides) > 1 else Indirection.vector
    if strides[0] is None:
        return Indirection.vector
    return Indirection.scalar if offset is None else None


def info_of(value: SSAValue) -> TileInfo:
    """Return the `tile_info` of a value's type."""
    # Called many times per instruction, and xDSL's own access takes twice as long.
    memref: Any = value._type  # pyright: ignore[reportPrivateUsage]
    try:
        return memref._nki_tile
    except AttributeError:
        return tile_info(memref)


def is_tile(value: SSAValue) -> bool:
    """True for a memref, False for a scalar or register."""
    return type(value._type) is MemRefType  # pyright: ignore[reportPrivateUsage]


def memref_type(
    dtype: DType,
    shape: tuple[int, ...],
    region: MemoryRegion,
    layout: AccessPattern | None = None,
    indirection: Indirection | None = None,
) -> NkiMemRef:
    """Return the memref type of an allocation, or of a view when `layout` is given.

    Offsets and strides that are known only at run time are `?` in the type: the offset of a view
    with a scalar index, the stride of dim 0 with a vector of indices, every stride with an index
    tile. `shape` is the shape of the result, which differs from the layout's shape if there is an
    index tile.
    """
    if layout is None:
        return allocation_type(dtype, shape, region)
    form = ViewForm.of(dtype, region, layout.strides, layout.shape, shape, indirection)
    return form.at(layout.offset)[0]


@lru_cache(maxsize=4096)
def allocation_type(dtype: DType, shape: tuple[int, ...], region: MemoryRegion) -> NkiMemRef:
    """Return the memref type of an allocation."""
    memref = MemRefType(dtype.type, shape, NoneAttr(), MEMORY_SPACES[region])
    tile_info(memref)
    return memref


@dataclass(frozen=True)
class ViewForm:
    """The properties of a view without its offset, shared by views with equal properties.

    Iterations of an unrolled loop take the same views of different tiles, or of one tensor at
    different offsets. Attributes that do not depend on the offset are created once, and verified by
    xDSL once.
    """

    memref: NkiMemRef
    """The type of the view at offset 0."""
    pattern: Attribute
    """The attribute with the `[stride, count]` pairs."""
    key: int = field(compare=False)
    """The hash of data type, memory region, strides and counts."""

    def __hash__(self) -> int:
        return self.key

    @staticmethod
    @lru_cache(maxsize=16384)
    def of(
        dtype: DType,
        region: MemoryRegion,
        strides: tuple[int, ...],
        counts: tuple[int, ...],
        shape: tuple[int, ...],
        indirection: Indirection | None = None,
    ) -> ViewForm:
        """Return the form (view without its offset) with given strides, counts and shape."""
        known: list[int | None] = list(strides)
        if indirection is Indirection.vector:
            known[0] = None
        elif indirection is Indirection.tensor:
            known = [None] * len(shape)
        offset = None if indirection is Indirection.scalar else 0
        layout = StridedLayoutAttr(known, offset)
        memref = MemRefType(dtype.type, shape, layout, MEMORY_SPACES[region])
        pairs = zip(strides, counts, strict=True)
        pattern = ArrayAttr([DenseArrayBase.from_list(i64, pair) for pair in pairs])
        info = tile_info(memref)
        # Computed here once: `at` copies them to every view of this form.
        _ = info.free_size, info.size, info.partition_bytes, info.run_bytes
        return ViewForm(memref, pattern, hash((dtype, region, strides, counts)))

    def at(self, offset: int) -> tuple[NkiMemRef, IntegerAttr[IntegerType]]:
        """Return the type of the view that begins at element `offset`, and the offset attribute."""
        return _at(self, offset)


@lru_cache(maxsize=65536)
def _at(form: ViewForm, offset: int) -> tuple[NkiMemRef, IntegerAttr[IntegerType]]:
    number = integer_attr(offset)
    memref = form.memref
    layout = cast(StridedLayoutAttr, memref.layout)
    if isinstance(layout.offset, NoneAttr):
        return memref, number
    moved = variant(memref, layout=variant(layout, offset=number.value))
    info = variant(tile_info(memref), offset=offset)
    for name in _OF_THE_OFFSET:
        info.__dict__.pop(name, None)
    object.__setattr__(moved, _INFO, info)
    return moved, number


_OF_THE_OFFSET = ("pattern", "byte_pattern")
"""The cached properties of a `TileInfo` that depend on the tile's offset."""
