"""Pairs of kernels that differ by one documented optimisation, which is predicted to be faster.

Each names the section that recommends it. 'Performance guide' is the NKI performance guide of the
public documents. How much faster is asserted only where the section says so, and loosely.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.profile.profile import Profile

F32 = np.float32
BF16 = ml_dtypes.bfloat16
V, S, G = nisa.engine.vector, nisa.engine.scalar, nisa.engine.gpsimd
EVERY_TARGET = ("trn1", "trn2", "trn3")
every_target = pytest.mark.parametrize("target", EVERY_TARGET)
since_trn2 = pytest.mark.parametrize("target", EVERY_TARGET[1:])


def sbuf(*shape: int, dtype: Any = nl.float32, **more: Any) -> Any:
    return nl.ndarray(shape, dtype, buffer=nl.sbuf, **more)


def psum(*shape: int, dtype: Any = nl.float32) -> Any:
    return nl.ndarray(shape, dtype, buffer=nl.psum)


def hbm(*shape: int, dtype: Any = nl.float32) -> Any:
    return nl.ndarray(shape, dtype, buffer=nl.shared_hbm)


def zeros(*shape: int, dtype: Any = F32) -> np.ndarray[Any, Any]:
    return np.zeros(shape, dtype)


def profiles(kernel: nki.Kernel, target: str, *args: Any) -> tuple[Profile, Profile]:
    """The profiles of a kernel without and with the optimisation, its last argument."""
    found: list[Profile] = []
    for optimised in (False, True):
        traced = kernel.for_target(target).trace(*args, optimised)
        assert not traced.diagnostics.errors, str(traced.diagnostics)
        found.append(traced.profile(schedule="author"))
    return found[0], found[1]


def busy(profile: Profile, queue: str) -> float:
    return sum(use.busy for use in profile.queues if use.queue == queue)


# ------------------------------------------------------------------ arithmetic intensity


@every_target
def test_data_that_stays_in_sbuf_is_not_loaded_again(target: str) -> None:
    """Performance guide, Opt #1: exploit temporal locality."""

    @nki.jit
    def kernel(x, optimised):
        out = hbm(8, 128, 2048)
        kept = nl.load(x) if optimised else None
        for i in range(8):
            tile = kept if optimised else nl.load(x)
            result = sbuf(128, 2048)
            nisa.tensor_scalar(result, tile, nl.add, float(i), engine=V)
            nisa.dma_copy(out[i], result)
        return out

    before, after = profiles(kernel, target, zeros(128, 2048))
    assert after.time < before.time
    assert after.roofline.hbm_bytes < before.roofline.hbm_bytes


@every_target
def test_fused_operators_do_not_spill(target: str) -> None:
    """Performance guide, Opt #2: fuse operations to minimise intermediate data spilling."""

    @nki.jit
    def kernel(x, optimised):
        out, between = hbm(128, 4096), hbm(128, 4096)
        parts = [slice(i, i + 1024) for i in range(0, 4096, 1024)]
        if optimised:
            for part in parts:
                tile = nl.load(x[:, part])
                nisa.activation(tile, nl.exp, tile)
                nisa.tensor_scalar(tile, tile, nl.add, 1.0, engine=V)
                nisa.dma_copy(out[:, part], tile)
            return out
        for part in parts:
            tile = nl.load(x[:, part])
            nisa.activation(tile, nl.exp, tile)
            nisa.dma_copy(between[:, part], tile)
        for part in parts:
            tile = nl.load(between[:, part])
            nisa.tensor_scalar(tile, tile, nl.add, 1.0, engine=V)
            nisa.dma_copy(out[:, part], tile)
        return out

    before, after = profiles(kernel, target, zeros(128, 4096))
    assert after.time < before.time
    assert before.roofline.hbm_bytes == 2 * after.roofline.hbm_bytes


