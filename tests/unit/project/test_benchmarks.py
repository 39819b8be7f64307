"""The benchmark measures what it says: both sides of each ratio do the same work."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from support.paths import ROOT

RUN = ROOT / "benchmarks" / "run.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_run", RUN)
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_run"] = module  # the kernels' source is looked up there
    spec.loader.exec_module(module)
    return module


def test_hand_written_numpy_computes_the_same(bench):
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal((bench.P, bench.F), dtype=np.float32) for _ in range(2))
    assert np.array_equal(bench.tiles(x, y), bench.by_hand(x, y))


def test_bare_creation_makes_the_same_operations(bench):
    traced = bench.fresh(bench.unrolled(100))
    (kernel,) = traced.module.body.block.ops
    made = bench.bare_creation(traced.module)()
    assert [op.name for op in made.ops] == [op.name for op in kernel.body.block.ops]
    assert not traced.diagnostics.errors


def test_growth_prints_six_numbers():
    done = subprocess.run(
        [sys.executable, str(RUN), "--growth-of", "100"], capture_output=True, text=True, check=True
    )
    assert len([float(word) for word in done.stdout.split()]) == 6


@pytest.mark.slow
@pytest.mark.parametrize("instructions", [1_000, 10_000])
@pytest.mark.parametrize("measured", ["verification", "lowering"])
def test_what_follows_a_trace_takes_a_few_times_as_long_at_most(bench, measured, instructions):
    """The best of some attempts: what else the machine does can only add to a ratio of both.

    `make bench` measures larger kernels: those need the memory of the machine for themselves.
    """
    limit = {"verification": bench.PASSES_LIMIT, "lowering": bench.LOWERING_LIMIT}[measured]
    ratios = []
    for _ in range(5):
        *_, ratio = getattr(bench, measured)(instructions, 1)
        ratios.append(ratio)
        if ratio <= limit:
            return
    pytest.fail(f"{measured} takes {min(ratios):.2f} times as long as tracing")


def test_every_pass_is_timed(bench):
    assert set(bench.by_pass(100)) == {p.name for p in bench.WHOLE}


def test_every_narrow_type_is_timed_both_ways(bench):
    narrow = {n for n, kept in bench.STORAGE.items() if kept.itemsize < 4 and "float" in n}
    assert set(bench.CASTS) == {n for n in narrow if not n.endswith("_x4")}
    for numbers in bench.cast("float16", 1):
        ours, copy, ratio = numbers
        assert ours > 0
        assert ratio == pytest.approx(ours / copy)
