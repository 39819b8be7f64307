"""Profiles: sums, utilisation, roofline, text, JSON and Perfetto's trace."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.paths import TIMINGS

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.hardware.targets import TARGETS, with_timing
from nkijit.dialects.hardware.timing import TimingError
from nkijit.dialects.hardware.words import nc_version
from nkijit.passes.profile.compare import counts_text, ir_text, profiles_text, queues_text
from nkijit.passes.profile.extremes import times_at_ends
from nkijit.passes.profile.profile import Profile, profile_of
from nkijit.passes.profile.simulate import simulate
from nkijit.passes.profile.spread import BASES
from nkijit.passes.profile.units import bytes_text, flops_text, percent, time_text

X = np.zeros((128, 2048), np.float32)
B = np.zeros((128, 2048), ml_dtypes.bfloat16)


@nki.jit
def pipeline(x):
    """Loads, two engines, and stores."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for i in range(4):
        part = slice(512 * i, 512 * i + 512)
        tile = nl.load(x[:, part])
        raised = nl.ndarray((128, 512), x.dtype, buffer=nl.sbuf)
        nisa.activation(raised, nl.exp, tile)
        nisa.tensor_scalar(raised, raised, nl.add, 1.0, engine=nisa.engine.vector)
        nisa.dma_copy(out[:, part], raised)
    return out


@nki.jit
def products(a, repeats):
    """Matmuls of one tile with itself, and nothing that keeps the Tensor Engine waiting."""
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(a)
    product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    for i in range(repeats):
        nisa.nc_matmul(product, tile[:, 0:128], tile[:, 0:512], accumulate=i > 0)
    result = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(result, product)
    nisa.dma_copy(out, result)
    return out


def profile(kernel: nki.Kernel, *args: object, target: str = "trn2", **more: Any) -> Profile:
    return kernel.for_target(target).trace(*args).profile(**more)


# ------------------------------------------------------------------ sums


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_time_of_queues_sums_up(target: str):
    found = profile(pipeline, X, target=target)
    for use in found.queues:
        assert use.busy + use.waiting + use.idle == pytest.approx(found.time)
        assert sum(wait.time for wait in use.waits) == pytest.approx(use.waiting)
    counts = {use.queue: use.instructions for use in found.queues}
    # A table is loaded once.
    assert counts == {"vector": 4, "scalar": 5, "sync": 8, "dma_load": 4, "dma_store": 4}
    assert found.instructions == 25
    assert sum(line.share for line in found.lines) == pytest.approx(1)
    assert sum(line.path for line in found.lines) == pytest.approx(found.time)
    assert sum(line.instructions for line in found.lines) == 25
    assert found.time <= sum(use.busy for use in found.queues) + sum(
        stall.time for stall in found.stalls
    )


def test_bytes_by_direction():
    found = profile(pipeline, X)
    whole = 128 * 2048 * 4
    assert [(m.direction, m.transfers, m.bytes, m.descriptors) for m in found.moved] == [
        ("HBM to SBUF", 4, whole, 4 * 128),
        ("SBUF to HBM", 4, whole, 4 * 128),
    ]
    assert found.roofline.hbm_bytes == 2 * whole
    assert found.roofline.bound == "none"
    assert found.mfu == 0
    rate = 16 * TARGETS[nc_version.gen3].timing.dma.engine_bytes_per_ns
    assert found.dma_utilization == pytest.approx(2 * whole / rate / found.time)


def test_utilisation_of_the_tensor_engine():
    repeats = 2000  # so that the first 3 us, at half of the speed, do not count
    found = profile(products, B, repeats)
    flops = 2.0 * 128 * 128 * 512 * repeats
    peak = 2 * 128 * 128 * 2.4e9
    assert found.roofline.flops == flops
    assert found.roofline.peak == pytest.approx(peak)
    assert found.mfu == pytest.approx(flops / (found.time * 1e-9) / peak)
    # 512 of 522 cycles, and the load of the stationary tile.
    assert found.mfu_active == pytest.approx(512 / 522, rel=0.01)
    assert found.bound == "tensor"
    # 512 KiB of bfloat16 come in, 256 KiB of float32 go out.
    assert found.roofline.intensity == pytest.approx(flops / (768 * 1024))
    assert found.roofline.bound == "compute"
    assert found.roofline.attainable == pytest.approx(peak)


def test_few_products_are_bound_by_memory():
    found = profile(products, B, 1)
    hbm = TARGETS[nc_version.gen3].timing.dma.hbm_bytes_per_ns * 1e9
    roof = found.roofline
    assert roof.bound == "memory"
    assert roof.attainable == pytest.approx(hbm * roof.flops / roof.hbm_bytes)
    assert found.bound == "latency"


def test_float32_has_a_peak_of_its_own():
    narrow, wide = profile(products, B, 4).roofline, profile(products, X, 4).roofline
    assert narrow.flops == wide.flops
    assert narrow.peak == pytest.approx(4 * wide.peak)


