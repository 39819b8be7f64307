"""Cells of a notebook, run by IPython in a separate process, and their outputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Shown:
    """The outputs of a cell."""

    printed: str
    """Its printed text, and the text of an exception."""
    results: list[dict[str, str]]
    """Its displayed objects by MIME type, with its value last."""
    failed: bool
    """Whether it raised something."""

    @property
    def html(self) -> str:
        """The HTML of its value; KeyError where it has none."""
        return self.results[-1]["text/html"]

    @property
    def text(self) -> str:
        """The text of its value."""
        return self.results[-1]["text/plain"]


def run_cells(cells: list[str], folder: Path) -> list[Shown]:
    """Run cells one after the other, in a folder, with nothing known before."""
    environment = {**os.environ, "NKIJIT_BACKEND": "numpy", "IPYTHONDIR": str(folder)}
    finished = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(cells),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return [Shown(**each) for each in json.loads(finished.stdout)]


def _main() -> None:
    from IPython.core.displayhook import CapturingDisplayHook
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    cells = json.load(sys.stdin)
    config = Config({"HistoryManager": {"enabled": False}})
    shell: Any = InteractiveShell.instance(config=config, colors="nocolor")
    shown: list[dict[str, Any]] = []
    for cell in cells:
        values: list[Any] = []
        shell.display_trap.hook = CapturingDisplayHook(shell, values)
        with capture_output() as captured:
            result = shell.run_cell(cell, store_history=True)
        shown.append(
            {
                "printed": captured.stdout + captured.stderr,
                "results": [
                    *(output.data for output in captured.outputs),
                    *(value["data"] for value in values),
                ],
                "failed": not result.success,
            }
        )
    json.dump(shown, sys.stdout)


if __name__ == "__main__":
    _main()
