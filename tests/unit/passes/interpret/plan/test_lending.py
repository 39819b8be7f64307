"""The caller's arrays in a run: which parts are copied, and that a failed run restores them."""

from __future__ import annotations

import mmap
import signal
import threading
import time
import tracemalloc
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.access import AccessPattern
from nkijit.passes.interpret.plan.lending import SMALL, Loan, Use, rows_in
from nkijit.passes.interpret.records.byte_ranges import PAGE, ByteRanges
from nkijit.passes.interpret.records.errors import InterpretationError, UnwrittenError

WIDTH = 512


@nki.jit
def put_rows(x, cache):
    """Writes x to rows 5 to 8, and twice that to every 64th row from 100 on."""
    tile = nl.ndarray((4, WIDTH), cache.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    nisa.dma_copy(cache[5:9, :], tile)
    nisa.dma_copy(cache[100 : 100 + 4 * 64 : 64, :], tile)


def put_rows_oracle(x, cache):
    cache[5:9] = x
    cache[100 : 100 + 4 * 64 : 64] = x


@nki.jit
def put_column(x, cache):
    """Writes the first column of x to a column, which is on many pages."""
    tile = nl.ndarray((4, WIDTH), cache.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    nisa.dma_copy(cache[0:4, 3:4], tile[:, 0:1])
    nisa.dma_copy(cache[1000:1004, 510:512], tile[:, 0:2])


def put_column_oracle(x, cache):
    cache[0:4, 3:4] = x[:, 0:1]
    cache[1000:1004, 510:512] = x[:, 0:2]


@nki.jit
def put_all(x, cache):
    tile = nl.ndarray((4, WIDTH), cache.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    for row in range(0, cache.shape[0], 4):
        nisa.dma_copy(cache[row : row + 4, :], tile)


def put_all_oracle(x, cache):
    cache[...] = np.tile(x, (len(cache) // 4, 1))


@nki.jit
def put_at(x, cache):
    """Writes rows at addresses that are known in the run only, in a loop, and one row twice."""
    tile = nl.ndarray((4, WIDTH), cache.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    for row in nl.dynamic_range(7, 19):
        nisa.dma_copy(cache[nl.ds(row, 4), :], tile)


def put_at_oracle(x, cache):
    for row in range(7, 19):
        cache[row : row + 4] = x


@nki.jit
def scatter(x, cache):
    """Writes to rows that a tile of indices names, and to others that are known."""
    tile = nl.ndarray((4, WIDTH), cache.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    rows = nl.ndarray((4, 1), nl.int32, buffer=nl.sbuf)
    nisa.iota(rows, [[0, 1]], offset=3, channel_multiplier=300)
    nisa.dma_copy(cache.vector_select(0, rows), tile)
    nisa.dma_copy(cache[2:6, :], tile)


def scatter_oracle(x, cache):
    cache[[3, 303, 603, 903]] = x
    cache[2:6] = x


KERNELS = {
    "rows": (put_rows, put_rows_oracle),
    "column": (put_column, put_column_oracle),
    "all": (put_all, put_all_oracle),
    "loop": (put_at, put_at_oracle),
    "scatter": (scatter, scatter_oracle),
}

LAYOUTS = {
    "C": lambda a: a,
    "F": np.asfortranarray,
    "columns": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "rows": lambda a: np.repeat(a, 2, axis=0)[::2],
    "backwards": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": lambda a: np.frombuffer(bytearray(b"-" + a.tobytes()), a.dtype, offset=1).reshape(
        a.shape
    ),
}


def _cache(rows=1024, dtype=np.float32):
    values = np.random.default_rng(7).integers(1, 9, (rows, WIDTH))
    return values.astype(dtype)


def _inputs(layout, dtype=np.float32, rows=1024):
    x = (np.arange(4 * WIDTH).reshape(4, WIDTH) % 13).astype(dtype)
    return x, LAYOUTS[layout](_cache(rows, dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.int8, ml_dtypes.bfloat16])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", KERNELS)
def test_arrays_of_every_layout_are_written(name, layout, dtype):
    kernel, oracle = KERNELS[name]
    rows = 1024 * 4 // np.dtype(dtype).itemsize  # more than SMALL bytes
    x, cache = _inputs(layout, dtype, rows)
    expected = cache.copy()
    oracle(x, expected)
    kernel(x, cache)
    assert np.array_equal(cache, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", KERNELS)
def test_small_arrays_are_written(name, layout):
    kernel, oracle = KERNELS[name]
    x, cache = _inputs(layout, np.int8)
    assert cache.size < SMALL
    expected = cache.copy()
    oracle(x, expected)
    kernel(x, cache)
    assert np.array_equal(cache, expected)


@pytest.mark.parametrize("precise", ["0", "1"])
def test_arrays_that_are_widened_are_written(precise, monkeypatch):
    monkeypatch.setenv("NKI_PRECISE_FP", precise)
    for kernel, oracle in KERNELS.values():
        x, cache = _inputs("C", ml_dtypes.bfloat16, 2048)
        expected = cache.copy()
        oracle(x, expected)
        kernel(x, cache)
        assert np.array_equal(cache, expected)


class FaultError(Exception):
    """The error that ends a run."""


class Failing:
    """A listener that ends a run after a given number of operations."""

    def __init__(self, after, error):
        self.left, self.error = after, error

    def did_run(self, op, written):
        self.left -= 1
        if self.left < 0:
            raise self.error


@pytest.mark.parametrize("layout", ["C", "F", "unaligned"])
@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("error", [FaultError, KeyboardInterrupt])
@pytest.mark.parametrize("name", KERNELS)
def test_a_run_that_fails_leaves_the_arrays_as_they_were(name, layout, small, error):
    kernel, _ = KERNELS[name]
    x, cache = _inputs(layout, np.int8 if small else np.float32)
    before = cache.copy()
    traced = kernel.trace(x, cache)
    failed = 0
    for after in range(6):
        listener = Failing(after, error)
        try:
            traced.run(x, cache, listener=listener)
        except error:
            assert np.array_equal(cache, before), f"after {after} operations"
            failed += 1
            continue
        break
    assert failed > 1


@nki.jit
def flaky(x, rows, cache):
    """Writes to some rows, then at indices that may be out of bounds."""
    tile = nl.ndarray((4, WIDTH), cache.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    index = nl.ndarray((4, 1), nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(index, rows)
    for row in nl.dynamic_range(0, 4):
        nisa.dma_copy(cache[nl.ds(row, 4), :], tile)
    nisa.dma_copy(cache.vector_select(0, index), tile)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_index_out_of_bounds_leaves_the_arrays_as_they_were(layout):
    x, cache = _inputs(layout)
    before = cache.copy()
    with pytest.raises(InterpretationError, match="out of bounds"):
        flaky(x, np.array([[1], [2], [3], [4000]], np.int32), cache)
    assert np.array_equal(cache, before)
    flaky(x, np.array([[1], [2], [30], [40]], np.int32), cache)
    assert np.array_equal(cache[[1, 2, 30, 40]], x)


@nki.jit
def put_last(x, rows, cache):
    """Writes to the last rows, at addresses that are known and at others, then at indices."""
    tile = nl.ndarray((4, WIDTH), cache.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    index = nl.ndarray((4, 1), nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(index, rows)
    nisa.dma_copy(cache[cache.shape[0] - 4 :, 8:24], tile[:, 0:16])
    for row in nl.dynamic_range(1010, cache.shape[0] - 3):
        nisa.dma_copy(cache[nl.ds(row, 4), 500:512], tile[:, 0:12])
    nisa.dma_copy(cache.vector_select(0, index), tile)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_array_that_ends_inside_of_a_page(layout):
    x, cache = _inputs(layout, rows=1025)
    assert cache.size * cache.itemsize % PAGE
    before = cache.copy()
    with pytest.raises(InterpretationError, match="out of bounds"):
        put_last(x, np.array([[1024], [1], [2], [1025]], np.int32), cache)
    assert np.array_equal(cache, before)
    put_last(x, np.array([[1024], [1], [2], [3]], np.int32), cache)
    before[-4:, 8:24] = x[:, :16]
    for row in range(1010, 1022):
        before[row : row + 4, 500:512] = x[:, :12]
    before[[1024, 1, 2, 3]] = x
    assert np.array_equal(cache, before)


def test_ranks_leave_all_arrays_as_they_were_when_one_fails():
    x, cache = _inputs("C")
    other = _cache()
    before, other_before = cache.copy(), other.copy()
    good, bad = (np.array([[1], [2], [3], [last]], np.int32) for last in (4, 4000))
    with pytest.raises(InterpretationError, match="out of bounds"):
        nki.run_ranks(flaky, [(x, good, cache), (x, bad, other)])
    assert np.array_equal(cache, before)
    assert np.array_equal(other, other_before)


def test_two_cores_leave_the_arrays_as_they_were():
    @nki.jit
    def kernel(x, rows, cache):
        core = nl.program_id(0)
        tile = nl.ndarray((4, WIDTH), cache.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        index = nl.ndarray((4, 1), nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(index, rows)
        nisa.dma_copy(cache[core * 512 : core * 512 + 4, :], tile)
        if core == 1:
            nisa.dma_copy(cache[512:].vector_select(0, index), tile)

    for layout in ("C", "F"):
        x, cache = _inputs(layout)
        before = cache.copy()
        with pytest.raises(InterpretationError, match="out of bounds"):
            kernel[2](x, np.array([[9], [8], [7], [4000]], np.int32), cache)
        assert np.array_equal(cache, before)
        kernel[2](x, np.array([[9], [8], [7], [6]], np.int32), cache)
        before[0:4] = before[512:516] = before[[521, 520, 519, 518]] = x
        assert np.array_equal(cache, before)


def test_a_sanitised_run_that_fails_leaves_the_arrays_as_they_were():
    @nki.jit
    def kernel(x, rows, cache):
        tile = nl.ndarray((4, WIDTH), cache.dtype, buffer=nl.sbuf)
        index = nl.ndarray((4, 1), nl.int32, buffer=nl.sbuf)
        scratch = nl.ndarray((8, WIDTH), cache.dtype, buffer=nl.hbm)
        nisa.dma_copy(tile, x)
        nisa.dma_copy(index, rows)
        nisa.dma_copy(cache[0:4, :], tile)
        nisa.dma_copy(scratch[0:4, :], tile)
        nisa.dma_copy(tile, scratch.vector_select(0, index))
        nisa.dma_copy(cache[8:12, :], tile)

    x, cache = _inputs("C")
    before = cache.copy()
    with pytest.raises(UnwrittenError):
        kernel.trace(x, np.zeros((4, 1), np.int32), cache).run(
            x, np.array([[1], [2], [3], [7]], np.int32), cache, sanitize=True
        )
    assert np.array_equal(cache, before)


def test_a_result_that_cannot_be_made_leaves_the_arrays_as_they_were(monkeypatch):
    @nki.jit
    def kernel(x, cache):
        put_rows(x, cache)
        return cache

    def no_memory(plan, env):
        raise MemoryError

    x, cache = _inputs("C")
    before = cache.copy()
    kernel.trace(x, cache).verify()
    monkeypatch.setattr("nkijit.passes.interpret.plan.plan.Plan.results", no_memory)
    with pytest.raises(MemoryError):
        kernel(x, cache)
    assert np.array_equal(cache, before)


@pytest.mark.posix
def test_an_interrupt_in_a_long_run_leaves_the_array_as_it_was():
    @nki.jit
    def kernel(x, cache):
        tile = nl.ndarray((4, WIDTH), cache.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        for _ in nl.dynamic_range(0, 900_000):
            for row in nl.dynamic_range(0, 1000):
                nisa.dma_copy(cache[nl.ds(row, 4), :], tile)

    x, cache = _inputs("C")
    before = cache.copy()
    kernel.trace(x, cache).verify()
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        kernel(x, cache)
    assert time.monotonic() - started < 30
    assert np.array_equal(cache, before)


@pytest.mark.parametrize("name", ["rows", "column", "loop", "scatter"])
def test_unwritten_parts_of_a_large_array_are_not_copied(name):
    kernel, _ = KERNELS[name]
    x, _ = _inputs("C")
    assert _peak(kernel, x, np.zeros((1 << 15, WIDTH), np.float32)) < 4 << 20  # of 64 MiB


@pytest.mark.parametrize("name", ["rows", "column"])
def test_untouched_parts_of_an_array_in_another_order_are_not_copied(name):
    kernel, _ = KERNELS[name]
    x, _ = _inputs("C")
    cache = np.zeros((1 << 15, WIDTH), np.float32, order="F")
    assert _resident(kernel, x, cache) < 16 << 20


def test_unread_parts_of_an_array_in_another_order_are_not_copied():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray((4, WIDTH), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x[8:12, :])
        out = nl.ndarray((4, WIDTH), x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, tile)
        return out

    x = np.zeros((1 << 15, 2 * WIDTH), np.float32)[:, ::2]
    x[8:12] = np.arange(4 * WIDTH).reshape(4, WIDTH)
    assert np.array_equal(kernel(x), x[8:12])
    assert _resident(kernel, x) < 16 << 20


def test_memory_is_freed_when_a_run_ends():
    x, cache = _inputs("F", rows=1 << 13)
    kernel = KERNELS["scatter"][0]
    kernel(x, cache)
    tracemalloc.start()
    kernel(x, cache)
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert left < 1 << 20


def _peak(kernel, *inputs):
    """Bytes that a call allocates at most, once the kernel is compiled."""
    kernel(*inputs)
    tracemalloc.start()
    kernel(*inputs)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


class Measuring:
    """A listener that sees how much memory of the process has contents."""

    def __init__(self):
        self.most = 0

    def did_run(self, op, written):
        self.most = max(self.most, self.now())

    @staticmethod
    def now():
        statm = Path("/proc/self/statm")
        if not statm.exists():
            pytest.skip("only Linux says how much memory has contents")
        return int(statm.read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE


def _resident(kernel, *inputs):
    """By how many bytes a run makes the process larger. Memory without contents is not there."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("only Linux says how much memory has contents")
    traced, measuring = kernel.trace(*inputs), Measuring()
    traced.run(*inputs)
    before = measuring.now()
    traced.run(*inputs, listener=measuring)
    return measuring.most - before


def test_pages_are_not_looked_for_without_end(monkeypatch):
    """All of it together takes about as long as one copy of the array."""
    searched = 0
    pages = ByteRanges.pages

    def counted(runs):
        nonlocal searched
        searched += 1
        return pages(runs)

    monkeypatch.setattr(ByteRanges, "pages", counted)
    _, cache = _inputs("C")
    memory = cache.reshape(-1).view(np.uint8)
    before = memory.copy()

    def write_everywhere(loan):
        lent = loan.lend(memory, Use(None, np.zeros(0, np.intp)), None)
        for start in range(0, memory.size - 8, 999):
            lent.before_write(ByteRanges(np.array([start]), 8))
            memory[start : start + 8] += 1
        raise FaultError

    with pytest.raises(FaultError):
        Loan().run(write_everywhere)
    assert np.array_equal(memory, before)
    assert searched < 64


class Stubborn:
    """An array that an interrupt keeps from being put back, once."""

    def __init__(self):
        self.held, self.puts = np.arange(3), 0

    def __getitem__(self, part):
        return self.held[part]

    def __setitem__(self, part, values):
        self.puts += 1
        if self.puts == 1:
            raise KeyboardInterrupt
        self.held[part] = values


def test_an_interrupt_while_arrays_are_put_back_is_raised_when_they_are():
    array, stubborn = np.arange(4), Stubborn()

    def fails(loan):
        for each in (array, stubborn):
            loan.before.keep(each)
        array[:] = stubborn.held[:] = 7
        raise FaultError

    with pytest.raises(KeyboardInterrupt):
        Loan().run(fails)
    assert array.tolist() == [0, 1, 2, 3]
    assert stubborn.held.tolist() == [0, 1, 2]


def _bytes_of(access, itemsize):
    index = np.indices(access.shape).reshape(len(access.shape), -1)
    first = access.offset + (np.array(access.strides) @ index)
    return np.unique(first[:, None] * itemsize + np.arange(itemsize))


@pytest.mark.parametrize("seed", range(60))
def test_the_pages_of_a_pattern_are_those_of_its_bytes(seed):
    random = np.random.default_rng(seed)
    dims = random.integers(1, 5)
    shape = tuple(random.integers(1, 7, dims).tolist())
    strides = tuple(
        (random.integers(-3, 4, dims) * random.choice([1, 5, 700, 4096], dims)).tolist()
    )
    offset = int(sum(-s * (n - 1) for s, n in zip(strides, shape, strict=True) if s < 0))
    access = AccessPattern(offset + int(random.integers(0, 3000)), strides, shape)
    itemsize = int(random.choice([1, 2, 4]))
    exact = np.unique(_bytes_of(access, itemsize) // PAGE)
    found = ByteRanges.of(access, itemsize).pages()
    assert np.array_equal(found, np.unique(found))
    assert np.isin(exact, found).all()
    # Gaps that are shorter than a page may count as well.
    assert np.isin(found, np.concatenate([exact, exact + 1, exact - 1])).all()


@pytest.mark.parametrize("seed", range(40))
def test_the_rows_of_pages_are_those_of_their_elements(seed):
    random = np.random.default_rng(seed)
    outer = tuple(random.integers(1, 40, random.integers(0, 4)).tolist())
    array = np.zeros((*outer, int(random.choice([1, 7, 600, 3000]))), np.int16)
    count = -(-array.nbytes // PAGE)
    pages = np.flatnonzero(random.random(count) < 0.4)
    array[rows_in(array, pages)] += 1
    of_pages = np.isin(np.arange(array.size) * 2 // PAGE, pages).reshape(array.shape)
    rows = np.broadcast_to(of_pages.any(-1, keepdims=True), array.shape)
    assert (array == rows).all() or (array == 1).all()
    assert (array[of_pages] == 1).all()


def test_few_of_the_rows_of_a_large_array_are_selected():
    array = np.zeros((1 << 12, 512), np.float32)
    array[rows_in(array, np.array([3, 7]))] = 1
    assert np.flatnonzero(array.any(1)).tolist() == [6, 7, 14, 15]


def test_the_arrays_of_these_tests_are_large():
    assert _cache().nbytes > SMALL
