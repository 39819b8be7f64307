"""Assertions about the findings of a kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.spelling import did_you_mean, numbered
from nkijit.kernels.kernel import Kernel
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings, render
from nkijit.testing.kernels import Inputs, findings_of
from nkijit.traced.kernel import TracedKernel
from nkijit.tracing.tracebacks import without_own_frames


@without_own_frames
def assert_findings(
    kernel: TracedKernel | Kernel | Findings, *expected: str, inputs: Inputs | None = None
) -> None:
    """Assert that a kernel has exactly these findings, errors and warnings, in any order.

    Args:
        kernel: a traced kernel, a kernel with `inputs`, or findings (`error.diagnostics`). If
            findings abort the trace, these are compared.
        expected: the id of each finding's rule, with the line if it matters: `"both-in-psum"`,
            `"both-in-psum@14"`, `"both-in-psum@kernel.py:14"`. Equal findings in several iterations
            of a loop count as one.
        inputs: the arguments to trace a kernel with.

    Raises:
        AssertionError: findings are missing or unexpected; the message lists them.
        ValueError: `expected` does not name a rule.

    Example:

        >>> import nkijit as nki, nkijit.isa as nisa, nkijit.language as nl, nkijit.testing
        >>> @nki.jit
        ... def kernel(x):
        ...     out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        ...     nisa.tensor_copy(dst=out, src=x)  # moves tiles on the chip only
        ...     return out
        >>> nkijit.testing.assert_findings(kernel, "buffer", inputs=["128x512:float32"])
    """
    __tracebackhide__ = True
    wanted = [_Expected.of(text) for text in expected]
    surplus = list(findings_of(kernel, inputs))
    missing: list[_Expected] = []
    # The most specific expectations are matched first, as fewer findings fit them.
    for one in sorted(wanted, key=lambda e: (e.line is None, -len(e.file))):
        found = next((d for d in surplus if one.is_met_by(d)), None)
        if found is None:
            missing.append(one)
        else:
            surplus.remove(found)
    if missing or surplus:
        raise AssertionError(_message(missing, surplus))


@without_own_frames
def assert_no_findings(
    kernel: TracedKernel | Kernel | Findings,
    *,
    inputs: Inputs | None = None,
    warnings: bool = True,
) -> None:
    """Assert that a kernel has no findings; with `warnings=False`, that it has no errors.

    The arguments are those of `assert_findings`.

    Raises:
        AssertionError: the message has all findings.

    Example:

        >>> import nkijit as nki, nkijit.isa as nisa, nkijit.language as nl, nkijit.testing
        >>> @nki.jit
        ... def kernel(x):
        ...     out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        ...     nisa.dma_copy(dst=out, src=x)
        ...     return out
        >>> nkijit.testing.assert_no_findings(kernel, inputs=["128x512:float32"])
    """
    __tracebackhide__ = True
    found = findings_of(kernel, inputs)
    counted = [d for d in found if warnings or d.severity == "error"]
    if counted:
        raise AssertionError(_message([], counted))


@dataclass(frozen=True)
class _Expected:
    text: str
    rule: str
    file: str
    """The end of the path of the finding's file; empty for any file."""
    line: int | None

    @classmethod
    def of(cls, text: str) -> _Expected:
        match = _EXPECTED.fullmatch(text)
        if match is None:
            raise ValueError(
                f"expected a rule with or without a line, e.g. 'both-in-psum@14' or "
                f"'both-in-psum@kernel.py:14', got {text!r}"
            )
        rule = match["rule"]
        if rule not in RULE_TEXTS:
            hint = did_you_mean(rule, RULE_TEXTS)
            raise ValueError(f"there is no rule '{rule}'{hint}; nkijit explain --list has them all")
        line = int(match["line"]) if match["line"] else None
        return cls(text, rule, match["file"] or "", line)

    def is_met_by(self, found: Diagnostic) -> bool:
        if found.rule.id != self.rule:
            return False
        if self.line is None:
            return True
        if not found.where:
            return False
        where = found.where[0]
        path = where.file.replace("\\", "/")
        in_file = not self.file or path == self.file or path.endswith("/" + self.file)
        return in_file and where.line == self.line


_EXPECTED = re.compile(r"(?P<rule>[\w-]+)(@((?P<file>.+):)?(?P<line>\d+))?")


def _message(missing: Sequence[_Expected], surplus: Sequence[Diagnostic]) -> str:
    parts: list[str] = []
    if missing:
        count = len(missing)
        parts.append(f"{count} expected finding{'s are' if count > 1 else ' is'} missing:")
        for one in missing:
            parts.append(f"  {one.text}: {RULE_TEXTS[one.rule].sentence}")
            parts += [
                f"    it is found elsewhere: {found.where[0] if found.where else 'without a place'}"
                for found in surplus
                if found.rule.id == one.rule
            ]
    if surplus:
        parts.append(f"{numbered(len(surplus), 'finding')} nobody expected:\n")
        parts.append(render(surplus))
    return "\n".join(parts)
