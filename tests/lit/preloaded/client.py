"""Has a tool run in a fork of the server: `client.py SOCKET TOOL ARGUMENTS`."""

from __future__ import annotations

import marshal
import os
import signal
import socket
import sys

LENGTH = 8
"""Bytes that say how long a request is."""


def main() -> int:
    """Ask the server; returns the exit code of the tool."""
    path, words = sys.argv[1], sys.argv[2:]
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)
    data = marshal.dumps((words, os.getcwd(), dict(os.environ)))
    socket.send_fds(server, [len(data).to_bytes(LENGTH, "big")], [0, 1, 2])
    server.sendall(data)
    answer = server.recv(64)
    if not answer:
        print("the process that runs tools has ended", file=sys.stderr)
        return 125
    code = marshal.loads(answer)
    if code < 0:
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
