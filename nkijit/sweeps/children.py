"""Processes that do one task after the other for a thread of this one, and can be ended.

An executor's own processes and threads cannot be taken from a task that hangs. These can, in
whatever process and thread they are asked for: of this machine, or a worker of a cluster.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from typing import Any

from nkijit.host.processes.channels import EndedError, Send
from nkijit.host.processes.spawns import Spawned

_REST = 60.0
"""Seconds without a task after which a process leaves."""
_STALE = 50.0
"""Seconds after which it is not asked any more, as it may be about to."""
_MODULES = ("nkijit.sweeps.worker", "nkijit.traced.predictions", "nkijit.traced.runs")
"""What tasks need. Whoever starts processes needs none of it."""


class Children:
    """Processes of this one, as many as there are tasks at a time."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._idle: list[tuple[Spawned, float]] = []
        """Each with the time of its last task."""
        self._all: set[Spawned] = set()
        self._is_over = False

    def call(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float | None
    ) -> Any:
        """What a function of some module returns, called in a process that does nothing else.

        Raises what it raises, EndedError when the process ends, OutOfTimeError when the call takes
        longer than `seconds`.
        """
        child = self._taken()
        try:
            child.do(_call, function, arguments)
            child.recv(None)  # starting is not a part of the task
            worked, result = child.recv(seconds)
        except BaseException:
            self._forget(child)
            raise
        with self._lock:
            self._idle.append((child, time.monotonic()))
        if worked:
            return result
        raise result

    def _taken(self) -> Spawned:
        with self._lock:
            while self._idle and not self._is_over:
                child, rested = self._idle.pop()
                if child.is_alive and time.monotonic() - rested < _STALE:
                    return child
                self._forget(child)
            if self._is_over:
                raise EndedError("is not started any more")
            child = Spawned(_MODULES, _REST)
            self._all.add(child)
        return child

    def _forget(self, child: Spawned) -> None:
        child.end()
        with self._lock:
            self._all.discard(child)

    def end(self) -> None:
        """End all processes, whatever they are at."""
        with self._lock:
            self._is_over = True
            for child in self._all:
                child.kill()
            for child, _ in self._idle:  # the others are whose calls they are
                child.end()
            self._idle.clear()


def _call(send: Send, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """What a process does for a call: it says that it begins, and what came of it."""
    send(None)
    try:
        found = True, function(*arguments)
    except Exception as error:
        found = False, error
    send(found)


_OF_PROCESS = Children()
atexit.register(_OF_PROCESS.end)


def in_child(function: Callable[..., Any], seconds: float | None, *arguments: Any) -> Any:
    """`Children.call` of this process: for tasks of executors that are somewhere else."""
    return _OF_PROCESS.call(function, arguments, seconds)
