"""DMAs that change places: nothing is read or overwritten too early, and no queue waits for ever.

The oracle is the interpreter, under interleavings that are made to find mistakes; orderings that
are broken in one place are found by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappush
from typing import Any

import numpy as np
import pytest
from support.lowered_runs import Checked, lowered
from support.streaming_kernels import streaming_kernel

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.tiles import info_of
from nkijit.kernels.arguments import TensorSpec
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.lower import order, waiting
from nkijit.passes.lower.program import EngineInstruction, Program, Queue


def i32(*shape: int, buffer: Any = None) -> Any:
    return nl.ndarray(shape, dtype=nl.int32, buffer=nl.sbuf if buffer is None else buffer)


def add(dst: Any, src: Any, times: int, engine: Any) -> None:
    """Something slow."""
    for _ in range(times):
        nisa.tensor_tensor(dst=dst, data1=src, data2=src, op=nl.add, engine=engine)


# ------------------------------------------------------------------ whose turn it is


@nki.jit(platform_target="trn1")
def _rows_and_blocks(x, rows):
    """Blocks that wait for nothing, and rows that are repeatedly loaded into one tile."""
    count, row = x.shape[0], nl.ndarray((1, 512), nl.float32, buffer=nl.sbuf)
    total = nl.ndarray((1, 512), nl.float32, buffer=nl.sbuf)
    out = nl.ndarray((1, 512), nl.float32, buffer=nl.shared_hbm)
    nisa.memset(total, 0.0)
    for block in range(count):
        tile = nl.ndarray((128, 1024), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(tile, x[block])
        nisa.dma_copy(row, rows[block])
        nisa.tensor_tensor(total, total, row, op=nl.add)
        nisa.tensor_tensor(total, total, tile[0:1, 0:512], op=nl.add)
    nisa.dma_copy(out, total)
    return out


def test_dmas_that_are_ready_early_do_not_pass_those_whose_turn_it_is() -> None:
    """Rings take DMAs as they were started, and triggers cost little here."""
    traced = _rows_and_blocks.trace(
        np.zeros((16, 128, 1024), np.float32), np.zeros((16, 1, 512), np.float32)
    )
    (program,) = traced.programs(schedule="author")
    loads = [item for item in program.queues[Queue.dma_load] if isinstance(item, EngineInstruction)]
    is_row = [info_of(item.op.operands[0]).partitions == 1 for item in loads]
    assert len(is_row) == 32
    for number, place in enumerate(place for place, row in enumerate(is_row) if row):
        # While a row is on its way the DMA engines have time for a few blocks.
        assert place - number <= 3 * number + 4


# ------------------------------------------------------------------ loops before


def _blocks_after_a_loop(target: str, engine: Any, *, on_device: bool) -> Any:
    """80 additions, the store of their sum, and 16 blocks that have nothing to do with it."""

    def kernel(x: Any) -> Any:
        out, sums = i32(16, 128, 512, buffer=nl.shared_hbm), i32(128, 512, buffer=nl.shared_hbm)
        total = i32(128, 512)
        nisa.memset(total, 0, engine=nisa.vector_engine)

        def body(_: Any) -> None:
            add(total, total, 1, engine)

        if on_device:
            nl.fori_loop(0, 80, body)
        else:
            for step in range(80):
                body(step)
        nisa.dma_copy(dst=sums, src=total)
        for page in range(16):
            tile, result = i32(128, 512), i32(128, 512)
            nisa.dma_copy(dst=tile, src=x[page])
            add(result, tile, 1, nisa.vector_engine)
            nisa.dma_copy(dst=out[page], src=result)
        return out, sums

    return nki.jit(kernel, platform_target=target).trace(TensorSpec((16, 128, 512), "int32"))


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
@pytest.mark.parametrize("engine", [nisa.vector_engine, nisa.gpsimd_engine])
def test_a_store_that_waits_for_a_loop_holds_up_none_that_does_not(
    engine: Any, target: str
) -> None:
    looped, unrolled = (
        _blocks_after_a_loop(target, engine, on_device=on_device).profile(schedule="author").time
        for on_device in (True, False)
    )
    assert looped == pytest.approx(unrolled, rel=0.01)


def test_loops_one_after_the_other_and_in_another_one() -> None:
    """Loads and stores of two tiles beside an inner loop that needs neither."""

    def time(*, on_device: bool) -> float:
        def kernel(x: Any) -> Any:
            out, slow = i32(8, 128, 512, buffer=nl.shared_hbm), i32(128, 512)
            nisa.memset(slow, 0, engine=nisa.vector_engine)

            def twenty(body: Any) -> None:
                if on_device:
                    nl.fori_loop(0, 20, body)
                else:
                    for step in range(20):
                        body(step)

            for page in range(0, 8, 4):
                twenty(lambda _: add(slow, slow, 1, nisa.gpsimd_engine))
                nisa.dma_copy(dst=out[page], src=slow)
                for other in range(1, 4):
                    tile, result = i32(128, 512), i32(128, 512)
                    nisa.dma_copy(dst=tile, src=x[page + other])
                    add(result, tile, 1, nisa.vector_engine)
                    nisa.dma_copy(dst=out[page + other], src=result)
            return out

        traced = nki.jit(kernel, platform_target="trn2").trace(TensorSpec((8, 128, 512), "int32"))
        return traced.profile(schedule="author").time

    assert time(on_device=True) <= 1.03 * time(on_device=False)


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_a_run_that_orders_triggers_ends_when_the_simulated_one_does(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[float] = []
    fastest = order._Region.fastest  # pyright: ignore[reportPrivateUsage]

    def noted(self: Any) -> Any:
        run = fastest(self)
        ends.append(run.end)
        return run

    monkeypatch.setattr(order._Region, "fastest", noted)  # pyright: ignore[reportPrivateUsage]
    for seed in range(12):
        traced, _ = streaming_kernel(seed, target, 20, 0)
        ends.clear()
        time = traced.profile(schedule="author").time
        assert ends[0] == pytest.approx(time, rel=0.01)


# ------------------------------------------------------------------ regressions


@nki.jit(platform_target="trn2")
def _loaded_in_halves(x):
    """The load of a tile's first half waits for a reader, that of the second half does not."""
    out, late = i32(2, 4, 8, buffer=nl.shared_hbm), i32(4, 8)
    tile, both = i32(4, 8), i32(4, 8)
    nisa.memset(dst=late, value=0)
    nisa.dma_copy(dst=tile, src=x[0])
    add(late[:, 0:4], tile[:, 0:4], 30, nisa.gpsimd_engine)
    nisa.dma_copy(dst=tile[:, 0:4], src=x[1][:, 0:4])
    nisa.dma_copy(dst=tile[:, 4:8], src=x[1][:, 4:8])
    add(both, tile, 1, nisa.vector_engine)
    nisa.dma_copy(dst=out[0], src=both)
    nisa.dma_copy(dst=out[1], src=late)
    return out


