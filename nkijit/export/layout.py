"""Wraps Python statements into lines as formatters do: long statements break at brackets.

The rules are those of Black's style, for the statements in exported kernels: calls, assignments,
literals, `def` and `return`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 88
"""The line width, which is the formatters' default."""
INDENT = "    "

_TOKEN = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[()\[\]{},]|[^"'()\[\]{},]+""")
_OPENING, _CLOSING = "([{", ")]}"


def wrapped(statement: str, depth: int = 0) -> list[str]:
    """Break a one-line statement into lines of at most `WIDTH` characters.

    Args:
        statement: the statement, without indentation.
        depth: the number of indentation levels.

    Example:

        >>> wrapped("x = nl.ndarray((128, 512), dtype=nl.float32)", 0)
        ['x = nl.ndarray((128, 512), dtype=nl.float32)']
    """
    indented = f"{INDENT * depth}{statement}"
    if len(indented) <= WIDTH:
        return [indented]
    bracket = _bracket(statement)
    if bracket is None:
        return [indented]
    opening, closing = bracket
    head, body, tail = (
        statement[: opening + 1],
        statement[opening + 1 : closing],
        statement[closing:],
    )
    items = list(_items(body))
    inner = f"{INDENT * (depth + 1)}{body}"
    # A literal that is too long has one item per line. Arguments may share one line.
    if _is_literal(head) or len(inner) > WIDTH or len(items) == 1:
        lines = [line for item in items for line in wrapped(f"{item},", depth + 1)]
        # Round brackets around one item without a comma are not a tuple.
        is_group = head.endswith("(") and not body.rstrip().endswith(",")
        is_call = not _is_literal(head) and not head.startswith("def ")
        if len(items) == 1 and (is_call or is_group):
            lines = wrapped(body, depth + 1)
    else:
        lines = [inner]
    return [f"{INDENT * depth}{head}", *lines, f"{INDENT * depth}{tail}"]


def _bracket(statement: str) -> tuple[int, int] | None:
    """Return the positions of the bracket pair to break at; None if no pair has items.

    This is the last pair of brackets; for a definition, the pair around the parameters.
    """
    found: tuple[int, int] | None = None
    stack: list[int] = []
    for match in _TOKEN.finditer(statement):
        token, at = match[0], match.start()
        if token in _OPENING:
            stack.append(at)
        elif token in _CLOSING:
            opening = stack.pop()
            if not stack and at > opening + 1:
                found = opening, at
                if statement.startswith("def "):
                    return found
    return found


def _items(body: str) -> Iterator[str]:
    depth = start = 0
    for match in _TOKEN.finditer(body):
        token = match[0]
        if token in _OPENING:
            depth += 1
        elif token in _CLOSING:
            depth -= 1
        elif token == "," and not depth:
            yield body[start : match.start()].strip()
            start = match.end()
    last = body[start:].strip()
    if last:
        yield last


def _is_literal(head: str) -> bool:
    """Whether a bracket is a tuple, list or dict, rather than a call or subscript."""
    return len(head) == 1 or not (head[-2].isalnum() or head[-2] in "_)]")
