"""The benchmark's measurements are fair: both sides of each ratio do the same work."""

from __future__ import annotations

import cProfile
import importlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from support.backends import natively
from support.paths import ROOT

from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.dialects.nki.views import ViewOp, base_of
from nkijit.dialects.tiles import is_tile


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of `benchmarks`, by name."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"benchmarks.{name}")


KERNELS = ("reused", "blocks", "masked", "on_device")


def test_hand_written_numpy_computes_the_same(bench):
    computing = bench("computing")
    rng = np.random.default_rng(1)
    shape = (computing.P, computing.F)
    x, y = (rng.standard_normal(shape, dtype=np.float32) for _ in range(2))
    assert np.array_equal(computing.tiles(x, y), computing.by_hand(x, y))


@pytest.mark.parametrize("name", KERNELS)
def test_bare_creation_makes_the_same_operations(bench, name):
    traced = getattr(bench("kernels"), name)(100).fresh()
    made = bench("cold").bare_creation(traced.module)()
    (kernel,) = kernels_of(traced.module)
    assert [op.name for op in made.ops] == [op.name for op in kernel.operations]
    assert not traced.diagnostics.errors


def test_all_kernels_are_measured_and_held_to_a_limit(bench):
    assert [make.__name__ for make in bench("kernels").KERNELS] == list(KERNELS)
    assert set(bench("cold").LIMITS) == set(KERNELS)


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_has_the_size_that_it_says(bench, name):
    traced = getattr(bench("kernels"), name)(600).fresh()
    (kernel,) = kernels_of(traced.module)
    assert abs(sum(map(is_instruction, kernel.operations)) - 600) <= 30


def test_blocks_have_tiles_and_views_of_their_own(bench):
    (kernel,) = kernels_of(bench("kernels").blocks(600).fresh().module)
    used: dict[Any, set[int]] = {}
    for number, op in enumerate(filter(is_instruction, kernel.operations)):
        for value in op.operands:
            used.setdefault(base_of(value), set()).add(number)
    views = [op for op in kernel.operations if isinstance(op, ViewOp)]
    on_chip = [b for b in used if is_tile(b) and b.owner is not kernel.body.block]
    assert len(views) >= 20 * 10
    assert len(on_chip) >= 20 * 20
    assert all(
        max(numbers) - min(numbers) < 40 for base, numbers in used.items() if base in on_chip
    )


def test_warm_kernels_equal_the_handwritten_code(bench):
    warm = bench("warm")
    for case in warm.cases():
        warm.check(case)
        with natively():
            warm.check(case)


PRODUCTION = ("stacked", "on_two_cores", "in_device_loops")


@pytest.mark.parametrize("name", PRODUCTION)
def test_production_kernels_have_about_the_requested_size(bench, name):
    measured = getattr(bench("production.layers"), name)(5_000)
    traced = measured.fresh()
    assert not traced.diagnostics.errors
    assert abs(len(bench("cold").operations(traced.module)) - 5_000) <= 800


@pytest.mark.parametrize("name", PRODUCTION)
def test_production_kernels_equal_numpy(bench, name):
    measured = getattr(bench("production.layers"), name)(900)
    x, k, v, weights, rows = measured.inputs()
    stack = bench("production.stack")
    blocks = []
    for at in range(0, len(x), stack.ROWS):
        block = slice(at, at + stack.ROWS)
        tile = x[block]
        scale = 1 / np.sqrt(np.square(tile).mean(axis=1, keepdims=True) + 1e-6)
        queries, keys = tile * scale * weights, k[rows[block, 0]]
        attended = np.empty_like(tile)
        for start in range(0, stack.COLUMNS, stack.HEAD):
            head = slice(start, start + stack.HEAD)
            scores = queries[:, head] @ keys[:, head].T
            exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
            share = exponentials / exponentials.sum(axis=1, keepdims=True)
            attended[:, head] = share @ v[block, head]
        blocks.append(attended / (1 + np.exp(-attended)) + tile)
    if name == "on_two_cores":  # each core adds a block of the other core to its own
        blocks = [
            one + two
            for first in range(0, len(blocks), 2)
            for one, two in [blocks[first : first + 2]] * 2
        ]
    found = measured.fresh().run(x, k, v, weights, rows)
    assert np.allclose(found, np.concatenate(blocks), atol=0.05)  # bfloat16 has 8 bits


def test_masked_normalises_each_row(bench):
    measured = bench("kernels").masked(24)
    (x,) = measured.inputs()
    scale = 1 / np.sqrt(np.square(x).sum(axis=1, keepdims=True))
    assert np.allclose(measured.fresh().run(x), x * scale, rtol=1e-5)


@pytest.mark.parametrize("name", KERNELS)
def test_a_first_call_is_all_of_its_steps(bench, name):
    cold = bench("cold")
    ratios = cold.first_call(getattr(bench("kernels"), name)(60), 1)
    assert list(ratios) == list(cold.STEPS)
    *steps, together = [ratio.ours for ratio in ratios.values()]
    assert together == pytest.approx(sum(steps))


@pytest.mark.parametrize("name", KERNELS)
def test_tracing_grows_with_the_instructions(bench, name):
    """By calls of functions, which are the same each time."""
    make, calls = getattr(bench("kernels"), name), []
    for instructions in (240, 240, 960):  # the first one fills the caches
        profile = cProfile.Profile()
        measured = make(instructions)
        profile.runcall(measured.fresh)
        calls.append(sum(entry.callcount for entry in profile.getstats()))
    assert calls[2] < 4.2 * calls[1]


@pytest.mark.posix
def test_growth_prints_a_number_for_each_step_and_three_of_memory(bench):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.growth", "blocks", "100"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert len([float(word) for word in done.stdout.split()]) == len(bench("growth").STEPS) + 3


@pytest.mark.parametrize("measured", ["verification", "lowering"])
def test_work_after_a_trace_is_timed_against_bare_creation(bench, measured):
    found = getattr(bench("following"), measured)(100, 1)
    assert found.ours > 0
    assert found.value == pytest.approx(found.ours / found.other)


def test_every_pass_is_timed(bench):
    following = bench("following")
    (kernel,) = kernels_of(bench("kernels").blocks(100).fresh().module)
    assert set(following.by_pass(kernel, 100)) == {p.name for p in following.WHOLE}


def test_every_narrow_type_is_timed_both_ways(bench):
    computing = bench("computing")
    narrow = {n for n, k in computing.STORAGE.items() if k.itemsize < 4 and "float" in n}
    assert set(computing.CASTS) == {n for n in narrow if not n.endswith("_x4")}
    for ratio in computing.cast("float16", 1):
        assert ratio.ours > 0
        assert ratio.value == pytest.approx(ratio.ours / ratio.other)


def test_each_instruction_on_tiny_tiles_can_be_measured(bench):
    tiny = bench("tiny")
    for name in tiny.INSTRUCTIONS:
        assert tiny.measured(name, "numpy", 1).ours > 0
