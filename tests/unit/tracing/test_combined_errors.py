"""Exceptions of kernels carry findings, and `except` finds them by their own class."""

from __future__ import annotations

import copy
import pickle
import traceback
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.classic as classic
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.kernels.arguments import ArgumentTypeError

X = np.zeros((128, 64), np.float32)


class RefusedError(Exception):
    """An exception of the user's, with its own constructor and attributes."""

    def __init__(self, code: int, *, reason: str):
        super().__init__(f"{code}: {reason}")
        self.code = code


class FinalError(Exception):
    """A class without subclasses."""

    def __init_subclass__(cls) -> None:
        raise TypeError("final")


class SlottedError(ValueError):
    __slots__ = ("size",)

    def __init__(self, size: int):
        super().__init__("slotted")
        self.size = size


def raised_by(error: BaseException) -> BaseException:
    """The exception that a call of a kernel raises, whose body raises `error`."""

    @nki.jit
    def kernel(x):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        raise error

    with pytest.raises(type(error)) as caught:
        kernel(X)
    return caught.value


@pytest.mark.parametrize(
    "error",
    [
        AssertionError("wrong"),
        AttributeError("none", name="size", obj=3),
        ExceptionGroup("several", [ValueError("one")]),
        FileNotFoundError(2, "no such file", "weights.npy"),
        ImportError("no", name="weights"),
        KeyError("key"),
        RecursionError("deep"),
        RefusedError(3, reason="too large"),
        SlottedError(7),
        StopIteration(4),
        SyntaxError("bad", ("file.py", 3, 1, "x = ", 3, 2)),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        ZeroDivisionError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_the_class_and_the_attributes_stay(error: Exception) -> None:
    found = raised_by(error)
    assert isinstance(found, nki.NkiValidationError)
    assert type(found).__name__ == type(error).__name__
    (finding,) = found.diagnostics
    assert finding.rule.id == "python-error"
    assert finding.subject == type(error).__qualname__
    assert found.args == error.args
    names = ("code", "size", "name", "obj", "errno", "filename", "value", "lineno", "object")
    for name in names:
        assert getattr(found, name, None) == getattr(error, name, None)


@pytest.mark.parametrize(
    "error", [KeyError("key"), OSError(2, "none"), RefusedError(3, reason="large")]
)
def test_copies_and_pickles(error: Exception) -> None:
    found = raised_by(error)
    assert isinstance(found, nki.NkiValidationError)
    for again in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert isinstance(again, type(error))
        assert isinstance(again, nki.NkiValidationError)
        assert str(again) == str(found)
        assert again.args == error.args
        assert getattr(again, "code", None) == getattr(error, "code", None)


def test_a_class_without_subclasses_has_the_findings_as_a_note() -> None:
    error = FinalError("mine")
    assert raised_by(error) is error
    assert "error[python-error]: FinalError: mine" in error.__notes__[0]


def test_system_exit_and_interrupts_are_no_findings() -> None:
    for error in (SystemExit(3), KeyboardInterrupt()):
        assert raised_by(error) is error


@nki.jit
def asserted(x):
    assert x.shape[0] == 64, "64 rows expected"


@nki.jit
def misspelt(x):
    nl.laod(x)


@nki.jit
def without_tile(x):
    nisa.reciprocal(nl.load(x))


@nki.jit
def undefined(x):
    unknown(x)  # noqa: F821


@nki.jit
def named_dtype(x):
    return nl.ndarray(x.shape, "fp33", buffer=nl.shared_hbm)


@pytest.mark.parametrize(
    ("call", "error", "rule"),
    [
        (lambda: asserted(X), AssertionError, "python-error"),
        (lambda: misspelt(X), AttributeError, "unknown-name"),
        (lambda: undefined(X), NameError, "unknown-name"),
        (lambda: without_tile(X), TypeError, "call-arguments"),
        (lambda: asserted(), TypeError, "call-arguments"),
        (lambda: asserted(X, X), TypeError, "call-arguments"),
        (lambda: asserted(X, y=X), TypeError, "call-arguments"),
        (lambda: asserted(np.array([object()])), ArgumentTypeError, "argument"),
        (lambda: asserted(np.zeros((128, 64))), TypeError, "argument"),
        (lambda: asserted.trace(np.zeros((0, 64), np.float32)), TypeError, "argument"),
        (lambda: misspelt([1.0]), AttributeError, "unknown-name"),
        (lambda: named_dtype(X), nki.NkiValidationError, "argument"),
    ],
)
def test_calls_show_no_frames_of_nkijit(call: Any, error: type[Exception], rule: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, nki.NkiValidationError)
    (finding,) = caught.value.diagnostics
    assert finding.rule.id == rule
    assert [place.file for place in finding.where] == [__file__]
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {frame.filename for frame in frames} == {__file__}


def test_the_finding_about_an_argument_is_at_the_call() -> None:
    with pytest.raises(TypeError) as caught:
        asserted(
            np.zeros((128, 64)),
        )
    assert isinstance(caught.value, nki.NkiValidationError)
    (finding,) = caught.value.diagnostics
    assert "asserted(" in finding.where[0].source_line()
    assert "argument 'x' is an array of float64" in finding.message


@pytest.mark.parametrize(
    "call",
    [
        lambda: asserted[3],
        lambda: asserted.for_target("trn9"),
        lambda: nki.TensorSpec((4,), "fp33"),
    ],
)
def test_other_errors_of_kernels_have_no_frames(call: Any) -> None:
    with pytest.raises((NotImplementedError, ValueError)) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].filename != __file__ or len(frames) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: asserted[4],
        lambda: nki.jit(3),
        lambda: classic.jit(3),
        lambda: classic.jit(lambda x: x)[0],
        lambda: classic.simulate_kernel(3),
    ],
)
def test_errors_of_decorators_and_launches_have_no_frames_of_nkijit(call: Any) -> None:
    with pytest.raises((NotImplementedError, TypeError, ValueError)) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {frame.filename for frame in frames} == {__file__}


def test_the_traceback_ends_at_the_line_that_raises() -> None:
    with pytest.raises(AssertionError) as caught:
        asserted(X)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].name == "asserted"


def test_an_outer_kernel_reports_the_arguments_of_an_inner_one() -> None:
    @nki.jit
    def outer(x):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        asserted()

    with pytest.raises(TypeError, match="kernel 'asserted': argument 'x' is missing") as caught:
        outer(X)
    assert isinstance(caught.value, nki.NkiValidationError)


def test_a_kernel_can_catch_its_own_exceptions() -> None:
    @nki.jit
    def kernel(x):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        try:
            function = nl.no_such_function
        except AttributeError:
            function = nl.exp
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out, function(nl.load(x)))
        return out

    np.testing.assert_array_equal(kernel(X), np.exp(X))


def test_a_defect_of_nkijit_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nkijit.isa.elementwise.emit", int)
    with pytest.raises(TypeError) as caught:
        nki.jit(lambda x: nisa.reciprocal(nl.load(x), nl.load(x)))(X)
    assert not isinstance(caught.value, nki.NkiValidationError)
