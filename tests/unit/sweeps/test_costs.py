"""`nkijit.cost`: the main figures of a profile; errors of kernels are results."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def tiled(x: Any, width: int = 128, mode: str = "copy") -> Any:
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[1] // width):
        columns = nl.ds(i * width, width)
        tile = nl.load(x[:, columns])
        if mode == "negate":
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=-1.0)
        nl.store(out[:, columns], tile)
    return out


@nki.jit
def raising(x: Any, how: str) -> Any:
    if how == "exit":
        sys.exit(3)
    if how == "view":
        return x[0:1000]
    raise KeyError(how)


@pytest.mark.parametrize("schedule", ["author", "compiler"])
def test_figures_are_those_of_the_profile(schedule: str) -> None:
    found = nki.cost(tiled, "128x512:float32", 256, mode="negate", schedule=schedule)
    spec = nki.TensorSpec((128, 512), "float32")
    profile = tiled.trace(spec, 256, "negate").profile(schedule=schedule)
    assert found.time is not None
    assert found.time.ns == profile.time
    assert found.us == profile.time / 1000
    assert (found.time.low, found.time.high) == (profile.range.low, profile.range.high)
    assert found.time.low <= found.time.ns <= found.time.high
    assert found.bound == profile.bound
    assert found.instructions == profile.instructions
    assert found.sbuf is not None
    assert found.sbuf.bytes == profile.memory[0].sbuf
    assert found.lines[0].share == max(use.share for use in profile.lines)
    assert not found.errors
    assert not found.failure


def test_arrays_specs_texts_and_traced_kernels_are_the_same() -> None:
    spec = nki.TensorSpec((128, 512), "float32")
    costs = [
        nki.cost(tiled, np.zeros((128, 512), np.float32)),
        nki.cost(tiled, x=spec),
        nki.cost(tiled, "128x512:float32"),
        nki.cost(tiled.trace(spec)),
    ]
    assert costs == [costs[0]] * 4


def test_errors_are_findings() -> None:
    found = nki.cost(tiled, "256x512:float32")
    assert found.time is None
    assert found.us is None
    assert found.errors == 1
    (finding,) = found.findings
    assert (finding.rule, finding.severity) == ("alloc-partitions", "error")
    assert finding.place is not None
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert "tile = nl.load" in lines[finding.place.line - 1]
    assert "no time, 1 error\n" in str(found)
    assert "alloc-partitions" in str(found)


def test_a_view_that_cannot_be_is_a_finding() -> None:
    found = nki.cost(raising, "128x512:float32", "view")
    assert [finding.rule for finding in found.findings] == ["view"]


def test_exceptions_of_the_kernel_are_findings() -> None:
    found = nki.cost(raising, "128x512:float32", "boom")
    assert found.time is None
    (finding,) = found.findings
    assert (finding.rule, finding.subject, finding.message) == (
        "python-error",
        "KeyError",
        "'boom'",
    )
    assert "KeyError: 'boom'" in str(found)


def test_an_exit_of_the_kernel_is_a_failure() -> None:
    found = nki.cost(raising, "128x512:float32", "exit")
    assert found.time is None
    assert "SystemExit" in found.failure
    assert "test_costs.py" in found.failure
    assert "SystemExit" in str(found)


def test_too_much_memory_is_a_finding() -> None:
    found = nki.cost(tiled, "128x100000:float32", 100000)
    assert found.errors
    assert found.time is None


def test_wrong_calls_are_raised() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'widht'"):
        nki.cost(tiled, "128x512:float32", widht=3)
    with pytest.raises(ValueError, match="floot32"):
        nki.cost(tiled, "128x512:floot32")
    with pytest.raises(ValueError, match="soon"):
        nki.cost(tiled, "128x512:float32", schedule="soon")
    with pytest.raises(TypeError, match="expected a kernel"):
        nki.cost(len, "128x512:float32")
    with pytest.raises(TypeError, match="takes no arguments"):
        nki.cost(tiled.trace(nki.TensorSpec((128, 512), "float32")), 3)


def test_json_has_everything_and_no_other_numbers() -> None:
    found = nki.cost(tiled, "128x512:float32")
    document = json.loads(found.to_json())
    assert document == found.as_dict()
    assert found.time is not None
    assert document["time"]["ns"] == pytest.approx(found.time.ns)
    assert document["failure"] == ""
    assert document["lines"][0]["place"].startswith(("tests/", "/"))
    broken = json.loads(nki.cost(tiled, "256x512:float32").to_json())
    assert broken["time"] is None
    assert broken["findings"][0]["rule"] == "alloc-partitions"


def test_html_escapes() -> None:
    html = nki.cost(raising, "128x512:float32", "<script>")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
