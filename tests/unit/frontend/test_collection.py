"""Garbage collection is paused, and goes on afterwards as before."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from threading import Barrier, Event, Thread
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.collection import lasting, without_collection
from nkijit.ir.text import parse


@pytest.fixture(autouse=True)
def collection() -> Iterator[None]:
    was_enabled, was_frozen = gc.isenabled(), gc.get_freeze_count()
    gc.unfreeze()
    yield
    (gc.enable if was_enabled else gc.disable)()
    if was_frozen:
        gc.freeze()


@pytest.mark.parametrize("enabled", [True, False])
def test_it_is_as_before_afterwards(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    with without_collection():
        assert not gc.isenabled()
        with without_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is enabled


def test_lasting_objects_are_in_the_oldest_generation() -> None:
    with lasting():
        made: list[list[int]] = [[] for _ in range(10)]
    oldest = {id(each) for each in gc.get_objects(2)}
    assert {id(each) for each in made} <= oldest
    assert not gc.get_freeze_count()


def test_objects_that_the_caller_has_frozen_stay_frozen() -> None:
    gc.freeze()
    try:
        with lasting():
            pass
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()


def test_also_when_the_work_fails() -> None:
    gc.enable()

    @without_collection()
    def fail() -> None:
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        fail()
    assert gc.isenabled()


def test_it_goes_on_when_the_last_of_several_threads_has_left() -> None:
    gc.enable()
    inside, leave = Barrier(3), [Event(), Event()]

    def work(number: int) -> None:
        with without_collection():
            inside.wait(60)
            leave[number].wait(60)

    threads = [Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    inside.wait(60)
    for number, thread in enumerate(threads):
        assert not gc.isenabled()
        leave[number].set()
        thread.join(60)
    assert gc.isenabled()


def test_threads_that_come_and_go_leave_it_enabled() -> None:
    gc.enable()

    def work() -> None:
        for _ in range(2_000):
            with without_collection():
                pass

    threads = [Thread(target=work) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert gc.isenabled()


def test_nothing_is_frozen() -> None:
    before = gc.get_freeze_count()
    with without_collection():
        kept = [[] for _ in range(300_000)]
    assert kept
    assert gc.get_freeze_count() == before


# ------------------------------------------------------------------ work that creates many objects

SPEC = nki.TensorSpec((128, 64), nl.float32)


def _copies(count: int) -> nki.TracedKernel:
    return nki.jit(_body).trace(SPEC, SPEC, count)


def _body(x: Any, out: Any, count: int) -> None:
    for _ in range(count):
        tile = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.dma_copy(dst=out, src=tile)


def _searches(work: Callable[[], object], generation: int = 0) -> int:
    """How often garbage is looked for meanwhile, in objects of a generation and younger ones."""
    begun: list[str] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if info["generation"] >= generation:
            begun.append(phase)

    gc.enable()
    gc.collect()
    gc.callbacks.append(note)
    try:
        work()
    finally:
        gc.callbacks.remove(note)
    return begun.count("start")


STEPS = ("trace", "verify", "diagnostics", "find", "plan", "parse", "range")


@pytest.mark.parametrize("step", STEPS)
def test_kernels_are_worked_on_without_searches(step: str) -> None:
    values = np.zeros((128, 64), np.float32)
    _copies(1).run(values, values.copy())  # the import then creates its own objects
    traced = _copies(1500)
    text = str(traced)
    if step == "plan":
        traced.verify()
    profile = traced.profile() if step == "range" else None
    work: dict[str, Callable[[], object]] = {
        "trace": lambda: _copies(1500),
        "verify": traced.verify,
        "diagnostics": lambda: traced.diagnostics,
        "find": lambda: traced.find("verify"),
        "plan": lambda: traced.run(values, values.copy()),
        "parse": lambda: parse(text),
        "range": lambda: str(profile),
    }
    # Without the pause there would be 17 to 80; a few remain before and after the work.
    assert _searches(work[step]) <= 8
