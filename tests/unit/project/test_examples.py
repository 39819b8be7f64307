"""The examples: right on all data, free of findings, and translated as before.

`tests/golden` keeps the IR and the listing of every example. When a change of them is intended:

    .venv/bin/pytest tests/unit/project/test_examples.py --update-golden
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.examples import parameters
from support.paths import ROOT
from typer.testing import CliRunner

import nkijit
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.cli import app
from nkijit.ir.text import parse
from nkijit.traced.kernel import TracedKernel
from nkijit.traced.runs import PRECISE_VARIABLE
from nkijit.tracing.target import TARGET_VARIABLE

GOLDEN = ROOT / "tests" / "golden"

common = importlib.import_module("common")
Options = common.Options

EXAMPLES = parameters()

every_example = pytest.mark.parametrize("example", EXAMPLES)
every_dtype = pytest.mark.parametrize("dtype", common.DTYPES)


@pytest.fixture(autouse=True)
def default_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TARGET_VARIABLE, raising=False)
    monkeypatch.delenv(PRECISE_VARIABLE, raising=False)


def same_bits(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# ------------------------------------------------------------------ numbers


def check(example: Any, options: Any) -> None:
    report = example.check(options)
    assert not report.traced.diagnostics.errors
    assert report.worst.of_bound <= 1, str(report.worst)


@pytest.mark.parametrize(
    ("example", "dtype", "data"),
    [
        pytest.param(example, dtype, data, id=f"{example.name}-{dtype}-{data}")
        for (example,) in (parameter.values for parameter in EXAMPLES)
        for dtype in example.dtypes
        for data in example.data
    ],
)
def test_result(example: Any, dtype: str, data: str) -> None:
    check(example, replace(example.small, dtype=dtype, data=data))


@pytest.mark.parametrize(
    "example", [parameter for parameter in EXAMPLES if parameter.values[0].any_size]
)
@pytest.mark.parametrize(("rows", "columns", "inner"), [(200, 700, 130), (1, 1, 1)])
def test_sizes_that_are_no_multiple_of_a_tile(
    example: Any, rows: int, columns: int, inner: int
) -> None:
    check(example, Options(rows=rows, columns=columns, inner=inner, data="hard"))


@pytest.mark.slow
@every_example
def test_production_size(example: Any) -> None:
    for dtype in example.dtypes:
        check(example, replace(example.production, dtype=dtype))


@pytest.mark.parametrize("k", [8, 16, 128])
def test_topk_router_finds_any_number_of_experts(k: int) -> None:
    topk_router = importlib.import_module("topk_router")
    for dtype in common.DTYPES:
        options = Options(rows=256, columns=128, inner=k, dtype=dtype, data="hard")
        check(topk_router.EXAMPLES[0], options)


@pytest.mark.parametrize("rows", [200, 2048 + 200])
def test_sharded_rmsnorm_takes_rows_that_are_no_multiple_of_a_tile(rows: int) -> None:
    sharded_rmsnorm = importlib.import_module("sharded_rmsnorm")
    check(sharded_rmsnorm.EXAMPLES[0], Options(rows=rows, columns=70, data="hard"))


@every_example
def test_is_traced_once(example: Any) -> None:
    inputs = example.inputs(example.small)
    assert example.kernel.trace(**inputs) is example.kernel.trace(**inputs)


# ------------------------------------------------------------------ golden files


def golden_inputs(example: Any, data: str = "random") -> dict[str, Any]:
    return example.inputs(replace(example.small, dtype="bfloat16", data=data))


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
@every_example
def test_lists_and_profiles(example: Any, target: str) -> None:
    try:
        traced = example.kernel.for_target(target).trace(**golden_inputs(example))
    except nkijit.UnsupportedError:
        assert target == "trn1"  # which has no second core
        return
    if traced.diagnostics.errors:
        # Only of the target that it is written for is nothing missing.
        assert target != example.kernel.trace(**golden_inputs(example)).target.platform
        return
    listed = traced.listing()
    assert all(f"{op.mnemonic} " in listed for p in traced.programs() for op in p.instructions)
    profile = traced.profile()
    assert 0 < profile.time < 1e9
    assert max(use.busy for use in profile.queues) <= profile.time


@every_example
def test_golden(example: Any, request: pytest.FixtureRequest) -> None:
    traced = example.kernel.trace(**golden_inputs(example))
    for suffix, text in ((".mlir", traced.text()), (".listing.txt", traced.listing())):
        path = GOLDEN / f"{example.name}{suffix}"
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")


def test_golden_has_no_other_files() -> None:
    names = {example.values[0].name for example in EXAMPLES}
    expected = {f"{name}{suffix}" for name in names for suffix in (".mlir", ".listing.txt")}
    assert {path.name for path in GOLDEN.iterdir() if path.is_file()} == expected


@every_example
def test_golden_ir_runs_as_the_kernel_does(example: Any) -> None:
    loaded = nkijit.load(GOLDEN / f"{example.name}.mlir")
    assert not loaded.diagnostics.errors
    for data in example.data:
        arrays = [
            value
            for value in golden_inputs(example, data).values()
            if isinstance(value, np.ndarray)
        ]
        results = loaded.run(*arrays)
        expected = example.kernel(**golden_inputs(example, data))
        if not isinstance(expected, tuple):
            results, expected = (results,), (expected,)
        assert all(map(same_bits, results, expected))


# ------------------------------------------------------------------ running them


def test_main_program(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, ROOT / "examples" / "activate2.py", "--rows", "128"]
    finished = subprocess.run(
        [*command, "--out-dir", out],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    assert "nisa.activate2 dst=%gelu, op=gelu" in finished.stdout
    assert "findings: none" in finished.stdout
    assert finished.stderr == ""
    # The IR was written without the lines that its operations come from.
    written = (out / "activate2.listing.txt").read_text(encoding="utf-8")
    lines = [line.partition("  activate2.py:")[0] for line in written.splitlines()]
    of_text = nkijit.load(out / "activate2.mlir").listing().splitlines()
    assert [line.partition("  activate2.mlir:")[0] for line in of_text] == lines


def test_main_program_fails_on_a_wrong_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    activate2 = importlib.import_module("activate2")
    wrong = common.Example(
        activate2.activate2,
        activate2.inputs,
        lambda *args: activate2.reference(*args) * (1 + 1e-3),
        activate2.float32_error,
    )
    monkeypatch.setattr(sys, "argv", ["activate2.py", "--rows", "8", "--out-dir", str(tmp_path)])
    assert common.run([wrong], None) == 1
    assert "WRONG" in capsys.readouterr().out


def test_main_program_prints_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["activate2.py", "--rows", "8", "--out-dir", str(tmp_path)])
    monkeypatch.setenv(TARGET_VARIABLE, "trn2")
    assert importlib.import_module("activate2").main() == 1
    assert "error[generation]: nisa.activate2" in capsys.readouterr().out


def test_command_line_runs_an_example(tmp_path: Path) -> None:
    inputs = importlib.import_module("rmsnorm").inputs(Options(rows=128, columns=512))
    for name, array in inputs.items():
        np.save(tmp_path / f"{name}.npy", array)
    given = [part for name in inputs for part in ("-i", f"{name}={tmp_path / name}.npy")]
    kernel, out = f"{ROOT / 'examples' / 'rmsnorm.py'}:rmsnorm", tmp_path / "out.npy"
    result = CliRunner().invoke(app, ["run", kernel, *given, "-o", str(out)])
    assert result.exit_code == 0, result.output
    expected = importlib.import_module("rmsnorm").rmsnorm(**inputs)
    assert same_bits(np.load(out), expected)


def test_command_line_verifies_every_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """examples/pyproject.toml has arguments of all kernels at module level."""
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, ["verify", "examples/"])
    assert result.exit_code == 0, result.output
    assert "not checked" not in result.output
    decorated = sum(
        path.read_text(encoding="utf-8").count("\n@nki.jit")
        for path in (ROOT / "examples").rglob("*.py")
    )
    launches = 2  # of classic/tensor_add.py:add_block, over its grid
    assert len(re.findall(r": (?:no findings|\d+ warnings?) for trn", result.output)) == (
        decorated + launches
    )


# ------------------------------------------------------------------ regressions


@pytest.mark.parametrize("number", [-3.4028234663852886e38, 3.4e38, 1e39, -np.inf])
def test_numbers_at_the_end_of_float32(number: float) -> None:
    @nkijit.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nisa.memset(dst=tile, value=number)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.maximum, operand0=number)
        nl.store(out, tile)
        return out

    x = np.zeros((2, 2), np.float32)
    traced = kernel.trace(x)
    with np.errstate(over="ignore"):
        expected = np.full((2, 2), np.float32(number))
    assert same_bits(traced.run(x), expected)
    assert same_bits(TracedKernel(parse(traced.text())).run(x), expected)


def test_command_line_asks_for_a_data_type(tmp_path: Path) -> None:
    # Without the arguments of examples/pyproject.toml.
    kernel = str(shutil.copy(ROOT / "examples" / "activate2.py", tmp_path))
    result = CliRunner().invoke(app, ["trace", kernel, "-a", "x=128x512"])
    assert result.exit_code == 2
    assert "-a x: a tensor needs a data type, e.g. 128x512:float32" in result.output

    # NumPy's format knows bfloat16 as two bytes without a meaning.
    np.save(tmp_path / "x.npy", np.zeros((128, 512), common.DTYPES["bfloat16"]))
    given = ["run", kernel, "-i", f"x={tmp_path / 'x.npy'}", "-o", str(tmp_path / "out.npy")]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 2
    assert "add e.g. -a x=128x512:bfloat16" in result.output
    assert CliRunner().invoke(app, [*given, "-a", "x=128x512:bfloat16"]).exit_code == 0


# ------------------------------------------------------------------ the comparison itself


@every_dtype
def test_compare(dtype: str) -> None:
    stored = common.DTYPES[dtype]
    half_ulp = float(ml_dtypes.finfo(stored).eps) / 2
    exact = np.array([1.0, -2.0, 0.0, np.inf, -np.inf, np.nan, 1e39])
    with np.errstate(over="ignore"):
        result = exact.astype(stored)

    def of_bound(expected: Any, allowed: float = 0.0) -> float:
        return common.compare(result, np.array(expected), np.full(7, allowed)).of_bound

    assert of_bound(exact) == 0
    assert 0.9 < of_bound([1 + 0.99 * half_ulp, *exact[1:]]) < 1
    assert of_bound([1 + 2 * half_ulp, *exact[1:]]) > 1
    assert of_bound([1 + 2 * half_ulp, *exact[1:]], 2 * half_ulp) < 1
    for index, wrong in ((0, np.inf), (0, np.nan), (3, -np.inf), (3, 1.0), (5, 1.0), (5, np.inf)):
        expected = exact.copy()
        expected[index] = wrong
        assert of_bound(expected) == np.inf


def test_compare_integers() -> None:
    indices, none = np.array([0, 2**31], np.uint32), np.zeros(2)
    assert common.compare(indices, np.array([0, 2**31]), none).of_bound == 0
    assert common.compare(indices, np.array([1, 2**31]), none).of_bound == np.inf


def test_the_worst_of_several_results_and_references_counts() -> None:
    topk_router = importlib.import_module("topk_router")
    (example,) = topk_router.EXAMPLES

    def swapped(*args: Any) -> Any:
        indices, weights = topk_router.reference(*args)
        return indices[:, ::-1], weights

    wrong = common.Reference(swapped, topk_router.float32_error)
    report = replace(example, others={"wrong order": wrong}).check(example.small)
    assert report.error.of_bound <= 1
    assert report.others["wrong order"].of_bound == np.inf
    assert report.worst is report.others["wrong order"]


def test_hard_data_has_every_kind_of_row() -> None:
    x = common.values(Options(rows=24, columns=64, data="hard"), 24, 64)
    assert np.isposinf(x).any(axis=1).sum() == 4
    assert np.isneginf(x).all(axis=1).sum() == 2
    assert np.isnan(x).any(axis=1).sum() == 2
    tiny = np.finfo(np.float32).smallest_normal
    assert ((np.abs(x) < tiny) & (x != 0)).all(axis=1).sum() == 2
    assert ((x == 0) & np.signbit(x)).all(axis=1).sum() == 2
    assert (x == x[:, :1]).all(axis=1).sum() == 8
