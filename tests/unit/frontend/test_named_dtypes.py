"""Arrays whose data types NumPy has by name only, as kernels in production make them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import nkijit as nki
import nkijit.classic as classic
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.kernels.arguments import ArgumentTypeError

SIZES = {
    "float8_e4m3fn_x4": 4,
    "float8_e5m2_x4": 4,
    "float4_e2m1fn_x4": 2,
    "float8_e4m3": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float8_e8m0fnu": 1,
    "bfloat16": 2,
}


def scalar_class(name):
    """A class of NumPy's raw bytes, called after the type."""
    return np.dtype((type(name, (np.void,), {}), SIZES[name]))


def field(name):
    """A structure with one field of that name."""
    return np.dtype([(name, np.uint8, (SIZES[name],))])


def class_of_fields(name):
    """A structure of the parts, whose class is called after the type."""
    parts = [(f"part{i}", np.uint8) for i in range(SIZES[name])]
    return np.dtype((type(name, (np.void,), {}), parts))


def integer_with_metadata(name):
    return np.dtype(f"u{SIZES[name]}", metadata={"name": name})


def bytes_with_metadata(name):
    return np.dtype(f"V{SIZES[name]}", metadata={"dtype": name})


FORMS = (scalar_class, field, class_of_fields, integer_with_metadata, bytes_with_metadata)


def bits(name, shape=(32, 8)):
    count = int(np.prod(shape)) * SIZES[name]
    raw = (np.arange(count, dtype=np.uint32) * 37 % 120).astype(np.uint8)
    return raw.view(f"u{SIZES[name]}").reshape(shape)


@nki.jit
def copied(x):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile)
    return out


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("form", FORMS)
def test_arrays_are_the_type_that_they_are_called_in_and_out(form, name):
    dtype, data = form(name), bits(name)
    x = data.view(dtype)
    traced = copied.trace(x)
    assert traced.argument_types == [("x", (32, 8), name)]
    out = copied(x)
    assert out.dtype.type is x.dtype.type
    assert out.dtype.metadata == x.dtype.metadata
    assert out.dtype == x.dtype
    assert np.array_equal(out.view(data.dtype), data)
    assert nki.TensorSpec((4,), dtype).dtype == name
    lowered = traced.run_lowered(x)
    assert lowered.dtype == x.dtype
    assert np.array_equal(lowered.view(data.dtype), data)


@pytest.mark.parametrize("form", FORMS)
def test_types_of_equal_bytes_are_distinguished(form):
    """NumPy's comparison sees bytes only: so must no cache."""
    names = ["float8_e4m3fn_x4", "float8_e5m2_x4"] * 2
    assert [copied.trace(bits(n).view(form(n))).argument_types[0][2] for n in names] == names
    assert [nki.TensorSpec((4,), form(n)).dtype for n in names] == names
    assert copied.trace(bits(names[0])).argument_types[0][2] == "uint32"

    @nki.jit
    def chosen(x, dtype):
        out = nl.ndarray(x.shape, dtype=dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, x.view(dtype))
        return out

    for name in names:
        text = chosen.trace(bits(name), form(name)).text()
        assert text == chosen.trace(bits(name), name).text()


def test_a_dtype_argument_may_be_a_class_of_that_name():
    class float8_e4m3fn_x4(np.uint32):  # noqa: N801
        pass

    assert nki.TensorSpec((4,), float8_e4m3fn_x4).dtype == "float8_e4m3fn_x4"


@pytest.mark.parametrize("form", FORMS)
def test_inputs_that_the_kernel_writes_are_updated(form):
    @nki.jit
    def kernel(x, y):
        nisa.dma_copy(y, x)

    data = bits("float8_e4m3fn_x4")
    dtype = form("float8_e4m3fn_x4")
    target = np.zeros((32, 16), np.uint32)
    kernel(data.view(dtype), target.view(dtype)[:, ::2])
    assert np.array_equal(target[:, ::2], data)
    assert not target[:, 1::2].any()


def test_quantised_weights_go_through_a_matmul():
    """Packed elements by name next to scales of ml_dtypes, and a result in float32."""

    @nki.jit(platform_target="trn3")
    def kernel(x, y, x_scale, y_scale):
        tiles = []
        for tensor in (x, y, x_scale, y_scale):
            tile = nl.ndarray(tensor.shape, dtype=tensor.dtype, buffer=nl.sbuf)
            nisa.dma_copy(tile, tensor)
            tiles.append(tile)
        product = nl.ndarray((32, 8), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul_mx(product, tiles[0], tiles[1], tiles[2], tiles[3])
        result = nl.ndarray((32, 8), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(result, product)
        out = nl.ndarray((32, 8), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(out, result)
        return out

    rng = np.random.default_rng(1)
    one = ml_dtypes.float8_e4m3fn
    x = rng.standard_normal((32, 32, 4)).astype(one)
    y = rng.standard_normal((32, 8, 4)).astype(one)
    scale = np.full((32, 32), 127, np.uint8)
    packed = scalar_class("float8_e4m3fn_x4")
    out = kernel(
        x.view(packed)[..., 0], y.view(packed)[..., 0], scale, np.ascontiguousarray(scale[:, :8])
    )
    expected = np.einsum("kmi,kni->mn", x.astype(np.float64), y.astype(np.float64))
    assert out.dtype == np.float32
    assert np.allclose(out, expected, rtol=1e-5, atol=1e-5)


def test_constants_are_the_type_that_they_are_called():
    data = bits("float8_e5m2_x4", (4, 8))

    @nki.jit
    def kernel(x):
        out = nl.ndarray((4, 8), dtype=nl.float8_e5m2_x4, buffer=nl.shared_hbm)
        nisa.dma_copy(out, nl.shared_constant(data.view(scalar_class("float8_e5m2_x4"))))
        return out

    assert np.array_equal(kernel(np.zeros((4, 4), np.float32)), data)


def test_in_the_classic_api():
    @classic.jit
    def kernel(x):
        out = classic.language.ndarray(x.shape, x.dtype, buffer=classic.language.shared_hbm)
        classic.language.store(out, classic.language.load(x))
        return out

    x = bits("float8_e4m3").view(scalar_class("float8_e4m3"))
    assert kernel(x).dtype == x.dtype
    assert np.array_equal(kernel(x).view(np.uint8), x.view(np.uint8))


@pytest.mark.parametrize(
    "dtype",
    [
        np.dtype((type("float8_e4m3fn_x4", (np.void,), {}), 8)),
        np.dtype([("float8_e4m3fn_x4", np.uint16)]),
        np.dtype([("float8_e4m3fn_x4", np.uint16), ("more", np.uint16)]),
        np.dtype(np.uint16, metadata={"name": "float8_e5m2"}),
        np.dtype("V4"),
        np.dtype(">u4", metadata={"name": "float8_e5m2_x4"}),
    ],
)
def test_a_name_of_another_size_names_nothing(dtype):
    with pytest.raises(ArgumentTypeError, match="a data type that NKI does not have"):
        copied(np.zeros((4, 4), dtype))


def test_elements_of_four_bits_are_to_be_packed():
    with pytest.raises(ArgumentTypeError, match="pack four elements into one of float4_e2m1fn_x4"):
        copied(np.zeros((4, 4), ml_dtypes.float4_e2m1fn))


def test_metadata_that_says_nothing_changes_nothing():
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    told = x.view(np.dtype(np.float32, metadata={"unit": "metre"}))
    assert copied.trace(told).argument_types[0][2] == "float32"
    assert np.array_equal(copied(told), x)
