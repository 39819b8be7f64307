"""Names of the classic API in a module, and their current names."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from enum import Enum
from functools import cache
from types import ModuleType
from typing import Any

from nkijit import classic, isa, language
from nkijit.classic.isa import constants as classic_words
from nkijit.dialects.declare.kinds import operator_word
from nkijit.dialects.hardware import words
from nkijit.tracing.dtype_names import as_dtype

MODULES: Mapping[str, ModuleType] = {
    "nl": classic.language,
    "nisa": classic.isa,
    "nki": classic,
    "nki.compiler": classic.compiler,
}
"""The modules of the classic API by their usual names in kernels."""

TODAY: Mapping[str, ModuleType] = {"nl": language, "nisa": isa}

UNKNOWN = object()


@cache
def _canonical() -> dict[int, tuple[str, str]]:
    found: dict[int, tuple[str, str]] = {}
    for module, value in MODULES.items():
        for name in dir(value):
            item = getattr(value, name)
            if not name.startswith("_") and not isinstance(item, (ModuleType, int, float, str)):
                found.setdefault(id(item), (module, name))
    return found


def api_name(value: Any) -> tuple[str, str] | None:
    """Return module and name of an object of the classic API, e.g. `("nl", "load")`."""
    return _canonical().get(id(value))


def value_of(node: ast.AST, names: Mapping[str, Any]) -> Any:
    """Return the value of a dotted name; UNKNOWN for other expressions."""
    if isinstance(node, ast.Name):
        return names.get(node.id, UNKNOWN)
    if isinstance(node, ast.Attribute):
        owner = value_of(node.value, names)
        if owner is UNKNOWN:
            return UNKNOWN
        try:
            return getattr(owner, node.attr)
        except Exception:
            return UNKNOWN
    return UNKNOWN


def operator_text(value: Any, nl: str) -> str | None:
    """Return e.g. `nl.add` for an operator of either API; None for other values."""
    word = operator_word(value)
    return f"{nl}.{word}" if word is not None and hasattr(language, word) else None


def dtype_text(value: Any, nl: str) -> str | None:
    """Return e.g. `nl.float32` for a dtype of either API; None for other values."""
    try:
        name = as_dtype(value).name
    except Exception:
        return None
    return f"{nl}.{name}" if hasattr(language, name) else None


def member_text(argument: str, value: Any, nisa: str) -> str | None:
    """Return the text of an enumeration's member in the current API, e.g. `nisa.dge_mode.swdge`.

    `value` is the member or its number; `argument` is the name of the argument that received it.
    """
    member = classic_words.as_member(argument, value)
    if isinstance(member, Enum) and hasattr(words, argument) and hasattr(isa, argument):
        return f"{nisa}.{argument}.{member.name}"
    return None


__all__ = [
    "MODULES",
    "TODAY",
    "UNKNOWN",
    "api_name",
    "dtype_text",
    "member_text",
    "operator_text",
    "value_of",
]
