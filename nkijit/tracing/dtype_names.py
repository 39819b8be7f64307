"""Names of data types, and errors about names and arguments that the API does not have."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Hashable, Mapping
from types import ModuleType
from typing import Any, cast

import numpy as np

from nkijit.dialects.dtypes import DTYPES, DType
from nkijit.dialects.spelling import did_you_mean
from nkijit.passes.numerics.storage import dtype_called, is_plain
from nkijit.releases.table import removed_in, replacement

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
        name = getattr(value, "name", None) or str(value)
    name = str(name).rpartition(".")[2]
    dtype = _expected(value, DTYPES.get("bool_" if name == "bool" else name))
    if isinstance(value, Hashable):
        _named[kind, value] = dtype
    return dtype


def _expected(value: Any, dtype: DType | None) -> DType:
    if dtype is None:
        raise ValueError(
            f"unknown data type {value!r}; known: {', '.join(DTYPES)}{_suggestion(value)}"
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

_MISSING = re.compile(r"([\w.]+)\(\) missing \d+ required positional arguments?: '(\w+)'")


def _note_missing(error: TypeError, generation: str) -> None:
    """Add the parameters of the function to Python's error about missing arguments."""
    match = _MISSING.search(str(error))
    names = [] if match is None else parameters_of(match[1], generation)
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
    names = [] if match is None else parameters_of(match[1] or "", generation)
    if match is not None and names:
        hint = did_you_mean(match[2], names)
        error.add_note(f"there is no argument '{match[2]}'; there are {', '.join(names)}{hint}")


def parameters_of(function: str, generation: str) -> list[str]:
    """Return the parameters of an API function by its qualified name; empty if there is none."""
    found = _function_named(function, generation)
    if found is None:
        return []
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    parameters = inspect.signature(found).parameters.values()
    return [p.name for p in parameters if p.name != "self" and p.kind not in variable]


def _function_named(path: str, generation: str) -> Any:
    """Return the function with a qualified name in the modules of a package, or None."""
    first, *rest = path.split(".")
    is_classic = generation == CLASSIC
    modules = [
        name
        for name in sys.modules
        if name.startswith("nkijit")
        and name.startswith(CLASSIC) == is_classic
        and not name.startswith(("nkijit.dialects", "nkijit.passes"))
    ]
    for module in modules:
        found = vars(sys.modules[module]).get(first)
        for part in rest:
            found = getattr(found, part, None)
        if getattr(found, "__qualname__", None) == path:
            return found
    return None
