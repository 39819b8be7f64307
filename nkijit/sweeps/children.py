"""Child processes that run one task after another, and can be killed.

A hanging task in a process or thread of an executor cannot be killed. The executor's process or
thread therefore runs the task in a child process, on this machine or in a worker of a cluster.
"""

from __future__ import annotations

import atexit
import importlib
import threading
import time
from collections.abc import Callable
from typing import Any

from nkijit.host.processes.channels import EndedError, Send
from nkijit.host.processes.copies import can_copy, copies
from nkijit.host.processes.spawns import Serving, Spawned

_REST = 60.0
"""The idle time after which a process exits, in seconds."""
_STALE = 50.0
"""The idle time after which a process gets no more tasks, in seconds: it may be about to exit."""
_MOST_COPIES = 8
"""The largest number of copies of this process; the other processes are started when needed."""
_MODULES = ("nkijit.sweeps.worker", "nkijit.traced.predictions", "nkijit.traced.runs")
"""The modules that child processes, but not the parent, import before their first task."""


class Children:
    """The child processes of this process, one for each concurrent task."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._idle: list[tuple[Serving, float]] = []
        """The idle processes, each with the time at which its last task ended."""
        self._all: set[Serving] = set()
        self._is_over = False

    def prepare(self, count: int) -> None:
        """Start child processes as copies of this one, where that is safe."""
        if can_copy():
            for module in _MODULES:
                importlib.import_module(module)
        for child in copies(min(count, _MOST_COPIES), _REST):
            self._all.add(child)
            self._idle.append((child, time.monotonic()))

    def call(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float | None
    ) -> Any:
        """Call a function in a child process that runs nothing else, and return the result.

        Raises:
            EndedError: the process ended.
            OutOfTimeError: the call took longer than `seconds`.
            Exception: any exception of the function.
        """
        child = self._idle_or_new()
        try:
            child.do(_call, function, arguments)
            child.recv(None)  # starting is not part of the task
            worked, result = child.recv(seconds)
        except BaseException:
            self._forget(child)
            raise
        with self._lock:
            self._idle.append((child, time.monotonic()))
        if worked:
            return result
        raise result

    def _idle_or_new(self) -> Serving:
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

    def _forget(self, child: Serving) -> None:
        child.end()
        with self._lock:
            self._all.discard(child)

    def end(self) -> None:
        """Kill all processes, including busy ones."""
        with self._lock:
            self._is_over = True
            for child in self._all:
                child.kill()
            for child, _ in self._idle:  # the others belong to their calls
                child.end()
            self._idle.clear()


def _call(send: Send, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Run a call in a process: report the start, then the result or exception."""
    send(None)
    try:
        found = True, function(*arguments)
    except Exception as error:
        found = False, error
    send(found)


_OF_PROCESS = Children()
atexit.register(_OF_PROCESS.end)


def in_child(function: Callable[..., Any], seconds: float | None, *arguments: Any) -> Any:
    """Run a function in a child of this process. This is the task that executors get."""
    return _OF_PROCESS.call(function, arguments, seconds)
