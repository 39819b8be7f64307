"""A report as one HTML file that needs nothing else: no network, no server, no other file.

The page is put together from `assets/report/`: a template, a style sheet and scripts, and the data
of the report as JSON, packed with deflate. A content security policy in the page allows these
scripts, by their hash, and nothing from elsewhere.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from base64 import b64encode
from functools import cache
from html import escape
from importlib import resources

from nkijit.passes.diagnostics.picture import COLOURS
from nkijit.passes.report.model import Report

SCRIPTS = (
    "model.js",
    "panes.js",
    "colours.js",
    "folds.js",
    "address.js",
    "search.js",
    "viewport.js",
    "timeline.js",
    "memory.js",
    "profile.js",
    "range.js",
    "findings.js",
    "advice.js",
    "recorded.js",
    "values.js",
    "compare.js",
    "inspector.js",
    "main.js",
)
"""The scripts of the page, in their order; together they are one."""

_HOLE = re.compile(r"\{\{(\w+)\}\}")


def html_of(report: Report) -> str:
    """The page that shows a report."""
    style, script = _asset("report.css"), "\n".join(map(_asset, SCRIPTS))
    parts = {
        "title": escape(f"{report.kernel} on {report.target}"),
        "policy": f"default-src 'none'; img-src data:; script-src {_hash(script)}; "
        f"style-src {_hash(style)}",
        "palette": " ".join(COLOURS),
        "style": style,
        "data": b64encode(zlib.compress(report.to_json().encode())).decode(),
        "script": script,
    }
    # In one go: what is put in may itself look like a hole.
    return _HOLE.sub(lambda hole: parts[hole[1]], _asset("report.html"))


@cache
def _asset(name: str) -> str:
    return (resources.files("nkijit") / "assets" / "report" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """A text as a content security policy names it."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
