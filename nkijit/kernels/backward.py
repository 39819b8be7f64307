"""Backward kernels: gradients of a call for PyTorch and JAX."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from nkijit.frameworks.calls import ArgumentTypeError
from nkijit.kernels.arguments import TensorSpec, map_tensors
from nkijit.kernels.cache_key import UnkeyableError, image_of


class BackwardOfCall:
    """The backward kernel of a call, with the call's arguments that are not arrays."""

    def __init__(
        self,
        name: str,
        parameters: inspect.Signature,
        arguments: Mapping[str, Any],
        backward: Callable[..., Any],
    ):
        """Create the backward kernel of a call.

        Args:
            name: the name of the forward kernel.
            parameters: the parameters of the forward kernel.
            arguments: the arguments of the call, with a TensorSpec in place of each array.
            backward: the backward kernel, or a function of arrays.
        """
        self._name = name
        self._parameters = parameters
        self._arguments = arguments
        self._backward = backward

    def __eq__(self, other: object) -> bool:
        """Return whether calls have the same backward kernel and the same arguments."""
        if not isinstance(other, BackwardOfCall) or self._backward is not other._backward:
            return False
        try:
            return bool(image_of(self._arguments) == image_of(other._arguments))
        except UnkeyableError:
            return False

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def gradients(
        self, inputs: Sequence[Any], results: Sequence[Any], gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient of each input (see `nkijit.frameworks.calls.Backward`)."""
        remaining = iter(inputs)
        specs: list[tuple[str, TensorSpec]] = []

        def array_of(name: str, _value: Any, spec: TensorSpec) -> Any:
            specs.append((name, spec))
            return next(remaining)

        arguments = map_tensors(self._arguments, array_of)
        call = inspect.BoundArguments(self._parameters, cast(Any, arguments))
        found = self._backward(*call.args, *call.kwargs.values(), *results, *gradients)
        several = isinstance(found, (tuple, list))
        returned = list(cast("Sequence[Any]", found)) if several else [found]
        expected = [name for name, spec in specs if _is_floating(spec)]
        if len(returned) != len(expected):
            raise ArgumentTypeError(
                f"the backward kernel of '{self._name}' returned {len(returned)} gradients; it "
                f"returns one for each floating-point array: {', '.join(expected) or 'none'}"
            )
        each = iter(returned)
        return [
            _checked(self._name, name, spec, next(each)) if _is_floating(spec) else None
            for name, spec in specs
        ]


def _is_floating(spec: TensorSpec) -> bool:
    return "float" in spec.dtype or spec.dtype.startswith("tfloat")


def _checked(kernel: str, name: str, spec: TensorSpec, gradient: Any) -> Any:
    """Return a gradient. Raises ArgumentTypeError if it does not have its argument's shape."""
    shape = tuple(getattr(gradient, "shape", ()))
    if shape != spec.shape:
        raise ArgumentTypeError(
            f"the backward kernel of '{kernel}' returned a gradient of shape {shape} for argument "
            f"'{name}', which has shape {spec.shape}"
        )
    return gradient
