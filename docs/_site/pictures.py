"""The pictures of the report in the documentation: `make pictures`, which needs Chromium.

They show the report of the kernel on the page *Start*. `report.sha256` is the digest of this
report. A test compares it with the current one, to detect outdated pictures.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from support.browser import Report, started
from support.pages import blocks, output_of

from docs._site import ROOT

PICTURES = ROOT / "docs" / "pictures"
DIGEST = PICTURES / "report.sha256"
WIDTH, HEIGHT = 1360, 860


def page() -> str:
    """Return the report of the page *Start*, as HTML."""
    start = ROOT / "docs" / "start.md"
    with tempfile.TemporaryDirectory() as folder:
        for name, text in blocks(start, "file").items():
            Path(folder, name).write_text(text, encoding="utf-8")
        command = next(c for c in start.read_text().split("\n") if c.startswith("$ nkijit report "))
        output_of(command.removeprefix("$ "), Path(folder))
        return Path(folder, "kernel.html").read_text(encoding="utf-8")


def digest(text: str) -> str:
    """Return the digest of a report."""
    return hashlib.sha256(text.encode()).hexdigest() + "\n"


def main() -> None:
    """Take all pictures and write the digest of the report that they show."""
    text = page()
    with tempfile.TemporaryDirectory() as folder, started() as driver:
        path = Path(folder, "kernel.html")
        path.write_text(text, encoding="utf-8")
        for scheme in ("light", "dark"):
            report = Report(driver)
            report.size(WIDTH, HEIGHT)
            report.scheme(scheme)
            report.open(path)
            report.click_line("source", 14)
            driver.save_screenshot(str(PICTURES / f"report-{scheme}.png"))
            report.view("profile")
            driver.save_screenshot(str(PICTURES / f"profile-{scheme}.png"))
    DIGEST.write_text(digest(text), encoding="utf-8")
    print(f"the pictures are in {os.path.relpath(PICTURES)}")


if __name__ == "__main__":
    main()
