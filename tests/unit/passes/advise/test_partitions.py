"""`partition-use`: the predicted time of advice equals that of the kernel changed by hand."""

from __future__ import annotations

from typing import Any

import pytest
from support.advice import (
    EVERY_TARGET,
    changed,
    check_pair,
    check_same_results,
    normal,
    suggestions,
)

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import kernels_of

every_target = pytest.mark.parametrize("target", EVERY_TARGET)


def load(source):
    tile = nl.ndarray(source.shape, source.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=source)
    return tile


@nki.jit
def softmax_of_few_rows(x, rows, by_hand):
    """Rows are independent; by hand 128 of them at a time."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    rows = 128 if by_hand else rows
    for i in range(0, x.shape[0], rows):
        tile = load(x[i : i + rows])
        largest = nl.ndarray((rows, 1), nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(largest, nl.maximum, tile, axis=1, negate=True)
        total = nl.ndarray((rows, 1), nl.float32, buffer=nl.sbuf)
        nisa.activation(
            tile, nl.exp, tile, bias=largest, reduce_op=nl.add, reduce_res=total,
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
        )  # fmt: skip
        nisa.reciprocal(total, total)
        nisa.tensor_scalar(tile, tile, nl.multiply, total)
        nisa.dma_copy(dst=out[i : i + rows], src=tile)
    return out


@every_target
@pytest.mark.parametrize("rows", [1, 16, 64])
def test_rows_are_taken_together(rows: int, target: str) -> None:
    args = (normal(128, 1024), rows)
    found = check_pair(softmax_of_few_rows, target, args, "partition-use")
    assert (
        found.message
        == f"do {128 // rows} iterations of the loop over i at once, on 128 partitions"
    )
    assert found.numbers == "same"
    own, by_hand = (softmax_of_few_rows.trace(*args, hand).run(args[0]) for hand in (False, True))
    assert [a.tobytes() for a in own] == [a.tobytes() for a in by_hand]


def test_it_computes_the_same() -> None:
    x = normal(160, 64)
    kernels = kernels_of(softmax_of_few_rows.for_target("trn2").trace(x, 16, False).module)
    assert "partition-use" in check_same_results(kernels, [x])


@nki.jit
def with_a_weight(x, weight, by_hand):
    """Weights of all iterations are loaded once, and computed with."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    rows = 128 if by_hand else 32
    scale, one = (nl.ndarray((rows, x.shape[1]), x.dtype, buffer=nl.sbuf) for _ in range(2))
    nisa.dma_copy(dst=scale, src=weight.ap([[0, rows], [1, x.shape[1]]]))
    nisa.memset(one, 1.0)
    nisa.tensor_tensor(scale, scale, one, nl.add)
    for i in range(0, x.shape[0], rows):
        tile = load(x[i : i + rows])
        for _ in range(2):
            nisa.tensor_tensor(tile, tile, scale, nl.multiply)
        nisa.dma_copy(dst=out[i : i + rows], src=tile)
    return out


@every_target
def test_tiles_that_all_iterations_read(target: str) -> None:
    args = normal(512, 1024), normal(1, 1024)
    found = check_pair(with_a_weight, target, args, "partition-use")
    assert found.message == "do 4 iterations of the loop over i at once, on 128 partitions"
    assert found.reasons == ("32 instructions, on 32 of 128 partitions, become 8",)
    kernels = kernels_of(with_a_weight.for_target(target).trace(*args, False).module)
    assert "partition-use" in check_same_results(kernels, args)


@nki.jit
def apart(x, by_hand):
    """Rows that do not follow each other: each iteration has its own DMAs, also by hand."""
    heads, rows = x.shape[1], x.shape[0]
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    together = heads if by_hand else 1
    for first in range(0, heads, together):
        tile = nl.ndarray((together * rows, x.shape[2]), x.dtype, buffer=nl.sbuf)
        for head in range(together):
            nisa.dma_copy(dst=tile[head * rows : (head + 1) * rows], src=x[:, first + head])
        for _ in range(4):
            nisa.activation(tile, nl.exp, tile)
        for head in range(together):
            nisa.dma_copy(dst=out[:, first + head], src=tile[head * rows : (head + 1) * rows])
    return out


@every_target
def test_rows_that_do_not_follow_each_other(target: str) -> None:
    args = (normal(16, 8, 2048),)
    found = check_pair(apart, target, args, "partition-use")
    assert found.message == "do 8 iterations of the loop over first at once, on 128 partitions"
    kernels = kernels_of(apart.for_target(target).trace(*args, False).module)
    assert "partition-use" in check_same_results(kernels, args)