def test_waits_name_their_signals():
    found = profile(pipeline, X)
    first = pipeline.__wrapped__.__code__.co_firstlineno
    stall = next(s for s in found.stalls if s.queue == "scalar" and s.reason == "semaphore")
    assert stall.place is not None
    assert stall.before_place is not None
    assert (stall.place.line, stall.before_place.line) == (first + 8, first + 6)
    assert (stall.before, stall.tile, stall.kind) == ("dma_load", "tile", "true")
    assert [s.time for s in found.stalls] == sorted((s.time for s in found.stalls), reverse=True)


def test_a_loop_that_is_cut_short_counts_all_its_iterations():
    @nki.jit
    def looped(count):
        tile = nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf)
        for _ in nl.dynamic_range(count):
            nisa.memset(tile, 0.0, engine=nisa.engine.vector)

    programs = looped.for_target("trn2").trace(100_000).programs()
    found = profile_of(simulate(programs, limit=1000))
    assert found.instructions == 100_000
    (vector,) = found.queues
    assert vector.busy == pytest.approx(100_000 * (256 / 1.25 + 60) / 0.96, rel=1e-3)
    assert str(found).endswith(
        " runs for 100000 iterations; 781 are simulated, the others taken to be like the later "
        "ones: NKIJIT_SIMULATION_LIMIT is 1000\n"
    )


# ------------------------------------------------------------------ constants


def test_times_at_the_ends_of_constants(tmp_path: Path):
    """All uncertain constants at one end, as if a file had them there."""
    found = profile(pipeline, X)
    text = (TIMINGS / "trn2.toml").read_text(encoding="utf-8")
    ends = dict(zip(("fast", "slow"), times_at_ends(found.timeline), strict=True))
    for end, time in ends.items():
        path = tmp_path / f"{end}.toml"
        path.write_text(re.sub(r"\{ .*" + end + r" = ([\d.]+).*\}", r"\1", text))
        timeline = simulate(
            [
                replace(p, target=with_timing(p.target, path))
                for p in pipeline.for_target("trn2").trace(X).programs()
            ]
        )
        assert timeline.total == pytest.approx(time)
    assert ends["fast"] < found.time < ends["slow"]


def test_the_range_of_a_prediction_rests_on_published_times():
    found = profile(products, B, 1)
    ends, basis = found.range, BASES["latency-bound"]
    assert found.bound == "latency"
    assert (ends.basis, ends.spread, ends.published) == basis
    assert ends.low == pytest.approx(found.time * (1 - basis.spread))
    assert ends.high == pytest.approx(found.time * (1 + basis.spread))
    assert ends.launch_low < found.launch < ends.launch_high
    document = json.loads(found.to_json())["range"]
    assert document["low"] == pytest.approx(ends.low)
    assert document["basis"] == "latency-bound"
    assert f"the range is ±{basis.spread:.0%}" in str(found)
    assert profile(products, B, 2000).range.basis == "tensor-bound"


def test_constants_of_ones_own(tmp_path: Path):
    text = (TIMINGS / "trn2.toml").read_text(encoding="utf-8")
    changed = tmp_path / "slow.toml"
    changed.write_text(
        re.sub(r"(engine|store)_bytes_per_ns = .*", r"\1_bytes_per_ns = 2.3", text, count=2)
    )
    slow = profile(pipeline, X, constants=changed)
    assert slow.time > 5 * profile(pipeline, X).time
    changed.write_text("[clocks]\n")
    with pytest.raises(TimingError, match=r"slow\.toml"):
        profile(pipeline, X, constants=changed)


# ------------------------------------------------------------------ JSON, traces


def test_json_has_everything_but_the_timeline():
    found = profile(pipeline, X)
    data = json.loads(found.to_json())
    assert data["time"] == pytest.approx(found.time)
    assert data["queues"][0]["waits"][0]["reason"] == "scalar"
    assert data["lines"][0]["place"].startswith("tests/unit/passes/profile/test_profile.py:")
    assert "timeline" not in data


@pytest.mark.parametrize("cores", [1, 2])
def test_perfetto_trace(cores: int):
    kernel = pipeline if cores == 1 else pipeline[2]
    found = profile(kernel, X)
    trace = json.loads(found.to_perfetto())
    events = trace["traceEvents"]
    by_phase: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        by_phase[event["ph"]].append(event)
        assert event["pid"] in range(cores)
        assert event["ph"] == "M" or event["ts"] >= 0
    assert set(by_phase) == {"M", "X", "s", "f", "C"}
    check_threads(by_phase)
    check_flows(by_phase)
    check_counters(by_phase["C"])
    assert len(by_phase["X"]) == found.instructions
    assert max(e["ts"] + e["dur"] for e in by_phase["X"]) <= found.time / 1000 + 1e-6


