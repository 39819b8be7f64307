"""Which program is taken for the compiler's: its own, or the author's where nothing has changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.compile.pipeline import SpreadEnginesPass, program_of
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.lower.program import What
from nkijit.passes.profile.simulate import simulate

X = np.zeros((4, 128, 64), np.float32)


def _tile(columns: int) -> Any:
    return nl.ndarray((128, columns), nl.float32, buffer=nl.sbuf)


def _loaded(source: Any) -> Any:
    tile = _tile(source.shape[-1])
    nisa.dma_copy(dst=tile, src=source)
    return tile


def _doubled(source: Any, out: Any) -> None:
    tile, result = _loaded(source), _tile(source.shape[-1])
    nisa.tensor_tensor(dst=result, data1=tile, data2=tile, op=nl.add)
    nisa.dma_copy(dst=out, src=result)


@nki.jit
def _nothing_to_change(x: Any) -> Any:
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(4):
        _doubled(x[i], out[i])
    return out


def test_a_kernel_unchanged_by_the_compiler_is_the_authors() -> None:
    traced = _nothing_to_change.trace(X)
    (own,), (made,) = traced.programs(schedule="author"), traced.programs(schedule="compiler")
    assert made.queues is own.queues, "it is lowered once"
    assert own.changes is None
    assert made.changes is not None
    assert not any(made.changes.values())
    author, compiled = traced.listing(schedule="author"), traced.listing(schedule="compiler")
    assert compiled.splitlines()[0] == "schedule compiler: nothing to change"
    assert compiled.splitlines()[1:] == author.splitlines()[1:]
    profile, alone = traced.profile(), traced.profile(schedule="author")
    assert profile.author == profile.time == alone.time
    assert alone.author is None


@nki.jit
def _one_core_repeats_itself(x: Any) -> Any:
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    core = nl.program_id(0)
    halves = x.reshape((2, 2, 128, 64))[core], out.reshape((2, 2, 128, 64))[core]
    for i in nl.dynamic_range(2):
        _doubled(*(half[i] for half in halves))
    if core == 1:
        for _ in range(3):  # the second and the third one are the first one's
            again, total = _loaded(x[3]), _tile(64)
            nisa.tensor_tensor(dst=total, data1=again, data2=again, op=nl.add)
            nisa.dma_copy(dst=out[3], src=total)
    return out


def test_each_core_is_compiled_where_it_changes() -> None:
    traced = _one_core_repeats_itself[2].trace(X)
    own, made = traced.programs(schedule="author"), traced.programs(schedule="compiler")
    assert made[0].queues is own[0].queues
    assert made[1].queues is not own[1].queues
    profile = traced.profile()
    assert profile.author is not None
    assert profile.author == traced.profile(schedule="author").time
    assert profile.time <= profile.author


@nki.jit
def _copies_between_exponentials(x: Any, copies: int) -> Any:
    (count, _, columns) = x.shape
    out = nl.ndarray((count, 128, copies, columns), nl.float32, buffer=nl.shared_hbm)
    tile, result = _tile(columns), _tile(columns)
    all_of_them = nl.ndarray((128, copies, columns), nl.float32, buffer=nl.sbuf)
    for i in range(count):
        nisa.dma_copy(dst=tile, src=x[i])
        nisa.activation(dst=result, op=nl.exp, data=tile)
        for c in range(copies):
            nisa.tensor_copy(dst=all_of_them[:, c], src=result)
        nisa.dma_copy(dst=out[i], src=all_of_them)
    return out


def _table_loads(program: Any) -> int:
    return sum(each.what is What.load_table for each in program.instructions)


@pytest.mark.parametrize(
    ("columns", "copies", "moves"),
    [pytest.param(128, 4, False, id="short"), pytest.param(512, 16, True, id="long")],
)
def test_copies_move_unless_loads_of_tables_take_longer(
    columns: int, copies: int, moves: bool
) -> None:
    x = np.zeros((8, 128, columns), np.float32)
    traced = _copies_between_exponentials.for_target("trn1").trace(x, copies)
    kernel = traced.cores()[0]
    spread = program_of(kernel, Schedule.compiler)
    assert _table_loads(spread) > 1, "spread-engines alone moves copies between exponentials"
    stay = program_of(kernel, Schedule.compiler, without=[SpreadEnginesPass.name])
    assert _table_loads(stay) == 1
    times = {name: simulate([one]).total for name, one in (("move", spread), ("stay", stay))}
    assert (times["move"] < times["stay"]) is moves
    (chosen,) = traced.programs(schedule="compiler")
    assert (_table_loads(chosen) > 1) is moves