@every_target
def test_blocks_of_a_matmul_reload_less(target: str) -> None:
    """Matrix multiplication tutorial, Optimizations 1 and 2: each tile of an input is loaded once
    for a block of the result instead of once for every tile of it."""

    @nki.jit
    def kernel(lhs_t, rhs, optimised):
        out = hbm(512, 1024, dtype=lhs_t.dtype)
        rows = [slice(i, i + 128) for i in range(0, 512, 128)]
        columns = [slice(i, i + 512) for i in range(0, 1024, 512)]
        inner = [slice(i, i + 128) for i in range(0, 512, 128)]
        if optimised:
            lhs_tiles = [nl.load(lhs_t[k]) for k in inner]
            rhs_tiles = [nl.load(rhs[k]) for k in inner]
        for m in rows:
            for n in columns:
                total = psum(128, 512)
                for index, k in enumerate(inner):
                    if optimised:
                        stationary, moving = lhs_tiles[index][:, m], rhs_tiles[index][:, n]
                    else:
                        stationary, moving = nl.load(lhs_t[k, m]), nl.load(rhs[k, n])
                    nisa.nc_matmul(total, stationary, moving, accumulate=index > 0)
                result = sbuf(128, 512, dtype=lhs_t.dtype)
                nisa.tensor_copy(result, total, engine=V)
                nisa.dma_copy(out[m, n], result)
        return out

    inputs = zeros(512, 512, dtype=BF16), zeros(512, 1024, dtype=BF16)
    before, after = profiles(kernel, target, *inputs)
    assert after.time < before.time
    assert after.mfu > before.mfu
    assert after.roofline.intensity > before.roofline.intensity


# ------------------------------------------------------------------ idle engines


@every_target
def test_tiles_let_engines_work_at_the_same_time(target: str) -> None:
    """Performance guide, Opt #3: overlap execution across compute engines through pipelining."""

    @nki.jit
    def kernel(optimised):
        x = sbuf(128, 8192)
        nisa.memset(x, 0.0, engine=V)
        size = 2048 if optimised else 8192
        for start in range(0, 8192, size):
            part = x[:, start : start + size]
            nisa.activation(part, nl.exp, part)
            nisa.tensor_tensor(part, part, part, nl.add, engine=V)
        out = hbm(128, 8192)
        nisa.dma_copy(out, x)
        return out

    before, after = profiles(kernel, target)
    assert after.time < before.time


@every_target
def test_two_buffers_overlap_loads_with_computation(target: str) -> None:
    """Performance guide, Opt #4: overlap data loading with computation (double buffering)."""

    @nki.jit
    def kernel(x, optimised):
        out = hbm(128, 8)
        # Where a buffer lies is fixed: the tiles of one buffer wait for each other.
        buffers = [sbuf(128, 2048, address=(0, 8192 * i)) for i in range(2 if optimised else 1)]
        sums = sbuf(128, 8)
        for i in range(8):
            tile = buffers[i % len(buffers)]
            nisa.dma_copy(tile, x[:, 2048 * i : 2048 * i + 2048])
            nisa.tensor_reduce(sums[:, i : i + 1], nl.add, tile, axis=1)
        nisa.dma_copy(out, sums)
        return out

    before, after = profiles(kernel, target, zeros(128, 8 * 2048))
    assert after.time < before.time
    assert after.shares[0][1] > before.shares[0][1]


@since_trn2
def test_copies_on_two_engines_are_balanced(target: str) -> None:
    """Performance guide, Opt #3: an engine that does everything leaves the others idle."""

    @nki.jit
    def kernel(optimised):
        x, y = sbuf(128, 8192), sbuf(128, 8192)
        nisa.memset(x, 0.0, engine=V)
        for i in range(16):
            part = slice(512 * i, 512 * i + 512)
            engine = S if optimised and i % 3 == 0 else V
            nisa.tensor_copy(y[:, part], x[:, part], engine=engine)
        out = hbm(128, 8192)
        nisa.dma_copy(out, y)
        return out

    before, after = profiles(kernel, target)
    assert after.time < before.time
    assert busy(after, "vector") < busy(before, "vector")


