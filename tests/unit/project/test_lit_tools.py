"""Tools of lit tests that run in forks end as those do that are started."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.paths import LIT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")

SCRIPT = """\
import atexit, os, sys
print(sys.argv[1:], os.getcwd(), os.environ.get("WORD"), __name__)
sys.stderr.write("to standard error\\n")
atexit.register(print, "at exit")
what = sys.argv[1]
if what == "echo":
    sys.stdout.write(sys.stdin.read())
elif what == "raise":
    raise ValueError("wrong")
elif what == "kill":
    os.kill(os.getpid(), 9)
elif what == "hang":
    import time
    open(sys.argv[2], "w").write(str(os.getpid()))
    time.sleep(600)
elif what.isdigit():
    sys.exit(int(what))
elif what == "text":
    sys.exit("a message")
elif what == "nothing":
    sys.exit()
"""

ENVIRONMENT = {n: v for n, v in os.environ.items() if not n.startswith("PYTHON")}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    # The path of a socket has to be short.
    folder = subprocess.check_output(["mktemp", "-d"], text=True).strip()
    path = f"{folder}/socket"
    server = subprocess.Popen(
        [sys.executable, str(LIT / "preloaded" / "server.py"), path],
        stdin=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    while not os.path.exists(path):
        assert server.poll() is None
        time.sleep(0.02)
    yield [sys.executable, "-I", "-S", str(LIT / "preloaded" / "client.py"), path]
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait(60) == 0
    assert not os.path.exists(folder)


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "tool with spaces"
    # Like scripts written by pip, whose interpreter may be in a folder with spaces.
    start = f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n' '''\n"
    path.write_text(start + SCRIPT, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("what", ["0", "7", "echo", "raise", "kill", "text", "nothing"])
@pytest.mark.parametrize("variables", [{"WORD": "größe"}, {"PYTHONWARNINGS": "ignore"}])
def test_a_fork_behaves_like_a_start(
    client: list[str], script: str, what: str, variables: dict[str, str], tmp_path: Path
) -> None:
    both = [
        subprocess.run(
            command,
            input=b"some\ntext\xc3\xa4",
            capture_output=True,
            cwd=tmp_path,
            env={**ENVIRONMENT, **variables},
            timeout=120,
            check=False,
        )
        for command in (
            [*client, script, what, "a b", "'"],
            [sys.executable, script, what, "a b", "'"],
        )
    ]
    fork, start = both
    assert fork.returncode == start.returncode
    assert fork.stdout == start.stdout
    # A traceback begins in the server.
    assert fork.stderr.splitlines()[0] == start.stderr.splitlines()[0]
    assert fork.stderr.splitlines()[-1] == start.stderr.splitlines()[-1]


def test_a_killed_client_ends_the_tool(client: list[str], script: str, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with subprocess.Popen([*client, script, "hang", str(note)], env=ENVIRONMENT) as running:
        while not note.exists() or not note.read_text():
            assert running.poll() is None
            time.sleep(0.02)
        running.kill()
    tool = int(note.read_text())
    for _ in range(600):
        try:
            os.kill(tool, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the tool still runs")
