"""Processes that do one task after the other for a thread of this one, and can be ended.

An executor's own processes and threads cannot be taken from a task that hangs. These can, in
whatever process and thread they are asked for: of this machine, or a worker of a cluster.
"""

from __future__ import annotations

import atexit
import importlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from nkijit.host.processes.isolated import EndedError, OutOfTimeError, ending_of

# Descriptors are handed over, and groups of processes ended.
assert sys.platform != "win32"

_REST = 60.0
"""Seconds without a task after which a process leaves."""
_STALE = 50.0
"""Seconds after which it is not asked any more, as it may be about to."""
_CODE = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve({descriptor})"


class Children:
    """Processes of this one, as many as there are tasks at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
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
            worked, result = child.call(function, arguments, seconds)
        except BaseException:
            child.end()
            with self._lock:
                self._all.discard(child)
            raise
        with self._lock:
            self._idle.append(child)
        if worked:
            return result
        raise result

    def _taken(self) -> _Child:
        with self._lock:
            while self._idle and not self._is_over:
                child = self._idle.pop()
                if child.is_fresh:
                    return child
                child.end()
                self._all.discard(child)
            if self._is_over:
                raise EndedError("is not started any more")
            child = _Child()
            self._all.add(child)
        return child

    def end(self) -> None:
        """End all processes, whatever they are at."""
        with self._lock:
            self._is_over = True
            for child in self._all:
                child.kill()
            for child in self._idle:  # the others are whose calls they are
                child.end()
            self._idle.clear()


class _Child:
    """A process that waits for tasks."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            descriptor = theirs.fileno()
            code = _CODE.format(path=sys.path, module=__name__, descriptor=descriptor)
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                pass_fds=(descriptor,),
                process_group=0,  # Ctrl-C in a terminal is for the process that has started it
            )
        self._connection = Connection(ours.detach())
        self._is_ready = False
        self._rested = time.monotonic()

    @property
    def is_fresh(self) -> bool:
        """Whether it is there, and will be."""
        return self._process.poll() is None and time.monotonic() - self._rested < _STALE

    def call(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float | None
    ) -> tuple[bool, Any]:
        """What a call returned (True) or raised (False)."""
        try:
            if not self._is_ready:
                self._is_ready = self._connection.recv()  # starting is not a part of the task
            self._connection.send((function, arguments))
            if not self._connection.poll(seconds):
                raise OutOfTimeError(seconds or 0.0)
            found: tuple[bool, Any] = self._connection.recv()
        except (EOFError, OSError):
            raise EndedError(self._ending()) from None
        self._rested = time.monotonic()
        return found

    def _ending(self) -> str:
        return ending_of(self._process.wait())

    def kill(self) -> None:
        """End the process, with all that it has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """The same, and forget it."""
        self.kill()
        self._process.wait()
        self._connection.close()


def serve(descriptor: int) -> None:
    """What the process does: tasks that come through a socket, until nobody sends any."""
    # Whoever starts processes needs none of this. It is there before the time of a task begins.
    for module in ("nkijit.sweeps.worker", "nkijit.traced.predictions", "nkijit.traced.runs"):
        importlib.import_module(module)
    os.dup2(2, 1)  # what kernels print is not the result of a command
    with Connection(descriptor) as connection, suppress(EOFError, OSError):
        connection.send(True)
        while connection.poll(_REST):
            function, arguments = connection.recv()
            try:
                found = True, function(*arguments)
            except Exception as error:
                found = False, error
            connection.send(found)


_OF_PROCESS = Children()
atexit.register(_OF_PROCESS.end)


def in_child(function: Callable[..., Any], seconds: float | None, *arguments: Any) -> Any:
    """`Children.call` of this process: for tasks of executors that are somewhere else."""
    return _OF_PROCESS.call(function, arguments, seconds)
