"""The Python loops around traced operations, and the values of their loop variables.

Tracing unrolls Python's loops, so the IR does not contain them. Recordings show them: for a
recording, the trace inspects the user's frames at every operation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import CodeType, FrameType
from typing import TYPE_CHECKING, SupportsIndex

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Operation

from nkijit.passes.diagnostics.source_text import text_around
from nkijit.tracing.locations import author_frame, is_internal
from nkijit.tracing.tracer import Tracer

if TYPE_CHECKING:
    from nkijit.passes.values.instructions import TracedIndices


class PythonLoops(list[Operation]):
    """The operations of a trace in order, with the Python loops around each in `indices`."""

    def __init__(self) -> None:
        super().__init__()
        self.indices: dict[Operation, TracedIndices] = {}
        self._tracer: Tracer | None = None
        self._counts: dict[Operation, int] = {}
        """The number of Python loop variables around each loop on the device."""

    def watch(self, tracer: Tracer) -> None:
        """Register this object as the tracer's history, so that it receives all operations."""
        tracer.history = self
        self._tracer = tracer

    def append(self, object: Operation, /) -> None:
        """Append an operation, and record the Python loops around it."""
        super().append(object)
        found: list[tuple[str, int | None]] = []
        frame = author_frame(2)
        # Beyond nkijit's own frames there are more of the user's: nkijit calls the bodies of loops.
        while frame is not None and frame.f_code is not Tracer.run.__code__:
            if not is_internal(frame.f_code):
                found[:0] = _indices(frame)
            frame = frame.f_back
        count = len(found)
        # The innermost first: an insertion must not move the position of the next one.
        for loop in reversed(self._tracer.device_loops() if self._tracer is not None else ()):
            found.insert(min(self._counts.get(loop, 0), count), ("", None))
        if isinstance(object, (ForOp, WhileOp)):
            self._counts[object] = count
        if found:
            self.indices[object] = tuple(found)

    # The other methods that add to a list.
    def extend(self, iterable: Iterable[Operation], /) -> None:
        """Append several operations."""
        for each in iterable:
            self.append(each)

    def insert(self, index: SupportsIndex, object: Operation, /) -> None:
        """Refuse: operations are only appended."""
        raise NotImplementedError


def _indices(frame: FrameType) -> Iterator[tuple[str, int]]:
    """Yield name and value of the integer loop variables at a frame's line, the outermost first."""
    values = frame.f_locals
    for names in _loops_at(frame.f_code, frame.f_lineno):
        for name in names:
            value = values.get(name)
            if type(value) is int:
                yield name, value


@lru_cache(maxsize=4096)
def _loops_at(code: CodeType, line: int) -> tuple[tuple[str, ...], ...]:
    """Return the variables of the loops around a line of a function, the outermost first."""
    return tuple(
        names
        for first, last, names in _loops_of(text_around(code), code.co_firstlineno)
        if first <= line <= last
    )


@lru_cache(maxsize=256)
def _loops_of(text: str, first_line: int) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """Return (first line, last line, variables) of the body of each loop in a function.

    `text` is the source of the function, `first_line` its position in the file.
    """
    try:
        module = ast.parse(text)
    except SyntaxError:
        return ()
    found: list[tuple[int, int, tuple[str, ...]]] = []
    for function in ast.walk(module):
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            continue
        decorators = function.decorator_list if isinstance(function, ast.FunctionDef) else []
        if min([function.lineno, *(each.lineno for each in decorators)]) != first_line:
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.For):
                names = tuple(n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))
                last = max(each.end_lineno or each.lineno for each in node.body)
                found.append((node.body[0].lineno, last, names))
    return tuple(sorted(found, key=lambda loop: (loop[0], -loop[1])))
