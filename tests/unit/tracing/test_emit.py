"""Instructions that are emitted without the functions of the API."""

from __future__ import annotations

import math

import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.declare.properties import decode_number
from nkijit.dialects.nisa.movement import DmaCopyOp, MemsetOp, TensorCopyOp
from nkijit.dialects.nisa.pattern import IotaOp
from nkijit.dialects.nisa.reduce import TensorReduceOp
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.tracing.emit import emit_with_defaults


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


def test_outside_of_a_kernel_the_error_names_the_function_to_decorate():
    def helper():
        nisa.memset(None, 0)

    line = helper.__code__.co_firstlineno
    with pytest.raises(RuntimeError, match=rf"above helper \(.*test_emit.py:{line}\), or above"):
        helper()


def test_equal_arguments_of_different_types_are_distinguished():
    values = [0.0, -0.0, 0, 1, 1.0, 2.5, math.nan, math.inf, -1, -1.0]

    @nki.jit
    def kernel(x):
        tile = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)
        for _ in range(2):
            for value in values:
                nisa.memset(dst=tile, value=value)

    traced = kernel.trace(nki.TensorSpec((4, 8), nl.float32))
    (program,) = kernels_of(traced.module)
    made = [op.properties["value"] for op in program.operations if isinstance(op, MemsetOp)]
    assert [repr(decode_number(attr)) for attr in made] == [*map(repr, values)] * 2
    first, again = made[: len(values)], made[len(values) :]
    assert all(one is two for one, two in zip(first, again, strict=True))


def test_lists_of_integers_are_encoded_once():
    pattern = [[1, 8], [2, 4]]

    @nki.jit
    def kernel(x):
        tile = nl.ndarray((4, 8, 4), dtype=nl.int32, buffer=nl.sbuf)
        sums = nl.ndarray((4, 8, 1), dtype=nl.int32, buffer=nl.sbuf)
        for _ in range(2):
            nisa.iota(dst=tile, pattern=list(map(list, pattern)), offset=0, channel_multiplier=1)
            nisa.tensor_reduce(dst=sums, op=nl.add, data=tile, axis=[2])
        nisa.iota(dst=tile, pattern=[[1, 8], [2.0, 4]], offset=0, channel_multiplier=1)

    traced = kernel.trace(nki.TensorSpec((4, 8), nl.float32))
    (program,) = kernels_of(traced.module)
    patterns = [op.properties["pattern"] for op in program.operations if isinstance(op, IotaOp)]
    axes = [op.properties["axis"] for op in program.operations if isinstance(op, TensorReduceOp)]
    assert patterns[0] is patterns[1]
    assert axes[0] is axes[1]
    assert len(patterns) == 2  # a float in a pattern is refused, though it is equal
    assert "2.0" in str(traced.diagnostics)