def check_threads(by_phase: dict[str, list[dict[str, Any]]]) -> None:
    names = {(e["pid"], e["tid"]) for e in by_phase["M"] if e["name"] == "thread_name"}
    rows: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for event in by_phase["X"]:
        rows[event["pid"], event["tid"]].append(event)
        assert event["dur"] >= 0
        assert event["args"]["source"].startswith("tests/unit/passes/profile/test_profile.py:")
    assert set(rows) == names
    # Viewers would nest overlapping events on a thread.
    for row in rows.values():
        row.sort(key=lambda e: e["ts"])
        assert all(a["ts"] + a["dur"] <= b["ts"] + 1e-6 for a, b in pairwise(row))


def check_flows(by_phase: dict[str, list[dict[str, Any]]]) -> None:
    begins = {e["id"]: e for e in by_phase["s"]}
    ends = {e["id"]: e for e in by_phase["f"]}
    assert len(begins) == len(by_phase["s"]) == len(ends) == len(by_phase["f"]) > 0
    assert set(begins) == set(ends)
    starts = {(e["pid"], e["tid"], e["ts"]) for e in by_phase["X"]}
    for number, begin in begins.items():
        assert begin["ts"] <= ends[number]["ts"]
        for event in (begin, ends[number]):
            assert (event["pid"], event["tid"], event["ts"]) in starts


def check_counters(counters: list[dict[str, Any]]) -> None:
    assert {e["name"] for e in counters} == {"SBUF bytes", "DMA GB/s"}
    sbuf = [e["args"]["bytes"] for e in counters if e["name"] == "SBUF bytes" and e["pid"] == 0]
    assert sbuf[-1] == 0
    # Two tiles of 2 KiB for each of four parts.
    assert 4096 <= max(sbuf) <= 16384
    assert all(e["args"]["GB/s"] >= 0 for e in counters if e["name"] == "DMA GB/s")


# ------------------------------------------------------------------ text


def test_text_of_an_empty_kernel():
    @nki.jit
    def kernel():
        pass

    assert str(profile(kernel)) == (
        "schedule compiler: order and tiles after the compiler's passes\n"
        "profile of @kernel for trn2: 0 ns, 0 instructions\n"
        "  predicted, not measured; starting and ending a kernel takes about 9.4 us more\n"
        "  author 0 ns, compiled 0 ns, bound 0 ns\n"
        "  0.0% of SBUF and 0.0% of PSUM in use at the peak\n"
        "\n"
        "bound by latency\n"
    )


def test_tables_are_as_wide_as_their_rows():
    lines = str(profile(pipeline, X)).splitlines()
    table = [line for line in lines if "#" in line or "-----" in line]
    assert len({line.index(" ", line.rindex("%")) for line in table[:-1]}) == 1


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999.4, "999 ns"),
        (999.96, "1 us"),
        (1000, "1 us"),
        (12_345, "12.35 us"),
        (1_234_567, "1.235 ms"),
        (2e9, "2 s"),
        (5e12, "5000 s"),
    ],
)
def test_times_as_text(ns: float, text: str):
    assert time_text(ns) == text


def test_figures_as_text():
    assert [bytes_text(n) for n in (0, 1023, 1024, 1536, 2**21, 3 * 2**30)] == [
        "0 B", "1023 B", "1 KiB", "1.5 KiB", "2 MiB", "3 GiB",
    ]  # fmt: skip
    assert flops_text(78.64e12) == "78.6 TFLOPS"
    assert percent(0.1234) == "12.3%"


# ------------------------------------------------------------------ comparisons


def test_a_kernel_does_not_differ_from_itself():
    traced = pipeline.for_target("trn2").trace(X)
    programs = traced.programs()
    rows = counts_text(programs, programs, ("a", "b")).splitlines()[2:]
    assert rows
    assert all(row.endswith("same") for row in rows)
    assert queues_text(programs, programs, ("a", "b")) == "the queues run the same instructions\n"
    assert ir_text(traced.text(), traced.text(), ("a", "b")) == "the IR is the same\n"
    found = profile(pipeline, X)
    text = profiles_text(found, found, ("a", "b"))
    assert "critical path" not in text
    rows = text.splitlines()[2:-1]
    assert all(row.endswith("same") for row in rows)


def test_addresses_and_numbers_are_no_difference():
    @nki.jit
    def kernel(x, first):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf, address=(0, 0 if first else 8192))
        nisa.dma_copy(tile, x)
        nisa.dma_copy(out, tile)
        return out

    one, other = (kernel.for_target("trn2").trace(X, first).programs() for first in (True, False))
    assert queues_text(one, other, ("a", "b")) == "the queues run the same instructions\n"


def test_numbers_of_names_in_ir_are_no_difference():
    one = "%x = a\n%x_1 = view %x\n%y.2 = b %x_1\n%z = c"
    other = "%x = a\n%x_1 = view %y\n%x_2 = view %x\n%y.2_3 = b %x_2\n%z = d %y.2_3"
    assert ir_text(one, other, ("a", "b")) == (
        "--- a\n+++ b\n@@ -1,4 +1,5 @@\n %x = a\n+%x_1 = view %y\n %x_2 = view %x\n"
        " %y.2_3 = b %x_2\n-%z = c\n+%z = d %y.2_3\n"
    )
