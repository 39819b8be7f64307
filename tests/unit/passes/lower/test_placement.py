"""Addresses of tiles: apart while both are in use, where they may begin, and tight."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from support.kernel_parts import random_kernel
from support.paths import GOLDEN
from support.random_kernels import PARTS

import nkijit
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.ir.text import parse
from nkijit.passes.lower.placement import allocate
from nkijit.passes.lower.program import LoweringError, Placement
from nkijit.traced.kernel import TracedKernel, load

KERNELS = sorted(GOLDEN.glob("*.mlir"))
ALLOWED = 1.05
"""The allowed factor over the memory in use at the peak."""


def kernels(traced: TracedKernel) -> list[KernelOp]:
    return [program.kernel for program in traced.programs()]


def check(placement: Placement) -> None:
    """No two tiles in use at one time share a byte; all lie inside of their memory."""
    target = placement.live.kernel.target
    sizes = {
        MemoryRegion.sbuf: target.sbuf_usable_bytes,
        MemoryRegion.psum: target.psum_partition_bytes,
    }
    for live in placement.live.ranges:
        partition, byte = placement.addresses[live.alloc]
        assert 0 <= partition <= target.pmax - live.tile.partitions
        assert 0 <= byte <= sizes[live.tile.region] - live.tile.partition_bytes
        assert live.alloc.fixed_address in (None, (partition, byte))
    for one, two in combinations(placement.live.ranges, 2):
        if one.tile.region is not two.tile.region or not one.overlaps(two):
            continue
        if one.alloc.fixed_address and two.alloc.fixed_address:
            continue
        (p, a), (q, b) = placement.addresses[one.alloc], placement.addresses[two.alloc]
        beside = p + one.tile.partitions <= q or q + two.tile.partitions <= p
        apart = a + one.tile.partition_bytes <= b or b + two.tile.partition_bytes <= a
        assert beside or apart, f"{one.alloc.result.name_hint}, {two.alloc.result.name_hint}"


@pytest.mark.parametrize("ahead", [None, 0, 3])
@pytest.mark.parametrize("part", PARTS)
def test_tiles_in_use_together_lie_apart(part: str, ahead: int | None) -> None:
    for seed in range(4):
        for kernel in kernels(random_kernel(Random(f"{part} {seed}"), part).trace()):
            check(allocate(kernel, ahead=ahead))


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_examples_take_hardly_more_than_is_in_use(path: Path) -> None:
    for kernel in kernels(load(path)):
        tight = allocate(kernel, ahead=0)
        check(tight)
        assert tight.sbuf_bytes <= ALLOWED * tight.sbuf_live
        check(allocate(kernel))


def unrolled(count: int, columns: int) -> TracedKernel:
    @nkijit.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((count * 128, columns), dtype=nl.float32, buffer=nl.shared_hbm)
        for i in range(count):
            tile = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[i * 128 : (i + 1) * 128, :])
            nisa.activation(dst=tile, op=nl.exp, data=tile)
            nisa.dma_copy(dst=out[i * 128 : (i + 1) * 128, :], src=tile)
        return out

    return kernel.trace(np.zeros((count * 128, columns), np.float32))


def test_tiles_keep_their_bytes_where_there_is_room() -> None:
    (few,) = kernels(unrolled(4, 512))
    starts = {address for address in allocate(few).addresses.values()}
    assert len(starts) == 4
    assert len(set(allocate(few, ahead=0).addresses.values())) == 1


def test_tiles_share_bytes_where_there_is_none() -> None:
    (many,) = kernels(unrolled(40, 8192))
    placement = allocate(many)
    check(placement)
    starts = sorted({byte for _, byte in placement.addresses.values()})
    # 32 KiB each: the number of tiles that fit into the usable SBUF take turns.
    assert len(starts) == many.target.sbuf_usable_bytes // (8192 * 4)


def test_tiles_of_many_sizes_keep_their_bytes_as_long_as_gaps_allow() -> None:
    rng = Random(0)
    sizes = [rng.randint(1, 4096) for _ in range(300)]

    @nkijit.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((128, sum(sizes)), dtype=nl.float32, buffer=nl.shared_hbm)
        first = 0
        for size in sizes:
            tile = nl.ndarray((128, size), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[:, 0:size])
            nisa.dma_copy(dst=out[:, first : first + size], src=tile)
            first += size
        return out

    (core,) = kernels(kernel.trace(np.zeros((128, 4096), np.float32)))
    placement = allocate(core)
    check(placement)
    # An eighth less than the most that their sizes would allow, at least.
    assert placement.sbuf_bytes > core.target.sbuf_usable_bytes * 3 // 4


def test_addresses_depend_on_the_program_alone() -> None:
    found = [
        [*allocate(kernel).addresses.values()]
        for _ in range(2)
        for kernel in kernels(unrolled(9, 64))
    ]
    assert found[0] == found[1]


def test_tiles_begin_at_partition_0() -> None:
    @nkijit.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((4, 128), dtype=nl.float32, buffer=nl.shared_hbm)
        for row in range(4):
            tile = nl.ndarray((1, 128), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[row : row + 1, :])
            nisa.dma_copy(dst=out[row : row + 1, :], src=tile)
        return out

    (core,) = kernels(kernel.trace(np.zeros((4, 128), np.float32)))
    assert {partition for partition, _ in allocate(core).addresses.values()} == {0}


def test_fixed_addresses_are_preserved() -> None:
    @nkijit.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        fixed = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf, address=(0, 128))
        free = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=fixed, src=x)
        nisa.activation(dst=free, op=nl.exp, data=fixed)
        nisa.dma_copy(dst=out, src=free)
        return out

    (core,) = kernels(kernel.trace(np.zeros((128, 64), np.float32)))
    placement = allocate(core)
    check(placement)
    assert next(iter(placement.addresses.values())) == (0, 128)


def test_narrow_tiles_lie_beside_each_other_when_there_is_no_other_room() -> None:
    @nkijit.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((8, 16384), dtype=nl.float32, buffer=nl.shared_hbm)
        tiles = [nl.ndarray((1, 16384), dtype=nl.float32, buffer=nl.sbuf) for _ in range(8)]
        for row, tile in enumerate(tiles):
            nisa.dma_copy(dst=tile, src=x[row : row + 1, :])
        for row, tile in enumerate(tiles):
            nisa.dma_copy(dst=out[row : row + 1, :], src=tile)
        return out

    (core,) = kernels(kernel.trace(np.zeros((8, 16384), np.float32)))
    placement = allocate(core)
    check(placement)
    assert len({partition for partition, _ in placement.addresses.values()}) > 1
    # Four quadrants hold two tiles each.
    assert placement.sbuf_live == 2 * 16384 * 4


def test_no_room_is_an_error() -> None:
    text = """
    nki.kernel @crowded() target=trn2 {
      %a = nki.alloc : memref<128x30000xf32, #nki.sbuf>
      %b = nki.alloc : memref<128x30000xf32, #nki.sbuf>
      nisa.memset dst=%a, value=0.0
      nisa.memset dst=%b, value=0.0
      nisa.tensor_tensor dst=%a, data1=%a, data2=%b, op=add
      nki.return
    }
    """
    (kernel,) = kernels_of(parse(text))
    with pytest.raises(LoweringError, match=r"no addresses found .* byte 240000 of SBUF, trn2 has"):
        allocate(kernel)
