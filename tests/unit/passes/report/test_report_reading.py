"""Reports in addition to code: iterations, marks, rules, advice, two kernels, colours."""

from __future__ import annotations

import itertools
import json
import math
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from support.paths import EXAMPLES
from support.report_pages import text_of
from typer.testing import CliRunner

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.cli import app
from nkijit.ir.text import parse
from nkijit.kernels.arguments import TensorSpec
from nkijit.passes.report.memory.svg import COLOURS
from nkijit.reference.catalogue import explain_rule
from nkijit.traced.kernel import TracedKernel


def data_of(page: str) -> dict[str, Any]:
    return json.loads(text_of(page))


@nki.jit
def nested(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, x.shape[0], 128):
        tile = nl.load(x[start : start + 128])
        for _ in range(3):
            nisa.activation(dst=tile, op=nl.exp, data=tile)
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=0.5)
        nl.store(out[start : start + 128], tile)
    return out


@nki.jit
def nested_longer(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, x.shape[0], 128):
        tile = nl.load(x[start : start + 128])
        for _ in range(5):
            nisa.activation(dst=tile, op=nl.exp, data=tile)
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=0.5)
        nl.store(out[start : start + 128], tile)
    return out


SPEC = TensorSpec((512, 64), "float32")


def paths(data: dict[str, Any]) -> list[list[tuple[int, int]]]:
    """Of each operation its iterations, outermost first: number and count."""
    rows = data["iterations"]
    found = []
    for iteration in data["ops"]["iteration"]:
        path: list[tuple[int, int]] = []
        while iteration >= 0:
            path.insert(0, (rows["number"][iteration], rows["count"][iteration]))
            iteration = rows["parent"][iteration]
        found.append(path)
    return found


def test_operations_are_in_the_iterations_that_made_them():
    data = data_of(nested.trace(SPEC).report())
    lines = data["ir"].splitlines()
    seen: dict[str, list[list[tuple[int, int]]]] = {}
    for first, path in zip(data["ops"]["first"], paths(data), strict=True):
        match = re.search(r"(nisa|nki|arith)\.\w+", lines[first])
        assert match
        seen.setdefault(match[0], []).append(path)
    inner = [[(m, 4), (k, 3)] for m in range(4) for k in range(3)]
    assert seen["nisa.activation"] == inner
    assert seen["nisa.tensor_scalar"] == inner
    # A load and a store, each with its view.
    assert seen["nisa.dma_copy"] == [[(m, 4)] for m in range(4) for _ in range(2)]
    assert seen["nki.view"] == seen["nisa.dma_copy"]
    assert seen["nki.return"] == [[]]


def test_text_has_the_same_iterations():
    traced = nested.trace(SPEC)
    for text in (traced.text(), traced.text(rolled=True), traced.text(locations=True)):
        again = data_of(TracedKernel(parse(text)).report())
        assert paths(again) == paths(data_of(traced.report()))


@nki.jit
def wrong(x):
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.psum)
    out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.tensor_reduce(dst=total, op=nl.add, data=nl.load(x), axis=1)
    nisa.dma_copy(
        dst=out,
        src=total,
    )
    return out


def test_findings_have_marks_and_their_rules_are_explained_once():
    traced = wrong.trace(TensorSpec((128, 64), "float32"))
    data = data_of(traced.report())
    text = data["sources"][0]["text"].splitlines()
    (finding,) = [f for f in data["findings"] if f["severity"] == "error"]
    marked = [text[line - 1][first - 1 : last] for line, first, last in finding["marked"]]
    assert marked == ["total"]
    assert text[finding["marked"][0][0] - 1].strip() == "src=total,"
    assert set(data["rules"]) == {found.rule.id for found in traced.diagnostics}
    for rule, shown in data["rules"].items():
        explained = " ".join(explain_rule(rule).split())
        assert all(text in explained for name, text in shown.items() if name != "severity")


def test_advice_is_included_on_request():
    traced = nested.trace(SPEC)
    assert data_of(traced.report())["advice"] is None
    advice = traced.advice()
    data = data_of(traced.report(advise=True))
    shown = data["advice"]
    assert [s["message"] for s in shown["suggestions"]] == [s.message for s in advice.suggestions]
    for made, suggestion in zip(shown["suggestions"], advice.suggestions, strict=True):
        assert made["after"] == pytest.approx(suggestion.after)
        source, line, column = made["place"]
        assert data["sources"][source]["name"] == str(suggestion.place).rsplit(":", 2)[0]
        assert (line, column) == (suggestion.place.line, suggestion.place.column)
    # A kernel with errors has no time that could be gained.
    assert (
        data_of(wrong.trace(TensorSpec((128, 64), "float32")).report(advise=True))["advice"] is None
    )


