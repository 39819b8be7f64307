"""Pages of documentation whose files and outputs are checked.

Fenced blocks behind an HTML comment are. `<!-- file: NAME -->` is a file of that name;
`<!-- output: NAME -->` is a command, after the `$`, and what it prints in the folder of those
files.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from nkijit.runs import PRECISE_VARIABLE
from nkijit.target import TARGET_VARIABLE

BLOCK = re.compile(r"<!-- (file|output): (\S+) -->\n```\w*\n(.*?)```\n", re.DOTALL)


def blocks(page: Path, kind: str) -> dict[str, str]:
    """The files, or the outputs, of a page."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return {name: body for what, name, body in found if what == kind}


def check_output(page: Path, name: str, folder: Path, update: bool) -> None:
    """Run the command of an output in a folder; `update`: what it prints is right."""
    for file, body in blocks(page, "file").items():
        (folder / file).write_text(body, encoding="utf-8")
    first_line, shown = blocks(page, "output")[name].split("\n", 1)
    assert first_line.startswith("$ ")
    printed = output_of(first_line.removeprefix("$ "), folder)
    assert str(folder) not in printed
    if update:
        text = page.read_text(encoding="utf-8")
        start = text.index(f"<!-- output: {name} -->")
        begin = text.index(first_line, start) + len(first_line) + 1
        end = text.index("```", begin)
        page.write_text(text[:begin] + printed + text[end:], encoding="utf-8")
        shown = printed
    assert printed == shown


def output_of(command: str, folder: Path) -> str:
    """What a command prints, on both streams."""
    bin_folder = str(Path(sys.executable).parent)
    environment = {
        **{k: v for k, v in os.environ.items() if k not in (TARGET_VARIABLE, PRECISE_VARIABLE)},
        "PATH": os.pathsep.join((bin_folder, os.environ["PATH"])),
    }
    finished = subprocess.run(
        shlex.split(command),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return finished.stdout.rstrip("\n") + "\n"
