"""Arrays that share memory, given to a kernel that writes one of them."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.interpret.run.overlaps import overlap_of

SHAPE = (128, 8)


@nki.jit
def copied(x, out):
    """Write the double of x to out, and return the values of x afterwards."""
    tile = nl.ndarray(SHAPE, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    nisa.tensor_scalar(tile, tile, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(out, tile)
    result = nl.ndarray(SHAPE, x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(tile, x)
    nisa.dma_copy(result, tile)
    return result


@nki.jit
def added(x, y):
    first = nl.ndarray(SHAPE, x.dtype, buffer=nl.sbuf)
    second = nl.ndarray(SHAPE, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(first, x)
    nisa.dma_copy(second, y)
    nisa.tensor_tensor(first, first, second, op=nl.add)
    result = nl.ndarray(SHAPE, x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(result, first)
    return result


def _array(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


PAIRS = {
    "the same array": lambda: (_array(*SHAPE),) * 2,
    "a view of it": lambda: (lambda a: (a, a[:]))(_array(*SHAPE)),
    "rows in common": lambda: (lambda a: (a[:128], a[127:]))(_array(255, 8)),
    "columns in common": lambda: (lambda a: (a[:, :8], a[:, 7:15]))(_array(128, 16)),
    "backwards": lambda: (lambda a: (a, a[::-1]))(_array(*SHAPE)),
    "every other element": lambda: (lambda a: (a[:, ::2], a[:, 2:10]))(_array(128, 16)),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_written_input_that_shares_memory_is_refused(pair):
    x, out = PAIRS[pair]()
    before = x.copy()
    with pytest.raises(InterpretationError) as caught:
        copied(x, out)
    assert str(caught.value) == (
        "inputs 'x' and 'out' share memory, and the kernel writes 'out': whether what is written "
        "is seen through 'x' is not determined; pass a copy of one of them"
    )
    assert np.array_equal(x, before)


@pytest.mark.parametrize("pair", PAIRS)
def test_a_call_that_is_not_strict_warns_at_the_authors_line_and_goes_on(pair):
    x, out = PAIRS[pair]()
    doubled = 2 * x
    with pytest.warns(nki.NkiWarning, match="inputs 'x' and 'out' share memory") as told:
        copied.strict(False)(x, out)
    assert [warning.filename for warning in told] == [__file__]
    assert np.array_equal(out, doubled)


def test_the_simulator_warns():
    x = _array(*SHAPE)
    with pytest.warns(nki.NkiWarning, match="share memory"):
        result = nki.simulate(copied)(x, x)
    # As in the vendor's simulator, every tensor has memory of its own.
    assert np.array_equal(result, _array(*SHAPE))
    assert np.array_equal(x, 2 * _array(*SHAPE))


def test_arrays_that_lie_beside_each_other_are_no_news():
    a = _array(128, 16)
    halves = [(a[:, :8], a[:, 8:]), (a[:, ::2], a[:, 1::2]), (a[:64], a[64:])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x, out in halves[:2]:
            expected = 2 * x
            copied(x, out)
            assert np.array_equal(out, expected)


def test_arrays_that_are_only_read_may_be_the_same():
    x = _array(*SHAPE)
    assert np.array_equal(added(x, x), 2 * x)


@pytest.mark.parametrize("way", ["run", "run_lowered"])
def test_other_ways_to_run_refuse_it_as_well(way):
    x = _array(*SHAPE)
    traced = copied.trace(x, x.copy())
    with pytest.raises(InterpretationError, match="share memory"):
        getattr(traced, way)(x, x)


def test_two_inputs_that_are_written():
    @nki.jit
    def both(x, y):
        tile = nl.ndarray(SHAPE, x.dtype, buffer=nl.sbuf)
        nisa.memset(tile, 1.0)
        nisa.dma_copy(x, tile)
        nisa.dma_copy(y, tile)

    x = _array(*SHAPE)
    with pytest.raises(InterpretationError, match="inputs 'x' and 'y' share memory"):
        both(x, x)


def test_ranks_have_memories_of_their_own():
    x, out = _array(*SHAPE), np.zeros(SHAPE, np.float32)
    for strict in (True, False):
        with pytest.raises(
            InterpretationError,
            match="inputs 'out' of rank 0 and 'out' of rank 1 share memory, and the kernel writes "
            "'out': every rank has a memory of its own",
        ):
            nki.run_ranks(copied.strict(strict), [(x, out), (x, out)])
    nki.run_ranks(copied, [(x, out), (x, out.copy())])
    assert np.array_equal(out, 2 * x)


def test_the_first_pair_is_named():
    @nki.jit
    def three(x, y, z):
        tile = nl.ndarray(SHAPE, x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        nisa.dma_copy(z, tile)

    x = _array(*SHAPE)
    with pytest.raises(InterpretationError, match="inputs 'y' and 'z'"):
        three(x.copy(), x, x)


def test_arrays_that_are_hard_to_compare_are_taken_to_be_apart():
    """To find a common byte is as hard as integer programming."""
    base = np.zeros(1 << 24, np.int8)
    primes = [7919, 8831, 10007, 12347, 14083, 16127, 18061, 20011, 22039, 24007, 26003, 28001]
    x, y = (
        np.lib.stride_tricks.as_strided(base[start:], (9,) * 12, strides)
        for start, strides in ((0, primes), (1, [2 * prime for prime in primes[::-1]]))
    )
    started = time.monotonic()
    assert overlap_of([("x", False), ("y", True)], [(x, y)]) is None
    assert time.monotonic() - started < 60
