"""The timeline of lowered kernels: by hand with round constants, and its invariants."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.calls import calls_of
from support.kernel_parts import random_kernel
from support.paths import LIT
from support.random_kernels import PARTS, RandomKernel

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.declare.cost import transfer_of
from nkijit.dialects.hardware.targets import TARGETS, Target
from nkijit.dialects.hardware.words import nc_version
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.ir.text import launches_of, parse
from nkijit.passes.lower.program import (
    EngineInstruction,
    Item,
    Program,
    Queue,
    QueueLoop,
    Wait,
    What,
)
from nkijit.passes.lower.schedule import lower
from nkijit.passes.profile.simulate import SimulationError, simulate
from nkijit.passes.profile.timeline import Event, Reason, Timeline
from nkijit.traced.kernel import TracedKernel

X = np.zeros((128, 512), np.float32)
B = np.zeros((128, 512), ml_dtypes.bfloat16)
DIALECTS = LIT / "dialects"
VALID = sorted(file for name in ("ops", "valid") for file in DIALECTS.rglob(f"{name}.mlir"))
NS = 1e-3
"""The allowed difference of sums of floating-point times."""


def _round_target() -> Target:
    """NeuronCore-v3 with round numbers: a cycle is a ns, and DMA moves 256 bytes in each."""
    target = TARGETS[nc_version.gen3]
    t = target.timing
    clocks = replace(t.clocks, tensor_ghz=1.0, vector_ghz=1.0, scalar_ghz=1.0, gpsimd_ghz=1.0)
    return replace(
        target,
        other_timing=replace(
            t,
            clocks=clocks,
            vector=replace(
                t.vector, min_interval_cycles=64, overhead_cycles=0, startup_ns=100, wide_rate=1,
                memset_rate=1, memset_startup_ns=50,
            ),
            scalar=replace(t.scalar, function_startup_ns=300, table_load_ns=1000),
            tensor=replace(
                t.tensor, overhead_cycles=8, load_columns_per_cycle=4, latency_ns=100,
                latency_cycles_per_column=2, throttle=False,
            ),
            dma=replace(
                t.dma, engines=16, engine_bytes_per_ns=16, store_bytes_per_ns=16,
                hbm_bytes_per_ns=1000, descriptor_ns=100, load_ns=200, load_stretch=1,
                store_ns=100, store_stretch=1,
                load_dispatch_ns=1000, store_dispatch_ns=500, load_notify_ns=300,
                store_notify_ns=350, hwdge_load_ns=600, hwdge_store_ns=650,
            ),
            semaphores=replace(t.semaphores, latency_ns=25),
            sequencer=replace(t.sequencer, alu_ns=40, core_barrier_ns=500),
        ),
    )  # fmt: skip


ROUND = _round_target()


def run(kernel: nki.Kernel, *args: object, target: Target = ROUND, **more: Any) -> Timeline:
    """Simulate a kernel with the round constants."""
    traced = kernel.for_target(target.platform).trace(*args)
    assert not traced.diagnostics.errors, str(traced.diagnostics)
    return simulate([lower(k, target) for k in traced_kernels(traced.text())], **more)


def traced_kernels(text: str) -> list[KernelOp]:
    return list(kernels_of(parse(text)))


def times(timeline: Timeline, mnemonic: str) -> list[tuple[float, float, float]]:
    """(begin, free, end) of the instructions of a kind, in their order."""
    return [(e.begin, e.free, e.end) for e in timeline.events if e.instruction.mnemonic == mnemonic]


# ------------------------------------------------------------------ by hand


def test_load_compute_store():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        copy = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(copy, tile, engine=nisa.engine.vector)
        nisa.dma_copy(out, copy)
        return out

    timeline = run(kernel, X)
    triggers, moved = times(timeline, "DMA_TRIGGER"), times(timeline, "DMA_COPY")
    # 128 rows of 2 KiB over 16 engines: 8 x 128 ns each; alone 200 ns more, and 300 to notify.
    assert triggers[0] == (0, 600, 600)
    assert moved[0] == (1600, 2824, 3124)
    # 512 elements in as many cycles; the result is there 100 ns later.
    assert times(timeline, "TENSOR_COPY") == [(3124, 3636, 3736)]
    # A semaphore of 25 ns; then 650 to trigger, 500 until data moves, 100 + 1024, 350 to notify.
    assert triggers[1] == (3761, 4411, 4411)
    assert moved[1] == (4911, 6035, 6385)
    assert timeline.total == 6385
    path = [
        (s.event.instruction.mnemonic, s.event.reason, s.time) for s in timeline.critical_path()
    ]
    assert path == [
        ("DMA_TRIGGER", Reason.start, 1600),
        ("DMA_COPY", Reason.dispatch, 1524),
        ("TENSOR_COPY", Reason.semaphore, 637),
        ("DMA_TRIGGER", Reason.semaphore, 1150),
        ("DMA_COPY", Reason.dispatch, 1474),
    ]


def test_two_engines_and_a_semaphore():
    @nki.jit
    def kernel():
        a = nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf)
        b = nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf)
        nisa.memset(a, 0.0, engine=nisa.engine.vector)
        nisa.activation(b, nl.exp, a)
        nisa.tensor_copy(a, b, engine=nisa.engine.vector)

    timeline = run(kernel)
    # The table is loaded meanwhile, and takes longer than the memset with its semaphore.
    assert times(timeline, "MEMSET") == [(0, 256, 306)]
    assert times(timeline, "LOAD_TABLE") == [(0, 1000, 1000)]
    assert times(timeline, "ACTIVATE") == [(1000, 1256, 1556)]
    assert times(timeline, "TENSOR_COPY") == [(1581, 1837, 1937)]
    copy = timeline.events[-1]
    assert copy.reason is Reason.semaphore
    assert copy.stalled == 1581 - 256


def test_independent_neighbours_overlap_and_dependent_ones_wait_for_the_result():
    @nki.jit
    def kernel(dependent):
        tiles = [nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf) for _ in range(3)]
        nisa.memset(tiles[0], 0.0, engine=nisa.engine.vector)
        nisa.tensor_copy(tiles[1], tiles[0], engine=nisa.engine.vector)
        source = tiles[1] if dependent else tiles[0]
        nisa.tensor_copy(tiles[2], source, engine=nisa.engine.vector)

    # The second starts with the result of the first (256 + 50), and its own comes at 662.
    assert times(run(kernel, True), "TENSOR_COPY") == [(306, 562, 662), (662, 918, 1018)]
    assert times(run(kernel, False), "TENSOR_COPY") == [(306, 562, 662), (562, 818, 918)]


def test_parts_of_a_tile_are_distinguished():
    @nki.jit
    def kernel(first):
        tile = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        copy = nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf)
        nisa.memset(tile, 0.0, engine=nisa.engine.vector)
        nisa.memset(tile[:, 256:512], 1.0, engine=nisa.engine.vector)
        start = 0 if first else 256
        nisa.tensor_copy(copy, tile[:, start : start + 256], engine=nisa.engine.vector)

    # The first half has been there since 562; the second half comes 50 ns after it is written.
    assert times(run(kernel, True), "TENSOR_COPY")[0][0] == 768
    assert times(run(kernel, False), "TENSOR_COPY")[0][0] == 818


def test_ends_of_a_queue_are_in_order():
    @nki.jit
    def kernel():
        a = nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf)
        b = nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf)
        c = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
        nisa.memset(a, 0.0, engine=nisa.engine.vector)
        nisa.tensor_copy(b, a, engine=nisa.engine.vector)
        nisa.memset(c, 0.0, engine=nisa.engine.vector)

    # On its own the last one would end 64 ns after its start at 562, before the copy at 662.
    timeline = run(kernel)
    assert times(timeline, "MEMSET")[1] == (562, 626, 662)


def test_matmuls_in_a_stream_load_the_next_tile_meanwhile():
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
        tile = nl.load(a)
        product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
        for i in range(4):
            nisa.nc_matmul(product, tile[:, i * 128 : i * 128 + 128], tile)
        result = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(result, product, engine=nisa.engine.vector)
        nisa.dma_copy(out, result)
        return out

    timeline = run(kernel, B)
    loads, products = times(timeline, "LOAD_STATIONARY"), times(timeline, "MULTIPLY_MOVING")
    start = loads[0][0]
    # 128 columns at 4 a cycle; then 512 columns and 8 cycles each, without gaps.
    assert [begin - start for begin, _, _ in products] == [32, 552, 1072, 1592]
    assert [begin for begin, _, _ in loads[1:]] == [begin for begin, _, _ in products[:-1]]
    assert products[0][2] - products[0][0] == 100 + 2 * 512


def test_a_short_stream_of_matmuls_is_bound_by_its_loads():
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 64), nl.float32, buffer=nl.shared_hbm)
        weights = nl.load(a)
        product = nl.ndarray((128, 64), nl.float32, buffer=nl.psum)
        for i in range(4):
            nisa.nc_matmul(product, weights[:, i * 128 : i * 128 + 128], weights[:, 0:64])
        result = nl.ndarray((128, 64), nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(result, product, engine=nisa.engine.vector)
        nisa.dma_copy(out, result)
        return out

    slow = replace(
        ROUND,
        other_timing=replace(
            ROUND.timing, tensor=replace(ROUND.timing.tensor, load_columns_per_cycle=1)
        ),
    )
    timeline = run(kernel, B, target=slow)
    begins = [begin for begin, _, _ in times(timeline, "MULTIPLY_MOVING")]
    assert np.diff(begins).tolist() == [128, 128, 128]
    reasons = {e.reason for e in timeline.events[1:] if e.instruction.mnemonic == "MULTIPLY_MOVING"}
    assert reasons == {Reason.weights}


def products_of_float32(rows: int) -> list[tuple[float, float, float]]:
    """The times on trn2 of 20 products with as many rows of the array, and 512 columns."""

    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
        tile = nl.load(a)
        product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
        for _ in range(20):
            nisa.nc_matmul(product, tile[:rows, 0:128], tile[:rows])
        result = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(result, product, engine=nisa.engine.vector)
        nisa.dma_copy(out, result)
        return out

    return times(run(kernel, X, target=TARGETS[nc_version.gen3]), "MULTIPLY_MOVING")


def test_the_array_reaches_its_full_speed_after_3_us_of_work():
    """Neuron Explorer: about half of the utilisation at first. Probes: 860 ns at full speed."""
    products = products_of_float32(128)
    start = products[0][0]
    lasting = [free - begin for begin, free, _ in products]
    slow = [time for time in lasting if time > 1.1 * 860]
    assert slow == pytest.approx([2 * 860] * len(slow), rel=0.02)
    assert lasting[: len(slow)] == slow
    assert 3000 <= products[len(slow)][0] - start <= 3000 + 2 * 860
    assert lasting[len(slow) :] == pytest.approx([860] * (20 - len(slow)), rel=0.02)


def test_an_array_with_half_of_its_rows_in_use_stays_at_half_of_its_speed():
    """Probes: 1,707 ns with 64 rows, where 128 take 860."""
    products = products_of_float32(64)
    assert [free - begin for begin, free, _ in products] == pytest.approx([1707] * 20, rel=0.02)


def test_a_pause_limits_the_array_again():
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
        product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
        tile = nl.load(a)
        for _ in range(8):
            nisa.nc_matmul(product, tile[:, 0:128], tile)
        nisa.tensor_copy(tile, product, engine=nisa.engine.vector)
        for _ in range(6):
            nisa.tensor_scalar(tile, tile, nl.add, 1.0)
        nisa.nc_matmul(product, tile[:, 0:128], tile)
        nisa.tensor_copy(tile, product, engine=nisa.engine.vector)
        nisa.dma_copy(out, tile)
        return out

    products = times(run(kernel, X, target=TARGETS[nc_version.gen3]), "MULTIPLY_MOVING")
    before, after = ([free - begin for begin, free, _ in products[i : i + 1]] for i in (7, 8))
    assert products[8][0] - products[7][1] > 1600
    assert after[0] == pytest.approx(2 * before[0])


def test_transfers_share_the_engines_first_come_first_served():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tiles = [nl.load(x) for _ in range(3)]
        nisa.tensor_tensor(tiles[0], tiles[1], tiles[2], op=nl.add)
        nisa.dma_copy(out, tiles[0])
        return out

    timeline = run(kernel, X)
    # Triggers every 600 ns, each of the engines busy by each transfer for 8 rows of 128 + 100 ns; a
    # row costs the first one its 128 ns alone.
    loads = times(timeline, "DMA_COPY")[:3]
    assert loads == [(1600, 2824, 3124), (3424, 5248, 5548), (5248, 7072, 7372)]
    assert [e.reason for e in timeline.events if e.instruction.queue is Queue.dma_load] == [
        Reason.dispatch, Reason.dma, Reason.dma,
    ]  # fmt: skip


def test_short_rows_are_cheap_alone_and_dear_in_a_stream():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((128, 128), x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray((128, 128), x.dtype, buffer=nl.sbuf)
        for part in (slice(0, 64), slice(64, 128)):
            nisa.dma_copy(tile[:, part], x[:, part])
        nisa.dma_copy(out, tile)
        return out

    # 32 KiB: 200 + 128 ns alone. Eight descriptors per engine are 116 ns each for later ones.
    loads = times(run(kernel, X), "DMA_COPY")[:2]
    assert loads == [(1600, 1928, 2228), (2528, 3456, 3756)]


def test_a_transfer_of_few_rows_leaves_engines_to_others():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((16, 512), x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out[0:8], nl.load(x[0:8]))
        nisa.dma_copy(out[8:16], nl.load(x[8:16]))
        return out

    # 8 rows on 8 engines: the second load needs the other 8, and waits for its trigger only.
    loads = times(run(kernel, X), "DMA_COPY")[:2]
    assert [begin for begin, _, _ in loads] == [1600, 2200]


def test_hbm_limits_transfers():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, x)
        return out

    dma = replace(ROUND.timing.dma, hbm_bytes_per_ns=128)
    slow = replace(ROUND, other_timing=replace(ROUND.timing, dma=dma))
    # 256 KiB are read, and written: 4096 ns at 128 bytes in each.
    (moved,) = times(run(kernel, X, target=slow), "DMA_COPY")
    assert moved[1] - moved[0] == 4096


def test_engines_share_a_port_on_the_first_generation():
    @nki.jit
    def kernel():
        a = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        b = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        nisa.memset(a, 0.0, engine=nisa.engine.vector)
        nisa.memset(b, 0.0, engine=nisa.engine.gpsimd)

    def begins(version: nc_version) -> list[float]:
        timeline = run(kernel, target=TARGETS[version])
        return [begin for begin, _, _ in times(timeline, "MEMSET")]

    assert begins(nc_version.gen3) == [0, 0]
    first, second = begins(nc_version.gen2)
    assert first == 0
    assert second > 0


def test_starting_a_dma_needs_no_port():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        loaded = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        other = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(loaded, x, dge_mode=nisa.dge_mode.swdge)
        nisa.memset(other, 0.0, engine=nisa.engine.vector)
        nisa.tensor_tensor(loaded, loaded, other, nl.add, engine=nisa.engine.vector)
        nisa.dma_copy(out, loaded)
        return out

    timeline = run(kernel, X, target=TARGETS[nc_version.gen2])
    begins = {e.instruction.queue: e.begin for e in reversed(timeline.events)}
    assert begins[Queue.gpsimd] == begins[Queue.vector] == 0


# ------------------------------------------------------------------ loops


@nki.jit
def looped(count):
    tile = nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf)
    nisa.memset(tile, 0.0, engine=nisa.engine.vector)
    for _ in nl.dynamic_range(count):
        nisa.tensor_scalar(tile, tile, nl.add, 1.0, engine=nisa.engine.vector)
    nisa.tensor_scalar(tile, tile, nl.add, 1.0, engine=nisa.engine.vector)


def test_a_loop_runs_all_its_iterations():
    timeline = run(looped, 4)
    # Each reads the previous result: 256 + 100 ns; the branch of 40 ns is hidden.
    begins = [begin for begin, _, _ in times(timeline, "TENSOR_SCALAR")]
    assert begins == [306, 662, 1018, 1374, 1730]
    assert timeline.total == 2086
    assert timeline.loops == []


def test_omitted_iterations_of_a_long_loop_take_as_long_as_its_later_ones():
    whole = run(looped, 1000)
    short = run(looped, 1000, limit=100)
    assert len(short.events) <= 100
    (told,) = short.loops
    assert not told.assumed
    assert told.iterations == 1000
    assert told.simulated < 100
    assert short.total == pytest.approx(whole.total, abs=NS)
    assert short.total == 306 + 1001 * 356


def test_nested_loops_are_cut_short_together():
    @nki.jit
    def nested():
        tile = nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf)
        nisa.memset(tile, 0.0, engine=nisa.engine.vector)
        for _ in nl.dynamic_range(40):
            for _ in nl.dynamic_range(50):
                nisa.tensor_scalar(tile, tile, nl.add, 1.0, engine=nisa.engine.vector)

    whole, short = run(nested), run(nested, limit=300)
    assert whole.total == 306 + 2000 * 356
    assert len(short.events) <= 300
    assert short.total == pytest.approx(whole.total, abs=NS)
    assert sum(short.weight(event) for event in short.events) == pytest.approx(2001)


def test_a_loop_of_unknown_length_runs_as_often_as_assumed():
    @nki.jit
    def kernel(bound):
        tile = nl.ndarray((128, 256), nl.float32, buffer=nl.sbuf)
        limit = nl.ndarray((1, 1), nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(limit, bound)
        register = nisa.register_alloc(0)
        nisa.register_load(register, limit)
        for _ in nl.dynamic_range(0, register, 1):
            nisa.memset(tile, 0.0, engine=nisa.engine.vector)

    bound = np.zeros((1, 1), np.int32)
    for count in (0, 1, 5):
        timeline = run(kernel, bound, iterations=count)
        assert len(times(timeline, "MEMSET")) == count
        (told,) = timeline.loops
        assert (told.assumed, told.iterations) == (True, count)
    with pytest.raises(ValueError, match="a loop cannot run for -1 iterations"):
        run(kernel, bound, iterations=-1)


# ------------------------------------------------------------------ two cores


def test_cores_meet_at_a_barrier():
    @nki.jit
    def kernel(x):
        shared = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        for _ in range(3 if nl.program_id(0) else 1):
            nisa.memset(tile, 0.0, engine=nisa.engine.gpsimd)
        nisa.core_barrier(shared, (0, 1), engine=nisa.engine.gpsimd)
        nisa.memset(tile, 1.0, engine=nisa.engine.gpsimd)
        return shared

    traced = kernel.for_target("trn2")[2].trace(X)
    timeline = simulate([lower(k, ROUND) for k in traced_kernels(traced.text())])
    one, other = (e for e in timeline.events if e.instruction.mnemonic == "CORE_BARRIER")
    late = [e.end for e in timeline.events if e.instruction.mnemonic == "MEMSET" and e.core == 1]
    assert one.begin == other.begin
    assert one.begin >= late[1]
    waiting = one if one.core == 0 else other
    assert waiting.reason is Reason.meeting
    assert waiting.cause is (other if one.core == 0 else one)


def test_cores_that_wait_for_each_other_for_ever_are_an_error():
    @nki.jit
    def kernel(x):
        shared = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
        nisa.core_barrier(shared, (0, 1), engine=nisa.engine.gpsimd)
        return shared

    @nki.jit
    def alone():
        tile = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        nisa.memset(tile, 0.0, engine=nisa.engine.gpsimd)

    first = traced_kernels(kernel.for_target("trn2")[2].trace(X).text())[0]
    (second,) = traced_kernels(alone.for_target("trn2").trace().text())
    message = (
        "the queues wait for each other for ever:\n"
        "  core 0, gpsimd: CORE_BARRIER of nisa.core_barrier waits for the other core"
    )
    with pytest.raises(SimulationError) as error:
        simulate([lower(first), lower(second)])
    assert str(error.value) == message


def test_queues_that_wait_for_each_other_for_ever_are_an_error():
    @nki.jit
    def kernel():
        a = nl.ndarray((128, 64), nl.float32, buffer=nl.sbuf)
        b = nl.ndarray((128, 64), nl.float32, buffer=nl.sbuf)
        nisa.memset(a, 0.0, engine=nisa.engine.vector)
        nisa.memset(b, 0.0, engine=nisa.engine.gpsimd)

    (lowered,) = traced_kernels(kernel.for_target("trn2").trace().text())
    program = lower(lowered)
    one, other = program.instructions
    one.waits.append(Wait(other, False, None, None))
    other.waits.append(Wait(one, False, None, None))
    with pytest.raises(SimulationError, match=r"vector: MEMSET of nisa\.memset waits for gpsimd"):
        simulate([program])


# ------------------------------------------------------------------ every kernel


def test_of_an_empty_kernel():
    @nki.jit
    def kernel():
        pass

    timeline = run(kernel)
    assert (timeline.total, list(timeline.events), timeline.critical_path()) == (0, [], [])


def lowered(kernel: RandomKernel) -> list[Program]:
    space: dict[str, object] = {"nki": nki, "nisa": nisa, "nl": nl, "ncc": ncc, "np": np}
    exec(compile(kernel.source(), "random", "exec"), space)
    jitted = nki.jit(space["kernel"], platform_target=kernel.target)
    if kernel.cores == 2:
        jitted = jitted[2]
    return jitted.trace(*(spec for _, spec in kernel.arguments)).programs()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("seed", range(2))
def test_invariants_of_random_kernels(part: str, seed: int):
    programs = lowered(random_kernel(Random(seed), part))
    check(simulate(programs, iterations=3))


@pytest.mark.parametrize("file", VALID, ids=lambda file: file.parent.name)
def test_every_instruction_has_its_time(file: Path):
    """The kernels of the lit tests, which have every instruction and every argument."""
    module = parse(file.read_text(encoding="utf-8"), str(file))
    for kernels in launches_of(module).values():
        traced = TracedKernel(module, kernels=kernels)
        if not traced.diagnostics.errors:
            timeline = traced.profile().timeline
            if timeline.events:  # a loop may have none
                check(timeline)


def check(timeline: Timeline) -> None:
    """Check the properties of all timelines."""
    for core, program in enumerate(timeline.programs):
        events = [event for event in timeline.events if event.core == core]
        by_item: dict[Item, list[Event]] = defaultdict(list)
        for event in events:
            by_item[event.instruction].append(event)
        assert set(by_item) >= {i for i in program.instructions if i.loop is None}
        for queue in program.queues:
            own = [event for event in events if event.instruction.queue is queue]
            check_queue(queue, own)
            check_waits(program, queue, by_item)
        check_bounds(timeline, program, events)
    steps = timeline.critical_path()
    assert steps[0].begin == 0
    assert all(a.end == b.begin for a, b in pairwise(steps))
    assert sum(step.time for step in steps) == pytest.approx(timeline.simulated, abs=NS)


def check_queue(queue: Queue, events: list[Event]) -> None:
    """Begins and ends are in order, and an engine does one thing at a time."""
    for one, other in pairwise(events):
        assert other.begin >= one.begin
        assert other.end >= one.end
    if not queue.is_ring:
        ports: dict[bool, Event] = {}
        for event in events:
            # The array multiplies and loads at the same time.
            port = event.instruction.mnemonic == "LOAD_STATIONARY"
            if port in ports:
                assert event.begin >= ports[port].free - NS
            ports[port] = event
    for event in events:
        if event.instruction.what is What.transfer:
            trigger = event.instruction.trigger
            assert trigger is not None
        assert event.begin <= event.free
        assert event.cause is None or event.cause.begin <= event.begin


def check_waits(program: Program, queue: Queue, by_item: dict[Item, list[Event]]) -> None:
    """Check that instructions begin after the ends of their waits, plus the semaphore's latency."""
    semaphore = program.target.timing.semaphores.latency_ns
    for item in program.items(queue):
        if not isinstance(item, EngineInstruction):
            continue
        for wait in item.waits:
            assert wait.before.loop is item.loop
            latency = 0 if wait.queue.is_ring else semaphore
            if isinstance(wait.before, QueueLoop):
                continue
            ended = by_item[wait.before]
            for number, event in enumerate(by_item[item]):
                before = number - 1 if wait.carried else number
                is_first = item.loop is None or item.loop.parent is not None
                if before >= 0 and not (wait.carried and is_first):
                    assert event.begin >= ended[before].end + latency - NS


