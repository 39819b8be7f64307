"""Processes that are copies of this one: they start in milliseconds, with all modules imported.

A copy of a process with several threads can hang on a lock that another thread held, so processes
are copied only while there is one thread.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import NoReturn

from nkijit.host.processes.spawns import Serving, work, write

_THREADED = ("torch", "jax", "tensorflow")
"""Packages whose threads Python does not count, and that do not work in a copy."""
_EVERY = 0.01
"""The time between two checks for the end of a process, in seconds."""


def can_copy() -> bool:
    """Whether copies of this process work."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    return not any(package in sys.modules for package in _THREADED)


def copies(count: int, rest: float) -> list[Serving]:
    """Return copies of this process that run tasks; none where copying is not safe.

    Args:
        count: the number of copies.
        rest: the idle time after which a copy ends, in seconds.
    """
    if sys.platform != "linux" or not can_copy():
        return []
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # a stream may be closed, or be an object of the user
            stream.flush()
    made = list[tuple[int, int, int]]()
    for _ in range(count):
        tasks, to_tasks = os.pipe()
        from_results, results = os.pipe()
        with warnings.catch_warnings():
            # Threads of NumPy's BLAS, which end before a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            parents = [fd for _, *fds in made for fd in fds]
            _run(tasks, results, [*parents, to_tasks, from_results], rest)
        os.close(tasks)
        os.close(results)
        made.append((pid, to_tasks, from_results))
    # Reading a copy's results takes a thread, so all copies exist before.
    return [
        Serving(_Copy(pid), os.fdopen(to_tasks, "wb"), os.fdopen(from_results, "rb"))
        for pid, to_tasks, from_results in made
    ]


def _run(tasks: int, results: int, unused: Sequence[int], rest: float) -> NoReturn:
    """Run tasks in the copy. Never returns.

    Args:
        tasks: the descriptor of the pipe with tasks.
        results: that of the pipe for results.
        unused: descriptors of the parent process.
        rest: see `copies`.
    """
    assert sys.platform == "linux"
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for descriptor in unused:
            os.close(descriptor)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        with suppress(OSError):
            os.dup2(2, 1)  # kernels' prints are not output of the command
        work(os.fdopen(tasks, "rb"), partial(write, os.fdopen(results, "wb")), rest)
    finally:
        os._exit(1)


class _Copy:
    """A copy, as a `Process`."""

    def __init__(self, pid: int):
        self.pid = pid
        self._code: int | None = None
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        assert sys.platform == "linux"
        with self._lock:
            if self._code is None:
                try:
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:  # the user's code has waited for it
                    self._code = 0
                else:
                    self._code = os.waitstatus_to_exitcode(status) if pid else None
            return self._code

    def wait(self, timeout: float | None = None) -> int:
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            time.sleep(_EVERY)
        return code

    def kill(self) -> None:
        assert sys.platform == "linux"
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
