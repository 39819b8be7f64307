"""Numbers with nouns: `counted` and its neighbours write them, so that no text has "1 results"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from support.paths import ROOT

from nkijit.dialects.spelling import counted, in_number, numbered

FOLDERS = ("nkijit", "dialects", "passes")
SOURCES = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
    if not path.is_relative_to(ROOT / "nkijit" / "dialects")
    and not path.is_relative_to(ROOT / "nkijit" / "passes")
    and not path.is_relative_to(ROOT / "nkijit" / "assets")
)

_NOUNS = (
    "arguments|banks|bits|blocks|bytes|cells|characters|columns|coordinates|cores|cycles|"
    "descriptors|digits|dimensions|elements|events|fields|files|findings|flops|functions|"
    "groups|indices|instances|instructions|integers|iterations|kernels|keys|levels|lines|"
    "loads|loops|matmuls|names|numbers|operands|operations|pages|partitions|passes|"
    "programs|queues|ranks|registers|results|rewrites|rows|rules|runs|slices|steps|"
    "stores|suggestions|tensors|terms|tests|tiles|times|traces|transfers|trials|values|"
    "variants|waits|warnings|writes"
)
"""Plural nouns after numbers."""
_OTHERS = "and|are|as|at|bring|by|for|from|has|have|in|is|it|keep|of|on|or|than|that|to|which|with"
"""Words that are no adjectives."""
_FOLLOWED = re.compile(rf" (?:(?!(?:{_OTHERS}) )[a-z-]+ ){{0,2}}(?:{_NOUNS})(?![\w'])")
_COUNTS = re.compile(
    r"(^|_)(best|blocks|bytes|columns|contracted|cores|count|cycles|descriptors|distinct|"
    r"elements|executions|expected|held|instructions|integers|left|lines|longest|lost|more|"
    r"most|ndim|needed|number|partitions|passes|published|rank|ratio|rows|size|sizes|step|stride|"
    r"terms|tiles|time|times|together|total|trips|width|words)$"
)
"""Names of numbers."""


def _is_number(value: ast.FormattedValue) -> bool:
    """Return whether a value of an f-string is a number that can be 1, as far as its text shows."""
    expression = value.value
    if isinstance(value.format_spec, ast.JoinedStr):
        # Numbers with a fraction are estimates.
        return "," in ast.unparse(value.format_spec) and "." not in ast.unparse(value.format_spec)
    match expression:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in ("len", "sum", "prod") or _COUNTS.search(name) is not None
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name)):
            return _COUNTS.search(name) is not None
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv()):
            parts = ast.walk(expression)
            return not any(
                isinstance(p, (ast.JoinedStr, ast.Constant))
                and not isinstance(getattr(p, "value", 0), int)
                for p in parts
            )
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _COUNTS.search(name) is not None
    return False


def uncounted(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each number with a plural noun in the f-strings of a file."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for number, text in pairwise(node.values):
            if not isinstance(number, ast.FormattedValue) or not isinstance(text, ast.Constant):
                continue
            if _FOLLOWED.match(str(text.value)) and _is_number(number):
                yield number.lineno, f"{{{ast.unparse(number.value)}}}{text.value}"


def plurals_by_hand(source: str) -> Iterator[int]:
    """Yield the lines that choose between "s" and "" themselves."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.IfExp(body=ast.Constant(value=one), orelse=ast.Constant(value=other)):
                if {one, other} == {"", "s"}:
                    yield node.lineno
            case ast.BinOp(left=ast.Constant(value="s"), op=ast.Mult()):
                yield node.lineno


def _found(path: Path) -> Iterator[str]:
    source = path.read_text(encoding="utf-8")
    place = path.relative_to(ROOT)
    yield from (f"{place}:{line}: {text}" for line, text in uncounted(source))
    yield from (f"{place}:{line}: a plural by hand" for line in plurals_by_hand(source))


def test_numbers_agree_with_their_nouns() -> None:
    assert len(SOURCES) > 400
    found = [each for path in SOURCES for each in _found(path)]
    assert not found, "use counted, numbered or in_number:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "f'{len(found)} results'",
        "f'{count} more lines of {name}'",
        "f'{self.count:,} tiles'",
        "f'{a.size // 2} elements, '",
        "f'x {total} ' f'bytes'",
        "f'{sum(sizes)} instructions:'",
    ],
)
def test_numbers_are_found(text: str) -> None:
    assert len([*uncounted(text)]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "f'{counted(count, noun)} results'",
        "f'{name} reads'",
        "f'{MAX_RANK} dimensions'",
        "f'{time:.1f} times'",
        "f'{count} of {total}'",
        "f'{count} of the tiles'",
        'f"{name}\'s tiles"',
        "f'{prefix + \"x\"} tiles'",
    ],
)
def test_other_values_are_not_found(text: str) -> None:
    assert not [*uncounted(text)]


def test_plurals_by_hand_are_found() -> None:
    written = "'s' if n > 1 else ''\n\n's' * (n > 1)\n'' if n == 1 else 's'"
    assert [*plurals_by_hand(written)] == [1, 3, 4]
    assert not [*plurals_by_hand("'a' if n else 's'\nn * 's'")]


def test_counted() -> None:
    assert [counted(n, "tile") for n in (0, 1, 2, 1024)] == [
        *("0 tiles", "1 tile", "2 tiles", "1,024 tiles")
    ]
    assert [numbered(n, "index", "indices") for n in (0, 1, 1024)] == [
        *("0 indices", "1 index", "1024 indices")
    ]
    assert [in_number(n, "loop") for n in (1, 2)] == ["loop", "loops"]
