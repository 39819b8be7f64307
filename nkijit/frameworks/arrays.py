"""Arrays of PyTorch and JAX as arguments and results of kernels.

Each framework has one entry in `_FRAMEWORKS`, which converts its arrays to NumPy arrays on the same
memory, and results to its arrays. Neither framework is imported here: a value can be an array of a
framework only if the caller has imported it, and then it is in `sys.modules`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from nkijit.frameworks import jax, pytorch
from nkijit.frameworks.calls import ArgumentTypeError, Array, DeferredCall, no_backward
from nkijit.host.installed import per_class, text_of
from nkijit.passes.numerics.storage import dtype_called, dtype_of_array, is_plain
from nkijit.tracing.dtype_names import as_dtype


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework, and the conversions between its arrays and NumPy's."""

    name: str
    """The framework's name in messages."""
    module: str
    """The framework's module in `sys.modules`."""
    array_type: str
    """The name of the array class in the framework's module."""
    convert: str
    """The expression that messages recommend for changing an array's data type.

    `{}` is replaced by the name of the type.
    """
    to_array: Callable[[Any, Any], Array]
    """`to_array(module, array)` returns a NumPy array, on the same memory where possible.

    Raises ArgumentTypeError; the text continues a sentence that starts with the argument's name.
    """
    from_array: Callable[[Any, Array], Any]
    """`from_array(module, array)` converts a NumPy array to the framework, with or without a copy.
    """
    is_dtype: Callable[[Any, Any], bool]
    """`is_dtype(module, value)`: whether a value is one of the framework's data types."""
    is_pending: Callable[[Any, Any], bool]
    """`is_pending(module, array)`: whether the array may have no values yet.

    A transformation such as `jax.jit` or `torch.export` is tracing it, or the framework has to see
    the call for another reason.
    """
    records_gradients: Callable[[Any, Any], bool]
    """`records_gradients(module, array)`: whether calls on the array need a backward kernel."""
    later: Callable[[Any, DeferredCall, Sequence[Any]], list[Any]]
    """`later(module, call, arrays)` has the framework run a call, and returns the results.

    If arrays are pending, the framework runs the call once they have values, and the results are
    pending, too.
    """
    immutable: bool = False
    """Whether the framework's arrays are immutable, so that kernels cannot write them."""

    @property
    def loaded(self) -> Any:
        """The framework's module; None if the caller has not imported it."""
        return sys.modules.get(self.module)

    def owns(self, value: Any) -> bool:
        """Whether the value is an array of this framework."""
        # A module may lack its classes while it is being imported.
        kind = getattr(self.loaded, self.array_type, None)
        # Modules of classes first: `isinstance` reads `__class__`, which may raise in users'
        # objects.
        return (
            kind is not None
            and f" {self.module}" in _packages(cast(Any, type(value)))
            and isinstance(value, kind)
        )

    def pending(self, value: Any) -> bool:
        """Whether the value is an array of this framework without values yet (`is_pending`)."""
        return self.owns(value) and self.is_pending(self.loaded, value)

    def records(self, value: Any) -> bool:
        """Whether the value is an array whose gradients this framework records."""
        return self.owns(value) and self.records_gradients(self.loaded, value)

    def run_later(self, call: DeferredCall, arrays: Sequence[Any]) -> list[Any]:
        """Return the results of a call that the framework runs (`later`)."""
        return self.later(self.loaded, call, arrays)

    def result(self, array: Array) -> Any:
        """Return a kernel's result as an array of the framework."""
        return self.from_array(self.loaded, array)


@per_class
def _packages(kind: type[Any]) -> str:
    """Return the modules of a class and of its bases, as text with a space before each module."""
    return "".join(f" {text_of(base, '__module__')}" for base in kind.__mro__)


def _later_in_torch(torch: Any, call: DeferredCall, tensors: Sequence[Any]) -> list[Any]:
    """Return the results of a call as a custom operator of PyTorch."""
    # Imports PyTorch.
    from nkijit.frameworks.operators import operator_of

    operator = operator_of(call)
    return operator(
        *(t if isinstance(t, torch.Tensor) else pytorch.from_array(torch, t) for t in tensors)
    )


_FRAMEWORKS = (
    Framework(
        "PyTorch",
        "torch",
        "Tensor",
        ".to(torch.{})",
        pytorch.to_array,
        pytorch.from_array,
        pytorch.is_dtype,
        pytorch.is_pending,
        pytorch.records_gradients,
        _later_in_torch,
    ),
    Framework(
        "JAX",
        "jax",
        "Array",
        ".astype(jnp.{})",
        jax.to_array,
        jax.from_array,
        jax.is_dtype,
        jax.is_pending,
        jax.records_gradients,
        jax.later,
        immutable=True,
    ),
)


def framework_of(value: Any) -> Framework | None:
    """Return the framework of an array; None for NumPy's arrays and for other values."""
    if issubclass(type(value), np.ndarray):
        return None
    for framework in _FRAMEWORKS:
        if framework.owns(value):
            return framework
    return None


