"""The search for garbage is paused, and goes on afterwards as before."""

from __future__ import annotations

import gc
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
