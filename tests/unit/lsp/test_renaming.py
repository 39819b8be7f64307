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


def marked(text: str, new: str = "new") -> str:
    """The text without `|`, after renaming the name at its place."""
    before = text.partition("|")[0]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    text = text.replace("|", "", 1)
    lines = text.split("\n")
    places = occurrences("k.py", text, line, column)
    check_name(text, places, new)
    for span in reversed(places):
        whole = lines[span.start.line - 1]
        lines[span.start.line - 1] = (
            whole[: span.start.column - 1] + new + whole[span.end_column - 1 :]
        )
    ast.parse("\n".join(lines))
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (  # f-strings, also over several lines and in a format
            'def f(x):\n    |tile = x\n    s = f"é {tile!r:>{tile.w}}" f"""\n {tile + 1}"""\n',
            'def f(x):\n    new = x\n    s = f"é {new!r:>{new.w}}" f"""\n {new + 1}"""\n',
        ),
        (  # an inner function writes to the variable
            "def f():\n    |t = 1\n    def g():\n        nonlocal s, t\n        t = t + 2\n"
            "    s = t\n",
            "def f():\n    new = 1\n    def g():\n        nonlocal s, new\n"
            "        new = new + 2\n    s = new\n",
        ),
        (  # a loop of the function has no variables of its own
            "def f(x):\n    tile = x\n    for |tile in range(3):\n        g(tile)\n"
            "    return tile\n",
            "def f(x):\n    new = x\n    for new in range(3):\n        g(new)\n    return new\n",
        ),
        (  # a comprehension has
            "def f(|t):\n    return [t for t in t if t], {t: u for u in t}\n",
            "def f(new):\n    return [t for t in new if t], {new: u for u in new}\n",
        ),
        (
            "def f(t):\n    return [|t for t in t if t], t\n",
            "def f(t):\n    return [new for new in t if new], t\n",
        ),
        (  # except for :=
            "def f(x):\n    s = [(t := y) for y in x]\n    return |t\n",
            "def f(x):\n    s = [(new := y) for y in x]\n    return new\n",
        ),
        (
            "def f(x):\n    opts = x\n    g(x=1, **|opts)\n",
            "def f(x):\n    new = x\n    g(x=1, **new)\n",
        ),
        (  # an argument of the same name
            "def f(x):\n    |dst = x\n    copy(dst=dst, src=x[dst])\n",
            "def f(x):\n    new = x\n    copy(dst=new, src=x[new])\n",
        ),
        (  # a default is evaluated outside
            "def f(t):\n    def g(t=|t):\n        return t\n    return g\n",
            "def f(new):\n    def g(t=new):\n        return t\n    return g\n",
        ),
        (  # attributes of classes, and methods, which do not see them
            "def f(|x):\n    class A:\n        x = 2\n        def m(s):\n            return x\n",
            "def f(new):\n    class A:\n        x = 2\n        def m(s):\n            return new\n",
        ),
        (  # calls of the kernel, of its methods, and of derived kernels
            "def k(|x):\n    pass\n"
            "k[2](x=1), k.trace(x=2), sim(k)(x=3), k.strict(False)(x=4), o(x=5)\n",
            "def k(new):\n    pass\n"
            "k[2](new=1), k.trace(new=2), sim(k)(new=3), k.strict(False)(new=4), o(x=5)\n",
        ),
    ],
)
def test_scopes(text: str, after: str) -> None:
    assert marked(text) == after


@pytest.mark.parametrize(
    "binding",
    ["import os as t", "def t(): pass", "try:\n        pass\n    except E as t:\n        pass"],
)
def test_names_that_other_statements_bind_are_refused(binding: str) -> None:
    with pytest.raises(RenameError, match="is also bound by an import"):
        marked(f"def f():\n    |t = 1\n    {binding}\n    return t\n")


def test_new_names_do_not_hide_imports() -> None:
    with pytest.raises(RenameError, match="the file uses 'nl' already"):
        marked("import nki.language as nl\n\ndef f():\n    |t = 1\n", "nl")
