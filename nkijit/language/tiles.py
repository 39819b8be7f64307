"""Helpers of functions on tiles: results, temporaries and operands."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.python_values import as_float
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.language.creation import allocate
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def result(call: str, shape: tuple[int, ...], dtype: Any) -> NkiTensor:
    """Allocate the SBUF tile that `call` returns, named after the variable it is assigned to."""
    return allocate(call, shape, dtype, MemoryRegion.sbuf, "")


def temporary(
    hint: str,
    shape: tuple[int, ...],
    dtype: Any = "float32",
    region: MemoryRegion = MemoryRegion.sbuf,
) -> NkiTensor:
    """Allocate a tensor for an intermediate result; `hint` is its name in the IR."""
    element = as_dtype(dtype)
    storage = tracer_for(hint).allocate(shape, element, region, "", None)
    storage.value.name_hint = storage.name = hint
    return NkiTensor(shape, element.name, storage)


def is_number(value: Any) -> bool:
    """Return True for a value that instructions accept as a number."""
    return as_float(value) is not None


def expect_tile(call: str, argument: str, value: Any) -> NkiTensor:
    """Return `value` if it is a tile of at least two dimensions; else end the trace."""
    if not isinstance(value, NkiTensor):
        tracer_for(call).wrong_argument(call, argument, "a tile", value)
    if value.ndim < 2:
        tracer_for(call).fail(
            ARGUMENT,
            call,
            f"'{argument}': a tile has at least two dimensions, this tensor has shape "
            f"{value.shape}",
            "load it to SBUF with a partition dimension first",
        )
    return value


def in_sbuf(tile: NkiTensor) -> NkiTensor:
    """Return the tile if it is in SBUF, else a copy of it in SBUF."""
    if tile.buffer is not MemoryRegion.psum:
        return tile
    copied = temporary(f"{tile.name}_sbuf", tile.shape, tile.dtype)
    isa.tensor_copy(copied, tile)
    return copied


def is_column(tile: NkiTensor, data: NkiTensor) -> bool:
    """Return True for a tile of one element per partition, if `data` has several per partition."""
    return tile.shape[0] == data.shape[0] == tile.size < data.size
