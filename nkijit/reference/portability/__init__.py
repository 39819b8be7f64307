"""What in a kernel a release of NKI would not take: names, arguments, parts of Python.

nkijit runs a kernel as Python, and has what any release brought. Up to NKI 0.6 the vendor compiles
the source, and its language guide names the part of Python that it knows; later releases trace
the kernel, too. This module reads the source of a kernel, and of the author's functions and
classes that it uses, for what a release does not have and what its guide rules out. What the
guide does not mention (lambdas, comprehensions, `enumerate`) is not reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nkijit.dialects.rule_texts.portability import FOUND_BY_TRACING, PORTABLE
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.passes.diagnostics.findings import Findings, in_source_order
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.suppression import suppress
from nkijit.reference.portability.check import KernelChecker
from nkijit.releases.table import is_held, release


def portability(
    function: Callable[..., Any], arguments: Mapping[str, Any], nki: str | None = None
) -> Findings:
    """Warnings about a kernel's function, and about arguments that it is called with.

    In the order of the kernel's source; findings in functions that it calls stand at the call.
    They are about the release of NKI with the version `nki`, the newest by default; ValueError
    for an unknown one.
    """
    judged_for = release(nki)
    check = KernelChecker(judged_for)
    name = getattr(function, "__name__", type(function).__name__)
    subject = f"kernel '{name}'"
    code = getattr(function, "__code__", None)
    start = () if code is None else (Position(code.co_filename, code.co_firstlineno, 1),)
    check.function(function, subject, (), is_kernel=True)
    for argument, value in arguments.items():
        check.argument(argument, value, subject, start)

    def judged(rule: RuleText) -> bool:
        judged_here = rule.category == PORTABLE and rule not in FOUND_BY_TRACING
        return judged_here and is_held(rule.id, judged_for)

    found = suppress(check.found, check.looked_at, judged)
    return Findings(in_source_order(found))
