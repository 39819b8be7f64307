"""The tasks of a sweep's processes: predict a variant, or compare the results of two variants."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from nkijit.dialects.collection import without_collection
from nkijit.dialects.dtypes import Kind
from nkijit.discovery.errors import failure_of
from nkijit.kernels.arguments import map_tensors
from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.numerics.storage import dtype_of_array
from nkijit.sweeps.costs import Cost, cost_of_trace
from nkijit.sweeps.payload import Payload, unpacked, value_of
from nkijit.testing.closeness import assert_close
from nkijit.testing.inputs import with_random_data

_DEPTH = 4096
"""The assumed number of successive float32 operations in a kernel, for the tolerance."""
_ROUNDINGS = 4
"""The assumed number of roundings to the narrowest dtype in a kernel, for the tolerance."""


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(ShownFields):
    """The agreement of a variant's results with those of the first valid variant."""

    off: float | None
    """The largest difference, relative to the largest magnitude; None if nothing was compared."""
    agrees: bool
    """Whether rounding explains the differences."""
    failure: str = ""
    """The reason why the variant could not be run or compared; "" if it was."""


def predict(data: bytes, point: bytes) -> Cost:
    """Predict the cost of a variant. Never raises an exception for errors of the kernel."""
    payload = unpacked(data)
    kernel = payload.kernel
    try:
        arguments = {**payload.arguments, **value_of(point)}
        with without_collection():
            return cost_of_trace(
                kernel,
                lambda: kernel.trace(**arguments),
                lambda traced: traced.profile(schedule=payload.schedule),
            )
    except Exception as error:
        failure = failure_of(error).message
        return Cost(kernel.__name__, kernel.target.platform, failure=failure)
    finally:
        kernel.cache_clear()  # each variant is evaluated once


def compare(data: bytes, point: bytes, reference: bytes) -> Agreement:
    """Run a variant, and compare its results with the results of another one, `reference`."""
    payload = unpacked(data)
    try:
        expected = _reference(data, reference)
        found = _results(payload, value_of(point))
    except Exception as error:
        return Agreement(None, False, failure_of(error).message)
    finally:
        payload.kernel.cache_clear()
    try:
        off = max((_off(one, other) for one, other in _pairs(found, expected)), default=0.0)
    except ValueError as error:
        return Agreement(None, False, str(error))
    try:
        assert_close(
            found,
            expected,
            depth=_DEPTH,
            intermediate=_narrowest([*found, *expected]),
            roundings=_ROUNDINGS,
        )
    except AssertionError:
        return Agreement(off, False)
    return Agreement(off, True)


@lru_cache(maxsize=1)
def _reference(data: bytes, point: bytes) -> list[Any]:
    # Copies, as a later run may reuse the memory of results.
    return [np.array(each) for each in _results(unpacked(data), value_of(point))]


def _results(payload: Payload, point: Mapping[str, Any]) -> list[Any]:
    """Return a variant's results, and its array arguments, which the variant may have written."""
    values = {**payload.arguments, **point}
    copied = map_tensors(values, lambda name, value, spec: _copied(value))
    arguments = with_random_data(copied, payload.seed)
    arrays: list[Any] = []
    returned = payload.kernel(**arguments)
    map_tensors({"result": returned, **arguments}, lambda name, value, spec: arrays.append(value))
    return arrays


def _copied(value: Any) -> Any:
    """Copy an array that a variant may write, so that every variant gets the same input."""
    return copy.deepcopy(value)


def _pairs(found: list[Any], expected: list[Any]) -> list[tuple[Any, Any]]:
    """Return pairs of a result and its expected value. Raises ValueError if shapes differ."""
    shapes = [[np.shape(each) for each in arrays] for arrays in (found, expected)]
    if shapes[0] != shapes[1]:
        raise ValueError("its tensors have other shapes than those of the first valid variant")
    return list(zip(found, expected, strict=True))


def _off(one: Any, other: Any) -> float:
    """Return the largest difference of two arrays, relative to the largest magnitude."""
    actual, right = np.asarray(one, np.float64), np.asarray(other, np.float64)
    with np.errstate(all="ignore"):
        apart = np.where(
            (actual == right) | (np.isnan(actual) & np.isnan(right)), 0, actual - right
        )
        largest = float(np.max(np.abs(apart), initial=0.0))
        finite = right[np.isfinite(right)]
        size = float(np.max(np.abs(finite), initial=0.0))
    return largest / size if size else largest


def _narrowest(arrays: list[Any]) -> str | None:
    """Return the floating-point type with the fewest bits among some arrays."""
    dtypes = [dtype_of_array(np.asarray(array)) for array in arrays]
    floats = [each for each in dtypes if each is not None and each.kind is Kind.float]
    return min(floats, key=lambda dtype: (dtype.bits, dtype.name)).name if floats else None
