"""Annotations of classic kernels (`neuronxcc.nki.typing`)."""

from __future__ import annotations

from typing import Any, NoReturn, cast

from nkijit import typing as current
from nkijit.kernels.arguments import TensorSpec
from nkijit.tracing.dtype_names import missing


class tensor(current.tensor):
    """An annotation that calls are checked against: `x: tensor` or `x: tensor[128, 512]`.

    Annotations of local variables have no effect, because Python does not evaluate them.
    `tensor[[250, 512], nl.float32]`, a shape and a data type, is a value: it replaces an array
    where only the shape matters (`nki.benchmark`, `nki.profile`, `kernel.trace`).
    Source: NKI API reference 2.26, nki.errors; NKI examples, prof-kernel-benchmark.
    """

    def __class_getitem__(cls, shape: Any) -> Any:
        """Return an annotation (`tensor[128, 512]`), or a value (`tensor[[128, 512], nl.float32]`).

        Raises ValueError for an invalid shape or data type.
        """
        parts = cast("tuple[Any, ...]", shape) if isinstance(shape, tuple) else (shape,)
        if len(parts) == 2 and isinstance(parts[0], (list, tuple)):
            return TensorSpec(cast("list[int]", parts[0]), parts[1])
        return cls(parts)


class mutable_tensor(current.mutable_tensor, tensor):
    """A tensor parameter that the kernel writes and returns.

    Source: NKI API reference 2.26, nki.errors, err_cannot_update_immutable_parameter.
    """


def __getattr__(name: str) -> NoReturn:
    instead = {"scalar": "control flow that depends on values of tensors is not modelled"}
    raise missing("neuronxcc.nki.typing", name, globals(), instead)


__all__ = ["mutable_tensor", "tensor"]
