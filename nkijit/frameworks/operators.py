"""Kernels as custom operators of PyTorch (`torch.library`).

An operator is defined for each specialisation of a kernel: its schema has the kernel's tensors by
name, marks those that the kernel writes, and has one result per result of the kernel. Its name ends
with a digest of the kernel's IR, so that it is the same in other processes. Operators exist until
the process ends.

This module imports PyTorch.
"""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nkijit.frameworks.calls import ArgumentTypeError, DeferredCall
from nkijit.frameworks.pytorch import from_array, torch_dtype, values_of

torch: Any = import_module("torch")

NAMESPACE = "nkijit"
"""The namespace of the operators: `torch.ops.nkijit`."""


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of PyTorch that runs a specialisation of a kernel."""

    call: DeferredCall
    function: Callable[..., Any]
    """The operator in `torch.ops`."""
    in_transformation: Any
    """The operator as a `torch.autograd.Function`."""

    def __call__(self, *tensors: Any) -> list[Any]:
        """Run the operator and return its results."""
        # torch.func.grad does not see the gradients of operators of torch.library.
        transformed = any(map(torch._C._functorch.is_functorch_wrapped_tensor, tensors))
        run = self.in_transformation.apply if transformed else self.function
        return _listed(run(*tensors))


_OPERATORS: dict[str, Operator] = {}
"""The operators by name."""


def operator_of(call: DeferredCall) -> Operator:
    """Return the operator of a call; define it if it does not exist."""
    digest = hashlib.sha256(call.text().encode()).hexdigest()[:12]
    symbol = f"{_identifier(call.name)}_{digest}"
    name = symbol
    # Operators of kernels that differ in their backward kernels only are numbered.
    while (found := _OPERATORS.get(name)) is not None and found.call.backward != call.backward:
        name = f"{symbol}_{len(_OPERATORS)}"
    if found is None:
        function = _defined(name, call)
        found = _OPERATORS[name] = Operator(call, function, _in_transformation(call, function))
    return found


def _defined(name: str, call: DeferredCall) -> Callable[..., Any]:
    """Define an operator and return it."""
    names = _names(call)
    device = torch.device

    def run(*tensors: Any) -> Any:
        for (name, _), tensor in zip(call.inputs, tensors, strict=True):
            _check_device(name, tensor)
        results = call.run(*(values_of(torch, tensor) for tensor in tensors))
        return _packed([from_array(torch, result) for result in results])

    def without_values(*tensors: Any) -> Any:
        at: Any = device("cpu")
        for (name, _), tensor in zip(call.inputs, tensors, strict=True):
            _check_device(name, tensor)
            at = tensor.device
        types = [(shape, torch_dtype(torch, dtype)) for shape, dtype in call.results]
        return _packed([torch.empty(shape, dtype=dtype, device=at) for shape, dtype in types])

    # Raises if a result has no data type of PyTorch, before anything refers to the operator.
    for _, dtype in call.results:
        torch_dtype(torch, dtype)
    written = [name for name, (_, is_written) in zip(names, call.inputs, strict=True) if is_written]
    qualified = f"{NAMESPACE}::{name}"
    defined = torch.library.custom_op(
        qualified, run, mutates_args=written, schema=_schema(names, call)
    )
    defined.register_fake(without_values)
    function = getattr(getattr(torch.ops, NAMESPACE), name).default
    defined.register_vmap(_over_batch(call, function))
    if not written:
        defined.register_autograd(_backward(call), setup_context=_save)
    return function


def _in_transformation(call: DeferredCall, function: Callable[..., Any]) -> Any:
    """Return an operator as a function of autograd, for the transformations of `torch.func`."""
    return type(
        call.name,
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda *tensors: function(*tensors)),
            "setup_context": staticmethod(_save),
            "backward": staticmethod(_backward(call)),
            "vmap": staticmethod(_over_batch(call, function)),
        },
    )


def _schema(names: Sequence[str], call: DeferredCall) -> str:
    """Return the operator's schema: `(Tensor x, Tensor(a1!) y) -> (Tensor, Tensor)`."""
    pairs = zip(names, call.inputs, strict=True)
    parameters = [
        f"Tensor(a{number}!) {name}" if is_written else f"Tensor {name}"
        for number, (name, (_, is_written)) in enumerate(pairs)
    ]
    results = ["Tensor"] * len(call.results)
    result = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(parameters)}) -> {result}"


def _names(call: DeferredCall) -> list[str]:
    """Return the names of the operator's parameters."""
    names: list[str] = []
    for name, _ in call.inputs:
        word = _identifier(name)
        names.append(f"{word}_{len(names)}" if word in names else word)
    return names


def _identifier(name: str) -> str:
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"{word}_" if keyword.iskeyword(word) else word


def _check_device(name: str, tensor: Any) -> None:
    if tensor.device.type not in ("cpu", "meta"):
        raise ArgumentTypeError(
            f"argument '{name}' is on device {tensor.device}; pass tensor.cpu()"
        )


def _packed(results: list[Any]) -> Any:
    """Return results as the operator returns them: None, a tensor or a tuple."""
    if not results:
        return None
    return results[0] if len(results) == 1 else tuple(results)


def _listed(results: Any) -> list[Any]:
    """Return the results of an operator as a list."""
    if results is None:
        return []
    return [*results] if type(results) in (tuple, list) else [results]


def _over_batch(call: DeferredCall, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the rule for `torch.vmap`: the operator runs once per element of the batch."""

    def batched(info: Any, in_dims: Sequence[int | None], *tensors: Any) -> tuple[Any, Any]:
        if call.written is not None:
            raise ArgumentTypeError(
                f"torch.vmap of kernel '{call.name}': the kernel writes its argument "
                f"'{call.written}'; write to a tensor that the kernel allocates and returns"
            )
        runs = [
            _listed(
                function(
                    *(
                        tensor if dim is None else tensor.select(dim, index)
                        for tensor, dim in zip(tensors, in_dims, strict=True)
                    )
                )
            )
            for index in range(info.batch_size)
        ]
        stacked = [torch.stack(results) for results in zip(*runs, strict=True)]
        return _packed(stacked), _packed([0] * len(stacked))

    return batched


def _save(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    """Save the tensors that a backward kernel receives; PyTorch passes arguments by these names."""
    ctx.save_for_backward(*inputs, *_listed(output))


def _backward(call: DeferredCall) -> Callable[..., Any]:
    """Return the rule for autograd: the backward kernel computes gradients.

    PyTorch raises RuntimeError for second derivatives.
    """

    @torch.autograd.function.once_differentiable
    def backward(context: Any, *gradients: Any) -> Any:
        saved = context.saved_tensors
        inputs, results = saved[: len(call.inputs)], saved[len(call.inputs) :]
        # A result without influence has no gradient.
        given = [
            torch.zeros_like(result) if gradient is None else gradient
            for result, gradient in zip(results, gradients, strict=True)
        ]
        found = call.gradients(inputs, results, given)
        return found[0] if len(found) == 1 else tuple(found)

    return backward
