"""The search for garbage is paused, and goes on afterwards as before."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from nkijit.collection import without_collection


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
