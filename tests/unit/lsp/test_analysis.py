"""Problems and other facts found in a text, without a server."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import nkijit as nki
from nkijit.lsp.analysis import analyse
from nkijit.lsp.facts import Analysis, Problem
from nkijit.lsp.settings import Settings, settings_of
from nkijit.lsp.syntax import is_about_kernels, syntax_problem
from nkijit.traced.kernel import TracedKernel

KERNEL = """\
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

def scale(tile, by):
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=by)

@nki.example(x="128x64:float32")
@nki.example(x="128x32:float32")
@nki.jit
def first(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    for by in range(3):
        scale(tile, by)
    nl.store(out, tile)
    return out

@nki.jit
def second():
    out = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.zeros((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    scale(tile, 2.0)
    nl.store(out, tile)
    return out
"""


def stages(folder: Path, text: str) -> list[Analysis]:
    found = list(analyse(str(folder / "of_analysis.py"), text, folder))
    assert found[-1].complete
    # They cross between processes.
    assert pickle.loads(pickle.dumps(found)) == found
    return found


def problem(folder: Path, text: str) -> Problem:
    (found,) = stages(folder, text)[-1].problems
    return found


def test_problems_come_before_times(tmp_path: Path):
    early, late = stages(tmp_path, KERNEL)
    assert not early.complete
    assert [view.time for view in early.kernels] == [None, None]
    assert early.problems == late.problems == ()
    assert [view.name for view in late.kernels] == ["first", "second"]
    assert [view.line for view in late.kernels] == [8, 19]


def test_times_are_those_of_the_profile(tmp_path: Path):
    view = stages(tmp_path, KERNEL)[-1].kernels[0]
    known: dict[str, object] = {}
    exec(KERNEL.replace("@nki.example", "# @"), known)
    traced = known["first"].trace(nki.TensorSpec((128, 64), "float32"))  # type: ignore
    assert isinstance(traced, TracedKernel)
    profile = traced.profile()
    assert view.time == pytest.approx(profile.time)
    assert view.bound == profile.bound
    assert [each.line for each in view.lines] == [6, 13, 16]
    assert sum(each.time for each in view.lines) == pytest.approx(profile.time)
    assert view.lines[0].instructions == 3


def test_lines_lead_to_ir(tmp_path: Path):
    view = stages(tmp_path, KERNEL)[-1].kernels[0]
    assert view.ir_file is not None
    lines = Path(view.ir_file).read_text(encoding="utf-8").splitlines()
    found = {line: lines[first - 1].strip() for line, first in view.ir_lines}
    assert set(found) == {6, 12, 13, 15, 16}
    assert found[6].startswith("nisa.tensor_scalar")
    assert found[15] == found[6]  # the call of the function
    assert found[12].startswith("%out = nki.alloc")


def test_a_mistake_that_two_kernels_share_is_one_problem(tmp_path: Path):
    wrong = KERNEL.replace("data=tile,", "data=tile[0:32],")
    found = problem(tmp_path, wrong)
    assert found.span.start.line == 6
    callers = {p.line for p, label in found.related if label == "called from here"}
    assert callers == {15, 23}


def test_a_mistake_in_another_file_is_reported_at_the_call(tmp_path: Path):
    helper = tmp_path / "analysis_helper.py"
    helper.write_text(KERNEL.partition("@nki.example")[0].replace("data=tile,", "data=tile[0:32],"))
    text = KERNEL.replace("def scale(", "from analysis_helper import scale\ndef unused(")
    found = stages(tmp_path, text)[-1].problems
    assert [p.span.start.line for p in found] == [16, 24]
    assert found[0].related[0][0].file == str(helper)


def test_problems_of_one_kernel_leave_the_others(tmp_path: Path):
    text = KERNEL.replace("for by in range(3):", "for by in [1 / 0]:")
    analysis = stages(tmp_path, text)[-1]
    (found,) = analysis.problems
    assert found.rule == "python-error"
    assert found.message.startswith("ZeroDivisionError: division by zero\n")
    assert (found.span.start.line, found.span.start.column) == (14, 16)
    assert [view.time is None for view in analysis.kernels] == [True, False]


def test_an_example_that_does_not_fit(tmp_path: Path):
    found = problem(tmp_path, KERNEL.replace('example(x="128x32', 'example(y="128x32'))
    assert "has no argument 'y'" in found.message
    assert found.span.start.line == 11


def test_a_file_that_calls_a_wrong_kernel(tmp_path: Path):
    text = KERNEL.replace("data=tile,", "data=tile[0:32],") + "second()\n"
    assert problem(tmp_path, text).span.start.line == 6


def test_imported_kernels_are_not_of_the_file(tmp_path: Path):
    (tmp_path / "analysis_other.py").write_text(KERNEL)
    text = "import nki\nfrom analysis_other import first\n"
    assert stages(tmp_path, text)[-1] == Analysis()


@pytest.mark.parametrize(
    "head",
    ["", '"""Text."""\n', "from __future__ import annotations\n", "# comment\n\n"],
)
def test_the_decorator_gets_its_import(tmp_path: Path, head: str):
    text = f"{head}import nki\nimport nki.language as nl\n\n@nki.jit\ndef f(x, y):\n    return x\n"
    pytest.importorskip("nki")
    found = problem(tmp_path, text)
    lines = text.splitlines(keepends=True)
    for each in sorted(found.remedy, key=lambda e: -e.line):
        lines.insert(each.line - 1, each.text)
    changed = "".join(lines)
    assert changed.startswith(f"{head}import nkijit\nimport nki\n")
    assert '@nkijit.example(x="128x512:float32", y="128x512:float32")\n@nki.jit\n' in changed
    assert stages(tmp_path, changed)[-1].problems == ()


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        (KERNEL, True),
        ("from neuronxcc import nki\n@nki.jit(mode='trace')\ndef f(): pass", True),
        ("from mine.nki import jit\n@jit\ndef f(): pass", True),
        ("import nki\ndef f(): pass", False),
        ("import jax\n@jax.jit\ndef f(): pass", False),
        ("import nki\n@nki.jit\ndef f(:", True),
        ("import jax\n@jax.jit\ndef f(:", False),
        ("", False),
        ("\0", False),
    ],
)
def test_texts_about_kernels(text: str, is_it: bool):
    assert is_about_kernels(text) == is_it


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x = 1\n", None),
        ("x = (\n", (1, 5)),
        ("def f():\n", (1, 9)),
        ("x = 1\n  y = 2", (2, 1)),
        ("'''", (1, 1)),
        ("é𝛼 = = 1", (1, 6)),
        ("x\0", (1, 1)),
    ],
)
def test_where_the_syntax_is_wrong(text: str, place: tuple[int, int] | None):
    found = syntax_problem("k.py", text)
    if place is None:
        assert found is None
        return
    assert found is not None
    assert found.span.start.line == place[0]
    end = (found.span.end_line, found.span.end_column)
    assert end > (found.span.start.line, found.span.start.column)


def test_an_end_before_the_times_is_no_problem(tmp_path: Path):
    early, late = stages(tmp_path, KERNEL)
    problem = Problem(early.kernels[0].span, "error", "still running")
    ended = early.ended(problem, 30.0)
    assert ended.complete
    assert ended.problems == ()
    assert {view.note for view in ended.kernels} == {"no prediction within 30 s"}
    assert late.ended(problem, 30.0) == late
    assert Analysis().ended(problem, 30.0).problems == (problem,)


def test_settings():
    assert settings_of(None) == (Settings(), [])
    assert settings_of({"run": "save", "timeLimit": 2.5}) == (
        Settings(run="save", timeLimit=2.5),
        [],
    )
    for wrong in ({"timelimit": 3}, {"timeLimit": True}, {"memoryLimit": -1}, {"codeLens": 1}, []):
        settings, told = settings_of(wrong)
        assert settings == Settings()
        assert len(told) == 1, wrong