@nki.jit(platform_target="trn2")
def _stored_in_halves(x):
    """The first half of a page is stored later than the second one; then it is overwritten."""
    out, late, tile = i32(4, 8, buffer=nl.shared_hbm), i32(4, 8), i32(4, 8)
    nisa.dma_copy(dst=late, src=x[0])
    nisa.dma_copy(dst=tile, src=x[1])
    add(late, late, 30, nisa.gpsimd_engine)
    nisa.dma_copy(dst=out[:, 0:4], src=late[:, 0:4])
    nisa.dma_copy(dst=out[:, 4:8], src=tile[:, 4:8])
    nisa.dma_copy(dst=out, src=x[2])
    return out


@nki.jit(platform_target="trn2")
def _read_back(x):
    """The same, and then it is loaded."""
    out, page = i32(4, 8, buffer=nl.shared_hbm), i32(4, 8, buffer=nl.private_hbm)
    late, tile, read = i32(4, 8), i32(4, 8), i32(4, 8)
    nisa.dma_copy(dst=late, src=x[0])
    nisa.dma_copy(dst=tile, src=x[1])
    add(late, late, 30, nisa.gpsimd_engine)
    nisa.dma_copy(dst=page[:, 0:4], src=late[:, 0:4])
    nisa.dma_copy(dst=page[:, 4:8], src=tile[:, 4:8])
    nisa.dma_copy(dst=read, src=page)
    add(read, read, 1, nisa.vector_engine)
    nisa.dma_copy(dst=out, src=read)
    return out


@nki.jit(platform_target="trn2")
def _around_a_loop_without_dmas(x):
    """A loop needs a late load in one queue; the result of another queue is stored."""
    out = i32(2, 4, 8, buffer=nl.shared_hbm)
    late, total, once, tile = i32(4, 8), i32(4, 8), i32(4, 8), i32(4, 8)
    nisa.dma_copy(dst=late, src=x[0])
    nisa.memset(dst=total, value=0)
    add(once, late, 30, nisa.gpsimd_engine)
    nisa.dma_copy(dst=late, src=x[1])
    for _ in nl.dynamic_range(3):
        add(tile, late, 1, nisa.gpsimd_engine)
        nisa.tensor_tensor(total, total, tile, op=nl.add, engine=nisa.vector_engine)
    nisa.dma_copy(dst=out[0], src=total)
    nisa.dma_copy(dst=out[1], src=once)
    return out


