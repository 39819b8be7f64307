"""Warnings about instructions that a release of NKI gets wrong, and results that it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.rule_texts.portability import PORTABLE_DEFECT, PORTABLE_OUTPUT
from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings, collapse
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.verify.defects import MATCHERS
from nkijit.releases.defects import Defect, defects
from nkijit.releases.table import Release, is_held, release
from nkijit.traced.call_names import as_user_call
from nkijit.traced.findings import shown


def known_defects(kernels: Sequence[KernelOp], nki: str | None = None) -> Findings:
    """Return a warning for each instruction and result that a release gets wrong or refuses.

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
    if is_held(PORTABLE_OUTPUT.id, used):
        found += [finding for kernel in kernels for finding in _outputs(kernel)]
    # A comment that suppresses a warning may be for another release, so none is unused.
    return shown(collapse(dict.fromkeys(found)), kernels, lambda rule: False)


def _outputs(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a warning for each tensor that a kernel of the current API returns in private HBM."""
    if kernel.classic is not None:
        return
    for value in dict.fromkeys(base_of(value) for value in kernel.return_op.values):
        owner = value.owner
        if isinstance(owner, AllocOp) and info_of(value).region is MemoryRegion.private_hbm:
            message = f"'{value.name_hint or '?'}' is returned, and is in private_hbm"
            yield diagnose(PORTABLE_OUTPUT, owner, message)


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
