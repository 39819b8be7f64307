"""Conversion to positions of the protocol: lines from 0, columns in the editor's units."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types
from pygls import uris
from pygls.workspace import PositionCodec, TextDocument

from nkijit.passes.diagnostics.places import Position, Span
from nkijit.passes.diagnostics.source_text import lines_of, source_lines


class Places:
    """Converts between positions of the protocol and of nkijit (from 1, in characters).

    Lines end at the line ends that Python and the protocol define. The lines of pygls are not used,
    because they also end at U+2028 and similar characters.
    """

    def __init__(self, lines: Sequence[str], codec: PositionCodec):
        self._lines, self._codec = lines, codec

    @classmethod
    def of(cls, document: TextDocument) -> Places:
        """Return the converter for an open document."""
        return cls(lines_of(document.source), document.position_codec)

    def position(self, line: int, column: int) -> types.Position:
        """Convert a line and column. Columns after the end of the line give its end."""
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return types.Position(max(line - 1, 0), self._codec.client_num_units(text[: column - 1]))

    def range(self, span: Span) -> types.Range:
        """Convert a span."""
        start = self.position(span.start.line, span.start.column)
        return types.Range(start, self.position(span.end_line, span.end_column))

    def end_of(self, line: int) -> types.Position:
        """Return the position after the last character of a line."""
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return self.position(line, len(text) + 1)

    def column(self, position: types.Position) -> int:
        """Return the column, from 1 in characters, of a position of the editor."""
        text = self._lines[position.line] if position.line < len(self._lines) else ""
        units = 0
        for column, character in enumerate(text, 1):
            units += self._codec.client_num_units(character)
            if units > position.character:
                return column
        return len(text) + 1


def location_of(place: Position, document: TextDocument) -> types.Location:
    """Convert a position in the document, or in another file, to a location."""
    if place.file == document.path:
        places, uri = Places.of(document), document.uri
    else:
        places = Places(source_lines(place.file), document.position_codec)
        uri = uri_of(place.file)
    start = places.position(place.line, place.column)
    end = places.position(place.line, place.column + place.width)
    return types.Location(uri, types.Range(start, end))


def uri_of(file: str) -> str:
    """Return the URI of a file."""
    uri = uris.from_fs_path(file)
    assert uri is not None, "the file has a path"
    return uri
