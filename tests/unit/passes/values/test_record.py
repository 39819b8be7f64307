"""Recordings: recomputed values equal those of the run bit by bit, within the budget."""

import tracemalloc
from random import Random

import numpy as np
import pytest
from support.kernel_parts import PARTS, random_kernel
from support.lowered_runs import numbers
from support.random_kernels import TARGETS
from support.sequenced_kernels import sequenced_kernel, wrong_with
from support.tangled_kernels import tangled_kernel

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.values.items import RecordError


class Told:
    """A listener that records the values that every operation has written."""

    def __init__(self):
        self.written = []

    def did_run(self, op, written):
        self.written.append((op, [np.array(array) for array in written]))


def bits(array):
    return np.ascontiguousarray(array).view(np.uint8).tobytes()


def check(traced, inputs, budget, random):
    """Compare a recording with the values of a listener, in a random order of requests."""
    told = Told()
    traced.run(*[np.copy(each) for each in inputs], listener=told)
    record = traced.record(*inputs, budget=budget)
    assert [i.operation for i in record.instructions] == [op for op, _ in told.written]
    asked = [random.randrange(len(record)) for _ in range(40)]
    for number in [*asked, *range(len(record)), *reversed(range(len(record)))]:
        results = list(record.instructions[number].results.values())
        expected = told.written[number][1]
        assert [bits(a) for a in results] == [bits(e) for e in expected], record.instructions[
            number
        ]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("length", "depth"), [(24, 0), (6, 1), (7, 2)])
@pytest.mark.parametrize("budget", [1, 200_000, 1 << 28])
def test_values_of_tangled_kernels_are_those_of_a_run(target, length, depth, budget):
    for seed in range(3):
        traced, inputs = tangled_kernel(seed, target, length, depth)
        check(traced, inputs, budget, Random(seed))


@pytest.mark.parametrize("part", PARTS)
def test_values_of_random_kernels_are_those_of_a_run(part):
    for seed in range(2):
        kernel = random_kernel(Random(f"{part} {seed}"), part)
        if kernel.cores == 2:
            continue
        inputs = [numbers(spec, seed) for _, spec in kernel.arguments]
        if sum(array.size for array in inputs) <= 1 << 20:
            traced = kernel.trace()
            check(traced, inputs, 1 << 20, Random(seed))


@nki.jit
def chain(x, steps):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    for i in range(steps):
        made = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=made, data=tile, op0=nl.add, operand0=float(i))
        tile = made
    nisa.dma_copy(dst=out, src=tile)
    return out


@pytest.mark.slow
def test_ten_thousand_instructions_of_a_megabyte_are_recorded_within_the_budget():
    """All values together are 10 GB."""
    x = np.ones((128, 2048), np.float32)
    traced = chain.trace(x, 10_000)
    traced.run(x)  # allocates the memory of a run beforehand
    budget = 256 << 20
    tracemalloc.start()
    try:
        traced.record(x, budget=1)
        bare = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        record = traced.record(x, budget=budget)
        for number in (9_000, 5, 5_000, 4_999, 4_998, 10_000):
            result = record.instructions[number].result
            assert (result == 1 + sum(range(number))).all() or number > 2_000
        assert tracemalloc.get_traced_memory()[1] - bare < budget
    finally:
        tracemalloc.stop()


def test_the_budget_bounds_the_cache_and_a_larger_one_caches_more():
    x = np.ones((128, 512), np.float32)  # a quarter of a megabyte
    traced = chain.trace(x, 400)
    tracemalloc.start()
    try:
        traced.record(x, budget=1)  # also creates objects that later recordings reuse
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        traced.record(x, budget=1)
        bare = tracemalloc.get_traced_memory()[1] - before
        for budget in (4 << 20, 16 << 20):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            record = traced.record(x, budget=budget)
            for number in (350, 17, 200, 199, 198, 401):
                value = np.float32(1)
                for i in range(min(number, 400)):
                    value += np.float32(i)
                assert (record.instructions[number].result == value).all()
            used = tracemalloc.get_traced_memory()[1] - before
            assert used - bare < budget
            del record
    finally:
        tracemalloc.stop()


@nki.jit
def nested(x):
    out = nl.ndarray((4, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=total, src=x)
    for i in nl.dynamic_range(0, 4):
        for k in range(2):
            nisa.tensor_scalar(dst=total, data=total, op0=nl.multiply, operand0=2.0 + k)
        nisa.dma_copy(dst=out[i], src=total)
    return out


def test_loops_on_the_device_have_an_instance_for_each_iteration():
    x = np.full((4, 8), 1.0, np.float32)
    record = nested.record(x)
    assert [tile.loops for tile in record["total"]] == [
        {}, {"i": 0}, {"i": 1}, {"i": 2}, {"i": 3}
    ]  # fmt: skip
    assert [float(tile.value[0, 0]) for tile in record["total"]] == [1, 6, 36, 216, 1296]
    assert [i.loops for i in record["total"][2].writes] == [{"i": 1, "k": 0}, {"i": 1, "k": 1}]
    assert str(record["total"][2].loops) == "{'i': 1}"
    assert str(record["total"][2].writes[1].loops) == "{'i': 1, 'k': 1}"
    line = nested.func.__code__.co_firstlineno + 7
    doubled = record.at(f"test_record.py:{line}")
    assert len(doubled) == 8
    assert float(doubled[3].before[0, 0]) == 12
    assert float(doubled[3].result[0, 0]) == 36
    assert doubled[3].loops == {"k": 1, "i": 1}


@nki.jit
def in_sequence(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)

    def first(i):
        nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=1.0)

    def second(i):
        nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=100.0)

    nl.fori_loop(0, 4, first)
    nl.fori_loop(0, 2, second)
    nisa.dma_copy(dst=out, src=t)
    return out


