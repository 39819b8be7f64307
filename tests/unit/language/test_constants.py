"""Constant data, filled and empty tensors, shapes."""

from __future__ import annotations

import os
import re

import ml_dtypes
import numpy as np
import pytest
from support.language import BFLOAT16, TARGETS, floats, run, same

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.ir.text import parse
from nkijit.traced.kernel import TracedKernel

SUPPORTED = [
    np.float32,
    np.float16,
    ml_dtypes.bfloat16,
    np.int32,
    np.int16,
    np.int8,
    np.uint32,
    np.uint16,
    np.uint8,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e8m0fnu,
]
SPEC = nki.TensorSpec((4, 4), nl.float32)


def _returned(array):
    @nki.jit
    def kernel():
        return nl.shared_constant(array)

    return kernel


@pytest.mark.parametrize("dtype", SUPPORTED, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("count", [4, 1000])
def test_constants_keep_every_bit(dtype, count):
    size = np.dtype(dtype).itemsize
    data = np.random.default_rng(0).integers(0, 255, 2 * count * size, np.uint8).tobytes()
    array = np.frombuffer(data, dtype).reshape(2, count)
    traced = _returned(array).trace()
    for text in (traced.text(), traced.text(generic=True)):
        again = TracedKernel(parse(text))
        assert str(again) == str(traced)
        result = again.run()
        assert (result.dtype, result.shape) == (array.dtype, array.shape)
        assert result.tobytes() == data
    result[...] = 0
    assert again.run().tobytes() == data


def test_views_of_a_constant_and_any_layout_of_the_array():
    array = np.arange(64 * 32, dtype=np.float32).reshape(64, 32).T[::2]

    def function(x):
        return nl.multiply(nl.load(nl.shared_constant(array)[:, 0:8]), 2)

    same(run(function, np.zeros((1, 1), np.float32)), array[:, :8] * 2)


def test_constants_without_precise_floats(monkeypatch):
    array = np.arange(8, dtype=BFLOAT16).reshape(2, 4)
    monkeypatch.setenv("NKI_PRECISE_FP", "0")
    result = _returned(array)()
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, array.astype(np.float32))


def test_equal_constants_are_one():
    ones = np.ones((4, 4), np.float32)

    @nki.jit
    def kernel(x):
        first = nl.shared_constant(ones)
        nl.shared_constant(ones.copy())
        nl.shared_constant(ones.view(np.int32))
        nl.shared_constant(ones.reshape(2, 8))
        for _ in range(3):
            nl.shared_identity_matrix(4, nl.float32)
        nl.shared_identity_matrix(4)
        assert first.name == "first"
        assert first.buffer is nl.shared_hbm

    held = [op for op in kernel.trace(SPEC)._kernel.body.block.ops if isinstance(op, ConstantOp)]
    assert [op.result.name_hint for op in held] == [
        "first", "constant", "constant", "identity", "identity",
    ]  # fmt: skip


@pytest.mark.parametrize("size", [16, 100_000])
def test_the_content_of_an_array_is_part_of_the_key(size):
    array = np.zeros((1, size), np.float32)
    kernel = _returned(array)
    assert kernel.trace() is kernel.trace()
    array[0, -1] = 5
    same(kernel(), array)
    assert len(kernel._cache) == 2


def test_types_of_one_width_have_keys_of_their_own():
    class Holder:
        def __init__(self, array):
            self.array = array

    @nki.jit
    def held(holder):
        return nl.shared_constant(holder.array)

    data = np.arange(8, dtype=np.uint8)
    for dtype in (ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn):
        assert held(Holder(data.view(dtype))).dtype == dtype


def test_a_file_is_read_again_when_it_changes(tmp_path):
    path = tmp_path / "weights.npy"
    np.save(path, np.float32([[1, 2]]))

    @nki.jit
    def kernel(name):
        return nl.shared_constant(name)

    same(kernel(str(path)), np.float32([[1, 2]]))
    assert kernel.trace(str(path)) is kernel.trace(str(path))
    np.save(path, np.float32([[3, 4]]))
    os.utime(path, ns=(1, 1))
    same(kernel(str(path)), np.float32([[3, 4]]))
    same(_returned(path)(), np.float32([[3, 4]]))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "dtype", [np.uint8, np.float32, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3, np.int32]
)
def test_identity(dtype, target):
    name = np.dtype(dtype).name
    x = np.zeros((1, 1), np.float32)
    expected = np.eye(5).astype(dtype)
    same(run(lambda _: nl.shared_identity_matrix(5, name), x, target=target), expected)

    def into(_):
        tile = nl.ndarray((5, 5), name)
        assert nl.shared_identity_matrix(n=5, dtype=name, dst=tile) is tile
        return tile

    same(run(into, x, target=target), expected)
    same(run(lambda _: nl.shared_identity_matrix(128), x), np.eye(128).astype(np.uint8))


@pytest.mark.parametrize("buffer", [None, nl.sbuf, nl.psum, nl.shared_hbm])
def test_tensors_like_another(buffer):
    def function(x):
        zeros = nl.zeros_like(x, buffer=buffer)
        empty = nl.empty_like(x, nl.int8, buffer, name="mine")
        assert (empty.shape, empty.dtype, empty.name) == (x.shape, nl.int8, "mine")
        assert empty.buffer is zeros.buffer is (x.buffer if buffer is None else buffer)
        assert zeros.dtype == x.dtype
        if zeros.buffer is nl.shared_hbm:
            return nl.load(zeros)
        return nl.copy(zeros)

    x = floats((8, 16))
    same(run(function, x), np.zeros_like(x))


