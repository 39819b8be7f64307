"""Tiles that do not fit into SBUF wait in HBM, and kernels compute the same."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from support.compiled_runs import bits, run
from support.examples import examples
from support.kernel_parts import random_kernel
from support.lowered_runs import numbers
from support.odd_kernels import odd_kernel
from support.random_kernels import PARTS
from support.tangled_kernels import tangled_kernel, visible_kernel

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.passes.analysis.memory import residency as planning
from nkijit.passes.analysis.memory.residency import Action, peak, residency
from nkijit.passes.analysis.writes.liveness import liveness
from nkijit.passes.compile.passes.fit import fit
from nkijit.passes.interpret.queues.run import Queues
from nkijit.passes.lower.schedule import lower
from nkijit.traced.kernel import TracedKernel

SHARES = (0.35, 0.6, 0.9)
"""Assumed memory, as shares of the memory that a kernel has in use at a time."""


def fitted(kernel: KernelOp, share: float) -> tuple[KernelOp, int]:
    """A copy of a kernel in less memory, and how many loads and stores serve that."""
    copy = kernel.clone()
    capacity = int(peak(liveness(kernel)) * share)
    moved = fit(copy, capacity=capacity)
    copy.verify()
    if str(copy) != str(kernel):
        assert peak(liveness(copy)) <= capacity
    return copy, moved


def check(traced: TracedKernel, inputs: Any) -> int:
    """Fail unless a kernel computes the same in less memory; returns how much is moved."""
    kernels = kernels_of(traced.module)
    expected = run(kernels, inputs)
    total = 0
    for share in SHARES:
        made = [fitted(kernel, share) for kernel in kernels]
        moved = sum(count for _, count in made)
        total += moved
        if not moved:
            continue
        copies = [kernel for kernel, _ in made]
        assert run(copies, inputs) == expected
        queues = Queues([lower(kernel) for kernel in copies])
        for seed in range(3):
            arrays = [array.copy() for array in inputs]
            assert bits(queues.run(arrays, seed=seed), arrays) == expected
    return total


@pytest.mark.parametrize("target", ["trn1", "trn3"])
@pytest.mark.parametrize(("length", "depth"), [(24, 0), (7, 2)])
def test_tangled_kernels(target: str, length: int, depth: int) -> None:
    moved = sum(check(*tangled_kernel(seed, target, length, depth)) for seed in range(6))
    # In loops tiles stay where they are.
    assert moved > 0 or depth


def test_kernels_whose_every_value_is_seen() -> None:
    assert sum(check(*visible_kernel(seed, "trn2", 16)) for seed in range(8)) > 0


def test_kernels_that_look_like_others() -> None:
    assert sum(check(*odd_kernel(seed, "trn2", 14, 0)) for seed in range(16)) > 0


@pytest.mark.parametrize("part", PARTS)
def test_random_kernels(part: str) -> None:
    for seed in range(2):
        kernel = random_kernel(Random(f"{part} {seed}"), part)
        inputs = [numbers(spec, seed) for _, spec in kernel.arguments]
        if sum(array.size for array in inputs) <= 1 << 20:
            check(kernel.trace(), inputs)


def test_examples() -> None:
    moved = 0
    for example in examples("layernorm", "matmul", "flash_attention"):
        inputs = example.inputs(replace(example.small, dtype=example.dtypes[-1]))
        traced = example.kernel.trace(**inputs)
        moved += check(traced, [v for v in inputs.values() if isinstance(v, np.ndarray)])
    assert moved > 0


# ------------------------------------------------------------------ how much is moved


def reading(order: list[int], tiles: int) -> KernelOp:
    """A kernel that loads some tiles and reads them in an order."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray((len(order), 4, 64), nl.float32, buffer=nl.shared_hbm)
        loaded = [nl.load(x[number]) for number in range(tiles)]
        for place, number in enumerate(order):
            nl.store(out[place], loaded[number])
        return out

    (made,) = kernels_of(kernel.trace(np.zeros((tiles, 4, 64), np.float32)).module)
    return made


def fewest_loads(order: list[int], room: int) -> int:
    """Return the fewest loads with space for `room` tiles, by trying all sets to keep."""

    @cache
    def fewest(place: int, here: frozenset[int]) -> int:
        if place == len(order):
            return 0
        if order[place] in here:
            return fewest(place + 1, here)
        kept = min(room - 1, len(here))
        choices = (frozenset(c) | {order[place]} for c in combinations(sorted(here), kept))
        return 1 + min(fewest(place + 1, choice) for choice in choices)

    return fewest(0, frozenset())


