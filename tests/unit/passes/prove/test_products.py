"""Sums of products: equal digests only for equal sums, in any order and with any tiles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from random import Random

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.prove.algebra import Algebra, Level
from nkijit.passes.prove.digests import CELL, LANES, Cells, atoms, differ, words
from nkijit.passes.prove.run import digests
from nkijit.traced.kernel import TracedKernel

LETTERS = "abcd"
SUMS = (
    *("ab", "ac", "aa", "ab ab", "ab ab ab", "ab cd", "cd ab", "ba dc", "ad cb", "ac bd", "ab cc"),
    *("aa bb", "ab ba", "ab ac db dc", "ab ac db db", "aa bb cc", "ab bc ca", "ba cb ac"),
    *("aa bb cc dd", "ab bc cd da", "ab ab cd", "ab cd cd", "aab", "ab aa"),
)
"""Sums of products of the rows of an input: `ab cd` is a·b + c·d, `aab` is (a + a)·b."""


def kernel_of(text: str, size: int) -> TracedKernel:
    """A matmul of rows of `x`: y[m, n] is the sum of products of elements m and n of its rows."""
    terms = text.split()

    def kernel(x):
        y = nl.ndarray((size, size), nl.float32, buffer=nl.shared_hbm)
        left, right = (nl.ndarray((len(terms), size), x.dtype, buffer=nl.sbuf) for _ in range(2))
        more = nl.ndarray((len(terms), size), x.dtype, buffer=nl.sbuf)
        sums = nl.ndarray((size, size), nl.float32, buffer=nl.psum)
        result = nl.ndarray((size, size), nl.float32, buffer=nl.sbuf)
        nisa.memset(more, 0.0)
        for row, term in enumerate(terms):
            for tile, letter in ((left, term[0]), (right, term[-1])):
                nisa.dma_copy(tile[row : row + 1], x[(at := LETTERS.index(letter)) : at + 1])
            if len(term) == 3:
                nisa.dma_copy(more[row : row + 1], x[(at := LETTERS.index(term[1])) : at + 1])
        nisa.tensor_tensor(left, left, more, op=nl.add)
        nisa.nc_matmul(sums, left, right)
        nisa.tensor_copy(result, sums)
        nisa.dma_copy(y, result)
        return y

    return nki.jit(kernel).trace(np.zeros((len(LETTERS), size), np.float32))


def value(text: str, x: np.ndarray) -> np.ndarray:
    """The sum for integer inputs, exactly."""
    total = np.zeros((x.shape[1], x.shape[1]), object)
    for term in text.split():
        first, *between, last = (x[LETTERS.index(letter)] for letter in term)
        total = total + np.outer(first + sum(between), last)
    return total


@pytest.fixture(params=[Level.reassociated, Level.rounding])
def algebra(request: pytest.FixtureRequest) -> Algebra:
    return Algebra(request.param)


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("level", Level)
def test_only_equal_sums_of_products_are_equal(level: Level, size: int) -> None:
    algebra = Algebra(level)
    rng = np.random.default_rng(7)
    x = rng.integers(1, 1 << 40, (len(LETTERS), size)).astype(object)
    found = {
        text: digests(kernel_of(text, size).cores(), algebra, "old").returned[0] for text in SUMS
    }
    for old, new in combinations_with_replacement(SUMS, 2):
        equal = ~differ(found[old], found[new])
        exact = value(old, x) == value(new, x)
        assert (exact | ~equal).all(), f"{old} is not {new}"
        if algebra.reassociates and "aab" not in (old, new):
            assert (equal | ~exact).all(), f"{old} is {new}"


def product(algebra: Algebra, left: Cells, right: Cells) -> np.ndarray:
    """The words of a product of matrices: (M, N, lanes)."""
    found = algebra.product(left, right)
    return words(found).reshape(*found.shape, LANES)


def random_cells(rng: np.random.Generator, *shape: int) -> Cells:
    return rng.integers(0, 1 << 64, (*shape, LANES), np.uint64).view(CELL)[..., 0]


def test_the_sums_of_few_products_differ_in_each_lane(algebra: Algebra) -> None:
    inputs = atoms(8, "argument", 0, 0)
    table = product(algebra, inputs[None], inputs[None])
    assert (table == table.transpose(1, 0, 2)).all()
    pairs = list(combinations_with_replacement(range(len(inputs)), 2))
    products = np.stack([table[pair] for pair in pairs] + [np.zeros(LANES, np.uint64)])
    chosen = np.array(list(combinations_with_replacement(range(len(products)), 4)))
    sums = products[chosen].sum(axis=1, dtype=np.uint64)
    for lane in range(LANES):
        assert len(np.unique(sums[:, lane])) == len(chosen)


def test_equal_digests_of_sums_of_dependent_operands_are_equal_sums(algebra: Algebra) -> None:
    """Operands that are sums, negated, constants or products of each other."""
    rng = Random(11)
    prime = (1 << 127) - 1
    a, b, c = (atoms(3, "argument", 0, 0)[at : at + 1] for at in range(3))
    va, vb, vc = (rng.randrange(prime) for _ in range(3))

    def combined(word: str, x: Cells, y: Cells) -> Cells:
        return algebra.binary(word, x, y, (1,))

    operands: Sequence[tuple[Cells, int]] = [
        (a, va),
        (b, vb),
        (combined("add", a, b), va + vb),
        (combined("subtract", a, b), va - vb),
        (algebra.unary("negate", a), -va),
        (combined("add", a, a), 2 * va),
        (combined("multiply", a, b), va * vb),
        (combined("multiply", a, c), va * vc),
        (combined("multiply", c, combined("multiply", a, b)), va * vb * vc),
        (combined("maximum", a, b), rng.randrange(prime)),
        (combined("add", combined("add", a, b), c), va + vb + vc),
        (algebra.product(a[None], b[None])[0], va * vb),
        (algebra.number(np.array([1.0], np.float32)), 1),
        (algebra.number(np.array([2.0], np.float32)), 2),
        (algebra.number(np.array([0.0], np.float32)), 0),
    ]
    cells = np.concatenate([each for each, _ in operands])
    table = product(algebra, cells[None], cells[None])
    values: dict[tuple[int, ...], set[int]] = {}
    pairs = list(combinations_with_replacement(range(len(operands)), 2))
    for chosen in combinations_with_replacement(pairs, 2):
        total = sum((table[pair] for pair in chosen), np.zeros(LANES, np.uint64))
        exact = sum(operands[i][1] * operands[j][1] for i, j in chosen) % prime
        values.setdefault(tuple(map(int, total)), set()).add(exact)
    assert all(len(each) == 1 for each in values.values())
    for lane in range(LANES):
        assert len({key[lane] for key in values}) == len(values)


def test_each_bit_of_an_operand_changes_the_product(algebra: Algebra) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        x, y = random_cells(rng, 1, 1), random_cells(rng, 1, 1)
        before = product(algebra, x, y)
        for lane in range(LANES):
            for bit in range(1, 64):
                changed = x.copy()
                words(changed)[lane] ^= np.uint64(1 << bit)
                assert (product(algebra, changed, y) != before).any(), (lane, bit)


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (128, 3, 5), (300, 130, 2), (7, 3, 600), (130, 128, 160)]
)
def test_products_do_not_depend_on_tiles(algebra: Algebra, shape: tuple[int, int, int]) -> None:
    depth, rows, columns = shape
    rng = np.random.default_rng(5)
    left, right = random_cells(rng, depth, rows), random_cells(rng, depth, columns)
    whole = product(algebra, left, right)
    order = rng.permutation(depth)
    assert (product(algebra, left[order], right[order]) == whole).all()
    parts = [product(algebra, left[at], right[at]) for at in np.array_split(order, 3)]
    assert (sum(parts, np.zeros_like(whole)) == whole).all()
    m, n = rows // 2, columns // 2
    assert (product(algebra, left[:, m : m + 1], right[:, n : n + 1])[0, 0] == whole[m, n]).all()
    assert (product(algebra, right, left) == whole.transpose(1, 0, 2)).all()


@pytest.mark.parametrize("word", [0, 1 << 63, (1 << 63) - 1, (1 << 64) - 1, 0x8000000080000000])
def test_sums_of_extreme_products_are_exact(algebra: Algebra, word: int) -> None:
    left = np.full((128, 1, LANES), word, np.uint64).view(CELL)[..., 0]
    one = product(algebra, left[:1], left[:1])
    assert (product(algebra, left, left) == one * np.uint64(128)).all()
