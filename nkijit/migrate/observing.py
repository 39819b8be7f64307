"""Records the API calls of a classic kernel, grouped by source position.

The kernel is traced once under Python's trace function. For each API function called from its
source (including operators and subscripts of tiles), the record has the source position, the
arguments, the result and the emitted instructions. Kernel and API are not modified, so the trace
does not change.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from nkijit.classic.destinations.forwarding import instructions_since
from nkijit.classic.indexing.expressions import Index, Mask
from nkijit.classic.tensors.blocks import Blocks
from nkijit.classic.tensors.tensors import ClassicTensor, element_of
from nkijit.dialects.access import DynamicSlice
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.tracing.locations import is_internal, position_of
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import active_tracer

Place = tuple[int, int, int, int]
"""A source position: first line, last line, first and last column (in bytes)."""


@dataclass(frozen=True)
class Seen:
    """An observed tensor."""

    shape: tuple[int, ...]
    dtype: str
    buffer: str
    blocks: int = 0
    """The number of block dimensions, before the partition dimension."""


@dataclass(frozen=True)
class ObservedInstruction:
    """An instruction that a call emitted."""

    name: str
    """The instruction's name, e.g. `tensor_copy`."""
    reads: tuple[tuple[str, str], ...]
    """The operands that are arguments of the call, as (instruction field, call parameter)."""
    wrote: tuple[str, str]
    """Dtype and buffer of the instruction's first destination."""


@dataclass
class ObservedEvent:
    """One call at a source position."""

    function: str
    """The name of the called function, e.g. `load`, `__getitem__`, `__iadd__`."""
    arguments: dict[str, Any]
    """The arguments by parameter: tensors as `Seen`, numbers, and type names of other values."""
    result: Any = None
    instructions: tuple[ObservedInstruction, ...] = ()
    is_empty: bool = False
    """Whether a mask of the call selected no element."""


@dataclass
class Observations:
    """The recorded calls of a file: `events` has the calls at each source position."""

    events: dict[tuple[str, Place], list[ObservedEvent]] = field(
        default_factory=lambda: defaultdict(list[ObservedEvent])
    )
    variables: dict[tuple[str, int], dict[str, Seen]] = field(
        default_factory=lambda: defaultdict(dict[str, Seen])
    )
    """The variables that held tensors when a line last ran, by (file, line)."""
    slices: set[str] = field(default_factory=set[str])
    """The names of variables that have held results of `nl.ds`."""
    functions: set[tuple[str, int, str]] = field(default_factory=set[tuple[str, int, str]])
    """(file, first line, name) of the functions that ran."""

    def at(self, file: str, place: Place) -> list[ObservedEvent]:
        """Return the calls at a source position."""
        return self.events.get((file, place), [])


AUTHOR = "<author>"
"""The value of `ObservedEvent.function` for calls of the user's own functions."""
_MOST_CALLS = 64
"""The maximum number of recorded calls per source position."""


def seen(value: Any) -> Any:
    """Convert a value for a record: tensors to `Seen`, most other objects to their type's name."""
    if isinstance(value, ClassicTensor):
        blocks = len(value.block_shape) if isinstance(value, Blocks) else 0
        return Seen(tuple(value.shape), element_of(value), value.buffer.name, blocks)
    if isinstance(value, NkiTensor):
        return Seen(tuple(value.shape), value.dtype, value.buffer.name)
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, (Index, Mask)):
        return type(value).__name__
    return type(value).__name__


@contextmanager
def observing(file: str) -> Generator[Observations]:
    """Observe the functions of a file within a `with` block."""
    found = Observations()
    watcher = _Watcher(file, found)
    before = sys.gettrace()
    sys.settrace(watcher.trace_call)
    try:
        yield found
    finally:
        sys.settrace(before)


