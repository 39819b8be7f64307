"""Kernel arguments: which are tensors, what a specialisation depends on, and how it is keyed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nkijit.dialects.dtypes import DType
from nkijit.names import as_dtype
from nkijit.passes.interpret.numerics import dtype_of_array

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True, init=False)
class TensorSpec:
    """Shape and data type of a kernel argument; enough to trace a kernel without data."""

    shape: tuple[int, ...]
    dtype: str

    def __init__(self, shape: Sequence[int], dtype: Any):
        """Raises ValueError for an unknown data type or a shape that is not positive."""
        dims = tuple(int(dim) for dim in shape)
        if not dims or min(dims) < 1:
            raise ValueError(f"expected positive dimensions, got {shape!r}")
        object.__setattr__(self, "shape", dims)
        object.__setattr__(self, "dtype", as_dtype(dtype).name)


class ArgumentTypeError(TypeError):
    """A kernel was called with something that cannot be an argument."""


def tensor_type(name: str, value: Any) -> tuple[tuple[int, ...], DType] | None:
    """Shape and data type of an array or TensorSpec; None for a value known while tracing."""
    if isinstance(value, TensorSpec):
        return value.shape, as_dtype(value.dtype)
    if isinstance(value, np.ndarray):
        array = cast(Array, value)
        dtype = dtype_of_array(array)
        if dtype is None:
            raise ArgumentTypeError(
                f"argument '{name}' is an array of {array.dtype}, a data type that NKI does not "
                "have; convert it, e.g. with .astype(np.float32)"
            )
        if array.ndim == 0 or array.size == 0:
            raise ArgumentTypeError(
                f"argument '{name}' has shape {array.shape}; a tensor has at least one dimension "
                "and one element"
            )
        return array.shape, dtype
    if (
        hasattr(value, "__array__")
        and hasattr(value, "shape")
        and not isinstance(value, (np.generic, type))
    ):
        raise ArgumentTypeError(
            f"argument '{name}' is a {type(value).__module__}.{type(value).__name__}; pass a "
            "NumPy array"
        )
    return None


# ------------------------------------------------------------------ keys


class UnkeyableError(Exception):
    """A value whose content cannot be part of a key; the kernel is traced at every call."""


_ATOMS = (Enum, type, ModuleType, BuiltinFunctionType, np.dtype, np.ufunc)
_SCALARS = (int, float, str, bytes, bool, complex, type(None), type(Ellipsis))


def freeze(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """A hashable image of a value: equal images mean an equal trace.

    Types are part of it (1, 1.0 and True trace differently). Raises UnkeyableError for values whose
    content cannot be told apart, such as large arrays.
    """
    kind = cast(type[Any], type(value))
    if kind in _SCALARS:
        return (kind, repr(value)) if kind is float else (kind, value)
    if isinstance(value, _ATOMS):
        return cast(Any, value)
    if id(value) in seen:
        raise UnkeyableError
    seen = (*seen, id(value))
    if isinstance(value, (tuple, list)):
        return (kind, *(freeze(item, seen) for item in cast(Sequence[Any], value)))
    if isinstance(value, (slice, range)):
        return (kind, freeze((value.start, value.stop, value.step), seen))
    if isinstance(value, (set, frozenset)):
        return (kind, frozenset(freeze(item, seen) for item in cast(set[Any], value)))
    if isinstance(value, Mapping):
        items = cast(Mapping[Any, Any], value).items()
        return (kind, *((freeze(k, seen), freeze(v, seen)) for k, v in items))
    if isinstance(value, np.generic):
        return (kind, value.tobytes())
    if isinstance(value, np.ndarray):
        array = cast(Array, value)
        if array.size > 4096:
            raise UnkeyableError
        return (kind, array.dtype.str, array.shape, array.tobytes())
    if isinstance(value, FunctionType):
        return (kind, value.__code__, *freeze_environment(value, seen))
    if hasattr(value, "nki_operator"):
        return value
    wrapped = getattr(value, "__wrapped__", None)
    if isinstance(wrapped, FunctionType):
        return (kind, freeze(wrapped, seen))
    fields = getattr(value, "__dict__", None)
    if fields is None or hasattr(kind, "__slots__"):
        raise UnkeyableError
    return (kind, *((name, freeze(item, seen)) for name, item in fields.items()))


def freeze_environment(function: Callable[..., Any], seen: tuple[int, ...] = ()) -> Iterator[Any]:
    """Images of what a function uses besides its arguments: globals, cells, defaults."""
    if id(function) not in seen:
        seen = (*seen, id(function))
    plain = cast(FunctionType, function)
    yield freeze(plain.__defaults__, seen)
    yield freeze(plain.__kwdefaults__, seen)
    for cell in plain.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # assigned after the kernel was defined, if ever
            continue
        yield _freeze_used(content, seen)
    for name in _global_names(plain.__code__):
        if name in plain.__globals__:
            yield (name, _freeze_used(plain.__globals__[name], seen))


def _freeze_used(value: Any, seen: tuple[int, ...]) -> Any:
    # A recursive function uses itself, and so does, to all appearance, a kernel with the name of
    # an attribute in its body (`nisa.activate2` in `activate2`): its code is in the image already.
    used = value if isinstance(value, FunctionType) else getattr(value, "__wrapped__", value)
    return None if id(used) in seen or id(value) in seen else freeze(value, seen)


_GLOBAL_NAMES: dict[CodeType, tuple[str, ...]] = {}


def _global_names(code: CodeType) -> tuple[str, ...]:
    names = _GLOBAL_NAMES.get(code)
    if names is None:
        found = dict.fromkeys(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                found.update(dict.fromkeys(_global_names(constant)))
        names = _GLOBAL_NAMES[code] = tuple(found)
    return names
