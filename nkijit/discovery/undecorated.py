"""Detection of functions that call NKI's API but lack the decorator of a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from nkijit.tracing.api_names import ApiName, api_module_of, api_name_of
from nkijit.tracing.dtype_names import CURRENT
from nkijit.tracing.locations import definition_of


def without_decorator(module: ModuleType, name: str | None = None) -> str:
    """Return a sentence about functions of a file that lack `@nki.jit`; empty if there are none.

    Args:
        module: the executed file.
        name: the name of a function; by default, all functions that use nl or nisa.
    """
    found = [
        f"{function.__name__}() at line {definition_of(function.__code__).line}"
        for function in _functions(module)
        if (_generation(function) if name is None else function.__name__ == name)
    ]
    if not found:
        return ""
    listed = " and ".join(filter(None, (", ".join(found[:-1]), found[-1])))
    are, each = ("is", "it") if len(found) == 1 else ("are", "each kernel")
    used = [_generation(function) for function in _functions(module)]
    generation = next((each for each in used if each), CURRENT)
    return f"{listed} {are} not decorated: write {_decorator(module, generation)} above {each}"


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in vars(module).values():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            yield value


def _generation(function: FunctionType) -> str:
    """Return the name of the API package that a function uses; empty if it uses none."""
    for name in function.__code__.co_names:
        value: Any = function.__globals__.get(name)
        module = api_module_of(value)
        if module is not None:
            return module[0]
        member = api_name_of(value)
        if member is not None:
            return member.generation
    return ""


def _decorator(module: ModuleType, generation: str) -> str:
    """Return the text of the decorator, with the import of the API package if it is missing."""
    for name, value in vars(module).items():
        if isinstance(value, ModuleType) and value.__name__ == generation:
            return f"@{name}.jit"
    return f"@nki.jit, with {ApiName(generation, '', '').as_import},"
