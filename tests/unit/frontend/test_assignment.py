"""Assignment to views, tiles of one dimension, and addresses that a kernel asks for."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

X = np.random.default_rng(3).standard_normal((3, 64, 8), dtype=np.float32)


def names(traced):
    return [op.name for op in traced._kernel.walk() if op.name.startswith("nisa.")]


def test_a_tile_is_copied_to_the_view():
    @nki.jit
    def kernel(x):
        rows = nl.ndarray((64, 3, 8), nl.bfloat16)
        out = nl.ndarray((3, 64, 8), nl.float32, buffer=nl.shared_hbm)
        for i in range(3):
            rows[:, 2 - i, ::2] = nl.load(x[i])[:, ::2]
            rows[0:64, 2 - i, 1:8:2] = nl.load(x[i])[:, 1:8:2]
        for i in range(3):
            whole = nl.ndarray((64, 8), nl.float32)
            whole[...] = rows[:, i, :]
            out[i] = whole
        return out

    assert set(names(kernel.trace(X))) == {"nisa.dma_copy", "nisa.tensor_copy"}
    assert np.allclose(kernel(X), X[::-1], rtol=2**-8)


def test_dma_moves_data_in_hbm():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape[1:], x.dtype)
        tile[0:32] = x[1, 32:64]
        tile[32:64, :] = x[1, 0:32]
        out[0] = tile
        out[1:3] = x[0:2]
        return out

    assert set(names(kernel.trace(X))) == {"nisa.dma_copy"}
    assert np.array_equal(kernel(X), np.stack([np.roll(X[1], 32, axis=0), X[0], X[1]]))


def test_a_number_fills_the_view():
    @nki.jit
    def kernel(x):
        tile = nl.load(x[0])
        tile[:, 3] = -1.5
        tile[32:64, 4:6] = 2
        counts = nl.ndarray((64, 8), nl.int32)
        counts[...] = 7
        out = nl.ndarray((64, 8), nl.float32, buffer=nl.shared_hbm)
        tile[:, 7:8] = counts[:, 0:1]
        out[...] = tile
        return out

    expected = X[0].copy()
    expected[:, 3], expected[32:, 4:6], expected[:, 7] = -1.5, 2, 7
    assert np.array_equal(kernel(X), expected)


@pytest.mark.parametrize(
    ("assign", "message"),
    [
        (lambda tile, x: tile.__setitem__((slice(None), 0), tile), r"is \(64, 1\), not \(64, 8\)"),
        (lambda tile, x: x.__setitem__(0, tile[0:1]), r"is \(64, 8\), not \(1, 8\)"),
        (lambda tile, x: tile.__setitem__(..., "zero"), "expected a tile or a number, got 'zero'"),
        (lambda tile, x: tile.__setitem__(..., None), "expected a tile or a number, got None"),
        (lambda tile, x: x.__setitem__(..., 0.0), "expected a tensor, got 0.0"),
        (lambda tile, x: tile.__setitem__((0, 0, 0), 1.0), "view of 'tile'"),
        (lambda tile, x: tile.__setitem__(..., nl.zeros((64, 8), nl.float32, nl.hbm)), None),
    ],
)
def test_wrong_assignments_are_reported(assign, message):
    def kernel(x):
        tile = nl.ndarray((64, 8), nl.float32)
        assign(tile, x)

    if message is None:
        assert not nki.jit(kernel).trace(X).diagnostics.errors
        return
    with pytest.raises(nisa.NkiValidationError, match=message):
        nki.jit(kernel).trace(X)


def test_assignments_break_the_rules_of_their_instruction_at_the_authors_line():
    @nki.jit
    def kernel(x):
        counts = nl.ndarray((64, 8), nl.int32)
        counts[...] = 1.5

    (finding,) = kernel.trace(X).diagnostics
    assert finding.rule.id == "memset-dtype"
    assert finding.where[0].file == __file__


def test_a_tile_of_one_dimension_has_a_second_one_of_size_one():
    @nki.jit
    def kernel(x):
        count = nl.full([1], 5, nl.int32)
        register = nisa.register_alloc()
        nisa.register_load(register, count)
        result = nl.ndarray(1, nl.int32)
        nisa.register_store(result, register)
        tile = nl.load(x[0, 0])
        total = nl.zeros((8,), nl.float32, buffer=nl.psum)
        assert count.shape == result.shape == (1, 1)
        assert tile.shape == total.shape == (8, 1)
        out = nl.ndarray((8,), nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nl.add(tile, total))
        number = nl.ndarray((1,), nl.int32, buffer=nl.shared_hbm)
        nl.store(number, result)
        return out, number

    out, number = kernel(X)
    assert np.array_equal(out, X[0, 0])
    assert np.array_equal(number, [5])


def test_a_tensor_knows_the_address_that_it_was_given():
    @nki.jit
    def kernel(x):
        placed = nl.ndarray((64, 8), nl.float32, address=(32, 4096))
        assert placed.address == placed[:, 4:].address == (32, 4096)
        assert nl.ndarray((64, 8), nl.float32).address is None
        assert x.address is None
        assert nl.shared_identity_matrix(64).address is None

    assert not kernel.trace(X).diagnostics.errors
