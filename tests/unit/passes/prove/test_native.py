"""Loops in machine code give the digests that NumPy gives."""

from __future__ import annotations

from collections.abc import Callable, Set

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.interpret.backends.choice import NATIVE, NUMPY, on_backend
from nkijit.passes.prove import native
from nkijit.passes.prove.algebra import Algebra, Level
from nkijit.passes.prove.digests import CELL, EVEN, FLAG, LANES, Cells, differ, words
from nkijit.passes.prove.run import digests

SHAPE = (129, 257)
Function = Callable[[Algebra, Cells, Cells], Cells]

FUNCTIONS: dict[str, Function] = {
    "add": lambda a, x, y: a.binary("add", x, y, SHAPE),
    "multiply": lambda a, x, y: a.binary("multiply", x, y, SHAPE),
    "maximum": lambda a, x, y: a.binary("maximum", x, y, SHAPE),
    "subtract": lambda a, x, y: a.binary("subtract", x, y, SHAPE),
    "power": lambda a, x, y: a.binary("power", x, y, SHAPE),
    "less": lambda a, x, y: a.binary("less", x, y, SHAPE),
    "exp": lambda a, x, y: a.unary("exp", x),
    "select": lambda a, x, y: a.elements("select", x, y, x),
    "scaled and shifted": lambda a, x, y: a.elements("affine", x, y, x, y),
    "of a row": lambda a, x, y: a.elements("row", x, y[:, :1]),
    "largest of rows": lambda a, x, y: a.reduce("maximum", x),
    "running product": lambda a, x, y: a.running("multiply", x, y[:, :1]),
    "product": lambda a, x, y: a.product(x, y),
    "product of halves": lambda a, x, y: a.product(x[:, ::2], y),
}


def operands(algebra: Algebra) -> tuple[Cells, Cells]:
    """Random digests; some are those of 0, some are flagged, and some pairs are equal."""
    rng = np.random.default_rng(17)
    flat = rng.integers(0, 1 << 64, (2, *SHAPE, LANES), np.uint64) & EVEN
    zero = words(algebra.number(np.zeros(1, np.float32)))
    for each in flat:
        each[rng.random(SHAPE) < 0.1] = zero
        each[rng.random(SHAPE) < 0.1, 0] |= FLAG
    equal = rng.random(SHAPE) < 0.1
    flat[1][equal] = flat[0][equal]
    x, y = flat.view(CELL)[..., 0]
    return x, y


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_machine_code_and_numpy_give_equal_digests(name: str, level: Level) -> None:
    found: list[Cells] = []
    for backend in (NATIVE, NUMPY):
        algebra = Algebra(level)
        with on_backend(backend):
            found.append(FUNCTIONS[name](algebra, *operands(algebra)))
    assert found[0].shape == found[1].shape
    assert not differ(*found).any()


@pytest.mark.parametrize(("backend", "names"), [(NATIVE, native.LOOPS.keys()), (NUMPY, set())])
def test_the_backend_of_large_arrays(
    monkeypatch: pytest.MonkeyPatch, backend: str, names: Set[str]
) -> None:
    used: set[str] = set()
    function = native._function
    monkeypatch.setattr(native, "_function", lambda name: (used.add(name), function(name))[1])
    with on_backend(backend):
        for level in Level:
            algebra = Algebra(level)
            for each in FUNCTIONS.values():
                each(algebra, *operands(algebra))
    assert used == names


@pytest.mark.parametrize("level", Level)
def test_kernels_have_equal_digests_on_both_backends(level: Level) -> None:
    def kernel(a, b):
        y = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
        left, right = (nl.ndarray(each.shape, each.dtype, buffer=nl.sbuf) for each in (a, b))
        sums = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
        largest = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
        result = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(left, a)
        nisa.dma_copy(right, b)
        nisa.activation(right, nl.exp, right)
        nisa.nc_matmul(sums, left, right)
        nisa.nc_matmul(sums, left, right)
        nisa.tensor_reduce(largest, nl.maximum, sums, axis=1)
        nisa.tensor_scalar(result, sums, nl.subtract, largest, op1=nl.multiply, operand1=0.5)
        nisa.dma_copy(y, result)
        return y

    inputs = np.zeros((128, 128), np.float32), np.zeros((128, 512), np.float32)
    cores = nki.jit(kernel).trace(*inputs).cores()
    found: list[Cells] = []
    for backend in (NATIVE, NUMPY):
        with on_backend(backend):
            found.append(digests(cores, Algebra(level), "old").returned[0])
    assert not differ(*found).any()
