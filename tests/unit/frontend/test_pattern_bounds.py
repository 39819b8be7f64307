"""Patterns beyond their tensor: kernels run, and access only elements inside.

The oracle stores each tensor as a dictionary of its elements, by row and column. Other elements
read as unwritten memory, and are not written.
"""

from __future__ import annotations

import linecache
import math
import warnings
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.rule_texts.text import ErrorKind
from nkijit.passes.interpret.records.errors import UnwrittenError
from nkijit.passes.numerics.storage import STORAGE

Place = tuple[int, int]
ROWS, COLUMNS = 64, 12


@dataclass
class Naive:
    """A tensor of rows: partitions, or a single one in HBM."""

    rows: int
    columns: int
    unwritten: float
    elements: dict[Place, float] = field(default_factory=dict[Place, float])

    def places(self, pattern: list[list[int]], offset: int) -> list[Place]:
        """Where a pattern leads, one element after the other."""
        row, column = 0, offset
        if self.rows > 1:
            row = int(offset / self.columns)  # towards 0: an element before a row is of that row
            column = offset - row * self.columns
        found: list[Place] = []
        for index in product(*(range(count) for _, count in pattern)):
            if self.rows > 1:
                along = sum(i * s for i, (s, _) in zip(index[1:], pattern[1:], strict=True))
                found.append((row + index[0], column + along))
            else:
                found.append(
                    (0, column + sum(i * s for i, (s, _) in zip(index, pattern, strict=True)))
                )
        return found

    def read(self, places: list[Place]) -> list[float]:
        return [self.elements.get(place, self.unwritten) for place in places]

    def write(self, places: list[Place], values: list[float]) -> None:
        for (row, column), value in zip(places, values, strict=True):
            if 0 <= row < self.rows and 0 <= column < self.columns:
                self.elements[row, column] = value


def _on_chip(random: Random, starts: tuple[int, ...]) -> tuple[list[list[int]], int]:
    """A pattern of 32 partitions and 8 elements in each, that may leave a tile in any direction."""
    inner = random.choice([[[1, 8]], [[2, 8]], [[-1, 8]], [[1, 8]], [[9, 8]]])
    start = random.choice(starts)
    first = random.randrange(-3 if start == 0 else 0, COLUMNS)
    return [[COLUMNS, 32], *inner], start * COLUMNS + first


def _in_hbm(random: Random) -> tuple[list[list[int]], int]:
    outer, inner = random.choice([(COLUMNS, 1), (COLUMNS + 1, 1), (16, 2), (-8, 1)])
    return [[outer, 32], [inner, 8]], random.randrange(-20, ROWS * COLUMNS)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
@pytest.mark.parametrize("seed", range(12))
def test_random_kernels_compute_the_elements_inside(dtype: str, seed: int) -> None:
    random = Random(f"{dtype} {seed}")
    steps: list[tuple[str, str, Any, str, Any]] = []
    chip, hbm = ("one", "two"), ("x", "y", "out")
    for _ in range(7):
        kind = random.choice(["copy", "move"])
        dst, src = random.choice(chip), random.choice(chip if kind == "copy" else hbm)
        if kind == "move" and random.random() < 0.5:
            dst, src = random.choice(hbm[1:]), dst
        starts = (0, 32) if kind == "copy" else (0, 7, 32, 40, 64)  # engines have fewer
        to, at = (_on_chip(random, starts) if n in chip else _in_hbm(random) for n in (dst, src))
        if dst != src:
            steps.append((kind, dst, to, src, at))

    @nki.jit
    def kernel(x, y):
        named = {"x": x, "y": y}
        named["out"] = nl.ndarray((ROWS, COLUMNS), dtype=dtype, buffer=nl.shared_hbm, name="out")
        for name in chip:
            named[name] = nl.ndarray((ROWS, COLUMNS), dtype=dtype, buffer=nl.sbuf, name=name)
        nisa.memset(named["one"], value=5)
        for kind, dst, to, src, at in steps:
            call = nisa.tensor_copy if kind == "copy" else nisa.dma_copy
            into, data = named[dst].ap(to[0], to[1]), named[src].ap(at[0], at[1])
            call(dst=into, src=data)
        ends = [nl.ndarray((ROWS, COLUMNS), dtype=dtype, buffer=nl.shared_hbm) for _ in chip]
        for end, name in zip(ends, chip, strict=True):
            nisa.dma_copy(dst=end, src=named[name])
        return named["out"], *ends

    unwritten = 4 if dtype == "int32" else math.nan
    naive = {n: Naive(ROWS, COLUMNS, unwritten) for n in chip}
    naive |= {n: Naive(1, ROWS * COLUMNS, unwritten) for n in hbm}
    naive["one"].write(list(product(range(ROWS), range(COLUMNS))), [5.0] * ROWS * COLUMNS)
    inputs = [np.arange(ROWS * COLUMNS) % 97 + base for base in (0, 100)]
    for name, values in zip(hbm, inputs, strict=False):
        naive[name].write([(0, i) for i in range(ROWS * COLUMNS)], values.tolist())
    leaves = False
    for _, dst, to, src, at in steps:
        into, data = naive[dst].places(*to), naive[src].places(*at)
        leaves = leaves or any(
            not (0 <= r < naive[n].rows and 0 <= c < naive[n].columns)
            for n, places in ((dst, into), (src, data))
            for r, c in places
        )
        naive[dst].write(into, naive[src].read(data))

    given = [values.reshape(ROWS, COLUMNS).astype(STORAGE[dtype]) for values in inputs]
    traced = kernel.trace(*given)
    errors = [d for d in traced.diagnostics if d.severity == "error"]
    assert leaves == ("pattern-bounds" in {d.rule.id for d in errors})
    assert [d for d in errors if d.kind is not ErrorKind.undefined] == []
    if leaves:
        with pytest.raises(nki.NkiValidationError):
            kernel(*given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nki.NkiWarning)
        out, *ends = nki.simulate(kernel)(*given)
        profile = traced.profile(strict=False)
    assert profile.time > 0
    assert "kernel" in traced.listing(strict=False)
    assert traced.memory()
    shown = dict(zip(("out", "one", "two", "y"), (out, *ends, given[1]), strict=True))
    for name, array in shown.items():
        places = list(product(range(naive[name].rows), range(naive[name].columns)))
        expected = np.array(naive[name].read(places)).reshape(ROWS, COLUMNS)
        np.testing.assert_array_equal(np.asarray(array, np.float64), expected, err_msg=name)


