"""The page of a sweep in a browser: everything on it is legible in both themes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.sweeping import SHAPE, InTurn, tiled

import nkijit as nki

pytest.importorskip("selenium.webdriver")

from support.browser import Report, contrast, in_a_browser, started

pytestmark = in_a_browser()

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


def test_the_page_fits_a_phone(tmp_path: Path):
    """Wide parts scroll by themselves, and nothing is shrunk."""
    found = nki.sweep(tiled, {"width": [64, 128]}, arguments=SHAPE, executor=InTurn())
    page = tmp_path / "sweep.html"
    page.write_text(found.to_html(), encoding="utf-8")
    with started() as driver:
        size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        widths = driver.execute_script(
            "return [document.documentElement.scrollWidth, innerWidth, "
            "document.querySelector('svg').getBoundingClientRect().width]"
        )
    assert widths[0] <= widths[1] == 390
    assert widths[2] >= 400  # letters of the plot stay legible
