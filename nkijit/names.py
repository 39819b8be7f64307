"""Names of data types, as kernels and arrays spell them."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, cast

import numpy as np

from nkijit.dialects.dtypes import DTYPES, DType
from nkijit.passes.interpret.numerics import dtype_called, is_plain

_named: dict[tuple[type[Any], Any], DType] = {}
"""Data types by what has named them before; NumPy takes long to spell one."""


def as_dtype(value: Any) -> DType:
    """The data type that `value` names.

    Accepts NKI's names and the types of NumPy, ml_dtypes, PyTorch and JAX of the same name
    (`np.float32`, `ml_dtypes.bfloat16`, `torch.bfloat16`), also NumPy's that are called after one
    (`dtype_called`). Raises ValueError otherwise.
    """
    kind = cast(type[Any], type(value))
    if issubclass(kind, np.dtype) and not is_plain(value):
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
        raise ValueError(f"unknown data type {value!r}; known: {', '.join(DTYPES)}")
    return dtype


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The name among the known ones that was probably meant, as a question; else empty."""
    near = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""


def missing(module: str, name: str, instead: Mapping[str, str]) -> AttributeError:
    """The error for a name that a module does not have.

    `instead` has what older kernels used, and what to do about it.
    """
    reason = instead.get(name)
    hint = f": {reason}" if reason else " yet"
    return AttributeError(f"{module}.{name} is not modelled by nkijit{hint}")