@since_trn2
def test_functions_of_one_table_follow_each_other(target: str) -> None:
    """DMA overview page (a profile): loading the table of a function takes 1.28 us."""

    @nki.jit
    def kernel(optimised):
        x = sbuf(128, 8, 64)
        nisa.memset(x, 1.0, engine=V)
        calls = [(i, op) for i in range(4) for op in (nl.exp, nl.sigmoid)]
        if optimised:
            calls.sort(key=lambda call: call[1] is nl.sigmoid)
        for i, op in calls:
            part = x[:, 2 * i + (op is nl.sigmoid)]
            nisa.activation(part, op, part)
        out = hbm(128, 8, 64)
        nisa.dma_copy(out, x)
        return out

    before, after = profiles(kernel, target)
    # Eight loads become two.
    assert before.time - after.time == pytest.approx(6 * 1280, rel=0.3)


# ------------------------------------------------------------------ efficiency of engines


@every_target
def test_a_scan_replaces_instructions_of_one_element(target: str) -> None:
    """Performance guide, Opt #5a: use sufficiently large input tiles in the free dimension."""

    @nki.jit
    def kernel(optimised):
        a, b, h = sbuf(128, 256), sbuf(128, 256), sbuf(128, 256)
        for tile in (a, b, h):
            nisa.memset(tile, 0.5, engine=V)
        if optimised:
            nisa.tensor_tensor_scan(h, a, b, 0.0, nl.multiply, nl.add)
        else:
            for i in range(1, 256):
                now = slice(i, i + 1)
                nisa.scalar_tensor_tensor(
                    h[:, now], a[:, now], nl.multiply, h[:, i - 1 : i], nl.add, b[:, now]
                )
        out = hbm(128, 256)
        nisa.dma_copy(out, h)
        return out

    before, after = profiles(kernel, target)
    # Each of the small ones waits for the one in front of it: about 200 ns.
    assert before.time > 5 * after.time
    assert before.time - after.time > 255 * 100


@every_target
def test_all_partitions_take_as_long_as_half_of_them(target: str) -> None:
    """Performance guide, Opt #5b: use sufficiently large input tiles in the partition dimension;
    one reduction of 128 partitions takes half of the time of two of 64."""

    @nki.jit
    def kernel(optimised):
        x, sums = sbuf(128, 4096), sbuf(128, 1)
        nisa.memset(x, 0.0, engine=V)
        rows = [slice(0, 128)] if optimised else [slice(0, 64), slice(64, 128)]
        for part in rows:
            nisa.tensor_reduce(sums[part], nl.add, x[part], axis=1)
        out = hbm(128, 1)
        nisa.dma_copy(out, sums)
        return out

    before, after = profiles(kernel, target)
    reductions = [
        next(line.busy for line in p.lines if line.mnemonics == ("TENSOR_REDUCE",))
        for p in (before, after)
    ]
    assert reductions[0] == pytest.approx(2 * reductions[1], rel=0.01)
    assert after.time < before.time


@every_target
def test_one_activation_scales_shifts_and_raises(target: str) -> None:
    """Performance guide, Opt #6: combine instructions; its example is three times as fast."""

    @nki.jit
    def kernel(optimised):
        x, scale, bias = sbuf(128, 2048), sbuf(128, 1), sbuf(128, 1)
        for tile in (x, scale, bias):
            nisa.memset(tile, 1.0, engine=V)
        for _ in range(8):
            if optimised:
                nisa.activation(x, nl.exp, x, bias=bias, scale=scale)
            else:
                nisa.activation(x, nl.copy, x, scale=scale)
                nisa.tensor_scalar(x, x, nl.add, bias, engine=S)
                nisa.activation(x, nl.exp, x)
        out = hbm(128, 2048)
        nisa.dma_copy(out, x)
        return out

    before, after = profiles(kernel, target)
    assert busy(before, "scalar") > 2 * busy(after, "scalar")
    assert after.time < before.time / 2


