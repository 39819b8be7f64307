"""Processes on every system: new ones of Python, which get tasks over their standard input.

Unlike those of `multiprocessing` they do not import the main module, so scripts without a guard,
notebooks and daemonic processes can start them.
"""

from __future__ import annotations

import importlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from _thread import interrupt_main
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import IO, Any

from nkijit.host.processes.channels import EndedError, OutOfTimeError, ending_of

MISSING: str | None = (
    "on this system the memory of a file is not bounded (memoryLimit), and processes that it "
    "starts are not ended with it"
)
"""What these processes cannot do, for the author to know."""

_CODE = "import sys; sys.path[:] = {path}; from {module} import serve; serve({modules}, {rest})"
_GRACE = 5.0
"""Seconds that a process has for ending when it speaks no more."""


class Spawned:
    """A process that imports some modules, and then does one task after the other.

    Args:
        modules: what tasks need.
        rest: seconds without a task after which the process leaves.
    """

    def __init__(self, modules: Sequence[str], rest: float | None = None):
        code = _CODE.format(path=sys.path, module=__name__, modules=list(modules), rest=rest)
        options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        if sys.platform == "win32":  # Ctrl-C in a terminal is for the process that has started it
            options["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
        else:
            options["process_group"] = 0
        self._process = subprocess.Popen([sys.executable, "-c", code], **options)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._sent = self._process.stdin
        # A thread reads, as not every system can wait for a pipe for some seconds only.
        self._found: queue.SimpleQueue[tuple[Any] | None] = queue.SimpleQueue()
        args = (self._process.stdout, self._found)
        threading.Thread(target=_read, args=args, daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def do(self, task: Callable[..., None], *args: Any) -> None:
        """Have it run `task(send, *args)`. Raises EndedError."""
        try:
            _write(self._sent, (task, args))
        except OSError:
            raise EndedError(self._ending()) from None

    def recv(self, seconds: float | None) -> Any:
        """The next object that it sends.

        Raises EndedError when it ends, OutOfTimeError when it sends none for so many seconds.
        """
        try:
            found = self._found.get(timeout=seconds)
        except queue.Empty:
            raise OutOfTimeError(seconds or 0.0) from None
        if found is None:
            self._found.put(None)
            raise EndedError(self._ending())
        return found[0]

    def _ending(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            return ending_of(self._process.wait(_GRACE))
        self.kill()
        return ending_of(self._process.wait())

    def kill(self) -> None:
        """End it at once, but on Windows with all that it has started."""
        if sys.platform == "win32":
            self._process.kill()
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """The same, and forget it."""
        self.kill()
        self._process.wait()
        with suppress(OSError):  # what it has not read
            self._sent.close()


def _write(stream: IO[bytes], value: object) -> None:
    stream.write(pickle.dumps(value))
    stream.flush()


def _read(stream: IO[bytes], found: queue.SimpleQueue[tuple[Any] | None]) -> None:
    """Queue the objects that arrive, and None at the end."""
    with suppress(Exception), stream:  # an object that cannot be read is the end, too
        while True:
            found.put((pickle.load(stream),))
    found.put(None)


def serve(modules: Sequence[str], rest: float | None) -> None:
    """Do tasks until the standard input ends."""
    tasks, send = os.fdopen(os.dup(0), "rb"), partial(_write, os.fdopen(os.dup(1), "wb"))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    with suppress(OSError):
        os.dup2(2, 1)  # what kernels print is not the result of a command
    for module in modules:
        importlib.import_module(module)
    with suppress(EOFError):
        while True:
            leaving = threading.Timer(rest or 0.0, os._exit, (0,))
            leaving.daemon = True
            if rest is not None:
                leaving.start()
            task, args = pickle.load(tasks)
            leaving.cancel()
            task(send, *args)
    os._exit(0)  # threads of the author's would keep it alive


# ------------------------------------------------------------------ one function in each

_modules: list[str] = []
"""What processes need."""
_waiting: list[Spawned] = []
"""At most one process that has nothing to do yet."""


def preload(modules: Sequence[str]) -> None:
    """Say what processes need, so that one that waits has it."""
    _modules[:] = modules


def prepare() -> None:
    """Have a process ready."""
    if not _waiting:
        _waiting.append(Spawned(_modules))


def start(target: Callable[..., None], *args: Any) -> Spawned:
    """A process that runs `target(send, *args)`: the one that waits, unless it has ended."""
    prepare()
    process = _waiting.pop()
    if not process.is_alive:
        process.end()
        process = Spawned(_modules)
    process.do(target, *args)
    prepare()
    return process


def begin(seconds: float, grace: float, bytes_more: int, over: Callable[[], None]) -> None:
    """Bound the time of the process that calls this.

    Args:
        seconds: after them `over` is called in the main thread, when it gets to run Python.
        grace: nothing here; whoever started the process ends it.
        bytes_more: nothing here.
        over: raises what unwinds the file.
    """
    del grace, bytes_more

    def on_interrupt(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        over()

    signal.signal(signal.SIGINT, on_interrupt)
    timer = threading.Timer(seconds, interrupt_main)
    timer.daemon = True
    timer.start()
