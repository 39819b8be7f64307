"""Processes for authors' files on Linux and macOS: forks of one that has imported nkijit.

They start in milliseconds, and are ended with all that they have started.
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
"""What these processes cannot do, for the author to know."""

if sys.platform != "win32":
    import resource
    import signal
    from multiprocessing import get_context

    _FORKS = get_context("forkserver")

    def preload(modules: Sequence[str]) -> None:
        """Say what processes need, so that the server of forks imports it before the first one."""
        # The main module is the command's, which each process imports unless it is there already.
        _FORKS.set_forkserver_preload(["nkijit.host.processes.isolated", *modules, "nkijit.cli"])

    def prepare() -> None:
        """Begin to import it, so that the first process finds it."""
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
            """The next object that it sends.

            Raises EndedError when it ends, OutOfTimeError when it sends none for so many seconds.
            """
            try:
                if not self._connection.poll(seconds):
                    raise OutOfTimeError(seconds or 0.0)
                return self._connection.recv()
            except (EOFError, OSError):
                self.kill()
                self._process.join()
                code = self._process.exitcode
                if code == -signal.SIGALRM:  # it has caught what `over` raises
                    raise OutOfTimeError(seconds or 0.0) from None
                raise EndedError(ending_of(code)) from None

        def kill(self) -> None:
            """End it at once, with all that it has started."""
            pid = self._process.pid
            if pid is None:
                return
            # It leads a group of its own since it began to work.
            for kill in (os.killpg, os.kill):
                with suppress(ProcessLookupError, PermissionError):
                    kill(pid, signal.SIGKILL)

        def end(self) -> None:
            """The same, and forget it."""
            self.kill()
            self._process.join()
            self._connection.close()

    start = Forked

    def begin(seconds: float, grace: float, bytes_more: int, over: Callable[[], None]) -> None:
        """Bound the process that calls this.

        Args:
            seconds: after them `over` is called in the main thread, wherever it is.
            grace: seconds after which whoever catches what `over` raises is ended.
            bytes_more: of memory, beyond what the process has now.
            over: raises what unwinds the file.
        """
        os.setsid()

        def on_alarm(_number: int, _frame: FrameType | None) -> None:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            over()

        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, seconds, grace)
        with suppress(ValueError, OSError):  # the machine allows less, or cannot be asked
            used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            most = used * resource.getpagesize() + bytes_more
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
