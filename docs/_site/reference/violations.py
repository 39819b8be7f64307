"""Programs that break rules: those of tests/lit, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from docs._site import ROOT
from nkijit.ir_text import launches_of, parse
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.traced import TracedKernel


@dataclass(frozen=True)
class Violation:
    """A kernel that breaks a rule."""

    file: str
    """The test that has it, below the top of the repository."""
    kernel: str
    """The kernel as text."""
    says: str
    """The headline of the finding."""
    subject: str
    """The instruction, or the construct, that it is about."""


Violations = Mapping[tuple[str, str], Violation]
"""By subject and rule: the shortest of the kernels that break it."""


def violations() -> Violations:
    """The first kernel among the lit tests for each rule of each instruction."""
    found: dict[tuple[str, str], Violation] = {}
    for path in sorted((ROOT / "tests" / "lit").rglob("*.mlir")):
        for violation, rule in _of_file(path):
            known = found.get((violation.subject, rule))
            if known is None or len(violation.kernel) < len(known.kernel):
                found[violation.subject, rule] = violation
    return found


def of_rule(found: Violations, rule: str) -> Violation | None:
    """The shortest kernel that breaks a rule, whichever instruction does."""
    fitting = [v for (_, broken), v in found.items() if broken == rule]
    return min(fitting, key=lambda v: (len(v.kernel), v.file), default=None)


def _of_file(path: Path) -> Iterator[tuple[Violation, str]]:
    text = path.read_text(encoding="utf-8")
    if "\n// -----\n" in text or (not text.isascii() and "\0" in text):
        return  # a file of several texts
    lines = text.split("\n")
    try:
        module = parse(text, str(path))
    except Exception:  # what cannot be read is what such a test is about
        return
    for kernels in launches_of(module).values():
        for finding in TracedKernel(module, (), kernels).diagnostics:
            kernel = _kernel_around(lines, finding)
            if kernel:
                headline = f"{finding.severity}[{finding.rule.id}]: {finding.subject}"
                name = path.relative_to(ROOT).as_posix()
                says = f"{headline}: {finding.message}"
                yield Violation(name, kernel, says, finding.subject), finding.rule.id


def _kernel_around(lines: list[str], finding: Diagnostic) -> str:
    """The text of the kernel that a finding is in; empty where that cannot be told."""
    if not finding.where:
        return ""
    first = last = min(finding.where[-1].line, len(lines)) - 1
    while first and not lines[first].startswith("nki.kernel"):
        first -= 1
    while last < len(lines) - 1 and lines[last] != "}":
        last += 1
    kernel = [line for line in lines[first : last + 1] if not line.strip().startswith("//")]
    return "\n".join(kernel) if kernel[0].startswith("nki.kernel") else ""
