"""Matrix products and transposes of whole tiles, implemented with instructions."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.dialects.declare.rules.operands import copied_before
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.rule_texts.operands import ARGUMENT, BUFFER
from nkijit.dialects.rule_texts.shapes import MATMUL_SHAPE, MATMUL_TILE
from nkijit.dialects.spelling import numbered
from nkijit.language.buffers import is_hbm, psum, sbuf
from nkijit.language.creation import allocate
from nkijit.language.dtypes import float32
from nkijit.tracing.annotations import DTypeLike
from nkijit.tracing.checks import dtype_named, flag
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import Tracer, tracer_for

_DMA_ITEMSIZES = (2, 4)
"""The sizes of elements that DMA transposes, in bytes."""


def matmul(x: NkiTensor, y: NkiTensor, transpose_x: bool = False) -> NkiTensor:
    """`x @ y`, or `x.T @ y` with `transpose_x`, as a new float32 tile in PSUM.

    The Tensor Engine takes x with the contraction along the partitions: without `transpose_x`, x is
    transposed on the Tensor Engine first.

    Args:
        x: (M, K) tile in SBUF, or (K, M) with `transpose_x`; both at most 128.
        y: (K, N) tile in SBUF; N is at most 512.
        transpose_x: x is the transpose of the left operand.

    Example:

        product = nl.matmul(weights, bf16, transpose_x=True)

    Source: NKI API reference, nki.language.matmul.
    """
    call = "nl.matmul"
    tracer = tracer_for(call)
    for name, value in (("x", x), ("y", y)):
        _check_matrix(tracer, call, name, value, (sbuf,))
    transpose_x = flag(call, "transpose_x", transpose_x)
    rows, columns = x.shape
    contracted, width = y.shape
    if (rows if transpose_x else columns) != contracted:
        kind = "partitions" if transpose_x else "elements per partition"
        tracer.fail(
            MATMUL_SHAPE,
            call,
            f"'x' has {rows if transpose_x else columns} {kind} to contract with the "
            f"{numbered(contracted, 'partition')} of 'y'",
            help_for_product(x.shape, y.shape, transpose_x),
        )
    target = tracer.target
    for name, size, limit in (
        ("x", columns, target.gemm_stationary_fmax),
        ("y", width, target.gemm_moving_fmax),
    ):
        if size > limit:
            tracer.fail(
                MATMUL_TILE,
                call,
                f"'{name}' has {numbered(size, 'column')}, at most {limit} are possible",
            )
    stationary = x
    if not transpose_x:
        stationary = allocate(call, (columns, rows), x.dtype, sbuf, "")
        isa.tensor_copy(stationary, transpose(x))
    product = allocate(call, (stationary.shape[1], width), float32, psum, "")
    isa.nc_matmul(product, stationary, y, accumulate=False)
    return product


def transpose(x: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """Transpose a 2-D tile into a new tile in PSUM.

    The Tensor Engine transposes tiles in SBUF. A tile in PSUM is copied to SBUF first. So is a tile
    in SBUF if its data type differs from `dtype`.

    Args:
        x: (P, F) tile in SBUF or PSUM, at most 128x128.
        dtype: data type of the result, by default that of `x`.

    Example:

        transposed = nl.transpose(x[:, 0:128])

    Source: NKI API reference, nki.language.transpose.
    """
    call = "nl.transpose"
    tracer = tracer_for(call)
    _check_matrix(tracer, call, "x", x, (sbuf, psum))
    wanted = x.dtype if dtype is None else dtype_named(call, "dtype", dtype).name
    source = x
    if x.buffer is not sbuf or wanted != x.dtype:
        source = allocate(call, x.shape, wanted, sbuf, "")
        isa.tensor_copy(source, x)
    result = allocate(call, (x.shape[1], x.shape[0]), wanted, psum, "")
    isa.nc_transpose(result, source, engine=isa.tensor_engine)
    return result


def load_transpose2d(src: NkiTensor, dtype: DTypeLike | None = None) -> NkiTensor:
    """Load the transpose of a 2-D tensor in HBM: a new tile in SBUF.

    DMA transposes elements of 2 bytes, and integers of 4. Elements of other sizes are copied one by
    one. The Tensor Engine transposes float32, 128 rows at a time, as `nc_transpose` does: on
    NeuronCore-v2 by a product with the identity matrix, which keeps finite numbers only. The source
    is published busy times and HBM bytes of kernels with such loads.

    Args:
        src: (F, P) tensor in HBM, P at most 128.
        dtype: data type of the result, by default that of `src`.

    Example:

        tile = nl.load_transpose2d(hbm[0:128, 0:128])

    Source: NKI API reference, nki.language.load_transpose2d.
    """
    call = "nl.load_transpose2d"
    tracer = tracer_for(call)
    _check_matrix(tracer, call, "src", src, (MemoryRegion.private_hbm, MemoryRegion.shared_hbm))
    wanted = src.dtype if dtype is None else dtype_named(call, "dtype", dtype).name
    shape = (src.shape[1], src.shape[0])
    result = allocate(call, shape, wanted, sbuf, "")
    if as_dtype(src.dtype).itemsize not in _DMA_ITEMSIZES:
        isa.dma_copy(result, src.permute((1, 0)))
        return result
    if src.dtype == float32:
        for start in range(0, src.shape[0], tracer.target.pmax):
            end = min(start + tracer.target.pmax, src.shape[0])
            plain = allocate(call, (end - start, src.shape[1]), src.dtype, sbuf, "")
            isa.dma_copy(plain, src[start:end, :])
            isa.tensor_copy(result[:, start:end], transpose(plain))
        return result
    loaded = result
    if wanted != src.dtype:
        loaded = allocate(call, shape, src.dtype, sbuf, "")
    isa.dma_transpose(loaded, src)
    if loaded is not result:
        isa.tensor_copy(result, loaded)
    return result


def _check_matrix(
    tracer: Tracer, call: str, name: str, value: Any, buffers: tuple[MemoryRegion, ...]
) -> None:
    if not isinstance(value, NkiTensor):
        tracer.wrong_argument(call, name, "a tensor", value)
    if value.buffer not in buffers:
        legal = "hbm" if is_hbm(buffers[0]) else " or ".join(buffer.value for buffer in buffers)
        message = f"'{name}' must be in {legal}, it is in {value.buffer.value}"
        tracer.fail(BUFFER, call, message, copied_before(value.name, buffers, value.buffer))
    if value.ndim != 2:
        tracer.fail(
            ARGUMENT,
            call,
            f"'{name}': expected two dimensions, got shape {value.shape}",
            "merge the free dimensions with flatten_dims",
        )


def help_for_product(x: tuple[int, ...], y: tuple[int, ...], transpose_x: bool) -> str:
    """Return the help for operands of nl.matmul with different contracted dimensions."""
    rows, columns = x
    if transpose_x and columns == y[0]:
        return "'x' has the contracted dimension in its columns: leave transpose_x out"
    if not transpose_x and rows == y[0]:
        return "'x' has the contracted dimension in its partitions: pass transpose_x=True"
    if (rows if transpose_x else columns) == y[1]:
        return "'y' has the contracted dimension in its columns: transpose it with nl.transpose"
    return "slice both to the same number of contracted rows: 'x' (M, K), 'y' (K, N)"


__all__ = ["load_transpose2d", "matmul", "transpose"]
