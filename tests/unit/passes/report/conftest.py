"""One browser for all tests of reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    from support.browser import CHROMIUM, DRIVER, MISSING, started

    if not (CHROMIUM and DRIVER):
        pytest.fail(MISSING)
    with started() as driver:
        yield driver


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    """Opens the file of a page, in the light, and looks at what it did wrong in the end."""
    from support.browser import HEIGHT, WIDTH, Report

    report = Report(browser)

    def open_it(page: Path, width: int = WIDTH, height: int = HEIGHT, fragment: str = "") -> Report:
        report.size(width, height)
        report.scheme("light")
        report.requests()
        report.open(page, fragment)
        return report

    yield open_it
    # Whatever a test does, the page neither complains nor reaches out.
    assert report.complaints() == []
    assert [url for url in report.requests() if not url.startswith(("file:", "data:"))] == []
