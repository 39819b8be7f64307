"""The memory of runs: at most the memory live at a time, reused between calls, and exact."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.fresh_process import in_fresh_process

import nkijit as nki
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.errors import OutOfBoundsError
from nkijit.passes.interpret.steps import arena
from nkijit.passes.interpret.steps.arena import WORKSPACES, Lifetime, ResultPool, arrange

P, F = 128, 512
TILE = P * F * 4


def plan_of(kernel: Any, *inputs: Any) -> Plan:
    """The plan of a kernel on one core."""
    (ir,) = kernels_of(kernel.trace(*inputs).module)
    return Plan(ir)


def chain_of(tiles: int) -> Any:
    """Return a kernel with a given number of tiles, of which two are in use at a time."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        last = nl.ndarray((P, F), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(last, x)
        for _ in range(tiles - 1):
            new = nl.ndarray((P, F), nl.float32, buffer=nl.sbuf)
            nisa.tensor_scalar(new, last, op0=nl.add, operand0=1.0)
            last = new
        nisa.dma_copy(out, last)
        return out

    return kernel


def ones() -> Any:
    return np.ones((P, F), np.float32)


# -- how much -------------------------------------------------------------------------------------


def test_memory_equals_the_tiles_live_at_a_time():
    plan = plan_of(chain_of(800), ones())
    env = plan.start([ones()])
    assert env[plan.body.observer] is None
    arenas = {id(array.base): array.base.size for array in _tiles(plan, env)}
    assert sum(arenas.values()) <= 2 * TILE * 1.2
    (result,) = plan.run([ones()])
    assert (result == 800).all()


def _tiles(plan: Plan, env: Any) -> list[Any]:
    return [env[buffer.slot] for buffer in plan._passing]


def test_tensors_that_are_in_use_together_lie_apart():
    lives = [(0, 0, 9), (1, 0, 3), (2, 4, 9), (3, 3, 4), (4, 5, 5)]
    made = arrange([(slot, 1000, Lifetime(a, b, False, True)) for slot, a, b in lives])
    for slot, first, last in lives:
        for other, first2, last2 in lives:
            if slot < other and first <= last2 and first2 <= last:
                assert abs(made.offsets[slot] - made.offsets[other]) >= 1000
    assert all(at % 64 == 0 for at in made.offsets.values())
    assert made.size == 3 * 1024


@pytest.mark.posix
def test_a_warm_call_touches_no_new_page():
    in_fresh_process(_no_new_page)


def _no_new_page() -> None:
    import resource

    @nki.jit
    def kernel(x):
        out = nl.ndarray((64 * P, F), x.dtype, buffer=nl.shared_hbm)
        tiles = [nl.ndarray((P, F), nl.float32, buffer=nl.sbuf) for _ in range(64)]
        for tile in tiles:
            nisa.dma_copy(tile, x)
        for i, tile in enumerate(tiles):
            nisa.dma_copy(out[i * P : (i + 1) * P, :], tile)
        return out

    x = ones()
    for _ in range(5):
        result = kernel(x)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    result = kernel(x)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    assert (result == 1).all()
    # There were 6,600 of them: 64 tiles and the result.
    assert faults < 100


# -- contents -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int32", "uint8"])
def test_unwritten_memory_is_initialised_after_other_tiles(name):
    dtype = getattr(nl, name)

    @nki.jit
    def kernel(x):
        out = nl.ndarray((P, F), dtype, buffer=nl.shared_hbm)
        first = nl.ndarray((P, F), dtype, buffer=nl.sbuf)
        nisa.dma_copy(first, x)
        nisa.dma_copy(out, first)
        # Nothing needs the first tile any more.
        second = nl.ndarray((P, F), dtype, buffer=nl.sbuf)
        nisa.memset(second[:, 0:1], 1)
        nisa.dma_copy(out, second)
        return out

    x = np.zeros((P, F)).astype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    plan = plan_of(kernel, x)
    for _ in range(3):
        (result,) = plan.run([x])
        rest = result[:, 1:].astype(np.float64)
        assert (result[:, 0].astype(np.float64) == 1).all()
        assert np.isnan(rest).all() if "float" in name else (rest == 4).all()


def test_results_are_the_callers():
    kernel = chain_of(3)
    results = [kernel(ones() * i) for i in range(4)]
    views = [kernel(ones() * i)[:1, ::2] for i in range(4)]
    for i, (result, view) in enumerate(zip(results, views, strict=True)):
        assert (result == i + 2).all()
        assert (view == i + 2).all()
        assert result.flags.writeable


def test_memory_of_results_is_used_again():
    pool = ResultPool()
    first = pool.take(1 << 20)
    address = first.ctypes.data
    view = first[5:]
    del first
    second = pool.take(1 << 20)
    assert second.ctypes.data != address
    del view
    assert pool.take(1 << 20).ctypes.data == address


