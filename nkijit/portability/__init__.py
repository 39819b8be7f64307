"""Which parts of Python in a kernel the vendor's compiler would not take.

nkijit runs a kernel as Python, so it takes all of it. The vendor compiles the source, and its
language guide names the part of Python that it knows. This module reads the source of a kernel,
and of the author's functions and classes that it uses, for what the guide rules out. What the
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
from nkijit.portability.check import KernelChecker


def portability(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Findings:
    """Warnings about a kernel's function, and about arguments that it is called with.

    In the order of the kernel's source; findings in functions that it calls stand at the call.
    """
    check = KernelChecker()
    name = getattr(function, "__name__", type(function).__name__)
    subject = f"kernel '{name}'"
    code = getattr(function, "__code__", None)
    start = () if code is None else (Position(code.co_filename, code.co_firstlineno, 1),)
    check.function(function, subject, (), is_kernel=True)
    for argument, value in arguments.items():
        check.argument(argument, value, subject, start)

    def judged(rule: RuleText) -> bool:
        return rule.category == PORTABLE and rule not in FOUND_BY_TRACING

    found = suppress(check.found, check.looked_at, judged)
    return Findings(in_source_order(found))
