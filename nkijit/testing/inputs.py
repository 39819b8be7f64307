"""Reproducible random arrays of all dtypes, as inputs of kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast, overload

import ml_dtypes
import numpy as np
import numpy.typing as npt

from nkijit.dialects.dtypes import DTYPES, Kind
from nkijit.kernels.arguments import TensorSpec, map_tensors
from nkijit.passes.numerics.storage import STORAGE
from nkijit.traced.kernel import TracedKernel
from nkijit.tracing.tracebacks import without_own_frames

Array = npt.NDArray[Any]
Spec = str | TensorSpec | tuple[Sequence[int], Any]
"""A tensor: `"128x512:bfloat16"`, or its shape and dtype."""
Ends = tuple[float, float]


@overload
def random_inputs(
    specs: Mapping[str, Spec], seed: int = 0, *, ranges: Mapping[str, Ends] | None = None
) -> dict[str, Array]: ...
@overload
def random_inputs(
    specs: Sequence[Spec] | TracedKernel, seed: int = 0, *, ranges: Mapping[int, Ends] | None = None
) -> list[Array]: ...
@without_own_frames
def random_inputs(
    specs: Mapping[str, Spec] | Sequence[Spec] | TracedKernel,
    seed: int = 0,
    *,
    ranges: Mapping[str, Ends] | Mapping[int, Ends] | None = None,
) -> dict[str, Array] | list[Array]:
    """Return arrays with random contents.

    Floating-point numbers are normally distributed, and rounded once to their dtype. 8-bit and
    16-bit integers are uniform over their range, and 32-bit integers are uniform from -2**24 to
    2**24, which engines can compute exactly in float32. `float8_e8m0fnu` has powers of two from
    1/16 to 16, and booleans are zeros and ones. Packed types have elements like those of
    `float8_*`. The arrays have the NumPy or ml_dtypes type that stores the dtype.

    Args:
        specs: the tensors, by name or in order, each as `"128x512:bfloat16"` or as `((128, 512),
            "bfloat16")`; or a traced kernel, for its tensor arguments.
        seed: the same seed gives the same arrays. A tensor's array does not depend on later entries
            of `specs`.
        ranges: for some tensors, by name or index, the lowest and highest value: `{"indices": (0,
            127)}`.

    Returns:
        A dictionary if `specs` is a mapping, otherwise a list.

    Raises:
        ValueError: a tensor is invalid, or a range names no tensor or does not fit its dtype.

    Example:

        >>> from nkijit.testing import random_inputs
        >>> given = random_inputs({"x": "128x64:bfloat16", "rows": "16x1:int32"}, seed=3,
        ...                       ranges={"rows": (0, 127)})
        >>> given["x"].dtype, given["rows"].shape, int(given["rows"].max()) < 128
        (dtype(bfloat16), (16, 1), True)
    """
    if isinstance(specs, TracedKernel):
        specs = [TensorSpec(shape, dtype) for _, shape, dtype in specs.argument_types]
    if isinstance(specs, str):
        raise ValueError(f"expected several tensors, got {specs!r}; put it into a list")
    named = isinstance(specs, Mapping)
    keys: list[Any] = list(specs) if named else list(range(len(specs)))
    requested = dict(cast("Mapping[Any, Ends]", ranges or {}))
    for key in requested:
        if key not in keys:
            known = ", ".join(map(repr, keys))
            raise ValueError(f"ranges: there is no tensor {key!r}; there are {known}")
    arrays: dict[Any, Array] = {}
    for place, key in enumerate(keys):
        spec = _spec(cast(Any, specs)[key])
        generator = np.random.default_rng([seed, place])
        arrays[key] = _random(spec, generator, requested.get(key))
    return arrays if named else list(arrays.values())


def with_random_data(arguments: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Replace tensors without data by random arrays."""
    specs: list[TensorSpec] = []

    def note(name: str, value: Any, spec: TensorSpec) -> Any:
        if isinstance(value, TensorSpec):
            specs.append(spec)
        return value

    map_tensors(arguments, note)
    arrays = iter(random_inputs(specs, seed))

    def fill(name: str, value: Any, spec: TensorSpec) -> Any:
        return next(arrays) if isinstance(value, TensorSpec) else value

    return map_tensors(arguments, fill)


def _spec(tensor: Any) -> TensorSpec:
    if isinstance(tensor, TensorSpec):
        return tensor
    if isinstance(tensor, str):
        return TensorSpec.parse(tensor)
    if isinstance(tensor, (tuple, list)) and len(cast("Sequence[Any]", tensor)) == 2:
        shape, dtype = cast("Sequence[Any]", tensor)
        return TensorSpec(shape, dtype)
    raise ValueError(f"expected a tensor, e.g. '128x512:bfloat16', got {tensor!r}")


def _random(spec: TensorSpec, generator: np.random.Generator, ends: Ends | None) -> Array:
    kind, stored = DTYPES[spec.dtype].kind, STORAGE[spec.dtype]
    if kind is Kind.packed:
        if ends is not None:
            raise ValueError(f"ranges: {spec.dtype} holds several elements each, which have none")
        return _packed(spec, generator)
    if ends is not None:
        low, high = ends
        if not low <= high:
            raise ValueError(f"ranges: {low} is above {high}")
        if stored.kind in "iu":
            limits = np.iinfo(stored)
            if low < limits.min or high > limits.max or (low % 1, high % 1) != (0, 0):
                raise ValueError(f"ranges: {spec.dtype} does not hold {low} to {high}")
            return generator.integers(int(low), int(high), spec.shape, endpoint=True).astype(stored)
        values = generator.uniform(low, high, spec.shape)
        return np.clip(values.astype(np.float32).astype(stored), *_held(stored, low, high))
    if kind is Kind.boolean:
        return generator.integers(0, 2, spec.shape).astype(stored)
    if stored.kind in "iu":
        limits = np.iinfo(stored)
        low, high = max(limits.min, -_EXACT), min(limits.max, _EXACT)
        return generator.integers(low, high, spec.shape, endpoint=True).astype(stored)
    if spec.dtype == "float8_e8m0fnu":
        exponents = generator.integers(-4, 4, spec.shape, endpoint=True)
        return np.exp2(exponents).astype(np.float32).astype(stored)
    values = generator.standard_normal(spec.shape, np.float32)
    if spec.dtype == "tfloat32":
        return (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return values.astype(stored)


_EXACT = 1 << 24
"""The largest number up to which float32 represents all integers."""


def _held(stored: np.dtype[Any], low: float, high: float) -> tuple[Array, Array]:
    """Return the lowest and the highest value of a range, rounded to a dtype."""
    return np.float32(low).astype(stored), np.float32(high).astype(stored)


def _packed(spec: TensorSpec, generator: np.random.Generator) -> Array:
    """Return elements of a packed type: several small numbers in one element."""
    element, _, count = spec.dtype.rpartition("_x")
    shape = (*spec.shape[:-1], spec.shape[-1] * int(count))
    values = generator.standard_normal(shape, np.float32)
    stored = STORAGE[spec.dtype]
    if element in STORAGE:
        return values.astype(STORAGE[element]).view(stored)
    # NumPy stores 4-bit numbers in a byte each; in memory, two of them share a byte.
    codes = values.astype(getattr(ml_dtypes, element)).view(np.uint8)
    pairs = codes[..., 0::2] | (codes[..., 1::2] << 4)
    return np.ascontiguousarray(pairs).view(stored)
