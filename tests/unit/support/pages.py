"""Pages of documentation whose files and outputs are checked.

Fenced blocks after an HTML comment are checked. `<!-- file: NAME -->` is a file of that name; `<!--
output: NAME -->` has one or more commands, each after `$`, and their output in the folder of those
files.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from nkijit.traced.runs import PRECISE_VARIABLE
from nkijit.tracing.target import TARGET_VARIABLE

BLOCK = re.compile(r"<!-- (file|output): (\S+) -->\n```\w*\n(.*?)```\n", re.DOTALL)

HERE = re.compile(r"\Acat > \S+ <<'END'\n(.*)END\n\Z", re.DOTALL)
"""A file that a shell writes: it can be pasted."""
COMMAND = re.compile(r"(?:^\$ .*\n)+", re.MULTILINE)


def blocks(page: Path, kind: str) -> dict[str, str]:
    """The files, or the outputs, of a page."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return {name: HERE.sub(r"\1", body) for what, name, body in found if what == kind}


def check_output(
    page: Path, name: str, folder: Path, update: bool, *, with_files: bool = True
) -> None:
    """Run the commands of an output in a folder, after writing the page's files there.

    `update`: replace the page's output, unless it only depends on the processor.
    """
    for file, body in blocks(page, "file").items() if with_files else ():
        (folder / file).write_text(body, encoding="utf-8")
    block = blocks(page, "output")[name]
    commands = COMMAND.match(block)
    assert commands is not None
    shown = block[commands.end() :]
    lines = commands[0].removesuffix("\n").split("\n")
    printed = [output_of(line.removeprefix("$ "), folder) for line in lines]
    printed = "".join(text for text in printed if text != "\n")
    assert str(folder) not in printed
    if update and _anywhere(printed) != _anywhere(shown):
        text = page.read_text(encoding="utf-8")
        start = text.index(f"<!-- output: {name} -->")
        begin = text.index(commands[0], start) + len(commands[0])
        end = text.index("```", begin)
        page.write_text(text[:begin] + printed + text[end:], encoding="utf-8")
        shown = printed
    assert printed == shown or _anywhere(printed) == _anywhere(shown)


def _anywhere(text: str) -> str:
    """Return a text without processor-dependent parts. The order of additions in BLAS can depend on
    the shape, so results of a sweep are equal or differ in a last bit."""
    return re.sub(" +", " ", re.sub(r"off by \d\.\de-\d\d", "the same", text))


def output_of(command: str, folder: Path) -> str:
    """Return the output of a command, from both streams."""
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
