"""The plugin of pytest, in small projects of their own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import nkijit.testing.plugin  # noqa: F401  (else every project in this process loads it anew)
from nkijit.kernels.hooks import WATCHERS

pytest_plugins = ["pytester"]

HEAD = """
import numpy as np
import pytest
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

@nki.jit
def copied(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out

X = np.ones((128, 8), np.float32)
"""


def run(pytester: pytest.Pytester, body: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(HEAD + body)
    return pytester.runpytest_inprocess("-p", "no:xdist", "--strict-markers", *options)


def test_a_test_runs_once_for_each_target(pytester: pytest.Pytester):
    result = run(
        pytester,
        """
@pytest.mark.nki(targets=["trn2", "trn3"])
def test_kernel():
    print("<", copied.trace(X).target.platform, ">")

@pytest.mark.nki(targets="trn1")
def test_one(nki_target):
    assert copied.trace(X).target.platform == nki_target == "trn1"

@pytest.mark.nki(targets=["trn2"])
@pytest.mark.parametrize("rows", [64, 128])
class TestTogether:
    def test_rows(self, rows, nki_target):
        assert copied.trace(X[:rows]).target.platform == nki_target == "trn2"

@pytest.mark.nki
def test_without_targets(nki_target):
    assert nki_target == copied.trace(X).target.platform

def test_afterwards():
    assert copied.trace(X).target.platform == "trn3"

@pytest.mark.nki(targets=["trn2"])
def test_a_kernel_with_its_own(nki_target):
    assert copied.for_target("trn1").trace(X).target.platform == "trn1"
""",
        "-v",
        "-s",
    )
    result.assert_outcomes(passed=8)
    result.stdout.fnmatch_lines(
        ["*::test_kernel?trn2? < trn2 >*", "*::test_kernel?trn3? < trn3 >*"]
    )


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ('nki(targets=["trn9"])', "*@pytest.mark.nki: *trn9*"),
        ('nki(target="trn2")', "*@pytest.mark.nki takes targets= only*"),
        ('nki("trn2")', "*@pytest.mark.nki takes targets= only*"),
    ],
)
def test_markers_that_are_wrong(pytester: pytest.Pytester, marker: str, message: str):
    result = run(pytester, f"@pytest.mark.{marker}\ndef test_it():\n    pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])


FAILING = """
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.tensor_copy(dst=out, src=x)
    return out

def test_fails():
    copied(X)
    assert copied.trace(X).target.platform == "trn9"

def test_has_findings():
    assert wrong.trace(X).diagnostics == ()

def test_stops():
    wrong(X)

def test_passes():
    copied(X)

@nki.jit
def stored_twice(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=0.0)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out

def test_is_warned_of():
    stored_twice(X)
    assert False

def test_has_no_kernel():
    assert False
"""


def between(text: str, start: str, end: str) -> str:
    return text.split(start)[1].split(end)[0]


def test_kernels_in_the_report_of_a_failing_test(pytester: pytest.Pytester):
    watchers = WATCHERS[:]
    result = run(pytester, FAILING)
    result.assert_outcomes(failed=5, passed=1)
    result.stdout.fnmatch_lines(
        [
            "*_ test_fails _*",
            "*- nki kernel @copied for trn3 -*",
            "arguments: x: 128x8:float32",
            "builtin.module {",
            "*nisa.dma_copy dst=%tile, src=%x",
            "(--nki-report DIR writes*",
            "*_ test_has_findings _*",
            "*- nki kernel @wrong for trn3 -*",
            "error?buffer?: nisa.tensor_copy: *",
            "*_ test_stops _*",
            "*- nki kernel @wrong for trn3 -*",
            "*_ test_is_warned_of _*",
            "*- nki kernel @stored_twice for trn3 -*",
            "arguments: x: 128x8:float32",
            "warning?redundant-fill?: *.py:*: nisa.memset: *",
            "builtin.module {",
            "*_ test_has_no_kernel _*",
        ],
        consecutive=False,
    )
    text = result.stdout.str()
    assert text.count("- nki kernel @copied") == 1
    # The exception contains the findings.
    assert between(text, "_ test_stops _", "_ test_is_warned_of _").count("error[buffer]") == 1
    assert "nki kernel" not in text.split("_ test_has_no_kernel _")[1]
    assert watchers == WATCHERS


def test_long_kernels_are_shown_in_short(pytester: pytest.Pytester):
    body = """
@nki.jit
def long(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for row in range(128):
        nisa.dma_copy(dst=out[row : row + 1], src=x[row : row + 1])
    return out

def test_fails():
    for rows in (1, 2, 3, 4):
        copied.trace(X[:rows])
    long.trace(X)
    assert False
"""
    result = run(pytester, body)
    result.stdout.fnmatch_lines(["… * more lines of IR"])
    text = result.stdout.str()
    assert text.count("- nki kernel") == 3  # the last ones
    assert "arguments: x: 4x8:float32" in text
    assert "arguments: x: 2x8:float32" not in text


def test_kernels_that_cannot_be_shown_do_not_end_the_session(pytester: pytest.Pytester):
    body = """
from nkijit.traced.kernel import TracedKernel

def broken(self, **options):
    raise RuntimeError("not today")

def test_fails(monkeypatch):
    monkeypatch.setattr(TracedKernel, "text", broken)
    copied(X)
    assert 0

def test_passes():
    pass
"""
    result = run(pytester, body)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["cannot be shown: RuntimeError: not today"])


def test_reports(pytester: pytest.Pytester):
    result = run(pytester, FAILING, "--nki-report", "pages")
    pages = sorted(path.name for path in (pytester.path / "pages").iterdir())
    assert len(pages) == 4
    for page in pages:
        assert "<html" in (pytester.path / "pages" / page).read_text(encoding="utf-8")
    assert sum("copied" in page for page in pages) == 1
    result.stdout.fnmatch_lines([f"report: pages/*{pages[0][-20:]}"])


def test_the_kernel_of_a_module_is_noted_when_a_test_asserts_something_of_it(
    pytester: pytest.Pytester,
):
    body = """
from nkijit.testing import filecheck
TRACED = copied.trace(X)

def test_text():
    filecheck(TRACED, "CHECK: nisa.activation")
"""
    result = run(pytester, body)
    result.stdout.fnmatch_lines(
        ["> *filecheck(TRACED*", "E *Couldn't match*", "*- nki kernel @copied for trn3 -*"]
    )
    # Nothing of nkijit's own source is in the traceback.
    assert "__tracebackhide__" not in result.stdout.str()


GOLDEN = """
@pytest.mark.parametrize("rows", [64, 128])
@pytest.mark.nki(targets=["trn2", "trn3"])
def test_ir(nki_golden, rows):
    traced = copied.trace(X[:rows])
    nki_golden(traced)
    nki_golden(traced.listing(), "listing")
"""


def test_goldens(pytester: pytest.Pytester):
    run(pytester, GOLDEN).assert_outcomes(failed=4)
    result = run(pytester, GOLDEN, "--nki-update-goldens")
    result.assert_outcomes(passed=4)
    folder = pytester.path / "goldens"
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 8
    assert "test_goldens.test_ir-trn2-64.mlir" in names
    assert "test_goldens.test_ir-trn2-64.listing.txt" in names
    run(pytester, GOLDEN).assert_outcomes(passed=4)
    path = folder / "test_goldens.test_ir-trn2-64.mlir"
    path.write_text(path.read_text().replace("dma_copy dst=%tile", "dma_copy dst=%other"))
    result = run(pytester, GOLDEN)
    result.assert_outcomes(failed=1, passed=3)
    result.stdout.fnmatch_lines(
        [
            "E *differs from goldens/test_goldens.test_ir-trn2-64.mlir",
            "E *-*nisa.dma_copy dst=%other, src=%x",
            "E *+*nisa.dma_copy dst=%tile, src=%x",
            "E *--nki-update-goldens*",
        ]
    )
    times = {name: (folder / name).stat().st_mtime_ns for name in names}
    run(pytester, GOLDEN, "--nki-update-goldens").assert_outcomes(passed=4)
    touched = [name for name in names if (folder / name).stat().st_mtime_ns != times[name]]
    assert touched == [path.name]


def test_a_missing_golden_names_the_option_that_writes_it(pytester: pytest.Pytester):
    result = run(pytester, GOLDEN, "-k", "trn2-64")
    result.stdout.fnmatch_lines(["E *there is no goldens/*.mlir; pytest --nki-update-goldens *"])
    assert not (pytester.path / "goldens").exists()


def test_two_goldens_of_one_test_need_names(pytester: pytest.Pytester):
    body = """
def test_twice(nki_golden):
    nki_golden("a")
    nki_golden("b")
"""
    result = run(pytester, body, "--nki-update-goldens")
    result.stdout.fnmatch_lines(["E *give this one a name=*"])


def test_tests_of_one_name_have_goldens_of_their_own(pytester: pytest.Pytester):
    body = """
class TestOne:
    def test_it(self, nki_golden):
        nki_golden("a")

class TestTwo:
    def test_it(self, nki_golden):
        nki_golden("b")

@pytest.mark.parametrize("text", ["a/b", "a b", "x" * 200 + "1", "x" * 200 + "2"])
def test_texts(nki_golden, text):
    nki_golden(text)
"""
    run(pytester, body, "--nki-update-goldens").assert_outcomes(passed=6)
    run(pytester, body).assert_outcomes(passed=6)
    assert len(list((pytester.path / "goldens").iterdir())) == 6


def test_random_inputs_of_a_test_are_always_the_same(pytester: pytest.Pytester):
    body = """
seen = []

@pytest.mark.nki(targets=["trn2", "trn3"])
def test_one(nki_random):
    seen.append(nki_random({"x": "128x8:bfloat16"})["x"].tobytes())

def test_two(nki_random):
    other = nki_random(["128x8:bfloat16"])[0].tobytes()
    assert seen[0] == seen[1] != other
    assert nki_random(["8:int32"], ranges={0: (3, 3)})[0].tolist() == [3] * 8
"""
    run(pytester, body).assert_outcomes(passed=3)


def test_nothing_is_imported_for_projects_without_kernels(pytester: pytest.Pytester):
    pytester.makepyfile(
        """
import sys

def test_it():
    assert "pytest_nkijit" in sys.modules
    assert not [name for name in sys.modules if name.split(".")[0] in ("nkijit", "xdsl", "numpy")]
    assert 0
"""
    )
    result = pytester.runpytest_subprocess("-p", "no:xdist")
    result.stdout.fnmatch_lines(["E *assert 0*"])


@pytest.mark.slow
def test_workers_write_goldens_and_reports_at_the_same_time(pytester: pytest.Pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile(HEAD + GOLDEN + FAILING)
    result = pytester.runpytest_subprocess(
        "-n", "2", "--nki-update-goldens", "--nki-report", "pages"
    )
    result.assert_outcomes(passed=5, failed=5)
    assert len(list((pytester.path / "goldens").iterdir())) == 8
    assert len(list((pytester.path / "pages").iterdir())) == 4
    result.stdout.fnmatch_lines(["*- nki kernel @copied for trn3 -*"])


def test_denied_warnings_fail_tests(pytester: pytest.Pytester):
    body = """
@nki.jit
def stored_twice(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    nisa.dma_copy(dst=out, src=x)
    return out

def test_call():
    stored_twice(X)
"""
    run(pytester, body, "--nki-deny=advice").assert_outcomes(passed=1)
    result = run(pytester, body, "--nki-deny=small-dma", "--nki-deny=suspicious")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*error?overwritten-result?: nisa.dma_copy: *"])
    result = run(pytester, body, "--nki-deny=suspicius")
    result.stderr.fnmatch_lines(["*--nki-deny: *no warning 'suspicius' to deny*"])
    assert "NKIJIT_DENY" not in os.environ


def test_the_plugin_is_found_without_an_import(pytester: pytest.Pytester):
    result = pytester.run(sys.executable, "-m", "pytest", "--markers")
    result.stdout.fnmatch_lines(["@pytest.mark.nki(targets=None): run the test once for each*"])
    result = pytester.run(sys.executable, "-m", "pytest", "--fixtures")
    for name in ("nki_target", "nki_random", "nki_golden"):
        result.stdout.fnmatch_lines([f"{name} -- *"])
    assert Path(sys.modules["pytest_nkijit"].__file__ or "").name == "pytest_nkijit.py"
