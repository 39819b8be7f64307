"""Cores and ranks that run in threads: the same results, and only where nothing shows it."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from support.backends import natively

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.interpret.records import machine
from nkijit.passes.interpret.records.errors import OutOfBoundsError
from nkijit.passes.interpret.run import launch

ROWS, COLUMNS = 128, 64


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small kernels are long enough, and there are two CPUs."""
    monkeypatch.setattr(launch, "LONG", 0)
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 2)


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the threads that cores have run in."""
    names: set[str] = set()
    before = machine._next

    def noted(runner: Any) -> Any:
        names.add(threading.current_thread().name)
        return before(runner)

    monkeypatch.setattr(machine, "_next", noted)
    return names


def numbers(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


@nki.jit
def halves(x):
    """Each core computes its half of the rows."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    core, count = nl.program_id(0), nl.num_programs(0)
    rows = x.shape[0] // count
    own = slice(core * rows, (core + 1) * rows)
    for _ in range(20):
        tile = nl.ndarray((rows, COLUMNS), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x[own, :])
        nisa.activation(tile, op=nl.tanh, data=tile)
        nisa.dma_copy(out[own, :], tile)
    return out


def test_cores_run_in_threads_with_the_same_results(threads):
    x = numbers(ROWS, COLUMNS)
    expected = halves[2](x)
    assert threads == set()
    with natively():
        for _ in range(20):
            assert np.array_equal(halves[2](x), expected)
    assert threads
    assert all(name.startswith("nkijit-core") for name in threads)


def test_ranks_run_in_threads_and_meet(threads):
    @nki.jit
    def kernel(x):
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        nisa.activation(tile, op=nl.exp, data=tile)
        mine, all_ = (nl.ndarray(x.shape, x.dtype, buffer=nl.private_hbm) for _ in range(2))
        nisa.dma_copy(mine, tile)
        ncc.all_reduce([mine], [all_], replica_group=ncc.ReplicaGroup([[0, 1, 2]]), op=nl.add)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(tile, all_)
        nisa.activation(tile, op=nl.square, data=tile)
        nisa.dma_copy(out, tile)
        return out

    inputs = [(numbers(ROWS, COLUMNS) * rank,) for rank in range(3)]
    expected = nki.run_ranks(kernel, inputs)
    with natively():
        for _ in range(10):
            for one, other in zip(nki.run_ranks(kernel, inputs), expected, strict=True):
                assert np.array_equal(one, other)
    assert threads


def test_watched_runs_execute_one_core_at_a_time(threads):
    x = numbers(ROWS, COLUMNS)

    class Listener:
        def did_run(self, op: Any, written: Any) -> None:
            assert threading.current_thread() is threading.main_thread()

    with natively():
        traced = halves[2].trace(x)
        traced.run(x, listener=Listener())
        traced.run(x, sanitize=True)
    assert threads == set()


def test_prints_come_in_the_order_of_the_cores(threads, capsys):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        core = nl.program_id(0)
        tile = nl.ndarray((64, COLUMNS), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x[core * 64 : core * 64 + 64, :])
        nl.device_print(f"core {core}", tile[0:1, 0:1])
        nisa.dma_copy(out[core * 64 : core * 64 + 64, :], tile)
        return out

    with natively():
        kernel[2](numbers(ROWS, COLUMNS))
    printed = capsys.readouterr().out
    assert printed.index("core 0") < printed.index("core 1")
    assert threads == set()


