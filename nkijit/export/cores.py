"""Merges the programs of two cores into one text.

Numbers that differ become affine in the core's index. For all other differences, the text branches
on the core's index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nkijit.export.merging import Template, tidied
from nkijit.export.statements import Statement, is_function, scope_of

_WORD = re.compile(r"\w+")
CORE = "core"
"""The name of the variable that contains the number of the core."""


def merged_programs(programs: Sequence[list[Statement]]) -> list[Statement]:
    """Return statements that run the program of core 0 or 1, depending on the variable `core`."""
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
    """Merge equivalent statements at the start and end; put the remaining ones in a branch."""
    pairs = zip(one, two, strict=False)
    start: list[Statement] = []
    for a, b in pairs:
        both = _merged_statement(a, b)
        if both is None:
            break
        start.append(both)
    rest, other = one[len(start) :], two[len(start) :]
    end: list[Statement] = []
    while rest and other:
        both = _merged_statement(rest[-1], other[-1])
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


def _merged_statement(a: Statement, b: Statement) -> Statement | None:
    """Merge two statements; None if they differ in more than numbers."""
    template = Template.of(a.text, {CORE: (a.text, b.text)})
    if template is None or (a.body is None) != (b.body is None):
        return None
    text = template.source()
    if a.body is None or b.body is None:
        return Statement(text, a.place)
    nonlocals = _nonlocals(a, b) if is_function(a) else ()
    return Statement(text, a.place, _merged(a.body, b.body), nonlocals)


def _nonlocals(a: Statement, b: Statement) -> tuple[str, ...]:
    """Return the outer names that the function assigns on either core.

    A name that is local on one core may belong to an outer function on the other core.
    """
    (own, outer), (other_own, other_outer) = scope_of(a), scope_of(b)
    return tuple(sorted({*a.nonlocals, *b.nonlocals, *(own & other_outer), *(other_own & outer)}))
