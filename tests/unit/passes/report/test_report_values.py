"""Values in reports, against cells that are counted element by element."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np
import pytest
from support.report_pages import text_of

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.report import model
from nkijit.passes.report import values as report_values
from nkijit.passes.report.build import report_of
from nkijit.passes.values.cells import cells_of


def slow_cells(rows: Any, side: int) -> bytes:
    """Return the cells of an array, computed from the definition."""
    high, wide = (min(length, side) for length in rows.shape)
    finite = [float(v) for v in rows.ravel() if math.isfinite(v)]
    least, largest = (min(finite), max(finite)) if finite else (0.0, 0.0)
    found = []
    for i in range(high):
        for j in range(wide):
            inside = [
                float(rows[r, c])
                for r in range(i * rows.shape[0] // high, (i + 1) * rows.shape[0] // high)
                for c in range(j * rows.shape[1] // wide, (j + 1) * rows.shape[1] // wide)
            ]
            good = [v for v in inside if math.isfinite(v)]
            if any(map(math.isnan, inside)):
                found.append(255)
            elif math.inf in inside:
                found.append(254)
            elif -math.inf in inside:
                found.append(253)
            elif least == largest:
                found.append(125)
            else:
                share = (sum(good) / len(good) - least) / (largest - least)
                found.append(round(share * 250))
    return bytes(found)


@pytest.mark.parametrize("shape", [(128, 512), (5, 7), (1, 1), (3, 100), (97, 1)])
@pytest.mark.parametrize("special", [[], [np.nan], [np.inf, -np.inf], [np.nan, np.inf, -np.inf]])
def test_cells_are_means_and_show_values_that_are_not_finite(
    shape: tuple[int, int], special: list[float]
):
    random = np.random.default_rng(0)
    rows = random.standard_normal(shape).astype(np.float32)
    for value in special:
        rows[random.integers(shape[0]), random.integers(shape[1])] = value
    made = cells_of(rows, 16).ravel().astype(int)
    expected = np.frombuffer(slow_cells(rows, 16), np.uint8).astype(int)
    assert made.shape == expected.shape
    assert (abs(made - expected) <= (expected <= 250)).all()  # the mean may round otherwise


@nki.jit
def halves(x, steps):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    for i in range(steps):
        other = nl.ndarray((x.shape[0], x.shape[1] // 2), dtype=x.dtype, buffer=nl.sbuf)
        half = tile[:, x.shape[1] // 2 :]
        nisa.tensor_scalar(dst=other, data=half, op0=nl.multiply, operand0=1.0 + 0.01 * i)
        nisa.tensor_tensor(dst=tile[:, : x.shape[1] // 2], data1=other, data2=half, op=nl.add)
    nisa.dma_copy(dst=out, src=tile)
    return out


def values(record: Any) -> Any:
    traced = record.traced
    kernels = kernels_of(traced.module)
    return report_of(traced.module, kernels, traced.diagnostics, record=record)


def test_operands_have_figures_and_the_part_of_the_tensor_that_they_are():
    x = np.random.default_rng(1).standard_normal((64, 32)).astype(np.float32)
    report = values(halves.record(x, 2))
    shown = report.values
    assert [step.number for step in shown.steps] == [0, 1, 2, 3, 4, 5]
    assert [report.strings[step.loops] for step in shown.steps] == [
        "", "i=0", "i=0", "i=1", "i=1", "",
    ]  # fmt: skip
    wrote, read = (shown.operands[n] for n in shown.steps[1].operands)
    assert report.strings[wrote.text] == "dst = other: 64x16 float32"
    assert report.strings[read.text] == "data = tile: 64x16 float32"
    assert (wrote.written, wrote.pattern, read.written) == (1, -1, 0)
    pattern = shown.patterns[read.pattern]
    assert (pattern.rows, pattern.columns) == (64, 32)
    cells = np.frombuffer(base64.b64decode(pattern.cells), np.uint8).reshape(pattern.cells_high, -1)
    assert (cells[:, : cells.shape[1] // 2] == 0).all()
    assert (cells[:, cells.shape[1] // 2 :] == 255).all()
    figures, picture = shown.figures[wrote.figures], shown.pictures[wrote.picture]
    half = x[:, 16:]
    assert figures.least == pytest.approx(half.min(), rel=1e-5)
    assert figures.largest == pytest.approx(half.max(), rel=1e-5)
    assert figures.mean == pytest.approx(half.mean(), rel=1e-4)
    counts, _ = np.histogram(half.astype(np.float64), 24)
    assert picture.histogram == counts.tolist()
    assert shown.pictured == 6
    assert shown.turns == []


@nki.jit
def narrow(x):
    out = nl.ndarray(x.shape, dtype=nl.float8_e4m3, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    small = nl.ndarray(x.shape, dtype=nl.float8_e4m3, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(
        dst=small, data=tile, op0=nl.minimum, operand0=240.0, op1=nl.maximum, operand1=-240.0
    )
    nisa.dma_copy(dst=out, src=small)
    return out


def test_zeros_subnormals_and_ends_of_data_types_are_counted():
    x = np.array([[0.0, -0.0, 9e-4, 0.01, 0.5, 239.0, 250.0, -1e6, 3.0, -2.0]], np.float32)
    report = values(narrow.record(x))
    shown = report.values
    (wide,), (small,), _ = (
        [
            shown.figures[shown.operands[n].figures]
            for n in step.operands
            if shown.operands[n].written
        ]
        for step in shown.steps
    )
    assert (wide.zeros, wide.subnormals, wide.saturated, wide.least) == (2, 0, 0, -1e6)
    # The smallest number is 1/512, less than half of which is 0, and the smallest normal one 1/64:
    # 0.01 is between them. 239 rounds to 240.
    assert (small.zeros, small.subnormals, small.saturated) == (3, 1, 3)
    assert (shown.not_finite, shown.saturated) == (0, 2)
    assert report_values._number(float(2**31 - 1)) == 2**31 - 1
    assert report_values._number(1 / 3) == 0.333333
    (turn,) = shown.turns
    assert turn.kind == "saturated value"
    assert shown.steps[turn.step].number == 1
    assert "small[0, 5] is 240" in turn.text


def test_a_thousand_instructions_take_less_than_five_megabytes():
    x = np.random.default_rng(1).standard_normal((128, 512)).astype(np.float32)
    record = halves.record(x, 500)
    assert len(record.report()) - len(record.traced.report()) < 5 << 20


def test_of_many_instructions_some_of_each_line_are_drawn_and_all_have_figures():
    x = np.ones((4, 4), np.float32)
    record = halves.record(x, 2_000)
    shown = values(record).values
    assert shown.instructions == len(shown.steps) == 4_002
    pictured = [s.number for s in shown.steps if shown.operands[s.operands[0]].picture >= 0]
    assert 2_000 <= len(pictured) == shown.pictured <= 3_000
    # All over the run, the first and the last of them as well.
    assert pictured[0] == 0
    assert pictured[-2:] == [4_000, 4_001]
    assert max(np.diff(pictured)) <= 4


def test_unusual_events_are_drawn_for_any_number_of_instructions(monkeypatch: Any):
    monkeypatch.setattr(report_values, "MOST_STEPS", 8)
    monkeypatch.setattr(report_values, "MOST_PICTURED", 4)
    x = np.ones((4, 4), np.float32)
    x[:, 2:] = 3e38
    record = halves.record(x, 30)
    shown = values(record).values
    assert len(shown.steps) <= 12
    assert shown.instructions == 62
    (turn,) = shown.turns
    first = record.first()
    assert first is not None
    assert turn.text == str(first)
    step = shown.steps[turn.step]
    assert step.number == first.instruction.number
    assert all(shown.operands[n].picture >= 0 for n in step.operands)
    infinite = sum(
        any(not np.isfinite(a).all() for a in i.results.values()) for i in record.instructions
    )
    assert shown.not_finite == infinite


def test_figures_grow_with_the_instructions_and_pictures_do_not(monkeypatch: Any):
    monkeypatch.setattr(report_values, "MOST_PICTURED", 40)
    x = np.random.default_rng(1).standard_normal((128, 64)).astype(np.float32)
    sizes = []
    for steps in (250, 1_000):
        record = halves.record(x, steps)
        made = len(json.dumps(values(record).values, default=model._plain))
        sizes.append(made)
    # A hundred bytes for each further instruction.
    assert (sizes[1] - sizes[0]) / 1_500 < 150


def test_two_recordings_are_compared():
    x = np.random.default_rng(1).standard_normal((64, 32)).astype(np.float32)
    one, other = halves.record(x, 2), halves.record(x * 2, 2)
    page = one.report(against=other)
    data = json.loads(text_of(page))
    assert data["departed"]["step"] == 0
    assert "nisa.dma_copy departs: tile[" in data["departed"]["text"]
    assert data["other"]["values"] is None
    same = json.loads(text_of(one.report(against=halves.record(x, 2))))["departed"]
    assert same["step"] == -1
    assert same["text"].endswith("results agree")
    # Without a recording of the other one there is nothing to be said.
    assert json.loads(text_of(one.report(against=other.traced)))["departed"] is None


def test_a_recording_of_another_kernel_is_refused():
    x = np.ones((4, 4), np.float32)
    one, other = halves.record(x, 1), halves.record(x, 2)
    with pytest.raises(ValueError, match="is of another kernel, or of another trace of it"):
        one.traced.report(record=other)


def test_the_place_of_the_page_is_reported_if_a_file_is_named():
    """The first argument is a file of constants."""
    x = np.ones((4, 4), np.float32)
    with pytest.raises(ValueError, match=r"Path\('page.html'\).write_text\(traced.report\(\)"):
        halves.record(x, 1).traced.report("page.html")