def test_no_order_of_uses_needs_fewer_loads() -> None:
    for seed in range(40):
        random = Random(seed)
        tiles, room = random.choice([(4, 2), (5, 2), (5, 3), (6, 4)])
        order = [random.randrange(tiles) for _ in range(10)]
        kernel = reading(order, tiles)
        found = residency(liveness(kernel), room * 256)
        assert found is not None
        fills = [step for step in found.steps if step.action is Action.fill]
        assert {step.action for step in found.steps} == {Action.fill} or len(set(order)) < tiles
        assert len(fills) == fewest_loads(order, room), (seed, order)


def test_computed_tiles_are_stored_once() -> None:
    @nki.jit
    def kernel(x):
        out = nl.ndarray((6, 4, 64), nl.float32, buffer=nl.shared_hbm)
        tiles = [nl.ndarray((4, 64), nl.float32, buffer=nl.sbuf) for _ in range(3)]
        for number, tile in enumerate(tiles):
            nisa.memset(tile, float(number))
        for place in range(6):
            nl.store(out[place], tiles[place % 3])
        return out

    (made,) = kernels_of(kernel.trace(np.zeros((4, 64), np.float32)).module)
    found = residency(liveness(made), 2 * 256)
    assert found is not None
    stores = [step.tile for step in found.steps if step.action is Action.store]
    assert stores
    assert len(stores) == len(set(stores))
    # The bytes of one store and one load: 4 partitions of 64 float32.
    assert found.bytes == len(found.moved) * 4 * 64 * 4


def test_no_room_for_one_instruction() -> None:
    kernel = reading([0, 1], 2)
    assert residency(liveness(kernel), 255) is None
    before = str(kernel)
    assert fit(kernel, capacity=255) == 0
    assert str(kernel) == before


def test_tensors_that_the_kernel_writes_are_not_loaded_again() -> None:
    """The first load counts, even if the kernel overwrites the tensor later."""

    @nki.jit
    def kernel(x):
        tiles = [nl.load(x[number]) for number in range(3)]
        for number, tile in enumerate(tiles):
            nl.store(x[(number + 1) % 3], tile)
        for number, tile in enumerate(tiles):
            nisa.tensor_scalar(tile, tile, op0=nl.add, operand0=1.0)
            nl.store(x[number], tile)
        return x

    x = np.random.default_rng(0).standard_normal((3, 4, 64)).astype(np.float32)
    assert check(kernel.trace(x), [x]) > 0


PARTS_OF_A_TILE: dict[str, Any] = {
    "a quarter of the bytes": lambda tile: nisa.memset(tile.view("uint8")[:, 0:64], 0),
    "half of the bytes": lambda tile: nisa.memset(tile.view("bfloat16")[:, 0:64], 0),
    "some elements eight times": lambda tile: nisa.memset(tile.ap([[64, 4], [1, 8], [0, 8]]), 0),
    "overlapping windows": lambda tile: nisa.memset(tile.ap([[64, 4], [4, 8], [1, 8]]), 0),
    "all of it": lambda tile: nisa.memset(tile.ap([[64, 4], [1, 8], [8, 8]]), 0),
}
"""Each writes as many elements as the tile has."""


@pytest.mark.parametrize("part", PARTS_OF_A_TILE)
def test_the_rest_of_a_tile_is_needed(part: str) -> None:
    def kernel(x):
        out = nl.ndarray((6, 4, 64), nl.float32, buffer=nl.shared_hbm)
        tiles = [nl.ndarray((4, 64), nl.float32, buffer=nl.sbuf) for _ in range(6)]
        for number, tile in enumerate(tiles):
            nisa.dma_copy(tile, x[number])
        for tile in tiles:
            nisa.tensor_scalar(tile, tile, op0=nl.add, operand0=1.0)
        for tile in tiles:
            PARTS_OF_A_TILE[part](tile)
        for number, tile in enumerate(tiles):
            nisa.dma_copy(out[number], tile)
        return out

    x = np.random.default_rng(0).standard_normal((6, 4, 64)).astype(np.float32)
    assert check(nki.jit(kernel, platform_target="trn3").trace(x), [x]) > 0


