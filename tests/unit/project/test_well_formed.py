"""The test run's checks of traced kernels find planted errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import well_formed
from support.well_formed import check_dominance, check_text, used_above_definition
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ForOp

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.classic import jit as classic_jit
from nkijit.classic import language as cl
from nkijit.classic.destinations import forwarding
from nkijit.dialects.nisa.movement import TensorCopyOp
from nkijit.dialects.nki.views import ViewOp
from nkijit.ir.text import parse
from nkijit.traced.kernel import TracedKernel

X = np.ones((8, 8), np.float32)


def looped(x: Any) -> Any:
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, x.dtype)
    nisa.dma_copy(tile, x)

    def body(i: Any) -> None:
        nisa.tensor_copy(tile[:, 0:4], tile[:, nl.ds(i, 4)])

    nl.fori_loop(0, 2, body)
    nisa.tensor_copy(tile[:, 4:8], tile[:, 0:4])
    nisa.dma_copy(out, tile)
    return out


def traced() -> TracedKernel:
    return nki.jit(looped).trace(X)


def test_a_trace_is_in_order() -> None:
    assert list(used_above_definition(traced().module)) == []


def test_a_view_below_its_use_is_found() -> None:
    module = traced().module
    view = next(op for op in module.walk() if isinstance(op, ViewOp))
    block = view.parent
    assert block is not None
    view.detach()
    last = block.last_op
    assert last is not None
    block.insert_op_before(view, last)
    with pytest.raises(AssertionError, match="tensor_copy is not defined above"):
        check_dominance(module)


def test_a_view_of_a_loop_is_not_defined_below_the_loop() -> None:
    module = traced().module
    loop = next(op for op in module.walk() if isinstance(op, ForOp))
    inside = next(op for op in loop.walk() if isinstance(op, ViewOp))
    below = [op for op in module.walk() if isinstance(op, TensorCopyOp)][-1]
    below.operands = [inside.result if value is below.dst else value for value in below.operands]
    with pytest.raises(AssertionError, match="tensor_copy is not defined above"):
        check_dominance(module)


def test_a_text_that_is_read_as_another_one_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = traced()
    check_text(kernel)

    def misread(text: str) -> ModuleOp:
        return parse(text.replace("offset=4", "offset=3"))

    monkeypatch.setattr(well_formed, "parse", misread)
    with pytest.raises(AssertionError):
        check_text(kernel)


def test_every_trace_of_the_test_run_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(*_: Any) -> None:
        pass

    @classic_jit
    def kernel(x: Any) -> Any:
        acc = cl.zeros((8, 16), cl.float32, buffer=cl.psum)
        y = cl.load(x)
        acc[:, 0:8] += cl.matmul(y, y, transpose_x=True)
        out = cl.ndarray((8, 16), cl.float32, buffer=cl.shared_hbm)
        cl.store(out, acc)
        return out

    monkeypatch.setattr(forwarding, "_declare_above", leave)
    with pytest.raises(AssertionError, match="nc_matmul is not defined above"):
        kernel.trace(X)
