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
    """Return a function that opens a page in the light scheme; check its errors at the end."""
    from support.browser import HEIGHT, WIDTH, Report

    report = Report(browser)

    def open_it(page: Path, width: int = WIDTH, height: int = HEIGHT, fragment: str = "") -> Report:
        report.size(width, height)
        report.scheme("light")
        report.requests()
        report.open(page, fragment)
        return report

    yield open_it
    # In any test, the page reports no errors and requests nothing from outside.
    assert report.complaints() == []
    assert [url for url in report.requests() if not url.startswith(("file:", "data:"))] == []
