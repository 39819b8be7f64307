"""The text of a module, with edits that leave all other bytes unchanged."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Edit:
    """The replacement of bytes `start` to `end` by `text`."""

    start: int
    end: int
    text: str


class Source:
    """A module's text, with `\\n` as line ends; `encoded` restores the original line ends."""

    def __init__(self, data: bytes, path: str):
        """Parse the source. Raises SyntaxError if it is not Python in its declared encoding."""
        self.path = path
        self._encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(self._encoding)
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.tree = ast.parse(self.text, path)
        self._bytes = self.text.encode()
        self._starts = [0]
        for line in self._bytes.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    @staticmethod
    def of(path: Path) -> Source:
        """Read a file. Raises OSError and SyntaxError."""
        return Source(path.read_bytes(), str(path))

    def encoded(self, text: str) -> bytes:
        """Return the bytes of a text, in the module's encoding and with its line ends."""
        return text.replace("\n", self._newline).encode(self._encoding)

    def offset(self, line: int, column: int) -> int:
        """Return the byte offset of a line and column."""
        return self._starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the offset of the first byte of a node, and the offset after its last byte."""
        n: ast.expr = node  # pyright: ignore[reportAssignmentType]
        return (
            self.offset(n.lineno, n.col_offset),
            self.offset(n.end_lineno or n.lineno, n.end_col_offset or 0),
        )

    def segment(self, node: ast.AST) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self._bytes[start:end].decode()

    def indentation(self, node: ast.stmt) -> str:
        """Return the text before a statement in its line."""
        start = self._starts[node.lineno - 1]
        return self._bytes[start : start + node.col_offset].decode()

    def is_alone(self, node: ast.stmt) -> bool:
        """Whether no other statement shares a line with a statement."""
        before = self.indentation(node)
        last = node.end_lineno or node.lineno
        after = self._bytes[self.span(node)[1] : self._starts[last] - 1].decode().strip()
        return not before.strip() and (not after or after.startswith("#"))

    def lines_of(self, node: ast.stmt) -> tuple[int, int]:
        """Return the offset of a statement's first line, and of the line after the statement."""
        end = min(self._starts[node.end_lineno or node.lineno], len(self._bytes))
        return self._starts[node.lineno - 1], end

    def comments(self, node: ast.stmt) -> list[str]:
        """Return the comments inside a statement and after it, in order."""
        start, end = self.lines_of(node)
        text = self._bytes[start:end].decode().strip()
        found: list[str] = []
        try:
            tokens = tokenize.generate_tokens(io.StringIO(text).readline)
            found.extend(token.string for token in tokens if token.type == tokenize.COMMENT)
        except (tokenize.TokenError, IndentationError, SyntaxError):
            pass
        return found

    def changed(self, edits: list[Edit]) -> str:
        """Return the text with the edits applied, which must not overlap."""
        result = self._bytes
        for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
            result = result[: edit.start] + edit.text.encode() + result[edit.end :]
        return result.decode()


def one_line(text: str) -> str:
    """Return an expression on one line."""
    if "\n" not in text:
        return text
    return ast.unparse(ast.parse(f"({text})", mode="eval").body)


__all__ = ["Edit", "Source", "one_line"]
