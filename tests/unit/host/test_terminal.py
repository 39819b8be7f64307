"""Progress on the terminal during long work."""

from __future__ import annotations

import time

import pytest

import nkijit.host.terminal
from nkijit.host.terminal import is_progress_shown, progress_bar, waiting


@pytest.mark.parametrize(
    ("patience", "is_terminal", "shown"),
    [(0.0, True, True), (0.0, False, False), (60.0, True, False)],
)
def test_progress_is_shown_on_terminals_when_it_takes_long(
    patience: float,
    is_terminal: bool,
    shown: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(nkijit.host.terminal, "PATIENCE", patience)
    monkeypatch.delenv("NO_COLOR", raising=False)
    if is_terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    else:
        monkeypatch.delenv("FORCE_COLOR", raising=False)
    with progress_bar("@kernel") as progress:
        progress(0.5)
        time.sleep(0.3)
        progress(1.0)
    captured = capsys.readouterr()
    assert ("@kernel" in captured.err) is shown
    assert captured.out == ""
    with waiting("tracing @kernel"):
        time.sleep(0.3)
    captured = capsys.readouterr()
    assert ("tracing @kernel" in captured.err) is shown
    assert captured.out == ""


def test_work_inside_of_other_work_has_the_label(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nkijit.host.terminal, "PATIENCE", 0.0)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with waiting("[outer]"):
        time.sleep(0.3)
        with progress_bar("inner") as progress:
            progress(0.5)
            time.sleep(0.3)
    captured = capsys.readouterr()
    assert captured.err.index("[outer]") < captured.err.index("inner")
    assert not is_progress_shown()


def test_output_of_a_command_stays_on_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nkijit.host.terminal, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with waiting("work"):
        time.sleep(0.3)
        print("result")
    assert capsys.readouterr().out == "result\n"
