"""`fused-instructions`: the predicted time of advice equals that of the kernel changed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from support.advice import EVERY_TARGET, check_pair, normal, suggestions
from support.compiled_runs import run

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.advise.edit import Edit
from nkijit.passes.advise.experiments import proposals_for

every_target = pytest.mark.parametrize("target", EVERY_TARGET)
SIZE = 4096


def sbuf(*shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype, buffer=nl.sbuf)


def stored(*tiles):
    out = [nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm) for tile in tiles]
    for place, tile in zip(out, tiles, strict=True):
        nisa.dma_copy(dst=place, src=tile)
    return tuple(out)


@nki.jit
def two_scalars(x, by_hand):
    data, mid, result = nl.load(x), sbuf(*x.shape), sbuf(*x.shape)
    if by_hand:
        nisa.tensor_scalar(result, data, nl.multiply, 2.0, op1=nl.add, operand1=1.0)
    else:
        nisa.tensor_scalar(mid, data, nl.multiply, 2.0)
        nisa.tensor_scalar(result, mid, nl.add, 1.0)
    return stored(result)


@nki.jit
def scalar_then_tensor(x, by_hand):
    data, mid, result = nl.load(x), sbuf(*x.shape), sbuf(*x.shape)
    if by_hand:
        nisa.scalar_tensor_tensor(result, data, nl.multiply, 2.0, nl.subtract, data, reverse1=True)
    else:
        nisa.tensor_scalar(mid, data, nl.multiply, 2.0)
        nisa.tensor_tensor(result, data, mid, nl.subtract)
    return stored(result)


@nki.jit
def scale_and_bias(x, by_hand):
    """In place: the scaled tile is activated."""
    data, column = nl.load(x), sbuf(x.shape[0], 1)
    nisa.memset(column, 0.5)
    if by_hand:
        nisa.activation(data, nl.exp, data, scale=2.0, bias=column)
    else:
        nisa.tensor_scalar(data, data, nl.multiply, 2.0, op1=nl.add, operand1=column)
        nisa.activation(data, nl.exp, data)
    return stored(data)


@nki.jit
def activation_then_sum(x, by_hand):
    data, result, total = nl.load(x), sbuf(*x.shape), sbuf(x.shape[0], 1)
    if by_hand:
        nisa.activation_reduce(result, nl.exp, data, reduce_op=nl.add, reduce_res=total)
    else:
        nisa.activation(result, nl.exp, data)
        nisa.tensor_reduce(total, nl.add, result, axis=1)
    return stored(total)


@nki.jit
def scalar_then_maximum(x, by_hand):
    data, result, most = nl.load(x), sbuf(*x.shape), sbuf(x.shape[0], 1)
    if by_hand:
        nisa.tensor_scalar_reduce(
            result, data, nl.multiply, 2.0, reduce_op=nl.maximum, reduce_res=most
        )
    else:
        nisa.tensor_scalar(result, data, nl.multiply, 2.0)
        nisa.tensor_reduce(most, nl.maximum, result, axis=1)
    return stored(most)


@nki.jit
def square_then_sum(x, by_hand):
    data, result, total = nl.load(x), sbuf(*x.shape), sbuf(x.shape[0], 1)
    if by_hand:
        nisa.scalar_tensor_tensor(
            result, data, nl.multiply, 1.0, nl.multiply, data, reduce_op=nl.add, reduce_res=total
        )
    else:
        nisa.tensor_tensor(result, data, data, nl.multiply)
        nisa.tensor_reduce(total, nl.add, result, axis=1)
    return stored(total)


BECOMES = {
    two_scalars: "one tensor_scalar with two operators do this tensor_scalar",
    scalar_then_tensor: "one scalar_tensor_tensor do this tensor_tensor",
    scale_and_bias: "activation, by its scale= and bias=, do this activation",
    activation_then_sum: "activation, by its reduce_op= and reduce_res=, do this tensor_reduce",
    scalar_then_maximum: "one tensor_scalar_reduce do this tensor_reduce",
    square_then_sum: "one scalar_tensor_tensor, by its reduce_op= and reduce_res=, do this",
}


@every_target
@pytest.mark.parametrize("kernel", BECOMES, ids=lambda kernel: kernel.__name__)
def test_two_that_are_one(kernel: nki.Kernel, target: str) -> None:
    args = (normal(128, SIZE),)
    found = check_pair(kernel, target, args, "fused-instructions")
    assert found.message.startswith(f"let {BECOMES[kernel]}")
    assert "at line" in found.message


@pytest.mark.parametrize("kernel", BECOMES, ids=lambda kernel: kernel.__name__)
def test_they_compute_the_same(kernel: nki.Kernel) -> None:
    """But for the order of additions: with float32 between them nothing else is rounded."""
    x = normal(128, SIZE)
    traced = kernel.for_target("trn2").trace(x, False)
    (module,) = traced._kernels
    (fused,) = (p for p in proposals_for(module) if p.kind.id == "fused-instructions")
    edit = Edit(module)
    fused.change(edit)
    edit.kernel.verify()
    for (shape, dtype, new), (_, _, old) in zip(
        run([edit.kernel], [x]), run([module], [x]), strict=True
    ):
        values = (np.frombuffer(b, dtype).reshape(shape).astype(np.float64) for b in (new, old))
        np.testing.assert_allclose(*values, rtol=1e-5)


@nki.jit
def needed_later(x):
    """The value in between is stored as well."""
    data, mid, result = nl.load(x), sbuf(*x.shape), sbuf(*x.shape)
    nisa.tensor_scalar(mid, data, nl.multiply, 2.0)
    nisa.tensor_scalar(result, mid, nl.add, 1.0)
    return stored(result, mid)


@nki.jit
def changed_between(x):
    """An input of the first instruction is overwritten before the second instruction runs."""
    data, mid, result = nl.load(x), sbuf(*x.shape), sbuf(*x.shape)
    nisa.tensor_scalar(mid, data, nl.multiply, 2.0)
    nisa.memset(data, 1.0)
    nisa.tensor_scalar(result, mid, nl.add, 1.0)
    return stored(result, data)


@pytest.mark.parametrize("kernel", [needed_later, changed_between])
def test_instructions_that_cannot_be_fused(kernel: nki.Kernel) -> None:
    assert not suggestions(kernel, "trn2", (normal(128, SIZE),), "fused-instructions")
