"""What docs/sweep.md shows is what happens.

When an output has changed on purpose:

    .venv/bin/pytest tests/unit/project/test_sweep_page.py --update-golden
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pages import blocks, check_output
from support.paths import ROOT

PAGE = ROOT / "docs" / "sweep.md"
OUTPUTS = blocks(PAGE, "output")


def test_every_marked_block_was_found() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- ") == len(blocks(PAGE, "file")) + len(OUTPUTS)


@pytest.mark.parametrize("name", OUTPUTS)
def test_output(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    check_output(PAGE, name, tmp_path, request.config.getoption("--update-golden"))
