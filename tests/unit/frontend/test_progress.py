"""Commands show their progress: nothing that can take long runs outside of it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from typer.testing import CliRunner

from nkijit.cli.app import COMMANDS, app, whole
from nkijit.host.terminal import is_progress_shown

KERNELS = """
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def copy(x, tile=512):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, x.shape[1], tile):
        t = nl.ndarray((128, tile), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[:, start : start + tile])
        nisa.dma_copy(dst=out[:, start : start + tile], src=t)
    return out


def reference(x):
    return x
"""

ARGUMENTS = ("-a", "x=128x1024:float32")

CALLS: dict[str, tuple[str, ...]] = {
    "trace": ("--rolled",),
    "verify": (),
    "list": (),
    "lower": ("--dump-after-all",),
    "export": (),
    "memory": ("--svg",),
    "profile": ("--against", "kernels.py", "-b", "tile=256"),
    "advise": (),
    "optimize": (),
    "cost": (),
    "sweep": ("--space", "tile=256,512", "--workers", "1"),
    "prove": ("-b", "tile=256"),
    "diff": ("-b", "tile=256", "--queues"),
    "report": ("-o", "page.html"),
    "run": ("-o", "result.npy"),
    "record": (),
    "bisect": ("--reference", "kernels.py:reference"),
}
"""The options of a call of each command that works on a kernel."""

OTHERS = {"migrate", "watch", "lsp", "mcp", "explain", "lit-config"}
"""Commands without a kernel, or that start another process for it. `migrate` takes a classic one"""

LONG = (
    "verify/passes.py:find_all",
    "lower/schedule.py:lower",
    "compile/pipeline.py:compiled",
    "profile/simulate.py:simulate",
    "report/memory/report.py:memory_report",
    "tracing/tracer.py:tracer_for",
    "ir/text.py:ir_text_of",
    "transform/reroll.py:rerolled",
    "interpret/run/launch.py:_run",
    "prove/proof.py:prove",
    "optimize/search.py:run",
    "export/source.py:source_of",
    "testing/inputs.py:random_inputs",
    "python_files.py:run_file",
)
"""Functions whose time grows with the kernel."""


def test_every_command_is_called_here() -> None:
    assert set(CALLS) | OTHERS == set(COMMANDS)


@pytest.mark.parametrize("name", CALLS)
def test_a_command_shows_progress_while_it_works(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kernels.py").write_text(KERNELS, encoding="utf-8")
    whole(name)
    called, silent = set[str](), set[str]()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        path = Path(frame.f_code.co_filename)
        names = {"/".join([*path.parts[-n:]]) + f":{frame.f_code.co_name}" for n in (1, 2, 3)}
        for found in names.intersection(LONG):
            called.add(found)
            if not is_progress_shown():
                silent.add(found)

    sys.setprofile(watch)
    try:
        result = CliRunner().invoke(app, [name, "kernels.py", *ARGUMENTS, *CALLS[name]])
    finally:
        sys.setprofile(None)
    assert result.exit_code == 0, result.output
    assert called
    assert not silent