def test_the_error_is_that_of_the_first_core(threads):
    @nki.jit
    def kernel(x, index):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        core = nl.program_id(0)
        number = nl.ndarray((1, 1), nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(number, index[core : core + 1, :])
        register = nisa.register_alloc()
        nisa.register_load(register, number)
        tile = nl.ndarray((1, COLUMNS), x.dtype, buffer=nl.sbuf)
        source = x.ap([[COLUMNS, 1], [1, COLUMNS]], scalar_offset=register, indirect_dim=0)
        nisa.dma_copy(tile, source)
        nisa.dma_copy(out[core : core + 1, :], tile)
        return out

    x = numbers(ROWS, COLUMNS)
    with natively():
        traced = kernel[2].trace(x, np.zeros((2, 1), np.int32))
        traced.run(x, np.zeros((2, 1), np.int32))
        for _ in range(5):
            with pytest.raises(OutOfBoundsError, match="%register is 1000, legal are 0 to"):
                traced.run(x, np.array([[1000], [2000]], np.int32))
    assert threads


def test_inputs_that_two_cores_write_are_put_back_when_one_fails(threads):
    @nki.jit
    def kernel(x, index):
        core = nl.program_id(0)
        number = nl.ndarray((1, 1), nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(number, index[core : core + 1, :])
        register = nisa.register_alloc()
        nisa.register_load(register, number)
        tile = nl.ndarray((1, COLUMNS), x.dtype, buffer=nl.sbuf)
        nisa.memset(tile, 7.0)
        into = x.ap([[COLUMNS, 1], [1, COLUMNS]], scalar_offset=register, indirect_dim=0)
        nisa.dma_copy(into, tile)

    x = numbers(ROWS, COLUMNS)
    before = x.copy()
    with natively():
        traced = kernel[2].trace(x, np.zeros((2, 1), np.int32))
        with pytest.raises(OutOfBoundsError):
            traced.run(x, np.array([[3], [2000]], np.int32), strict=False)
    assert np.array_equal(x, before)


def test_inputs_are_put_back_after_an_interrupt_when_the_cores_have_ended(monkeypatch):
    @nki.jit
    def kernel(x):
        core = nl.program_id(0)
        tile = nl.ndarray((1, COLUMNS), x.dtype, buffer=nl.sbuf)
        nisa.memset(tile, 7.0)
        nisa.dma_copy(x[core : core + 1, :], tile)
        return x

    begun, before = threading.Barrier(3), machine._next

    def slow(runner: Any) -> Any:
        begun.wait()
        time.sleep(0.2)
        return before(runner)

    def interrupted(_futures: Any) -> None:
        begun.wait()
        raise KeyboardInterrupt

    x = numbers(ROWS, COLUMNS)
    kept = x.copy()
    with natively():
        traced = kernel[2].trace(x)
        traced.run(x.copy())
        monkeypatch.setattr(machine, "_next", slow)
        monkeypatch.setattr(machine, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            traced.run(x)
        time.sleep(0.5)
    assert np.array_equal(x, kept)


BARRIER = (0, 1)


def test_copies_are_not_forwarded_over_writes_of_another_core():
    """A copy is not read where it came from once another core may have been there."""

    @nki.jit
    def kernel(x):
        t = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        core, rows = nl.program_id(0), x.shape[0] // 2
        mine, theirs = nl.ds(core * rows, rows), nl.ds(rows - core * rows, rows)
        first, copied, new, late = (
            nl.ndarray((rows, COLUMNS), x.dtype, buffer=nl.sbuf) for _ in range(4)
        )
        nisa.dma_copy(first, x[mine, :])
        nisa.dma_copy(t[mine, :], first)
        nisa.core_barrier(t, BARRIER)
        nisa.dma_copy(copied, t[theirs, :])
        nisa.core_barrier(t, BARRIER)
        nisa.activation(new, op=nl.square, data=first)
        nisa.dma_copy(t[mine, :], new)
        nisa.core_barrier(t, BARRIER)
        nisa.tensor_scalar(late, copied, op0=nl.add, operand0=1.0)
        nisa.dma_copy(out[mine, :], late)
        return t, out

    x = numbers(ROWS, COLUMNS)
    swapped = np.roll(x, ROWS // 2, axis=0)
    assert [d for d in kernel[2].trace(x).diagnostics if d.severity == "error"] == []
    for _ in range(2):
        with natively():
            t, out = kernel[2](x)
        assert np.array_equal(t, np.square(x))
        assert np.array_equal(out, swapped + 1)
