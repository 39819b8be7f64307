"""Reductions against NumPy on whole arrays."""

from __future__ import annotations

import numpy as np
import pytest
from support.language import BFLOAT16, TARGETS, floats, near, run, same

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NUMPY = {
    "sum": np.sum,
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
    "mean": np.mean,
    "var": np.var,
    "all": lambda x, axis: np.all(x, axis=axis).astype(np.float64),
}
AXES = [(1, ((128, 7), (128, 1))), (-1, ((8, 3, 5), (8, 3))), ((1, 2), ((8, 3, 5), (8, 1)))]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("psum", [(), (0,)])
@pytest.mark.parametrize(("axis", "shapes"), AXES)
@pytest.mark.parametrize("name", NUMPY)
def test_reductions(name, axis, shapes, psum, target):
    given, left = shapes
    x = np.random.default_rng(0).normal(loc=1, size=given).astype(np.float32)
    x[0] = 0
    function = getattr(nl, name)
    expected = NUMPY[name](x.astype(np.float64), axis=axis)
    kept = (*given[: -len(np.atleast_1d(axis))], *(1,) * len(np.atleast_1d(axis)))
    plain = run(lambda a: function(a, axis), x, target=target, psum=psum)
    assert plain.shape == (kept if name == "var" else left)
    near(plain.reshape(expected.shape), expected, rtol=3e-6, atol=1e-6)
    low = run(lambda a: function(a, axis=axis, dtype=nl.bfloat16), x, target=target, psum=psum)
    same(low, plain.astype(BFLOAT16))
    if name != "all":
        wide = run(lambda a: function(a, axis, keepdims=True), x, target=target, psum=psum)
        assert wide.shape == kept
        same(wide.reshape(-1), plain.reshape(-1))


@pytest.mark.parametrize("name", ["sum", "max", "min", "prod", "mean", "all"])
def test_special_values(name):
    x = floats((4, 8))
    expected = NUMPY[name](x, axis=1).astype(np.float32)
    near(run(lambda a: getattr(nl, name)(a, 1), x)[:, 0], expected)


def test_the_sum_of_narrow_types_is_rounded_once():
    x = np.full((4, 512), 1 / 3, BFLOAT16)
    expected = x.astype(np.float32).sum(axis=1, keepdims=True)
    same(run(lambda a: nl.sum(a, 1), x), expected.astype(BFLOAT16))
    same(run(lambda a: nl.mean(a, 1), x), x[:, :1])
    integers = np.full((4, 300), 100, np.int8)
    same(run(lambda a: nl.sum(a, 1, dtype=nl.int32), integers), np.full((4, 1), 30000, np.int32))
    same(run(lambda a: nl.sum(a, 1), integers), np.full((4, 1), 127, np.int8))


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize(
    ("axis", "message"),
    [
        (0, r"reduce-axes.*'axis' is \[0\]; legal for this tile are \[2\], \[1, 2\]"),
        (1, r"'axis' is \[1\]; legal"),
        ((0, 1, 2), r"'axis' is \[0, 1, 2\]; legal"),
        ("1", "'axis': expected an integer or a sequence of integers, got '1'"),
        (True, "'axis': expected an integer"),
    ],
)
def test_illegal_axes_are_reported_at_the_call(name, axis, message):
    def kernel(x):
        getattr(nl, name)(nl.load(x), axis)

    with pytest.raises(nisa.NkiValidationError, match=message) as caught:
        nki.jit(kernel).trace(nki.TensorSpec((8, 3, 5), nl.float32))
    assert caught.value.diagnostics[0].where[0].file == __file__