@every_target
def test_one_tensor_scalar_does_two_operations(target: str) -> None:
    """Performance guide, Opt #6; API reference, tensor_scalar: one and two take as long."""

    @nki.jit
    def kernel(optimised):
        x = sbuf(128, 2048)
        nisa.memset(x, 1.0, engine=V)
        for _ in range(8):
            if optimised:
                nisa.tensor_scalar(x, x, nl.multiply, 2.0, op1=nl.add, operand1=1.0, engine=V)
            else:
                nisa.tensor_scalar(x, x, nl.multiply, 2.0, engine=V)
                nisa.tensor_scalar(x, x, nl.add, 1.0, engine=V)
        out = hbm(128, 2048)
        nisa.dma_copy(out, x)
        return out

    before, after = profiles(kernel, target)
    memset = next(line.busy for line in after.lines if line.mnemonics == ("MEMSET",))
    vector = [busy(p, "vector") - memset for p in (before, after)]
    assert vector[0] == pytest.approx(2 * vector[1], rel=0.01)
    assert after.time < before.time


@every_target
def test_scalar_tensor_tensor_replaces_two_instructions(target: str) -> None:
    """Performance guide, Opt #6: combine instructions."""

    @nki.jit
    def kernel(optimised):
        x, y, z = sbuf(128, 2048), sbuf(128, 2048), sbuf(128, 2048)
        for tile in (x, y):
            nisa.memset(tile, 1.0, engine=V)
        for _ in range(4):
            if optimised:
                nisa.scalar_tensor_tensor(z, x, nl.multiply, 2.0, nl.add, y)
            else:
                nisa.tensor_scalar(z, x, nl.multiply, 2.0, engine=V)
                nisa.tensor_tensor(z, z, y, nl.add, engine=V)
        out = hbm(128, 2048)
        nisa.dma_copy(out, z)
        return out

    before, after = profiles(kernel, target)
    assert after.time < before.time


@every_target
def test_an_activation_sums_its_results(target: str) -> None:
    """Performance guide, Opt #6; API reference, activation_reduce: a reduction on the way costs
    about 64 cycles."""

    @nki.jit
    def kernel(optimised):
        x, sums = sbuf(128, 4096), sbuf(128, 1)
        nisa.memset(x, 1.0, engine=V)
        if optimised:
            nisa.activation_reduce(x, nl.exp, x, nl.add, sums)
        else:
            nisa.activation(x, nl.exp, x)
            nisa.tensor_reduce(sums, nl.add, x, axis=1)
        out = hbm(128, 1)
        nisa.dma_copy(out, sums)
        return out

    before, after = profiles(kernel, target)
    assert after.time < before.time


@since_trn2
def test_vector_takes_narrow_data_faster(target: str) -> None:
    """Trainium2 architecture guide, Vector Engine performance mode: up to four times."""

    @nki.jit
    def kernel(x, optimised):
        dtype = nl.bfloat16 if optimised else nl.float32
        a, b = sbuf(128, 4096, dtype=dtype), sbuf(128, 4096, dtype=dtype)
        nisa.memset(a, 0.0, engine=V)
        for _ in range(8):
            nisa.tensor_copy(b, a, engine=V)
            nisa.tensor_copy(a, b, engine=V)
        out = hbm(128, 1, dtype=dtype)
        nisa.dma_copy(out, a[:, 0:1])
        return out

    before, after = profiles(kernel, target, zeros(128, 1))
    assert 1.5 < before.time / after.time <= 4


# ------------------------------------------------------------------ Tensor Engine


