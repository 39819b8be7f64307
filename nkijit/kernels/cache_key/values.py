"""Images (cache key descriptions) of containers, numbers, arrays and objects with attributes."""

from __future__ import annotations

import abc
import hashlib
import logging
import os
import struct
from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from enum import Enum
from fractions import Fraction
from numbers import Complex, Number, Rational, Real
from re import Pattern
from types import (
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    SimpleNamespace,
    UnionType,
)
from typing import Any, Generic, Protocol, cast

import numpy as np
import numpy.typing as npt

from nkijit.host.attributes import attributes_of
from nkijit.host.installed import is_constant_class, is_constant_object, is_scalar, per_class
from nkijit.kernels.cache_key.imaging import Imaging, Same, UnkeyableError, images
from nkijit.tracing.objects import NKIObject

_MOST_BYTES = 4096
"""The maximum size of array contents in an image, in bytes; a digest replaces larger arrays."""


def _class_of(imaging: Imaging, kind: type[Any]) -> Any:
    return kind if is_constant_class(kind) else imaging.of(kind)


def _state(imaging: Imaging, value: Any) -> Any:
    """Return the image of an object's own attributes, without the attributes of its class."""
    return imaging.items(attributes_of(value))


# ------------------------------------------------------------------ containers


@images(dict, MappingProxyType)
def _mapping(imaging: Imaging, value: Any) -> Any:
    return (type(value), *imaging.items(value))


@images(list, set, frozenset)
def _sequence(imaging: Imaging, value: Iterable[Any]) -> Any:
    # In order, also for sets: a trace can observe the order.
    return (type(value), *imaging.all(value))


@images(slice, range)
def _range(imaging: Imaging, value: Any) -> Any:
    return (type(value), *imaging.all((value.start, value.stop, value.step)))


# ------------------------------------------------------------------ numbers and arrays


@images(complex)
def _complex(imaging: Imaging, value: complex) -> Any:
    del imaging
    return (complex, struct.pack("<dd", value.real, value.imag))


@images(np.dtype, derived=True)
def _dtype(imaging: Imaging, value: np.dtype[Any]) -> Any:
    if value.isbuiltin and value.metadata is None:
        return (np.dtype, value.num)
    parts = (value.names, value.fields and dict(value.fields), dict(value.metadata or {}))
    base = value.base if value.base is not value else None
    layout = (value.str, value.isalignedstruct, value.itemsize, value.shape)
    return (np.dtype, *layout, *imaging.all((value.type, base, *parts)))


@images(np.generic, derived=True)
def _number(imaging: Imaging, value: np.generic) -> Any:
    kind = cast("type[Any]", type(value))
    if value.dtype.hasobject:
        raise UnkeyableError("an element is a Python object")
    own = () if is_constant_class(kind) else (_state(imaging, value),)
    return (_class_of(imaging, kind), imaging.of(value.dtype), value.tobytes(), *own)


@images(np.ndarray, derived=True)
def _array(imaging: Imaging, value: npt.NDArray[Any]) -> Any:
    """Return the cache key image of an array: dtype, layout, and contents or their digest."""
    kind = cast("type[Any]", type(value))
    plain = value if kind is np.ndarray else np.asarray(value)
    if plain.dtype.hasobject:
        raise UnkeyableError("an array of Python objects")
    data = plain.tobytes()
    content = data if len(data) <= _MOST_BYTES else hashlib.blake2b(data).digest()
    layout = (imaging.of(plain.dtype), plain.shape, plain.strides, plain.flags.writeable)
    own = () if kind is np.ndarray else (_class_of(imaging, kind), _state(imaging, value))
    return (np.ndarray, *layout, content, *own)


# ------------------------------------------------------------------ constants


@images(object, GenericAlias, Pattern, UnionType)
def _same(imaging: Imaging, value: Any) -> Any:
    """Return a cache key image that compares by identity, for immutable or opaque values."""
    del imaging
    return Same(value)


@images(Enum, derived=True)
def _enum_member(imaging: Imaging, value: Enum) -> Any:
    kind = type(value)
    name = object.__getattribute__(value, "_name_")
    if is_constant_class(kind):
        return (kind, name)
    return (imaging.of(kind), name, _state(imaging, value))


@images(logging.Logger, derived=True)
def _logger(imaging: Imaging, value: logging.Logger) -> Any:
    """Return the image of a logger: the properties that decide whether it emits messages."""
    found = attributes_of(value)
    own = {name: item for name, item in found.items() if is_scalar(item)}
    above = found.get("parent") if found.get("propagate") else None
    return (logging.Logger, imaging.items(own), logging.root.manager.disable, imaging.of(above))


