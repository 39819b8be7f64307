"""Scalars of NKI 0.7: arithmetic against Python's integers, where they are used, and mistakes."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

LARGEST = 2**31 - 1


def wrapped(value: int) -> int:
    """A number in 32 bits."""
    return (value + 2**31) % 2**32 - 2**31


def loaded(x, buffer=nl.sbuf):
    tile = nl.ndarray((1, 1), dtype=nl.int32, buffer=buffer)
    nisa.dma_copy(dst=tile, src=x)
    return nisa.scalar_load(tile)


def stored(value):
    tile = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.scalar_store(tile, value)
    out = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


def ints(*values):
    return [np.array([[value]], np.int32) for value in values]


FORMULAS = [
    lambda i, j: i * 4 + 1,
    lambda i, j: 7 - i,
    lambda i, j: i - 7,
    lambda i, j: 3 * i - j * i,
    lambda i, j: -i + +j,
    lambda i, j: (i - j) * (i + j),
    lambda i, j: i + LARGEST,
    lambda i, j: i + -(2**31),
    lambda i, j: (lambda k: k * k)(i + j),
]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("buffer", [nl.sbuf, nl.hbm])
def test_arithmetic_wraps_at_32_bits(formula, buffer):
    @nki.jit
    def kernel(a, b):
        return stored(formula(loaded(a, buffer), loaded(b, buffer)))

    for i, j in [(5, 3), (-2, 100_000), (100_000, 100_000), (LARGEST, 1), (-(2**31), -1)]:
        arguments = ints(i, j)
        assert kernel(*arguments).item() == wrapped(formula(i, j)), (i, j)
        assert kernel.trace(*arguments).run_lowered(*arguments).item() == wrapped(formula(i, j))


def test_a_new_scalar_leaves_the_old_one():
    @nki.jit
    def kernel(a):
        i = loaded(a)
        j = i
        j = j + 1
        return stored(i), stored(j)

    assert [out.item() for out in kernel(*ints(5))] == [5, 6]


def test_a_scalar_is_an_offset_and_a_bound():
    """Rows `i * 2` of `x`, for a given number of rows."""

    @nki.jit
    def kernel(x, count):
        out = nl.ndarray((4, 8), x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.zeros((4, 8), x.dtype))

        def body(i):
            assert isinstance(i, nisa.NkiScalar)
            row = nl.ndarray((1, 8), x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(row, x.select(0, i * 2).reshape((1, 8)))
            nisa.dma_copy(out.select(0, i).reshape((1, 8)), row)

        nl.fori_loop(0, loaded(count) + 1, body)
        return out

    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    expected = np.zeros((4, 8), np.float32)
    expected[:3] = x[0:6:2]
    np.testing.assert_array_equal(kernel(x, *ints(2)), expected)


def test_the_loop_hands_out_a_register_where_a_bound_is_one():
    kinds = []

    @nki.jit
    def kernel(x):
        bound = nisa.register_alloc(2)
        for lower, upper in ((0, 2), (0, bound), (bound, 4), (loaded(x), 4), (loaded(x), bound)):
            nl.fori_loop(lower, upper, lambda i: kinds.append(type(i).__name__))

    kernel.trace(*ints(1))
    assert kinds == ["NkiScalar", *["VirtualRegister"] * 2, "NkiScalar", "VirtualRegister"]


def test_properties_of_a_scalar():
    seen = []

    @nki.jit
    def kernel(x):
        i = loaded(x)
        seen.append((i.dtype, isinstance(i, nisa.NkiScalar), {i: 1}[i], i == i, repr(i + 1)))

    kernel.trace(*ints(1))
    assert seen == [("int32", True, 1, True, "NkiScalar(register)")]


@pytest.mark.parametrize(
    "use",
    [
        lambda i: i + 1.5,
        lambda i: i // 2,
        lambda i: i * True,
        lambda i: "a" + i,
        lambda i: bool(i),
        lambda i: int(i),
        lambda i: range(i),
        lambda i: i == 3,
        lambda i: i < 3,
        lambda i: i >= i + 1,
        lambda i: i == i + 0,
    ],
)
def test_unknown_values_are_a_type_error_in_python(use):
    @nki.jit
    def kernel(x):
        use(loaded(x))

    with pytest.raises(TypeError):
        kernel.trace(*ints(1))


def test_arithmetic_with_a_register_is_refused():
    @nki.jit
    def kernel(x):
        _ = loaded(x) + nisa.register_alloc(1)

    with pytest.raises(TypeError, match="unsupported operand"):
        kernel.trace(*ints(1))


def empty(shape, dtype, buffer=nl.sbuf):
    return nl.ndarray(shape, dtype, buffer=buffer)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda i: nisa.scalar_load(empty((1, 1), nl.uint32)), "got uint32 (1, 1) in sbuf"),
        (lambda i: nisa.scalar_load(empty((1, 2), nl.int32)), "got int32 (1, 2) in sbuf"),
        (lambda i: nisa.scalar_load(empty((1, 1), nl.int32, nl.psum)), "(1, 1) in psum"),
        (lambda i: nisa.scalar_load(3), "nisa.scalar_load: 'src': expected one int32 element"),
        (lambda i: nisa.scalar_store(empty((1, 1), nl.float32), i), "got float32 (1, 1) in sbuf"),
        (lambda i: nisa.scalar_store(empty((1, 1), nl.int32), 3), "expected a scalar, got 3"),
        (lambda i: nisa.register_move(i, 3), "a scalar is written"),
        (lambda i: i + 2**31, "'data2': expected an int32"),
    ],
)
def test_mistakes_are_reported(use, message):
    @nki.jit
    def kernel(x):
        use(loaded(x))

    with pytest.raises(nki.NkiValidationError) as raised:
        kernel.trace(*ints(1)).verify()
    assert message in str(raised.value)
