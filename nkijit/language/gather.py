"""Gathering by index."""

from __future__ import annotations

from typing import Any, cast

from nkijit import isa
from nkijit.dialects.python_values import as_index, one_line
from nkijit.dialects.rule_texts.operands import UNSUPPORTED
from nkijit.language.buffers import sbuf
from nkijit.language.creation import allocate
from nkijit.language.memory import converted
from nkijit.tracing.annotations import DTypeLike
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def gather_flattened(
    data: NkiTensor, indices: NkiTensor, axis: int = 0, dtype: DTypeLike | None = None
) -> NkiTensor:
    """The elements of each partition of `data` at `indices`, as a new tile in SBUF.

    Args:
        data: (P, …) tile in SBUF; its free dimensions count as flattened.
        indices: (P, …) uint32 tile in SBUF; its shape is the result's.
        axis: 0, the only dimension after free dimensions are flattened.
        dtype: dtype of the result, by default that of `data`.

    Example:

        gathered = nl.gather_flattened(x, positions)

    The reference calls `axis` the free dimension, with 0 as the default; other axes are refused.
    Source: NKI API reference, nki.language.gather_flattened.
    """
    call = "nl.gather_flattened"
    tracer = tracer_for(call)
    for name, value in (("data", data), ("indices", indices)):
        if not isinstance(cast(Any, value), NkiTensor):
            tracer.wrong_argument(call, name, "a tile", value)
    if as_index(axis) != 0:
        tracer.fail(
            UNSUPPORTED, call, f"'axis': the flattened dimension is axis 0, got {one_line(axis)}"
        )
    result = allocate(call, indices.shape, data.dtype, sbuf, "")
    isa.nc_n_gather(result, data, indices)
    return converted(call, result, dtype)


__all__ = ["gather_flattened"]
