"""Tensors of constant data: shared_constant, shared_identity_matrix."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nkijit import isa
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.host.array_files import load_array
from nkijit.language.creation import allocate
from nkijit.language.tiles import expect_tile
from nkijit.passes.numerics.storage import dtype_of_array, is_plain, storage
from nkijit.tracing.annotations import DTypeLike
from nkijit.tracing.checks import dtype_named, integer
from nkijit.tracing.dtype_words import DTYPE_HINT
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import Tracer, tracer_for

_Array = npt.NDArray[Any]

_SUPPORTED = (
    "float32",
    "float16",
    "bfloat16",
    "int32",
    "int16",
    "int8",
    "uint32",
    "uint16",
    "uint8",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e8m0fnu",
    "float8_e5m2_x4",
    "float8_e4m3fn_x4",
    "float4_e2m1fn_x4",
)
"""The data types of constants that the reference lists and NumPy can represent.

The reference also lists tfloat32, which no NumPy dtype can represent.
"""


def shared_constant(constant: npt.NDArray[Any] | str | Path) -> NkiTensor:
    """A tensor in shared HBM that holds constant data and is never written.

    The data becomes a part of the kernel. Equal constants are one tensor.

    Args:
        constant: a NumPy array, or the path of a `.npy` file; a file is read while tracing, and
            a kernel is traced again when its file has changed.

    Example:

        table = nl.shared_constant(np.arange(512, dtype=np.float32))

    Source: NKI API reference, nki.language.shared_constant.
    """
    call = "nl.shared_constant"
    tracer = tracer_for(call)
    value: Any = constant
    if isinstance(value, (str, os.PathLike)):
        value = _load(tracer, call, Path(cast(Any, value)))
    if not isinstance(value, np.ndarray):
        tracer.wrong_argument(call, "constant", "a NumPy array or the path of a .npy file", value)
    array = cast(_Array, value)
    dtype = dtype_of_array(array)
    if dtype is None or dtype.name not in _SUPPORTED:
        tracer.fail(
            ARGUMENT,
            call,
            f"'constant': expected elements of {', '.join(_SUPPORTED)}, got {array.dtype}",
            "convert the array, e.g. with .astype(np.float32)",
        )
    if array.ndim == 0 or array.size == 0:
        tracer.fail(
            ARGUMENT, call, f"'constant': expected at least one element, got shape {array.shape}"
        )
    return _constant(tracer, array, dtype)


def shared_identity_matrix(
    n: int, dtype: DTypeLike = "uint8", dst: NkiTensor | None = None
) -> NkiTensor:
    """An identity matrix in SBUF, copied from one shared constant per size and data type.

    Args:
        n: rows and columns, at most `nl.tile_size.pmax`.
        dtype: data type of the elements.
        dst: an (n, n) tile in SBUF to write and return, instead of a new tile.

    Example:

        identity = nl.shared_identity_matrix(128, nl.bfloat16)

    The reference names `dst` without describing it; its data type has to be `dtype`.
    Source: NKI API reference, nki.language.shared_identity_matrix.
    """
    call = "nl.shared_identity_matrix"
    tracer = tracer_for(call)
    n = integer(call, "n", n, 1, tracer.target.pmax)
    element = dtype_named(call, "dtype", dtype)
    if dst is None:
        tile = allocate(call, (n, n), dtype, MemoryRegion.sbuf, "")
    else:
        tile = expect_tile(call, "dst", dst)
    if tile.shape != (n, n) or tile.dtype != element.name:
        tracer.wrong_argument(call, "dst", f"a tile of shape {(n, n)} and type {element.name}", dst)
    if element.kind is Kind.packed:
        message = f"'dtype': {element.name} is packed, it has no 1"
        tracer.fail(ARGUMENT, call, message, DTYPE_HINT)
    isa.dma_copy(tile, _constant(tracer, np.eye(n).astype(storage(element)), element, "identity"))
    return tile


def _load(tracer: Tracer, call: str, path: Path) -> _Array:
    try:
        tracer.reads(path)
        return load_array(path)
    except (OSError, ValueError) as error:
        message = f"'constant': cannot read {str(path)!r}: {error}"
        tracer.fail(ARGUMENT, call, message, "pass an array, or a file that numpy.save writes")


def _constant(tracer: Tracer, array: _Array, dtype: DType, name: str = "") -> NkiTensor:
    if not is_plain(array.dtype):
        array = array.view(storage(dtype))
    data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    return NkiTensor(array.shape, dtype.name, tracer.data(data, array.shape, dtype, name))


__all__ = ["shared_constant", "shared_identity_matrix"]
