"""The duration of a simulation is bounded for any loops of a kernel."""

from __future__ import annotations

import time

import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.profile.iterations import FEWEST, LEAST, MOST, Iterations
from nkijit.passes.profile.simulate import SimulationError, simulate


@nki.jit
def nested(depth, trips):
    tile = nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf)

    def loop(left):
        if not left:
            nisa.memset(tile, 0.0, engine=nisa.engine.vector)
            return
        for _ in nl.dynamic_range(trips):
            loop(left - 1)

    loop(depth)


def _programs(depth, trips):
    return nested.for_target("trn2").trace(depth, trips).programs()


@pytest.mark.parametrize(
    ("depth", "trips", "limit"), [(1, 9, 5), (2, 1000, 300), (6, 10_000, 500), (8, 1000, 100_000)]
)
def test_loops_in_loops_keep_to_the_limit(depth, trips, limit):
    programs = _programs(depth, trips)
    found = simulate(programs, limit=limit)
    assert len(found.events) <= max(limit, FEWEST**depth)
    exact = trips**depth * 256 / 0.96
    assert found.total == pytest.approx(exact, rel=0.5)
    assert all(loop.limit == limit for loop in found.loops)


def test_two_iterations_are_enough_for_equivalent_loops():
    """The second iteration represents all later ones."""
    whole = simulate(_programs(3, 20), limit=10**6)
    part = simulate(_programs(3, 20), limit=8)
    assert len(part.events) == FEWEST**3
    assert part.total == pytest.approx(whole.total, rel=0.1)


@pytest.mark.parametrize("limit", [100, 63])
def test_few_iterations_are_the_last_resort(limit):
    (program,) = _programs(2, 50)
    counts = set(Iterations(program, 1, limit).simulated.values())
    assert counts == ({LEAST} if limit >= LEAST**2 else {FEWEST})


@pytest.mark.parametrize("depth", [4, 30])
def test_more_than_that_is_refused_at_once(depth):
    programs = _programs(depth, 10)
    started = time.monotonic()
    with pytest.raises(SimulationError, match=f"{depth} deep.* NKIJIT_SIMULATION_LIMIT is 15"):
        simulate(programs, limit=15)
    assert time.monotonic() - started < 60


def test_a_program_without_loops_has_no_limit():
    assert len(simulate(_programs(0, 1), limit=0).events) == 1


def test_the_limit_of_the_environment(monkeypatch):
    monkeypatch.setenv("NKIJIT_SIMULATION_LIMIT", "15")
    with pytest.raises(SimulationError, match="NKIJIT_SIMULATION_LIMIT is 15"):
        simulate(_programs(4, 10))
    for wrong in ("0", "-1", "many", ""):
        monkeypatch.setenv("NKIJIT_SIMULATION_LIMIT", wrong)
        with pytest.raises(SimulationError, match="expected a positive integer"):
            simulate(_programs(4, 10))


@pytest.mark.parametrize("iterations", [-1, MOST + 1, 10**400, -(10**400), 10**5000], ids=range(5))
def test_iterations_that_no_loop_has(iterations):
    with pytest.raises(ValueError, match=r"a loop cannot run for .* only for 0 to 2147483647"):
        simulate(_programs(1, 1), iterations=iterations)
