"""The page of a sweep in a browser: everything on it is legible in both themes."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from support.sweeping import SHAPE, InTurn, tiled

import nkijit as nki

pytest.importorskip("selenium.webdriver")

from support.browser import Report, contrast, in_a_browser, started

pytestmark = in_a_browser()


@nki.jit
def with_long_names(x: Any, columns_of_each_tile: int = 64, number_of_buffers: int = 1) -> Any:
    return tiled.func(x, columns_of_each_tile)


COLOURS = """
const all = (selector) => [...document.querySelectorAll(selector)];
const style = (selector) => all(selector).map((each) => getComputedStyle(each));
return {
  ground: getComputedStyle(document.body).backgroundColor,
  words: [...style("svg text").map((s) => s.fill), ...style("td, th, pre").map((s) => s.color)],
  shapes: [...style("circle").map((s) => s.fill), ...style("polyline").map((s) => s.stroke)],
  rectangles: document.querySelectorAll("svg rect").length,
};
"""


def test_the_page_is_legible_in_both_themes(tmp_path: Path):
    found = nki.sweep(tiled, {"width": [64, 128, 100]}, arguments=SHAPE, executor=InTurn())
    page = tmp_path / "sweep.html"
    page.write_text(found.to_html(), encoding="utf-8")
    grounds: dict[str, Any] = {}
    with started() as driver:
        report = Report(driver)
        for scheme in ("light", "dark"):
            report.size(1280)
            report.scheme(scheme)
            driver.get(page.as_uri())
            colours = report.run(COLOURS)
            grounds[scheme] = ground = colours["ground"]
            assert colours["rectangles"] == 0
            assert colours["words"]
            assert all(contrast(each, ground) >= 4.5 for each in colours["words"]), colours
            # The marks of the best have contrast; other dots have an outline in the text colour.
            assert contrast(colours["shapes"][-1], ground) >= 3
        assert report.complaints() == []
    assert contrast(grounds["light"], grounds["dark"]) > 15


WIDE = """
const all = [...document.querySelectorAll("body *")];
const shown = all.filter((each) => each.getClientRects().length);
const right = (each) => each.getBoundingClientRect().right;
const letters = [...document.querySelectorAll("svg text")].map((each) => {
  const box = each.getBoundingClientRect();
  return [box.left, box.right, box.top, box.bottom, each.textContent];
});
const plot = document.querySelector("svg").getBoundingClientRect();
return {
  page: document.documentElement.scrollWidth,
  beyond: shown.filter((each) => right(each) > innerWidth + 0.5).map((each) => each.outerHTML),
  scrolled: shown.filter((each) => each.scrollWidth > each.clientWidth && each.clientWidth)
    .map((each) => each.outerHTML),
  letters,
  plot: [plot.left, plot.right, plot.top, plot.bottom],
  names: [...document.querySelectorAll("tr:nth-child(2) td")].filter((each) => each.innerText)
    .map((each) => getComputedStyle(each, "::before").content),
};
"""


def overlaps(one: list[Any], other: list[Any]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


@pytest.mark.parametrize("width", [320, 360, 390])
def test_the_page_fits_a_phone(tmp_path: Path, width: int):
    """Nothing scrolls sideways, and the letters of the plot are legible and apart."""
    found = nki.sweep(
        with_long_names,
        {"columns_of_each_tile": [64, 128, 100], "number_of_buffers": [1, 2]},
        arguments=SHAPE,
        executor=InTurn(),
    )
    page = tmp_path / "sweep.html"
    page.write_text(found.to_html(), encoding="utf-8")
    with started() as driver:
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        report = Report(driver)
        for scheme in ("light", "dark"):
            report.scheme(scheme)
            driver.get(page.as_uri())
            shown = report.run(WIDE)
            assert shown["page"] == width
            assert shown["beyond"] == []
            assert shown["scrolled"] == []
            left, right, top, bottom = shown["plot"]
            for each in shown["letters"]:
                assert each[3] - each[2] >= 9, each
                assert left <= each[0] < each[1] <= right, each
                assert top <= each[2] < each[3] <= bottom, each
            pairs = combinations(shown["letters"], 2)
            assert [pair for pair in pairs if overlaps(*pair)] == []
            assert [name.strip('" ') for name in shown["names"]] == [
                "columns_of_each_tile",
                "number_of_buffers",
                *("time", "bound", "SBUF", "PSUM", "MFU"),
            ]
