"""Annotations for the tensor parameters of kernels (`nki.typing`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, cast

from nkijit.tracing.dtype_names import missing


class tensor:
    """A tensor parameter; `tensor[128, 512]` also states its shape, which calls are held to.

    A dimension that is no integer (a name, `None`, `...` for one dimension) may have any size.
    Source: NKI 0.3.0 release notes and migration guide, nki.typing.
    """

    def __init__(self, shape: tuple[Any, ...]):
        """What `tensor[...]` makes."""
        self.shape = shape

    def __class_getitem__(cls, shape: Any) -> tensor:
        return cls(cast(tuple[Any, ...], shape) if isinstance(shape, tuple) else (shape,))

    def allows(self, shape: tuple[int, ...]) -> bool:
        """Whether a tensor of that shape is what the annotation states."""
        return len(shape) == len(self.shape) and all(
            not isinstance(stated, int) or size == stated
            for size, stated in zip(shape, self.shape, strict=True)
        )

    def __repr__(self) -> str:
        return f"nt.{type(self).__name__}[{', '.join(map(repr, self.shape))}]"


def annotation_of(function: Callable[..., Any], parameter: str) -> tensor | None:
    """What a parameter is annotated with, if that is `tensor[...]`."""
    annotation = _annotation(function, parameter)
    return annotation if isinstance(annotation, tensor) else None


def is_mutable(function: Callable[..., Any], parameter: str) -> bool:
    """Whether a parameter is annotated with `mutable_tensor`, with or without a shape."""
    annotation = _annotation(function, parameter)
    kind = annotation if isinstance(annotation, type) else type(annotation)
    return issubclass(kind, mutable_tensor)


def _annotation(function: Callable[..., Any], parameter: str) -> Any:
    """The annotation of a parameter.

    One that is text (`from __future__ import annotations`) and cannot be evaluated from the
    function's module says nothing.
    """
    annotation: Any = getattr(function, "__annotations__", {}).get(parameter)
    if isinstance(annotation, str):
        try:
            return eval(annotation, getattr(function, "__globals__", {}))
        except Exception:
            return None
    return annotation


class mutable_tensor(tensor):
    """A tensor parameter that the kernel writes. A note for the reader: every kernel may."""


def __getattr__(name: str) -> NoReturn:
    raise missing("nki.typing", name, globals())


__all__ = ["mutable_tensor", "tensor"]
