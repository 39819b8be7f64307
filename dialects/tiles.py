"""Tiles: what a memref of NKI says, in NKI's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.ir import Attribute, SSAValue

from nkijit.dialects.access import AccessPattern, Indirection
from nkijit.dialects.attributes import MEMORY_SPACES, MemorySpaceAttr
from nkijit.dialects.dtypes import DType, dtype_of_type
from nkijit.dialects.hardware.words import MemoryRegion

MAX_RANK = 60
"""Dimensions of a tensor: NumPy's arrays have up to 64, and some are needed beside its own."""

NkiMemRef = MemRefType[Attribute]


@dataclass(frozen=True, slots=True)
class TileInfo:
    """What a memref type says, in NKI's words."""

    shape: tuple[int, ...]
    dtype: DType
    region: MemoryRegion
    strides: tuple[int, ...]
    """0 for a dimension whose elements lie where an index tile says."""
    offset: int
    indirection: Indirection | None = None
    """Set when the address is known at run time only; `strides` and `offset` say little then."""

    @property
    def partitions(self) -> int:
        """Size of dim 0, the partition dimension of an on-chip tile."""
        return self.shape[0]

    @property
    def free_size(self) -> int:
        """Elements per partition."""
        size = 1
        for dim in self.shape[1:]:
            size *= dim
        return size

    @property
    def size(self) -> int:
        """Elements."""
        return self.shape[0] * self.free_size

    @property
    def partition_bytes(self) -> int:
        """Bytes per partition."""
        return self.free_size * self.dtype.itemsize

    @property
    def run_bytes(self) -> int:
        """Neighbouring bytes at each of its places; on chip, within a partition."""
        expected = 1
        first = 1 if self.region.on_chip else 0
        for stride, count in reversed(list(zip(self.strides, self.shape, strict=True))[first:]):
            if count != 1 and stride != expected:
                break
            expected *= count
        return expected * self.dtype.itemsize

    @property
    def pattern(self) -> AccessPattern:
        """The access pattern relative to the allocation."""
        return AccessPattern(self.offset, self.strides, self.shape)

    @property
    def byte_pattern(self) -> AccessPattern:
        """The access pattern in bytes, elements spread out; comparable between data types."""
        size = self.dtype.itemsize
        if size == 1:
            return self.pattern
        strides = tuple(stride * size for stride in self.strides)
        return AccessPattern(self.offset * size, (*strides, 1), (*self.shape, size))

    def overlaps(self, other: TileInfo) -> bool:
        """True when two views of one allocation touch a common byte, or may."""
        if self.indirection is not None or other.indirection is not None:
            return True
        if self.dtype.bits == other.dtype.bits:
            return self.pattern.overlaps(other.pattern)
        return self.byte_pattern.overlaps(other.byte_pattern)

    def __str__(self) -> str:
        return f"{self.region.value} {'x'.join(map(str, self.shape))} {self.dtype.name}"


@lru_cache(maxsize=65536)
def tile_info(memref: NkiMemRef) -> TileInfo:
    """The shape, data type, buffer and layout of a memref of NKI."""
    shape = memref.get_shape()
    dtype = dtype_of_type(memref.element_type)
    space = memref.memory_space
    if dtype is None or not isinstance(space, MemorySpaceAttr):
        raise ValueError(f"not a memref of NKI: {memref}")
    layout = memref.layout
    if not isinstance(layout, StridedLayoutAttr):
        return TileInfo(shape, dtype, space.REGION, AccessPattern.contiguous(shape).strides, 0)
    strides, offset = layout.get_strides(), layout.get_offset()
    known = tuple(0 if stride is None else stride for stride in strides)
    return TileInfo(
        shape, dtype, space.REGION, known, offset or 0, _indirection_of(strides, offset)
    )


def _indirection_of(strides: Sequence[int | None], offset: int | None) -> Indirection | None:
    if strides[-1] is None:
        return Indirection.tensor if len(strides) > 1 else Indirection.vector
    if strides[0] is None:
        return Indirection.vector
    return Indirection.scalar if offset is None else None


def info_of(value: SSAValue) -> TileInfo:
    """`tile_info` of a value's type."""
    return tile_info(cast(NkiMemRef, value.type))


def is_tile(value: SSAValue) -> bool:
    """True for a memref, False for a scalar."""
    return isinstance(value.type, MemRefType)


@lru_cache(maxsize=65536)
def memref_type(
    dtype: DType,
    shape: tuple[int, ...],
    region: MemoryRegion,
    layout: AccessPattern | None = None,
    indirection: Indirection | None = None,
) -> NkiMemRef:
    """The memref type of an allocation, or of a view when `layout` is given.

    What is known at run time only is `?`: the offset of a view with a scalar index, the stride
    of dim 0 with a vector of indices, every stride with an index tile (`shape` is the result's).
    """
    if layout is None:
        return MemRefType(dtype.type, shape, NoneAttr(), MEMORY_SPACES[region])
    strides: list[int | None] = list(layout.strides)
    offset: int | None = layout.offset
    if indirection is Indirection.scalar:
        offset = None
    elif indirection is Indirection.vector:
        strides[0] = None
    elif indirection is Indirection.tensor:
        strides = [None] * len(shape)
    attr = StridedLayoutAttr(strides, offset)
    return MemRefType(dtype.type, shape, attr, MEMORY_SPACES[region])
