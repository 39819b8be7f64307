"""Reports of kernels with hostile names and source lines, opened in a browser.

Names of files, kernels, tensors, instructions and results, source lines and docstrings contain
HTML, scripts, placeholders of the template, unusual Unicode, or very long text; so does the IR of a
`.mlir` file. The page must show them as text: it runs no script of them, logs no errors and makes
no requests.
"""

from __future__ import annotations

import atexit
import contextlib
import linecache
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any

from support.kernel_parts import random_kernel
from support.random_kernels import PARTS

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.ir.text import parse
from nkijit.traced.kernel import TracedKernel
from tests.fuzz.campaign import Count, Finding, UnavailableError, until

CASES = 4
"""Maximum pages per round."""

RUNS = "window.hostile=1"
"""The script in hostile names, which no page may run."""
PIECES = (
    f"</script><script>{RUNS}</script>", f"<img src=x onerror={RUNS}>", f"<svg onload='{RUNS}'>",
    f'"><b onclick="{RUNS}">', f"' onmouseover='{RUNS}", f"javascript:{RUNS}", f"${{{RUNS}}}",
    "<!--<script>", "-->", "]]>", "</style>", "</title>", "&lt;b&gt;&amp;&#0;", "{{data}}", "{{",
    "__proto__", "constructor", "toString", "\u202e\u2066", "\u2028", "\u2029", "\ufeff", "\u0000",
    "\u0007", "\ud800", "\udcff", "\t", "\\", "\\u003c", '"', "'", "`", "é", "\U0001f600",
    "a\u0301" * 50, "%s%n",
    "x" * 3000, " " * 500, "../../", "https://example.com/", "//example.com/x.js", "0", "",
)  # fmt: skip
"""The parts of hostile names."""

TEMPLATE = resources.files("nkijit") / "assets" / "report" / "report.html"
SCRIPTS = TEMPLATE.read_text(encoding="utf-8").count("<script")
"""Number of script elements in every page."""


def _name(rng: Random) -> str:
    return "".join(rng.choice(PIECES) for _ in range(rng.choice((1, 1, 2, 3))))


def _line(rng: Random) -> str:
    """Return a hostile name that is valid in a line of source."""
    return "".join(char for char in _name(rng) if char.isprintable()).replace("\\", "/")


def _hostile_kernel(rng: Random) -> TracedKernel:
    """Return a kernel with hostile names and lines."""
    file = _name(rng).replace("\0", "") or "kernel.py"
    source = f"""
def kernel(x):
    {_line(rng)!r}
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm, name={_name(rng)!r})
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, name={_name(rng)!r})
    nisa.dma_copy(dst=tile, src=x)  # {_line(rng)}
    for _ in range({rng.randint(0, 3)}):
        nisa.activation(dst=tile, op=nl.exp, data=tile)  # {_line(rng)}
    nisa.tensor_copy(dst=tile, src=tile, name={_name(rng)!r})
    nisa.dma_copy(dst=out{rng.choice(("", "[0:8]"))}, src=tile)
    return {{{_name(rng)!r}: out}}
"""
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = {"nl": nl, "nisa": nisa}
    exec(compile(source, file, "exec"), space)
    function = space["kernel"]
    function.__name__ = function.__qualname__ = _name(rng) or "kernel"
    return nki.jit(function, platform_target="trn3").trace(nki.TensorSpec((16, 16), "float32"))


def _hostile_ir(rng: Random) -> TracedKernel:
    """Return a kernel from IR with hostile file names."""
    text = random_kernel(rng, rng.choice(list(PARTS))).trace().text(locations=True)
    name = _line(rng).replace('"', "'").encode("ascii", "ignore").decode()
    return TracedKernel(parse(text.replace("<random kernel>", name)))


@cache
def _browser() -> Any:
    """Return the process's browser. Raises UnavailableError."""
    try:
        from support import browser
    except ImportError as error:
        raise UnavailableError(str(error)) from None
    if not (browser.CHROMIUM and browser.DRIVER):
        raise UnavailableError(browser.MISSING)
    stack = contextlib.ExitStack()
    report = browser.Report(stack.enter_context(browser.started()))
    report.size(browser.WIDTH)
    atexit.register(stack.close)
    return report


def campaign(rng: Random, deadline: float) -> Count:
    """Run a round: open some pages with all of their views."""
    _browser()
    count = Count()
    for _ in until(deadline, CASES):
        make = rng.choice((_hostile_kernel, _hostile_kernel, _hostile_ir))
        try:
            traced = make(rng)
        except ValueError:
            count.skipped += 1
            continue
        count.cases += 1
        page = traced.report()
        for problem in wrong_with(page):
            text = traced.text(locations=True).encode()
            files = {"page.html": page.encode(), "kernel.mlir": text}
            count.findings.append(Finding(problem, files))
    return count


def wrong_with(page: str) -> list[str]:
    """Open a page and all of its views, and return the problems."""
    report = _browser()
    with tempfile.TemporaryDirectory(prefix="nkijit-fuzz-") as folder:
        path = Path(folder) / "page.html"
        path.write_text(page, encoding="utf-8")
        report.requests()
        report.open(path)
        found: list[str] = []
        for tab in report.all(".views [role=tab]"):
            if tab.is_displayed():
                tab.click()
                report.settle()
                if report.run("return document.documentElement.scrollWidth > innerWidth"):
                    found.append(f"the view {tab.text} is wider than the window")
        if report.run("return window.hostile"):
            found.append("a name runs as a script")
        if report.run("return document.querySelectorAll('script').length") != SCRIPTS:
            found.append("a name is a script element")
        found += [f"the page complains: {message}" for message in report.complaints()]
        requested = [url for url in report.requests() if not url.startswith(("file:", "data:"))]
        found += [f"the page asks for {url}" for url in requested]
    return found
