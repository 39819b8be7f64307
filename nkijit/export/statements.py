"""Statements of a kernel's body, before they are laid out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nkijit.export.layout import INDENT, WIDTH, wrapped
from nkijit.passes.diagnostics.places import Position, line_text, shown_path


@dataclass(slots=True)
class Statement:
    """A statement on one line, or the head of a block with what is in it."""

    text: str
    place: Position | None = None
    """Where in the author's source it comes from."""
    body: list[Statement] | None = None


def lines_of(statements: Iterable[Statement], depth: int, *, comments: bool) -> Iterator[str]:
    """The lines of statements; `comments` quotes the author's lines before what came of them."""
    told: Position | None = None
    first, after_function = True, False
    for statement in statements:
        is_function = statement.text.startswith("def ")
        if after_function or (is_function and not first):
            yield ""
        first, after_function = False, is_function
        place = statement.place
        if (
            comments
            and place is not None
            and (told is None or (place.file, place.line) != (told.file, told.line))
        ):
            told = place
            comment = _comment(place, depth)
            if comment.partition(": ")[2].strip() != statement.text:
                yield comment
        yield from wrapped(statement.text, depth)
        if statement.body is not None:
            yield from lines_of(statement.body, depth + 1, comments=comments)


def _comment(place: Position, depth: int) -> str:
    path = shown_path(place.file)
    name = Path(path).name if Path(path).is_absolute() else path
    source = place.source_line().strip()
    said = f"# {line_text(name, place.line, path)}{f': {source}' if source else ''}"
    # Names of files and what is in them are somebody else's: nothing of them ends the line.
    text = INDENT * depth + "".join(c if c.isprintable() else "\ufffd" for c in said)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1].rstrip()}…"
