"""Finds the tensors among the arguments of a kernel, with their shapes and data types."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from itertools import islice
from math import prod
from typing import Any, cast

import numpy as np

from nkijit.dialects.hardware.targets import HBM_BYTES_MAX
from nkijit.dialects.python_values import as_index, one_line
from nkijit.dialects.tiles import MAX_RANK
from nkijit.frameworks.arrays import as_array, native_dtype
from nkijit.frameworks.calls import ArgumentTypeError, Array
from nkijit.host.attributes import attributes_of
from nkijit.host.installed import SCALARS, is_constant_class
from nkijit.passes.numerics.storage import STORAGE, is_plain
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.objects import NKIObject
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracebacks import without_own_frames


@dataclasses.dataclass(frozen=True, init=False)
class TensorSpec:
    """Shape and data type of a kernel argument; enough to trace a kernel without data."""

    shape: tuple[int, ...]
    dtype: str

    @without_own_frames
    def __init__(self, shape: Sequence[int], dtype: Any):
        """Raises ValueError for an unknown data type or a shape that is not positive."""
        try:
            dims = [as_index(dim) for dim in islice(shape, MAX_RANK + 1)]
        except TypeError:
            dims = []
        if not dims or any(dim is None or dim < 1 for dim in dims):
            raise ValueError(f"expected positive dimensions, got {one_line(shape)}")
        sizes = cast("list[int]", dims)
        name = as_dtype(dtype).name
        _check_size(sizes, name)
        object.__setattr__(self, "shape", tuple(sizes))
        object.__setattr__(self, "dtype", name)

    @staticmethod
    def is_meant(text: str) -> bool:
        """Return whether a text looks like a tensor that `parse` reads."""
        return _TEXT.fullmatch(text) is not None

    @classmethod
    @without_own_frames
    def parse(cls, text: str) -> TensorSpec:
        """Return the tensor that a text describes: dimensions, a colon and a data type.

        Raises ValueError for other texts, unknown data types, and tensors that are too large.
        Example: `TensorSpec.parse("128x512:bfloat16")` is `TensorSpec((128, 512), "bfloat16")`.
        """
        match = _TEXT.fullmatch(text) if isinstance(cast(Any, text), str) else None
        if match is None:
            raise ValueError(f"expected SHAPE:DTYPE, e.g. 128x512:float32, got {one_line(text)}")
        return cls([int(dim) for dim in match["shape"].split("x")], match["dtype"])

    def __str__(self) -> str:
        return f"{'x'.join(map(str, self.shape))}:{self.dtype}"


def _check_size(dims: Sequence[int], dtype: str) -> None:
    """Raise ValueError for a tensor that is too large for every memory."""
    if len(dims) > MAX_RANK:
        raise ValueError(f"a tensor has at most {MAX_RANK} dimensions")
    if prod(dims) * STORAGE[dtype].itemsize > HBM_BYTES_MAX:
        raise ValueError(
            f"the tensor is larger than the HBM of every device, {HBM_BYTES_MAX // 2**30} GiB"
        )


_TEXT = re.compile(r"(?P<shape>[0-9]{1,18}(?:x[0-9]{1,18})*):(?P<dtype>.*)", re.DOTALL)


@functools.cache
def _spec(shape: tuple[int, ...], dtype: np.dtype[Any]) -> TensorSpec:
    return TensorSpec(shape, dtype)


@dataclasses.dataclass(frozen=True, slots=True)
class TensorArgument:
    """A tensor among the arguments of a call."""

    name: str
    """The argument's name and the path to the tensor in it, e.g. `pair_0` or `weights_bias`."""
    spec: TensorSpec
    value: Any
    """The array or TensorSpec that the caller passed."""


