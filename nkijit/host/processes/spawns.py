"""Processes on every system: new Python processes that receive tasks over their standard input.

Unlike processes of `multiprocessing`, these processes do not import the main module. Scripts
without a guard, notebooks and daemonic processes can therefore start them.
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
from typing import IO, Any, NoReturn, Protocol

from nkijit.host.processes.channels import EndedError, OutOfTimeError, Send, ending_of

MISSING: str | None = (
    "on this system, memoryLimit has no effect, and child processes of a file are not ended with it"
)
"""A message about the limits that these processes cannot enforce."""

_CODE = "import sys; sys.path[:] = {path}; from {module} import serve; serve({modules}, {rest})"
_GRACE = 5.0
"""The time in seconds within which a process must end after it has closed its output."""


class Process(Protocol):
    """The methods of `subprocess.Popen` that are used here."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit code; None while the process runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code. Raises subprocess.TimeoutExpired."""
        ...

    def kill(self) -> None:
        """End the process at once."""
        ...


class Serving:
    """A process that runs one task after the other.

    Args:
        process: the process, which calls `work`.
        sent: the stream from which it reads tasks.
        found: the stream to which it writes results.
    """

    def __init__(self, process: Process, sent: IO[bytes], found: IO[bytes]):
        self._process, self._sent = process, sent
        # A thread reads: not every system can wait for a pipe with a timeout.
        self._found: queue.SimpleQueue[tuple[Any] | None] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(found, self._found), daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def do(self, task: Callable[..., None], *args: Any) -> None:
        """Run `task(send, *args)` in the process. Raises EndedError."""
        try:
            write(self._sent, (task, args))
        except OSError:
            raise EndedError(self._ending()) from None

    def recv(self, seconds: float | None) -> Any:
        """Return the next object that the process sends.

        Raises EndedError when the process ends, OutOfTimeError if no object arrives in `seconds`.
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
        """End the process at once, and except on Windows its children."""
        if sys.platform == "win32":
            self._process.kill()
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill the process and release its resources."""
        self.kill()
        self._process.wait()
        with suppress(OSError):  # flushing data that it has not read
            self._sent.close()


class Spawned(Serving):
    """A new process of Python, which imports modules and then runs tasks.

    Args:
        modules: the modules to import at the start.
        rest: the idle time after which the process ends, in seconds; None waits for ever.
    """

    def __init__(self, modules: Sequence[str], rest: float | None = None):
        code = _CODE.format(path=sys.path, module=__name__, modules=list(modules), rest=rest)
        options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        if sys.platform == "win32":  # Ctrl-C in a terminal must reach only the parent process
            options["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
        else:
            options["process_group"] = 0
        process = subprocess.Popen([sys.executable, "-c", code], **options)
        assert process.stdin is not None
        assert process.stdout is not None
        super().__init__(process, process.stdin, process.stdout)


def write(stream: IO[bytes], value: object) -> None:
    stream.write(pickle.dumps(value))
    stream.flush()


def _read(stream: IO[bytes], found: queue.SimpleQueue[tuple[Any] | None]) -> None:
    """Put each object that arrives on `stream` into the queue `found`, and None at the end."""
    with suppress(Exception), stream:  # an object that cannot be unpickled is an end as well
        while True:
            found.put((pickle.load(stream),))
    found.put(None)


def serve(modules: Sequence[str], rest: float | None) -> None:
    """Run tasks in the process until its standard input ends."""
    tasks, send = os.fdopen(os.dup(0), "rb"), partial(write, os.fdopen(os.dup(1), "wb"))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    with suppress(OSError):
        os.dup2(2, 1)  # kernels' prints are not output of the command
    for module in modules:
        importlib.import_module(module)
    work(tasks, send, rest)


def work(tasks: IO[bytes], send: Send, rest: float | None) -> NoReturn:
    """Run the tasks of a stream until it ends, then end this process.

    Args:
        tasks: the stream.
        send: sends an object to the process that writes the tasks.
        rest: see `Spawned`.
    """
    with suppress(EOFError):
        while True:
            leaving = threading.Timer(rest or 0.0, os._exit, (0,))
            leaving.daemon = True
            if rest is not None:
                leaving.start()
            task, args = pickle.load(tasks)
            leaving.cancel()
            task(send, *args)
    os._exit(0)  # threads of user code would keep the process alive


# ------------------------------------------------------------------ one function per process

_modules: list[str] = []
"""The names of the modules that new processes import."""
_waiting: list[Spawned] = []
"""The idle process, if there is one."""


def preload(modules: Sequence[str]) -> None:
    """Set the modules that the next process imports."""
    _modules[:] = modules


def prepare() -> None:
    """Start an idle process if there is none."""
    if not _waiting:
        _waiting.append(Spawned(_modules))


def start(target: Callable[..., None], *args: Any) -> Spawned:
    """Run `target(send, *args)` in the idle process, or in a new one if it has ended."""
    prepare()
    process = _waiting.pop()
    if not process.is_alive:
        process.end()
        process = Spawned(_modules)
    process.do(target, *args)
    prepare()
    return process


def begin(seconds: float, grace: float, bytes_more: int, over: Callable[[], None]) -> None:
    """Set a time limit on the current process.

    Args:
        seconds: time limit, after which `over` is called in the main thread, when it next executes
            Python code.
        grace: ignored; the parent ends the process.
        bytes_more: ignored.
        over: raises the exception that unwinds the user's code.
    """
    del grace, bytes_more

    def on_interrupt(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        over()

    signal.signal(signal.SIGINT, on_interrupt)
    timer = threading.Timer(seconds, interrupt_main)
    timer.daemon = True
    timer.start()
