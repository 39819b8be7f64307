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
import numpy.typing as npt

from nkijit.host.installed import per_class, text_of
from nkijit.passes.numerics.storage import STORAGE, dtype_called, dtype_of_array, is_plain
from nkijit.tracing.dtype_names import as_dtype

Array = npt.NDArray[Any]
ArrayType = tuple[tuple[int, ...], np.dtype[Any]]
"""The shape and the NumPy dtype of an array."""
Run = Callable[..., list[Array]]
Later = Callable[[Any, Run, Sequence[ArrayType], Sequence[Any]], list[Any]]


class ArgumentTypeError(TypeError):
    """A kernel was called with a value that cannot be an argument."""


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
    immutable: bool = False
    """Whether the framework's arrays are immutable, so that kernels cannot write them."""
    is_pending: Callable[[Any, Any], bool] = lambda module, array: False
    """`is_pending(module, array)`: whether a transformation such as `jax.jit` is tracing the array.

    A pending array has no values yet.
    """
    later: Later | None = None
    """`later(module, run, types, arrays)` calls `run` once the pending `arrays` have values.

    `types` are the types of the results. The results are returned at once and are pending, too.
    None if the framework's arrays are never pending.
    """

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

    def run_later(self, run: Run, types: Sequence[ArrayType], arrays: Sequence[Any]) -> list[Any]:
        """Return the results of a run that is deferred until pending arrays have values."""
        assert self.later is not None
        return self.later(self.loaded, run, types, arrays)

    def result(self, array: Array) -> Any:
        """Return a kernel's result as an array of the framework."""
        return self.from_array(self.loaded, array)


@per_class
def _packages(kind: type[Any]) -> str:
    """Return the modules of a class and of its bases, as text with a space before each module."""
    return "".join(f" {text_of(base, '__module__')}" for base in kind.__mro__)


# ---------------------------------------------------------------- PyTorch

_TORCH_BITS = {1: ("uint8", np.uint8), 2: ("int16", np.int16)}
"""For each size in bytes, the name of the integer type in PyTorch and the type in NumPy.

Arrays of a type that NumPy lacks (bfloat16, float8) are passed as integers of the same size.
"""


def _from_torch(torch: Any, tensor: Any) -> Array:
    if tensor.device.type != "cpu":
        raise ArgumentTypeError(f"is on device {tensor.device}; pass tensor.cpu()")
    if tensor.layout != torch.strided:
        raise ArgumentTypeError(f"has layout {tensor.layout}; pass tensor.to_dense()")
    # If gradients are not recorded, as in autograd.Function.forward, detaching loses nothing.
    if tensor.requires_grad and torch.is_grad_enabled():
        raise ArgumentTypeError(
            "requires grad, and gradients do not flow through kernels; pass tensor.detach(), or "
            "call the kernel under torch.no_grad() or in a torch.autograd.Function"
        )
    stored = STORAGE.get(str(tensor.dtype).removeprefix("torch."))
    try:
        if stored is None or stored.isbuiltin == 1:
            array = cast(Array, tensor.detach().numpy())
        else:
            bits, _ = _TORCH_BITS[stored.itemsize]
            array = tensor.detach().view(getattr(torch, bits)).numpy().view(stored)
    except (TypeError, RuntimeError) as error:
        raise ArgumentTypeError(f"cannot be read: {error}") from None
    if any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)):
        array.flags.writeable = False  # expanded: elements share memory
    return array


def _to_torch(torch: Any, array: Array) -> Any:
    if array.dtype.isbuiltin == 1:
        return torch.from_numpy(array)
    target = getattr(torch, array.dtype.name, None)
    if target is None:
        raise ArgumentTypeError(
            f"a result is {array.dtype.name}, a data type that PyTorch does not have; return "
            "another data type, or pass NumPy arrays"
        )
    return torch.from_numpy(array.view(_TORCH_BITS[array.dtype.itemsize][1])).view(target)


def _is_torch_dtype(torch: Any, value: Any) -> bool:
    return type(value) is torch.dtype


# ---------------------------------------------------------------- JAX


def _is_pending(jax: Any, array: Any) -> bool:
    return isinstance(array, jax.core.Tracer)


def _from_jax(jax: Any, array: Any) -> Array:
    if not _is_pending(jax, array):
        return np.asarray(array)
    if not array.ndim:
        raise ArgumentTypeError(
            "has no value yet: it is traced by a transformation such as jax.jit, and numbers are "
            "constants of a kernel; make it a static argument, or pass an array of shape (1, 1)"
        )
    # Tracing needs only shape and data type.
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def _later_in_jax(
    jax: Any, run: Run, types: Sequence[ArrayType], arrays: Sequence[Any]
) -> list[Any]:
    results = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in types]
    return jax.pure_callback(run, results, *arrays, vmap_method="sequential")


def _to_jax(jax: Any, array: Array) -> Any:
    return jax.numpy.asarray(array)


def _is_jax_dtype(jax: Any, value: Any) -> bool:
    # The type of jnp.float32 and the others has no public name.
    return type(value) is type(jax.numpy.float32)


_FRAMEWORKS = (
    Framework(
        "PyTorch",
        "torch",
        "Tensor",
        ".to(torch.{})",
        _from_torch,
        _to_torch,
        _is_torch_dtype,
    ),
    Framework(
        "JAX",
        "jax",
        "Array",
        ".astype(jnp.{})",
        _from_jax,
        _to_jax,
        _is_jax_dtype,
        immutable=True,
        is_pending=_is_pending,
        later=_later_in_jax,
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


def pending_framework(values: Iterable[Any]) -> Framework | None:
    """Return the framework that is currently tracing one of these arrays; None if no framework is.

    Raises ArgumentTypeError when two frameworks are mixed.
    """
    values = tuple(values)
    for value in values:
        framework = framework_of(value)
        if framework is not None and framework.pending(value):
            return common_framework(values)
    return None


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