def test_filled_tensors():
    x = np.zeros((1, 1), np.float32)
    same(run(lambda _: nl.ones((4, 8), nl.bfloat16), x), np.ones((4, 8), BFLOAT16))
    same(run(lambda _: nl.full((4, 8), 3, nl.int8), x), np.full((4, 8), 3, np.int8))
    same(run(lambda _: nl.zeros((4, 8), nl.uint8), x), np.zeros((4, 8), np.uint8))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("psum", [(), (0,)])
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ((8, 1), (8, 6)),
        ((1, 6), (128, 6)),
        ((1, 1), (4, 3)),
        ((1, 2, 1), (4, 2, 3)),
        ((8, 6), (8, 6)),
    ],
)
def test_broadcast_to(given, wanted, psum, target):
    for dtype in (np.float32, np.int32):
        x = np.random.default_rng(0).integers(-999, 999, given).astype(dtype)
        actual = run(lambda a: nl.broadcast_to(a, wanted), x, target=target, psum=psum)
        same(actual, np.broadcast_to(x, wanted))
    low = run(lambda a: nl.broadcast_to(a, wanted, dtype=nl.float16), x, target=target)
    same(low, np.broadcast_to(x, wanted).astype(np.float16))


@pytest.mark.parametrize(
    ("wanted", "dtype", "copies"),
    [
        ((128, 16), nl.float32, 1),  # from PSUM
        ((128, 16), nl.float16, 1),
        ((1, 16), nl.float16, 1),
    ],
)
def test_broadcast_to_copies_no_tile_that_it_has_made(wanted, dtype, copies):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(wanted, dtype=dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.broadcast_to(nl.load(x), wanted, dtype=dtype))
        return out

    traced = kernel.trace(nki.TensorSpec((1, 16), "float32"))
    assert traced.text().count("nisa.tensor_copy ") == copies
    assert "redundant-copy" not in str(traced.diagnostics)


def test_broadcasting_to_the_same_shape_is_the_tile_itself():
    def function(x):
        assert nl.broadcast_to(x, x.shape) is x
        assert nl.broadcast_to(x, x.shape, dtype=x.dtype) is x
        return nl.expand_dims(nl.expand_dims(x, 1), -1)

    x = floats((8, 16))
    same(run(function, x), x[:, None, :, None])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: nl.shared_constant(3), "'constant': expected a NumPy array or the path"),
        (lambda t: nl.shared_constant(np.zeros((2, 2))), "got float64"),
        (lambda t: nl.shared_constant(np.zeros((2, 2), bool)), "got bool"),
        (lambda t: nl.shared_constant(np.zeros((), np.int8)), "at least one element"),
        (lambda t: nl.shared_constant(np.zeros((0, 2), np.int8)), "at least one element"),
        (lambda t: nl.shared_constant("/nowhere/x.npy"), "cannot read '/nowhere/x.npy'"),
        (lambda t: nl.shared_constant(__file__), "cannot read"),
        (lambda t: nl.shared_identity_matrix(0), "'n': expected an integer from 1 to 128, got 0"),
        (lambda t: nl.shared_identity_matrix(129), "from 1 to 128, got 129"),
        (lambda t: nl.shared_identity_matrix(4, "float4"), "'dtype': unknown data type"),
        (lambda t: nl.shared_identity_matrix(4, nl.float8_e5m2_x4), "is packed, it has no 1"),
        (lambda t: nl.shared_identity_matrix(4, nl.uint8, t), "'dst': expected a tile of shape"),
        (lambda t: nl.shared_identity_matrix(5, nl.float32, t), "'dst': expected a tile of shape"),
        (lambda t: nl.zeros_like(3), "'x': expected a tensor, got 3"),
        (lambda t: nl.empty_like(t, "double"), "'dtype': unknown data type"),
        (lambda t: nl.empty_like(t, buffer=3), "'buffer': expected"),
        (lambda t: nl.broadcast_to(t, (4, 8)), r"shape \(4, 4\) does not broadcast to \(4, 8\)"),
        (lambda t: nl.broadcast_to(t, (4, 4, 1)), "does not broadcast"),
        (lambda t: nl.broadcast_to(t, "x"), "'shape': expected integers of at least 0"),
        (lambda t: nl.broadcast_to(t, (4, 4), "double"), "'dtype': unknown data type"),
        (lambda t: nl.expand_dims(t, 0), "view"),
        (lambda t: nl.expand_dims(t, 1.0), "'axis': expected an integer, got 1.0"),
        (lambda t: nl.expand_dims(3, 1), "'x': expected a tensor, got 3"),
        (
            lambda t: nl.store(nl.shared_constant(np.ones((4, 4), np.float32)), t),
            "constant-written.*'dst' is constant data",
        ),
    ],
)
def test_wrong_calls_name_the_argument(call, message):
    def kernel(x):
        call(nl.load(x))

    with pytest.raises(nisa.NkiValidationError) as caught:
        nki.jit(kernel).trace(SPEC).verify()
    found = caught.value.diagnostics[0]
    # Not the whole text, which quotes the lines of this test.
    assert re.search(message, f"{found.rule.id}: {found.message}\nhelp: {found.help}", re.DOTALL)
    assert found.where[0].file == __file__
