"""The prose lint: docstrings, comments and pages in plain English.

    python -m tools.prose [PATH …]

CONTRIBUTING.md lists the rejected words, each with the words to use instead. The lint prints each
occurrence with its place and exits with 1 if there is one. It ignores code, text in backticks or
quotation marks, and the directives of FileCheck, which quote output.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tools.checkout import ROOT

FOLDERS = (
    *(
        "nkijit",
        "dialects",
        "passes",
        "tests",
        "tools",
        "benchmarks",
        "docs",
        "examples",
        "aliases",
    ),
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "pytest_nkijit.py"),
)
"""Files and folders that are checked by default, relative to the checkout."""
GENERATED = frozenset({"docs/rules.md"})
"""Pages that `make docs` writes."""
_WORDS = re.compile(r"<!-- words -->\n\n\| not \| but \|\n\|---\|---\|\n((?:\|.*\|\n)+)")
_QUOTED = re.compile(r"```.*?```|``.+?``|`[^`]+`|\"[^\"\n]*\"|“[^”]*”", re.DOTALL)
_DIRECTIVE = re.compile(r"#\s*[A-Z][A-Z0-9-]*:")
_SKIPPED = re.compile(
    r"^(?:```|~~~).*?^(?:```|~~~)|<!--.*?-->|\]\([^)]*\)", re.DOTALL | re.MULTILINE
)


class Finding(NamedTuple):
    """A rejected word."""

    path: Path
    line: int
    word: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: '{self.word}': {self.instead}"


def rejected(guide: str) -> dict[str, str]:
    """Return the rejected words and their replacements, from the table of the guide's text.

    Raises ValueError if there is no table.
    """
    table = _WORDS.search(guide)
    if table is None:
        raise ValueError("CONTRIBUTING.md has no table of words")
    rows = (row.strip("| ").split(" | ") for row in table[1].splitlines())
    return {word: instead for words, instead in rows for word in words.split(", ")}


def findings(path: Path, text: str, words: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the rejected words in a Python file or a page of Markdown."""
    # A parameter in a list of arguments may have such a name: `what: a text`.
    phrases = "|".join(words).replace(" ", r"\s+")
    pattern = re.compile(rf"\b({phrases})\b(?!:)", re.IGNORECASE)
    for line, prose in _prose(text) if path.suffix == ".py" else [(1, _without_code(text))]:
        plain = _QUOTED.sub(_blank, prose)
        for match in pattern.finditer(plain):
            word = " ".join(match[1].lower().split())
            place = line + plain.count("\n", 0, match.start())
            yield Finding(path, place, word, words[word])


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of Python code, each with its first line."""
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.lineno, value.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string):
            yield token.start[0], token.string


def _without_code(text: str) -> str:
    return _SKIPPED.sub(_blank, _WORDS.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    """Return the lines of a match without their text."""
    return "\n" * match[0].count("\n")


def files(paths: list[Path]) -> Iterator[Path]:
    """Yield the Python files and pages at or below paths, without links and generated pages."""
    for path in paths:
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in found:
            relative = file.relative_to(ROOT)
            parents = [ROOT.joinpath(*relative.parts[: i + 1]) for i in range(len(relative.parts))]
            if (
                file.suffix in (".py", ".md")
                and not any(parent.is_symlink() for parent in parents)
                and relative.as_posix() not in GENERATED
            ):
                yield file


def main() -> None:
    """Print findings; exit with 1 if there is one."""
    parser = argparse.ArgumentParser(prog="python -m tools.prose", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="files and folders")
    options = parser.parse_args()
    words = rejected((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    paths = [path.resolve() for path in options.paths] or [ROOT / name for name in FOLDERS]
    found = [
        finding
        for path in files(paths)
        for finding in findings(path.relative_to(ROOT), path.read_text(encoding="utf-8"), words)
    ]
    for finding in sorted(found):
        print(finding)
    if found:
        sys.exit(f"{len(found)} rejected words; CONTRIBUTING.md, section Prose, says what to write")


if __name__ == "__main__":
    main()
