"""Calls of kernels in functions that `torch.compile` reads.

Dynamo follows `call_in_dynamo` and the functions that it calls, except `_operator_for`, which it
runs. In the graph, the call is one node: an operator of `nkijit.frameworks.operators`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, Protocol

import numpy as np

from nkijit.frameworks.calls import ArgumentTypeError, DeferredCall


class Callee(Protocol):
    """The part of `Kernel` that this module uses."""

    def __getitem__(self, grid: Any) -> Callee:
        """Return the kernel on a grid."""
        ...

    def deferred(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[DeferredCall, list[Any]]:
        """Return a call for a framework to run, and its arrays."""
        ...


class Calls:
    """The calls of operators, as attributes with the names that `_operator_for` returns.

    Dynamo cannot use a function that another one returns, but it can read attributes.
    """


CALLS = Calls()
_NUMBERS = count()


def on_grid(kernel: Callee, grid: Any) -> Callable[..., Any]:
    """Return a function that calls a kernel on a grid. Dynamo cannot create a kernel."""
    return lambda *args, **kwargs: call_in_dynamo(kernel, grid, args, kwargs)


def call_in_dynamo(kernel: Callee, grid: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a kernel as an operator of PyTorch; `grid` is None for a kernel without `[grid]`."""
    torch: Any = sys.modules["torch"]
    tensors: list[Any] = []
    leaves: list[Any] = []
    # A constant function must not have tensors as arguments: Dynamo would compute their values.
    form = _flat(torch, (args, kwargs), tensors, leaves)
    name = _operator_for(kernel, grid, form, *leaves)
    return getattr(CALLS, name)(*tensors)


def _flat(torch: Any, value: Any, tensors: list[Any], leaves: list[Any]) -> Any:
    """Return the form of a value: its containers, with a letter for each leaf.

    Tensors are added to `tensors`. Their properties and all other leaves are added to `leaves`.
    """
    if isinstance(value, np.ndarray):
        value = torch.as_tensor(value)
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        leaves.append(tuple([operator.index(dim) for dim in value.shape]))
        leaves.append(value.dtype)
        leaves.append(value.requires_grad and torch.is_grad_enabled())
        return "T"
    of_any: Any = value
    if isinstance(value, (tuple, list)):
        items = tuple([_flat(torch, item, tensors, leaves) for item in of_any])
        if hasattr(of_any, "_fields"):
            leaves.append(type(of_any))
            return ("named", items)
        return ("tuple" if isinstance(value, tuple) else "list", items)
    if isinstance(value, dict):
        keys = tuple(of_any)
        return ("dict", keys, tuple([_flat(torch, of_any[key], tensors, leaves) for key in keys]))
    leaves.append(_constant(value))
    return "C"


def _constant(value: Any) -> Any:
    """Return a number that Dynamo regards as variable as a constant."""
    if isinstance(value, int) and not isinstance(value, bool):
        return operator.index(value)
    if isinstance(value, float):
        return next(iter({value: None}))  # a key of a dictionary is a constant
    return value


def _operator_for(kernel: Callee, grid: Any, form: Any, *leaves: Any) -> str:
    """Return the attribute of `CALLS` that calls the operator for these arguments."""
    # Imports PyTorch.
    from nkijit.frameworks.operators import operator_of, torch

    given: list[Any] = []
    args, kwargs = _rebuilt(torch, form, iter(leaves), given)
    launched = kernel if grid is None else kernel[grid]
    with torch.enable_grad():  # the leaves say which gradients are recorded
        call, values = launched.deferred(args, kwargs)
    for (name, _), value in zip(call.inputs, values, strict=True):
        if all(value is not one for one in given):
            raise ArgumentTypeError(
                f"argument '{name}' of kernel '{call.name}' is a tensor in an object, which "
                "torch.compile does not see; pass tensors as arguments, or in tuples, lists and "
                "dictionaries"
            )
    name = f"call_{next(_NUMBERS)}"
    order = [next(i for i, one in enumerate(given) if one is value) for value in values]
    setattr(CALLS, name, _call(operator_of(call).function, order, len(call.results), call.pack))
    return name


_operator_for._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]


def _call(
    function: Callable[..., Any], order: Sequence[int], results: int, pack: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a function that calls an operator, with code that Dynamo can follow.

    Args:
        function: the operator.
        order: the numbers of the caller's tensors in the order of the operator's parameters.
        results: the number of results of the operator.
        pack: makes the kernel's result of a list of results.
    """

    def call(*tensors: Any) -> Any:
        returned = function(*[tensors[number] for number in order])
        if results == 0:
            return pack([])
        return pack([returned] if results == 1 else list(returned))

    return call


def _rebuilt(torch: Any, form: Any, leaves: Iterator[Any], given: list[Any]) -> Any:
    """Return the value with a form and leaves (`_flat`), with tensors without values.

    The tensors are added to `given`, in the order of `_flat`.
    """
    if form == "T":
        shape, dtype, requires_grad = next(leaves), next(leaves), next(leaves)
        tensor = torch.empty(shape, dtype=dtype, device="meta", requires_grad=requires_grad)
        given.append(tensor)
        return tensor
    if form == "C":
        return next(leaves)
    items = [_rebuilt(torch, item, leaves, given) for item in form[-1]]
    if form[0] == "dict":
        return dict(zip(form[1], items, strict=True))
    if form[0] == "named":
        return next(leaves)(*items)
    return tuple(items) if form[0] == "tuple" else items