@images(type(os.environ))
def _environment(imaging: Imaging, value: Any) -> Any:
    if value is not os.environ:
        raise UnkeyableError("a copy of the environment cannot be compared")
    imaging.reads_environment = True
    return "environment"


# ------------------------------------------------------------------ objects

_Items = Callable[[Imaging, Any], Any]
_ITEMS: dict[type[Any], _Items] = {
    int: lambda imaging, value: imaging.of(int.__index__(value)),
    float: lambda imaging, value: imaging.of(float.__pos__(value)),
    complex: lambda imaging, value: imaging.of(complex.__pos__(value)),
    str: lambda imaging, value: imaging.of(str.__str__(value)),
    bytes: lambda imaging, value: imaging.of(bytes.__getitem__(value, slice(None))),
    tuple: lambda imaging, value: imaging.all(cast(Any, tuple).__iter__(value)),
    list: lambda imaging, value: imaging.all(cast(Any, list).__iter__(value)),
    dict: lambda imaging, value: imaging.items(value),
    set: lambda imaging, value: imaging.all(cast(Any, set).__iter__(value)),
    frozenset: lambda imaging, value: imaging.all(cast(Any, frozenset).__iter__(value)),
}
"""Readers for the items of objects derived from a built-in class, by that class."""
_BASES: frozenset[Any] = frozenset(
    (
        *_ITEMS,
        *(object, abc.ABC, Generic, Protocol, SimpleNamespace, *Namespace.__mro__),
        *(Counter, OrderedDict, defaultdict),
        *(Complex, Fraction, Number, Rational, Real),
    )
)
"""Python's classes whose objects have all their state in items and attributes."""
_CONSTANTS = frozenset((("torch", "dtype"), ("torch", "device"), ("torch", "layout")))
"""Library classes with immutable objects, by (module, class)."""


@images(object, derived=True)
def _object(imaging: Imaging, value: Any) -> Any:
    """Return the cache key image of an object whose class has no reader of its own."""
    return _reader_of_objects(cast("type[Any]", type(value)))(imaging, value)


@per_class
def _reader_of_objects(kind: type[Any]) -> Callable[[Imaging, Any], Any]:
    constant = [base for base in kind.__mro__ if is_constant_class(base)]
    if any("__trace_image__" in vars(base) for base in constant):
        return _described
    if all(map(_has_visible_state, kind.__mro__)):
        return _instance
    if not is_constant_class(kind):
        return _hidden
    if kind.__module__ == "typing" or (kind.__module__, kind.__qualname__) in _CONSTANTS:
        return _same
    return _of_library


def _has_visible_state(base: type[Any]) -> bool:
    """Return whether a class adds only items and attributes to the state of its objects."""
    if is_constant_class(base):
        return (
            base in _BASES
            or issubclass(base, (tuple, NKIObject))
            or base.__module__ == "collections.abc"
            or (base.__module__.startswith("nkijit.") and is_dataclass(base))
        )
    # A class in C may have state that Python cannot see.
    accessors = (GetSetDescriptorType, MemberDescriptorType)
    visible = [name for name, value in vars(base).items() if issubclass(type(value), accessors)]
    layout = base.__base__ or object
    return base.__basicsize__ - layout.__basicsize__ <= _POINTER * len(visible)


_POINTER = struct.calcsize("P")


def _described(imaging: Imaging, value: Any) -> Any:
    """Return the image of an nkijit object, which its `__trace_image__` method provides."""
    parts = value.__trace_image__()
    return Same(value) if parts is value else (type(value), *imaging.all(parts))


def _instance(imaging: Imaging, value: Any) -> Any:
    kind = cast("type[Any]", type(value))
    own: tuple[Any, ...] = ()
    for base, read in _ITEMS.items():
        if issubclass(kind, base):
            own = (base, read(imaging, value))
            break
    return (_class_of(imaging, kind), *own, _state(imaging, value))


def _of_library(imaging: Imaging, value: Any) -> Any:
    """Return an image that compares a library's object by identity.

    This is valid for sentinels and for named constants of a module.
    """
    kind = cast("type[Any]", type(value))
    is_sentinel = kind.__bases__ == (object,) and "__dict__" in vars(kind)
    if (is_sentinel and not attributes_of(value)) or is_constant_object(value):
        return Same(value)
    return _hidden(imaging, value)


def _hidden(imaging: Imaging, value: Any) -> Any:
    del imaging
    kind = cast("type[Any]", type(value))
    raise UnkeyableError(f"the state of a {kind.__module__}.{kind.__qualname__} cannot be compared")
