"""`@nkijit.example`: arguments beside a kernel."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import nkijit as nki
import nkijit.language as nl
from nkijit.discovery.examples import ExampleError, examples_of
from nkijit.kernels.arguments import ArgumentTypeError, TensorSpec


def copied(x, scale=1.0, dtype=None):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


def fresh():
    """A function that nothing was noted of."""
    return functools.wraps(copied)(lambda *args, **kwargs: copied(*args, **kwargs))


def arguments(kernel):
    return [example.arguments() for example in examples_of(kernel)]


def test_over_and_under_in_the_order_of_the_source():
    @nki.example(x="1x1:float32")
    @nki.example(x="2x2:float32")
    @nki.jit
    @nki.example(x="3x3:float32")
    def kernel(x):
        return copied(x)

    found = arguments(kernel)
    assert [values["x"].shape for values in found] == [(1, 1), (2, 2), (3, 3)]
    for made in (kernel[2], kernel.for_target("trn2"), kernel.strict(), nki.jit(kernel)):
        assert arguments(made) == found


def test_below_other_decorators():
    @nki.example(x="4x4:int8")
    def inner(x):
        return copied(x)

    kernel = nki.jit(functools.wraps(inner)(lambda *args: inner(*args)))
    assert arguments(kernel) == [{"x": TensorSpec((4, 4), "int8")}]


def test_strings_are_read_and_others_are_as_they_are():
    array = np.zeros((2, 2))
    kernel = nki.jit(
        nki.example(x=array, scale=["2", ("none", {"k": "'relu'"})], dtype=nl.bfloat16)(fresh())
    )
    (found,) = arguments(kernel)
    assert found["x"] is array
    assert found["scale"] == [2, (None, {"k": "relu"})]
    assert found["dtype"] == nl.bfloat16


def test_files_are_beside_the_source(tmp_path: Path):
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    file = tmp_path / "k.py"
    file.write_text("@nki.example(x='@x.npy')\ndef k(x): pass\n")
    known = {"nki": nki}
    exec(compile(file.read_text(), str(file), "exec"), known)
    (found,) = arguments(nki.jit(known["k"]))
    np.testing.assert_array_equal(found["x"], np.ones((2, 3), np.float32))


def test_a_wrong_text_is_reported_when_it_is_used():
    kernel = nki.jit(nki.example(x="128x512")(fresh()))
    (example,) = examples_of(kernel)
    with pytest.raises(ExampleError, match="x: a tensor needs a data type") as told:
        example.arguments()
    assert told.value.where.file == __file__
    x = np.ones((4, 4), np.float32)
    np.testing.assert_array_equal(kernel(x), x)


def test_values_that_are_not_functions_are_refused():
    for wrong in (3, int, None):
        with pytest.raises(ArgumentTypeError, match="decorates a kernel"):
            nki.example(x=1)(wrong)


def test_traces_are_not_distinguished_by_examples():
    kernel = nki.jit(fresh())
    x = np.ones((4, 4), np.float32)
    kernel(x)
    nki.example(x=x)(kernel)
    kernel(x)
    assert kernel.cache_info().hits == 1
