"""The HTML page of a report: one file that needs no network, no server and no other file.

The page is assembled from `assets/report/`, a template, a style sheet and scripts, and from the
data of the report: JSON, packed with deflate. The page's content security policy allows only this
style sheet and these scripts, by their hashes.
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
"""The files that are concatenated to the page's script, in this order."""

_HOLE = re.compile(r"\{\{(\w+)\}\}")


def html_of(report: Report) -> str:
    """Return the page of a report."""
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
    # In one pass: an inserted text may contain `{{…}}` itself.
    return _HOLE.sub(lambda hole: parts[hole[1]], _asset("report.html"))


@cache
def _asset(name: str) -> str:
    return (resources.files("nkijit") / "assets" / "report" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of a text, as a content security policy spells it."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
