"""Errors of a run name the line of the kernel, the instruction and, if it matters, the target."""

from __future__ import annotations

import ast
import re

import ml_dtypes
import numpy as np
import pytest
from support.paths import ROOT

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.ir.text import parse
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.traced.kernel import TracedKernel


def failing(kernel, *arrays):
    """The message, and the line of the statement marked with `# here`."""
    with pytest.raises(InterpretationError) as caught:
        kernel(*arrays)
    message = str(caught.value)
    place = re.search(r"^(?:  --> )?(\S+):(\d+):\d+(?:: (nisa|nki)\.\w+: |$)", message, re.M)
    assert place is not None, message
    assert place[1].endswith("test_failures.py")
    with open(__file__, encoding="utf-8") as file:
        assert "# here" in file.read().split("\n")[int(place[2]) - 1]
    return message


def loaded(x, dtype=None):
    tile = nl.ndarray(x.shape, dtype or x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    return tile


def returned(tile):
    out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile)
    return out


def transposed(x, y):
    stationary, moving = loaded(x), loaded(y)
    product = nl.ndarray((x.shape[1], y.shape[1]), nl.float32, buffer=nl.psum)
    nisa.nc_matmul(product, stationary, moving, is_transpose=True)  # here
    result = nl.ndarray(product.shape, nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(result, product)
    return returned(result)


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_transpose_mode_with_an_ordinary_moving_tile(target):
    rng = np.random.default_rng(0)
    x, y = rng.random((32, 16), np.float32), rng.random((32, 8), np.float32)
    message = failing(nki.jit(transposed, platform_target=target), x, y)
    assert f"nisa.nc_matmul: on {target} 'is_transpose' is transpose mode" in message
    assert "one 1 per column" in message


def test_on_trn1_it_is_a_hint_and_the_instruction_multiplies():
    rng = np.random.default_rng(0)
    x, y = rng.random((32, 16), np.float32), rng.random((32, 8), np.float32)
    result = nki.jit(transposed, platform_target="trn1")(x, y)
    assert np.allclose(result, x.T @ y, rtol=1e-4)


def test_a_range_that_is_none():
    @nki.jit(platform_target="trn3")
    def kernel(low, high):
        tile = nl.ndarray((32, 8), nl.float32, buffer=nl.sbuf)
        nisa.rand2(tile, loaded(low), loaded(high))  # here
        return returned(tile)

    low, high = np.zeros((32, 1), np.float32), np.ones((32, 1), np.float32)
    high[3] = -1
    assert "in partition 3 of the tile 'min' is 0 and 'max' is -1" in failing(kernel, low, high)


def test_an_index_that_leads_nowhere():
    @nki.jit(platform_target="trn3")
    def kernel(x, index):
        tile = nl.ndarray((32, 4), nl.float32, buffer=nl.sbuf)
        nisa.nc_n_gather(tile, loaded(x), loaded(index))  # here
        return returned(tile)

    x, index = np.zeros((32, 8), np.float32), np.full((32, 4), 9, np.uint32)
    assert "[0, 0] is 9; 128 of 128 are out of 0 to 7" in failing(kernel, x, index)


def test_bits_that_are_not_kept(monkeypatch):
    @nki.jit
    def kernel(x):
        tile = loaded(x)
        bits = nl.ndarray(x.shape, nl.uint16, buffer=nl.sbuf)
        nisa.tensor_copy(bits, tile.view(nl.uint16))  # here
        return returned(bits)

    monkeypatch.setenv("NKI_PRECISE_FP", "0")
    x = np.zeros((32, 8), ml_dtypes.bfloat16)
    assert "NKI_PRECISE_FP=0 does not keep" in failing(kernel, x)


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_a_transpose_that_widens_is_a_finding(target):
    @nki.jit(platform_target=target)
    def kernel(x):
        product = nl.ndarray((8, 32), nl.float32, buffer=nl.psum)
        nisa.nc_transpose(product, loaded(x), engine=nisa.engine.tensor)
        result = nl.ndarray((8, 32), nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(result, product)
        return returned(result)

    (found,) = kernel.trace(np.zeros((32, 8), ml_dtypes.bfloat16)).diagnostics
    assert (found.rule.id, found.severity) == ("same-dtype", "error")


def test_no_error_of_a_kernels_run_is_raised_without_its_operation():
    """Those that remain are about inputs, the environment, or carry places of their own."""
    bare = {
        path.name
        for path in sorted((ROOT / "passes" / "interpret").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and getattr(node.exc.func, "id", "") == "InterpretationError"
    }
    assert bare <= {
        "body.py",
        "choice.py",
        "inputs.py",
        "launch.py",
        "machine.py",
        "plan.py",
        "run.py",
    }


def test_a_step_in_a_register_is_checked_when_the_loop_begins() -> None:
    text = """
nki.kernel @k(%n: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %t = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %r = nki.register
  nisa.dma_copy dst=%t, src=%n
  nisa.register_load dst=%r, src=%t
  %s = nki.read %r
  scf.for %i = %c0 to %c0 step %s : i32 {
    nisa.tensor_copy dst=%t, src=%t
  }
  nki.return
}
"""
    traced = TracedKernel(parse(text))
    for step in (0, -3):
        with pytest.raises(InterpretationError, match=f"at least 1, it is {step}"):
            traced.run(np.full((1, 1), step, np.int32), strict=False)
    traced.run(np.ones((1, 1), np.int32), strict=False)
