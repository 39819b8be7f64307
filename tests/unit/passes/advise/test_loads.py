"""`repeated-load`: the predicted time of advice equals that of the kernel changed by hand."""

from __future__ import annotations

import pytest
from support.advice import EVERY_TARGET, check_pair, normal, suggestions

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

every_target = pytest.mark.parametrize("target", EVERY_TARGET)


def load(source):
    tile = nl.ndarray(source.shape, source.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=source)
    return tile


@nki.jit
def tiled_matmul(lhs_t, rhs, by_hand):
    """Each tile of both inputs is loaded for each tile of the result; by hand those of rhs once."""
    inner, rows = lhs_t.shape
    columns = rhs.shape[1]
    out = nl.ndarray((rows, columns), lhs_t.dtype, buffer=nl.shared_hbm)
    parts = [slice(k, k + 128) for k in range(0, inner, 128)]
    kept = {}
    if by_hand:
        for n in range(0, columns, 512):
            for i in range(len(parts)):
                kept[n, i] = load(rhs[parts[i], n : n + 512])
    for m in range(0, rows, 128):
        for n in range(0, columns, 512):
            product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
            for i in range(len(parts)):
                stationary = nl.ndarray((128, 128), lhs_t.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=stationary, src=lhs_t[parts[i], m : m + 128])
                if by_hand:
                    moving = kept[n, i]
                else:
                    moving = nl.ndarray((128, 512), rhs.dtype, buffer=nl.sbuf)
                    nisa.dma_copy(dst=moving, src=rhs[parts[i], n : n + 512])
                nisa.nc_matmul(product, stationary, moving, accumulate=i > 0)
            result = nl.ndarray((128, 512), lhs_t.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=product)
            nisa.dma_copy(dst=out[m : m + 128, n : n + 512], src=result)
    return out


@every_target
def test_a_matmul_that_loads_its_tiles_again(target: str) -> None:
    args = normal(512, 512), normal(512, 1024)
    found = check_pair(tiled_matmul, target, args, "repeated-load", "%moving")
    assert found.message == "hoist the load of %moving out of the loop over m"
    assert found.reasons == ("24 loads of 32 bring bytes that SBUF held before: 6 MiB of HBM",)
    assert found.numbers == "same"
    assert found.compiled_after is not None
    assert not found.by_compiler
    both = suggestions(tiled_matmul, target, (*args, False), "repeated-load")
    (found,) = (one for one in both if "%stationary" in one.message)
    assert found.message == "hoist the load of %stationary out of the loop over n"


@nki.jit
def refilled(x, scales, by_hand):
    """One buffer gets the same scales in front of each block."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    scale = nl.ndarray(scales.shape, scales.dtype, buffer=nl.sbuf)
    if by_hand:
        nisa.dma_copy(dst=scale, src=scales)
    for i in range(x.shape[0] // 128):
        if not by_hand:
            nisa.dma_copy(dst=scale, src=scales)
        tile = load(x[i * 128 : (i + 1) * 128])
        nisa.tensor_tensor(tile, tile, scale, nl.multiply)
        nisa.dma_copy(dst=out[i * 128 : (i + 1) * 128], src=tile)
    return out


@every_target
def test_a_buffer_that_is_filled_with_the_same(target: str) -> None:
    args = normal(1024, 1024), normal(128, 1024)
    found = check_pair(refilled, target, args, "repeated-load")
    assert found.message == "hoist the load of %scale out of the loop over i"


@nki.jit
def in_parts(x, weights, by_hand):
    """A tile is put together of two loads, for each block."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    kept = None
    for i in range(x.shape[0] // 128):
        if kept is None or not by_hand:
            kept = nl.ndarray((128, 2048), weights.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=kept[:, :1024], src=weights[0])
            nisa.dma_copy(dst=kept[:, 1024:], src=weights[1])
        tile = load(x[i * 128 : (i + 1) * 128])
        nisa.tensor_tensor(tile, tile, kept, nl.multiply)
        nisa.dma_copy(dst=out[i * 128 : (i + 1) * 128], src=tile)
    return out


@every_target
def test_a_tile_of_several_loads(target: str) -> None:
    check_pair(in_parts, target, (normal(768, 2048), normal(2, 128, 1024)), "repeated-load")


@nki.jit
def on_the_device(x, by_hand):
    """A loop on the device loads the same in each iteration."""
    out = nl.ndarray((8, *x.shape), x.dtype, buffer=nl.shared_hbm)
    kept = load(x) if by_hand else None
    for i in nl.dynamic_range(8):
        tile = kept if by_hand else load(x)
        result = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(result, tile, nl.add, 1.0)
        nisa.dma_copy(dst=out[i], src=result)
    return out


@every_target
def test_a_loop_on_the_device(target: str) -> None:
    check_pair(on_the_device, target, (normal(128, 2048),), "repeated-load")


@nki.jit
def written_between(x):
    """The reloaded data was written in between."""
    for i in range(4):
        tile = load(x)
        nisa.tensor_scalar(tile, tile, nl.add, float(i))
        nisa.dma_copy(dst=x, src=tile)


def test_written_data_is_not_a_repeated_load() -> None:
    assert not suggestions(written_between, "trn2", (normal(128, 2048),), "repeated-load")


@nki.jit
def exchanged(x):
    """Between the two loads the other core has written."""
    both = nl.ndarray((2, 128, 2048), x.dtype, buffer=nl.shared_hbm)
    out = nl.ndarray((2, 128, 2048), x.dtype, buffer=nl.shared_hbm)
    tile = load(x)
    for _ in range(4):
        nisa.dma_copy(dst=both[nl.program_id(0)], src=tile)
        nisa.core_barrier(both, (0, 1))
        tile = load(both[1 - nl.program_id(0)])
        nisa.core_barrier(both, (0, 1))
    nisa.dma_copy(dst=out[nl.program_id(0)], src=tile)
    return out


def test_data_written_by_the_other_core_is_not_a_repeated_load() -> None:
    traced = exchanged[2].for_target("trn2").trace(normal(128, 2048))
    assert not traced.advice().suggestions
    assert not [d for d in traced.diagnostics if d.rule.id == "repeated-load"]


@nki.jit
def too_much(x):
    """All slices together are twice as large as SBUF."""
    out = nl.ndarray((2, *x.shape), x.dtype, buffer=nl.shared_hbm)
    for j in range(2):
        for i in range(x.shape[0]):
            tile = load(x[i])
            result = nl.ndarray(tile.shape, x.dtype, buffer=nl.sbuf)
            nisa.tensor_scalar(result, tile, nl.add, float(j))
            nisa.dma_copy(dst=out[j, i], src=result)
    return out


def test_tiles_that_do_not_fit_are_kept_in_part() -> None:
    (found,) = suggestions(too_much, "trn2", (normal(24, 128, 4096),), "repeated-load")
    assert found.message == "hoist the load of %tile out of the loop over j, for 6 of 24 slices"
