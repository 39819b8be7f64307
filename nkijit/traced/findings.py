"""The findings of a traced kernel: those of tracing and those of the verification passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts.initialisation import (
    OUTPUT_PARTLY_UNWRITTEN,
    OUTPUT_UNWRITTEN,
    READ_UNWRITTEN,
    UNDEFINED_USE,
)
from nkijit.dialects.rule_texts.portability import FOUND_BY_TRACING, PORTABLE
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings, collapse, in_source_order
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.suppression import lines_of, suppress
from nkijit.passes.verify.passes import WHOLE, find_all, with_advice
from nkijit.traced.call_names import as_user_call
from nkijit.traced.fixes import with_fix


def found_by_passes(
    kernels: Sequence[KernelOp], recorded: Sequence[Diagnostic]
) -> list[Diagnostic]:
    """Return the findings of the verification passes, without advice."""
    # After an error, tracing has left an instruction out, and passes that need the complete program
    # would report follow-up errors.
    broken = any(d.severity == "error" for d in recorded)
    passes = [p for p in WHOLE if not (broken and p.NEEDS_ALL)]
    return find_all(kernels, passes, advise=False)


def findings(
    kernels: Sequence[KernelOp],
    recorded: Sequence[Diagnostic],
    *,
    complete: bool = True,
    advise: bool = True,
    found: Sequence[Diagnostic] | None = None,
) -> Findings:
    """Return the findings of tracing and of the passes, in source order.

    Args:
        kernels: the program of each core.
        recorded: the findings of tracing.
        complete: whether the kernel was traced to its end.
        advise: whether to add advice; only complete kernels without errors get advice.
        found: the result of `found_by_passes`, if the caller has it already.
    """
    advise = advise and complete and all(d.severity != "error" for d in recorded)
    found = found_by_passes(kernels, recorded) if found is None else found
    if advise:
        found = with_advice(found, kernels)
    found = [*collapse(dict.fromkeys(recorded)), *found]
    advised = advise and all(d.severity != "error" for d in found)
    advice = {rule for p in WHOLE for rule in p.ADVICE}
    if not advised:
        found = [d for d in found if d.rule not in advice]

    def is_checked(rule: RuleText) -> bool:
        of_trace = rule.category != PORTABLE or rule in FOUND_BY_TRACING
        return complete and of_trace and (advised or rule not in advice)

    return shown(found, kernels, is_checked)


_UNWRITTEN = (OUTPUT_UNWRITTEN, OUTPUT_PARTLY_UNWRITTEN, READ_UNWRITTEN, UNDEFINED_USE)


def of_one_program(found: Sequence[Diagnostic], alone: Position | None) -> list[Diagnostic]:
    """Add to findings about unwritten memory that other programs of a launch may write it.

    `alone`: the first `nl.program_id` of a kernel that is launched as one program.
    """
    if alone is None:
        return list(found)
    help = "launch with -c 2, in Python kernel[2](…), if the other program writes the rest"
    note = f"nl.program_id is 0 of 1 at {alone}"
    return [
        replace(d, notes=(*d.notes, note), help=f"{help}; else {d.help}")
        if d.rule in _UNWRITTEN
        else d
        for d in found
    ]


def shown(
    found: Sequence[Diagnostic], kernels: Sequence[KernelOp], is_checked: Callable[[RuleText], bool]
) -> Findings:
    """Return findings in source order, worded as the user's calls, without suppressed ones.

    `is_checked` returns whether every check that can report a rule has run. Only then can a comment
    that suppresses the rule be reported as unused.
    """
    unsuppressed = suppress(found, lines_of(kernels), is_checked)
    return Findings(with_fix(as_user_call(finding)) for finding in in_source_order(unsuppressed))
