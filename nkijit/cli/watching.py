"""`nkijit watch`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import typer

from nkijit.cli.selection import Selection
from nkijit.discovery.config import FILE, split_kernel
from nkijit.discovery.errors import UsageError
from nkijit.host.missing_files import missing_file

_EVERY = 0.3
"""The time between two checks for changed files, in seconds."""


def watch(
    kernels: Selection,
    *,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="port of the page; 0 is any free one")
    ] = 0,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="open the page in the browser")
    ] = True,
) -> None:
    """Check a kernel whenever its file is saved, and show its report in the browser.

    The page is updated when a Python file in the kernel's folder, or pyproject.toml, changes. It is
    served on this machine only. Press Ctrl+C to stop.
    """
    path, _ = split_kernel(kernels.file)
    if not Path(path).is_file():
        raise UsageError(missing_file(path))
    with tempfile.TemporaryDirectory() as folder:
        page = _Page(Path(folder) / "report.html")
        server = ThreadingHTTPServer(("127.0.0.1", port), _handler(page))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        print(f"watching {path}: {address}", flush=True)
        try:
            for _ in _changes(Path(path)):
                page.make(kernels)
                if open_page and page.version == 1:
                    webbrowser.open(address)
        finally:
            server.shutdown()


def _changes(path: Path) -> Iterator[None]:
    """Yield once at the beginning, and after each change of a file that the kernel may use."""
    seen: dict[Path, int] | None = None
    while True:
        found = dict(_states(path))
        if found != seen:
            yield
            seen = found
        time.sleep(_EVERY)


def _states(path: Path) -> Iterator[tuple[Path, int]]:
    """Yield the modification time, in ns, of the kernel's file and of files that it may depend on.

    These are the Python files in the same folder, and pyproject.toml in all folders above.
    """
    beside = path.parent.glob("*.py")
    above = (folder / FILE for folder in path.resolve().parents)
    for file in {path, *beside, *above}:
        try:
            yield file, file.stat().st_mtime_ns
        except OSError:
            continue  # an editor is replacing it


@dataclass
class _Page:
    """The served page: the last report that could be written, and the result of the last check."""

    path: Path
    version: int = 0
    """The number of checks so far."""
    text: str = ""
    """Findings or errors of the last check."""
    ok: bool = True
    """Whether the last check produced a report."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def make(self, kernels: Selection) -> None:
        """Run `nkijit report` in a new process, which imports the changed files."""
        command = [sys.executable, "-m", "nkijit", "report", kernels.file, "-o", str(self.path)]
        for option, values in (
            ("-a", kernels.arg or []),
            ("-t", [kernels.target] if kernels.target else []),
            ("-c", [str(kernels.cores)] if kernels.cores else []),
        ):
            command += [part for value in values for part in (option, value)]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        text = done.stderr.strip() or "no findings"
        with self._lock:
            self.version += 1
            self.text, self.ok = text, done.returncode == 0
        print(f"\n{time.strftime('%H:%M:%S')}\n{text}", flush=True)

    def status(self) -> str:
        """Return the state that the page around the report polls, as JSON."""
        with self._lock:
            shown = {"version": self.version, "text": self.text, "ok": self.ok}
        return json.dumps(shown)


def _handler(page: _Page) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            # Other web pages could reach this server through a host name of their own (DNS
            # rebinding).
            host = self.headers.get("Host", "").rpartition(":")[0]
            if host not in ("127.0.0.1", "localhost"):
                self.send_error(403)
            elif self.path == "/":
                self._answer("text/html", _AROUND)
            elif self.path == "/status":
                self._answer("application/json", page.status())
            elif self.path.startswith("/report") and page.path.is_file():
                self._answer("text/html", page.path.read_text(encoding="utf-8"))
            else:
                self.send_error(404)

        def _answer(self, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


_AROUND = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>nkijit watch</title>
<style>
html, body { margin: 0; height: 100%; }
iframe { border: 0; width: 100%; height: 100%; }
pre { position: fixed; inset: auto 0 0 0; max-height: 40%; overflow: auto; margin: 0;
  padding: 12px; background: #fff4f4; color: #600; border-top: 2px solid #c00; }
</style>
<iframe title="report"></iframe><pre hidden></pre>
<script>
const frame = document.querySelector("iframe"), failure = document.querySelector("pre");
let version = 0;
async function look() {
  try {
    const now = await (await fetch("/status")).json();
    failure.hidden = now.ok;
    failure.textContent = now.text;
    if (now.version !== version) {
      version = now.version;
      // Keep the selection.
      const shown = version > 1 ? frame.contentWindow.location.hash : "";
      if (now.ok) frame.src = "/report?" + version + shown;
    }
  } catch {
    failure.hidden = false;
    failure.textContent = "nkijit watch has ended";
  }
  setTimeout(look, 500);
}
look();
</script>
</html>
"""
