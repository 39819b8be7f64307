"""Kernels of tests/lit that violate rules, with their findings."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from docs._site import ROOT
from nkijit.ir.text import launches_of, parse
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.traced.kernel import TracedKernel


@dataclass(frozen=True)
class Violation:
    """A kernel that violates a rule."""

    file: str
    """The path of the test in the repository."""
    kernel: str
    """The kernel as text."""
    headline: str
    """The headline of the finding."""
    subject: str
    """The instruction or construct of the finding."""
    language: str = "mlir"
    """`mlir`, or `python` for rules that only tracing checks."""


Violations = Mapping[tuple[str, str], Violation]
"""The shortest kernel with a violation, by subject and rule."""


def violations() -> Violations:
    """Return the shortest kernel among the lit tests for each rule of each instruction.

    Kernels in Python are used only for rules that no kernel in IR violates.
    """
    found: dict[tuple[str, str], Violation] = {}
    for path in sorted((ROOT / "tests" / "lit").rglob("*.mlir")):
        for violation, rule in _of_file(path):
            known = found.get((violation.subject, rule))
            if known is None or len(violation.kernel) < len(known.kernel):
                found[violation.subject, rule] = violation
    of_ir = {rule for _, rule in found}
    for path in sorted((ROOT / "tests" / "lit").rglob("*.py")):
        for violation, rule in _of_python(path):
            if rule not in of_ir:
                found.setdefault((violation.subject, rule), violation)
    return found


def of_rule(found: Violations, rule: str) -> Violation | None:
    """Return the shortest kernel that violates a rule with any instruction."""
    fitting = [v for (_, broken), v in found.items() if broken == rule]
    return min(fitting, key=lambda v: (len(v.kernel), v.file), default=None)


def _of_file(path: Path) -> Iterator[tuple[Violation, str]]:
    text = path.read_text(encoding="utf-8")
    if "\n// -----\n" in text or (not text.isascii() and "\0" in text):
        return  # a file with several texts
    lines = text.split("\n")
    try:
        module = parse(text, str(path))
    except Exception:  # a test of parse errors
        return
    for kernels in launches_of(module).values():
        for finding in TracedKernel(module, (), kernels).diagnostics:
            kernel = _kernel_around(lines, finding)
            if kernel:
                prefix = f"{finding.severity}[{finding.rule.id}]: {finding.subject}"
                name = path.relative_to(ROOT).as_posix()
                headline = f"{prefix}: {finding.message}"
                yield Violation(name, kernel, headline, finding.subject), finding.rule.id


_RUN = re.compile(r"# RUN: (?:not )?nkijit verify [^|\n]*%s:(\w+)[^|\n]*\|([^\n]*)")
_PREFIX = re.compile(r"--check-prefix=(\w+)")


_EXPECTED = r"^\s*# {prefix}(?:-[A-Z]+)?: *((?:error|warning)\[([\w-]+)\]: (?:([\w.]+): )?.*)$"


def _of_python(path: Path) -> Iterator[tuple[Violation, str]]:
    """Yield the functions of a lit test with the findings that its CHECK lines expect."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    shown = path.relative_to(ROOT).as_posix()
    prefixes = dict(_RUN.findall(text))
    for node in ast.parse(text).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        own = lines[first - 1 : node.end_lineno]
        expected = re.findall(_EXPECTED.format(prefix="[A-Z]+"), "\n".join(own), re.M)
        if node.name in prefixes:
            match = _PREFIX.search(prefixes[node.name])
            prefix = "CHECK" if match is None else match[1]
            expected += re.findall(_EXPECTED.format(prefix=prefix), text, re.M)
        kernel = "\n".join(each for each in own if not re.match(r"\s*# [A-Z]+(-[A-Z]+)?:", each))
        for pattern, rule, subject in expected:
            headline = re.sub(r"\{\{.*?\}\}", "…", pattern)
            yield Violation(shown, textwrap.dedent(kernel), headline, subject, "python"), rule


def _kernel_around(lines: list[str], finding: Diagnostic) -> str:
    """Return the text of the kernel with a finding; "" if it is not found."""
    if not finding.where:
        return ""
    first = last = min(finding.where[-1].line, len(lines)) - 1
    while first and not lines[first].startswith("nki.kernel"):
        first -= 1
    while last < len(lines) - 1 and lines[last] != "}":
        last += 1
    kernel = [line for line in lines[first : last + 1] if not line.strip().startswith("//")]
    return "\n".join(kernel) if kernel[0].startswith("nki.kernel") else ""
