"""The comparison of predicted with published times: its rows, its sources, its table."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT

from nkijit.passes.profile.spread import BASES

KERNEL = '''"""A page.

.. code-block:: python

    import nki
    import nki.language as nl

    @nki.jit
    def other(x):
      return x

.. code-block:: python

    import nki
    import nki.isa as nisa
    import nki.language as nl

    @nki.jit
    def fake(x):
      COLUMNS = 1  # to be changed
      out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
      for i in range(512 // COLUMNS):
        tile = nl.load(x[:, i * COLUMNS:(i + 1) * COLUMNS])
        nisa.dma_copy(out[:, i * COLUMNS:(i + 1) * COLUMNS], tile)
      return out

Text.
"""
'''
ROWS = """
[sources.page]
repository = "someone/something"
commit = "0123"
path = "page.rst"

[[rows]]
name = "fake, COLUMNS 512"
source = "page"
function = "fake"
inputs = ["float32[128,512]"]
constants = { COLUMNS = 512 }
target = "trn2"
measured_us = 14
versions = "fake"
busy_us = { dma = 2.5 }
hbm_bytes = 524_288

[[rows]]
name = "fake, COLUMNS 8"
source = "page"
function = "fake"
inputs = ["float32[128,512]"]
constants = { COLUMNS = 8 }
target = "trn2"
measured_us = 4000
versions = "fake"

[[rows]]
name = "fake, 300 rows"
source = "page"
function = "fake"
inputs = ["float32[300,512]"]
constants = { COLUMNS = 512 }
target = "trn2"
measured_us = 1500

[[rows]]
name = "gone"
source = "page"
function = "gone"
inputs = []
target = "trn2"
measured_us = 1
"""
EXPECTED = r"""Each source, with ranges that were fitted to the other sources:

\| source \| times \| within 15% \| within 30% \| orders \| inside the range \| refused \|
\|---\|--:\|--:\|--:\|--:\|--:\|--:\|
\| someone/something \| 3 \| 1 of 3 \(33%\) \| 1 of 3 \(33%\) \| 1 of 1 \(100%\) \| @ \| 1 \|
\| all \| 3 \| 1 of 3 \(33%\) \| 1 of 3 \(33%\) \| 1 of 1 \(100%\) \| @ \| 1 \|

Predictions, with ranges that were fitted to all sources:

\| source \| kernel \| target \| published µs \| as written \| compiled \| ratio \|
\|---\|---\|---\|--:\|--:\|--:\|--:\|
\| someone/something \| fake, COLUMNS 512 \| trn2 \| 14 \| # \| # \(#–#\) \| [01]\.\d\d \|
\| someone/something \| fake, COLUMNS 8 \| trn2 \| 4,000 \| # \| # \(#–#\) \| 0\.\d\d \|
\| someone/something \| fake, 300 rows \| trn2 \| 1,500 \| refused: .+ \|  \|  \|
\| someone/something \| gone \| trn2 \| 1 \| not available: page\.rst has 0 of 'gone' \|  \|  \|

Busy times in µs and bytes of HBM: predicted / published\.

\| kernel \| tensor \| vector \| scalar \| gpsimd \| dma \| MB \|
\|---\|--:\|--:\|--:\|--:\|--:\|--:\|
\| fake, COLUMNS 512 \| 0\.0 / – \| 0\.0 / – \| 0\.0 / – \| 0\.0 / – \| # / 2\.5 \| 0\.5 / 0\.5 \|

- within 15%: 1 of 3 \(33%\)
- within 30%: 1 of 3 \(33%\)
- inside of the predicted range: [01] of 3
- spread of latency-bound kernels: #% \(2 times\)
- refused: 1 of 3, which count as neither
- order of fake: reproduced, 1 of 1 pairs
""".replace("#", r"[\d.]+").replace("@", r"[0-3] of 3 \(\d+%\)")


@pytest.fixture
def fidelity(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of `benchmarks.fidelity`, by name."""
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.chdir(ROOT)
    return lambda name: importlib.import_module(f"benchmarks.fidelity.{name}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    page = tmp_path / "someone/something/0123/page.rst"
    page.parent.mkdir(parents=True)
    page.write_text(KERNEL)
    (tmp_path / "rows.toml").write_text(ROWS)
    return tmp_path


def test_the_table(fidelity, folder, monkeypatch, capsys):
    page = folder / "performance.md"
    table = fidelity("table")
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    rows, write = str(folder / "rows.toml"), str(page)
    arguments = ["fidelity", "--rows", rows, "--sources", str(folder), "--write", write]
    monkeypatch.setattr(sys, "argv", arguments)
    fidelity("__main__").main()
    text = capsys.readouterr().out
    assert re.fullmatch(EXPECTED, text), text
    assert page.read_text() == f"before\n{table.BEGIN}\n\n{text}\n{table.END}\nafter\n"
    page.write_text("before\n")
    with pytest.raises(ValueError, match="does not have"):
        table.write_into(page, text)


def test_an_interrupted_run_is_continued(fidelity, folder, monkeypatch, capsys):
    made = fidelity("predicting").Prediction
    path = folder / "results.jsonl"
    first = fidelity("results").Results(path)
    first.add("fake, COLUMNS 512", made(14.0, author_us=15.0, basis="dma-bound"))
    first.add("fake, 300 rows", made(refused="sbuf-capacity"))
    assert fidelity("results").Results(path).found.keys() == first.found.keys()
    rows = ["--rows", str(folder / "rows.toml"), "--sources", str(folder)]
    arguments = ["fidelity", *rows, "--results", str(path), "--known"]
    monkeypatch.setattr(sys, "argv", arguments)
    fidelity("__main__").main()
    lines = capsys.readouterr().out.splitlines()
    shown = {line.split(" | ")[1]: line for line in lines if line.startswith("| someone")}
    spread = BASES["dma-bound"].spread
    range_text = f"14.0 ({14 * (1 - spread):.1f}–{14 * (1 + spread):.1f})"
    assert f"| 14 | 15.0 | {range_text} | 1.00 |" in shown["fake, COLUMNS 512"]
    assert "not available: not predicted" in shown["fake, COLUMNS 8"]
    assert "refused: sbuf-capacity" in shown["fake, 300 rows"]


def test_versions_that_are_not_in_the_published_order(fidelity):
    published = fidelity("rows").read_rows()
    made = fidelity("predicting").Prediction
    first, second, *_ = published.rows
    rows = (replace(first, measured_us=1, versions="v"), replace(second, measured_us=2))
    rows = (rows[0], replace(rows[1], versions="v"))
    found = {row.name: made(3 - row.measured_us, high_us=9) for row in rows}
    text = fidelity("table").table_text(replace(published, rows=rows), found)
    assert "order of v: not reproduced, 0 of 1 pairs" in text
    close = (rows[0], replace(rows[1], measured_us=1.04))
    text = fidelity("table").table_text(replace(published, rows=close), found)
    assert "order of v: the times are too close to have one" in text


def test_a_constant_that_is_not_there_once(fidelity, folder):
    rows, sources = fidelity("rows"), fidelity("sources")
    published = rows.read_rows(folder / "rows.toml")
    row = replace(published.rows[0], constants={"ROWS": 1})
    with pytest.raises(sources.UnavailableError, match="'ROWS' is assigned 0 times"):
        sources.kernel_text(row, published.sources["page"], KERNEL)


def test_the_rows_are_those_of_the_page(fidelity):
    published = fidelity("rows").read_rows()
    table = fidelity("table")
    page = (ROOT / "docs/performance.md").read_text()
    shown = page[page.index("| source | kernel |", page.index(table.BEGIN)) :]
    names = [line.split(" | ")[1] for line in shown[: shown.index("\n\n")].splitlines()[2:]]
    assert names == [row.name for row in published.rows]
    assert len(set(names)) == len(names)
    assert {row.source for row in published.rows} == set(published.sources)


def test_a_version_that_is_refused_has_no_place_in_the_order(fidelity):
    published = fidelity("rows").read_rows()
    rows = tuple(
        replace(row, measured_us=us, versions="v")
        for us, row in zip((1, 2, 4), published.rows, strict=False)
    )
    made = fidelity("predicting").Prediction
    found = {row.name: made(row.measured_us, high_us=9) for row in rows[:2]}
    found[rows[2].name] = made(refused="sbuf-capacity")
    text = fidelity("table").table_text(replace(published, rows=rows), found)
    assert "order of v: not reproduced, 1 of 3 pairs, 2 with a version that is refused" in text
    assert "- within 15%: 2 of 3 (67%)" in text
    assert "- inside of the predicted range: 2 of 3" in text


def test_a_source_is_judged_by_the_spread_of_the_others(fidelity):
    """Ten rows of one source are off by 1% to 10%, the only row of the other by 50%."""
    published = fidelity("rows").read_rows()
    made, table = fidelity("predicting").Prediction, fidelity("leaving_out")
    first = next(row for row in published.rows if row.source == "rishic3")
    other = next(row for row in published.rows if row.source == "mamba")
    rows = [replace(first, name=str(i), measured_us=100 + i, versions="") for i in range(1, 11)]
    rows.append(replace(other, name="far", measured_us=150, versions=""))
    found = {row.name: made(100.0, basis="dma-bound") for row in rows}
    assert table.spread_of("dma-bound", rows[:10], found) == (pytest.approx(0.08), 10)
    lines = table.left_out_text(replace(published, rows=tuple(rows)), found)
    cells = {line.split(" | ")[0]: line.split(" | ")[5] for line in lines if line.startswith("| ")}
    assert cells["| aws-neuron/nki-samples"] == "0 of 1 (0%)"
    assert cells["| rishic3/asst4-trainium2"] == "10 of 10 (100%)"


def test_the_spreads_are_those_of_the_page():
    page = (ROOT / "docs/performance.md").read_text()
    shown = re.findall(r"- spread of (\S+) kernels: (\d+)% \((\d+) times\)", page)
    known = {(b.name, f"{100 * b.spread:.0f}", str(b.rows)) for b in BASES.values()}
    assert set(shown) == known
