"""Names of data types, and errors about names and arguments that the API does not have."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Hashable, Mapping
from importlib import import_module
from types import FrameType, ModuleType
from typing import Any, cast

import numpy as np

from nkijit.dialects.dtypes import DTYPES, DType
from nkijit.dialects.python_values import one_line
from nkijit.dialects.spelling import did_you_mean
from nkijit.passes.numerics.storage import dtype_called, is_plain
from nkijit.releases.table import removed_in, replacement
from nkijit.tracing.locations import evaluated

_named: dict[tuple[type[Any], Any], DType] = {}
"""Results of `as_dtype`, by class and value; a NumPy dtype's name is slow to compute."""


def as_dtype(value: Any) -> DType:
    """Return the data type that `value` names.

    Accepts NKI's names and the types of the same name in NumPy, ml_dtypes, PyTorch and JAX
    (`np.float32`, `ml_dtypes.bfloat16`, `torch.bfloat16`), also NumPy dtypes that equal an NKI
    type by name only (`dtype_called`). Raises ValueError otherwise.
    """
    kind = cast(type[Any], type(value))
    if issubclass(cast(Any, kind), np.dtype) and not is_plain(value):
        return _expected(value, dtype_called(value))
    try:
        known = _named.get((kind, value))
    except TypeError:  # not hashable, so not a data type either
        known = None
    if known is not None:
        return known
    if isinstance(value, str):
        name = value
    elif isinstance(value, type):
        name = value.__name__
    else:
        name = getattr(value, "name", None) or one_line(value)
    name = str(name).rpartition(".")[2]
    dtype = _expected(value, DTYPES.get("bool_" if name == "bool" else name))
    if isinstance(value, Hashable):
        _named[kind, value] = dtype
    return dtype


def _expected(value: Any, dtype: DType | None) -> DType:
    if dtype is None:
        raise ValueError(
            f"unknown data type {one_line(value)}; known: {', '.join(DTYPES)}{_suggestion(value)}"
        )
    return dtype


def _suggestion(value: Any) -> str:
    return did_you_mean(value, DTYPES) if isinstance(value, str) else ""


def missing(
    module: str, name: str, known: Mapping[str, Any], instead: Mapping[str, str] | None = None
) -> AttributeError:
    """Return the error for a name that a module does not have.

    Args:
        module: the module's public name, e.g. `nki.isa`.
        name: the missing name.
        known: the module's contents by name; similar names are suggested.
        instead: names of the vendor's module that nkijit does not model, and the reason for each.

    Names that NKI has removed, and their replacements, come from the table of releases.
    """
    if name.startswith("__"):  # read by Python's machinery, which handles the error
        return AttributeError(f"{module} has no {name!r}")
    public = f"{module}.{name}"
    removed, advice = removed_in(public), replacement(public)
    if removed is not None:
        return AttributeError(f"{public} was removed in {removed}{f'; {advice}' if advice else ''}")
    reason = (instead or {}).get(name)
    if reason:
        return AttributeError(f"{public} is not modelled by nkijit: {reason}")
    there = [
        each
        for each, value in known.items()
        if not each.startswith("_") and not isinstance(value, ModuleType)
    ]
    return AttributeError(f"{module} has no {name!r}{did_you_mean(name, there)}")


CURRENT, CLASSIC = "nkijit", "nkijit.classic"
"""The packages of the two API generations."""

_UNEXPECTED = re.compile(
    r"(?:([\w.]+)\(\) )?got an unexpected keyword argument '(\w+)'(?:\. Did you mean '\w+'\?)?$"
)
"""Python's error about an unexpected keyword argument, with the hint that Python 3.13 adds."""

_MISSING = re.compile(
    r"([\w.]+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: '(\w+)'"
)


def _note_missing(error: TypeError, generation: str) -> None:
    """Add the parameters of the function to Python's error about missing arguments."""
    match = _MISSING.search(str(error))
    names = [] if match is None else parameters_of(_called(error, match[1], generation))
    if match is None or not names:
        return
    note = f"it takes {', '.join(names)}"
    if names[0] == "dst":
        note += "; the result goes to 'dst', a tile that you allocate (nl.ndarray)"
    error.add_note(note)


def note_misspelling(error: TypeError, generation: str) -> None:
    """Add the parameters of the function to Python's error about unexpected or missing arguments.

    `generation` is the package with the functions that the user calls.
    """
    _note_missing(error, generation)
    match = _UNEXPECTED.search(str(error))
    names = [] if match is None else parameters_of(_called(error, match[1] or "", generation))
    if match is not None and names:
        hint = did_you_mean(match[2], names)
        error.add_note(f"there is no argument '{match[2]}'; there are {', '.join(names)}{hint}")


def parameters_of(function: Any) -> list[str]:
    """Return the names of a function's parameters; empty for None."""
    if function is None:
        return []
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.name != "self" and p.kind not in variable]


def api_function(call: str, generation: str) -> Any:
    """Return the function with a name as in findings (`nl.load`), or None."""
    short, _, name = call.partition(".")
    modules = {"nl": "language", "nisa": "isa", "ncc": "collectives"}
    module = f"{generation}.{modules.get(short)}"
    return vars(import_module(module)).get(name) if short in modules else None


def _called(error: TypeError, path: str, generation: str) -> Any:
    """Return the API function with a qualified name that raised an error about its arguments."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None:
        node = evaluated(trace.tb_frame.f_code, trace.tb_lasti)
        found = _value_of(node.func, trace.tb_frame) if isinstance(node, ast.Call) else None
        if path in (
            _qualified(found),
            _qualified(vars(cast(type[Any], type(found))).get("__call__")),
        ):
            return found if _is_of(found, generation) else None
    for module in ("language", "isa", "collectives"):  # the source is unknown
        known = vars(sys.modules.get(f"{generation}.{module}", object))
        found = known.get(path)
        if _qualified(found) == path:
            return found
    return None


def _qualified(function: Any) -> str | None:
    return getattr(function, "__qualname__", None)


def _is_of(function: Any, generation: str) -> bool:
    """Return whether a function is nkijit's own, and of an API generation."""
    module = getattr(function, "__module__", None) or ""
    return module.startswith("nkijit.") and module.startswith(CLASSIC) == (generation == CLASSIC)


def _value_of(node: ast.expr, frame: FrameType) -> Any:
    """Return the function that an expression names, without executing code of the user's."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if not isinstance(node, ast.Attribute):
        return None
    owner = _value_of(node.value, frame)
    if not isinstance(owner, ModuleType):
        owner = cast(type[Any], type(owner))
        return inspect.getattr_static(owner, node.attr, None)
    return vars(owner).get(node.attr)
