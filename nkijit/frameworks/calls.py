"""Calls of kernels that a framework runs later, once their arrays have values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
ArrayType = tuple[tuple[int, ...], np.dtype[Any]]
"""The shape and the NumPy dtype of an array."""
Run = Callable[..., list[Array]]


class ArgumentTypeError(TypeError):
    """A kernel was called with a value that cannot be an argument."""

    help = "pass an array of a data type of nl, or a value that is known while tracing"
    """The fix, for the finding of a call."""


class Backward(Protocol):
    """The backward kernel of a call, with the call's arguments that are not arrays."""

    def gradients(
        self, inputs: Sequence[Any], results: Sequence[Any], gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient of each input; None for inputs without floating-point elements.

        Args:
            inputs: the arrays of the call, in order.
            results: the results of the call.
            gradients: the gradients of the results.
        """
        ...


@dataclass(frozen=True, slots=True)
class DeferredCall:
    """A call of a verified kernel on arrays that may not have values yet."""

    name: str
    """The kernel's name."""
    inputs: Sequence[tuple[str, bool]]
    """The name of each array, and whether the kernel writes it."""
    results: Sequence[ArrayType]
    run: Run
    """Interprets the kernel on NumPy arrays, writes arrays in place, and returns the results."""
    text: Callable[[], str]
    """Returns a text that is the same for calls with the same results."""
    pack: Callable[[list[Any]], Any]
    """Makes the kernel's result of a list of its tensors."""
    backward: Backward | None
    """None if the kernel has no backward kernel."""

    @property
    def written(self) -> str | None:
        """The name of the first array that the kernel writes; None if it writes none."""
        return next((name for name, is_written in self.inputs if is_written), None)

    def gradients(
        self, inputs: Sequence[Any], results: Sequence[Any], gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient of each input (see `Backward`).

        Raises ArgumentTypeError if the kernel has no backward kernel.
        """
        if self.backward is None:
            raise ArgumentTypeError(no_backward(self.name))
        return self.backward.gradients(inputs, results, gradients)


def no_backward(name: str) -> str:
    """Return the text for a kernel without a backward kernel."""
    return (
        f"kernel '{name}' has no backward kernel, so gradients do not flow through it; call "
        f"{name}.with_backward(backward), where backward(*arguments, *results, *gradients) returns "
        "the gradients of the arguments"
    )
