"""`nkijit verify --fix`: edits of the source that make findings vanish."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nkijit.cli.selection import STANDARD_INPUT, Selection
from nkijit.discovery.config import split_kernel
from nkijit.discovery.errors import UsageError
from nkijit.discovery.python_files import run_unsaved
from nkijit.discovery.selection import Chosen, KernelRequest, chosen_of
from nkijit.host.output_files import writing
from nkijit.passes.diagnostics.diagnostic import Diagnostic, Fix
from nkijit.passes.diagnostics.source_text import hold_text

Found = Sequence[tuple[str, Diagnostic]]
"""Findings, each with the label (`FILE:NAME`) of its kernel."""

_MOST_TOGETHER = 20
"""The maximum number of edits that are tried together."""


def fix_file(selection: Selection, find: Callable[[Sequence[Chosen]], Found]) -> list[str]:
    """Apply the edits of a file's findings and write the file. Returns a line for each edit.

    An edit is applied if its finding vanishes and no new finding appears. New warnings are allowed
    in a kernel that had errors. An edit that causes other new findings is applied together with the
    edits that fix them, or not at all.

    Args:
        selection: the kernels of a Python file.
        find: returns the findings of kernels.

    Raises UsageError if the file is not a Python file, or is changed by another program.
    """
    path = Path(split_kernel(selection.file)[0])
    if selection.file == STANDARD_INPUT or selection.is_ir or not path.is_file():
        raise UsageError(f"--fix changes Python files, which {selection.file} is not")
    data = path.read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    file = _File(selection, path, data.decode(encoding), find)
    lines = file.improve()
    if file.text != file.original:
        if path.read_bytes() != data:
            raise UsageError(f"{path} was changed by another program; nothing is written")
        with writing(path) as opened:
            opened.write(file.text.encode(encoding))
    hold_text(str(path), file.text)
    return lines


@dataclass(frozen=True, slots=True)
class _Better:
    """A text of the file that has fewer findings, and the edits that produced it."""

    text: str
    found: Found
    edits: tuple[tuple[Fix, Diagnostic], ...]


class _File:
    """The text of a file, and the findings of its kernels."""

    def __init__(
        self,
        selection: Selection,
        path: Path,
        text: str,
        find: Callable[[Sequence[Chosen]], Found],
    ):
        self._selection, self._path, self._find = selection, path, find
        self.original = self.text = text
        self._failed: set[str] | None = None
        """Labels of the kernels that cannot be traced even without edits; None until checked."""

    def improve(self) -> list[str]:
        """Apply edits while each improves the text. Returns a line of output for each edit."""
        lines: list[str] = []
        before = self._check(self.text)
        refused: set[tuple[str, Fix]] = set()
        while before is not None:
            open_fixes = ((d.fix, d) for _, d in before if self._is_own(d.fix))
            fix, finding = next(
                ((f, d) for f, d in open_fixes if f and (d.rule.id, f) not in refused), (None, None)
            )
            if fix is None or finding is None:
                break
            better = self._tried(self.text, before, before, (), finding)
            if better is None:
                refused.add((finding.rule.id, fix))
                lines.append(f"not applied, the findings would not be fewer: {_line(fix, finding)}")
                continue
            self.text, before = better.text, better.found
            lines += [f"fixed {_line(*edit)}" for edit in better.edits]
        return lines

    def _is_own(self, fix: Fix | None) -> bool:
        return fix is not None and fix.span.start.file == str(self._path)

    def _check(self, text: str) -> Found | None:
        """Return the findings of a text.

        Returns None if the text cannot be executed, or an edit makes the trace of a kernel fail.
        """
        path, name = split_kernel(self._selection.file)
        request = KernelRequest(
            self._selection.values, self._selection.target, self._selection.cores
        )
        try:
            kernels = chosen_of(run_unsaved(self._path, text), path, name, request)
        except Exception:  # of user code
            return None
        found: list[tuple[str, Diagnostic]] = []
        failed: set[str] = set()
        for kernel in kernels:
            try:
                found += self._find([kernel])
            except Exception:  # of user code, or missing arguments
                failed.add(kernel.label)
        self._failed = failed if self._failed is None else self._failed
        return found if failed <= self._failed else None

    def _tried(
        self,
        text: str,
        now: Found,
        before: Found,
        edits: tuple[tuple[Fix, Diagnostic], ...],
        finding: Diagnostic,
    ) -> _Better | None:
        """Apply the edit of a finding, and the edits of new findings until none is left.

        Returns None if this does not improve the text.

        Args:
            text: the text so far.
            now: the findings of this text.
            before: the findings of the text without any of the edits.
            edits: the edits so far.
            finding: the finding to fix.
        """
        changed = None if finding.fix is None else edited(text, finding.fix)
        after = None if changed is None else self._check(changed)
        if changed is None or after is None or finding.fix is None:
            return None
        edits = (*edits, (finding.fix, finding))
        was, is_now = _counts(before), _counts(after)
        # Kernels with errors get no advice, so warnings may be older than the edit.
        had_errors = {label for label, d in before if d.severity == "error"}
        new = Counter(
            {
                each: count
                for each, count in (is_now - was).items()
                if each[2] == "error" or each[0] not in had_errors
            }
        )
        key = next(key for key, d in zip(map(_key, now), now, strict=True) if d[1] is finding)
        if is_now[key] >= _counts(now)[key]:
            return None
        if not new:
            return _Better(changed, after, edits)
        further = [
            d for each in after if _key(each) in new for d in each[1:] if self._is_own(d.fix)
        ]
        if not further or len(edits) == _MOST_TOGETHER:
            return None
        return self._tried(changed, after, before, edits, further[0])


def _key(found: tuple[str, Diagnostic]) -> tuple[str, ...]:
    label, d = found
    return (label, d.rule.id, d.severity, d.subject, d.message)


def _counts(found: Found) -> Counter[tuple[str, ...]]:
    return Counter(map(_key, found))


def _line(fix: Fix, finding: Diagnostic) -> str:
    return f"{fix.span.start}: {fix} ({finding.rule.id})"


def edited(text: str, fix: Fix) -> str | None:
    """Return a text after an edit; None if the edited span does not contain the expected text."""
    # A line ends with any of the line ends of Python.
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    if fix.span.end_line > len(lines):
        return None
    start = sum(map(len, lines[: fix.span.start.line - 1])) + fix.span.start.column - 1
    end = sum(map(len, lines[: fix.span.end_line - 1])) + fix.span.end_column - 1
    if re.sub(r"\r\n?", "\n", text[start:end]) != fix.old:
        return None
    line = lines[fix.span.start.line - 1]
    new = fix.new.replace("\n", line[len(line.rstrip("\r\n")) :] or "\n")
    return f"{text[:start]}{new}{text[end:]}"
