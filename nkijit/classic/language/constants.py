"""Numbers of data types and of the hardware. Source: NKI API reference 2.26, nki.language."""

from __future__ import annotations

from typing import Any, NoReturn, cast

import ml_dtypes
import numpy as np

from nkijit.classic.indexing.generators import Grid, mgrid
from nkijit.classic.isa.select import fp32
from nkijit.classic.tensors.dtypes import as_numpy
from nkijit.language.tile_size import tile_size
from nkijit.tracing.checks import dtype_named
from nkijit.tracing.dtype_names import as_dtype, missing


class bfp16:
    """Constants of bfloat16."""

    min = float(np.array(0xFF80, np.uint16).view(ml_dtypes.bfloat16))
    """The lowest number, which has the documented bit pattern 0xff80: minus infinity."""


def finfo(dtype: Any) -> Any:
    """The limits of a floating-point data type, as `numpy.finfo`; ValueError for other types."""
    return cast(Any, ml_dtypes.finfo)(as_numpy(dtype_named("nl.finfo", "dtype", dtype).name))


def sizeinbytes(dtype: Any) -> int:
    """Bytes per element of a data type. Raises ValueError for an unknown data type.

    Not in the API reference; published kernels import it from this module.
    """
    return as_dtype(dtype).itemsize


def gemm_grid() -> Grid:
    """Index expressions of a moving matmul tile and of its result (NKI up to 2.25)."""
    return mgrid[0 : tile_size.pmax, 0 : tile_size.gemm_moving_fmax]


def gemm_stationary_grid() -> Grid:
    """Index expressions of a stationary matmul tile (NKI up to 2.25)."""
    return mgrid[0 : tile_size.pmax, 0 : tile_size.gemm_stationary_fmax]


def __getattr__(name: str) -> NoReturn:
    raise missing("neuronxcc.nki.language.constants", name, globals())


__all__ = ["bfp16", "finfo", "fp32", "gemm_grid", "gemm_stationary_grid", "tile_size"]