@pytest.mark.parametrize("is_input", [False, True])
def test_tensors_that_another_core_may_write_are_not_reloaded(is_input: bool) -> None:
    @nki.jit(platform_target="trn2")
    def kernel(x):
        me = nl.program_id(0)
        out = nl.ndarray((5, 4, 64), nl.float32, buffer=nl.shared_hbm)
        shared = x[6] if is_input else nl.ndarray((4, 64), nl.float32, buffer=nl.shared_hbm)
        first = nl.ndarray((4, 64), nl.float32, buffer=nl.sbuf)
        for source in (0, 5):
            if me == 1:
                nisa.dma_copy(first, x[source])
                nisa.dma_copy(shared, first)
            nisa.core_barrier(data=shared, cores=(0, 1))
            if me == 0 and source == 0:
                nisa.dma_copy(first, shared)
            nisa.core_barrier(data=shared, cores=(0, 1))
        if me == 0:
            tiles = [nl.ndarray((4, 64), nl.float32, buffer=nl.sbuf) for _ in range(4)]
            for number, tile in enumerate(tiles):
                nisa.dma_copy(tile, x[number])
            for tile in tiles:
                nisa.tensor_scalar(tile, tile, op0=nl.add, operand0=1.0)
            for number, tile in enumerate((first, *tiles)):
                nisa.dma_copy(out[number], tile)
        nisa.core_barrier(data=out, cores=(0, 1))
        return out

    x = np.random.default_rng(0).standard_normal((7, 4, 64)).astype(np.float32)
    assert check(kernel[2].trace(x), [x]) > 0


# ------------------------------------------------------------------ mistakes


def _never_dirty(self: Any, op: Any, tile: Any) -> bool:
    return True


@pytest.mark.parametrize("mistake", ["repeats what has been written", "forgets to store"])
def test_mistakes_are_seen(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    walk: Any = planning._Walk  # pyright: ignore[reportPrivateUsage]
    if mistake == "repeats what has been written":
        monkeypatch.setattr(walk, "_fills", _never_dirty)
    else:
        arrive = walk._arrive

        def forgets(self: Any, position: int, used: Any) -> bool:
            fillers = [(tile, tile.filler) for tile in used]
            done = arrive(self, position, used)
            for tile, filler in fillers:
                tile.filler = filler
                tile.filled = tile.filled or filler is not None
            return done

        monkeypatch.setattr(walk, "_arrive", forgets)

    def all_the_same() -> None:
        for seed in range(12):
            check(*visible_kernel(seed, "trn2", 16))
            check(*tangled_kernel(seed, "trn3", 24, 0))

    with pytest.raises(AssertionError):
        all_the_same()


def test_a_part_that_counts_as_a_whole_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "fills", lambda tile, part: tile.size <= part.size)

    def all_the_same() -> None:
        for seed in range(16):
            check(*odd_kernel(seed, "trn2", 14, 0))

    with pytest.raises(AssertionError):
        all_the_same()


def _pairs(x: Any, out: Any) -> None:
    """All pairs are loaded before any is used, and tiles used together have two sizes."""
    pairs: list[tuple[Any, Any]] = []
    for row in range(24):
        tiles = [nl.ndarray((128, size), nl.float32, buffer=nl.sbuf) for size in (4096, 2048)]
        for tile in tiles:
            nisa.dma_copy(dst=tile, src=x[row, :, 0 : tile.shape[1]])
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
        pairs.append((tiles[0], tiles[1]))
    for row, (one, two) in enumerate(pairs):
        half = one[:, 0:2048]
        nisa.tensor_tensor(dst=half, data1=half, data2=two, op=nl.add)
        nisa.dma_copy(dst=out[row], src=half)


def test_evictions_depend_on_the_program_alone() -> None:
    specs = nki.TensorSpec((24, 128, 4096), nl.float32), nki.TensorSpec((24, 128, 2048), nl.float32)
    rng, kept, found = Random(0), list[Any](), set[tuple[Any, ...]]()
    for _ in range(8):
        # Objects lie elsewhere each time.
        kept = [object() for _ in range(rng.randint(0, 100_000))][:: rng.randint(1, 7)]
        live = liveness(nki.jit(_pairs).trace(*specs).cores()[0])
        steps = residency(live, 100_000)
        assert steps is not None
        places = {one.result: number for number, one in enumerate(live.ranges)}
        found.add(tuple((s.position, places[s.tile], s.action) for s in steps.steps))
    assert kept
    assert len(found) == 1
