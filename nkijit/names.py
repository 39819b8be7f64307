"""Names of data types, as kernels and arrays spell them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, cast

from nkijit.dialects.dtypes import DTYPES, DType
from nkijit.releases import removed_in, replacement

_named: dict[tuple[type[Any], Any], DType] = {}
"""Data types by what has named them before; NumPy takes long to spell one."""


def as_dtype(value: Any) -> DType:
    """The data type that `value` names.

    Accepts NKI's names and the types of NumPy, ml_dtypes, PyTorch and JAX of the same name
    (`np.float32`, `ml_dtypes.bfloat16`, `torch.bfloat16`). Raises ValueError otherwise.
    """
    kind = cast(type[Any], type(value))
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
    dtype = DTYPES.get("bool_" if name == "bool" else name)
    if dtype is None:
        raise ValueError(f"unknown data type {value!r}; known: {', '.join(DTYPES)}")
    if isinstance(value, Hashable):
        _named[kind, value] = dtype
    return dtype


def missing(module: str, name: str, instead: Mapping[str, str]) -> AttributeError:
    """The error for a name that a module does not have.

    `instead` has what older kernels used, and what to do about it; the table of releases knows
    what was removed since.
    """
    public = f"{module}.{name}"
    removed, advice = removed_in(public), replacement(public)
    if removed is not None:
        return AttributeError(f"{public} was removed in {removed}{f'; {advice}' if advice else ''}")
    reason = instead.get(name)
    hint = f": {reason}" if reason else " yet"
    return AttributeError(f"{public} is not modelled by nkijit{hint}")
