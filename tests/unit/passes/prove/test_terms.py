"""Terms of elements as text, and the inputs that they depend on."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.traced.kernel import TracedKernel


def softmax(scale: float = 0.125) -> TracedKernel:
    def kernel(x):
        y = nl.ndarray((128, 64), nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((128, 64), nl.float32, buffer=nl.sbuf)
        top = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        nisa.tensor_reduce(top, op=nl.maximum, data=tile, axis=1)
        nisa.tensor_scalar(tile, tile, nl.subtract, top, op1=nl.multiply, operand1=scale)
        nisa.activation(tile, nl.exp, tile)
        nisa.dma_copy(y, tile)
        return y

    return nki.jit(kernel).trace(np.zeros((128, 64), np.float32))


def test_an_element_as_an_expression() -> None:
    term = softmax().term("y", 3, 7)
    assert term.text == "exp((x[3, 7] - max(x[3, 0:64])) * 0.125)"
    assert term.inputs == {"x": 64}
    assert term.place is not None
    assert "nl.exp" in term.place.source_line()


def test_a_sum_of_products() -> None:
    def kernel(a, b):
        y = nl.ndarray((32, 16), nl.float32, buffer=nl.shared_hbm)
        left = nl.ndarray((64, 32), nl.float32, buffer=nl.sbuf)
        right = nl.ndarray((64, 16), nl.float32, buffer=nl.sbuf)
        sums = nl.ndarray((32, 16), nl.float32, buffer=nl.psum)
        result = nl.ndarray((32, 16), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(left, a)
        nisa.dma_copy(right, b)
        nisa.nc_matmul(sums, left, right)
        nisa.tensor_copy(result, sums)
        nisa.dma_copy(y, result)
        return y

    inputs = np.zeros((64, 32), np.float32), np.zeros((64, 16), np.float32)
    term = nki.jit(kernel).trace(*inputs).term("y", 5, 9)
    assert term.text == "sum(a[k, 5] * b[k, 9] for k in 0:64)"
    assert term.inputs == {"a": 64, "b": 64}


def test_terms_are_pruned_to_where_they_diverge() -> None:
    proof = softmax().equivalent(softmax(0.25))
    assert proof.difference is not None
    terms = proof.difference.terms
    assert terms is not None
    assert (terms.old, terms.new) == ("0.125", "0.25")
    assert terms.steps == ("exp", "multiply")
    without = softmax().equivalent(softmax(1.0)).difference
    assert without is not None
    assert without.terms is not None
    assert without.terms.old == "(x[0, 0] - max(x[0, 0:64])) * 0.125"
    assert without.terms.new == "x[0, 0] - max(x[0, 0:64])"


def test_unknown_elements() -> None:
    traced = softmax()
    with pytest.raises(KeyError, match="there is no result 'z'; there are y"):
        traced.term("z", 0, 0)
    with pytest.raises(IndexError, match=r"y has the shape \(128, 64\)"):
        traced.term("y", 128, 0)