@nki.jit
def products_of_few_rows(lhs_t, rhs):
    """A matmul writes its part of the partitions that are read out together."""
    out = nl.ndarray((lhs_t.shape[1], rhs.shape[1]), nl.float32, buffer=nl.shared_hbm)
    moving = load(rhs)
    for m in range(0, lhs_t.shape[1], 32):
        stationary = load(lhs_t[:, m : m + 32])
        product = nl.ndarray((32, rhs.shape[1]), nl.float32, buffer=nl.psum)
        nisa.nc_matmul(product, stationary, moving)
        tile = nl.ndarray(product.shape, nl.float32, buffer=nl.sbuf)
        nisa.activation(tile, nl.tanh, product)
        for _ in range(4):
            nisa.tensor_scalar(tile, tile, nl.add, 1.0)
        nisa.dma_copy(dst=out[m : m + 32], src=tile)
    return out


def test_instructions_that_cannot_be_merged_touch_their_part() -> None:
    args = normal(128, 1024), normal(128, 512)
    kernels = kernels_of(products_of_few_rows.for_target("trn2").trace(*args).module)
    assert "partition-use" in check_same_results(kernels, args)
    (found,) = suggestions(products_of_few_rows, "trn2", args, "partition-use")
    assert found.reasons == ("160 instructions, on 32 of 128 partitions, become 40",)


@nki.jit
def in_a_loop_on_the_device(x):
    """Iterations of a device loop are unchanged; the work of one is merged."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(x.shape[0]):
        for j in range(x.shape[1]):
            tile = load(x[0, j])
            for _ in range(4):
                nisa.activation(tile, nl.tanh, tile)
            nisa.dma_copy(dst=out[0, j], src=tile)
        tile = load(x[i, 0])
        nisa.dma_copy(dst=out[i, 0], src=tile)
    return out


def test_inside_of_a_loop_on_the_device() -> None:
    args = (normal(3, 8, 16, 512),)
    kernels = kernels_of(in_a_loop_on_the_device.for_target("trn2").trace(*args).module)
    assert "partition-use" in check_same_results(kernels, args)
    (found,) = suggestions(in_a_loop_on_the_device, "trn2", args, "partition-use")
    assert found.message == "do 8 iterations of the loop over j at once, on 128 partitions"


@nki.jit
def carried(x):
    """The next iteration of a device loop continues with the tile's contents."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tiles = [load(x[j]) for j in range(x.shape[0])]
    for _ in nl.dynamic_range(3):
        for j in range(x.shape[0]):
            nisa.activation(tiles[j], nl.tanh, tiles[j])
            nisa.dma_copy(dst=out[j], src=tiles[j])
    return out


def kinds(kernel: nki.Kernel, *args: Any) -> set[str]:
    traced = kernel.for_target("trn2").trace(*args)
    return {kind for kind, _ in changed(kernels_of(traced.module))}


@nki.jit
def running_sum(x):
    """Each iteration continues with the result of the previous one."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray(x.shape[1:], x.dtype, buffer=nl.sbuf)
    nisa.memset(total, 0.0)
    for i in range(x.shape[0]):
        nisa.tensor_tensor(total, total, load(x[i]), nl.add)
        nisa.dma_copy(dst=out[i], src=total)
    return out


@nki.jit
def across_partitions(x):
    """Sums over partitions, of 16 each."""
    out = nl.ndarray((x.shape[0], x.shape[2]), x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[0]):
        total = nl.ndarray((1, x.shape[2]), x.dtype, buffer=nl.sbuf)
        nisa.tensor_partition_reduce(total, nl.add, load(x[i]))
        nisa.dma_copy(dst=out[i : i + 1], src=total)
    return out


@nki.jit
def all_partitions(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[0]):
        tile = load(x[i])
        nisa.activation(tile, nl.exp, tile)
        nisa.dma_copy(dst=out[i], src=tile)
    return out


def test_iterations_that_cannot_be_merged() -> None:
    assert "partition-use" not in kinds(running_sum, normal(8, 16, 512))
    assert "partition-use" not in kinds(across_partitions, normal(8, 16, 512))
    assert "partition-use" not in kinds(carried, normal(8, 16, 512))
    assert "partition-use" not in kinds(all_partitions, normal(8, 128, 512))
    assert "partition-use" in kinds(all_partitions, normal(8, 16, 512))