class _Watcher:
    def __init__(self, file: str, found: Observations):
        self._file = file
        self._found = found
        self._visits: dict[int, int] = defaultdict(int)

    def trace_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Python's trace function for calls; returns the trace function of the called frame."""
        if event != "call":
            return None
        code = frame.f_code
        if code.co_filename == self._file:
            self._found.functions.add((self._file, code.co_firstlineno, code.co_name))
            return self._running
        caller = frame.f_back
        if caller is None or caller.f_code.co_filename != self._file or not is_internal(code):
            return None
        place = position_of(caller)
        if not place:
            return None
        events = self._found.events[self._file, place]  # pyright: ignore[reportArgumentType]
        if len(events) >= _MOST_CALLS:
            return None
        return self._watching(frame, events)

    def _running(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Trace a function of the observed file: record tensors at each line."""
        if event == "line":
            line = frame.f_lineno
            self._visits[line] += 1
            if self._visits[line] <= _MOST_CALLS:
                known = self._found.variables[self._file, line]
                for name, value in frame.f_locals.items():
                    if isinstance(value, ClassicTensor):
                        known[name] = seen(value)
                    elif isinstance(value, (DynamicSlice, slice)):
                        self._found.slices.add(name)
        elif event == "return":
            self._returned(frame, argument)
        return self._running

    def _returned(self, frame: FrameType, value: Any) -> None:
        """Record the result of a call between functions of the observed file."""
        caller = frame.f_back
        if caller is None or caller.f_code.co_filename != self._file:
            return
        place = position_of(caller)
        events = self._found.events[self._file, place] if place else []  # pyright: ignore[reportArgumentType]
        if len(events) < _MOST_CALLS:
            events.append(ObservedEvent(AUTHOR, {}, seen(value)))

    def _watching(self, frame: FrameType, events: list[ObservedEvent]) -> Callable[..., Any] | None:
        """Record the arguments of an API call; the returned trace function records its result."""
        tracer = active_tracer()
        arguments: dict[str, Any] = {}
        for name, value in frame.f_locals.items():
            arguments |= value if name == "kwargs" and isinstance(value, dict) else {name: value}
        entry = ObservedEvent(
            frame.f_code.co_name, {name: seen(v) for name, v in arguments.items()}
        )
        mark = None if tracer is None else tracer.mark()
        owners = {
            id(base_of(view)): name
            for name, value in arguments.items()
            if (view := _storage(value)) is not None
        }

        def step(inner: FrameType, event: str, argument: Any) -> Any:
            if event != "return":
                return step
            entry.result = seen(argument)
            if tracer is not None and mark is not None:
                ops = instructions_since(tracer, mark) or []
                entry.instructions = tuple(_instruction(op, owners) for op in ops)
            if entry.function == "_setitem":
                try:
                    entry.arguments["target"] = seen(arguments["self"][arguments["key"]])
                except Exception:  # the kernel has already failed
                    entry.arguments["target"] = None
            events.append(entry)
            return step

        frame.f_trace_lines = False
        return step


def _storage(value: Any) -> Any:
    if isinstance(value, Blocks):
        return None
    if isinstance(value, NkiTensor):
        return value.storage.value
    base = getattr(value, "value", None)
    if base is None:
        base = getattr(value, "_base", None)
    return base.storage.value if isinstance(base, NkiTensor) else None


def _instruction(op: NisaOp, owners: Mapping[int, str]) -> ObservedInstruction:
    reads: dict[str, str] = {}
    wrote = ("", "")
    for f, value in op.given_operands():
        if not is_tile(value):
            continue
        owner = owners.get(id(base_of(value)))
        if owner is not None:
            reads[f.name] = owner
        if f.name == "dst":
            info = info_of(value)
            wrote = (info.dtype.name, info.region.name)
    return ObservedInstruction(op.name.partition(".")[2], tuple(reads.items()), wrote)


__all__ = [
    "AUTHOR",
    "Observations",
    "ObservedEvent",
    "ObservedInstruction",
    "Place",
    "Seen",
    "observing",
    "seen",
]
