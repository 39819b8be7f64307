"""`widened-matmul`, `matmul-bf16`, `matmul-fp8` against kernels that are changed by hand."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.advice import EVERY_TARGET, check_pair, normal, suggestions

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

every_target = pytest.mark.parametrize("target", EVERY_TARGET)
BF16, FP8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3


@nki.jit
def cast_up(lhs_t, rhs, by_hand):
    """bfloat16 inputs are cast to float32 and multiplied; by hand they are multiplied."""
    count = lhs_t.shape[0]
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    dtype = lhs_t.dtype if by_hand else nl.float32
    for k in range(count):
        stationary = nl.ndarray((128, 128), dtype, buffer=nl.sbuf)
        moving = nl.ndarray((128, 512), dtype, buffer=nl.sbuf)
        narrow = nl.ndarray((128, 512), rhs.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=stationary, src=lhs_t[k])
        nisa.dma_copy(dst=narrow, src=rhs[k])
        nisa.tensor_copy(dst=moving, src=narrow)
        for i in range(8):
            nisa.nc_matmul(product, stationary, moving, accumulate=k + i > 0)
    result = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=product)
    nisa.dma_copy(dst=out, src=result)
    return out


@every_target
def test_inputs_that_are_cast_up(target: str) -> None:
    args = normal(16, 128, 128, dtype=BF16), normal(16, 128, 512, dtype=BF16)
    found = check_pair(cast_up, target, args, "widened-matmul")
    assert found.message == (
        "keep %stationary and %moving bfloat16: they are cast to float32 to be multiplied"
    )
    assert found.numbers == "rounding"


@nki.jit
def several_columns(lhs_t, rhs, by_hand):
    """A product that is bound by the Tensor Engine, and transposes its first input."""
    columns = rhs.shape[1]
    out = nl.ndarray((128, columns), nl.float32, buffer=nl.shared_hbm)
    rows = nl.ndarray((128, 128), lhs_t.dtype, buffer=nl.sbuf)
    moving = nl.ndarray((128, columns), rhs.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=rows, src=lhs_t)
    nisa.dma_copy(dst=moving, src=rhs)
    turned = nl.ndarray((128, 128), lhs_t.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=rows)
    stationary = nl.ndarray((128, 128), lhs_t.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=stationary, src=turned)
    result = nl.ndarray((128, columns), nl.float32, buffer=nl.sbuf)
    for n in range(0, columns, 512):
        part = slice(n, n + 512)
        product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
        for k in range(8):
            nisa.nc_matmul(product, stationary, moving[:, part], accumulate=k > 0)
        nisa.tensor_copy(dst=result[:, part], src=product)
    nisa.dma_copy(dst=out, src=result)
    return out


def narrowed(dtype, *shapes):
    return tuple(normal(*shape).astype(dtype) for shape in shapes)


@every_target
def test_float32_as_bfloat16(target: str) -> None:
    shapes = (128, 128), (128, 4096)
    args = narrowed(np.float32, *shapes)
    found = check_pair(
        several_columns, target, args, "matmul-bf16", hand_args=narrowed(BF16, *shapes)
    )
    assert found.message == "multiply %stationary and %moving as bfloat16, not float32"
    assert found.reasons == ("with rhs as bfloat16",)
    assert found.numbers == "change"


@nki.jit
def much_data(lhs_t, rhs, by_hand):
    """A product that is bound by its loads."""
    count = rhs.shape[0]
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    stationary = nl.ndarray((128, 128), lhs_t.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=stationary, src=lhs_t)
    for k in range(count):
        moving = nl.ndarray((128, 8, 512), rhs.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=moving, src=rhs[k])
        for i in range(8):
            nisa.nc_matmul(product, stationary, moving[:, i], accumulate=k + i > 0)
    result = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=product)
    nisa.dma_copy(dst=out, src=result)
    return out


@pytest.mark.parametrize("target", EVERY_TARGET[1:])
def test_bfloat16_as_float8(target: str) -> None:
    shapes = (128, 128), (8, 128, 8, 512)
    args = narrowed(BF16, *shapes)
    found = check_pair(much_data, target, args, "matmul-fp8", hand_args=narrowed(FP8, *shapes))
    assert found.message == "multiply %stationary and %moving as float8_e4m3, not bfloat16"


@nki.jit
def returned(x):
    """The multiplied tile is also returned: its dtype does not change."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    for k in range(64):
        nisa.nc_matmul(product, tile[:, :128], tile, accumulate=k > 0)
    nisa.tensor_copy(dst=tile, src=product)
    nisa.dma_copy(dst=out, src=tile)
    return out


def test_results_keep_their_type() -> None:
    assert not suggestions(returned, "trn2", (normal(128, 512),), "matmul-bf16")