def test_loops_in_sequence_have_instances_of_their_own():
    record = in_sequence.record(np.zeros((1, 2), np.float32))
    tiles = record["t"]
    assert [float(tile.value[0, 0]) for tile in tiles] == [0, 1, 2, 3, 4, 104, 204]
    assert [tile.loops for tile in tiles] == [
        {}, {"i": 0}, {"i": 1}, {"i": 2}, {"i": 3}, {"i": 0}, {"i": 1}
    ]  # fmt: skip
    assert all(len(tile.writes) == 1 for tile in tiles)


@nki.jit
def around_a_loop(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    for _ in range(2):
        nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=1.0)
    for k in range(2):

        def body(row):
            made = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
            for _step in range(2):
                nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=10.0)
            nisa.tensor_scalar(dst=made, data=t, op0=nl.add, operand0=float(k))  # noqa: B023

        nl.fori_loop(0, 2, body)
    nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=out, src=t)
    return out


def test_writes_before_and_after_loops_are_instances_and_python_loops_around_are_named():
    record = around_a_loop.record(np.zeros((1, 2), np.float32))
    assert [float(tile.value[0, 0]) for tile in record["t"]] == [2, 22, 42, 62, 82, 164]
    assert [tile.loops for tile in record["t"]] == [
        {}, {"k": 0, "row": 0}, {"k": 0, "row": 1}, {"k": 1, "row": 0}, {"k": 1, "row": 1}, {}
    ]  # fmt: skip
    assert [float(tile.value[0, 0]) for tile in record["made"]] == [22, 42, 63, 83]
    assert [tile.loops for tile in record["made"]] == [tile.loops for tile in record["t"]][1:-1]
    assert [list(each.loops.items()) for each in record["t"][4].writes] == [
        [("k", 1), ("row", 1), ("_step", 0)], [("k", 1), ("row", 1), ("_step", 1)]
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_instances_of_random_loops_are_in_the_order_of_execution(seed):
    random = Random(seed)
    made = sequenced_kernel(random)
    results = made.kernel(*made.inputs)
    assert [r.tolist() for r in results] == [r.tolist() for r in made.results]
    assert list(wrong_with(made, random)) == [], made.source


def test_texts_of_a_recording():
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    record = chain.record(x, 3)
    assert repr(record) == "<record of chain: 5 instructions, 3 variables>"
    assert record.names == ["tile", "made", "out"]
    second = record.instructions[2]
    line = chain.func.__code__.co_firstlineno + 7
    assert "\n" not in repr(second)
    assert repr(second).startswith("<#2 nisa.tensor_scalar")
    assert repr(second).endswith(f"test_record.py:{line} i=1 made: 4x8 float32 <- made>")
    assert second.loops == {"i": 1}
    assert second.location is not None
    assert second.location.line == line
    assert second.numbers == {"operand0": 1.0}
    assert [(o.name, o.tile, o.shape, o.dtype, o.is_written) for o in second.operands] == [
        ("dst", "made", (4, 8), "float32", True),
        ("data", "made", (4, 8), "float32", False),
    ]
    assert np.array_equal(second["data"].before, x)
    assert np.array_equal(second.result, x + 1)
    assert np.isnan(second.before).all()
    assert [bits(each) for each in record["made"]] == [bits(x), bits(x + 1), bits(x + 3)]
    assert np.array_equal(record.results[0], x + 3)
    assert record.at(line)[-1].result.max() == 34
    page = str(record)
    assert "made" in page
    assert "34" in page
    assert len(page.splitlines()) < 20
    assert "read  data = made: 4x8 float32: min 0, max 31, mean 15.5" in str(second)


def test_missing_items_are_named():
    x = np.zeros((4, 8), np.float32)
    record = chain.record(x, 2)
    with pytest.raises(KeyError, match="called 'mode'; there are made"):
        record["mode"]
    with pytest.raises(
        KeyError, match=r"tensors have names, got 0; record\.instructions are numbered"
    ):
        record[0]
    with pytest.raises(RecordError, match=r"no instruction comes from line 1, .* near are"):
        record.at(1)
    with pytest.raises(RecordError, match="a place is 'FILE:LINE' or a line, got 'here'"):
        record.at("here")
    with pytest.raises(IndexError, match="instructions: there are 4, no number 4"):
        record.instructions[4]
    with pytest.raises(KeyError, match="has no tile 'moving' here; it has dst, data"):
        record.instructions[1]["moving"]
    with pytest.raises(RecordError, match="a number of bytes, got 0"):
        chain.trace(x, 2).record(x, budget=0)


def test_two_cores_are_refused():
    x = np.zeros((4, 8), np.float32)
    with pytest.raises(RecordError, match="runs on 2 cores, whose instructions have no order"):
        chain[2].record(x, 2)


def test_inputs_stay_as_they_are():
    @nki.jit
    def doubles(x):
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=x, src=tile)
        return x

    x = np.ones((4, 8), np.float32)
    record = doubles.record(x)
    x[...] = 7
    assert (record.instructions[0].result == 1).all()
    assert (record["x"][0].value == 2).all()
    assert (x == 7).all()


def test_output_of_a_kernel_is_printed_once(capfd):
    @nki.jit
    def prints(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nl.device_print("tile is", tile)
        nisa.dma_copy(dst=out, src=tile)
        return out

    record = prints.record(np.ones((1, 2), np.float32))
    assert record.instructions[2].result.all()
    assert record.instructions[0].result.all()
    assert capfd.readouterr().out.count("tile is") == 1
