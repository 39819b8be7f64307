"""Interrupts at every place of a call where Python can raise one.

Python runs the handler of a signal at the start of a Python function, after a call of a C function,
and when a loop continues (`CHECK_EVAL_BREAKER` in CPython's `ceval.c`). A trace function on every
instruction raises KeyboardInterrupt at one of these places, so a place is a number and independent
of time. Where Python swallows exceptions (callbacks of weak references, `__del__`, closed
generators), this exception is swallowed, too.
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

_CALLS = {"CALL", "CALL_KW", "CALL_FUNCTION_EX", "JUMP_BACKWARD"}
"""Python checks for signals after these; `PRECALL` (3.11) belongs to the `CALL` after it."""


@dataclass
class Interrupted:
    """The effect of an interrupt on a call."""

    raised: bool
    """It ended with KeyboardInterrupt."""
    where: str
    """The frames in which the interrupt came, the innermost first; empty if it never came."""


def places(function: Callable[[], Any]) -> int:
    """How many places a call has."""
    tracer = _Tracer(0)
    tracer.run(function)
    return tracer.seen


def interrupt(function: Callable[[], Any], place: int) -> Interrupted:
    """Call a function with an interrupt at a place, counted from 1."""
    tracer = _Tracer(place)
    return Interrupted(tracer.run(function), tracer.where)


class _Tracer:
    def __init__(self, place: int):
        self._place = place
        self.seen = 0
        self.where = ""
        self._last: FrameType | None = None
        """The frame whose last instruction was a call or a jump back, if nothing came since."""
        self._codes: dict[CodeType, bytes] = {}

    def run(self, function: Callable[[], Any]) -> bool:
        """Call a function; whether it ended with KeyboardInterrupt."""
        before = sys.gettrace()
        sys.settrace(self._event)
        try:
            function()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False

    def _event(self, frame: FrameType, event: str, _argument: Any) -> Any:
        is_place = False
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            # A generator that is closed goes on with an exception, without a look for signals.
            is_generator = frame.f_code.co_flags & inspect.CO_GENERATOR
            self._last = frame if is_generator else None
            is_place = not is_generator
        elif event == "opcode":
            code = self._codes.get(frame.f_code)
            if code is None:
                code = self._codes[frame.f_code] = frame.f_code.co_code
            is_place = self._last is frame
            name = dis.opname[code[frame.f_lasti]]
            self._last = frame if name in _CALLS else None
        else:
            self._last = None
        if is_place:
            self.seen += 1
            if self.seen == self._place:
                self.where = _shown(frame)
                raise KeyboardInterrupt
        return self._event


def _shown(frame: FrameType | None) -> str:
    lines: list[str] = []
    while frame is not None and len(lines) < 8:
        code = frame.f_code
        lines.append(f"{code.co_filename}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return "\n".join(lines)
