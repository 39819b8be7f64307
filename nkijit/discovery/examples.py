"""`@nkijit.example`: example arguments of a kernel, in its source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from nkijit.dialects.dtypes import DTYPES
from nkijit.discovery.argument_text import ArgumentTextError, written_argument
from nkijit.host.identities import Noted
from nkijit.kernels.arguments import ArgumentTypeError
from nkijit.kernels.kernel import Kernel
from nkijit.passes.diagnostics.places import Position
from nkijit.tracing.locations import author_frame

_Function = TypeVar("_Function", bound=Callable[..., Any])


class ExampleError(ValueError):
    """An example with a string that cannot be parsed as an argument."""

    def __init__(self, message: str, where: Position):
        super().__init__(f"{where}: @nkijit.example: {message}")
        self.message, self.where = message, where


@dataclass(frozen=True)
class Example:
    """The arguments of one `@nkijit.example`. Strings are not parsed."""

    written: Mapping[str, Any]
    where: Position

    def arguments(self) -> dict[str, Any]:
        """Return the arguments, with strings parsed. Raises ExampleError."""
        folder = Path(self.where.file).parent
        found: dict[str, Any] = {}
        for name, value in self.written.items():
            # `nl.bfloat16` is a string as well.
            is_dtype = isinstance(value, str) and value in DTYPES
            try:
                found[name] = value if is_dtype else written_argument(value, folder)
            except ArgumentTextError as error:
                raise ExampleError(f"{name}: {error}", self.where) from None
        return found


_examples: Noted[list[Example]] = Noted()
"""The examples of each kernel, by its undecorated function.

Examples are not stored as attributes of the function, because attributes are part of trace cache
keys.
"""


def example(**arguments: Any) -> Callable[[_Function], _Function]:
    """Give example arguments of a kernel: `@nkijit.example(...)` above or below `@nki.jit`.

    Args:
        arguments: the kernel's arguments by name. A string has the syntax of `-a` on the command
            line (`"128x512:bfloat16"` is a tensor, `"'relu'"` a string; paths are relative to the
            file). Other values, such as an array or `nkijit.TensorSpec`, are the arguments
            themselves.

    Editors, and commands without `-a`, use the examples; calls of the kernel ignore them. Several
    decorators give several examples. The decorator raises ArgumentTypeError when it is not applied
    to a function. A string that cannot be parsed is reported when the example is used.

    Example:

        @nki.example(x="128x512:float32")
        @nki.jit
        def copied(x):
            out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
            nl.store(out, nl.load(x))
            return out

        out = copied(x[:128])
    """
    frame = author_frame()
    where = (
        Position("", 1, 1)
        if frame is None
        else Position(frame.f_code.co_filename, frame.f_lineno, 1)
    )
    added = Example(arguments, where)

    def noted(function: _Function) -> _Function:
        written: Any = function
        if isinstance(written, Kernel):
            written = written.func
        if isinstance(written, type) or not callable(written):
            raise ArgumentTypeError(f"@nkijit.example decorates a kernel, not {function!r}")
        # Decorators are applied from the bottom up.
        _examples.note(written, [added, *(_examples.of(written) or ())])
        return function

    return noted


def examples_of(kernel: Kernel) -> tuple[Example, ...]:
    """Return the examples of a kernel in source order, including those below other decorators."""
    found: list[Example] = []
    function: Any = kernel.func
    while function is not None:
        found += _examples.of(function) or ()
        function = getattr(function, "__wrapped__", None)
    return tuple(found)
