"""`square-activation`: the predicted time of advice equals that of the kernel changed by hand."""

from __future__ import annotations

import pytest
from support.advice import check_pair, normal, proofs

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.attributes import OperatorAttr
from nkijit.passes.advise import squares
from nkijit.passes.prove.algebra import Level

KIND = "square-activation"


def sbuf(*shape):
    return nl.ndarray(shape, nl.float32, buffer=nl.sbuf)


@nki.jit
def busy_vector_engine(x, by_hand):
    """The Vector Engine is busy, the Scalar Engine is idle."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile, square, other = sbuf(*x.shape), sbuf(*x.shape), sbuf(*x.shape)
    nisa.dma_copy(dst=tile, src=x)
    if by_hand:
        nisa.activation(dst=square, data=tile, op=nl.square)
    else:
        nisa.tensor_tensor(
            dst=square, data1=tile, data2=tile, op=nl.multiply, engine=nisa.engine.vector
        )
    nisa.tensor_scalar(
        dst=other, data=tile, op0=nl.maximum, operand0=0.5, engine=nisa.engine.vector
    )
    nisa.tensor_tensor(dst=other, data1=other, data2=square, op=nl.add, engine=nisa.engine.vector)
    nisa.dma_copy(dst=out, src=other)
    return out


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_a_square_moves_to_the_scalar_engine(target):
    check_pair(busy_vector_engine, target, (normal(128, 4096),), KIND)


def test_results_have_the_same_bits():
    (found,) = proofs(busy_vector_engine, (normal(128, 512), False), KIND)
    assert found.level is Level.bits


def test_mutants_are_refuted(monkeypatch):
    """Another function than the square."""
    monkeypatch.setattr(
        squares.OperatorAttr,
        "of",
        lambda word, of=OperatorAttr.of: of("abs" if word == "square" else word),
    )
    (found,) = proofs(busy_vector_engine, (normal(128, 512), False), KIND)
    assert found.level is None
