"""Values in reports, against cells that are counted element by element."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.report.build import report_of
from nkijit.passes.values.cells import cells_of


def slow_cells(rows: Any, side: int) -> bytes:
    """What the cells of an array are, from the definition."""
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
def test_cells_are_means_and_show_what_is_not_finite(shape: tuple[int, int], special: list[float]):
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
    traced = record._traced
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
    picture = shown.pictures[wrote.picture]
    half = x[:, 16:]
    assert picture.least == pytest.approx(half.min(), rel=1e-5)
    assert picture.largest == pytest.approx(half.max(), rel=1e-5)
    assert picture.mean == pytest.approx(half.mean(), rel=1e-4)
    counts, _ = np.histogram(half.astype(np.float64), 24)
    assert picture.histogram == counts.tolist()


def test_a_thousand_instructions_take_less_than_five_megabytes():
    x = np.random.default_rng(1).standard_normal((128, 512)).astype(np.float32)
    record = halves.record(x, 500)
    assert len(record.report()) - len(record._traced.report()) < 5 << 20


def test_of_many_instructions_some_of_each_line_are_shown():
    x = np.ones((4, 4), np.float32)
    record = halves.record(x, 2_000)
    shown = values(record).values
    assert shown.instructions == 4_002
    assert 2_000 <= len(shown.steps) <= 4_002
