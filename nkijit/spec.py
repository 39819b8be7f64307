"""Kernel arguments: which are tensors, what a specialisation depends on, and how it is keyed."""

from __future__ import annotations

import dataclasses
import hashlib
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nkijit.dialects.dtypes import DType
from nkijit.names import as_dtype
from nkijit.objects import NKIObject
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


_ATOMS = (Enum, BuiltinFunctionType, np.dtype, np.ufunc)
_SCALARS = (int, float, str, bytes, bool, complex, type(None), type(Ellipsis))
_LIBRARY_PATHS = tuple(
    {
        str(Path(__file__).parent),
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    }
)


def freeze(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """A hashable image of a value: equal images mean an equal trace.

    Types are part of it (1, 1.0 and True trace differently). Raises UnkeyableError for values
    whose content cannot be told, such as large arrays or objects of compiled types.
    """
    kind = cast(type[Any], type(value))
    if kind in _SCALARS:
        return (kind, repr(value)) if kind is float else (kind, value)
    if isinstance(value, _ATOMS) or hasattr(value, "nki_operator") or _is_library(value):
        return cast(Any, value)
    if id(value) in seen:
        return None  # imaged already, further out
    seen = (*seen, id(value))
    if kind in (tuple, list) or hasattr(kind, "_fields"):
        return (kind, *(freeze(item, seen) for item in cast(Sequence[Any], value)))
    if kind in (slice, range):
        return (kind, *(freeze(part, seen) for part in (value.start, value.stop, value.step)))
    if kind in (set, frozenset):
        return (kind, frozenset(freeze(item, seen) for item in cast(set[Any], value)))
    if kind in (dict, MappingProxyType):
        items = cast(Mapping[Any, Any], value).items()
        return (kind, *((freeze(k, seen), freeze(v, seen)) for k, v in items))
    if isinstance(value, np.generic):
        return (kind, value.tobytes())
    if isinstance(value, np.ndarray):
        array = cast(Array, value)
        return (kind, array.dtype, array.shape, _content(array))
    if isinstance(value, FunctionType):
        return (kind, value.__code__, *_environment(value, seen))
    if isinstance(value, (MethodType, staticmethod, classmethod)):
        owner = getattr(cast(Any, value), "__self__", None)
        return (kind, freeze(cast(Any, value).__func__, seen), freeze(owner, seen))
    if isinstance(value, property):
        return (kind, freeze(value.fget, seen))
    wrapped = getattr(value, "__wrapped__", None)
    if isinstance(wrapped, FunctionType):
        return (kind, freeze(wrapped, seen))
    if isinstance(value, type):
        return (value, *_class_image(value, seen))
    if not _is_plain(kind):
        raise UnkeyableError
    # What an instance does not have itself it finds in its class.
    return (freeze(kind, seen), freeze({**cast(dict[str, Any], vars(value))}, seen))


def _content(array: Array) -> bytes:
    """The elements of an array, by a digest where they are many."""
    if array.dtype.hasobject:
        raise UnkeyableError
    data = array.tobytes()
    return data if len(data) <= _KEPT_BYTES else hashlib.blake2b(data).digest()


_KEPT_BYTES = 4096


def _is_library(value: Any) -> bool:
    """Modules, classes and functions that come with Python, an installed package or nkijit."""
    if isinstance(value, ModuleType):
        file = getattr(value, "__file__", None)
        return file is None or file.startswith(_LIBRARY_PATHS)
    if isinstance(value, (type, FunctionType)):
        module = sys.modules.get(value.__module__)
        return module is not None and module.__name__ != "__main__" and _is_library(module)
    return False


def _is_plain(kind: type[Any]) -> bool:
    """True for classes of the author whose instances keep everything in `__dict__`."""
    ours = (NKIObject, object)
    return hasattr(kind, "__dict__") and all(
        base in ours or (not _is_library(base) and "__slots__" not in vars(base))
        for base in kind.__mro__
    )


def _class_image(cls: type[Any], seen: tuple[int, ...]) -> Iterator[Any]:
    for base in cls.__mro__:
        if _is_library(base):
            continue
        for name, item in vars(base).items():
            if not name.startswith("__") or name in ("__init__", "__call__", "__post_init__"):
                yield (name, freeze(item, seen))


def _environment(function: FunctionType, seen: tuple[int, ...] = ()) -> Iterator[Any]:
    """Images of what a function uses besides its arguments: defaults, cells, globals."""
    yield freeze(function.__defaults__, seen)
    yield freeze(function.__kwdefaults__, seen)
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # assigned after the kernel was defined, if ever
            continue
        yield freeze(content, seen)
    names = _global_names(function.__code__)
    for name in names:
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        if isinstance(value, ModuleType) and not _is_library(value):
            # Of a module, what the function can ask for by name.
            used = {n: vars(value)[n] for n in names if n in vars(value)}
            yield (name, freeze(used, seen))
        else:
            yield (name, freeze(value, seen))


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
