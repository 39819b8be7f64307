"""Names of data types, and errors about names that the API does not have."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import ModuleType
from typing import Any, cast

import numpy as np

from nkijit.dialects.dtypes import DTYPES, DType
from nkijit.dialects.other_names import function_instead
from nkijit.dialects.python_values import one_line
from nkijit.passes.numerics.storage import dtype_called, is_plain
from nkijit.releases.table import removed_in, replacement
from nkijit.tracing.dtype_words import UnknownDTypeError, reason_against

_named: dict[tuple[type[Any], Any], DType] = {}
"""Results of `as_dtype`, by class and value; a NumPy dtype's name is slow to compute."""


def as_dtype(value: Any) -> DType:
    """Return the data type that `value` names.

    Accepts NKI's names and the types of the same name in NumPy, ml_dtypes, PyTorch and JAX
    (`np.float32`, `ml_dtypes.bfloat16`, `torch.bfloat16`), also NumPy dtypes that equal an NKI
    type by name only (`dtype_called`). Raises UnknownDTypeError, a ValueError, otherwise.
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
        raise UnknownDTypeError(value)
    return dtype


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
    if module.endswith(".language") and (reason := reason_against(name)):
        return AttributeError(f"{module} has no {name!r}{reason}")
    there = [
        each
        for each, value in known.items()
        if not each.startswith("_") and not isinstance(value, ModuleType)
    ]
    return AttributeError(f"{module} has no {name!r}{function_instead(name, there)}")


CURRENT, CLASSIC = "nkijit", "nkijit.classic"
"""The packages of the two API generations."""