def test_two_kernels_are_compared():
    one, other = nested.trace(SPEC), nested_longer.trace(SPEC)
    data = data_of(one.report(against=other))
    comparison = data["comparison"]
    assert comparison["names"] == ["nested", "nested_longer"]
    assert data["other"]["kernel"] == "nested_longer"
    figures = {row[0]: row[1:] for row in comparison["figures"]}
    times = [traced.profile().time for traced in (one, other)]
    assert figures["time"][2] == f"{100 * (times[0] - times[1]) / times[1]:+.1f}%"
    assert ["scalar ACTIVATE", "12", "20", "-8"] in comparison["instructions"]
    # The functions, which are in one file, beside each other: they differ in two lines.
    text = data["sources"][0]["text"].splitlines()
    pairs = [[text[line - 1] if line else None for line in pair] for pair in comparison["source"]]
    different = [pair for pair in pairs if pair[0] != pair[1]]
    assert different == [
        ["def nested(x):", "def nested_longer(x):"],
        ["        for _ in range(3):", "        for _ in range(5):"],
    ]
    assert pairs[0] == ["@nki.jit", "@nki.jit"]


def test_a_kernel_without_a_timeline_is_not_compared():
    data = data_of(nested.trace(SPEC).report(against=wrong.trace(TensorSpec((128, 64), "float32"))))
    assert data["comparison"] is None
    assert data["other"]["kernel"] == "wrong"


def test_transfers_and_products_say_how_much(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import matmul

    shapes = TensorSpec((256, 256), "bfloat16"), TensorSpec((256, 512), "bfloat16")
    traced = matmul.matmul.trace(*shapes)
    (core,) = data_of(traced.report())["cores"]
    # Transposes are multiplications as well, and counted as in the profile.
    assert sum(core["items"]["flops"]) == traced.profile().roofline.flops == 2 * 256 * 256 * 512
    assert sum(core["items"]["bytes"]) == sum(moved.bytes for moved in traced.profile().moved)


def test_the_command_line_compares_and_advises(tmp_path: Path):
    out = tmp_path / "page.html"
    command = [
        "report", f"{__file__}:nested", "-a", "x=512x64:float32", "-o", str(out), "--advise",
        "--against", f"{__file__}:nested_longer",
    ]  # fmt: skip
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    data = data_of(out.read_text(encoding="utf-8"))
    assert data["advice"]
    assert data["comparison"]["names"] == ["nested", "nested_longer"]
    result = CliRunner().invoke(app, [*command[:-1], f"{tmp_path}/none.py"])
    assert result.exit_code == 2
    assert "no such file" in result.stderr


# ------------------------------------------------------------------ colours

# How colour-blind eyes see linear RGB: Machado, Oliveira and Fernandes (2009), severity 1.
SEEN = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear(colour: str) -> list[float]:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def luminance(colour: str) -> float:
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lab(colour: str, eyes: str) -> list[float]:
    """CIE L*a*b* of a colour as some eyes see it."""
    rgb = [
        min(1.0, max(0.0, sum(w * p for w, p in zip(row, linear(colour), strict=True))))
        for row in SEEN[eyes]
    ]
    to_xyz = (
        (0.4124564, 0.3575761, 0.1804375),
        (0.2126729, 0.7151522, 0.0721750),
        (0.0193339, 0.1191920, 0.9503041),
    )
    white = (0.95047, 1.0, 1.08883)
    x, y, z = (
        value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
        for value in (
            sum(w * p for w, p in zip(row, rgb, strict=True)) / w0
            for row, w0 in zip(to_xyz, white, strict=True)
        )
    )
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


@pytest.mark.parametrize("eyes", SEEN)
def test_colours_differ_for_all_eyes(eyes: str):
    """A difference of 2.3 in L*a*b* is just noticed."""
    seen = {colour: lab(colour, eyes) for colour in COLOURS}
    for one, other in itertools.combinations(COLOURS, 2):
        assert math.dist(seen[one], seen[other]) > 10, (eyes, one, other)


def variables(scheme: str) -> dict[str, str]:
    style = (resources.files("nkijit") / "assets" / "report" / "report.css").read_text("utf-8")
    first, second = re.findall(r":root[^{]*\{([^}]*--bg[^}]*)\}", style)
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", first))
    return (
        found
        if scheme == "light"
        else found | dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", second))
    )


def test_words_on_colours_are_legible():
    assert all(contrast("#111111", colour) >= 7 for colour in (*COLOURS, "#ffd54a"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_meaningful_colours_have_contrast(scheme: str):
    colours = variables(scheme)
    for name in ("ink", "quiet", "accent", "error", "warning", "better"):
        for ground in ("bg", "panel"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    for name in ("ink", "quiet"):
        for ground in ("related", "caller", "chosen"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    for eyes in SEEN:
        # Bars of shares are adjacent.
        bars = [lab(colours[name], eyes) for name in ("busy", "waiting", "idle")]
        assert all(math.dist(a, b) > 15 for a, b in itertools.combinations(bars, 2)), eyes
