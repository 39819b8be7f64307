"""The language of kernels, with the names of `nki.language`."""

from __future__ import annotations

from typing import NoReturn

from nkijit.dialects.hardware.words import MemoryRegion as MemoryRegion
from nkijit.language import (
    buffers,
    composites,
    constants,
    creation,
    debugging,
    dtypes,
    gather,
    grids,
    loops,
    math,
    matrices,
    memory,
    programs,
    random,
    ranges,
    reductions,
    remainders,
    shapes,
)
from nkijit.language.buffers import *
from nkijit.language.composites import *
from nkijit.language.constants import *
from nkijit.language.creation import *
from nkijit.language.debugging import *
from nkijit.language.dtypes import *
from nkijit.language.gather import *
from nkijit.language.grids import *
from nkijit.language.loops import *
from nkijit.language.math import *
from nkijit.language.matrices import *
from nkijit.language.memory import *
from nkijit.language.programs import *
from nkijit.language.random import *
from nkijit.language.ranges import *
from nkijit.language.reductions import *
from nkijit.language.remainders import *
from nkijit.language.shapes import *
from nkijit.language.tile_size import tile_size as tile_size
from nkijit.tracing import operators
from nkijit.tracing.dtype_names import missing as _missing
from nkijit.tracing.objects import NKIObject as NKIObject
from nkijit.tracing.operators import *
from nkijit.tracing.tensor import NkiTensor as NkiTensor

_INDEX = "index with slices and nl.ds, or make the view with t.ap(...)"
_GRID = "launch on two cores with kernel[2]"
_INSTEAD = {
    "arange": _INDEX,
    "mgrid": _INDEX,
    "spmd_dim": _GRID,
    "nc": _GRID,
    "atomic_rmw": "use nisa.dma_compute",
}
"""What older kernels use of `nki.language`, and what to do about it."""


def __getattr__(name: str) -> NoReturn:
    raise _missing("nki.language", name, globals(), _INSTEAD)


_public = ["MemoryRegion", "NKIObject", "NkiTensor", "tile_size"]
for _module in (
    composites,
    constants,
    dtypes,
    loops,
    matrices,
    gather,
    grids,
    operators,
    random,
    math,
    reductions,
    remainders,
    shapes,
    buffers,
    creation,
    debugging,
    memory,
    programs,
    ranges,
):
    _public += _module.__all__
# Not by its name: type checkers that cannot add lists up would have none of these names. Without a
# list they take what is imported with * or under its own name again.
globals()["__all__"] = _public


def __dir__() -> list[str]:
    """The public names: modules that they come from are not completed."""
    return sorted(_public)
