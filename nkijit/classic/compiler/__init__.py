"""Requests of kernels to the vendor's compiler (`neuronxcc.nki.compiler`).

Addresses of tiles are respected. Decorators that select transformations of the vendor's compiler
have no effect.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from nkijit.classic.compiler import psum as psum
from nkijit.classic.compiler import sbuf as sbuf
from nkijit.classic.launch.kernel import ClassicKernel
from nkijit.dialects.python_values import one_line
from nkijit.kernels.arguments import ArgumentTypeError
from nkijit.kernels.kernel import UnsupportedError
from nkijit.language import no_reorder as no_reorder
from nkijit.tracing.dtype_names import missing

_F = TypeVar("_F", bound=Callable[..., Any])


def skip_middle_end_transformations(func: Any = None) -> Any:
    """Return the kernel itself. Source: NKI API reference 2.26, nki.compiler."""
    if func is None:
        return skip_middle_end_transformations
    return _decorated("skip_middle_end_transformations", func)


def enable_stack_allocator(func: Any = None, log_level: int = 50) -> Any:
    """Return the kernel itself: nkijit finds addresses for its tiles in any case.

    Args:
        func: the kernel.
        log_level: the log level of the vendor's allocator.

    Source: NKI API reference 2.26, nki.compiler.enable_stack_allocator.
    """
    call = "enable_stack_allocator"
    if isinstance(log_level, bool) or not isinstance(log_level, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentTypeError(
            f"{call} expects an integer as 'log_level', got {one_line(log_level)}"
        )
    if func is None:
        return functools.partial(_decorated, call)
    return _decorated(call, func)


def force_auto_alloc(func: Any = None) -> Any:
    """Return the kernel with all its tiles placed automatically, also those with an address.

    Apply it above `@nki.jit`. Source: NKI API reference 2.26, nki.compiler.force_auto_alloc.
    """
    if func is None:
        return force_auto_alloc
    if not isinstance(func, ClassicKernel):
        raise ArgumentTypeError(f"force_auto_alloc stands above @nki.jit, got {one_line(func)}")
    return func.placed_automatically()


def _decorated(name: str, func: _F) -> _F:
    if not callable(func):
        raise ArgumentTypeError(f"{name} expects a kernel, got {one_line(func)}")
    return func


def allocation_scope() -> NoReturn:
    """Refused: the reference does not describe its effect."""
    raise UnsupportedError(
        "nki.compiler.allocation_scope is not modelled by nkijit: tiles live from their first use "
        "to their last"
    )


def multi_buffer(factor: int = 2) -> NoReturn:
    """Refused: the reference does not describe its effect."""
    raise UnsupportedError(
        f"nki.compiler.multi_buffer({one_line(factor)}) is not modelled by nkijit: allocate as "
        "many tiles as are in use at one time"
    )


def __getattr__(name: str) -> NoReturn:
    raise missing("neuronxcc.nki.compiler", name, globals())


__all__ = [
    "allocation_scope",
    "enable_stack_allocator",
    "force_auto_alloc",
    "multi_buffer",
    "no_reorder",
    "psum",
    "sbuf",
    "skip_middle_end_transformations",
]
