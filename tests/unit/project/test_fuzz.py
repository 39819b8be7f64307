"""The rounds of `make fuzz`: a few of each find nothing, and each finds planted errors."""

from __future__ import annotations

import importlib
import shlex
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.fresh_process import in_fresh_process
from support.nisa.harness import X, Y, Z, arranged, call
from support.paths import ROOT

from nkijit.traced.kernel import TracedKernel

if sys.platform == "win32":
    pytest.skip("campaigns fork", allow_module_level=True)


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports modules of the package of campaigns, which is named from the root."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"tests.fuzz.{name}")


def in_own_process(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
    )


# ------------------------------------------------------------------ a few rounds of each


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "arguments",
        "cache",
        "exports",
        "files",
        "instructions",
        "pages",
        "predictions",
        "programs",
        "records",
    ],
)
def test_a_round_finds_nothing(name: str, tmp_path: Path) -> None:
    done = in_own_process("--only", name, "--seed", "tests", "--round", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].split()[0] == name


# ------------------------------------------------------------------ the driver

PLANTED = """
from tests.fuzz.campaign import Count, Finding, UnavailableError

def campaign(rng, deadline):
    number = rng.randrange(1000)
    {body}
"""


def planted(fuzz: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str) -> Any:
    """The driver with one campaign, which does this in every round; it keeps things in tmp_path."""
    space: dict[str, Any] = {}
    exec(PLANTED.format(body=body), space)
    driver = fuzz("driver")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(driver, "campaigns", lambda: {"planted": space["campaign"]})
    return driver


FINDS = """
    wrong = [Finding(f"wrong: case {number} of 'x'", {"case.txt": b"x"})] if number % 3 == 0 else []
    return Count(cases=1, findings=wrong)
"""


