"""The programs of two cores as one: numbers that are affine in the core, and branches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nkijit.export.merging import Template, tidied
from nkijit.export.statements import Statement, is_function, scope_of

_WORD = re.compile(r"\w+")
CORE = "core"
"""The name of the core that a program runs on."""


def merged_programs(programs: Sequence[list[Statement]]) -> list[Statement]:
    """The statements that are each core's where `core` is its number."""
    statements = programs[0] if len(programs) == 1 else _merged(*programs)
    _tidy(statements)
    if len(programs) == 1:
        return statements
    if CORE in {word for text in _texts(statements) for word in _WORD.findall(text)}:
        statements.insert(0, Statement(f"{CORE} = nl.program_id(0)"))
    return statements


def _tidy(statements: Sequence[Statement]) -> None:
    for statement in statements:
        statement.text = tidied(statement.text)
        _tidy(statement.body or ())


def _texts(statements: Sequence[Statement]) -> Iterator[str]:
    for statement in statements:
        yield statement.text
        yield from _texts(statement.body or ())


def _merged(one: list[Statement], two: list[Statement]) -> list[Statement]:
    """Both beginnings and both ends as one where they are alike, a branch for what is between."""
    pairs = zip(one, two, strict=False)
    start: list[Statement] = []
    for a, b in pairs:
        both = _alike(a, b)
        if both is None:
            break
        start.append(both)
    rest, other = one[len(start) :], two[len(start) :]
    end: list[Statement] = []
    while rest and other:
        both = _alike(rest[-1], other[-1])
        if both is None:
            break
        end.append(both)
        rest.pop()
        other.pop()
    return [*start, *_branch(rest, other), *reversed(end)]


def _branch(one: list[Statement], two: list[Statement]) -> list[Statement]:
    if one and two:
        return [Statement(f"if {CORE} == 0:", None, one), Statement("else:", None, two)]
    if one:
        return [Statement(f"if {CORE} == 0:", None, one)]
    return [Statement(f"if {CORE} == 1:", None, two)] if two else []


def _alike(a: Statement, b: Statement) -> Statement | None:
    """Two statements as one; None where they differ in more than numbers."""
    made = Template.of(a.text, {CORE: (a.text, b.text)})
    if made is None or (a.body is None) != (b.body is None):
        return None
    text = made.source()
    if a.body is None or b.body is None:
        return Statement(text, a.place)
    nonlocals = _nonlocals(a, b) if is_function(a) else ()
    return Statement(text, a.place, _merged(a.body, b.body), nonlocals)


def _nonlocals(a: Statement, b: Statement) -> tuple[str, ...]:
    """The names that the function of both cores has from around it, and assigns.

    A name that is local on one core may be from around the function on the other one.
    """
    (own, outer), (other_own, other_outer) = scope_of(a), scope_of(b)
    return tuple(sorted({*a.nonlocals, *b.nonlocals, *(own & other_outer), *(other_own & outer)}))