@every_target
def test_the_short_operand_moves(target: str) -> None:
    """Performance guide, Opt #7: leverage fast weight load; a vector moves, the matrix stays."""

    @nki.jit
    def kernel(matrix, vector, optimised):
        out = hbm(2048)
        matrix_tile, vector_tile = nl.load(matrix), nl.load(vector)
        if optimised:
            product = psum(128, 16)
            for i in range(16):
                block = matrix_tile[:, 128 * i : 128 * i + 128]
                nisa.nc_matmul(product[:, i : i + 1], block, vector_tile)
        else:
            product = psum(1, 2048)
            for i in range(0, 2048, 512):
                part = slice(i, i + 512)
                nisa.nc_matmul(product[:, part], vector_tile, matrix_tile[:, part])
        result = sbuf(*product.shape)
        nisa.tensor_copy(result, product, engine=V)
        nisa.dma_copy(out.reshape(product.shape), result)
        return out

    inputs = zeros(128, 2048, dtype=BF16), zeros(128, 1, dtype=BF16)
    before, after = profiles(kernel, target, *inputs)
    assert busy(after, "tensor") < busy(before, "tensor")


@every_target
def test_swapped_operands_spare_transposes(target: str) -> None:
    """Performance guide, Opt #8: moving and stationary operands decide the result's layout."""

    @nki.jit
    def kernel(a, b, optimised):
        out = hbm(128, 128, dtype=a.dtype)
        a_tile, b_tile = nl.load(a), nl.load(b)
        product = psum(128, 128)
        result = sbuf(128, 128, dtype=a.dtype)
        if optimised:
            nisa.nc_matmul(product, b_tile, a_tile)
        else:
            nisa.nc_matmul(product, a_tile, b_tile)
            nisa.tensor_copy(result, product, engine=V)
            product = psum(128, 128, dtype=a.dtype)
            nisa.nc_transpose(product, result, engine=nisa.engine.tensor)
            result = sbuf(128, 128, dtype=a.dtype)
        nisa.tensor_copy(result, product, engine=V)
        nisa.dma_copy(out, result)
        return out

    inputs = zeros(128, 128, dtype=BF16), zeros(128, 128, dtype=BF16)
    before, after = profiles(kernel, target, *inputs)
    assert after.time < before.time
    assert busy(after, "tensor") < busy(before, "tensor")


@every_target
def test_psum_adds_up_products(target: str) -> None:
    """Matrix multiplication tutorial: the tiles of the contraction are added up in PSUM."""

    @nki.jit
    def kernel(a, b, optimised):
        out = hbm(128, 512)
        a_tile, b_tile = nl.load(a), nl.load(b)
        total = sbuf(128, 512)
        product = psum(128, 512)
        for i in range(8):
            if not optimised:
                product = psum(128, 512)
            stationary = a_tile[:, 128 * i : 128 * i + 128]
            nisa.nc_matmul(product, stationary, b_tile, accumulate=optimised and i > 0)
            if not optimised and i == 0:
                nisa.tensor_copy(total, product, engine=V)
            elif not optimised:
                nisa.tensor_tensor(total, total, product, nl.add, engine=V)
        if optimised:
            nisa.tensor_copy(total, product, engine=V)
        nisa.dma_copy(out, total)
        return out

    inputs = zeros(128, 1024, dtype=BF16), zeros(128, 512, dtype=BF16)
    before, after = profiles(kernel, target, *inputs)
    assert after.time < before.time
    assert busy(after, "tensor") == busy(before, "tensor")


@every_target
def test_narrow_products_are_four_times_as_fast(target: str) -> None:
    """Architecture guides: float32 has a quarter of the rate of bfloat16."""

    @nki.jit
    def kernel(optimised):
        dtype = nl.bfloat16 if optimised else nl.float32
        tile = sbuf(128, 512, dtype=dtype)
        nisa.memset(tile, 0.0, engine=V)
        product, result = psum(128, 512), sbuf(128, 512)
        for i in range(256):  # the first 3 us, at half of the speed, do not count
            nisa.nc_matmul(product, tile[:, 0:128], tile, accumulate=i > 0)
        nisa.tensor_copy(result, product, engine=V)
        out = hbm(128, 512)
        nisa.dma_copy(out, result)
        return out

    before, after = profiles(kernel, target)
    assert busy(before, "tensor") == pytest.approx(4 * busy(after, "tensor"), rel=0.1)
    assert after.time < before.time