def _quietly(run):
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        return run(), [str(w.message).splitlines()[0] for w in issued]


def test_the_authors_line_is_reported():
    @nki.jit
    def kernel(x):
        tile = nl.load(x)
        nisa.memset(tile.ap([[12, 64], [1, 16]]), value=0)  # here
        nl.store(x, tile)

    given = np.ones((64, 12), np.float32)
    (found,) = kernel.trace(given).diagnostics
    assert found.rule.id == "pattern-bounds"
    assert linecache.getline(__file__, found.where[0].line).endswith("# here\n")
    _, told = _quietly(lambda: nki.simulate(kernel)(given))
    assert told == [
        "error[pattern-bounds]: nki.view: the pattern touches elements 0 to 15 of partitions of 12 "
        "float32"
    ]
    assert not given.any()


def test_slices_stay_illegal():
    @nki.jit
    def kernel(x):
        nl.load(x)[:, 0:20]

    with pytest.raises(nki.NkiValidationError, match=r"error\[view\]"):
        nki.simulate(kernel)(np.ones((64, 12), np.float32))


def test_views_beyond_their_tensor_for_every_index_are_refused():
    @nki.jit
    def kernel(x):
        wide = nl.load(x).ap([[12, 64], [1, 16]])
        nisa.memset(wide[:, nl.ds(nisa.register_alloc(0), 14)], value=0)

    with pytest.raises(nki.NkiValidationError, match=r"error\[view\]"):
        kernel.trace(np.ones((64, 12), np.float32))


@pytest.mark.parametrize("leaving", [0, 1])
def test_cores_share_memory_that_one_of_them_reaches_beyond(leaving: int):
    @nki.jit
    def kernel(x):
        me = nl.program_id(0)
        out = nl.ndarray((2, 64, 12), dtype=nl.float32, buffer=nl.shared_hbm)
        more = 5 if me == leaving else 0
        # Core 1 writes the elements after the tensor, or core 0 those before it.
        first = 64 * 12 + more if me else -more
        nisa.dma_copy(dst=out.ap([[12, 64], [1, 12]], offset=first), src=x)
        return out

    given = np.arange(64 * 12, dtype=np.float32).reshape(64, 12)
    result, told = _quietly(lambda: nki.simulate(kernel[2])(given))
    flat = np.full(2 * 64 * 12 + 10, np.nan, np.float32)
    for me in (0, 1):
        more = 5 if me == leaving else 0
        first = 5 + (64 * 12 + more if me else -more)
        flat[first : first + 64 * 12] = given.reshape(-1)
    np.testing.assert_array_equal(result.reshape(-1), flat[5:-5])
    assert any("pattern-bounds" in text for text in told)


def test_constants_arguments_and_registers_of_low_precision(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NKI_PRECISE_FP", "0")

    @nki.jit
    def kernel(x):
        data = nl.shared_constant(np.arange(8, dtype=np.float32).reshape(2, 4))
        out = nl.ndarray((2, 4), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=data.ap([[4, 2], [1, 4]], offset=2))
        nisa.dma_copy(dst=x.ap([[4, 2], [1, 4]], offset=-2), src=x.ap([[4, 2], [1, 4]], offset=1))
        return out, x.ap([[4, 2], [1, 4]], offset=5)

    given = np.arange(8).reshape(2, 4).astype(STORAGE["bfloat16"])
    (out, x), _ = _quietly(lambda: nki.simulate(kernel)(given))
    nan = np.nan
    np.testing.assert_array_equal(out, [[2, 3, 4, 5], [6, 7, nan, nan]])
    np.testing.assert_array_equal(np.asarray(given, np.float32), [[3, 4, 5, 6], [7, nan, 6, 7]])
    np.testing.assert_array_equal(
        np.asarray(x, np.float32), [[nan, 6, 7, nan], [nan, nan, nan, nan]]
    )


def test_a_watched_run_ends_at_elements_outside():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((64, 12), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=x.ap([[12, 64], [1, 12]], offset=1))
        return out

    given = np.ones((64, 12), np.float32)
    with pytest.raises(nki.NkiValidationError):
        kernel.trace(given).run(given, strict=True, sanitize=True)
    with pytest.raises(UnwrittenError, match="undefined values in its elements"):
        _quietly(lambda: kernel.trace(given).run(given, strict=False, sanitize=True))
