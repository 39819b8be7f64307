"""The purpose of each pass: a kernel that takes less time with it than without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16
from support.compiled_runs import check
from support.examples import examples

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.language as classic_nl
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.dialects.tiles import info_of
from nkijit.ir.text import parse
from nkijit.kernels.kernel import UnsupportedError
from nkijit.passes.analysis.memory.residency import peak
from nkijit.passes.analysis.writes.liveness import liveness
from nkijit.passes.compile.pipeline import compiled
from nkijit.passes.lower.schedule import lower
from nkijit.passes.profile.profile import profile_of
from nkijit.passes.profile.simulate import simulate


@nki.jit(platform_target="trn2")
def summed_outside(a, b):
    """A matrix product whose parts are added up in SBUF, one by one."""
    (inner, rows), (_, columns) = a.shape, b.shape
    out = nl.ndarray((rows, columns), nl.bfloat16, buffer=nl.shared_hbm)
    stationary = [nl.ndarray((128, rows), a.dtype, buffer=nl.sbuf) for _ in range(0, inner, 128)]
    moving = [nl.ndarray((128, columns), b.dtype, buffer=nl.sbuf) for _ in range(0, inner, 128)]
    for k, (left, right) in enumerate(zip(stationary, moving, strict=True)):
        nisa.dma_copy(left, a[128 * k : 128 * k + 128])
        nisa.dma_copy(right, b[128 * k : 128 * k + 128])
    for m in range(0, rows, 128):
        for n in range(0, columns, 512):
            total = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
            nisa.memset(total, 0.0)
            for left, right in zip(stationary, moving, strict=True):
                product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
                nisa.nc_matmul(product, left[:, m : m + 128], right[:, n : n + 512])
                nisa.tensor_tensor(total, total, product, op=nl.add)
            rounded = nl.ndarray((128, 512), nl.bfloat16, buffer=nl.sbuf)
            nisa.activation(rounded, nl.gelu, total)
            nisa.dma_copy(out[m : m + 128, n : n + 512], rounded)
    return out


@nki.jit(platform_target="trn2")
def loaded_twice(x):
    """Each statement loads its inputs."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for row in range(0, x.shape[0], 128):
        here = slice(row, row + 128)
        one, two, gate = (nl.ndarray((128, x.shape[1]), x.dtype, buffer=nl.sbuf) for _ in range(3))
        nisa.dma_copy(one, x[here])
        nisa.dma_copy(two, x[here])
        nisa.activation(gate, nl.sigmoid, one)
        nisa.tensor_tensor(gate, gate, two, op=nl.multiply)
        nisa.dma_copy(out[here], gate)
    return out


