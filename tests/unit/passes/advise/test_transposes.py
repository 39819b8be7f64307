"""`tensor-transpose`: the predicted time of advice equals that of the kernel changed by hand."""

from __future__ import annotations

import ml_dtypes
import pytest
from support.advice import EVERY_TARGET, check_pair, check_same_results, normal

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

every_target = pytest.mark.parametrize("target", EVERY_TARGET)
since_trn2 = pytest.mark.parametrize("target", EVERY_TARGET[1:])


def by_tensor_engine(x, turned):
    """128 rows at a time, all of them loaded by one DMA."""
    rows, columns = x.shape
    blocks = rows // 128
    straight = nl.ndarray((128, blocks, columns), x.dtype, buffer=nl.sbuf)
    pattern = [[columns, 128], [128 * columns, blocks], [1, columns]]
    nisa.dma_copy(dst=straight, src=x.ap(pattern=pattern, offset=0))
    for i in range(blocks):
        bank = nl.ndarray((columns, 128), x.dtype, buffer=nl.psum)
        nisa.nc_transpose(dst=bank, data=straight[:, i])
        nisa.tensor_copy(dst=turned[:, i * 128 : (i + 1) * 128], src=bank)


@nki.jit
def columns_one_by_one(x, by_hand):
    """A load whose rows are columns of HBM."""
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), x.dtype, buffer=nl.shared_hbm)
    turned = nl.ndarray((columns, rows), x.dtype, buffer=nl.sbuf)
    if by_hand:
        by_tensor_engine(x, turned)
    else:
        nisa.dma_copy(dst=turned, src=x.ap(pattern=[[1, columns], [columns, rows]], offset=0))
    nisa.dma_copy(dst=out, src=turned)
    return out


@every_target
def test_a_load_of_columns(target: str) -> None:
    found = check_pair(columns_one_by_one, target, (normal(512, 64),), "tensor-transpose")
    assert found.message == (
        "load the rows of %turned as they are, and transpose them with nc_transpose"
    )


@nki.jit
def by_dma(x, by_hand):
    """A dma_transpose."""
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), x.dtype, buffer=nl.shared_hbm)
    turned = nl.ndarray((columns, rows), x.dtype, buffer=nl.sbuf)
    if by_hand:
        by_tensor_engine(x, turned)
    else:
        nisa.dma_transpose(dst=turned, src=x)
    nisa.dma_copy(dst=out, src=turned)
    return out


def test_a_dma_transpose() -> None:
    """On trn1, where the DMA is the bottleneck."""
    check_pair(by_dma, "trn1", (normal(2048, 128, dtype=ml_dtypes.bfloat16),), "tensor-transpose")


@nki.jit
def column_loads(x, by_hand):
    """A load whose rows are columns of HBM; by hand a dma_transpose."""
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), x.dtype, buffer=nl.shared_hbm)
    turned = nl.ndarray((columns, rows), x.dtype, buffer=nl.sbuf)
    if by_hand:
        nisa.dma_transpose(dst=turned, src=x)
    else:
        nisa.dma_copy(dst=turned, src=x.ap(pattern=[[1, columns], [columns, rows]], offset=0))
    nisa.dma_copy(dst=out, src=turned)
    return out


@since_trn2
def test_a_load_of_columns_by_dma(target: str) -> None:
    found = check_pair(column_loads, target, (normal(512, 64),), "dma-transpose")
    assert found.message == "load %turned with dma_transpose"


@nki.jit
def loaded_then_transposed(x, by_hand):
    """A load, a transpose and a copy for each block; by hand a dma_transpose."""
    blocks = x.shape[0] // 128
    out = nl.ndarray((128, x.shape[0]), x.dtype, buffer=nl.shared_hbm)
    turned = nl.ndarray((128, x.shape[0]), x.dtype, buffer=nl.sbuf)
    for i in range(blocks):
        rows = slice(i * 128, (i + 1) * 128)
        if by_hand:
            nisa.dma_transpose(dst=turned[:, rows], src=x[rows])
            continue
        tile = nl.ndarray((128, 128), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[rows])
        bank = nl.ndarray((128, 128), x.dtype, buffer=nl.psum)
        nisa.nc_transpose(dst=bank, data=tile)
        nisa.tensor_copy(dst=turned[:, rows], src=bank)
    nisa.dma_copy(dst=out, src=turned)
    return out


@since_trn2
def test_tiles_transposed_after_their_load(target: str) -> None:
    args = (normal(512, 128, dtype=ml_dtypes.bfloat16),)
    found = check_pair(loaded_then_transposed, target, args, "dma-transpose")
    assert found.reasons == ("12 instructions become 4",)


@every_target
@pytest.mark.parametrize("kernel", [column_loads, loaded_then_transposed])
def test_bits_of_a_dma_are_the_same(kernel: nki.Kernel, target: str) -> None:
    x = normal(256, 128)
    traced = kernel.for_target(target).trace(x, False)
    assert "dma-transpose" in check_same_results(traced._kernels, [x])


@every_target
@pytest.mark.parametrize("kernel", [columns_one_by_one, by_dma])
def test_bits_are_the_same(kernel: nki.Kernel, target: str) -> None:
    x = normal(256, 64)
    traced = kernel.for_target(target).trace(x, False)
    assert "tensor-transpose" in check_same_results(traced._kernels, [x])
