"""Processes for users' files on Linux and macOS: forks of a process that has imported nkijit.

A fork starts in milliseconds. When a process is ended, its child processes are ended as well.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from nkijit.host.processes.channels import EndedError, OutOfTimeError, ending_of

MISSING: str | None = None
"""A message about limits that these processes cannot enforce; None if they enforce all limits."""

if sys.platform != "win32":
    import resource
    import signal
    from multiprocessing import get_context

    _FORKS = get_context("forkserver")

    def preload(modules: Sequence[str]) -> None:
        """Set the modules that the fork server imports before the first process starts."""
        # Each process imports the main module, that of the command, unless it is preloaded.
        _FORKS.set_forkserver_preload(["nkijit.host.processes.isolated", *modules, "nkijit.cli"])

    def prepare() -> None:
        """Start the fork server, which imports the modules before the first process starts."""
        from multiprocessing.forkserver import ensure_running

        ensure_running()

    class Forked:
        """A process that runs `target(send, *args)`."""

        def __init__(self, target: Callable[..., None], *args: Any):
            self._connection, theirs = _FORKS.Pipe(duplex=False)
            self._process = _FORKS.Process(target=target, args=(theirs.send, *args))
            self._process.start()
            theirs.close()

        def recv(self, seconds: float | None) -> Any:
            """Return the next object that the process sends.

            Raises EndedError when the process ends, OutOfTimeError after `seconds` without one.
            """
            try:
                if not self._connection.poll(seconds):
                    raise OutOfTimeError(seconds or 0.0)
                return self._connection.recv()
            except (EOFError, OSError):
                self.kill()
                self._process.join()
                code = self._process.exitcode
                if code == -signal.SIGALRM:  # it caught the exception of `over`
                    raise OutOfTimeError(seconds or 0.0) from None
                raise EndedError(ending_of(code)) from None

        def kill(self) -> None:
            """End the process and its children at once."""
            pid = self._process.pid
            if pid is None:
                return
            # `begin` made it the leader of a process group; before that, only it can be killed.
            for kill in (os.killpg, os.kill):
                with suppress(ProcessLookupError, PermissionError):
                    kill(pid, signal.SIGKILL)

        def end(self) -> None:
            """Kill the process and release its resources."""
            self.kill()
            self._process.join()
            self._connection.close()

    start = Forked

    def begin(seconds: float, grace: float, bytes_more: int, over: Callable[[], None]) -> None:
        """Set limits on the current process.

        Args:
            seconds: time limit, after which `over` is called in the main thread.
            grace: further seconds after which the process is killed.
            bytes_more: memory limit in bytes, in addition to the current use.
            over: raises the exception that unwinds the file's code.
        """
        os.setsid()

        def on_alarm(_number: int, _frame: FrameType | None) -> None:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            over()

        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, seconds, grace)
        with suppress(ValueError, OSError):  # a lower hard limit, or no /proc (macOS)
            used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            most = used * resource.getpagesize() + bytes_more
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