def check_bounds(timeline: Timeline, program: Program, events: list[Event]) -> None:
    """No run is shorter than its busiest queue, or than its bytes take."""
    busy: dict[tuple[Queue, bool], float] = defaultdict(float)
    for event in events:
        instruction = event.instruction
        if not instruction.queue.is_ring:
            loads = instruction.mnemonic == "LOAD_STATIONARY"
            busy[instruction.queue, loads] += event.free - event.begin
    assert timeline.simulated >= max(busy.values(), default=0) - NS
    dma = program.target.timing.dma
    transfers = [
        transfer_of(event.instruction.op, program.target)
        for event in events
        if event.instruction.what is What.transfer
    ]
    size = sum(transfer.bytes for transfer in transfers if transfer.engines)
    assert timeline.simulated >= size / (dma.engines * dma.engine_bytes_per_ns) - NS


def test_work_is_linear_in_the_number_of_instructions():
    def program(count: int) -> Program:
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
            for _ in range(count):
                tile = nl.load(x)
                nisa.tensor_scalar(tile, tile, nl.add, 1.0)
                nisa.dma_copy(out, tile)
            return out

        (lowered,) = kernel.trace(X).programs()
        return lowered

    small, large = program(200), program(1600)
    # Eight times the size; a quadratic algorithm would take 64 times as long.
    assert calls_of(lambda: simulate([large])) < 12 * calls_of(lambda: simulate([small]))


def test_progress_is_reported():
    told: list[float] = []
    run(looped, 20000, progress=told.append)
    assert len(told) == 2
    assert 0 < told[0] < told[1] <= 1
