"""The language of kernels, with the names of `nki.language`."""

from __future__ import annotations

from typing import NoReturn

from nkijit import operators
from nkijit.dialects.hardware.words import MemoryRegion
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
from nkijit.language.shapes import *
from nkijit.language.tile_size import tile_size
from nkijit.names import missing
from nkijit.objects import NKIObject
from nkijit.operators import *
from nkijit.tensor import NkiTensor

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
    raise missing("nki.language", name, globals(), _INSTEAD)


__all__ = ["MemoryRegion", "NKIObject", "NkiTensor", "tile_size"]
__all__ += composites.__all__
__all__ += constants.__all__
__all__ += dtypes.__all__
__all__ += loops.__all__
__all__ += matrices.__all__
__all__ += gather.__all__
__all__ += grids.__all__
__all__ += operators.__all__
__all__ += random.__all__
__all__ += math.__all__
__all__ += reductions.__all__
__all__ += shapes.__all__
__all__ += buffers.__all__
__all__ += creation.__all__
__all__ += debugging.__all__
__all__ += memory.__all__
__all__ += programs.__all__
__all__ += ranges.__all__


def __dir__() -> list[str]:
    """The public names: modules that they come from are not completed."""
    return sorted(__all__)
