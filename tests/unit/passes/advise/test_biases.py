"""`subtracting-bias`: the predicted time of advice equals that of the kernel changed by hand."""

from __future__ import annotations

import pytest
from support.advice import check_pair, normal, proofs

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.advise import biases
from nkijit.passes.prove.algebra import Level

KIND = "subtracting-bias"


def sbuf(*shape):
    return nl.ndarray(shape, nl.float32, buffer=nl.sbuf)


@nki.jit
def after_maximum(x, by_hand):
    """The reduction negates the maximum that only the subtraction reads."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile, largest, centred, result = sbuf(*x.shape), sbuf(128, 1), sbuf(*x.shape), sbuf(*x.shape)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_reduce(dst=largest, op=nl.maximum, data=tile, axis=1, negate=by_hand)
    if by_hand:
        nisa.activation(dst=result, data=tile, op=nl.exp, bias=largest)
    else:
        nisa.tensor_scalar(dst=centred, data=tile, op0=nl.subtract, operand0=largest)
        nisa.activation(dst=result, data=centred, op=nl.exp)
    nisa.dma_copy(dst=out, src=result)
    return out


@nki.jit
def of_loaded(x, mean, by_hand):
    """An instruction negates a value that was loaded."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile, column, centred, result = sbuf(*x.shape), sbuf(128, 1), sbuf(*x.shape), sbuf(*x.shape)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=column, src=mean)
    if by_hand:
        negated = sbuf(128, 1)
        nisa.tensor_scalar(dst=negated, data=column, op0=nl.multiply, operand0=-1.0)
        nisa.activation(dst=result, data=tile, op=nl.tanh, bias=negated)
    else:
        nisa.tensor_scalar(dst=centred, data=tile, op0=nl.subtract, operand0=column)
        nisa.activation(dst=result, data=centred, op=nl.tanh)
    nisa.dma_copy(dst=out, src=result)
    return out


@nki.jit
def reversed_order(x, is_read):
    """A value minus the tile, in place: the scale is -1. With `is_read`, the tile is a result."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile, result = sbuf(*x.shape), sbuf(*x.shape)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.subtract, operand0=2.0, reverse0=True)
    nisa.activation(dst=result, data=tile, op=nl.exp)
    nisa.dma_copy(dst=out, src=result)
    if is_read:
        differences = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=differences, src=tile)
        return out, differences
    return out


WIDE = normal(128, 4096)


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_the_reduction_negates(target):
    check_pair(after_maximum, target, (WIDE,), KIND)


def test_an_instruction_negates():
    check_pair(of_loaded, "trn2", (WIDE, normal(128, 1)), KIND)


@pytest.mark.parametrize(
    ("kernel", "args"),
    [(after_maximum, (WIDE, False)), (of_loaded, (WIDE, normal(128, 1), False))],
)
def test_results_have_the_same_bits(kernel, args):
    found = proofs(kernel, args, KIND)
    assert found
    if kernel is after_maximum:
        assert [proof.level for proof in found] == [Level.bits]
    assert all(proof.level is not None for proof in found), list(map(str, found))


def test_a_subtraction_in_place_is_removed_or_left_alone():
    """If it has other readers, the activation would read the tile that it has overwritten."""
    assert [proof.level for proof in proofs(reversed_order, (WIDE, False), KIND)] == [Level.bits]
    assert proofs(reversed_order, (WIDE, True), KIND) == []


def test_mutants_are_refuted(monkeypatch):
    """A bias that is not negated."""
    monkeypatch.setattr(biases, "_negate", lambda reduction: None)
    monkeypatch.setattr(biases, "_negated", lambda value, place: value)
    for kernel, args in (
        (after_maximum, (WIDE, False)),
        (of_loaded, (WIDE, normal(128, 1), False)),
    ):
        (found,) = proofs(kernel, args, KIND)
        assert found.level is None
        assert found.difference is not None
