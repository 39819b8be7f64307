"""The search for garbage is paused, and goes on afterwards as before."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects import collection as pausing
from nkijit.dialects.collection import without_collection
from nkijit.ir.text import parse


@pytest.fixture(autouse=True)
def collection() -> Iterator[None]:
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
def test_it_is_as_before_afterwards(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    with without_collection():
        assert not gc.isenabled()
        with without_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is enabled


def test_also_when_the_work_fails() -> None:
    gc.enable()

    @without_collection()
    def fail() -> None:
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        fail()
    assert gc.isenabled()


class _Cycle:
    """Garbage that only a search finds."""

    def __init__(self) -> None:
        self.itself = self


def _make(count: int) -> weakref.ref[_Cycle]:
    gc.collect()
    with without_collection():
        cycles = [_Cycle() for _ in range(count)]
        return weakref.ref(cycles[0])


def test_few_objects_are_looked_through_at_once() -> None:
    gc.enable()
    garbage = _make(10_000)
    young, middle, _ = gc.get_threshold()
    _ = [[] for _ in range(2 * young * middle)]
    assert garbage() is None


def test_many_are_put_aside_and_looked_through_when_more_come() -> None:
    gc.enable()
    garbage = _make(300_000)
    assert any(isinstance(each, _Cycle) for each in gc.get_objects(generation=2))
    for _ in range(20):
        _make_without_a_search(300_000)
    assert garbage() is None


def test_what_stays_is_not_looked_through_for_each_few_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pausing, "_MANY", 1_000)
    monkeypatch.setattr(pausing, "_MOST_MOVED", 10_000)
    monkeypatch.setattr(pausing, "_moved", 0)
    monkeypatch.setattr(pausing, "_stayed", 0)
    kept: list[Any] = []

    def work() -> None:
        for _ in range(100):
            with without_collection():
                kept.append([[] for _ in range(5_000)])

    # As often as what stays has doubled, which is at least what the tests themselves have.
    assert 1 <= _searches(work, generation=2) <= 4


def _make_without_a_search(count: int) -> None:
    with without_collection():
        kept = [[] for _ in range(count)]
        assert kept


def test_what_somebody_has_frozen_stays_so() -> None:
    gc.enable()
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        _make_without_a_search(300_000)
        assert gc.get_freeze_count() == before
    finally:
        gc.unfreeze()


# ------------------------------------------------------------------ what makes many objects

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
    _copies(1).run(values, values.copy())  # what is imported then makes objects of its own
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
    # There would be 17 to 80; some are left for what comes before and after the work.
    assert _searches(work[step]) <= 8
