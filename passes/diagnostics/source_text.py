"""The source text that findings, listings and reports may show.

A location can name any file: a device, a FIFO, or, in IR from elsewhere, a private file of this
machine. Therefore only regular files up to a maximum size are read. A file that is named only by
parsed IR must contain Python or IR, and be below the working directory or the folder of that IR.
"""

from __future__ import annotations

import io
import linecache
import os
import tokenize
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import CodeType

from nkijit.dialects.files import check_regular, read_regular

MAX_SOURCE_BYTES = 1 << 22
"""The largest size in bytes of a file that is shown: 8 times Python's largest library module."""

SHOWN_SUFFIXES = (".py", ".mlir")
"""The suffixes of the files that may be quoted if only parsed IR names them."""

_parsed: set[str] = set()
_running: set[str] = set()
_claimed: set[str] = set()
_folders: set[str] = set()
_held: dict[str, tuple[str, ...]] = {}


def source_of_code(code: CodeType) -> str:
    """Return the file name of a code object, and permit quoting the file if parsed IR names it."""
    _running.add(code.co_filename)
    return code.co_filename


def claim_source(file: str) -> None:
    """Record that parsed IR names this file as its source."""
    _claimed.add(file)


def parsed_as(name: str) -> None:
    """Record the name of a parsed IR text. It is the file name in the text's default locations."""
    _parsed.add(name)


def is_parsed_text(name: str) -> bool:
    """Whether a file name is the name of a parsed IR text instead of a source file."""
    return name in _parsed


def show_source_below(folder: str | os.PathLike[str]) -> None:
    """Permit quoting of source files below the folder of an IR file."""
    _folders.add(os.path.realpath(folder))


def hold_text(file: str, text: str) -> None:
    """Use a text as the contents of a file: standard input, or an editor's unsaved buffer."""
    _held[file] = lines_of(text)
    # Tracebacks read source lines from there.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def source_lines(file: str) -> Sequence[str]:
    """Return the lines of a file without line ends, as Python splits them.

    Returns () if the file may not be shown. Undecodable bytes and NUL are replaced by U+FFFD.
    """
    if file in _held:
        return _held[file]
    try:
        status = check_regular(file)
        is_claim = file in _claimed and file not in _running
        if is_claim and not _may_be_quoted(os.path.realpath(file)):
            return ()
        state = (status.st_mtime_ns, status.st_size, status.st_ino)
        return _read(file, is_claim, state)
    except (FileNotFoundError, NotADirectoryError):
        # Notebooks and interactive sessions put the entered text there.
        cached = linecache.getlines(file) if file in linecache.cache else ()
        return [text.rstrip("\n") for text in cached]
    except (OSError, ValueError):  # unreadable, or an impossible file name
        return ()


def source_line(file: str, line: int) -> str:
    """Return a line without its end, counted from 1; "" if it may not be shown."""
    lines = source_lines(file)
    return lines[line - 1] if 0 < line <= len(lines) else ""


def source_text(file: str) -> str:
    """Return the text of a file, each line with its end; "" if it may not be shown."""
    return "".join(f"{text}\n" for text in source_lines(file))


def text_around(code: CodeType) -> str:
    """Return the text of the file of a code object; "" if it cannot be read."""
    return source_text(source_of_code(code))


def _may_be_quoted(path: str) -> bool:
    if not path.endswith(SHOWN_SUFFIXES):
        return False
    return any(Path(path).is_relative_to(folder) for folder in (os.path.realpath("."), *_folders))


@lru_cache(maxsize=32)
def _read(file: str, is_claim: bool, _state: tuple[int, ...]) -> tuple[str, ...]:
    """Read the lines of a file; if `is_claim`, as UTF-8, without regard to encoding comments.

    `_state` invalidates the cache when the file changes.
    """
    data = read_regular(file, MAX_SOURCE_BYTES)
    encoding = "utf-8"
    # Some of the encodings that a comment can name take quadratic time.
    if not is_claim:
        with suppress(SyntaxError, LookupError, UnicodeError):  # an unknown encoding, or no text
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    try:
        text = data.decode(encoding, errors="replace")
    except (LookupError, UnicodeError):  # no text encoding, or without "replace"
        text = data.decode("utf-8", errors="replace")
    return lines_of(text)


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a text without line ends, split as Python and editors do."""
    # Not splitlines(): U+2028 and similar characters do not end a line in Python and MLIR.
    lines = text.replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(lines if lines[-1] else lines[:-1])
