"""The search of the site in a browser: words of a query, and the order of results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT

from nkijit.tracing.api_names import MODULES

pytest.importorskip("selenium.webdriver")

from support.browser import in_a_browser, started

pytestmark = in_a_browser()

SCORER = (ROOT / "docs" / "_static" / "scorer.js").read_text(encoding="utf-8")


def _scores(driver: Any, page: Path, query: str, names: dict[str, str]) -> list[str]:
    """Return names, the highest score first, of results that Sphinx scores equally."""
    driver.get(f"{page.as_uri()}?q={query}")
    scores = {
        name: driver.execute_script(
            "return Scorer.score([arguments[0], arguments[1], '', '', 10])", where, name
        )
        for name, where in names.items()
    }
    return sorted(scores, key=lambda name: -scores[name])


def test_queries_and_results(tmp_path: Path) -> None:
    page = tmp_path / "search.html"
    names = f"<script>const MODULES = {json.dumps(MODULES)};</script>"
    page.write_text(f"<!doctype html>{names}<script>{SCORER}</script>", encoding="utf-8")
    with started() as driver:
        driver.get(page.as_uri())
        words = {
            query: driver.execute_script("return splitQuery(arguments[0])", query)
            for query in ("nl.load", "nisa.nc_matmul", "nki.jit", "how to install", "é  x.")
        }
        assert words == {
            "nl.load": ["language", "load"],
            "nisa.nc_matmul": ["isa", "nc_matmul"],
            "nki.jit": ["nki", "jit"],
            "how to install": ["how", "to", "install"],
            "é  x.": ["é", "x"],
        }
        results = {
            "nisa.register_load": "reference/instructions/nisa.register_load",
            "nkijit.language.load": "reference/python/language",
            "Advice": "advice",
            "load": "source/load",
        }
        ordered = _scores(driver, page, "nl.load", results)
        assert ordered[0] == "nkijit.language.load"
        ordered = _scores(driver, page, "regist", results)
        assert ordered[0] == "nisa.register_load"
        assert ordered[-1] == "load"
