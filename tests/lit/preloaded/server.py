"""Runs the tools of lit tests in forks of a process that has done their common imports.

A tool takes a second to import xDSL and to declare the instructions. A test runs several tools, so
this is most of the tests' time. Otherwise a tool behaves as if it was started: it runs its script,
with the arguments, the folder, the environment and the files of the client, and ends in the same
way. Modules that only some commands import (lowering, interpreters, pages) are not preloaded.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import marshal
import os
import pkgutil
import runpy
import selectors
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import NoReturn

from client import LENGTH


def serve(path: str) -> None:
    """Run the requests of clients until standard input ends, which is when lit ends.

    `path` exists as soon as clients can connect.
    """
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{path}.new")
    listener.listen(64)
    os.rename(f"{path}.new", path)
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    selector = selectors.DefaultSelector()
    for source in (0, woken, listener):
        selector.register(source, selectors.EVENT_READ)
    clients: dict[int, socket.socket] = {}
    while True:
        for key, _ in selector.select():
            source = key.fileobj
            if source == 0:
                if not os.read(0, 1):
                    return
            elif source == woken:
                with suppress(BlockingIOError):
                    os.read(woken, 4096)
                _report_ended(clients, selector)
            elif source is listener:
                client, _ = listener.accept()
                asked = _receive(client)
                if asked is None:
                    client.close()
                    continue
                child = os.fork()
                if child == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    selector.close()
                    for other in (listener, client, *clients.values()):
                        other.close()
                    os.close(woken)
                    os.close(wake)
                    _become(*asked)
                for file in asked[3]:
                    os.close(file)
                clients[child] = client
                selector.register(client, selectors.EVENT_READ, child)
            elif key.data in clients:
                # The client is gone: a test that took too long was ended.
                with suppress(ProcessLookupError):
                    os.kill(key.data, signal.SIGKILL)
                selector.unregister(source)


def _report_ended(clients: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
    while clients:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        client = clients.pop(child)
        with suppress(KeyError):
            selector.unregister(client)
        with suppress(OSError):
            client.sendall(marshal.dumps(os.waitstatus_to_exitcode(status)))
        client.close()


def _receive(client: socket.socket) -> tuple[list[str], str, dict[str, str], list[int]] | None:
    """The words, the folder, the environment and the standard files of a tool."""
    head, files, _, _ = socket.recv_fds(client, LENGTH, 3)
    if len(head) < LENGTH:
        return None
    left = int.from_bytes(head, "big")
    data = b""
    while len(data) < left:
        part = client.recv(left - len(data))
        if not part:
            return None
        data += part
    words, folder, environment = marshal.loads(data)
    return words, folder, environment, files


def _become(
    words: list[str], folder: str, environment: dict[str, str], files: list[int]
) -> NoReturn:
    """Run a tool in this process, which is a fork."""
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    os.chdir(folder)
    if _of_python(environment) != _of_python(os.environ):
        os.execve(words[0], words, environment)
    os.environ.clear()
    os.environ.update(environment)
    encoding = sys.stdout.encoding
    sys.stdin = _text(0, "r", encoding)
    sys.stdout = _text(1, "w", encoding)
    sys.stderr = _text(2, "w", encoding, "backslashreplace", line_buffering=True)
    sys.argv = words
    sys.path[0] = os.path.dirname(words[0])
    _end_with(_exit_code(words[0]))


def _of_python(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that Python reads at its start."""
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


def _exit_code(script: str) -> int:
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def _end_with(code: int) -> NoReturn:
    """End as Python does, but for taking everything that was imported apart: it takes long."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = 120
    sys.stderr.flush()
    os._exit(code)


def _text(
    file: int, mode: str, encoding: str, errors: str = "strict", line_buffering: bool = False
) -> io.TextIOWrapper:
    buffer = open(file, f"{mode}b", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(buffer, encoding, errors, line_buffering=line_buffering)


def _preload() -> None:
    """Import the modules that most commands import, also those that they import when needed."""
    import filecheck.main  # noqa: F401
    import rich.console  # noqa: F401
    import typer  # noqa: F401

    import nkijit.classic
    import nkijit.cli.opt  # noqa: F401
    import nkijit.isa  # noqa: F401
    import nkijit.language  # noqa: F401
    import nkijit.traced.kernel  # noqa: F401
    from nkijit.cli.app import COMMANDS, whole

    for command in COMMANDS:
        whole(command)
    for module in pkgutil.walk_packages(nkijit.passes.__path__, "nkijit.passes."):
        importlib.import_module(module.name)


if __name__ == "__main__":
    _preload()
    gc.freeze()  # so that forks leave it where it is
    serve(sys.argv[1])
    shutil.rmtree(os.path.dirname(sys.argv[1]), ignore_errors=True)
