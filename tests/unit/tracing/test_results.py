"""Findings about the result of a kernel: their places, and the tensors that they advise."""

from __future__ import annotations

import inspect

import pytest

import nkijit as nki
import nkijit.language as nl
from nkijit import NkiValidationError

X = nki.TensorSpec((128, 64), "float32")


@nki.jit
def alone(x):
    def helper():
        return 3

    t = nl.load(x)
    helper()
    return t  # here: t


@nki.jit
def in_a_tuple(x):
    out, t = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm), nl.load(x)
    nl.store(out, t)
    return out, t  # here: t


@nki.jit
def of_a_variable(x):
    result = (nl.load(x), x)
    return result  # here: result


@nki.jit
def key(x):
    return {3: x}  # here: {3: x}


@pytest.mark.parametrize("kernel", [alone, in_a_tuple, of_a_variable, key])
def test_a_finding_marks_the_returned_value(kernel):
    (finding,) = found(kernel)
    lines, first = inspect.getsourcelines(kernel)
    (at,) = [n for n, text in enumerate(lines) if "# here: " in text]
    code, _, marked = lines[at].rstrip().partition("  # here: ")
    span = finding.marked[0]
    assert finding.where[0].line == span.start.line == first + at
    assert code[span.start.column - 1 : span.end_column - 1] == marked


def test_one_of_several_returns_is_not_known():
    @nki.jit
    def kernel(x):
        if x.shape[0] == 3:
            return x
        return nl.load(x)

    (finding,) = found(kernel)
    assert not finding.marked


@pytest.mark.parametrize(
    ("body", "help"),
    [
        (lambda out, x, t: t, "copy the tile to out with nl.store, and return out"),
        (lambda out, x, t: (nl.store(out, t), t)[1], "return out, which is in HBM"),
        (lambda out, x, t: (out, t), "write out = nl.ndarray((128, 64), nl.float32"),
        (lambda out, x, t: nl.load(x[:, 0:8]), "write out = nl.ndarray((128, 8), nl.float32"),
    ],
)
def test_a_tensor_in_hbm_that_fits_is_advised(body, help):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        return body(out, x, nl.load(x))

    assert help in found(kernel)[-1].help


def found(kernel):
    try:
        diagnostics = kernel.trace(X).diagnostics
    except NkiValidationError as error:
        diagnostics = error.diagnostics
    return [d for d in diagnostics if d.rule.id == "return-value"]