def test_findings_are_kept_counted_and_made_again(
    fuzz: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    driver = planted(fuzz, monkeypatch, tmp_path, FINDS)
    assert driver.main(["--minutes", "0.003", "--seed", "s"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("seed s\n")
    (folder,) = (tmp_path / "build" / "fuzz").iterdir()  # they differ in numbers only
    assert (folder / "case.txt").read_bytes() == b"x"
    kept = (folder / "finding.txt").read_text()
    again = shlex.split(kept.split("again: ")[1])
    assert again[1:3] == ["-m", "tests.fuzz"]
    assert driver.main(again[3:]) == 1
    assert kept.splitlines()[0] in capsys.readouterr().out


def test_missing_tools_are_reported_without_a_finding(
    fuzz: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    driver = planted(fuzz, monkeypatch, tmp_path, "raise UnavailableError('no such tool')")
    assert driver.main(["--minutes", "0.001"]) == 0
    assert "no such tool" in capsys.readouterr().out
    assert not (tmp_path / "build").exists()


def test_a_campaign_that_fails_is_a_finding(
    fuzz: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    driver = planted(fuzz, monkeypatch, tmp_path, "raise KeyError(number)")
    assert driver.main(["--minutes", "0.001", "--seed", "s"]) == 1


@pytest.mark.slow
def test_processes_share_the_rounds(tmp_path: Path) -> None:
    done = in_own_process(
        "--only", "instructions", "--jobs", "2", "--minutes", "0.02", cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr


# ------------------------------------------------------------------ files


@pytest.fixture
def ended(fuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the problems of a command with this body."""
    files = fuzz("files")
    file = tmp_path / "mutant.mlir"
    file.write_text("scf.")

    def run(body: Any, seconds: float = 20.0) -> list[str]:
        monkeypatch.setattr(files, "app", body)
        answer = files.run(files.VERIFY, file, file, seconds)
        return list(files.wrong_with(files.VERIFY, answer, file.read_bytes()))

    return run


@in_fresh_process
def test_forbidden_behaviour_of_commands_is_found(ended: Any, fuzz: Any) -> None:
    def ends_with(code: int) -> Any:
        return lambda words: sys.exit(code)

    assert ended(ends_with(0)) == []
    assert ended(ends_with(1)) == []
    (wrong,) = ended(ends_with(3))
    assert "ends with 3" in wrong

    def raises(words: list[str]) -> None:
        raise KeyError("x")

    assert any("Python's own words: KeyError: 'x'" in wrong for wrong in ended(raises))
    (wrong,) = ended(lambda words: print("error: 'x'", file=sys.stderr))
    assert "Python's own words" in wrong
    (wrong,) = ended(lambda words: time.sleep(60), seconds=0.2)
    assert "takes more than" in wrong
    (wrong,) = ended(lambda words: print(fuzz("files").CANARY))
    assert "shows a file" in wrong
    assert any("bytes or more" in w for w in ended(lambda words: print("x" * (40 << 20))))
    assert ended(lambda words: bytearray(8 << 30))  # more memory than it may have


def test_verdicts_that_differ_are_found(fuzz: Any) -> None:
    files = fuzz("files")
    good, bad = (files.Answer(code, 0.1, b"", b"error: x", b"") for code in (0, 1))
    assert list(files.differ(good, good)) == list(files.differ(bad, bad)) == []
    assert len(list(files.differ(good, bad))) == len(list(files.differ(bad, good))) == 1


def test_mutants_are_not_all_refused_at_once(fuzz: Any) -> None:
    """Some are valid, some are read and refused by a rule, some cannot be read."""
    mutations, files = fuzz("ir_mutations"), fuzz("files")
    mutator = mutations.Mutator(Random(1), files.texts(), ["x.py"])
    text = (ROOT / "tests" / "golden" / "softmax.mlir").read_bytes()
    codes: list[str] = []
    from nkijit.ir.text import parse
    from nkijit.traced.kernel import TracedKernel

    for _ in range(60):
        try:
            found = TracedKernel(parse(mutator.mutant(text).decode())).diagnostics
            codes.append("refused" if found.errors else "valid")
        except Exception:
            codes.append("unreadable")
    assert min(codes.count(kind) for kind in ("refused", "valid", "unreadable")) >= 2
    assert "".join(mutations.tokens_of(text.decode())) == text.decode()


# ------------------------------------------------------------------ instructions


def test_a_wrong_result_of_an_instruction_is_found(
    fuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    instructions = fuzz("instructions")
    program = arranged([call("tensor_tensor", dst=Z, data1=X, data2=Y, op="add")])
    assert instructions.compared(program) == ""
    alu = instructions.naive.oracle.alu
    monkeypatch.setattr(instructions.naive.oracle, "alu", lambda *given: alu(*given) + 1)
    assert "tile 'z'" in instructions.compared(program)


@pytest.mark.slow
def test_every_instruction_that_the_oracle_knows_is_varied(fuzz: Any) -> None:
    from support.nisa.harness import INSTRUCTIONS

    instructions, random = fuzz("instructions"), Random(1)
    missing = set(INSTRUCTIONS)
    for test in instructions.tests():
        if missing:
            programs = test.programs(random)
            missing -= {made.instruction for program in programs for made in program.calls}
    assert not missing


def test_undecidable_cases_are_ignored(fuzz: Any) -> None:
    """The square of a number that is known within a bound."""
    calls = [
        call("activation", dst=Z, op="exp", data=X),
        call("activation", dst=Y, op="gelu", data=Z),
    ]
    assert fuzz("instructions").compared(arranged(calls)) is None


# ------------------------------------------------------------------ programs


def test_a_program_that_runs_differently_is_found(
    fuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = fuzz("programs")
    for sort in programs.SORTS:
        traced, inputs, expected = sort(Random(3))
        assert list(programs.wrong_with(Random(1), traced, inputs, expected)) == []
    traced, inputs, expected = programs._classic(Random(3))
    (wrong,) = programs.wrong_with(Random(1), traced, inputs, [expected[0] + 1])
    assert wrong == "a plain run is not what NumPy says"
    other = programs._classic(Random(4))[0]
    monkeypatch.setattr(programs, "parse", lambda text: other.module)
    assert list(programs.wrong_with(Random(1), traced, inputs, expected))


# ------------------------------------------------------------------ records


def test_a_wrong_instance_is_found(fuzz: Any) -> None:
    from support.sequenced_kernels import sequenced_kernel, wrong_with

    made = sequenced_kernel(Random(3))
    assert list(wrong_with(made, Random(1))) == []
    made.instances["a"][-1].value += 1
    (wrong,) = wrong_with(made, Random(1))
    assert wrong.startswith("the instances of a are ")


# ------------------------------------------------------------------ exports


def test_an_export_that_is_another_kernel_is_found(
    fuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    exports = fuzz("exports")
    made = exports.runtime(Random(2))
    assert list(exports.wrong_with(made)) == []
    source = TracedKernel.source

    def other(traced: TracedKernel, **options: Any) -> str:
        return source(traced, **options).replace("+ 1", "+ 2").replace("1 +", "2 +")

    monkeypatch.setattr(TracedKernel, "source", other)
    assert any("another kernel" in wrong for wrong in exports.wrong_with(made))


# ------------------------------------------------------------------ pages


@pytest.mark.slow
def test_a_page_that_runs_its_contents_is_found(fuzz: Any) -> None:
    pages = fuzz("pages")
    try:
        pages._browser()
    except fuzz("campaign").UnavailableError as error:
        pytest.skip(str(error))
    page = pages._hostile_kernel(Random(1)).report()
    assert pages.wrong_with(page) == []
    # Without a content security policy, code inserted into the page runs.
    open_page = page.replace("Content-Security-Policy", "x").replace(
        "</body>", f"<script>{pages.RUNS}</script><img src='https://localhost:1/x'></body>"
    )
    wrong = "\n".join(pages.wrong_with(open_page))
    for what in ("runs as a script", "is a script element", "asks for https://localhost:1"):
        assert what in wrong
