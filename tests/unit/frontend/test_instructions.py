"""Instructions that are emitted without the functions of the API."""

from __future__ import annotations

import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nisa.movement import DmaCopyOp, MemsetOp, TensorCopyOp
from nkijit.instructions import emit_with_defaults


def test_arguments_that_are_not_given_have_the_defaults_of_the_api():
    def traced(memset, copy, dma):
        @nki.jit
        def kernel():
            one = nl.ndarray((128, 4), nl.float32)
            two = nl.ndarray((128, 4), nl.float32)
            out = nl.ndarray((128, 4), nl.float32, buffer=nl.shared_hbm)
            memset(dst=one, value=1.5)
            copy(dst=two, src=one)
            dma(dst=out, src=two)
            return out

        return kernel.trace().text()

    def emitted(op):
        return lambda **arguments: emit_with_defaults(op, **arguments)

    given = traced(*map(emitted, (MemsetOp, TensorCopyOp, DmaCopyOp)))
    assert given == traced(nisa.memset, nisa.tensor_copy, nisa.dma_copy)
    assert given.count("nisa.") == 3


def test_outside_of_a_kernel_the_error_names_the_instruction():
    with pytest.raises(RuntimeError, match=r"nisa\.memset can only be called inside a kernel"):
        emit_with_defaults(MemsetOp, dst=None, value=0)