@nki.jit(platform_target="trn2")
def computed_each_time(x):
    """Blocks of exponentials, each of which computes all of them."""
    (rows, columns), blocks = x.shape, 8
    width = columns // blocks
    out = nl.ndarray((rows, blocks), nl.float32, buffer=nl.shared_hbm)
    loaded = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    largest = nl.ndarray(out.shape, nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(loaded, x)
    for block in range(blocks):
        exponentials = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
        nisa.activation(exponentials, nl.exp, loaded)
        part = exponentials[:, block * width : (block + 1) * width]
        nisa.tensor_reduce(largest[:, block : block + 1], nl.maximum, part, axis=1)
    nisa.dma_copy(out, largest)
    return out


@nki.jit(platform_target="trn2")
def loaded_each_time(x, weights):
    """Each block loads data that no block changes."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for block in range(x.shape[0]):
        loaded, weight, result = (
            nl.ndarray(weights.shape, x.dtype, buffer=nl.sbuf) for _ in range(3)
        )
        nisa.dma_copy(loaded, x[block])
        nisa.dma_copy(weight, weights)
        nisa.tensor_tensor(result, loaded, weight, op=nl.multiply)
        nisa.dma_copy(out[block], result)
    return out


@nki.jit(platform_target="trn2")
def scaled_in_a_loop(x, scale):
    """Each block of a device loop computes a value that all blocks need."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(x.shape[0]):
        block = nl.ndarray(x.shape[1:], x.dtype, buffer=nl.sbuf)
        loaded = nl.ndarray(x.shape[1:], x.dtype, buffer=nl.sbuf)
        factor = nl.ndarray(x.shape[1:], x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(loaded, scale)
        nisa.activation(factor, nl.exp, loaded)
        nisa.dma_copy(block, x[i])
        nisa.tensor_tensor(block, block, factor, op=nl.multiply)
        nisa.dma_copy(out[i], block)
    return out


@nki.jit(platform_target="trn2")
def copied_first(a, b):
    """Products are copied out of PSUM before they are used."""
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    left = nl.ndarray(a.shape, a.dtype, buffer=nl.sbuf)
    right = nl.ndarray(b.shape, b.dtype, buffer=nl.sbuf)
    largest = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(left, a)
    nisa.dma_copy(right, b)
    nisa.memset(largest, 0.0)
    for n in range(0, b.shape[1], 512):
        product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
        copied = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        nisa.nc_matmul(product, left, right[:, n : n + 512])
        nisa.tensor_copy(copied, product, engine=nisa.engine.vector)
        nisa.tensor_tensor(largest, largest, copied, op=nl.maximum)
    nisa.dma_copy(out, largest)
    return out


@nki.jit(platform_target="trn2")
def copied_from_psum(a, b):
    """All copies of products out of PSUM run on the Vector Engine by default."""
    (_, rows), (_, columns) = a.shape, b.shape
    out = nl.ndarray((rows, columns), a.dtype, buffer=nl.shared_hbm)
    left, right = (nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf) for x in (a, b))
    result = nl.ndarray(out.shape, out.dtype, buffer=nl.sbuf)
    nisa.dma_copy(left, a)
    nisa.dma_copy(right, b)
    for n in range(0, columns, 512):
        product = nl.ndarray((rows, 512), nl.float32, buffer=nl.psum)
        nisa.nc_matmul(product, left, right[:, n : n + 512])
        nisa.tensor_copy(result[:, n : n + 512], product)
    nisa.dma_copy(out, result)
    return out


@classic.jit(platform_target="trn2")
def product_in_three_loops(lhs_t, rhs):
    """Both tiles are loaded in the innermost loop."""
    (depth, rows), columns = lhs_t.shape, rhs.shape[1]
    out = classic_nl.ndarray((rows, columns), lhs_t.dtype, buffer=classic_nl.shared_hbm)
    for m in classic_nl.affine_range(rows // 128):
        for n in classic_nl.affine_range(columns // 512):
            total = classic_nl.zeros((128, 512), classic_nl.float32, buffer=classic_nl.psum)
            here = slice(m * 128, m * 128 + 128), slice(n * 512, n * 512 + 512)
            for k in classic_nl.affine_range(depth // 128):
                part = slice(k * 128, k * 128 + 128)
                left, right = (
                    classic_nl.load(lhs_t[part, here[0]]),
                    classic_nl.load(rhs[part, here[1]]),
                )
                total += classic_nl.matmul(left, right, transpose_x=True)
            classic_nl.store(out[here], classic_nl.copy(total, dtype=out.dtype))
    return out


KERNELS: dict[str, tuple[Any, tuple[tuple[int, ...], ...], float]] = {
    "accumulate-in-psum": (summed_outside, ((512, 512), (512, 1024)), 1.3),
    "hoist-invariant": (scaled_in_a_loop, ((8, 128, 8192), (128, 8192)), 1.1),
    "spread-engines": (copied_from_psum, ((128, 128), (128, 16384)), 1.1),
    "forward-copies": (copied_first, ((128, 128), (128, 8192)), 1.05),
    "share-loads": (loaded_twice, ((1024, 2048),), 1.2),
    "share-loads, by statement": (loaded_each_time, ((8, 128, 4096), (128, 4096)), 1.2),
    "share-loads, classic": (product_in_three_loops, ((512, 256), (512, 1024)), 1.2),
    "share-results": (computed_each_time, ((128, 2048),), 1.2),
}
"""Kernels, the shapes of their inputs, and the factor of time without the pass. The part after a
comma names the case."""


def time_of(traced: Any, without: tuple[str, ...] = ()) -> float:
    """The time in ns that a compiled kernel is predicted to take."""
    made = [lower(compiled(kernel, without).kernel) for kernel in kernels_of(traced.module)]
    return profile_of(simulate(made)).time


@pytest.mark.parametrize("name", KERNELS)
def test_a_pass_makes_a_kernel_faster(name: str) -> None:
    kernel, shapes, gain = KERNELS[name]
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(shape).astype(bfloat16) for shape in shapes]
    traced = kernel.trace(*inputs)
    assert check(traced, inputs, range(2)) > 0
    assert time_of(traced, (name.split(",")[0],)) > gain * time_of(traced)


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
@pytest.mark.parametrize("module", ["mamba_scan", "mxfp8_matmul", "layernorm", "flash_attention"])
def test_no_kernel_is_predicted_slower_than_it_is_written(module: str, target: str) -> None:
    """Passes estimate without addresses and queues, so their result is simulated."""
    for example in examples(module):
        try:
            traced = example.kernel.for_target(target).trace(**example.inputs(example.small))
        except UnsupportedError as error:
            pytest.skip(str(error))
        if traced.diagnostics.errors:
            pytest.skip(f"not for {target}")
        profile = traced.profile()
        assert profile.author is not None
        assert profile.time <= profile.author
        assert profile.author == traced.profile(schedule="author").time


@pytest.mark.parametrize(("target", "loads"), [("trn1", 32), ("trn2", 16), ("trn3", 16)])
def test_only_newer_compilers_of_the_classic_api_keep_repeated_loads(
    target: str, loads: int
) -> None:
    """2 by 2 by 4 tiles, of which 8 are on the left and 8 on the right."""
    specs = [nki.TensorSpec(shape, nl.bfloat16) for shape in ((512, 256), (512, 1024))]
    traced = product_in_three_loops.for_target(target).trace(*specs)
    (kernel,) = kernels_of(traced.module)
    kept = [op for op in compiled(kernel).kernel.operations if isinstance(op, DmaCopyOp)]
    assert sum(info_of(op.dst).region.on_chip for op in kept) == loads
    (read,) = kernels_of(parse(traced.text()))
    assert read.classic is not None


def test_where_there_is_no_room_some_is_loaded_again() -> None:
    """16 by 32 tiles of the right matrix are 512 KiB of a partition."""
    specs = [nki.TensorSpec(shape, nl.bfloat16) for shape in ((2048, 256), (2048, 16384))]
    traced = product_in_three_loops.trace(*specs)
    (kernel,) = kernels_of(traced.module)
    made = compiled(kernel)
    loads = sum(
        info_of(op.dst).region.on_chip for op in made.kernel.operations if isinstance(op, DmaCopyOp)
    )
    assert 16 * (2 + 32) < loads < 2 * 32 * 16 * 2
    assert peak(liveness(made.kernel)) <= kernel.target.sbuf_usable_bytes
