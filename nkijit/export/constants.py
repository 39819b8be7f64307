"""Constant tensors as expressions: short NumPy expressions, or otherwise their bytes as text."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np

from nkijit.dialects.attributes import string_source
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.tiles import info_of
from nkijit.export.layout import INDENT, WIDTH
from nkijit.export.names import Names
from nkijit.passes.numerics.storage import storage

_Array = np.ndarray[Any, Any]
_FEW = 64
"""The maximum number of elements that are written as a list."""


def constant_source(op: ConstantOp, data: dict[str, str], names: Names) -> str:
    """Return the expression of an array with the elements of a constant.

    Args:
        op: the constant.
        data: receives the bytes of the constant as text, by the name that the expression uses.
        names: the names that are in use.
    """
    info = info_of(op.result)
    array = np.frombuffer(op.data.data, storage(info.dtype)).reshape(info.shape)
    dtype = _dtype_source(info.dtype)
    # Packed numbers are only known as bits.
    forms = () if info.dtype.kind is Kind.packed else _short_forms(array, dtype)
    for source, value in forms:
        if value.tobytes() == array.tobytes():
            return source
    text = base64.b64encode(zlib.compress(op.data.data, 9)).decode()
    name = next((known for known, other in data.items() if other == text), None)
    if name is None:
        name = names.of(f"{op.result.name_hint or 'constant'}_data".upper(), "DATA")
        data[name] = text
    buffer = f"zlib.decompress(base64.b64decode({name}))"
    return f"np.ndarray({info.shape}, dtype={dtype}, buffer={buffer})"


def _dtype_source(dtype: DType) -> str:
    if dtype.kind is Kind.packed:
        return f'np.dtype([("{dtype.name}", np.uint{dtype.bits})])'
    name = "bool_" if dtype.name == "bool_" else storage(dtype).name
    is_numpy = np.dtype(storage(dtype)).type.__module__ == "numpy"
    return f"{'np' if is_numpy else 'ml_dtypes'}.{name}"


def _short_forms(array: _Array, dtype: str) -> Iterator[tuple[str, _Array]]:
    """Yield candidates: a short NumPy expression, and the array that it creates."""
    shape, kind = array.shape, array.dtype
    if len(shape) == 2 and shape[0] == shape[1]:
        yield f"np.eye({shape[0]}, dtype={dtype})", np.eye(shape[0]).astype(kind)
    first = float(array.reshape(-1)[0])
    if isfinite(first):
        value = int(first) if kind.kind in "biu" else first
        yield f"np.full({shape}, {value!r}, dtype={dtype})", np.full(shape, value, kind)
    size = array.size
    reshape = "" if len(shape) == 1 else f".reshape({shape})"
    yield f"np.arange({size}, dtype={dtype}){reshape}", np.arange(size).astype(kind)
    if size <= _FEW and np.all(np.isfinite(array.astype(np.float64))):
        numbers = array.tolist()
        yield f"np.array({numbers!r}, dtype={dtype})", np.array(numbers, dtype=kind)


def data_lines(name: str, text: str) -> list[str]:
    """Return the lines of the statement that defines a constant's bytes."""
    width = WIDTH - len(INDENT) - 2
    pieces = [text[at : at + width] for at in range(0, len(text), width)]
    if len(pieces) == 1:
        return [f"{name} = {string_source(text)}"]
    return [f"{name} = (", *(f"{INDENT}{string_source(piece)}" for piece in pieces), ")"]
