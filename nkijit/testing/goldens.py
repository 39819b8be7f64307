"""Golden files: reviewed texts of kernels to compare with."""

from __future__ import annotations

import difflib
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from nkijit.dialects.spelling import numbered
from nkijit.host.output_files import write_text
from nkijit.kernels.kernel import Kernel
from nkijit.passes.diagnostics.places import shown_path
from nkijit.testing.kernels import Inputs, traced_of
from nkijit.traced.kernel import TracedKernel

if TYPE_CHECKING:
    import pytest

FOLDER = "goldens"
"""The folder of golden files, next to the test's file."""
_LONGEST = 80
"""The maximum number of characters of a test's name that a file name contains."""
_MOST_LINES = 60
"""The maximum number of lines of a difference that are shown."""


def plain_name(text: str) -> str:
    """Convert a text to characters that file names allow. Different texts stay different."""
    name = re.sub(r"[^\w.-]+", "-", text).strip("-.")
    if len(name) <= _LONGEST and not re.search(r"[^\w.:\[\]-]", text):
        return name
    return f"{name[:_LONGEST]}-{zlib.crc32(text.encode()):08x}"


class Golden:
    """Compares texts of one test with files: the fixture `nki_golden`."""

    def __init__(self, item: pytest.Item, *, update: bool):
        self._folder = item.path.parent / FOLDER
        inside = item.nodeid.partition("::")[2].replace("::", ".")
        self._base = f"{item.path.stem}.{plain_name(inside)}"
        self._update = update
        self._used: set[Path] = set()

    def __call__(
        self, what: TracedKernel | Kernel | str, name: str = "", *, inputs: Inputs | None = None
    ) -> None:
        """Assert that a kernel's IR, or a text, equals the golden file.

        The file is `goldens/FILE.TEST.mlir` (`.txt` for a text) next to the test. `pytest
        --nki-update-goldens` writes it.

        Args:
            what: a traced kernel, a kernel with `inputs`, or a text (a listing, a profile).
            name: a suffix for the second and further texts of a test.
            inputs: the arguments to trace a kernel with.

        Raises:
            AssertionError: the text differs (the difference is in the message), or there is no
                file.
        """
        __tracebackhide__ = True
        if isinstance(what, str):
            text, suffix = what, ".txt"
        else:
            text, suffix = traced_of(what, inputs).text(), ".mlir"
        text = text.rstrip("\n") + "\n"
        path = self._folder / f"{self._base}{f'.{plain_name(name)}' if name else ''}{suffix}"
        if path in self._used:
            raise ValueError(f"the test compares with {path.name} already; give this one a name=")
        self._used.add(path)
        shown = shown_path(str(path))
        if self._update:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                write_text(path, text)
            return
        if not path.exists():
            raise AssertionError(
                f"there is no {shown}; pytest --nki-update-goldens writes it. Look at it before "
                "you commit it"
            )
        golden = path.read_text(encoding="utf-8")
        if golden != text:
            raise AssertionError(_difference(golden, text, shown))


def _difference(golden: str, text: str, path: str) -> str:
    lines = list(
        difflib.unified_diff(
            golden.splitlines(), text.splitlines(), path, "this run", n=2, lineterm=""
        )
    )
    if len(lines) > _MOST_LINES:
        more = numbered(len(lines) - _MOST_LINES, "more line")
        lines = [*lines[:_MOST_LINES], f"… {more}"]
    help_ = "  = help: if it is meant to be so, pytest --nki-update-goldens writes the file anew"
    return "\n".join([f"differs from {path}", *lines, help_])