def test_memory_of_results_that_are_held_is_not_used_again_and_kept_within_bounds():
    size = 1 << 20
    pool = ResultPool()
    held = [pool.take(size) for _ in range(2 * arena.MOST_CHECKED)]
    assert len({each.ctypes.data for each in held}) == len(held)
    for number, each in enumerate(held):
        each[...] = number
    assert all((each == number).all() for number, each in enumerate(held))
    assert pool.take(arena.RETAINED_BYTES + size).size == arena.RETAINED_BYTES + size
    assert pool._bytes <= arena.RETAINED_BYTES
    results = [pool.take(arena.RETAINED_BYTES // 4) for _ in range(6)]
    assert len({each.ctypes.data for each in results}) == 6
    assert pool._bytes <= arena.RETAINED_BYTES


def test_results_that_are_written_by_parts_need_no_fill():
    def kernel_of(parts: list[tuple[slice, slice]]) -> Any:
        @nki.jit
        def kernel(x):
            out = nl.ndarray((P, F), x.dtype, buffer=nl.shared_hbm)
            tile = nl.ndarray((P, F), x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(tile, x)
            for rows, columns in parts:
                nisa.dma_copy(out[rows, columns], tile[rows, columns])
            return out

        return kernel

    top, bottom, rest = slice(0, 64), slice(64, P), slice(0, P)
    left, right, all_ = slice(0, 200), slice(200, F), slice(0, F)
    whole = [
        [(top, all_), (bottom, all_)],
        [(rest, left), (rest, right)],
        [(top, left), (bottom, right), (top, right), (bottom, left)],
    ]
    for parts in whole:
        plan = plan_of(kernel_of(parts), ones())
        assert plan.filled == {}
        assert plan_of(kernel_of(parts[:-1]), ones()).filled != {}
    (result,) = plan_of(kernel_of([(top, left), (bottom, right)]), ones()).run([ones()])
    assert np.isnan(result[:64, 200:]).all()


# -- users ----------------------------------------------------------------------------------------


def test_threads_have_arenas_of_their_own():
    plan = plan_of(chain_of(30), ones())
    wrong: list[int] = []

    def run(number: int) -> None:
        for _ in range(20):
            (result,) = plan.run([ones() * number])
            if not (result == number + 29).all():
                wrong.append(number)

    threads = [threading.Thread(target=run, args=[n]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_run_inside_of_a_run_has_an_arena_of_its_own():
    plan = plan_of(chain_of(5), ones())
    results: list[Any] = []

    class Listener:
        def did_run(self, op, written):
            if len(results) < 3:
                results.append(None)
                results[-1] = plan.run([ones() * 10])[0]

    (result,) = plan.run([ones()], Listener())
    assert (result == 5).all()
    assert all((inner == 14).all() for inner in results)


def test_a_failed_run_leaves_no_arena():
    @nki.jit
    def kernel(x, index):
        out = nl.ndarray((1, F), x.dtype, buffer=nl.shared_hbm)
        number = nl.ndarray((1, 1), nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(number, index)
        tile = nl.ndarray((1, F), x.dtype, buffer=nl.sbuf)
        register = nisa.register_alloc()
        nisa.register_load(register, number)
        nisa.dma_copy(tile, x.ap([[F, 1], [1, F]], scalar_offset=register, indirect_dim=0))
        nisa.dma_copy(out, tile)
        return out

    x = ones()
    for index in (3, 5):
        assert (kernel(x, np.full((1, 1), index, np.int32)) == 1).all()
        with pytest.raises(OutOfBoundsError):
            kernel(x, np.full((1, 1), 1000, np.int32))


class _Known:
    """A replacement for a plan: only its identity is used."""


def test_a_plan_may_come_to_its_end_in_another_thread():
    """Its memory ends with it, and is not given to another plan that gets the same identity."""
    held = [_Known()]
    number, left = id(held[0]), _Known()
    kept = weakref.ref(left)
    WORKSPACES.give(held[0], 0, [left], 1)
    del left
    ending = threading.Thread(target=held.clear)
    ending.start()
    ending.join()
    assert kept() is None
    # Whether its memory is used again for one of these is up to the version of Python.
    others = [_Known() for _ in range(1000)]
    same = [other for other in others if id(other) == number]
    assert [WORKSPACES.take(other, 0) for other in same] == [None] * len(same)


def test_memory_of_an_ended_plan_is_taken_once():
    plan, other = _Known(), _Known()
    env = [1]
    WORKSPACES.give(plan, 1, env, 8)
    assert WORKSPACES.take(plan, 0) is WORKSPACES.take(other, 1) is None
    assert WORKSPACES.take(plan, 1) is env
    assert WORKSPACES.take(plan, 1) is None
