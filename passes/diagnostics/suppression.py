"""Suppression of warnings by comments in the source: `# nkijit: ignore[rule, rule]`.

A comment on the lines of a statement applies to warnings that are reported at these lines or in
functions called from them. Errors are not suppressed. An unused comment is a finding, too.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from xdsl.dialects.builtin import LocationAttr

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.rule_texts.suppressions import (
    SUPPRESSION_OF_ERROR,
    UNKNOWN_RULE,
    UNUSED_SUPPRESSION,
)
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.dialects.spelling import did_you_mean
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.places import Position, positions
from nkijit.passes.diagnostics.source_text import source_lines

Lines = Mapping[str, Iterable[int]]
"""The examined line numbers of each source file."""

_MARK = "nkijit:"
_COMMENT = re.compile(r"#\s*(nkijit:\s*ignore\b(?:\[([^\]]*)\])?)")
_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


@dataclass(slots=True)
class _Suppression:
    """A suppressing comment, with the rules that it has suppressed or must not suppress."""

    position: Position
    rules: tuple[str, ...]
    is_alone: bool
    """True if the comment is on a line of its own, before a statement."""
    lines: range = range(0)
    """The lines of the statement to which the comment applies."""
    used: set[str] = field(default_factory=lambda: set[str]())
    """The rules whose warnings the comment has suppressed."""
    refused: dict[str, Position] = field(default_factory=lambda: dict[str, Position]())
    """The rules whose errors the comment names, with the place of the first error.

    Errors are not suppressed.
    """


def suppress(
    found: Iterable[Diagnostic], examined: Lines, is_checked: Callable[[RuleText], bool]
) -> list[Diagnostic]:
    """Remove suppressed findings, and add findings about the comments.

    Args:
        examined: the lines from which findings can come.
        is_checked: returns True if all checks that can report a rule have run. Otherwise, a
            suppression of the rule is not reported as unused.
    """
    found = list(found)
    reached = {file: set(numbers) for file, numbers in examined.items()}
    for place in (place for diagnostic in found for place in diagnostic.where):
        reached.setdefault(place.file, set()).add(place.line)
    comments = [
        comment
        for file in sorted(reached)
        for comment in _suppressions(file)
        if not reached[file].isdisjoint(comment.lines)
    ]
    if not comments:
        return found
    at: _AtLine = {}
    for comment in comments:
        for number in () if comment.is_alone else comment.lines:
            at.setdefault((comment.position.file, number), []).append(comment)
    remaining = [diagnostic for diagnostic in found if not _is_suppressed(diagnostic, at)]
    about = [finding for comment in comments for finding in _about(comment, is_checked)]
    return [*remaining, *(finding for finding in about if not _is_suppressed(finding, at))]


def suppressing(line: str, rule: str) -> tuple[int, str]:
    """Return where a line gets text that suppresses a rule, and the text.

    The place counts from 0, in characters. The text is a comment, or extends the comment of the
    line. Example: `suppressing("f()  # nkijit: ignore[a]", "b")` is `(24, ", b")`.
    """
    found = _COMMENT.search(line)
    if found is None:
        return len(line), f"  # nkijit: ignore[{rule}]"
    if found[2] is None:
        return found.end(), f"[{rule}]"
    return found.end(2), f", {rule}" if found[2].strip() else rule


def lines_of(kernels: Iterable[KernelOp]) -> dict[str, set[int]]:
    """Return the source lines of the operations of kernels."""
    # Operations of one call site share their location.
    locations: dict[int, LocationAttr] = {}
    for kernel in kernels:
        for op in chain((kernel,), kernel.operations):
            locations[id(op.location)] = op.location
    found: dict[str, set[int]] = {}
    for location in locations.values():
        for position in positions(location):
            found.setdefault(position.file, set()).add(position.line)
    return found


_AtLine = dict[tuple[str, int], list[_Suppression]]


def _is_suppressed(diagnostic: Diagnostic, at: _AtLine) -> bool:
    """Whether a comment suppresses a finding. Records the rule in all comments that name it."""
    rule = diagnostic.rule.id
    matching = [
        comment
        for place in diagnostic.where
        for comment in at.get((place.file, place.line), ())
        if rule in comment.rules
    ]
    for comment in matching:
        if diagnostic.severity == "error":
            comment.refused.setdefault(rule, diagnostic.where[0])
        else:
            comment.used.add(rule)
    return bool(matching) and diagnostic.severity != "error"


def _about(comment: _Suppression, is_checked: Callable[[RuleText], bool]) -> Iterator[Diagnostic]:
    """Yield the findings about a comment: an unknown or refused rule, or an unused comment."""
    where = (comment.position,)
    if not comment.rules:
        yield Diagnostic(UNKNOWN_RULE, "it names no rule", "ignore", where)
    for id in comment.rules:
        rule, subject = RULE_TEXTS.get(id), f"ignore[{id}]"
        if rule is None:
            yield Diagnostic(
                UNKNOWN_RULE,
                f"there is no rule '{id}'{did_you_mean(id, RULE_TEXTS)}",
                subject,
                where,
            )
        elif id in comment.refused:
            yield Diagnostic(
                SUPPRESSION_OF_ERROR,
                "an error of this rule is reported here",
                subject,
                where,
                related=((comment.refused[id], "the error"),),
            )
        elif id not in comment.used and rule.category != UNUSED_SUPPRESSION.category:
            if comment.is_alone:
                message = "the comment is on a line of its own, which has no warnings"
                yield Diagnostic(UNUSED_SUPPRESSION, message, subject, where)
            elif is_checked(rule):
                message = "no warning of this rule is reported here"
                yield Diagnostic(UNUSED_SUPPRESSION, message, subject, where)


def _suppressions(file: str) -> list[_Suppression]:
    """Return the suppressing comments of a source file, each with the lines of its statement."""
    source = source_lines(file)
    if not any(_MARK in text for text in source):
        return []
    try:
        return list(_parsed(file, source))
    except (tokenize.TokenError, SyntaxError):  # not a Python file
        return []


def _parsed(file: str, source: Sequence[str]) -> Iterator[_Suppression]:
    waiting: list[_Suppression] = []
    first = 0  # the first line of the open statement; 0 between statements
    at_start, is_decorator = True, False
    for token in tokenize.generate_tokens((f"{text}\n" for text in source).__next__):
        if token.type == tokenize.COMMENT:
            # After code, it can follow another comment. On a line of its own, it must start the
            # comment.
            match = (_COMMENT.search if first else _COMMENT.match)(token.string)
            if match is not None:
                place = Position(file, token.start[0], token.start[1] + match.start(1) + 1)
                names = dict.fromkeys((match[2] or "").replace(",", " ").split())
                waiting.append(_Suppression(place, tuple(names), is_alone=not first))
        elif token.type == tokenize.NEWLINE:
            at_start = True
            if is_decorator:  # a decorator belongs to the decorated statement
                continue
            for comment in waiting:
                comment.lines = range(first, token.start[0] + 1)
                yield comment
            waiting, first = [], 0
        elif at_start and token.type not in _NO_CODE:
            first = first or token.start[0]
            at_start, is_decorator = False, token.string == "@"
