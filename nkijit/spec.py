"""Kernel arguments: which are tensors, what a specialisation depends on, and how it is keyed."""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
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

from nkijit.frameworks import ArgumentTypeError, Array, as_array, native_dtype
from nkijit.names import as_dtype
from nkijit.objects import NKIObject
from nkijit.passes.interpret.numerics import dtype_called, is_plain
from nkijit.tensor import NkiTensor


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


@functools.cache
def _spec(shape: tuple[int, ...], dtype: np.dtype[Any]) -> TensorSpec:
    return TensorSpec(shape, dtype)


@dataclasses.dataclass(frozen=True, slots=True)
class TensorArgument:
    """A tensor among the arguments of a call."""

    name: str
    """Argument and place in it, e.g. `pair_0` or `weights_bias`."""
    spec: TensorSpec
    value: Any
    """The array as it was given, or the TensorSpec."""


def map_tensors(name: str, value: Any, replace: Callable[[str, Any, TensorSpec], Any]) -> Any:
    """A copy of an argument in which every tensor is what `replace` makes of it.

    Goes through tuples (named ones too), lists, dicts, dataclasses and NKIObjects: the only place
    that knows what tensors can stand in. Everything else is constant while tracing and stays as
    it is, but numbers that come as arrays without dimensions become NumPy scalars, and data types
    of frameworks NKI's.
    """
    return _Mapping(replace).of(name, value)


class _Mapping:
    def __init__(self, replace: Callable[[str, Any, TensorSpec], Any]):
        self._replace = replace
        self._open: dict[int, Any] = {}
        """Copies of the containers around the current value, which may contain themselves."""

    def of(self, name: str, value: Any) -> Any:
        kind = cast(type[Any], type(value))
        if kind in _SCALARS:
            return value
        if kind is TensorSpec:
            return self._replace(name, value, value)
        array = as_array(name, value)
        if array is not None:
            return self._of_array(name, value, array)
        if id(value) in self._open:
            return self._open[id(value)]
        if isinstance(value, tuple):
            items = enumerate(cast(tuple[Any, ...], value))
            names = getattr(kind, "_fields", None)
            copies = [self.of(f"{name}_{names[i] if names else i}", item) for i, item in items]
            return kind(*copies) if names else kind(copies)
        if issubclass(kind, (list, dict)) or _has_fields(value):
            return self._of_mutable(name, value)
        return native_dtype(value) or value

    def _of_array(self, name: str, value: Any, array: Array) -> Any:
        if array.ndim == 0:
            return array[()]
        if array.size == 0:
            raise ArgumentTypeError(
                f"argument '{name}' has shape {array.shape}; a tensor has at least one element"
            )
        plain = is_plain(array.dtype)
        spec = _spec(array.shape, array.dtype) if plain else TensorSpec(array.shape, array.dtype)
        return self._replace(name, value, spec)

    def _of_mutable(self, name: str, value: Any) -> Any:
        kind = cast(type[Any], type(value))
        put: Callable[[Any, Any], None]
        if issubclass(kind, (list, dict)):
            # The shallow copy keeps what a subclass has beside its items.
            copied = copy.copy(value)
            pairs = copied.items() if issubclass(kind, dict) else enumerate(cast(list[Any], copied))
            items: list[tuple[Any, Any]] = list(pairs)
            put = copied.__setitem__
        else:
            copied = object.__new__(kind)
            items = list(_fields_of(value).items())
            put = functools.partial(object.__setattr__, copied)  # frozen dataclasses as well
        self._open[id(value)] = copied
        for key, item in items:
            put(key, self.of(f"{name}_{key}", item))
        del self._open[id(value)]
        return copied


def _has_fields(value: Any) -> bool:
    """Instances of dataclasses and of NKIObject; not the tensors of a kernel."""
    if isinstance(value, (type, NkiTensor, Enum)):
        return False
    return isinstance(value, NKIObject) or dataclasses.is_dataclass(value)


def _fields_of(value: Any) -> dict[str, Any]:
    fields: dict[str, Any] = dict(getattr(value, "__dict__", {}))
    if dataclasses.is_dataclass(value):  # with slots
        names = [field.name for field in dataclasses.fields(value) if field.name not in fields]
        fields |= {name: getattr(value, name) for name in names if hasattr(value, name)}
    return fields


def collect(
    arguments: Mapping[str, Any], names: Mapping[str, str]
) -> tuple[dict[str, Any], list[TensorArgument]]:
    """The arguments with TensorSpecs in the place of arrays, and the tensors in order.

    `names` are other names for some of the tensors.
    """
    tensors: list[TensorArgument] = []

    def take(name: str, value: Any, spec: TensorSpec) -> TensorSpec:
        tensors.append(TensorArgument(names.get(name, name), spec, value))
        return spec

    return {name: map_tensors(name, value, take) for name, value in arguments.items()}, tensors


