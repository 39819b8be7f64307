"""Integers that float32 arithmetic rounds: recorded runs and verification against NumPy's int64."""

from __future__ import annotations

from random import Random

import numpy as np

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

INT32 = np.iinfo(np.int32)
SHAPE = (4, 6)


def _is_int32(values) -> bool:
    return bool((values >= INT32.min).all() and (values <= INT32.max).all())


def _operators(random: Random) -> list[tuple[str, int]]:
    """Return random operators with their numbers, small and large."""
    numbers = [1, 3, 7, 1 << random.randrange(1, 20), random.randrange(2, 1 << 16)]
    words = ["add", "subtract", "multiply", "maximum", "minimum"]
    return [(random.choice(words), random.choice(numbers)) for _ in range(random.randrange(1, 6))]


_EXACT = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


def _kernel(start: int, step: int, operators: list[tuple[str, int]], reduced: bool):
    """Return a kernel that applies the operators to a pattern, and its exact result in int64."""

    @nki.jit
    def kernel():
        out = nl.ndarray((SHAPE[0], 1 if reduced else SHAPE[1]), nl.int32, buffer=nl.shared_hbm)
        tile = nl.ndarray(SHAPE, dtype=nl.int32, buffer=nl.sbuf)
        total = nl.ndarray((SHAPE[0], 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.iota(tile, [[step, SHAPE[1]]], offset=start, channel_multiplier=step * 5)
        for word, number in operators:
            nisa.tensor_scalar(tile, tile, getattr(nl, word), number)
        if reduced:
            nisa.tensor_reduce(total, nl.add, tile, axis=1)
        nisa.dma_copy(out, total if reduced else tile)
        return out

    rows, columns = np.arange(SHAPE[0])[:, None], np.arange(SHAPE[1])
    values = [start + step * (5 * rows + columns)]
    for word, number in operators:
        values.append(_EXACT[word](values[-1], np.int64(number)))
    if reduced:
        values.append(values[-1].sum(axis=1, keepdims=True))
    return kernel, values


def test_kernels_without_findings_are_exact() -> None:
    """The bounds that verification knows before a run hold for every value of the run."""
    silent = rounded = 0
    for seed in range(150):
        random = Random(seed)
        start, step = random.randrange(-9, 1 << random.randrange(1, 24)), random.randrange(1, 99)
        kernel, values = _kernel(start, step, _operators(random), seed % 3 == 0)
        if not all(map(_is_int32, values)):
            continue
        found = [d for d in kernel.trace().diagnostics if d.rule.id == "rounded-integers"]
        is_exact = np.array_equal(kernel(), values[-1])
        assert found or is_exact, (seed, values[-1])
        silent += not found
        rounded += not is_exact
    assert silent > 20
    assert rounded > 5


@nki.jit
def shifted(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    for _ in range(2):
        nisa.tensor_scalar(tile, tile, nl.add, 1)  # nkijit: ignore[rounded-integers]
    nl.store(out, tile)
    return out


def test_record_counts_rounded_integers() -> None:
    """2**24 + 1 is no float32: it becomes 2**24. 2**24 + 2 is one."""
    record = shifted.record(np.array([[1, 2**24, 2**24 + 2, 2**31 - 1]], np.int32))
    (rounded,) = record.rounded_integers()
    assert (rounded.index, rounded.exact, rounded.rounded) == ((0, 1), 2**24 + 1, 2**24)
    # In each iteration 2**24 stays and 2**24 + 2 goes to the even neighbour of its successor;
    # 2**31 - 1 plus 1 is no int32.
    assert rounded.instruction.loops == {"_": 0}
    assert rounded.total == 8
    assert rounded.count == sum(
        int(before + 1 != np.int64(np.float32(before) + np.float32(1)))
        for first in (1, 2**24, 2**24 + 2)
        for before in (first, int(np.float32(first) + np.float32(1)))
    )
    assert "16777216, exact is 16777217" in str(record)


def test_record_of_exact_integers() -> None:
    record = shifted.record(np.array([[1, 2**24 - 2, -(2**24), 5]], np.int32))
    assert record.rounded_integers() == []
    assert "rounded" not in str(record)
