"""Python operations that fail on tensors: the findings, and that the names in them exist."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit import NkiValidationError
from nkijit.dialects.other_names import SYNONYMS
from nkijit.tracing.python_errors import BINARY, MEMBERS, REDUCTIONS, UNARY

X = nki.TensorSpec((128, 64), "float32")


def found(body, rule="python-on-tensor") -> tuple[str, str]:
    """The message and the help of the finding that ends a kernel with this body."""

    @nki.jit
    def kernel(x):
        t = nl.load(x)
        return body(t)

    with pytest.raises(NkiValidationError) as caught:
        kernel.trace(X)
    (finding,) = [d for d in caught.value.diagnostics if d.rule.id == rule]
    return finding.message, finding.help


@pytest.mark.parametrize(
    "function", [*BINARY.values(), *UNARY.values(), *SYNONYMS.values(), *REDUCTIONS]
)
def test_functions_that_are_named_exist(function):
    assert callable(getattr(nl, function))


@pytest.mark.parametrize("name", MEMBERS)
def test_members_that_are_named_exist(name):
    for text in MEMBERS[name]:
        for module, member in re.findall(r"(nl|nisa|\{t\})\.(\w+)", text):
            owner = {"nl": nl, "nisa": nisa, "{t}": nl.NkiTensor}[module]
            assert hasattr(owner, member)


@pytest.mark.parametrize(
    ("body", "help"),
    [
        (lambda t: t**2, "nl.power(t, 2)"),
        (lambda t: 1.0 - t, "nl.subtract(1.0, t)"),
        (lambda t: np.float32(2) * t, "nl.multiply(np.float32(2), t)"),
        (lambda t: np.ones(64, np.float32) * t, "nl.multiply(np.ones(64, np.float32), t)"),
        (lambda t: t @ t, "nl.matmul(t, t)"),
        (lambda t: t // 2, "nl.divide(nl.subtract(t, nl.mod(t, 2)), 2, dtype=nl.int32)"),
        (lambda t: -t, "nl.negative(t)"),
        (lambda t: abs(t), "nl.abs(t)"),
        (lambda t: max(t, t), "nl.maximum(t, t)"),
        (lambda t: sum(t), "nl.sum(t, axis=1)"),
        (lambda t: math.exp(t), "nl.exp(t)"),
        (lambda t: np.dot(t, t), "nl.matmul(t, t)"),
        (lambda t: np.mean(t, axis=1), "nl.mean(t, axis=1)"),
        (lambda t: np.concatenate([t, t]), "whole[:, 0:t.shape[1]] = t"),
        (lambda t: np.stack((t, t), axis=1), "whole[:, 0:t.shape[1]] = t"),
        (lambda t: np.asarray(t), "nl.device_print"),
        (lambda t: float(t), "nl.device_print"),
        (lambda t: range(t), "nl.dynamic_range"),
        (lambda t: sorted(t), "for i in range(t.shape[0])"),
        (lambda t: t.T, "nl.transpose(t)"),
        (lambda t: t.astype(nl.bfloat16), "nl.copy(t, dtype=...)"),
        (lambda t: t.permute(0, 1), "t.permute((0, 1))"),
        (lambda t: t.reshape(64, 128), "t.reshape((64, 128))"),
        (lambda t: t(0), "t[...]"),
        (lambda t: [1, 2][t], "known while tracing"),
    ],
)
def test_alternatives(body, help):
    assert help in found(body)[1]


def test_floor_division_as_it_is_suggested():
    suggested = "nl.divide(nl.subtract(t, nl.mod(t, n)), n, dtype=nl.int32)"
    whole = np.arange(-128 * 8, 128 * 8, dtype=np.float32).reshape(128, 16)
    for number in (7, 41, -47):
        assert suggested in found(lambda t, n=number: t // n)[1]

        @nki.jit
        def kernel(x, n=number):
            quotient = eval(suggested, {"nl": nl, "t": nl.load(x), "n": n})
            out = nl.ndarray(x.shape, nl.int32, buffer=nl.shared_hbm)
            nl.store(out, quotient)
            return out

        np.testing.assert_array_equal(kernel(whole), whole // number)


def test_a_member_that_is_misspelt():
    assert "did you mean 'shape'?" in found(lambda t: t.shpe, "unknown-name")[0]


def test_python_sees_its_own_kind_of_error():
    @nki.jit
    def kernel(x):
        try:
            return nl.load(x) + 1
        except TypeError:
            out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
            nl.store(out, nl.add(nl.load(x), 1))
            return out

    assert kernel.trace(X).result_types
    for body, error in ((lambda t: t + 1, TypeError), (lambda t: t.sum(), AttributeError)):

        @nki.jit
        def wrong(x, body=body):
            return body(nl.load(x))

        with pytest.raises(error):
            wrong.trace(X)


def test_findings_of_the_kernel_are_shown_too():
    @nki.jit
    def kernel(x):
        t = nl.load(x)
        nisa.memset(t, value="one")
        return t + 1

    with pytest.raises(NkiValidationError) as caught:
        kernel.trace(X)
    assert [d.rule.id for d in caught.value.diagnostics] == ["argument", "python-on-tensor"]