def common_framework(values: Iterable[Any]) -> Framework | None:
    """Return the framework of a call's results.

    The result is None if all arguments are NumPy arrays. NumPy arrays can be mixed with arrays of
    one framework. Raises ArgumentTypeError for arrays of two frameworks.
    """
    found = {f.name: f for f in map(framework_of, values) if f is not None}
    if len(found) > 1:
        raise ArgumentTypeError(
            f"arrays of {' and '.join(sorted(found))} in one call; results can come back in one "
            "framework only, so convert the others"
        )
    return next(iter(found.values()), None)


def deferring_framework(values: Sequence[Any]) -> Framework | None:
    """Return the framework that has to see a call on these arrays; None if it can run at once.

    Raises ArgumentTypeError when two frameworks are mixed.
    """
    for value in values:
        framework = framework_of(value)
        if framework is not None and (framework.pending(value) or framework.records(value)):
            return common_framework(values)
    return None


def check_gradients(call: DeferredCall, values: Sequence[Any]) -> None:
    """Raise ArgumentTypeError for an array whose gradients need a backward kernel.

    Kernels without a backward kernel raise at the call, not later, in the backward pass.
    """
    if call.backward is not None:
        return
    for (name, _), value in zip(call.inputs, values, strict=False):
        framework = framework_of(value)
        if framework is not None and framework.records(value):
            raise ArgumentTypeError(
                f"argument '{name}' requires grad, but {no_backward(call.name)}; without "
                f"gradients, call it under torch.no_grad(), or pass {name}.detach()"
            )


def as_array(name: str, value: Any) -> Array | None:
    """Return an argument as NumPy array, on the same memory if possible; None if it is no array.

    Arrays are NumPy arrays, arrays of the frameworks, and objects with `__dlpack__` or `__array__`;
    a kernel cannot write such objects. NumPy scalars are not arrays. Raises ArgumentTypeError for
    arrays that cannot be read and for data types that NKI does not have.
    """
    kind = cast("type[Any]", type(value))
    if issubclass(kind, np.ma.MaskedArray):
        raise ArgumentTypeError(f"argument '{name}' is a masked array; pass array.filled(...)")
    if issubclass(kind, np.ndarray):
        array, convert = cast(Array, value), ".astype(np.{})"
    else:
        framework = framework_of(value)
        try:
            if framework is not None:
                array, convert = framework.to_array(framework.loaded, value), framework.convert
            elif _offers_an_array(value):
                array, convert = _from_protocol(value), ""
            else:
                return None
        except ArgumentTypeError as error:
            raise ArgumentTypeError(f"argument '{name}' {error}") from None
    # An array without dimensions is a number, which may be of any type.
    if array.ndim and dtype_of_array(array) is None:
        suggested = "int32" if array.dtype.kind in "iu" else "float32"
        hint = f", e.g. with {convert.format(suggested)}" if convert else ""
        if array.dtype.name == "float4_e2m1fn":
            hint = f"{hint}, or pack four elements into one of float4_e2m1fn_x4"
        raise ArgumentTypeError(
            f"argument '{name}' is an array of {array.dtype}, a data type that NKI does not "
            f"have; convert it{hint}"
        )
    return array


def named_dtypes(inputs: Iterable[Any]) -> dict[str, np.dtype[Any]]:
    """Return the inputs' dtypes that match an NKI type only by name, keyed by that name.

    See `storage.dtype_called`. If several dtypes have the same name, the first one is returned.
    """
    found: dict[str, np.dtype[Any]] = {}
    for value in inputs:
        if isinstance(value, np.ndarray) and not is_plain(cast(Array, value).dtype):
            dtype = dtype_called(cast(Array, value).dtype)
            if dtype is not None:
                found.setdefault(dtype.name, cast(Array, value).dtype)
    return found


def _offers_an_array(value: Any) -> bool:
    # On the class, as Python does: an object that has any attribute (a mock) is no array.
    kind = cast("type[Any]", type(value))
    if issubclass(kind, (np.generic, type)):
        return False
    return (hasattr(kind, "__array__") or hasattr(kind, "__dlpack__")) and hasattr(value, "shape")


def _from_protocol(value: Any) -> Array:
    kind = cast("type[Any]", type(value))
    try:
        array = np.from_dlpack(value) if hasattr(kind, "__dlpack__") else np.asarray(value)
    except Exception as error:
        raise ArgumentTypeError(
            f"is a {kind.__module__}.{kind.__qualname__} that NumPy cannot read: {error}"
        ) from error
    array = array.view()
    array.flags.writeable = False  # it may be a copy, so writes would be lost
    return array


def native_dtype(value: Any) -> str | None:
    """Return NKI's name of a data type of PyTorch or JAX; None for anything else.

    Raises ArgumentTypeError for a data type that NKI does not have.
    """
    for framework in _FRAMEWORKS:
        module = framework.loaded
        if getattr(module, framework.array_type, None) is None:
            continue
        if framework.is_dtype(module, value):
            try:
                return as_dtype(value).name
            except ValueError as error:
                raise ArgumentTypeError(str(error)) from None
    return None
