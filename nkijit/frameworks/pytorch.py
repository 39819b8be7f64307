"""Tensors of PyTorch as arguments and results of kernels.

`torch` is a parameter of all functions, because nkijit does not import PyTorch by itself.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from nkijit.frameworks.calls import ArgumentTypeError, Array
from nkijit.passes.numerics.storage import STORAGE

_BITS = {1: ("uint8", np.uint8), 2: ("int16", np.int16)}
"""For each size in bytes, the name of the integer type in PyTorch and the type in NumPy.

Arrays of a type that NumPy lacks (bfloat16, float8) are passed as integers of the same size.
"""


def is_pending(torch: Any, tensor: Any) -> bool:
    """Return whether PyTorch has to see a call on a tensor, as an operator.

    Such tensors are fake or on the device meta, or belong to a transformation (`torch.func.vmap`).
    A dispatch mode sees all operators, for example while `torch.export` traces.
    """
    return (
        tensor.is_meta
        or type(tensor) not in (torch.Tensor, torch.nn.Parameter)
        # PyTorch has no public functions for these two; its own libraries call them.
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


def records_gradients(torch: Any, tensor: Any) -> bool:
    """Return whether autograd records a call on a tensor."""
    # In autograd.Function.forward, nothing is recorded.
    return tensor.requires_grad and torch.is_grad_enabled()


def to_array(torch: Any, tensor: Any) -> Array:
    """Return a NumPy array on the memory of a tensor.

    A pending tensor becomes an array of its shape and dtype. Raises ArgumentTypeError; the text
    continues a sentence that starts with the argument's name.
    """
    if tensor.device.type not in ("cpu", "meta"):
        raise ArgumentTypeError(f"is on device {tensor.device}; pass tensor.cpu()")
    if tensor.layout != torch.strided:
        raise ArgumentTypeError(f"has layout {tensor.layout}; pass tensor.to_dense()")
    if is_pending(torch, tensor):
        return _without_values(torch, tensor)
    return values_of(torch, tensor)


def _without_values(torch: Any, tensor: Any) -> Array:
    """Return an array with the shape and the dtype of a pending tensor."""
    if not tensor.ndim:
        raise ArgumentTypeError(
            "has no value yet: it is traced by a transformation such as torch.compile, and numbers "
            "are constants of a kernel; pass a Python number, or a tensor of shape (1, 1)"
        )
    dtype = _numpy_dtype(torch, tensor)
    # A symbolic dimension becomes a number here: a trace is made for one shape.
    return np.broadcast_to(np.zeros((), dtype), [int(dim) for dim in tensor.shape])


def _numpy_dtype(torch: Any, tensor: Any) -> np.dtype[Any]:
    stored = STORAGE.get(str(tensor.dtype).removeprefix("torch."))
    if stored is not None:
        return stored
    try:
        return torch.empty(0, dtype=tensor.dtype, device="cpu").numpy().dtype
    except (TypeError, RuntimeError) as error:
        raise ArgumentTypeError(f"cannot be read: {error}") from None


def values_of(torch: Any, tensor: Any) -> Array:
    """Return a NumPy array on the memory of a tensor that has values."""
    stored = STORAGE.get(str(tensor.dtype).removeprefix("torch."))
    try:
        if stored is None or stored.isbuiltin == 1:
            array = cast(Array, tensor.detach().numpy())
        else:
            bits, _ = _BITS[stored.itemsize]
            array = tensor.detach().view(getattr(torch, bits)).numpy().view(stored)
    except (TypeError, RuntimeError) as error:
        raise ArgumentTypeError(f"cannot be read: {error}") from None
    if any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)):
        array.flags.writeable = False  # expanded: elements share memory
    return array


def from_array(torch: Any, array: Array) -> Any:
    """Return a tensor on the memory of a NumPy array."""
    if array.dtype.isbuiltin == 1:
        return torch.from_numpy(array)
    target = torch_dtype(torch, array.dtype)
    return torch.from_numpy(array.view(_BITS[array.dtype.itemsize][1])).view(target)


def torch_dtype(torch: Any, dtype: np.dtype[Any]) -> Any:
    """Return PyTorch's data type for a result. Raises ArgumentTypeError if there is none."""
    found = getattr(torch, dtype.name, None)
    if found is None:
        raise ArgumentTypeError(
            f"a result is {dtype.name}, a data type that PyTorch does not have; return "
            "another data type, or pass NumPy arrays"
        )
    return found


def is_dtype(torch: Any, value: Any) -> bool:
    """Return whether a value is a data type of PyTorch."""
    return type(value) is torch.dtype
