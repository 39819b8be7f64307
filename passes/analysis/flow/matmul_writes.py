"""The bytes of PSUM that matmuls have written, which decide whether a matmul adds or overwrites."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of, reach_of
from nkijit.dialects.overlap import meet
from nkijit.dialects.reach import Reach
from nkijit.dialects.tiles import info_of
from nkijit.dialects.walks import found_once
from nkijit.passes.analysis.bytes.footprints import Extent, extent_of

Mask = npt.NDArray[np.bool_]


class UndecidedError(Exception):
    """Raised if it is known only at run time whether a matmul adds."""


MOST_TILES = 16
"""The largest number of tiles of a tensor whose overlaps are computed in pairs.

A tensor with more tiles gets a mark per byte.
"""


@dataclass(slots=True)
class _Tensor:
    """An allocation, with the tiles and bytes that matmuls have written."""

    reach: Reach
    tiles: dict[tuple[Extent, int], SSAValue] = field(
        default_factory=dict[tuple[Extent, int], SSAValue]
    )
    """The written tiles, one for each set of bytes and element size."""
    scattered: bool = False
    """True if a matmul has written the allocation at an address known only at run time."""
    flags: Mask | None = None
    """A flag for each byte, created when needed; an element uses the flag of its first byte."""

    def write(self, value: SSAValue) -> None:
        """Record the write of a matmul to a tile with a known address."""
        key = self.key(value)
        if key not in self.tiles:
            self.tiles[key] = value
            if self.flags is not None:
                self.part(self.flags, value)[...] = True

    def key(self, value: SSAValue) -> tuple[Extent, int]:
        """Return a key that is equal for tiles with the same elements."""
        return extent_of(value, self.reach), info_of(value).dtype.itemsize

    def before(self, value: SSAValue) -> Mask | bool:
        """Return which elements of a tile have been written: True, False, or a mask (P, F)."""
        key = self.key(value)
        if key in self.tiles:
            return True
        low, terms = key[0]
        if len(self.tiles) <= MOST_TILES and not any(
            meet(low, list(terms), other.low, list(other.terms)) for other, _ in self.tiles
        ):
            return False
        if self.flags is None:
            self.flags = np.zeros(self.reach.size, np.bool_)
            for tile in self.tiles.values():
                self.part(self.flags, tile)[...] = True
        info = info_of(value)
        flags = self.part(self.flags, value).reshape(info.partitions, info.free_size).copy()
        if flags.all():
            return True
        return flags if flags.any() else False

    def part(self, flags: Mask, value: SSAValue) -> npt.NDArray[Any]:
        """Return a view of the flags of a tile's elements."""
        info = info_of(value)
        size = info.dtype.itemsize
        access = self.reach.place(info.pattern, size)
        strides = tuple(stride * size for stride in access.strides)
        return np.ndarray(access.shape, np.bool_, flags, access.offset * size, strides)


@dataclass(slots=True)
class MatmulWrites:
    """The bytes of PSUM that matmuls have written, during a walk over a kernel in program order.

    Tiles are compared as sets of bytes. Only a tensor in which a matmul may find some elements
    written gets a mark per byte, because a kernel may have thousands of banks.
    """

    _tensors: dict[SSAValue, _Tensor] = field(default_factory=dict[SSAValue, _Tensor])

    def mark(self, value: SSAValue) -> None:
        """Record the write of a matmul to a tile."""
        tensor = self._tensor(value)
        if info_of(value).indirection is None:
            tensor.write(value)
            return
        # The write may go to any part of the tensor.
        tensor.write(base_of(value))
        tensor.scattered = True

    def added(self, op: NisaOp, target: Target) -> Mask | bool:
        """Return which elements of dst a matmul adds to (True, False or a mask); record the write.

        The mask has the shape (P, F).

        Raises:
            UndecidedError: whether the matmul adds is known only at run time.
        """
        dst = op.required("dst")
        tensor = self._tensor(dst)
        accumulation = accumulation_of(op, target)
        adds, by_location = (
            accumulation is kind for kind in (Accumulation.adds, Accumulation.by_location)
        )
        if info_of(dst).indirection is not None:
            if by_location and tensor.tiles:
                raise UndecidedError(
                    "where 'dst' is, is known at run time only, so whether it adds has to be said "
                    "with accumulate="
                )
            self.mark(dst)
            return adds
        if by_location and tensor.scattered:
            raise UndecidedError(
                "what a matmul has written before is known at run time only, so whether it adds "
                "has to be said with accumulate="
            )
        # The first matmul overwrites, later ones add.
        before = tensor.before(dst) if by_location else adds
        tensor.write(dst)
        return before

    def _tensor(self, value: SSAValue) -> _Tensor:
        base = base_of(value)
        tensor = self._tensors.get(base)
        if tensor is None:
            tensor = self._tensors[base] = _Tensor(reach_of(base))
        return tensor


@cache
def _may_multiply(kind: type[Operation]) -> bool:
    """Whether operations of a class write PSUM as matmuls do, if they run on the Tensor Engine."""
    return issubclass(kind, NisaOp) and (kind.declares("accumulate") or kind.SPEC.transposes)


_Additions = list[tuple[NisaOp, Mask | bool | None]]


def where_matmuls_add(kernel: KernelOp, ignored: Collection[Operation] = frozenset()) -> _Additions:
    """Return each matmul of a kernel in program order, with the elements of dst that it adds to.

    See `MatmulWrites.added`; None if the elements are known only at run time. Operations in
    `ignored` are skipped. The result is cached while the kernel does not change (`found_once`).
    """
    return _additions(kernel, ignored) if ignored else found_once(kernel, _additions)


def _additions(kernel: KernelOp, ignored: Collection[Operation] = frozenset()) -> _Additions:
    writes, found = MatmulWrites(), _Additions()
    for op in kernel.operations:
        if not _may_multiply(type(op)) or op in ignored:
            continue
        op = cast(NisaOp, op)
        if not op.declares("accumulate"):
            if engine_of(op, kernel.target) is engine.tensor:
                writes.mark(op.required("dst"))
            continue
        try:
            found.append((op, writes.added(op, kernel.target)))
        except UndecidedError:
            found.append((op, None))
    return found
