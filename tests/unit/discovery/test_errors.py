"""The origin of exceptions that end a command, and their messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nkijit.dialects.hardware.targets import target_named
from nkijit.discovery.errors import UsageError, failure_of
from nkijit.discovery.option_values import argument
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.lower.listing import listing


def raised(function: Callable[[], object]) -> BaseException:
    try:
        function()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of this file counts as installed, so that no frame is an author's."""
    from nkijit.host import installed as library

    here = (*library._INSTALLED, __file__)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(library, "_INSTALLED", here)


def meant() -> None:
    raise ValueError("this is \x1b[31mwrong")


def failed_assertion() -> None:
    raise AssertionError("never")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (meant, "error: this is \ufffd[31mwrong"),
        (lambda: argument("x"), "error: -a x: expected NAME=VALUE, e.g. x=128x512:float32 or"),
        (lambda: target_named("trn9"), "error: unknown platform target 'trn9'"),
        (
            lambda: Path("/none/at/all").read_text(encoding="utf-8"),
            "error: no such folder: /none/at",
        ),
    ],
)
def test_mistakes_are_reported_in_a_line(function: Callable[[], object], message: str) -> None:
    said = failure_of(raised(function)).message
    assert said.startswith(message)
    assert "\n" not in said


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("function", "first"),
    [
        (lambda: {}["key"], "KeyError: 'key'"),
        (lambda: listing(None), "AttributeError: "),  # pyright: ignore[reportArgumentType]
        (lambda: np.zeros(3) + np.zeros(4), "ValueError: operands could not be broadcast"),
        (failed_assertion, "AssertionError: never"),
    ],
)
def test_defects_keep_their_type_and_say_whose_they_are(
    function: Callable[[], object], first: str
) -> None:
    said = failure_of(raised(function)).message
    assert said.startswith(first)
    assert "This is an internal error" in said
    assert "Please report it with the kernel and all of this text." in said
    assert ", in " in said  # where


def test_the_authors_line_is_reported_with_a_defect() -> None:
    def kernel() -> None:
        listing(None)  # pyright: ignore[reportArgumentType]

    failure = failure_of(raised(kernel))
    assert failure.message.startswith("Traceback (most recent call last):")
    assert "listing(None)" in failure.message
    assert "AttributeError" in failure.message
    assert "This is an internal error" in failure.message
    line = kernel.__code__.co_firstlineno + 1
    assert failure.where[0] == Position(__file__, line, failure.where[0].column)


def test_an_authors_own_exception_is_no_defect() -> None:
    failure = failure_of(raised(lambda: {}["key"]))
    assert "KeyError" in failure.message
    assert "internal error" not in failure.message


def test_usage_errors_have_no_place() -> None:
    assert failure_of(UsageError("none")).where == ()
