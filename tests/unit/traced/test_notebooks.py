"""Outputs of cells in a notebook: a line of text each, and HTML that fits a cell."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium.webdriver.support.ui import WebDriverWait
from support.browser import CHROMIUM, DRIVER, MISSING, started
from support.cells import Shown, run_cells

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.values.heatmap import png_of

KERNELS = """\
import numpy as np
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

@nki.jit
def squares(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.square, data=tile)
    nl.store(out, tile)
    return out

@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.activation(dst=out, op=nl.square, data=x)
    return out

x = np.linspace(-1, 1, 128 * 512, dtype=np.float32).reshape(128, 512)
"""

VALUES = {
    "trace": "squares.trace(x)",
    "text": "squares.trace(x).text()",
    "source": "squares.trace(x).source()",
    "profile": "squares.trace(x).profile()",
    "memory": "squares.trace(x).memory()",
    "listing": "squares.trace(x).listing()",
    "findings": "wrong.trace(x).diagnostics",
    "finding": "wrong.trace(x).diagnostics[0]",
    "advice": "squares.trace(x).advice()",
    "cost": "nki.cost(squares, x)",
    "record": "record = squares.record(x); record",
    "tile": "record['tile'][0]",
    "instruction": "record.at('Cell In[1], line 10')[0]",
    "bisection": "record.bisect('float32')",
    "report": "squares.trace(x).report()",
    "program": "squares.trace(x).programs()[0]",
    "timeline": "squares.trace(x).profile().timeline",
    "target": "squares.target",
    "backend": "squares.trace(x).backend",
    "sweep": "nki.sweep(squares, {'x': [x]}, workers=1)",
}
HAS_NO_HTML = {"program", "timeline", "target", "memory"}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    folder = tmp_path_factory.mktemp("notebook")
    first, *others = run_cells([KERNELS, *VALUES.values(), "wrong(x)"], folder)
    assert not first.failed
    return dict(zip([*VALUES, "call"], others, strict=True))


@pytest.mark.parametrize("name", VALUES)
def test_a_line_in_a_session(shown: dict[str, Shown], name: str) -> None:
    assert not shown[name].failed, shown[name].printed
    text = shown[name].text
    assert re.fullmatch(r"<[^\n]{5,160}>", text), text
    assert " object at 0x" not in text


@pytest.mark.parametrize("name", sorted(VALUES.keys() - HAS_NO_HTML))
def test_html_fits_the_cell(shown: dict[str, Shown], name: str) -> None:
    html = shown[name].html
    assert "ipython-input" not in html
    assert "http:" not in re.sub(r'xmlns="[^"]*"', "", html) or name == "report"
    for svg in re.findall(r"<svg[^>]*>", html):
        assert 'style="max-width:100%;height:auto"' in svg or name in ("sweep", "report")
    for pre in re.findall(r"<pre[^>]*>", html):
        assert "white-space:pre;overflow-x:auto" in pre


def test_a_picture_of_memory_fits_the_cell(shown: dict[str, Shown]) -> None:
    picture = shown["memory"].results[-1]["text/html"]
    assert picture.startswith("<svg ")
    assert 'style="max-width:100%;height:auto"' in picture
    assert "allocated at Cell In[1], line 9" in picture


def test_contents_of_cells(shown: dict[str, Shown]) -> None:
    assert shown["trace"].text == (
        "<trace of @squares for trn3: x 128x512 float32 -> 128x512 float32>"
    )
    assert "<details><summary>IR, " in shown["trace"].html
    assert "no findings" in shown["trace"].html
    assert ">ACTIVATE</text>" in shown["profile"].html
    assert "critical path, by lines" in shown["profile"].html
    assert "Cell In[1], line 10" in shown["profile"].html
    assert "DMA_TRIGGER" in shown["listing"].html
    assert "Cell In[1], line 9" in shown["listing"].html
    assert shown["record"].html.count("data:image/png;base64,") == 2
    assert shown["instruction"].html.count("data:image/png;base64,") == 2


def test_places_are_those_of_cells(shown: dict[str, Shown]) -> None:
    assert shown["findings"].text == "<findings: 1 error>"
    assert "</span>Cell In[1], line 17\n" in shown["findings"].html
    assert "    nisa.activation(dst=out, op=nl.square, data=x)" in shown["findings"].html
    raised = shown["call"].printed
    assert shown["call"].failed
    assert raised.startswith(f"Cell In[{len(VALUES) + 2}], line 1, in <module>\n    wrong(x)\n")
    assert "--> Cell In[1], line 17\n" in raised


def test_files_are_as_they_were(shown: dict[str, Shown], tmp_path: Path) -> None:
    """Documents for tools name files in one word, also those of cells."""
    cells = [KERNELS, "import json; json.loads(squares.trace(x).memory().to_json())"]
    text = run_cells(cells, tmp_path)[1].text
    assert re.search(r"'<ipython-input-1-\w+>:9:12'", text)


@nki.jit
def doubled(x: Any):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nl.store(out, tile)
    return out


TRACED = doubled.trace(nki.TensorSpec((128, 512), "float32"))


def test_shown_texts_are_strings() -> None:
    listing = TRACED.listing()
    assert isinstance(listing, str)
    lines = listing.count("\n")
    assert repr(listing) == f"<listing of @doubled for trn3, schedule author: {lines} lines>"
    copy = pickle.loads(pickle.dumps(listing))
    assert (copy, repr(copy)) == (listing, repr(listing))


@pytest.mark.parametrize("schedule", ["author", "compiler"])
def test_results_say_which_schedule_they_show(schedule: str) -> None:
    shown = [TRACED.profile(schedule=schedule), TRACED.listing(schedule=schedule)]
    shown += [TRACED.memory()] if schedule == "author" else []
    for each in shown:
        assert str(each).startswith(f"schedule {schedule}: ")
        assert f", schedule {schedule}: " in repr(each)
        assert f"schedule {schedule}: " in each._repr_html_()
    pictures = [each for each in shown if hasattr(each, "svg")]
    assert len(pictures) == (2 if schedule == "author" else 1)
    for each in pictures:
        assert f", schedule {schedule}" in each.svg()
        assert f'"schedule": "{schedule}"' in each.to_json()


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((0, 4), np.float32),
        np.ones((), np.float32),
        np.arange(5, dtype=np.int8),
        np.array([[np.nan, np.inf], [-np.inf, 1e300]]),
        np.ones((2, 3, 4), bool),
        np.random.default_rng(1).normal(size=(300, 700)),
    ],
    ids=["nothing", "one", "integers", "no numbers", "booleans", "large"],
)
def test_heat_maps_are_pictures(values: Any, tmp_path: Path) -> None:
    if values.size:
        assert png_of(values).startswith(b"\x89PNG\r\n")


def _has_rows(driver: Any) -> bool:
    """Return whether the report in its frame shows the IR.

    The frame is entered anew each time: it may change its process while the report is loaded, and a
    driver inside would see an empty document.
    """
    driver.switch_to.default_content()
    driver.switch_to.frame(driver.find_element("css selector", "#report iframe"))
    return bool(driver.find_elements("css selector", "#ir .row"))


@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_cells_in_a_browser(shown: dict[str, Shown], tmp_path: Path) -> None:
    """Nothing is wider than the cell, pictures are read, and a report works in its frame."""
    names = ["trace", "profile", "record", "findings", "report", "listing"]
    cells = "".join(f'<div class="cell" id="{name}">{shown[name].html}</div>' for name in names)
    style = "<style>.cell { width: 600px; overflow: hidden }</style>"
    page = tmp_path / "cells.html"
    page.write_text(f"<!doctype html>{style}{cells}", encoding="utf-8")
    with started() as driver:
        driver.get(page.as_uri())
        widths = driver.execute_script(
            "return [...document.querySelectorAll('.cell > *, .cell svg, .cell img')]"
            ".map((each) => each.getBoundingClientRect().width)"
        )
        assert max(widths) <= 600
        sizes = driver.execute_script(
            "return [...document.querySelectorAll('img')].map((each) => each.naturalWidth)"
        )
        assert len(sizes) == 2
        assert min(sizes) > 0
        WebDriverWait(driver, 60).until(_has_rows)
        assert [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"] == []


@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_a_report_has_the_theme_of_its_page(shown: dict[str, Shown], tmp_path: Path) -> None:
    """The system's theme does not matter: a notebook can have another one."""
    bodies = {
        "": "light",
        'data-jp-theme-light="true"': "light",
        'data-jp-theme-light="false"': "dark",
        'data-theme="dark"': "dark",
        'class="vscode-dark"': "dark",
    }
    with started() as driver:
        for number, (attributes, theme) in enumerate(bodies.items()):
            page = tmp_path / f"{number}.html"
            cell = f'<div id="report">{shown["report"].html}</div>'
            page.write_text(f"<!doctype html><body {attributes}>{cell}", encoding="utf-8")
            for system in ("light", "dark"):
                feature = {"name": "prefers-color-scheme", "value": system}
                driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
                driver.get(page.as_uri())
                WebDriverWait(driver, 60).until(_has_rows)
                query = f"return matchMedia('(prefers-color-scheme: {theme})').matches"
                assert driver.execute_script(query), (attributes, system)


def test_texts_are_monospaced_and_pictures_have_the_colours_of_the_page(
    shown: dict[str, Shown],
) -> None:
    """Templates of notebooks may set other fonts, and dark backgrounds."""
    for name in ("profile", "memory", "trace"):
        page = shown[name].results[-1]["text/html"]
        for text in re.findall(r"<pre[^>]*>", page):
            assert "monospace" in text
    for name in ("profile", "memory"):
        picture = shown[name].results[-1]["text/html"].partition("</svg>")[0]
        assert picture.startswith("<svg ")
        assert 'fill="#FFFFFF"' not in picture
        assert 'fill="currentColor"' in picture
