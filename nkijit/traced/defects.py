"""Warnings about instructions that a release of NKI is known to get wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts.portability import PORTABLE_DEFECT
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings, collapse
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.verify.defects import MATCHERS
from nkijit.releases.defects import Defect, defects
from nkijit.releases.table import Release, release
from nkijit.traced.call_names import as_user_call
from nkijit.traced.findings import shown


def known_defects(kernels: Sequence[KernelOp], nki: str | None = None) -> Findings:
    """Return a warning for each instruction with a known defect in a release.

    Args:
        kernels: the program of each core.
        nki: the version of the release, e.g. `0.5`; the newest by default.

    Raises ValueError for an unknown version.
    """
    used = release(nki)
    affecting = [defect for defect in defects() if defect.affects(used)]
    found = [
        finding
        for defect in affecting
        for kernel in kernels
        for finding in _found(defect, kernel, used)
    ]
    # A comment that suppresses a warning may be for another release, so none is unused.
    return shown(collapse(dict.fromkeys(found)), kernels, lambda rule: False)


def _found(defect: Defect, kernel: KernelOp, used: Release) -> Iterator[Diagnostic]:
    called = set[tuple[Position, ...]]()
    for op, operands in MATCHERS[defect.id](kernel):
        finding = diagnose(
            PORTABLE_DEFECT,
            op,
            f"in {used} {defect.text}",
            operands,
            notes=[f"{defect.id}: a defect of {defect.affected} ({defect.source})"],
            help=defect.help,
        )
        if not defect.calls:
            yield finding
        # A call can have several instructions.
        elif as_user_call(finding).subject in defect.calls and finding.where not in called:
            called.add(finding.where)
            yield finding
