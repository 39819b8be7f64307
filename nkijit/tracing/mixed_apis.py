"""The finding for a kernel that calls functions of the other API: `nki` or `neuronxcc.nki`."""

from __future__ import annotations

import ast
from types import FrameType

from nkijit.dialects.rule_texts.python import MIXED_APIS
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.places import Position
from nkijit.tracing.api_names import MODULES, ApiName, api_name_of
from nkijit.tracing.locations import value_of


def mixed_apis(name: ApiName, where: tuple[Position, ...]) -> Diagnostic:
    """Return the finding for a function that is not of the kernel's API.

    Args:
        name: the function.
        where: the positions of the calls, the innermost first.
    """
    own = name.other
    module = f"import {own.package}.{MODULES[name.short]} as {name.short}"
    return Diagnostic(
        MIXED_APIS,
        f"it is of {name.api}, but the kernel's nki.jit is of {own.api}",
        name.in_findings,
        where,
        help=f"for a kernel of {name.api}, write {name.as_import}; for one of {own.api}, {module}",
    )


def other_api_called(
    node: ast.AST | None, frame: FrameType | None, *, classic: bool
) -> ApiName | None:
    """Return the function that a call in a kernel names, if the kernel's API does not have it.

    Args:
        node: the call in the source.
        frame: the frame with the variables of the call.
        classic: whether the kernel is of the classic API.
    """
    if frame is None or not isinstance(node, ast.Call):
        return None
    name = api_name_of(value_of(node.func, frame))
    if name is None or name.is_classic == classic or name.value is name.other.value:
        return None
    return name