@pytest.mark.parametrize(
    "kernel", [_loaded_in_halves, _stored_in_halves, _read_back, _around_a_loop_without_dmas]
)
def test_regressions(kernel: Any) -> None:
    x = np.arange(96, dtype=np.int32).reshape(3, 4, 8)
    for ahead in (None, 0):
        Checked(lowered(kernel.trace(x), ahead), [x], all_bits=True).check(range(40))


# ------------------------------------------------------------------ random kernels


def streams(seeds: range, target: str) -> Iterator[tuple[list[Program], Any]]:
    for seed in seeds:
        for length, depth in ((6, 2), (8, 1), (20, 0)):
            traced, inputs = streaming_kernel(seed, target, length, depth)
            yield lowered(traced, 0 if seed % 2 else None), inputs


def changed_rings(program: Program) -> int:
    """How many rings have another order than the program, in loops."""
    found = 0
    for items in (items for loop, items in program.blocks.items() if loop is not None):
        for queue in {item.queue for item in items if item.queue.is_ring}:
            own = [i.number for i in items if i.queue is queue and isinstance(i, EngineInstruction)]
            found += own != sorted(own)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_streams_of_dmas(target: str) -> None:
    changed = 0
    for programs, inputs in streams(range(4), target):
        Checked(programs, inputs, all_bits=True).check()
        changed += sum(map(changed_rings, programs))
    assert changed


def test_a_store_that_waits_holds_up_no_other_one_in_a_loop() -> None:
    @nki.jit(platform_target="trn2")
    def kernel(x: Any) -> Any:
        out = i32(2, 4, 8, buffer=nl.shared_hbm)
        late, early = i32(4, 8), i32(4, 8)
        for _ in nl.dynamic_range(2):
            nisa.dma_copy(dst=late, src=x[0])
            add(late, late, 40, nisa.gpsimd_engine)
            nisa.dma_copy(dst=out[0], src=late)
            nisa.dma_copy(dst=early, src=x[1])
            add(early, early, 1, nisa.vector_engine)
            nisa.dma_copy(dst=out[1], src=early)
        return out

    x = np.arange(64, dtype=np.int32).reshape(2, 4, 8)
    (program,) = programs = kernel.trace(x).programs()
    (loop,) = program.loops
    stores = [
        item.number
        for item in loop.queues[Queue.dma_store].items
        if isinstance(item, EngineInstruction)
    ]
    assert len(stores) == 2
    assert stores == sorted(stores, reverse=True)
    Checked(programs, [x], all_bits=True).check()


# ------------------------------------------------------------------ broken orderings


def is_wrong(programs: list[Program], inputs: Any) -> bool:
    checked = Checked(programs, inputs, all_bits=True)
    try:
        return not all(checked.is_right(seed) for seed in range(14))
    except InterpretationError:
        return True


def test_rings_that_do_not_keep_their_order_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "_followers", lambda *_: {})
    x = np.arange(96, dtype=np.int32).reshape(3, 4, 8)
    assert is_wrong(lowered(_loaded_in_halves.trace(x), 0), [x])
    assert is_wrong(lowered(_read_back.trace(x), 8), [x])


def test_writes_that_are_not_waited_for_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_RINGS", frozenset())
    x = np.arange(96, dtype=np.int32).reshape(3, 4, 8)
    assert is_wrong(lowered(_stored_in_halves.trace(x), 0), [x])


def test_dmas_that_pass_a_loop_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "groupby", lambda items, _: [(False, list(items))])
    x = np.arange(96, dtype=np.int32).reshape(3, 4, 8)
    assert is_wrong(lowered(_around_a_loop_without_dmas.trace(x), 0), [x])


@pytest.mark.slow
def test_a_dependence_that_the_order_forgets_is_found_in_loops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DMAs of a loop go in the opposite order wherever their rings allow it."""

    def backwards(self: Any, trigger: int) -> None:
        heappush(self._ready, (-trigger, trigger))

    run = order._Run  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(run, "_make_ready", backwards)
    assert not any(is_wrong(*one) for one in streams(range(3), "trn2"))
    monkeypatch.setattr(order, "_followers", lambda *_: {})
    assert any(is_wrong(*one) for one in streams(range(3), "trn2"))
