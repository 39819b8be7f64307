"""Names of data types, as kernels and arrays spell them."""

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
"""Data types by what has named them before; NumPy takes long to spell one."""


def as_dtype(value: Any) -> DType:
    """The data type that `value` names.

    Accepts NKI's names and the types of NumPy, ml_dtypes, PyTorch and JAX of the same name
    (`np.float32`, `ml_dtypes.bfloat16`, `torch.bfloat16`), also NumPy's that are called after one
    (`dtype_called`). Raises ValueError otherwise.
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
        raise ValueError(f"unknown data type {value!r}; known: {', '.join(DTYPES)}{_meant(value)}")
    return dtype


def _meant(value: Any) -> str:
    return did_you_mean(value, DTYPES) if isinstance(value, str) else ""


def missing(
    module: str, name: str, known: Mapping[str, Any], instead: Mapping[str, str] | None = None
) -> AttributeError:
    """The error for a name that a module does not have.

    `known` has what it has, by name; `instead` has what the vendor's module has or had besides,
    and what to do about it. The table of releases knows what was removed since.
    """
    if name.startswith("__"):  # asked by machinery, which takes the answer no
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
"""Python 3.13 has a hint of its own there."""

_MISSING = re.compile(r"([\w.]+)\(\) missing \d+ required positional arguments?: '(\w+)'")


def _note_missing(error: TypeError, generation: str) -> None:
    """Note on Python's error about arguments that are left out what a function takes."""
    match = _MISSING.search(str(error))
    names = [] if match is None else parameters_of(match[1], generation)
    if match is None or not names:
        return
    takes = f"it takes {', '.join(names)}"
    if names[0] == "dst":
        takes += "; the result goes to 'dst', a tile that you allocate (nl.ndarray)"
    error.add_note(takes)


def note_misspelling(error: TypeError, generation: str) -> None:
    """Note on Python's error about unexpected or missing arguments which ones there are.

    `generation` is the package whose functions the author calls.
    """
    _note_missing(error, generation)
    match = _UNEXPECTED.search(str(error))
    names = [] if match is None else parameters_of(match[1] or "", generation)
    if match is not None and names:
        hint = did_you_mean(match[2], names)
        error.add_note(f"there is no argument '{match[2]}'; there are {', '.join(names)}{hint}")


def parameters_of(function: str, generation: str) -> list[str]:
    """What a function of an API takes, by its qualified name; nothing when there is none."""
    found = _function_named(function, generation)
    if found is None:
        return []
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    parameters = inspect.signature(found).parameters.values()
    return [p.name for p in parameters if p.name != "self" and p.kind not in variable]


def _function_named(path: str, generation: str) -> Any:
    """The function of that qualified name in the modules of a package; None if there is none."""
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
