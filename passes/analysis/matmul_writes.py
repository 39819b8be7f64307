"""What matmuls have written of PSUM when another one comes: whether it adds or overwrites."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of
from nkijit.dialects.nki.views import base_of, reach_of
from nkijit.dialects.reach import Reach
from nkijit.dialects.tiles import info_of

Mask = npt.NDArray[np.bool_]


class UndecidedError(Exception):
    """Whether a matmul adds is known at run time only."""


@dataclass(slots=True)
class MatmulWrites:
    """The bytes of PSUM that matmuls have written, as far as a kernel has been walked in order."""

    _written: dict[SSAValue, tuple[Reach, Mask]] = field(
        default_factory=dict[SSAValue, tuple[Reach, Mask]]
    )
    _scattered: set[SSAValue] = field(default_factory=set[SSAValue])
    """Tensors that a matmul has written at addresses known at run time only."""

    def mark(self, value: SSAValue) -> None:
        """A matmul writes a tile."""
        self._map(value)[...] = True
        if info_of(value).indirection is not None:
            self._scattered.add(base_of(value))

    def added(self, op: NisaOp, target: Target) -> Mask | bool:
        """Where a matmul adds to its dst: everywhere, nowhere, or a mask (P, F); marks dst.

        Raises UndecidedError.
        """
        dst = op.required("dst")
        info, written = info_of(dst), self._map(dst)
        accumulation = accumulation_of(op, target)
        adds, by_location = (
            accumulation is kind for kind in (Accumulation.adds, Accumulation.by_location)
        )
        if info.indirection is not None:
            if by_location and written.any():
                raise UndecidedError(
                    "where 'dst' is, is known at run time only, so whether it adds has to be said "
                    "with accumulate="
                )
            self.mark(dst)
            return adds
        if by_location and base_of(dst) in self._scattered:
            raise UndecidedError(
                "what a matmul has written before is known at run time only, so whether it adds "
                "has to be said with accumulate="
            )
        before = written.reshape(info.partitions, info.free_size).copy()
        written[...] = True
        if not by_location:
            return adds
        # The first matmul overwrites, later ones add.
        if before.all():
            return True
        return before if before.any() else False

    def _map(self, value: SSAValue) -> npt.NDArray[Any]:
        """A flag for each element of a tile, in memory shared by those of a tensor."""
        base = base_of(value)
        # One that is known at run time only may be anywhere.
        info = info_of(value) if info_of(value).indirection is None else info_of(base)
        known = self._written.get(base)
        if known is None:
            reach = reach_of(base)
            known = self._written[base] = reach, np.zeros(reach.size, np.bool_)
        reach, written = known
        size = info.dtype.itemsize
        access = reach.place(info.pattern, size)
        strides = tuple(stride * size for stride in access.strides)
        # One flag stands for an element: its first byte.
        return np.ndarray(access.shape, np.bool_, written, access.offset * size, strides)
