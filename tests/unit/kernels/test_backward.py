"""Gradients of kernels in PyTorch and JAX, compared with the frameworks' own."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.classic import jit as classic_jit
from nkijit.classic import language as classic_nl
from nkijit.frameworks.calls import ArgumentTypeError


@nki.jit
def row_norms(x, w, eps):
    """`x * rsqrt(mean(x²) + eps) * w`, and the factor of each row."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    factors = nl.ndarray((x.shape[0], 1), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, weight = nl.load(x), nl.load(w)
    mean = nl.mean(nl.multiply(tile, tile), axis=1, keepdims=True)
    factor = nl.rsqrt(nl.add(mean, eps))
    nl.store(factors, factor)
    nl.store(out, nl.multiply(nl.multiply(tile, factor), nl.broadcast_to(weight, tile.shape)))
    return out, factors


@nki.jit
def row_norms_backward(x, w, eps, out, factors, d_out, d_factors):
    """The gradients of `x` and `w`; those of the factors have to be zero."""
    assert isinstance(eps, float)
    dx = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    dw = nl.ndarray(w.shape, dtype=w.dtype, buffer=nl.shared_hbm)
    tile, factor, dy = nl.load(x), nl.load(factors), nl.load(d_out)
    weight = nl.broadcast_to(nl.load(w), tile.shape)
    scaled = nl.multiply(dy, weight)
    dot = nl.mean(nl.multiply(scaled, tile), axis=1, keepdims=True)
    cube = nl.multiply(nl.multiply(factor, factor), factor)
    correction = nl.multiply(tile, nl.multiply(dot, cube))
    nl.store(dx, nl.subtract(nl.multiply(scaled, factor), correction))
    ones = nl.ndarray((x.shape[0], 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    products = nl.multiply(nl.multiply(dy, tile), factor)
    total = nl.ndarray(w.shape, dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=total, stationary=ones, moving=products)
    nl.store(dw, nl.copy(total))
    return dx, dw


@nki.jit
def gathered(x, rows):
    """A kernel with an argument of integers."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


@classic_jit
def classic_scaled(x, factor=2.0):
    out = classic_nl.ndarray(x.shape, dtype=x.dtype, buffer=classic_nl.shared_hbm)
    classic_nl.store(out, classic_nl.load(x) * factor)
    return out


PAIRED = row_norms.with_backward(row_norms_backward)
CLASSIC = classic_scaled.with_backward(lambda x, factor, y, dy: classic_scaled(dy, factor=factor))

X = np.random.default_rng(1).standard_normal((128, 16), dtype=np.float32)
W = np.random.default_rng(2).standard_normal((1, 16), dtype=np.float32)
G = np.random.default_rng(3).standard_normal((128, 16), dtype=np.float32)


@pytest.fixture(name="torch", scope="module")
def import_torch():
    return pytest.importorskip("torch")


@pytest.fixture(name="jax", scope="module")
def import_jax():
    return pytest.importorskip("jax")


def of_torch(torch):
    """The gradients of `x` and `w` as PyTorch computes them."""
    x, w = torch.tensor(X, requires_grad=True), torch.tensor(W, requires_grad=True)
    norms = x * torch.rsqrt((x * x).mean(dim=1, keepdim=True) + 1e-5) * w
    (norms * torch.tensor(G)).sum().backward()
    return x.grad, w.grad


@pytest.mark.parametrize("mode", ["eager", "compiled", "func"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*")
def test_gradients_in_torch(torch, mode):
    g = torch.tensor(G)

    def loss(x, w):
        return (PAIRED(x, w, eps=1e-5)[0] * g).sum()

    x, w = torch.tensor(X, requires_grad=True), torch.tensor(W, requires_grad=True)
    if mode == "func":
        found = torch.func.grad(loss, argnums=(0, 1))(x.detach(), w.detach())
    else:
        if mode == "compiled":
            torch.compiler.reset()
            loss = torch.compile(loss, fullgraph=True, backend="aot_eager")
        loss(x, w).backward()
        found = x.grad, w.grad
    for one, other in zip(found, of_torch(torch), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_second_derivatives_are_refused_in_torch(torch):
    x = torch.tensor(X, requires_grad=True)
    (first,) = torch.autograd.grad((CLASSIC(x) ** 2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        first.sum().backward()


def test_gradients_of_some_arguments_in_torch(torch):
    x, w = torch.tensor(X), torch.tensor(W, requires_grad=True)
    PAIRED(x, w, 1e-5)[0].backward(torch.tensor(G))
    torch.testing.assert_close(w.grad, of_torch(torch)[1], rtol=1e-4, atol=1e-4)
    with torch.no_grad():
        assert not PAIRED(x, w, 1e-5)[0].requires_grad


@pytest.mark.parametrize("jit", [False, True])
def test_gradients_in_jax(jax, jit):
    def reference(x, w):
        norms = x * jax.lax.rsqrt((x * x).mean(axis=1, keepdims=True) + 1e-5) * w
        return (norms * G).sum()

    def loss(x, w):
        return (PAIRED(x, w, eps=1e-5)[0] * G).sum()

    gradients = jax.grad(loss, argnums=(0, 1))
    found = (jax.jit(gradients) if jit else gradients)(X, W)
    expected = jax.grad(reference, argnums=(0, 1))(X, W)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_gradients_of_a_batch_in_jax(jax):
    x = jax.numpy.stack([X, X + 1])
    found = jax.vmap(jax.grad(lambda x: (CLASSIC(x, 3.0) * G).sum()))(x)
    np.testing.assert_allclose(found, np.stack([G, G]) * 3)


def test_classic_kernels(torch):
    x = torch.tensor(X, requires_grad=True)
    CLASSIC(x, factor=3.0).sum().backward()
    assert torch.all(x.grad == 3)
    y = torch.tensor(X, requires_grad=True)
    CLASSIC(y).sum().backward()
    assert torch.all(y.grad == 2)
    # NumPy arrays have no gradients.
    assert np.array_equal(CLASSIC(X), X * 2)


def test_arguments_of_integers_have_no_gradient(torch, jax):
    paired = gathered.with_backward(lambda x, rows, y, dy: dy * 5)
    x = torch.tensor(X, requires_grad=True)
    paired(x, torch.ones(4, 4, dtype=torch.int32)).sum().backward()
    assert torch.all(x.grad == 5)
    rows = np.ones((4, 4), np.int32)
    assert np.all(jax.grad(lambda x: paired(x, rows).sum())(X) == 5)


def test_kernels_without_a_backward_kernel_in_jax(jax):
    with pytest.raises(ArgumentTypeError, match=r"row_norms.with_backward"):
        jax.grad(lambda x: row_norms(x, W, 1e-5)[0].sum())(X)
    # Without influence on the result, no gradient is needed.
    stopped = jax.grad(lambda x: (jax.lax.stop_gradient(row_norms(x, W, 1e-5)[1]) * x).sum())(X)
    np.testing.assert_allclose(stopped[:, :1], row_norms(X, W, 1e-5)[1])


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (lambda x, f, y, dy: (dy, dy), "returned 2 gradients; it returns one for each .*: x"),
        (lambda x, f, y, dy: dy[:64], r"shape \(64, 16\) for argument 'x', .* \(128, 16\)"),
        (lambda x, f, y, dy: None, r"shape \(\) for argument 'x'"),
    ],
)
def test_wrong_gradients_are_refused(torch, jax, backward, message):
    paired = classic_scaled.with_backward(backward)
    with pytest.raises(ArgumentTypeError, match=message):
        paired(torch.tensor(X, requires_grad=True)).sum().backward()
    with pytest.raises(ArgumentTypeError, match=message):
        jax.grad(lambda x: paired(x).sum())(X)


def test_with_backward_expects_a_function():
    with pytest.raises(ArgumentTypeError, match="with_backward expects a kernel, got 3"):
        row_norms.with_backward(3)


def test_derived_kernels_have_the_backward_kernel(torch):
    for kernel in (PAIRED.for_target("trn2"), PAIRED.strict(False), nki.simulate(PAIRED)):
        w = torch.tensor(W, requires_grad=True)
        kernel(torch.tensor(X), w, 1e-5)[0].sum().backward()
        assert w.grad is not None
