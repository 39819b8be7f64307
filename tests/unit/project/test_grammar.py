"""The grammar on the site accepts the text of the IR."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

import pytest
from support.paths import ROOT

from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS, OF_SCALARS

LINES = sorted(
    {
        line
        for path in (ROOT / "tests" / "lit").rglob("*.mlir")
        if not path.name.startswith(("ill-formed", "parse-errors", "invalid"))
        for text in path.read_text(encoding="utf-8").split("\n")
        if re.match(r"(nisa|ncc)\.\w+ \w+=", line := text.strip()) and "{{" not in line
    }
)

# The terminals, as regular expressions.
_SPACE = r"\s*"
_TERMINALS = {
    "value": r"%[\w.$-]+(#\d+)?",
    "string": r'"[^"]*"',
    "integer": r"-?\d+",
    "number": r"(-?\d+(\.\d*)?([eE][+-]?\d+)?|0x[0-9A-F]+)",
}


@cache
def _page() -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        grammar: Any = importlib.import_module("docs._site.reference.grammar")
    ((_, text),) = grammar.pages()
    return text


@cache
def _productions() -> dict[str, str]:
    blocks = re.findall(r"```ebnf\n(.*?)```", _page(), re.DOTALL)
    rules = re.findall(r"(\w+)\s+= (.*?) ;$", "\n".join(blocks), re.DOTALL | re.MULTILINE)
    return dict(rules)


@cache
def _pattern(name: str) -> str:
    if name in _TERMINALS:
        return _TERMINALS[name]
    found = ""
    for token in re.findall(r'"[^"]*"|\w+|[][(){}|]', _productions()[name]):
        if token.startswith('"'):
            found += _SPACE + re.escape(token[1:-1]) + _SPACE
        elif token in "[({":
            found += "(?:"
        else:
            found += {"]": ")?", ")": ")", "}": ")*", "|": "|"}.get(
                token
            ) or f"(?:{_pattern(token)})"
    return found


def test_there_are_lines_of_most_instructions() -> None:
    named = {line.split(" ")[0] for line in LINES}
    assert len(named) > 40
    assert len(LINES) > 400


@pytest.mark.parametrize("name", sorted({line.split(" ")[0] for line in LINES}))
def test_lines_of_tests_follow_the_grammar(name: str) -> None:
    own = r'(, name="[^"]*")?(, after=\[.*?\])?( \{.*\})?( loc\(.*\))?(\s*//.*)?'
    pattern = re.compile(_pattern(name.replace(".", "_")) + own)
    wrong = [
        line
        for line in LINES
        if line.split(" ")[0] == name and not pattern.fullmatch(_sorted(line))
    ]
    assert not wrong


def _sorted(line: str) -> str:
    """The line with its arguments in the order of the declaration, as it is printed."""
    name, _, rest = line.partition(" ")
    (op,) = (op for op in (*INSTRUCTIONS, *OF_SCALARS, *COLLECTIVES) if op.name == name)
    order = [*(field.name for field in op.SPEC.fields), "name", "after"]
    arguments = re.split(r", (?=\w+=)", rest)
    return f"{name} {', '.join(sorted(arguments, key=lambda a: order.index(a.split('=')[0])))}"


@pytest.mark.parametrize(
    "line",
    ["nisa.dma_copy src=%x", "nisa.dma_copy dst=%t, src=3", "nisa.activation dst=%t, op=nothing"],
)
def test_the_grammar_rejects(line: str) -> None:
    assert not re.fullmatch(_pattern(line.split(" ")[0].replace(".", "_")), line)
