"""How findings are shown: plain, in terminals, in notebooks and in tracebacks."""

from __future__ import annotations

import html
import importlib.util
import io
import pickle
import re
import subprocess
import sys
import traceback
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.host.terminal import show_findings
from nkijit.ir.text import parse
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.styled import as_ansi

RULE = RULE_TEXTS["buffer"]
X = np.zeros((128, 64), np.float32)


def helper(tile):
    nisa.activation(dst=tile, op=nl.add, data=tile)


@nki.jit
def wrong(x):
    tile = nl.load(x)
    helper(tile)
    return x


@nki.jit
def outside(x):
    return nl.load(x)[:, 0:1000]


@nki.jit
def broken(x):
    return nl.load(x).shape.nothing


def findings() -> Findings:
    return wrong.trace(X).diagnostics


# ---------------------------------------------------------------- related places


def test_related_places_are_shown_with_their_source(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text("tile = nl.ndarray(x)\n\n\tnl.load(tile)\n", encoding="utf-8")
    path = str(file)
    related = ((Position(path, 1, 8), "allocated here"), (Position("gone.py", 7, 2), "freed here"))
    shown = str(
        Diagnostic(RULE, "wrong", "nisa.x", (Position(path, 3, 2),), related=related, help="do")
    )
    assert shown == "\n".join(
        [
            "error[buffer]: nisa.x: wrong",
            f"  --> {path}:3:2",
            "   |",
            " 3 | \tnl.load(tile)",
            "   | \t^^^^^^^",
            f"  ::: {path}:1:8",
            "   |",
            " 1 | tile = nl.ndarray(x)",
            "   |        ---------- allocated here",
            "  ::: gone.py:7:2: freed here",
            "   = help: do",
            "   = more: nkijit explain buffer",
        ]
    )


def test_related_operations() -> None:
    """With the calls that the two operations do not share; without a place, as IR."""
    module = parse(
        """
        %a = "test.op"() : () -> i32 loc(callsite("h.py":2:1 at "k.py":9:1))
        %b = "test.op"() : () -> i32 loc(callsite("h.py":3:1 at "k.py":8:1))
        %c = "test.op"() : () -> i32
        """.replace('"test.op"() : () -> i32', "arith.constant 1 : i32")
    )
    first, second, third = module.body.block.ops
    found = diagnose(RULE, first, "wrong", related=[(second, "read"), (third, "written")])
    assert found.related == (
        (Position("h.py", 3, 1), "read"),
        (Position("k.py", 8, 1), "called from here"),
    )
    assert found.notes == ("written: %c = arith.constant 1 : i32",)
    shared = diagnose(RULE, first, "wrong", related=[(first, "read")])
    assert shared.related == ((Position("h.py", 2, 1), "read"),)


def test_the_severity_is_the_rules_own_by_default() -> None:
    warning = RULE_TEXTS["portable-try"]
    assert Diagnostic(RULE, "", "").severity == "error"
    assert Diagnostic(warning, "", "").severity == "warning"
    assert Diagnostic(RULE, "", "", severity="warning").severity == "warning"


# ---------------------------------------------------------------- terminals


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    ("environment", "terminal", "coloured"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colours(
    environment: dict[str, str],
    terminal: bool,
    coloured: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = _Terminal() if terminal else io.StringIO()
    show_findings(findings(), stream)
    assert (_ESCAPE.search(stream.getvalue()) is not None) == coloured
    assert _ESCAPE.sub("", stream.getvalue()) == f"{findings()}\n"


# ---------------------------------------------------------------- notebooks


class _Text(HTMLParser):
    """The text of well-formed HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        assert [name for name, _ in attrs] == ["style"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("message", ["plain", "<b>&amp;</b> \"quoted\" 'x'"])
def test_html(message: str) -> None:
    found = Findings([Diagnostic(RULE, message, "nisa.x"), *findings()])
    page = found._repr_html_()
    parser = _Text()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    assert parser.text == str(found)
    assert html.escape(message) in page
    assert nki.NkiValidationError(found)._repr_html_() == page


def test_errors_in_ipython(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    with pytest.raises(nki.NkiValidationError) as caught:
        wrong(X)
    line = caught.tb.tb_lineno
    shown = "\n".join(caught.value._render_traceback_())
    assert shown.endswith(as_ansi(findings().lines()))
    head = f"{__file__}:{line}, in test_errors_in_ipython\n    wrong(X)\n\n"
    assert head.endswith(shown.partition("\x1b")[0].rpartition("/")[2])
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\n".join(caught.value._render_traceback_()).endswith(str(findings()))


# ---------------------------------------------------------------- tracebacks


@pytest.mark.parametrize("kernel", [wrong, outside])
def test_a_traceback_has_the_authors_frames_only(kernel: nki.Kernel) -> None:
    with pytest.raises(nki.NkiValidationError) as caught:
        kernel(X)
    frames = traceback.extract_tb(caught.tb)
    assert [frame.filename for frame in frames] == [__file__]
    last = "".join(traceback.format_exception_only(caught.value))
    assert last.startswith("nkijit.NkiValidationError: error[")


def test_an_exception_of_the_author_has_the_authors_frames_only() -> None:
    with pytest.raises(AttributeError, match="nothing") as caught:
        broken(X)
    names = [frame.name for frame in traceback.extract_tb(caught.tb)]
    assert names == ["test_an_exception_of_the_author_has_the_authors_frames_only", "broken"]


def test_an_exception_for_the_caller_has_no_frames_of_nkijit() -> None:
    with pytest.raises(ValueError, match="float99") as caught:
        wrong.trace(nki.TensorSpec((1, 2), "float32")).find("float99")
    assert {frame.filename for frame in traceback.extract_tb(caught.tb)} == {__file__}


def test_the_error_can_be_pickled() -> None:
    error = nki.NkiValidationError(findings())
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is nki.NkiValidationError
    assert copy.diagnostics == error.diagnostics


@pytest.mark.slow
def test_errors_in_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_kernel.py").write_text(
        "import numpy as np\n"
        "import nkijit as nki, nkijit.isa as nisa, nkijit.language as nl\n"
        "@nki.jit\n"
        "def kernel(x):\n"
        "    tile = nl.load(x)\n"
        "    nisa.activation(dst=tile, op=nl.add, data=tile)\n"
        "    return x\n"
        "def test_kernel():\n"
        "    kernel(np.zeros((128, 64), np.float32))\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_kernel.py"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.returncode == 1
    assert "E       nkijit.NkiValidationError: error[activation-function]: " in finished.stdout
    assert re.search(r"E .* 6 \|     nisa\.activation\(", finished.stdout)
    assert re.findall(r"^(\S+):\d+: ", finished.stdout, re.MULTILINE) == ["test_kernel.py"]


# ---------------------------------------------------------------- sources that are gone


def test_a_finding_of_a_deleted_file_shows_its_position(tmp_path: Path):
    path = tmp_path / "gone.py"
    path.write_text(
        "import nkijit as nki\n"
        "import nkijit.language as nl\n"
        "@nki.jit\n"
        "def outside(x):\n"
        "    return nl.load(x)[:, 0:1000]\n"
    )
    spec = importlib.util.spec_from_file_location("gone", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.unlink()
    with pytest.raises(nki.NkiValidationError) as caught:
        module.outside.trace(X)
    assert f"{path}:5:" in str(caught.value)
