"""Orders of regions: caching changes none, and instructions far ahead leave memory for others."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from support.instructions import kernel_of
from xdsl.ir import Block

from nkijit.dialects.hardware.targets import Target, target_named
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.costs import InstructionCost
from nkijit.passes.compile.analyses.regions import Region
from nkijit.passes.compile.passes import list_schedule
from nkijit.passes.lower.program import Queue

TARGET = target_named("trn2")
QUEUES = (Queue.vector, Queue.scalar, Queue.gpsimd, Queue.dma_load)


def a_stretch(seed: int) -> tuple[Region, list[InstructionCost]]:
    """Instructions that share large tiles, of both memories, and wait for few others."""
    rng = random.Random(seed)
    stretch = Region(Block())
    count = rng.randint(4, 60)
    queues = rng.sample(QUEUES, rng.randint(1, len(QUEUES)))
    memories = (TARGET.sbuf_usable_bytes, TARGET.psum_partition_bytes)
    for _ in range(rng.randint(1, count)):
        memory = rng.randrange(2)
        stretch.sizes.append((memory, float(memories[memory] // rng.randint(2, 12))))
    tiles = range(len(stretch.sizes))
    stretch.tiles = [rng.sample(tiles, min(len(tiles), rng.randint(0, 2))) for _ in range(count)]
    stretch.users = [sum(tile in each for each in stretch.tiles) for tile in tiles]
    before = [rng.sample(range(n), min(n, rng.choice((0, 0, 1, 2)))) for n in range(count)]
    stretch.waiting = [len(each) for each in before]
    stretch.after = [[n for n in range(count) if other in before[n]] for other in range(count)]
    costs: list[InstructionCost] = []
    for number in range(count):
        queue = rng.choice(queues)
        issue = rng.choice((50.0, 100.0, 300.0))
        table = rng.choice((None, "exp", "tanh")) if queue is Queue.scalar else None
        costs.append(
            InstructionCost(queue, queue, issue, issue + rng.choice((0.0, 60.0)), table, number)
        )
    return stretch, costs


def orders(seed: int) -> list[Any]:
    """Return the orders of a region by program order, and by a random one."""
    stretch, costs = a_stretch(seed)
    rng = random.Random(seed)
    places = [float(place) for place in range(len(costs))]
    found: list[Any] = []
    for priorities in (places, rng.sample(places, len(places))):
        run = list_schedule._Run(  # pyright: ignore[reportPrivateUsage]
            stretch, costs, TARGET, priorities
        )
        run.run()
        found.append((run.end, run.order))
    return found


def most_in_use(stretch: Region, order: Sequence[int]) -> list[float]:
    """Return the most bytes of SBUF and of PSUM in use when instructions run in an order."""
    most = list(stretch.used)
    for place in range(len(order)):
        before = {tile for number in order[: place + 1] for tile in stretch.tiles[number]}
        after = {tile for number in order[place:] for tile in stretch.tiles[number]}
        used = list(stretch.used)
        for tile in before & after:
            memory, size = stretch.sizes[tile]
            used[memory] += size
        most = [max(pair) for pair in zip(most, used, strict=True)]
    return most


def test_orders_keep_dependences_and_fit_into_memory() -> None:
    capacity = TARGET.sbuf_usable_bytes, TARGET.psum_partition_bytes
    reordered = 0
    for seed in range(300):
        stretch, _ = a_stretch(seed)
        written = list(range(len(stretch.tiles)))
        limits = [max(pair) for pair in zip(capacity, most_in_use(stretch, written), strict=True)]
        for _, order in orders(seed):
            assert sorted(order) == written
            place = {number: at for at, number in enumerate(order)}
            for number, others in enumerate(stretch.after):
                assert all(place[number] < place[other] for other in others)
            used = most_in_use(stretch, order)
            assert all(u <= limit for u, limit in zip(used, limits, strict=True)), seed
            reordered += order != written
    assert reordered > 300


@pytest.mark.parametrize("following", [2, 8, 64])
def test_rechecks_of_instructions_without_memory_find_nothing_else(
    following: int, monkeypatch: pytest.MonkeyPatch
):
    """`following`: the number of instructions that may take memory reserved for the next ones."""
    monkeypatch.setattr(list_schedule, "_NEXT", following)
    remembered = [orders(seed) for seed in range(400)]
    # A lane that forgets checks its instructions repeatedly.
    forgetful = property(lambda self: None, lambda self, value: None)
    monkeypatch.setattr(
        list_schedule._Lane,
        "stuck",
        forgetful,
        raising=False,  # pyright: ignore[reportPrivateUsage]
    )
    assert [orders(seed) for seed in range(400)] == remembered


def test_equivalent_regions_are_ordered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    analyses = Analyses(kernel_of(target="trn2"))
    once = list_schedule.fastest
    asked: list[Region] = []

    def counted(stretch: Region, costs: list[InstructionCost], target: Target) -> Any:
        asked.append(stretch)
        return once(stretch, costs, target)

    monkeypatch.setattr(list_schedule, "fastest", counted)
    seeds = range(100)
    for _ in range(2):
        for seed in seeds:
            stretch, costs = a_stretch(seed)
            best = list_schedule.best_order(stretch, costs, analyses)
            assert best == once(stretch, costs, TARGET), seed
    assert len(asked) == len(seeds)


@pytest.mark.parametrize("what", ["costs", "after", "tiles", "sizes", "used"])
def test_nothing_that_decides_on_an_order_is_left_out(what: str) -> None:
    """A region that differs in one thing from one that was ordered before."""
    different = 0
    for seed in range(60):
        analyses = Analyses(kernel_of(target="trn2"))
        stretch, costs = a_stretch(seed)
        before = list_schedule.best_order(stretch, costs, analyses)
        rng = random.Random(seed)
        number = rng.randrange(len(costs))
        if what == "costs":
            costs[number] = costs[number]._replace(issue=2000.0, latency=2000.0, form=1000)
        elif what == "after":
            stretch.after = [[] for _ in costs]
            stretch.waiting = [0 for _ in costs]
        elif what == "tiles":
            stretch.tiles = [[] for _ in costs]
        elif what == "sizes":
            stretch.sizes = [(memory, size / 64) for memory, size in stretch.sizes]
        else:
            stretch.used = [0.7 * TARGET.sbuf_usable_bytes, 0.9 * TARGET.psum_partition_bytes]
        after = list_schedule.best_order(stretch, costs, analyses)
        assert after == list_schedule.fastest(stretch, costs, TARGET), seed
        different += after != before
    assert different


def test_instructions_far_ahead_leave_memory_for_the_next_ones() -> None:
    """A chain in each block, whose first part needs nothing and would fill the memory."""
    blocks, parts, tiles_in_sbuf = 100, 4, 24
    stretch, costs = Region(Block()), []
    size = float(TARGET.sbuf_usable_bytes // tiles_in_sbuf)
    for block in range(blocks):
        for part in range(parts):
            number, tile = len(costs), len(stretch.sizes)
            stretch.sizes.append((0, size))
            stretch.users.append(1 if part == parts - 1 else 2)
            stretch.tiles.append([tile] if part == 0 else [tile - 1, tile])
            stretch.waiting.append(0 if part == 0 else 1)
            stretch.after.append([] if part == parts - 1 else [number + 1])
            queue = Queue.scalar if part == 0 else Queue.vector
            costs.append(InstructionCost(queue, queue, 90.0, 190.0, None, block * parts + part))
    time, order = list_schedule.fastest(stretch, costs, TARGET)
    vector = blocks * (parts - 1) * 90.0
    in_order = blocks * (parts - 1) * 190.0
    assert time < 1.1 * vector < in_order
    assert sorted(order) == list(range(len(costs)))
