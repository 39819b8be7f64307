"""`loop-order`: the predicted time of advice equals that of the kernel with exchanged loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.advice import EVERY_TARGET, changed, check_pair, normal, suggestions

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import kernels_of

every_target = pytest.mark.parametrize("target", EVERY_TARGET)


def load(source):
    tile = nl.ndarray(source.shape, source.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=source)
    return tile


def store(target, product):
    result = nl.ndarray(product.shape, target.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=product)
    nisa.dma_copy(dst=target, src=result)


def accumulator():
    return nl.ndarray((128, 512), nl.float32, buffer=nl.psum)


@nki.jit
def stationary_of_each(lhs_t, rhs, by_hand):
    """Loops over m, n, k; by hand over m, k, n: a stationary tile stays for all columns."""
    inner, rows = lhs_t.shape
    columns = rhs.shape[1]
    out = nl.ndarray((rows, columns), lhs_t.dtype, buffer=nl.shared_hbm)
    for m in range(0, rows, 128):
        if by_hand:
            products = [accumulator() for _ in range(0, columns, 512)]
            for k in range(0, inner, 128):
                stationary = load(lhs_t[k : k + 128, m : m + 128])
                for n in range(0, columns, 512):
                    moving = load(rhs[k : k + 128, n : n + 512])
                    nisa.nc_matmul(products[n // 512], stationary, moving, accumulate=k > 0)
            for n in range(0, columns, 512):
                store(out[m : m + 128, n : n + 512], products[n // 512])
            continue
        for n in range(0, columns, 512):
            product = accumulator()
            for k in range(0, inner, 128):
                stationary = load(lhs_t[k : k + 128, m : m + 128])
                moving = load(rhs[k : k + 128, n : n + 512])
                nisa.nc_matmul(product, stationary, moving, accumulate=k > 0)
            store(out[m : m + 128, n : n + 512], product)
    return out


@every_target
def test_a_loop_inside_the_one_in_it(target: str) -> None:
    args = normal(512, 256), normal(512, 1536)
    found = check_pair(stationary_of_each, target, args, "loop-order", "loop over n")
    assert found.message == "put the loop over n inside the loop over k"
    assert found.reasons == (
        "16 loads bring bytes that the previous iteration has: 1 MiB of HBM",
        "stationary tiles are loaded 8 times, not 24",
        "other instructions of its body get their own loop over n",
    )
    assert found.numbers == "same"
    own, by_hand = (stationary_of_each.trace(*args, hand).run(*args) for hand in (False, True))
    assert [a.tobytes() for a in own] == [a.tobytes() for a in by_hand]


@nki.jit
def moving_of_each(lhs_t, rhs, by_hand):
    """Loops over m, n, k; by hand over n, k, m."""
    inner, rows = lhs_t.shape
    columns = rhs.shape[1]
    out = nl.ndarray((rows, columns), lhs_t.dtype, buffer=nl.shared_hbm)
    if by_hand:
        for n in range(0, columns, 512):
            products = [accumulator() for _ in range(0, rows, 128)]
            for k in range(0, inner, 128):
                moving = load(rhs[k : k + 128, n : n + 512])
                for m in range(0, rows, 128):
                    stationary = load(lhs_t[k : k + 128, m : m + 128])
                    nisa.nc_matmul(products[m // 128], stationary, moving, accumulate=k > 0)
            for m in range(0, rows, 128):
                store(out[m : m + 128, n : n + 512], products[m // 128])
        return out
    for m in range(0, rows, 128):
        for n in range(0, columns, 512):
            product = accumulator()
            for k in range(0, inner, 128):
                stationary = load(lhs_t[k : k + 128, m : m + 128])
                moving = load(rhs[k : k + 128, n : n + 512])
                nisa.nc_matmul(product, stationary, moving, accumulate=k > 0)
            store(out[m : m + 128, n : n + 512], product)
    return out


@every_target
def test_a_loop_inside_two_others(target: str) -> None:
    args = normal(512, 512), normal(512, 1024)
    found = check_pair(moving_of_each, target, args, "loop-order", "loop over m")
    assert found.message == "put the loop over m inside the loops over n, k"
    assert found.reasons == (
        "24 loads bring bytes that the previous iteration has: 6 MiB of HBM",
        "other instructions of its body get their own loop over m",
    )


@nki.jit
def one_buffer(lhs_t, rhs):
    """Tiles that are declared once are in the way, until they are several."""
    inner, rows = lhs_t.shape
    columns = rhs.shape[1]
    out = nl.ndarray((rows, columns), lhs_t.dtype, buffer=nl.shared_hbm)
    stationary = nl.ndarray((128, 128), lhs_t.dtype, buffer=nl.sbuf)
    moving = nl.ndarray((128, 512), rhs.dtype, buffer=nl.sbuf)
    product, result = accumulator(), nl.ndarray((128, 512), lhs_t.dtype, buffer=nl.sbuf)
    for m in range(0, rows, 128):
        for n in range(0, columns, 512):
            for k in range(0, inner, 128):
                nisa.dma_copy(dst=stationary, src=lhs_t[k : k + 128, m : m + 128])
                nisa.dma_copy(dst=moving, src=rhs[k : k + 128, n : n + 512])
                nisa.nc_matmul(product, stationary, moving, accumulate=k > 0)
            nisa.tensor_copy(dst=result, src=product)
            nisa.dma_copy(dst=out[m : m + 128, n : n + 512], src=result)
    return out


@every_target
def test_buffers_become_tiles_of_their_own(target: str) -> None:
    args = normal(512, 256), normal(512, 1536)
    kernels = kernels_of(one_buffer.for_target(target).trace(*args).module)
    assert "loop-order" in {kind for kind, _ in changed(kernels)}
    found = suggestions(one_buffer, target, args, "loop-order")
    assert "put the loop over n inside the loop over k" in {s.message for s in found}


@nki.jit
def many_results(lhs_t, rhs):
    """More results than PSUM has room for."""
    inner, rows = lhs_t.shape
    columns = rhs.shape[1]
    out = nl.ndarray((rows, columns), nl.float32, buffer=nl.shared_hbm)
    for m in range(0, rows, 128):
        for n in range(0, columns, 512):
            product = accumulator()
            for k in range(0, inner, 128):
                stationary = load(lhs_t[k : k + 128, m : m + 128])
                moving = load(rhs[k : k + 128, n : n + 512])
                nisa.nc_matmul(product, stationary, moving, accumulate=k > 0)
            store(out[m : m + 128, n : n + 512], product)
    return out


def test_a_few_at_a_time_where_there_is_no_room_for_all() -> None:
    args = normal(256, 256), normal(256, 6144)
    found = suggestions(many_results, "trn2", args, "loop-order")
    assert [s.message for s in found if "loop over n" in s.message] == [
        "put the loop over n inside the loop over k, 4 iterations at a time"
    ]


@nki.jit
def rewritten(x, weights):
    """Each iteration of the outer loop needs the results of the previous one for all rows."""
    rows = x.shape[0]
    for _ in range(4):
        for i in range(0, rows, 128):
            weight = load(weights[i : i + 128])
            tile = load(x[i : i + 128])
            nisa.tensor_tensor(tile, tile, weight, nl.multiply)
            # The next rows as well: they are read by the iteration that follows.
            nisa.dma_copy(dst=x[i : i + 128], src=tile)
            nisa.dma_copy(dst=x[(i + 128) % rows : (i + 128) % rows + 128], src=tile)
    return x


@nki.jit
def independent(x, weights):
    """The same on rows that no other iteration needs: a weight can be reused for all steps."""
    out = nl.ndarray((4, *x.shape[1:]), x.dtype, buffer=nl.shared_hbm)
    for step in range(4):
        for i in range(0, x.shape[1], 128):
            weight = load(weights[i : i + 128])
            tile = load(x[step, i : i + 128])
            nisa.tensor_tensor(tile, tile, weight, nl.multiply)
            nisa.dma_copy(dst=out[step, i : i + 128], src=tile)
    return out


def test_results_that_the_next_iteration_needs() -> None:
    assert not suggestions(rewritten, "trn2", (normal(512, 1024), normal(512, 1024)), "loop-order")
    args = normal(4, 512, 2048), normal(512, 2048)
    (found,) = suggestions(independent, "trn2", args, "loop-order")
    assert found.message == "put the loop over step inside the loop over i"


def test_an_order_that_saves_nothing_is_not_tried() -> None:
    @nki.jit(platform_target="trn2")
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        for i in range(4):
            for j in range(4):
                tile = load(x[i, j])
                nisa.activation(tile, nl.exp, tile)
                nisa.dma_copy(dst=out[i, j], src=tile)
        return out

    traced = kernel.trace(np.zeros((4, 4, 128, 512), np.float32))
    assert "loop-order" not in {kind for kind, _ in changed(kernels_of(traced.module))}
