"""Annotations for the tensor parameters of kernels (`nki.typing`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, cast

from nkijit.tracing.dtype_names import missing


class tensor:
    """A tensor parameter. `tensor[128, 512]` also states its shape, which calls must match.

    A dimension that is not an integer (a name, `None`, `...` for one dimension) may have any size.
    Source: NKI 0.3.0 release notes and migration guide, nki.typing.
    """

    def __init__(self, shape: tuple[Any, ...]):
        """Called by `tensor[...]`."""
        self.shape = shape

    def __class_getitem__(cls, shape: Any) -> tensor:
        return cls(cast(tuple[Any, ...], shape) if isinstance(shape, tuple) else (shape,))

    def allows(self, shape: tuple[int, ...]) -> bool:
        """Whether a shape matches the annotation."""
        return len(shape) == len(self.shape) and all(
            not isinstance(stated, int) or size == stated
            for size, stated in zip(shape, self.shape, strict=True)
        )

    def __repr__(self) -> str:
        return f"nt.{type(self).__name__}[{', '.join(map(repr, self.shape))}]"


def annotation_of(function: Callable[..., Any], parameter: str) -> tensor | None:
    """Return a parameter's annotation if it is a `tensor[...]`, else None."""
    annotation = _annotation(function, parameter)
    return annotation if isinstance(annotation, tensor) else None


def is_mutable(function: Callable[..., Any], parameter: str) -> bool:
    """Whether a parameter is annotated with `mutable_tensor`, with or without a shape."""
    annotation = _annotation(function, parameter)
    kind = annotation if isinstance(annotation, type) else type(annotation)
    return issubclass(kind, mutable_tensor)


def _annotation(function: Callable[..., Any], parameter: str) -> Any:
    """Return the annotation of a parameter, None if it has none.

    Text (`from __future__ import annotations`) is evaluated in the function's module; None if that
    fails.
    """
    annotation: Any = getattr(function, "__annotations__", {}).get(parameter)
    if isinstance(annotation, str):
        try:
            return eval(annotation, getattr(function, "__globals__", {}))
        except Exception:
            return None
    return annotation


class mutable_tensor(tensor):
    """A tensor parameter that the kernel writes.

    Kernels of the current API may write any parameter. In a classic kernel that returns results,
    writing a parameter without this annotation is an error.
    """


def __getattr__(name: str) -> NoReturn:
    raise missing("nki.typing", name, globals())


__all__ = ["mutable_tensor", "tensor"]
