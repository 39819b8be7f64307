"""The findings of a traced kernel, both from tracing and from the verification passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts.portability import FOUND_IN_TRACE, PORTABLE, is_of_source
from nkijit.dialects.rule_texts.text import RuleText, WarningGroup
from nkijit.host.installed import is_library_file
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings, by_weight, collapse
from nkijit.passes.diagnostics.suppression import lines_of, suppress
from nkijit.traced.call_names import as_user_call
from nkijit.traced.fixes import with_fix


def found_by_passes(
    kernels: Sequence[KernelOp], recorded: Sequence[Diagnostic], *, complete: bool = True
) -> list[Diagnostic]:
    """Return the findings of the verification passes, without advice."""
    # Imported for the first kernel that is verified, not with the kernel's file.
    from nkijit.passes.verify.passes import WHOLE, find_all
    from nkijit.passes.verify.verdicts import remembered

    # After an error, tracing has left an instruction out, and passes that need the complete program
    # would report follow-up errors.
    broken = any(d.severity == "error" for d in recorded)
    passes = [p for p in WHOLE if not (broken and p.NEEDS_ALL)]

    def find() -> list[Diagnostic]:
        return find_all(kernels, passes, advise=False, suspect=complete)

    return find() if broken or not complete else remembered(kernels, find)


def findings(
    kernels: Sequence[KernelOp],
    recorded: Sequence[Diagnostic],
    *,
    complete: bool = True,
    advise: bool = True,
    found: Sequence[Diagnostic] | None = None,
) -> Findings:
    """Return the findings of tracing and of the passes, in the order of `by_weight`.

    Args:
        kernels: the program of each core.
        recorded: the findings of tracing.
        complete: whether the kernel was traced to its end.
        advise: whether to add advice; only complete kernels without errors get advice.
        found: the result of `found_by_passes`, if the caller has it already.
    """
    from nkijit.passes.verify.passes import WHOLE, with_advice

    advise = advise and complete and all(d.severity != "error" for d in recorded)
    if found is None:
        found = found_by_passes(kernels, recorded, complete=complete)
    if advise:
        found = with_advice(found, kernels)
    found = [*collapse(dict.fromkeys(recorded)), *found]
    # Some rules are checked only in complete kernels without errors.
    unchecked: set[RuleText] = set()
    is_right = complete and all(d.severity != "error" for d in found)
    for verification in WHOLE:
        unchecked.update(() if is_right else verification.SUSPECTED)
        unchecked.update(() if is_right and advise else verification.ADVICE)
    found = [d for d in found if d.rule not in unchecked]

    def is_checked(rule: RuleText) -> bool:
        # Rules of `FOUND_IN_TRACE` are checked only for a requested release.
        of_release = is_of_source(rule) or rule in FOUND_IN_TRACE
        return complete and not of_release and rule not in unchecked

    return shown(found, kernels, is_checked)


def shown(
    found: Sequence[Diagnostic], kernels: Sequence[KernelOp], is_checked: Callable[[RuleText], bool]
) -> Findings:
    """Return the findings that are not suppressed, errors first, reworded for the user's calls.

    `is_checked` returns whether every check that can report a rule has run. Only then can a comment
    that suppresses the rule be reported as unused.
    """
    unsuppressed = suppress(found, lines_of(kernels), is_checked)
    own = [moved for finding in unsuppressed if (moved := _in_users_file(finding)) is not None]
    if not own:
        return Findings()
    from nkijit.traced.source_loops import with_loops

    return Findings(with_fix(with_loops(as_user_call(d))) for d in by_weight(own))


_ABOUT_FILES = (PORTABLE, "lint", "suppression")
"""Categories of rules whose warnings, unless suspicious, concern only the file's author."""


def _in_users_file(finding: Diagnostic) -> Diagnostic | None:
    """Return a warning at a line that the user can change; None if it does not concern the user.

    A warning in an installed package moves to the user's call of the package. If the package
    contains the kernel itself, warnings are not moved, and those on portability and about comments
    are left out.
    """
    where = finding.where
    if finding.severity == "error" or not where or not is_library_file(where[0].file):
        return finding
    own = next((n for n, place in enumerate(where) if not is_library_file(place.file)), None)
    category = finding.rule.category
    is_advice = category in _ABOUT_FILES and finding.group is not WarningGroup.suspicious
    if is_advice and (own is not None or category != "lint"):
        return None
    if own is None:
        return finding
    notes = (*finding.notes, f"found in an installed package, at {where[0]}")
    return replace(finding, where=where[own:], marked=(), notes=notes)
