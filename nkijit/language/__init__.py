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
"""Maps names of `nki.language` that older kernels use to advice on alternatives."""


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
# Not assigned by name: a type checker that cannot evaluate the sum would see no public names.
# Without a list it takes the names that are imported with * or as themselves.
globals()["__all__"] = _public


def __dir__() -> list[str]:
    """Return the public names, without the modules that they come from."""
    return sorted(_public)
