"""Dependences between iterations and instances, against sets of elements.

The oracle follows a kernel element by element: for each, the last writer and the readers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.calls import calls_of

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
from nkijit import NkiValidationError

RULE = "err_unexpected_output_dependencies"
X = np.ones((4, 8, 4), np.float32)


def found(kernel: Any, *arguments: Any) -> list[str]:
    """The findings of the rule."""
    return [d.message for d in kernel.trace(*arguments).diagnostics if d.rule.id == RULE]


Step = tuple[str, int, int, int, int]
"""The action (read, write, or add), and the rows and columns: first and one past the last."""


@st.composite
def steps(draw: st.DrawFn) -> Step:
    row, column = draw(st.integers(0, 1)) * 32, draw(st.integers(0, 6))
    end = draw(st.integers(column + 1, 8))
    return draw(st.sampled_from(["read", "write", "add"])), row, row + 8, column, end


def expected(iterations: list[list[Step]]) -> bool:
    """Whether some element is used by two iterations, other than to read or to add up only."""
    users: dict[tuple[int, int], set[tuple[int, str]]] = defaultdict(set)
    for number, todo in enumerate(iterations):
        for what, row, row_end, column, column_end in todo:
            for r in range(row, row_end):
                for c in range(column, column_end):
                    users[r, c].add((number, what))
    for touched in users.values():
        several = len({number for number, _ in touched}) > 1
        kinds = {what for _, what in touched}
        if several and kinds not in ({"read"}, {"add"}):
            by_one: dict[str, set[int]] = defaultdict(set)
            for number, what in touched:
                by_one[what].add(number)
            pairs = [("write", "write"), ("write", "read"), ("write", "add"), ("add", "read")]
            if any(a != b for one, two in pairs for a in by_one[one] for b in by_one[two]):
                return True
    return False


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(steps(), max_size=3), min_size=1, max_size=4))
def test_iterations_are_dependent_where_they_share_elements(iterations: list[list[Step]]) -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((8, 8), dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.zeros((64, 8), dtype=nl.float32)
        one = nl.load(x)
        for i in nl.affine_range(len(iterations)):
            for what, row, row_end, column, column_end in iterations[i]:
                part = tile[row:row_end, column:column_end]
                ones = one[:, column:column_end]
                if what == "read":
                    nisa.tensor_tensor(part, part, op=np.add)
                elif what == "write":
                    part[...] = ones
                else:
                    part[...] = nisa.tensor_tensor(part, ones, op=np.add)
        nl.store(out, tile[0:8])
        return out

    assert bool(found(kernel, np.ones((8, 8), np.float32))) == expected(iterations)


@pytest.mark.parametrize("loop", [nl.affine_range, nl.sequential_range, nl.static_range, range])
def test_other_loops_may_carry(loop: Callable[[int], Any]) -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray((8, 4), dtype=x.dtype)
        for i in loop(4):
            tile[...] = nl.load(x[i])
            nl.store(out[i], tile)
        return out

    assert bool(found(kernel, X)) == (loop is nl.affine_range)
    assert np.array_equal(kernel(X), X)


@pytest.mark.parametrize(
    ("op", "swapped", "carries"),
    [
        (np.add, False, False),
        (np.multiply, True, False),
        (np.maximum, False, False),
        (np.subtract, False, False),
        (np.subtract, True, True),
        (np.power, False, True),
    ],
)
def test_reductions_over_iterations(op: Any, swapped: bool, carries: bool) -> None:
    """total - x - y is a sum, y - (x - total) is not."""

    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((8, 4), dtype=x.dtype, buffer=nl.shared_hbm)
        total = nl.ones((8, 4), dtype=nl.float32)
        for i in nl.affine_range(4):
            one, two = (nl.load(x[i]), total) if swapped else (total, nl.load(x[i]))
            total[...] = nisa.tensor_tensor(one, two, op=op)
        nl.store(out, total)
        return out

    assert bool(found(kernel, X)) == carries


def test_two_reductions_into_one_tile_do_not_commute() -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((8, 4), dtype=x.dtype, buffer=nl.shared_hbm)
        total = nl.ones((8, 4), dtype=nl.float32)
        for i in nl.affine_range(4):
            total[...] = nisa.tensor_tensor(total, nl.load(x[i]), op=np.multiply)
            total[...] = nisa.tensor_tensor(total, nl.load(x[i]), op=np.add)
        nl.store(out, total)
        return out

    assert found(kernel, X)


def test_matmuls_accumulate_over_iterations_and_do_not_overwrite() -> None:
    @nki.jit
    def kernel(x: Any, accumulates: bool) -> Any:
        out = nl.ndarray((4, 4), dtype=x.dtype, buffer=nl.shared_hbm)
        total = nl.zeros((4, 4), dtype=nl.float32, buffer=nl.psum)
        for i in nl.affine_range(4):
            tile = nl.load(x[i])
            if accumulates:
                total += nisa.nc_matmul(tile, tile)
            else:
                total[...] = nisa.nc_matmul(tile, tile)
        nl.store(out, total)
        return out

    assert found(kernel, X, True) == []
    assert found(kernel, X, False) == ["two iterations write the same elements of 'total'"]


def test_the_inner_of_two_loops_is_checked_separately() -> None:
    """Each iteration of the outer loop has a tile that the inner one overwrites."""

    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        for i in nl.affine_range(2):
            tile = nl.ndarray((8, 4), dtype=x.dtype)
            for j in nl.affine_range(2):
                tile[...] = nl.load(x[2 * i + j])
                nl.store(out[2 * i + j], tile)
        return out

    assert found(kernel, X) == ["two iterations write the same elements of 'tile'"]


def test_a_loop_that_is_left_early() -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        for i in nl.affine_range(4):
            nl.store(out[i], nl.load(x[i]))
            if i == 1:
                break
        for i in nl.sequential_range(4):
            nl.store(out[3], nl.load(x[i]))
            nl.store(out[2], nl.load(x[i]))
        return out

    assert found(kernel, X) == []


@pytest.mark.parametrize("values_differ", [False, True])
def test_instances_that_write_one_element_are_reported(values_differ: bool) -> None:
    """A warning, for they may write the same value; instances run in order here."""

    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((8, 4), dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(x[nl.program_id(0) if values_differ else 0]))
        return out

    (told,) = [d for d in kernel[2].trace(X).diagnostics if d.rule.id == RULE]
    assert told.severity == "warning"
    assert told.message == "two instances write the same elements of 'out'"
    assert np.array_equal(kernel[2](X), X[1 if values_differ else 0])
    assert np.array_equal(kernel[1](X), X[0])


def test_an_instance_that_reads_the_writes_of_another_one() -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        i = nl.program_id(0)
        if i == 0:
            for k in range(4):
                nl.store(out[k], nl.load(x[k]))
        else:
            tile = nl.load(out[0])
            nisa.tensor_tensor(tile, tile, op=np.add)
        return out

    message = "one instance reads elements of 'out' that another one writes"
    with pytest.raises(NkiValidationError, match=message):
        kernel[2](X)


def test_a_warning_of_the_trace_leaves_other_rules_in_force() -> None:
    """Reads of unwritten data are still reported."""

    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray((8, 4), dtype=x.dtype)
        never = nl.ndarray((8, 4), dtype=x.dtype)
        for i in nl.affine_range(4):
            tile[...] = nl.load(x[i])
            nl.store(out[i], nisa.tensor_tensor(tile, never, op=np.add))
        return out

    rules = {d.rule.id for d in kernel.trace(X).diagnostics}
    assert {RULE, "read-unwritten"} <= rules


@pytest.mark.slow
def test_the_check_is_a_small_part_of_tracing() -> None:
    """Of iterations that touch one element at a time, of a tile and of a tensor in HBM."""

    def kernel(x: Any, loop: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        for i in loop(x.shape[0]):
            tile = nl.load(x[i])
            for _ in range(8):
                tile = nisa.tensor_tensor(tile, tile, op=np.add)
            nl.store(out[i], tile)
        return out

    x = np.ones((300, 8, 4), np.float32)
    in_order = calls_of(lambda: nki.jit(kernel).trace(x, nl.sequential_range))
    in_any_order = calls_of(lambda: nki.jit(kernel).trace(x, nl.affine_range))
    assert in_any_order < 1.5 * in_order
