"""Checks of a kernel's names, arguments and Python constructs against one release of NKI.

nkijit runs a kernel as Python and has the API of all releases. Up to NKI 0.6 the vendor compiles
the source, and its language guide describes the supported part of Python; later releases trace
kernels as well. This package reads the source of a kernel, and of the user's functions and classes
that it uses. It reports names and arguments that the release lacks, and constructs that its guide
excludes. Constructs that the guide does not mention (lambdas, comprehensions, `enumerate`) are not
reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nkijit.dialects.rule_texts.portability import (
    FOUND_BY_TRACING,
    FOUND_IN_TRACE,
    PORTABLE,
)
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.passes.diagnostics.findings import Findings, in_source_order
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.suppression import suppress
from nkijit.reference.portability.check import KernelChecker
from nkijit.releases.table import is_held, release


def portability(
    function: Callable[..., Any], arguments: Mapping[str, Any], nki: str | None = None
) -> Findings:
    """Return warnings about a kernel's function and the arguments of a call.

    Args:
        function: the kernel's function.
        arguments: the arguments of the call, by name.
        nki: the version of the NKI release, e.g. `0.5`; the newest by default.

    The findings are in source order; those in called functions are sorted by the call. Raises
    ValueError for an unknown version.
    """
    target_release = release(nki)
    check = KernelChecker(target_release)
    name = getattr(function, "__name__", type(function).__name__)
    subject = f"kernel '{name}'"
    code = getattr(function, "__code__", None)
    start = () if code is None else (Position(code.co_filename, code.co_firstlineno, 1),)
    check.function(function, subject, (), is_kernel=True)
    for argument, value in arguments.items():
        check.argument(argument, value, subject, start)

    def is_checked(rule: RuleText) -> bool:
        of_trace = rule in FOUND_BY_TRACING or rule in FOUND_IN_TRACE
        is_source_rule = rule.category == PORTABLE and not of_trace
        return is_source_rule and is_held(rule.id, target_release)

    found = suppress(check.found, check.checked_lines, is_checked)
    return Findings(in_source_order(found))
