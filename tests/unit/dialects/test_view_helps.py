"""The helps of impossible views: the text to write is a view with the meant elements."""

from __future__ import annotations

import re

import numpy as np
import pytest

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.language as cl
import nkijit.language as nl

X = np.arange(128 * 512, dtype=np.float32).reshape(128, 512)

_CODE = re.compile(r"(?<!\w)t(?:\.\w+\(|\[).*")


def _help(kernel, x):
    with pytest.raises(nki.NkiValidationError) as caught:
        kernel.trace(x)
    return caught.value.diagnostics[0].help


_VIEWS = {
    "backwards": (lambda t: t[:, ::-1], X[:, ::-1]),
    "backwards by two": (lambda t: t[:, 255::-2], X[:, 255::-2]),
    "backwards to an end": (lambda t: t[:, 9:3:-1], X[:, 9:3:-1]),
    "a negative limit": (lambda t: t.slice(1, 0, -1), X[:, :-1]),
    "a negative index": (lambda t: t.select(1, -1), X[:, -1:]),
    "a broadcast": (lambda t: t.broadcast(1, 16), np.repeat(X[:, :1], 16, axis=1)),
    "a new dimension": (lambda t: t[:, None], X[:, None]),
    "a position beyond": (lambda t: t.expand_dim(7), X[:, :, None]),
    "squeezed elements": (lambda t: t.squeeze_dim(1), X[:, :1]),
}


@pytest.mark.parametrize("name", _VIEWS)
def test_the_help_has_the_view(name):
    mistake, meant = _VIEWS[name]

    @nki.jit
    def wrong(x):
        mistake(nl.load(x))

    help = _help(wrong, X)
    code = _CODE.search(help)
    assert code is not None, help
    text = code[0].partition(", or ")[0].partition(" for ")[0]

    @nki.jit
    def right(x):
        out = nl.ndarray(meant.shape, nl.float32, buffer=nl.shared_hbm)
        nl.store(out, eval(text, {"t": nl.load(x)}))
        return out

    np.testing.assert_array_equal(right(X), meant)


@pytest.mark.parametrize("by", [-1, -3])
def test_the_help_of_a_classic_kernel_has_the_view(by):
    meant = X[:, ::by]

    @classic.jit
    def wrong(x):
        t = cl.load(x)
        cl.exp(t[:, ::by])

    code = _CODE.search(_help(wrong, X))
    assert code is not None

    @classic.jit
    def right(x):
        out = cl.ndarray(meant.shape, cl.float32, buffer=cl.shared_hbm)
        t = cl.load(x)
        cl.store(out, cl.copy(eval(code[0], {"t": t, "nl": cl})))
        return out

    np.testing.assert_array_equal(right(X), meant)


@pytest.mark.parametrize(
    ("shape", "meant"),
    [((128, 4, 100), (128, 4, 128)), ((128, 500), (128, 512)), ((128, 3, 512), (128, 1, 512))],
)
def test_the_help_has_sizes_that_fit(shape, meant):
    @nki.jit
    def kernel(x):
        nl.load(x).reshape(shape)

    assert f"e.g. {meant}" in _help(kernel, X)


@pytest.mark.parametrize(
    ("numbers", "meant"), [([0, 2, 4], "0:5:2"), ([7], "7:8"), (np.array([3, 4]), "3:5")]
)
def test_a_list_is_the_slice_of_its_numbers(numbers, meant):
    @nki.jit
    def kernel(x):
        nl.load(x)[:, numbers]

    assert f"write the slice {meant} in" in _help(kernel, X)


def test_a_pair_that_is_exchanged():
    @nki.jit
    def kernel(x):
        nl.load(x).ap([[128, 512], [512, 1]])

    assert _help(kernel, X) == "a pair is [stride, count]: write [[512, 128], [1, 512]]"
