"""Kernels called with arrays of PyTorch and JAX. Skipped where the framework is not installed."""

from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.frameworks.calls import ArgumentTypeError
from nkijit.passes.interpret.records.errors import InterpretationError

X = np.arange(128 * 8, dtype=np.float32).reshape(128, 8)


@nki.jit
def scaled(x, scale=2.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=scale)
    nl.store(out, tile)
    return out


@nki.jit
def copied(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    return out


@nki.jit
def overwrite(x, y):
    nl.store(x, nl.full(x.shape, 7, x.dtype))
    return y


@nki.jit
def both(x, y):
    return {"x": x, "y": y}


@nki.jit
def dtype_of_argument(x, dtype):
    assert dtype == nl.bfloat16
    return x


def test_frameworks_are_not_imported():
    program = """
import sys
import numpy as np
import nkijit

@nkijit.jit
def kernel(x):
    return x

kernel(np.zeros((4, 4), np.float32))
assert not {"torch", "jax"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)


# ---------------------------------------------------------------------- PyTorch


@pytest.fixture(name="torch", scope="module")
def import_torch():
    return pytest.importorskip("torch")


@pytest.fixture(name="jax", scope="module")
def import_jax():
    return pytest.importorskip("jax")


def test_torch_in_torch_out(torch):
    x = torch.arange(128 * 8, dtype=torch.float32).reshape(128, 8)
    result = scaled(x)
    assert isinstance(result, torch.Tensor)
    assert torch.equal(result, x * 2)
    assert scaled.trace(x) is scaled.trace(X)
    assert torch.equal(scaled.trace(X).run(x), x * 2)


TORCH_TYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "float16",
    "bfloat16",
    "float32",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e8m0fnu",
]


@pytest.mark.parametrize("name", TORCH_TYPES)
def test_torch_bits_are_kept(torch, name):
    dtype = getattr(torch, name)
    size = dtype.itemsize
    bits = torch.arange(128 * 8 * size, dtype=torch.int32).to(torch.uint8) % 2
    x = bits.view(dtype).reshape(128, 8)
    result = copied(x)
    assert result.dtype == dtype
    assert torch.equal(result.view(torch.uint8), x.view(torch.uint8))


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e5m2"])
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "strided"])
def test_torch_tensors_are_written_in_place(torch, name, layout):
    x = torch.zeros((128, 16) if layout == "strided" else (128, 8)).to(getattr(torch, name))
    if layout == "transposed":
        view = x.reshape(8, 128).t()
    else:
        view = x[:, ::2] if layout == "strided" else x
    y = overwrite(view, view.clone())
    assert torch.all(view.to(torch.float32) == 7)
    assert torch.count_nonzero(x.to(torch.float32)) == 128 * 8
    assert y.dtype == x.dtype


def test_torch_and_numpy_give_torch(torch):
    result = both(torch.ones(128, 8), X)
    assert all(isinstance(value, torch.Tensor) for value in result.values())
    assert np.array_equal(result["y"].numpy(), X)


def test_a_torch_result_is_no_input(torch):
    x = torch.ones(128, 8)
    both(x, x)["x"].zero_()
    assert torch.all(x == 1)


def test_torch_numbers_and_data_types(torch):
    x = torch.ones(128, 8)
    assert torch.equal(scaled(x, torch.tensor(3.0)), x * 3)
    assert torch.equal(scaled(x, torch.tensor(3, dtype=torch.bfloat16)), x * 3)
    dtype_of_argument(x, torch.bfloat16)
    with pytest.raises(ArgumentTypeError, match="unknown data type"):
        dtype_of_argument(x, torch.complex64)
    assert dtype_of_argument.trace(x, torch.bfloat16) is dtype_of_argument.trace(x, torch.bfloat16)
    assert scaled.trace(x, x.shape) is scaled.trace(x, x.shape)


def test_torch_tensors_that_are_refused(torch):
    x = torch.ones(128, 8)
    with pytest.raises(ArgumentTypeError, match=r"argument 'x' has layout torch.sparse"):
        scaled(x.to_sparse())
    with pytest.raises(ArgumentTypeError, match=r"int64.* with \.to\(torch\.int32\)"):
        scaled(x.to(torch.int64))
    with pytest.raises(ArgumentTypeError, match=r"argument 'x' requires grad"):
        scaled(x.clone().requires_grad_())
    with pytest.raises(ArgumentTypeError, match=r"argument 'x' cannot be read"):
        scaled(torch.view_as_complex(torch.ones(128, 8, 2)).conj().imag)
    with pytest.raises(InterpretationError, match="input 'x' is read-only"):
        overwrite(torch.ones(128, 1).expand(128, 8), x)


def test_a_result_that_torch_has_no_type_for(torch):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=nl.float8_e4m3, buffer=nl.shared_hbm)
        tile = nl.load(x)
        small = nl.ndarray(x.shape, dtype=nl.float8_e4m3)
        nisa.tensor_copy(dst=small, src=tile)
        nl.store(out, small)
        return out

    with pytest.raises(ArgumentTypeError, match="float8_e4m3, a data type that PyTorch"):
        kernel(torch.ones(128, 8))


def test_kernels_in_a_function_of_autograd(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return scaled(x)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    x = torch.ones(128, 8, requires_grad=True)
    Double.apply(x).sum().backward()
    assert torch.all(x.grad == 2)
    with torch.no_grad():
        assert torch.equal(scaled(x), x * 2)


def test_simulate_takes_torch(torch):
    x = torch.ones(128, 8)
    assert torch.equal(nki.simulate(scaled)(x), x * 2)


# ---------------------------------------------------------------------- JAX


JAX_TYPES = [
    "bool_",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "float16",
    "bfloat16",
    "float32",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e8m0fnu",
]


@pytest.mark.parametrize("name", JAX_TYPES)
def test_jax_in_jax_out(jax, name):
    dtype = getattr(jax.numpy, name)
    x = jax.numpy.ones((128, 8), dtype)
    result = copied(x)
    assert isinstance(result, jax.Array)
    assert result.dtype == x.dtype
    assert np.array_equal(np.asarray(result), np.asarray(x))


def test_jax_arrays_cannot_be_written(jax):
    x = jax.numpy.ones((128, 8))
    with pytest.raises(ArgumentTypeError, match="writes its argument 'x', but arrays of JAX"):
        overwrite(x, x)
    y = X.copy()
    assert isinstance(overwrite(y, x), jax.Array)
    assert np.all(y == 7)


def test_jax_numbers_and_data_types(jax):
    x = jax.numpy.ones((128, 8))
    assert np.array_equal(scaled(x, jax.numpy.float32(3)), x * 3)
    dtype_of_argument(x, jax.numpy.bfloat16)
    with pytest.raises(ArgumentTypeError, match="unknown data type"):
        dtype_of_argument(x, jax.numpy.complex64)


def test_kernels_under_jax_jit(jax):
    """Verified when the function is traced, run whenever it runs."""
    runs = []

    @jax.jit
    def call(x, y):
        runs.append(x)
        named = both(scaled(x) + y, y=scaled(y, scale=3.0))
        return named["x"] + 1, named["y"]

    for factor in (1, 5):
        x, y = jax.numpy.asarray(X) * factor, jax.numpy.full((128, 8), 0.5)
        first, second = call(x, y)
        assert isinstance(first, jax.Array)
        assert np.array_equal(first, X * factor * 2 + 1.5)
        assert np.array_equal(second, np.full((128, 8), 1.5))
    assert len(runs) == 1
    low = jax.numpy.ones((128, 8), jax.numpy.bfloat16)
    assert jax.jit(scaled)(low).dtype == jax.numpy.bfloat16


def test_kernels_on_large_arrays_under_jax_jit(jax):
    x = jax.numpy.ones((128, 1 << 14))
    assert np.all(np.asarray(jax.jit(lambda x: scaled(x * 2) + x)(x)) == 5)


def test_kernels_under_other_transformations_of_jax(jax):
    @jax.custom_vjp
    def doubled(x):
        return scaled(x)

    doubled.defvjp(lambda x: (scaled(x), None), lambda _, g: (scaled(g),))
    x = jax.numpy.asarray(X)
    assert np.array_equal(jax.grad(lambda x: doubled(x).sum())(x), np.full_like(X, 2))
    assert np.array_equal(jax.jit(jax.grad(lambda x: doubled(x).sum()))(x), np.full_like(X, 2))
    assert np.array_equal(jax.vmap(scaled)(jax.numpy.stack([x, x + 1])), np.stack([X, X + 1]) * 2)


def test_effects_hidden_from_jax_are_refused_under_its_transformations(jax):
    x = jax.numpy.ones((128, 8))
    with pytest.raises(ArgumentTypeError, match="'scale' has no value yet"):
        jax.jit(scaled)(x, 2.0)
    written = X.copy()
    with pytest.raises(ArgumentTypeError, match="writes its argument 'x', which a transformation"):
        jax.jit(lambda y: overwrite(written, y))(x)
    assert np.array_equal(written, X)
    with pytest.raises(ArgumentTypeError, match="'x' has no values yet"):
        jax.jit(lambda x: scaled.trace(x).run_ranks([[x], [x]])[0])(x)
    with pytest.raises(nisa.NkiValidationError, match="at most 128 partitions"):
        jax.jit(scaled)(jax.numpy.ones((129, 8)))


def test_jax_arrays_in_a_callback(jax):
    x = jax.numpy.ones((128, 8))

    @jax.jit
    def call(x):
        result = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(lambda x: np.asarray(scaled(x)), result, x) + 1

    assert np.array_equal(call(x), x * 2 + 1)


def test_frameworks_are_not_mixed(torch, jax):
    with pytest.raises(ArgumentTypeError, match="arrays of JAX and PyTorch in one call"):
        both(torch.ones(128, 8), jax.numpy.ones((128, 8)))


def test_numpy_stays_numpy(torch, jax):
    assert isinstance(scaled(X.astype(ml_dtypes.bfloat16)), np.ndarray)