def map_tensors(
    arguments: Mapping[str, Any], replace: Callable[[str, Any, TensorSpec], Any]
) -> dict[str, Any]:
    """Return a copy of arguments, with every tensor replaced by the result of `replace`.

    Tensors may be in tuples (also named tuples), lists, dicts, dataclasses and NKIObjects. Only
    this function knows these containers. An object that is passed twice is one object in the copy
    as well. All other values are constants of the trace and are not copied, except that arrays
    without dimensions become NumPy scalars, and data types of frameworks become NKI data types.

    Args:
        arguments: the arguments of a call, by parameter.
        replace: receives the tensor's name (see `TensorArgument`), its value and its TensorSpec.
    """
    mapping = _Mapping(replace)
    return {name: mapping.of(name, value) for name, value in arguments.items()}


class _Mapping:
    def __init__(self, replace: Callable[[str, Any, TensorSpec], Any]):
        self._replace = replace
        self._copies: dict[int, tuple[Any, Any]] = {}
        """(container, copy) by the `id` of the container."""

    def of(self, name: str, value: Any) -> Any:
        kind = cast(type[Any], type(value))
        if id(kind) in SCALARS:
            return value
        if kind is TensorSpec:
            return self._replace(name, value, value)
        array = as_array(name, value)
        if array is not None:
            return self._of_array(name, value, array)
        if id(value) in self._copies:
            return self._copies[id(value)][1]
        if issubclass(kind, tuple):
            items = enumerate(cast(tuple[Any, ...], value))
            names = getattr(cast(Any, kind), "_fields", None)
            copies = [self.of(f"{name}_{names[i] if names else i}", item) for i, item in items]
            return cast(Any, kind)(*copies) if names else cast(Any, kind)(copies)
        if issubclass(kind, (list, dict)) or _has_fields(kind):
            return self._of_mutable(name, value)
        return native_dtype(value) or value

    def _of_array(self, name: str, value: Any, array: Array) -> Any:
        if array.ndim == 0:
            return array[()]
        if array.size == 0:
            error = ArgumentTypeError(
                f"argument '{name}' has shape {array.shape}; a tensor has at least one element"
            )
            error.help = "call the kernel only if there is data: if x.size: kernel(x)"
            raise error
        plain = is_plain(array.dtype)
        spec = _spec(array.shape, array.dtype) if plain else TensorSpec(array.shape, array.dtype)
        return self._replace(name, value, spec)

    def _of_mutable(self, name: str, value: Any) -> Any:
        kind = cast(Any, type(value))
        # With `__new__` of a class of Python's own, so that no code of the user's runs.
        base: Any = next(base for base in kind.__mro__ if base is object or is_constant_class(base))
        copied = base.__new__(kind)
        self._copies[id(value)] = (value, copied)
        if issubclass(kind, dict):
            for key, item in dict[Any, Any].items(value):
                base.__setitem__(copied, key, self.of(f"{name}_{key}", item))
        elif issubclass(kind, list):
            for key, item in enumerate(list[Any].__iter__(value)):
                list[Any].append(copied, self.of(f"{name}_{key}", item))
        of_fields = _has_fields(cast("type[Any]", kind))
        for key, item in attributes_of(value).items():
            # Attributes of a list or dictionary are constants, unlike its items.
            changed = self.of(f"{name}_{key}", item) if of_fields else item
            object.__setattr__(copied, key, changed)  # frozen dataclasses as well
        return copied


def _has_fields(kind: type[Any]) -> bool:
    """Return whether a class is a dataclass or an NKIObject, except the class of tensors."""
    if issubclass(kind, (type, NkiTensor, Enum)):
        return False
    return issubclass(kind, NKIObject) or any(
        "__dataclass_fields__" in vars(base) for base in kind.__mro__
    )


def collect(
    arguments: Mapping[str, Any], names: Mapping[str, str]
) -> tuple[dict[str, Any], list[TensorArgument]]:
    """Return the arguments with TensorSpecs in place of arrays, and the tensors in order.

    The name of a tensor is its path in the arguments, such as `args_0`. `names` replaces some of
    these names: `{"args_0": "x"}`.
    """
    tensors: list[TensorArgument] = []

    def take(name: str, value: Any, spec: TensorSpec) -> TensorSpec:
        tensors.append(TensorArgument(names.get(name, name), spec, value))
        return spec

    return map_tensors(arguments, take), tensors