@since_trn2
def test_double_row_halves_products_of_float8(target: str) -> None:
    """Trainium2 architecture guide, double FP8 matmul performance: 256 rows in the time of 128."""

    @nki.jit
    def kernel(optimised):
        weights = sbuf(128, 2, 128, dtype=nl.float8_e4m3)
        moving = sbuf(128, 2, 512, dtype=nl.float8_e4m3)
        for tile in (weights, moving):
            nisa.memset(tile, 0.0, engine=V)
        product, result = psum(128, 512), sbuf(128, 512)
        for i in range(128):  # the first 3 us, at half of the speed, do not count
            if optimised:
                nisa.nc_matmul(
                    product, weights, moving, accumulate=i > 0,
                    perf_mode=nisa.matmul_perf_mode.double_row,
                )  # fmt: skip
            else:
                for row in range(2):
                    nisa.nc_matmul(product, weights[:, row], moving[:, row], accumulate=i + row > 0)
        nisa.tensor_copy(result, product, engine=V)
        out = hbm(128, 512)
        nisa.dma_copy(out, result)
        return out

    before, after = profiles(kernel, target)
    assert before.roofline.flops == after.roofline.flops
    assert busy(before, "tensor") == pytest.approx(2 * busy(after, "tensor"), rel=0.15)
    assert after.time < before.time


# ------------------------------------------------------------------ DMA


@every_target
def test_large_transfers_use_the_bandwidth(target: str) -> None:
    """Performance guide, Opt #9; DMA bandwidth guide: rows of 2 KiB and more."""

    @nki.jit
    def kernel(x, optimised):
        out, tile = hbm(128, 4096), sbuf(128, 4096)
        size = 4096 if optimised else 64
        for start in range(0, 4096, size):
            part = slice(start, start + size)
            nisa.dma_copy(tile[:, part], x[:, part])
        nisa.dma_copy(out, tile)
        return out

    before, after = profiles(kernel, target, zeros(128, 4096))
    # 64 DMAs of rows of 256 bytes take 64 triggers: 600 ns each, by hardware. On trn1, where
    # descriptors are made beforehand, a gemm with such rows reached 256 GB/s (ucb-bar/autocomp).
    assert before.time > (1 if target == "trn1" else 2.5) * after.time


@every_target
def test_all_engines_take_part_in_a_load(target: str) -> None:
    """Performance guide, Opt #9: 128 partitions are spread over all 16 DMA engines."""

    @nki.jit
    def kernel(x, optimised):
        rows = 128 if optimised else 4
        tile, out = sbuf(rows, 4096), hbm(rows, 4096)
        nisa.dma_copy(tile, x[0:rows])
        nisa.dma_copy(out, tile)
        return out

    before, after = profiles(kernel, target, zeros(128, 4096))
    rates = [p.moved[0].bytes_per_ns for p in (before, after)]
    assert rates[1] > 4 * rates[0]


def test_the_tensor_engine_transposes_loaded_tiles() -> None:
    """Performance guide, Opt #10: load and nc_transpose instead of a transposing load.

    Of NeuronCore-v2: later ones transpose by DMA with up to 90 % of the bandwidth (DGE reference).
    """

    @nki.jit
    def kernel(x, optimised):
        out, result = hbm(128, 2048, dtype=x.dtype), sbuf(128, 2048, dtype=x.dtype)
        for i in range(16):
            part = slice(128 * i, 128 * i + 128)
            if optimised:
                tile = nl.load(x[part])
                turned = psum(128, 128, dtype=x.dtype)
                nisa.nc_transpose(turned, tile, engine=nisa.engine.tensor)
                nisa.tensor_copy(result[:, part], turned, engine=V)
            else:
                nisa.dma_transpose(result[:, part], x[part])
        nisa.dma_copy(out, result)
        return out

    before, after = profiles(kernel, "trn1", zeros(2048, 128, dtype=BF16))
    assert after.time < before.time
