"""`merged-dma`: the predicted time of advice equals that of the kernel changed by hand."""

from __future__ import annotations

import pytest
from support.advice import EVERY_TARGET, check_pair, normal, suggestions

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

every_target = pytest.mark.parametrize("target", EVERY_TARGET)
since_trn2 = pytest.mark.parametrize("target", EVERY_TARGET[1:])


@nki.jit
def short_rows(x, by_hand):
    """Rows of 256 bytes, one block of columns at a time; by hand 8 blocks at a time."""
    rows, columns = x.shape
    out = nl.ndarray((rows, 1), nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((rows, columns // 64), nl.float32, buffer=nl.sbuf)
    whole = nl.ndarray((rows, columns), x.dtype, buffer=nl.sbuf)
    for i in range(columns // 64):
        part = slice(i * 64, (i + 1) * 64)
        if by_hand:
            if i % 8 == 0:
                blocks = slice(i * 64, (i + 8) * 64)
                nisa.dma_copy(dst=whole[:, blocks], src=x[:, blocks])
            tile = whole[:, part]
        else:
            tile = nl.ndarray((rows, 64), x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[:, part])
        nisa.tensor_reduce(dst=sums[:, i : i + 1], op=nl.add, data=tile, axis=1)
    total = nl.ndarray((rows, 1), nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=sums, axis=1)
    nisa.dma_copy(dst=out, src=total)
    return out


@since_trn2
def test_loads_of_short_rows(target: str) -> None:
    found = check_pair(short_rows, target, (normal(128, 512),), "merged-dma")
    assert found.message == "load 8 slices of %tile with one DMA"
    assert found.reasons == ("8 DMAs of 32 KiB, with descriptors of 256 B, become 1",)


@nki.jit
def blocks_of_rows(x, by_hand):
    """Blocks of 128 rows are loaded and stored one by one; by hand all are loaded at once."""
    rows, columns = x.shape
    count = rows // 128
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    every = nl.ndarray((128, count, columns), x.dtype, buffer=nl.sbuf)
    if by_hand:
        pattern = [[columns, 128], [128 * columns, count], [1, columns]]
        nisa.dma_copy(dst=every, src=x.ap(pattern=pattern, offset=0))
    for i in range(count):
        block = slice(i * 128, (i + 1) * 128)
        if not by_hand:
            nisa.dma_copy(dst=every[:, i], src=x[block])
        result = nl.ndarray((128, columns), x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(result, every[:, i], nl.multiply, 2.0)
        nisa.dma_copy(dst=out[block], src=result)
    return out


@since_trn2
def test_parts_of_one_tile(target: str) -> None:
    args = (normal(1024, 64),)
    check_pair(blocks_of_rows, target, args, "merged-dma", "load 8 slices of %every")


@nki.jit
def rows_of_groups(x, weights, by_hand):
    """Weights of groups are loaded for each group of rows; by hand with a stride of 0."""
    rows, columns = x.shape
    groups, count = weights.shape[0], rows // weights.shape[0]
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    data, scale = (nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf) for _ in range(2))
    nisa.dma_copy(dst=data, src=x)
    if by_hand:
        pattern = [[0, count], [columns, groups], [1, columns]]
        nisa.dma_copy(dst=scale, src=weights.ap(pattern=pattern, offset=0))
    else:
        for i in range(count):
            nisa.dma_copy(dst=scale[i * groups : (i + 1) * groups], src=weights)
    nisa.tensor_tensor(dst=data, data1=data, data2=scale, op=nl.multiply)
    nisa.dma_copy(dst=out, src=data)
    return out


@since_trn2
@pytest.mark.parametrize("groups", [4, 32])
def test_rows_that_repeat(groups: int, target: str) -> None:
    args = (normal(128, 64), normal(groups, 64))
    check_pair(rows_of_groups, target, args, "merged-dma")


@nki.jit
def rows_of_blocks(x, by_hand):
    """Rows of a tile are loaded from every other block; by hand at once."""
    rows, columns = x.shape
    out = nl.ndarray((rows // 2, columns), x.dtype, buffer=nl.shared_hbm)
    data = nl.ndarray(out.shape, x.dtype, buffer=nl.sbuf)
    if by_hand:
        pattern = [[32 * columns, rows // 32], [columns, 16], [1, columns]]
        nisa.dma_copy(dst=data, src=x.ap(pattern=pattern, offset=0))
    else:
        for i in range(rows // 32):
            nisa.dma_copy(dst=data[i * 16 : (i + 1) * 16], src=x[i * 32 : i * 32 + 16])
    nisa.dma_copy(dst=out, src=data)
    return out


@since_trn2
def test_rows_of_distant_blocks(target: str) -> None:
    check_pair(rows_of_blocks, target, (normal(256, 64),), "merged-dma")


@nki.jit
def stored_one_by_one(x, at_once, by_hand):
    """Results are stored one by one; by hand several at once."""
    rows, columns = x.shape
    count = columns // 64
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    data = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=data, src=x)
    every = nl.ndarray((rows, columns), x.dtype, buffer=nl.sbuf)
    for i in range(count):
        part = slice(i * 64, (i + 1) * 64)
        result = every[:, part] if by_hand else nl.ndarray((rows, 64), x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(result, data[:, part], nl.multiply, float(i))
        if not by_hand:
            nisa.dma_copy(dst=out[:, part], src=result)
        elif (i + 1) % at_once == 0:
            parts = slice((i + 1 - at_once) * 64, (i + 1) * 64)
            nisa.dma_copy(dst=out[:, parts], src=every[:, parts])
    return out


@every_target
def test_stores(target: str) -> None:
    args = normal(128, 1024), 8 if target == "trn1" else 16
    found = check_pair(stored_one_by_one, target, args, "merged-dma")
    assert found.message == f"store {args[1]} slices of %result with one DMA"


@nki.jit
def read_between(x):
    """Each store is read back before the next one."""
    rows, columns = x.shape
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    carried = nl.ndarray((rows, 64), x.dtype, buffer=nl.sbuf)
    nisa.memset(carried, 0.0)
    for i in range(columns // 64):
        part = slice(i * 64, (i + 1) * 64)
        nisa.dma_copy(dst=out[:, part], src=carried)
        again = nl.ndarray((rows, 64), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=again, src=out[:, part])
        carried = nl.ndarray((rows, 64), x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(carried, again, nl.add, 1.0)
    return out


def test_dependent_transfers_are_not_merged() -> None:
    assert not suggestions(read_between, "trn2", (normal(128, 512),), "merged-dma")
