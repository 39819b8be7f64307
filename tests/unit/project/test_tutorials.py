"""The tutorials' cells run, fail only where documented, and print the recorded outputs.

After an intended change of an output, check the difference and run:

    .venv/bin/pytest tests/unit/project/test_tutorials.py --update-golden
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cells import run_cells
from support.mystnb import cells_of
from support.paths import GOLDEN, ROOT

TUTORIALS = sorted(
    path for path in (ROOT / "docs" / "tutorials").glob("*.md") if path.stem != "index"
)


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    cells = cells_of(path)
    assert len(cells) == path.read_text(encoding="utf-8").count("```{code-cell}")
    shown = run_cells([code for code, _ in cells], tmp_path)
    parts: list[str] = []
    for number, ((_, fails), cell) in enumerate(zip(cells, shown, strict=True), start=1):
        assert cell.failed == fails, cell.printed
        texts = [cell.printed.rstrip("\n"), *(result["text/plain"] for result in cell.results)]
        parts += [f"# In[{number}]", *filter(None, texts), ""]
    text = "\n".join(line.rstrip() for part in parts for line in part.split("\n"))
    golden = GOLDEN / "tutorials" / f"{path.stem}.txt"
    if request.config.getoption("--update-golden"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert str(ROOT) not in text
    assert text == golden.read_text(encoding="utf-8")


def test_recorded_outputs_belong_to_a_tutorial() -> None:
    recorded = {path.stem for path in (GOLDEN / "tutorials").glob("*.txt")}
    assert recorded == {path.stem for path in TUTORIALS}
