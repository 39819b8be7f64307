"""Reports in a headless Chromium: opened from disk, clicked and read."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = "there is no chromium with chromedriver here: make browser installs them on Debian"

WIDTH, HEIGHT = 1280, 800


def in_a_browser() -> list[pytest.MarkDecorator]:
    """The marks of tests that need a browser, which there has to be in CI."""
    is_missing = os.environ.get("CI") != "true" and not (CHROMIUM and DRIVER)
    return [pytest.mark.slow, pytest.mark.skipif(is_missing, reason=MISSING)]


@contextmanager
def started() -> Iterator[Any]:
    """Start a browser that logs the errors and requests of pages."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    # Only files of these tests are opened; containers rarely allow the sandbox, or much /dev/shm.
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_script_timeout(600)
    try:
        yield driver
    finally:
        driver.quit()


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours in CSS notation, from 1 to 21.

    Source: the definition of contrast ratio in the Web Content Accessibility Guidelines 2.2.
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


class Report:
    """A report in the browser."""

    def __init__(self, driver: Any):
        self.driver = driver

    def open(self, page: Path, fragment: str = "") -> None:
        """Open the file of a page, and wait until it is there."""
        self.driver.get("about:blank")  # another fragment alone would not load it again
        self.driver.get(f"{page.as_uri()}{fragment}")
        WebDriverWait(self.driver, 60).until(lambda _: self.all("#ir .row"))
        self.settle()

    def size(self, width: int, height: int = HEIGHT) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, name: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def run(self, script: str) -> Any:
        return self.driver.execute_script(script)

    def settle(self) -> None:
        """Wait until everything that is due has been drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));"
        )

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        return [element.get_property("textContent") for element in self.all(selector)]

    def click(self, selector: str) -> None:
        self.one(selector).click()
        self.settle()

    def click_line(self, pane: str, number: int) -> None:
        """Click the line of a pane, counted from 1."""
        self.run(f"page.{pane}Pane.reveal({number - 1})")
        self.settle()
        # At its number, which is in view however wide the pane is.
        self.click(f"#{pane}-{number - 1} .gutter")

    def related(self, pane: str) -> list[str]:
        """The text of the related lines in the document, without their numbers."""
        return [re.sub(r"^\s*\d+", "", text) for text in self.texts(f"#{pane} .row.related")]

    def count(self, pane: str) -> str:
        return self.one(f"#{pane} .told").text

    def is_in_view(self, selector: str) -> bool:
        return self.driver.execute_script(
            "const row = document.querySelector(arguments[0]).getBoundingClientRect();"
            "const pane = document.querySelector(arguments[0]).closest('.rows')"
            ".getBoundingClientRect();"
            "return row.top >= pane.top - 1 && row.bottom <= pane.bottom + 1;",
            selector,
        )

    def view(self, name: str) -> None:
        self.click(f"#tab-{name}")

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the browser's requests since the last call."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
