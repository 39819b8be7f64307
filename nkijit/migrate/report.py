"""The report of a migration, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from nkijit.dialects.spelling import numbered
from nkijit.migrate.rewriting import Rewrite
from nkijit.migrate.rules import RULES
from nkijit.passes.diagnostics.fields import ShownFields


@dataclass(repr=False)
class KernelReport(ShownFields):
    """The result for one kernel."""

    name: str
    line: int
    how: str = ""
    """The result: `rewritten` in place, `exported` from its trace, or `left` unchanged."""
    why: str = ""
    """The reason why the kernel was not rewritten in place."""
    why_line: int | None = None
    agreements: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    """The sets of arguments for which the old and the new kernel agree bit by bit.

    Each with whether there is a proof for all inputs, not for random data alone.
    """
    unproven: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Pairs (arguments, reason) for which the kernels differ or were not compared."""
    is_part: bool = False
    """Whether other kernels call this kernel as a function.

    The comparisons of the calling kernels then include this kernel.
    """
    findings: list[str] = field(default_factory=list[str])
    """The findings of the portability check for the vendor's compiler."""

    @property
    def proven(self) -> list[str]:
        """The sets of arguments for which the old and the new kernel agree."""
        return [arguments for arguments, _ in self.agreements]

    @property
    def for_all(self) -> list[bool]:
        """For each of `proven`, whether there is a proof for all inputs."""
        return [is_proof for _, is_proof in self.agreements]

    @property
    def is_done(self) -> bool:
        """Whether no manual work remains."""
        return self.how != "left" and not self.unproven and not self.findings


@dataclass(repr=False)
class Report:
    """The result for a module; `str()` is the command's output."""

    path: str
    kernels: list[KernelReport] = field(default_factory=list[KernelReport])
    rewrites: list[Rewrite] = field(default_factory=list[Rewrite])
    left: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """(line, reason) for lines of the module that need manual work."""
    notes: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def is_done(self) -> bool:
        """Whether all kernels are migrated and compared, and no manual work remains."""
        return not self.left and all(kernel.is_done for kernel in self.kernels)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"<migration of {self.path}: {list(self._lines())[-1]}>"

    def _lines(self) -> Iterator[str]:
        for rewrite in self.rewrites:
            yield f"{self.path}:{rewrite.line}: {RULES[rewrite.rule].short}: {rewrite.before}"
        for kernel in self.kernels:
            yield from self._of_kernel(kernel)
        for line, note in self.notes:
            yield f"{self.path}:{line}: {note}"
        for line, text in self.left:
            yield f"{self.path}:{line}: left to do: {text}"
        if not self.kernels:
            yield f"{numbered(len(self.rewrites), 'rewrite')}, {len(self.left)} left to do"
            return
        counts = Counter(kernel.how for kernel in self.kernels)
        words = [f"{counts[how]} {how}" for how in ("rewritten", "exported", "left") if counts[how]]
        total = len(self.kernels)
        proven = sum(1 for k in self.kernels if (k.proven or k.is_part) and not k.unproven)
        yield (
            f"{numbered(total, 'kernel')}: {', '.join(words) or 'none'}; {proven} proven bit by bit"
        )

    def _of_kernel(self, kernel: KernelReport) -> Iterator[str]:
        head = f"{self.path}:{kernel.line}: {kernel.name}: {kernel.how}"
        if kernel.why:
            at = f" (line {kernel.why_line})" if kernel.why_line else ""
            head += f": {kernel.why}{at}"
        yield head
        for arguments, is_proof in kernel.agreements:
            inputs = "for all inputs" if is_proof else "on random inputs"
            yield f"    agrees bit by bit, {inputs}, at {arguments or 'no arguments'}"
        for arguments, why in kernel.unproven:
            yield f"    not proven at {arguments}: {why}"
        for finding in kernel.findings:
            yield f"    {finding}"

    def document(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "file": self.path,
            "done": self.is_done,
            "kernels": [
                {
                    "name": k.name,
                    "line": k.line,
                    "how": k.how,
                    "why": k.why or None,
                    "whyLine": k.why_line,
                    "proven": k.proven,
                    "forAllInputs": k.for_all,
                    "unproven": [{"arguments": a, "why": w} for a, w in k.unproven],
                    "findings": k.findings,
                }
                for k in self.kernels
            ],
            "rewrites": [
                {"line": r.line, "rule": r.rule, "before": r.before} for r in self.rewrites
            ],
            "left": [{"line": line, "what": text} for line, text in self.left],
            "notes": [{"line": line, "what": text} for line, text in self.notes],
        }


__all__ = ["KernelReport", "Report"]
