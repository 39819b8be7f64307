"""The findings of a kernel with one set of arguments, for commands and servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nkijit.discovery.selection import Chosen, checked
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import Findings, by_weight
from nkijit.traced.kernel import TracedKernel


@dataclass(frozen=True, slots=True)
class Check:
    """The findings of a kernel, and its trace."""

    findings: Findings
    """All findings, errors first. The project's settings are not applied to them."""
    traced: TracedKernel | None
    """None if tracing stopped at an error, or arguments are unknown."""


def check(
    chosen: Chosen,
    values: Mapping[str, Any] | None,
    *passes: str,
    tensor_option: str = "-a {name}=128x512:float32",
    value_option: str = "-a {name}=2.0",
) -> Check:
    """Trace a kernel and return its findings, with those of portability if they are requested.

    Args:
        chosen: the kernel.
        values: its arguments by name; None checks only the portability of its source.
        passes: the names of the only passes to run, such as `verify-access`; all by default.
        tensor_option: how to add a missing tensor, for the message (see `checked`).
        value_option: how to add another missing value.

    Raises UsageError if the arguments are not those of the kernel, and exceptions of its code.
    """
    kernel = chosen.kernel
    known: dict[str, Any] = {}
    if values is not None:
        known = checked(kernel, dict(values), tensor_option, value_option, label=chosen.label)
    found = list(kernel.portability(nki=chosen.nki, **known)) if chosen.portable else []
    if values is None:
        return Check(Findings(found), None)
    try:
        traced = kernel.trace(**known)
    except NkiValidationError as error:  # tracing stopped at an error
        return Check(Findings(by_weight([*found, *error.diagnostics])), None)
    found += traced.find(*passes) if passes else traced.diagnostics
    found += traced.defects(chosen.nki) if chosen.portable else ()
    return Check(Findings(by_weight(found)), traced)
