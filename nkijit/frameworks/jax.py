"""Arrays of JAX as arguments and results of kernels.

`jax` is a parameter of all functions, because nkijit does not import JAX by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nkijit.frameworks.calls import ArgumentTypeError, Array, DeferredCall

_ONE_DEVICE = (
    "and a kernel runs on one device; call the kernel in jax.shard_map, on the part of each "
    "device, or pass jax.device_get(array)"
)


def is_pending(jax: Any, array: Any) -> bool:
    """Return whether a transformation of JAX is tracing an array, which has no values yet."""
    return isinstance(array, jax.core.Tracer)


def records_gradients(jax: Any, array: Any) -> bool:
    """Return False: an array that JAX differentiates is pending, and `later` defines gradients."""
    del jax, array
    return False


def to_array(jax: Any, array: Any) -> Array:
    """Return a NumPy array with the values of an array, or with the shape of a pending array.

    Raises ArgumentTypeError; the text continues a sentence that starts with the argument's name.
    """
    if not is_pending(jax, array):
        devices = len(array.sharding.device_set)
        if devices > 1:
            raise ArgumentTypeError(f"is sharded over {devices} devices, {_ONE_DEVICE}")
        return np.asarray(array)
    # Known for axes of the type Explicit only. For others, XLA collects the array on one device.
    spec = getattr(getattr(array.aval, "sharding", None), "spec", None)
    if spec is not None and any(axes is not None for axes in spec):
        raise ArgumentTypeError(f"is sharded over the axes {spec} of a mesh, {_ONE_DEVICE}")
    if not array.ndim:
        raise ArgumentTypeError(
            "has no value yet: it is traced by a transformation such as jax.jit, and numbers are "
            "constants of a kernel; make it a static argument, or pass an array of shape (1, 1)"
        )
    # Tracing needs only shape and data type.
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def later(jax: Any, call: DeferredCall, arrays: Sequence[Any]) -> list[Any]:
    """Return the results of a call as a callback of JAX.

    `jax.vmap` runs the kernel once per element of the batch. `jax.grad` calls the backward kernel.
    """
    if call.written is not None:
        raise ArgumentTypeError(
            f"the kernel writes its argument '{call.written}', which a transformation of JAX does "
            "not see; write to a tensor that the kernel allocates and returns"
        )
    types = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in call.results]

    def run(*values: Any) -> list[Array]:
        return call.run(*map(np.asarray, values))

    def forward(*inputs: Any) -> list[Any]:
        return jax.pure_callback(run, types, *inputs, vmap_method="sequential")

    def saving(*inputs: Any) -> tuple[list[Any], Any]:
        results = forward(*inputs)
        return results, (inputs, results)

    def backward(saved: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
        inputs, results = saved
        found = call.gradients(inputs, results, gradients)
        # JAX expects gradients without elements for inputs that are not floating point.
        return tuple(
            np.zeros(value.shape, jax.dtypes.float0) if gradient is None else gradient
            for value, gradient in zip(inputs, found, strict=True)
        )

    operator = jax.custom_vjp(forward)
    operator.defvjp(saving, backward)
    return operator(*arrays)


def from_array(jax: Any, array: Array) -> Any:
    """Return a NumPy array as an array of JAX."""
    return jax.numpy.asarray(array)


def is_dtype(jax: Any, value: Any) -> bool:
    """Return whether a value is a data type of JAX."""
    # The type of jnp.float32 and the others has no public name.
    return type(value) is type(jax.numpy.float32)