# ------------------------------------------------------------------ keys


class UnkeyableError(Exception):
    """A value whose content cannot be part of a key; the kernel is traced at every call."""


_ATOMS = (Enum, BuiltinFunctionType, TensorSpec, np.dtype, np.ufunc)
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
    whose content cannot be compared, such as large arrays or objects of compiled types.
    """
    kind = cast(type[Any], type(value))
    if kind in _SCALARS:
        return (kind, repr(value)) if kind is float else (kind, value)
    if isinstance(value, np.dtype) and not is_plain(cast("np.dtype[Any]", value)):
        return (value, dtype_called(cast("np.dtype[Any]", value)))  # equal to others of its bytes
    # The attribute last: a module of the API looks for what was meant by a name it does not have.
    if isinstance(value, _ATOMS) or is_library(value) or hasattr(value, "nki_operator"):
        return cast(Any, value)
    if id(value) in seen:
        return None  # imaged already, further out
    seen = (*seen, id(value))
    if kind is list or _is_only_items(value):
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
        return (kind, freeze(array.dtype), array.shape, _content(array))
    if isinstance(value, FunctionType):
        return (kind, value.__code__, *_environment(value, seen))
    if isinstance(value, (MethodType, staticmethod, classmethod)):
        owner = getattr(cast(Any, value), "__self__", None)
        return (kind, freeze(cast(Any, value).__func__, seen), freeze(owner, seen))
    if isinstance(value, property):
        return (kind, freeze(value.fget, seen), freeze(value.fset, seen))
    if kind is functools.partial:
        bound = cast("functools.partial[Any]", value)
        return (kind, *(freeze(part, seen) for part in (bound.func, bound.args, bound.keywords)))
    if isinstance(value, type):
        return (value, *_class_image(value, seen))
    if _has_no_state(value):
        return value
    if not _is_plain(kind):
        # Kernels, and functions in a cache of functools, are what they wrap.
        wrapped = getattr(value, "__wrapped__", None)
        if is_library(kind) and isinstance(wrapped, FunctionType):
            return (kind, freeze(wrapped, seen))
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


def is_library_file(path: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to nkijit."""
    return path.startswith(_LIBRARY_PATHS)


def is_library(value: Any) -> bool:
    """Modules, classes and functions that come with Python, an installed package or nkijit."""
    if isinstance(value, ModuleType):
        file = getattr(value, "__file__", None)
        return file is None or is_library_file(file)
    if isinstance(value, (type, FunctionType)):
        module = sys.modules.get(value.__module__)
        return module is not None and module.__name__ != "__main__" and is_library(module)
    return False


def _is_only_items(value: Any) -> bool:
    """Tuples of any class (named ones, torch.Size) that have no attributes of their own."""
    return isinstance(value, tuple) and not getattr(cast(Any, value), "__dict__", None)


def _has_no_state(value: Any) -> bool:
    """Sentinels: plain objects, also of libraries, that have nothing but their identity."""
    kind = cast(type[Any], type(value))
    return kind is object or (
        kind.__bases__ == (object,)
        and is_library(kind)
        and "__slots__" not in vars(kind)
        and getattr(value, "__dict__", None) == {}
    )


def _is_plain(kind: type[Any]) -> bool:
    """True for classes whose instances keep everything in `__dict__`.

    Those of the author, and classes for kernels wherever they are installed.
    """
    ours = (NKIObject, object)
    return hasattr(kind, "__dict__") and all(
        base in ours
        or ((not is_library(base) or issubclass(base, NKIObject)) and "__slots__" not in vars(base))
        for base in kind.__mro__
    )


def _class_image(cls: type[Any], seen: tuple[int, ...]) -> Iterator[Any]:
    for base in cls.__mro__:
        if is_library(base):
            continue
        for name, item in vars(base).items():
            if not name.startswith("__") or isinstance(item, FunctionType):
                yield (name, freeze(item, seen))


def _environment(function: FunctionType, seen: tuple[int, ...] = ()) -> Iterator[Any]:
    """Images of what a function uses besides its arguments: defaults, cells, globals."""
    yield freeze(function.__defaults__, seen)
    yield freeze(function.__kwdefaults__, seen)
    if vars(function):
        yield freeze(vars(function), seen)
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
        if isinstance(value, ModuleType) and not is_library(value):
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
