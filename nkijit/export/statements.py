"""Statements of a kernel's body, before they are wrapped into lines."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nkijit.export.layout import INDENT, WIDTH, wrapped
from nkijit.passes.diagnostics.places import Position, line_text, shown_path


@dataclass(slots=True)
class Statement:
    """A statement on one line, or the header of a block (e.g. a loop) with its statements."""

    text: str
    place: Position | None = None
    """The source position of the original statement."""
    body: list[Statement] | None = None
    nonlocals: tuple[str, ...] = ()
    """If the statement defines a function, the outer names that the function assigns."""


def scope_of(function: Statement) -> tuple[set[str], set[str]]:
    """Return the local names of a function, and the outer names that the function uses."""
    _, _, own = _names_of(function)
    used = set(function.nonlocals)
    pending = list(function.body or ())
    while pending:
        statement = pending.pop()
        stored, loaded, _ = _names_of(statement)
        own |= stored
        used |= loaded
        if is_function(statement):
            used |= scope_of(statement)[1]
        else:
            pending += statement.body or ()
    own -= {*function.nonlocals}
    return own, used - own


def is_function(statement: Statement) -> bool:
    """Whether a statement is the definition of a function."""
    return statement.text.startswith("def ")


def _names_of(statement: Statement) -> tuple[set[str], set[str], set[str]]:
    """Return the names that the first line of a statement assigns and reads, and its parameters."""
    stored, loaded, parameters = set[str](), set[str](), set[str]()
    if statement.text != "else:":
        block = "" if statement.body is None else " pass"
        for node in ast.walk(ast.parse(f"{statement.text}{block}")):
            if isinstance(node, ast.Name):
                (stored if isinstance(node.ctx, ast.Store) else loaded).add(node.id)
            elif isinstance(node, ast.FunctionDef):
                stored.add(node.name)
            elif isinstance(node, ast.arg):
                parameters.add(node.arg)
    return stored, loaded, parameters


def lines_of(statements: Iterable[Statement], depth: int, *, comments: bool) -> Iterator[str]:
    """Yield the lines of statements; `comments` quotes source lines before their statements."""
    quoted: Position | None = None
    first, after_function = True, False
    for statement in statements:
        if after_function or (is_function(statement) and not first):
            yield ""
        first, after_function = False, is_function(statement)
        place = statement.place
        if (
            comments
            and place is not None
            and (quoted is None or (place.file, place.line) != (quoted.file, quoted.line))
        ):
            quoted = place
            comment = _comment(place, depth)
            if comment.partition(": ")[2].strip() != statement.text:
                yield comment
        yield from wrapped(statement.text, depth)
        for name in statement.nonlocals:
            yield f"{INDENT * (depth + 1)}nonlocal {name}"
        if statement.body is not None:
            yield from lines_of(statement.body, depth + 1, comments=comments)


def _comment(place: Position, depth: int) -> str:
    path = shown_path(place.file)
    name = Path(path).name if Path(path).is_absolute() else path
    source = place.source_line().strip()
    comment = f"# {line_text(name, place.line, path)}{f': {source}' if source else ''}"
    # File names and contents may come from elsewhere: they must not end the comment's line.
    text = INDENT * depth + "".join(c if c.isprintable() else "\ufffd" for c in comment)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1].rstrip()}…"
