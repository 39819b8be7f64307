"""Renaming of variables and parameters."""

from __future__ import annotations

import ast

import pytest

from nkijit.lsp.renaming import RenameError, check_name, occurrences

TEXT = """\
import nki
import nkijit

x = 3


@nkijit.example(x="128x512:float32", scale=2.0)
@nki.jit
def f(x, scale=1.0):
    "é"; tile = x
    squares = [tile * i for i in range(4)]

    def inner(tile):
        return tile

    def outer():
        return tile + x

    return tile, scale, lambda: tile


def g(tile):
    return f(x=tile, scale=tile), x
"""


def renamed(line: int, word: str, new: str) -> str:
    """The text after renaming the first `word` of a line, counted from 1."""
    column = TEXT.splitlines()[line - 1].index(word) + 1
    lines = [list(text) for text in TEXT.splitlines()]
    places = occurrences("k.py", TEXT, line, column)
    for span in reversed(places):
        lines[span.start.line - 1][span.start.column - 1 : span.end_column - 1] = new
    return "\n".join("".join(text) for text in lines) + "\n"


def test_a_variable_is_renamed_in_its_function_only() -> None:
    after = renamed(10, "tile", "block")
    assert after.count("block") == 5
    ast.parse(after)
    assert "def inner(tile):\n        return tile" in after
    assert "return block + x" in after
    assert "lambda: block" in after
    assert "def g(tile):\n    return f(x=tile, scale=tile), x" in after
    assert after.replace("block", "tile") == TEXT


def test_a_parameter_is_renamed_in_decorators_and_calls() -> None:
    after = renamed(10, "x", "data")
    assert '@nkijit.example(data="128x512:float32", scale=2.0)' in after
    assert "def f(data, scale=1.0):" in after
    assert "return f(data=tile, scale=tile), x" in after  # the global x stays
    assert after.startswith("import nki\nimport nkijit\n\nx = 3\n")
    assert after.count("data") == 5


@pytest.mark.parametrize(
    ("line", "word", "message"),
    [
        (4, "x", "not a variable of a function"),
        (23, "f(", "not a variable of a function"),
        (23, "x=", "rename the parameter at its function"),
        (11, "range", "not a variable of a function"),
        (19, "return", "there is no name here"),
    ],
)
def test_other_names_are_refused(line: int, word: str, message: str) -> None:
    with pytest.raises(RenameError, match=message):
        renamed(line, word, "y")


@pytest.mark.parametrize(
    ("new", "message"),
    [("tile", "uses 'tile' already"), ("for", "is not a name"), ("a b", "is not a name")],
)
def test_new_names_are_checked(new: str, message: str) -> None:
    places = occurrences("k.py", TEXT, 9, 8)
    with pytest.raises(RenameError, match=message):
        check_name(TEXT, places, new)


def test_a_text_with_errors_is_refused() -> None:
    with pytest.raises(RenameError, match="syntax error"):
        occurrences("k.py", "def f(", 1, 5)
