"""The strictest level at which pairs of kernels are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.traced.kernel import TracedKernel

Body = Callable[..., None]
A = np.zeros((128, 64), np.float32)


def of(body: Body, *inputs: Any, out: Any = nl.float32) -> TracedKernel:
    """A kernel that loads float32 tiles, computes `y` with a function, and stores the result."""

    def kernel(a, b):
        y = nl.ndarray((128, 64), out, buffer=nl.shared_hbm)
        tiles = []
        for tensor in (a, b):
            tiles.append(nl.ndarray((128, 64), tensor.dtype, buffer=nl.sbuf))
            nisa.dma_copy(tiles[-1], tensor)
        result = nl.ndarray((128, 64), out, buffer=nl.sbuf)
        body(result, *tiles)
        nisa.dma_copy(y, result)
        return y

    return nki.jit(kernel).trace(*(inputs or (A, A)))


def tile(*shape: int, dtype: Any = nl.float32, buffer: Any = None) -> Any:
    return nl.ndarray(shape, dtype, buffer=nl.sbuf if buffer is None else buffer)


def add(y, a, b):
    nisa.tensor_tensor(y, a, b, op=nl.add)


def add_swapped_in_halves(y, a, b):
    for half in (slice(32, 64), slice(0, 32)):
        nisa.tensor_tensor(y[:, half], b[:, half], a[:, half], op=nl.add, engine=nisa.gpsimd_engine)


def subtract(y, a, b):
    nisa.tensor_tensor(y, a, b, op=nl.subtract)


def subtract_swapped(y, a, b):
    nisa.tensor_tensor(y, b, a, op=nl.subtract)


def twice_added(y, a, b):
    nisa.tensor_tensor(y, a, b, op=nl.add)
    nisa.tensor_tensor(y, y, a, op=nl.add)


def twice_added_first(y, a, b):
    nisa.tensor_tensor(y, a, a, op=nl.add)
    nisa.tensor_tensor(y, y, b, op=nl.add)


def maximum(y, a, b):
    nisa.tensor_tensor(y, a, b, op=nl.maximum)


def maximum_again(y, a, b):
    nisa.tensor_tensor(y, b, a, op=nl.maximum)
    nisa.tensor_tensor(y, y, y, op=nl.maximum)


def through_bfloat16(y, a, b):
    held = tile(128, 64, dtype=nl.bfloat16)
    nisa.tensor_tensor(held, a, b, op=nl.add)
    nisa.tensor_copy(y, held)


def squared(y, a, b):
    nisa.activation(y, nl.square, a)


def multiplied(y, a, b):
    nisa.tensor_tensor(y, a, a, op=nl.multiply)


def scaled(y, a, b):
    nisa.tensor_scalar(y, a, nl.multiply, 0.5, op1=nl.multiply, operand1=3.0)


def scaled_in_another_order(y, a, b):
    nisa.tensor_scalar(y, a, nl.multiply, 3.0, op1=nl.multiply, operand1=0.5)


def less(y, a, b):
    nisa.tensor_tensor(y, a, b, op=nl.less)


def greater_swapped(y, a, b):
    nisa.tensor_tensor(y, b, a, op=nl.greater)


def distributed(y, a, b):
    nisa.tensor_tensor(y, a, b, op=nl.add)
    nisa.tensor_tensor(y, y, a, op=nl.multiply)


def distributed_products(y, a, b):
    other = tile(128, 64)
    nisa.tensor_tensor(y, a, a, op=nl.multiply)
    nisa.tensor_tensor(other, a, b, op=nl.multiply)
    nisa.tensor_tensor(y, y, other, op=nl.add)


def power(y, a, b):
    nisa.tensor_tensor(y, a, b, op=nl.power)


def with_unused(y, a, b):
    unused = tile(128, 64)
    nisa.tensor_tensor(unused, a, b, op=nl.subtract)
    moved = tile(128, 64)
    nisa.tensor_copy(moved, b)
    nisa.tensor_tensor(y, a, moved, op=nl.add)


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        (add, add, "bits"),
        (add, add_swapped_in_halves, "bits"),
        (add, with_unused, "bits"),
        (less, greater_swapped, "bits"),
        (squared, multiplied, "bits"),
        (twice_added, twice_added_first, "reassociated"),
        (maximum, maximum_again, "reassociated"),
        (scaled, scaled_in_another_order, "reassociated"),
        (add, through_bfloat16, "rounding"),
        (add, subtract, None),
        (subtract, subtract_swapped, None),
        (maximum, add, None),
        (multiplied, maximum, None),
        (distributed, distributed_products, None),
        (power, multiplied, None),
        (less, maximum, None),
    ],
)
def test_the_strictest_level(old: Body, new: Body, level: str | None) -> None:
    proof = of(old).equivalent(of(new))
    assert proof.level == level
    assert (proof.difference is None) == (level is not None)


@pytest.mark.parametrize("level", ["bits", "reassociated"])
def test_weaker_levels_are_not_tried(level: str) -> None:
    proof = of(add).equivalent(of(through_bfloat16), level)
    assert proof.level is None
    assert not proof.holds("rounding")


def test_a_proof_holds_at_all_weaker_levels() -> None:
    proof = of(twice_added).equivalent(of(twice_added_first))
    assert [proof.holds(level) for level in ("bits", "reassociated", "rounding")] == [
        False,
        True,
        True,
    ]


def test_roundings_are_listed() -> None:
    proof = of(add).equivalent(of(through_bfloat16))
    (rounding,) = proof.roundings
    assert (rounding.kernel, rounding.dtype) == ("new", "bfloat16")
    assert rounding.place is not None
    assert "tensor_tensor(held" in rounding.place.source_line()


def product(*, tiles: int, backwards: bool = False) -> TracedKernel:
    def kernel(a, b):
        y = nl.ndarray((128, 64), nl.float32, buffer=nl.shared_hbm)
        sums = tile(128, 64, buffer=nl.psum)
        size = 256 // tiles
        numbers = range(tiles)
        for number in reversed(numbers) if backwards else numbers:
            rows = slice(number * size, (number + 1) * size)
            left, right = tile(size, 128), tile(size, 64)
            nisa.dma_copy(left, a[rows])
            nisa.dma_copy(right, b[rows])
            nisa.nc_matmul(sums, left, right)
        result = tile(128, 64)
        nisa.tensor_copy(result, sums)
        nisa.dma_copy(y, result)
        return y

    inputs = np.zeros((256, 128), np.float32), np.zeros((256, 64), np.float32)
    return nki.jit(kernel).trace(*inputs)


def test_the_order_and_tiles_of_a_contraction() -> None:
    old = product(tiles=4)
    assert old.equivalent(product(tiles=4)).level == "bits"
    assert old.equivalent(product(tiles=4, backwards=True)).level == "reassociated"
    assert old.equivalent(product(tiles=8)).level == "reassociated"


def test_other_types_are_not_compared() -> None:
    proof = of(add).equivalent(of(add, out=nl.bfloat16))
    assert proof.level is None
    assert proof.unproven is not None
    assert "bfloat16 (128, 64) in the new one" in proof.unproven.reason


def test_widening_is_the_identity() -> None:
    half = np.zeros((128, 64), np.float16)

    def widened(y, a, b):
        other = tile(128, 64)
        nisa.tensor_copy(other, a)
        nisa.tensor_copy(y, other)

    def copied(y, a, b):
        nisa.tensor_copy(y, a)

    assert of(widened, half, half).equivalent(of(copied, half, half)).level == "bits"


def through(dtype: Any, *, changed: bool = False) -> TracedKernel:
    """bfloat16 inputs, stored as `dtype` on the way to bfloat16."""

    def body(y, a, b):
        held = tile(128, 64, dtype=dtype)
        nisa.tensor_copy(held, a)
        if changed:
            nisa.tensor_tensor(held[:, 8:9], held[:, 8:9], a[:, 8:9], op=nl.multiply)
        nisa.tensor_copy(y, held)

    half = np.zeros((128, 64), ml_dtypes.bfloat16)
    return of(body, half, half, out=nl.bfloat16)


def test_a_wider_type_on_the_way_is_the_identity() -> None:
    plain = through(nl.bfloat16)
    assert plain.equivalent(through(nl.float32)).level == "bits"
    assert plain.equivalent(through(nl.float16)).level == "rounding"


def test_a_wider_tile_that_is_computed_in_is_rounded() -> None:
    one, other = (through(dtype, changed=True) for dtype in (nl.bfloat16, nl.float32))
    proof = one.equivalent(other, "bits")
    assert proof.level is None
    assert one.equivalent(other, "reassociated").level is None


def test_undefined_elements_are_never_equal() -> None:
    def undefined(y, a, b):
        nisa.tensor_copy(y[:, :32], a[:, :32])

    traced = of(undefined)
    from nkijit.passes.prove.proof import prove

    proof = prove(traced.cores(), traced.cores())
    assert proof.level is None
    assert proof.difference is not None
    assert proof.difference.index == (0, 32)
