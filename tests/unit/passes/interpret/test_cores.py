"""Kernels on two cores: shared memory, meetings, and races."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.unwritten import WithUnwritten

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.interpret.run.races import contested_tensors

X = np.random.default_rng(0).normal(size=(8, 16)).astype(np.float32)
BARRIER = (0, 1)
RACE = "without nisa.core_barrier between them"


def me() -> float:
    """A number that differs between the cores."""
    return float(nl.program_id() + 1)


def shared(shape=X.shape, dtype=nl.float32, name=None):
    return nl.ndarray(shape, dtype, buffer=nl.shared_hbm, name=name or "t")


def tile_of(value, shape=X.shape, dtype=nl.float32):
    return nl.full(shape, value, dtype)


def run(body, *arrays, cores=2):
    """Run a body on two cores; it is given the arrays and a shared tensor."""

    def kernel(x):
        t = shared()
        body(x, t)
        return t

    return nki.jit(kernel)[cores](*(arrays or (X,)))


def run_unwritten(body):
    """The same for a body that may leave parts of the shared tensor unwritten."""

    def kernel(x):
        t = shared()
        body(x, t)
        return t

    return WithUnwritten(nki.jit(kernel)[2].trace(X)).run(X)


def races(body) -> str:
    with pytest.raises(InterpretationError, match=RACE) as caught:
        run_unwritten(body)
    return str(caught.value)


# ------------------------------------------------------------------ launches


def reciprocal(x):
    """The kernel of the guide: one program for one core and for two."""
    a, b = nl.ndarray(x.shape[1:], x.dtype), nl.ndarray(x.shape[1:], x.dtype)
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    mine = range(x.shape[0]) if nl.num_programs() == 1 else [nl.program_id(0)]
    for i in mine:
        nisa.dma_copy(a, x[i])
        nisa.reciprocal(b, a)
        nisa.dma_copy(out[i], b)
    return out


PAIR = np.arange(1, 65, dtype=np.float32).reshape(2, 4, 8)


@pytest.mark.parametrize("grid", [None, 1, 2, (2,), np.int64(2)])
def test_a_kernel_that_suits_one_core_and_two(grid):
    kernel = nki.jit(reciprocal)
    launched = kernel if grid is None else kernel[grid]
    assert np.allclose(launched(PAIR), 1 / PAIR, rtol=1e-6)
    assert np.allclose(nki.simulate(launched)(PAIR), 1 / PAIR, rtol=1e-6)


def test_programs_know_where_they_are():
    seen = []

    @nki.jit
    def kernel(x):
        seen.append((nl.program_id(), nl.program_id(0), nl.num_programs(), nl.program_ndim()))

    for launched in (kernel, kernel[1], kernel[2]):
        launched.trace(X)
    assert seen == [(0, 0, 1, 0), (0, 0, 1, 1), (0, 0, 2, 1), (1, 1, 2, 1)]


def test_a_trace_for_each_grid():
    kernel = nki.jit(reciprocal)
    grids = [kernel, kernel[1], kernel[2]]
    traces = [launched.trace(PAIR) for launched in grids]
    assert len({id(trace) for trace in traces}) == 3
    again = [launched.trace(PAIR) for launched in (kernel, kernel[1], kernel[2])]
    assert all(one is two for one, two in zip(traces, again, strict=True))


@pytest.mark.parametrize("grid", [0, 3, 8, -1, 2.0, True, "2", (1, 2), (), None, [2], X])
def test_other_grids_are_refused(grid):
    with pytest.raises(nki.UnsupportedError, match="a launch grid is 1 or 2 cores"):
        nki.jit(reciprocal)[grid]


def test_neuroncore_v2_has_no_two_cores():
    kernel = nki.jit(reciprocal, platform_target="trn1")
    assert np.allclose(kernel[1](PAIR), 1 / PAIR, rtol=1e-6)
    with pytest.raises(nki.UnsupportedError, match="two cores need NeuronCore-v3, trn1"):
        kernel[2](PAIR)


def test_a_kernel_inside_another_runs_where_that_one_does():
    inner = nki.jit(reciprocal)

    @nki.jit
    def outer(x):
        return inner(x)

    @nki.jit
    def with_grid(x):
        return inner[2](x)

    assert np.allclose(outer[2](PAIR), 1 / PAIR, rtol=1e-6)
    assert np.allclose(with_grid[2](PAIR), 1 / PAIR, rtol=1e-6)
    with pytest.raises(nki.UnsupportedError, match="on 2 cores inside a kernel that runs on 1"):
        with_grid(PAIR)


def test_results_must_be_shared():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.hbm)
        nisa.dma_copy(dst=out, src=x)
        return out

    assert np.array_equal(kernel[1](X), X)
    with pytest.raises(nki.NkiValidationError, match=r"return-shared.*result 0 lives in private"):
        kernel[2](X)


def test_private_memory_is_a_cores_own():
    def body(x, t):
        private = nl.ndarray((1, 16), nl.float32, buffer=nl.hbm)
        nisa.dma_copy(dst=private, src=tile_of(me(), (1, 16)))
        nisa.core_barrier(t, BARRIER)
        nisa.dma_copy(dst=t[nl.program_id()], src=private[0])

    result = run_unwritten(body)
    assert np.array_equal(result[:2, 0], [1, 2])
    assert np.isnan(result[2:]).all()


def test_unwritten_shared_memory_is_nan():
    """Also where the core that allocates it first does nothing with it."""

    def body(x, t):
        if nl.program_id() == 1:
            nisa.dma_copy(dst=t[0:4], src=x[0:4])

    for _ in range(3):
        result = run_unwritten(body)
        assert np.array_equal(result[:4], X[:4])
        assert np.isnan(result[4:]).all()


@pytest.mark.parametrize("writer", [0, 1])
def test_an_input_that_a_core_writes_is_updated(writer):
    def body(x, t):
        if nl.program_id() == writer:
            nisa.dma_copy(dst=x[0:4], src=tile_of(7.0, (4, 16)))
        nisa.core_barrier(x, BARRIER)
        nisa.dma_copy(dst=t[nl.ds(nl.program_id() * 4, 4)], src=x[nl.ds(nl.program_id() * 4, 4)])

    x = X.copy()
    wanted = np.vstack([np.full((4, 16), 7, np.float32), X[4:]])
    assert np.array_equal(run(body, x), wanted)
    assert np.array_equal(x, wanted)


@pytest.mark.parametrize("buffer", [nl.sbuf, nl.psum])
def test_a_barrier_on_a_tile_orders_all_shared_memory(buffer):
    @nki.jit
    def kernel(x):
        t, other = shared(), shared(name="other")
        core = nl.program_id()
        mine, theirs = nl.ds(core * 4, 4), nl.ds(4 - core * 4, 4)
        tile = nl.ndarray((4, 16), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[mine])
        nisa.dma_copy(dst=t[mine], src=tile)
        done = nl.ndarray((4, 16), nl.float32, buffer=buffer)
        nisa.tensor_copy(done, tile)
        nisa.core_barrier(done, BARRIER, name="ready")
        nisa.dma_copy(dst=tile, src=t[theirs])
        nisa.dma_copy(dst=other[mine], src=tile)
        return other

    traced = kernel[2].trace(X)
    assert [d.rule.id for d in traced.diagnostics if d.severity == "error"] == []
    (found,) = {d for d in traced.diagnostics if d.rule.id == "barrier-on-chip"}
    assert f"it is in {buffer.value}" in found.message
    assert found.where[0].file == __file__
    assert np.array_equal(kernel[2](X), np.roll(X, 4, axis=0))
    for seed in range(3):
        assert np.array_equal(traced.run_lowered(X, seed=seed), np.roll(X, 4, axis=0))


def test_without_a_barrier_on_the_tile_it_is_a_race():
    def body(x, t):
        core = nl.program_id()
        tile = nl.ndarray((4, 16), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t[nl.ds(core * 4, 4)], src=x[nl.ds(core * 4, 4)])
        nisa.core_barrier(tile_of(1.0), cores=(0))
        nisa.dma_copy(dst=tile, src=t[nl.ds(4 - core * 4, 4)])
        nisa.dma_copy(dst=x[nl.ds(core * 4, 4)], src=tile)

    def kernel(x):
        t = shared()
        body(x, t)
        return t

    rules = {d.rule.id for d in nki.jit(kernel)[2].trace(X).diagnostics}
    assert {"core-race", "barrier-alone"} <= rules


@pytest.mark.parametrize("cores", [0, (0,), np.int64(0)])
@pytest.mark.parametrize("launch", [1, 2])
def test_a_barrier_of_one_core_does_not_wait(cores, launch):
    def body(x, t):
        if nl.program_id() == 0:
            nisa.dma_copy(dst=t, src=x)
            nisa.core_barrier(t, cores=cores)

    @nki.jit
    def kernel(x):
        t = shared()
        body(x, t)
        return t

    assert np.array_equal(kernel[launch](X), X)
    assert "barrier-alone" in {d.rule.id for d in kernel[launch].trace(X).diagnostics}


def test_threads_may_run_one_kernel():
    kernel = nki.jit(exchange)[2]
    arrays = [X + i for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        for array, result in zip(arrays, pool.map(kernel, arrays), strict=True):
            assert np.array_equal(result, np.roll(array, 4, axis=0))


def test_frameworks_go_in_and_out():
    torch = pytest.importorskip("torch")
    result = nki.jit(exchange)[2](torch.from_numpy(X))
    assert isinstance(result, torch.Tensor)
    assert np.array_equal(result.numpy(), np.roll(X, 4, axis=0))


def test_a_listener_hears_both_cores():
    heard = []

    class Listener:
        def did_run(self, op, written):
            heard.append(op.name)

    nki.jit(reciprocal)[2].trace(PAIR).run(PAIR, listener=Listener())
    assert heard.count("nisa.reciprocal") == 2


# ------------------------------------------------------------------ meetings


def exchange(x):
    """The halves of a tensor change places through SBUF."""
    half = x.shape[0] // 2
    mine, theirs = nl.ds(nl.program_id() * half, half), nl.ndarray((half, x.shape[1]), x.dtype)
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    other = 1 - nl.program_id()
    nisa.sendrecv(nl.load(x[mine]), theirs, send_to_rank=other, recv_from_rank=other, pipe_id=0)
    nl.store(out[mine], theirs)
    return out


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int32"])
def test_sendrecv_exchanges_tiles(dtype):
    x = (X * 9).astype(dtype)
    assert np.array_equal(nki.jit(exchange)[2](x), np.roll(x, 4, axis=0))


def test_sendrecv_in_place_and_to_oneself():
    @nki.jit
    def kernel(x):
        rows = nl.ds(nl.program_id() * 4, 4)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile, other = nl.load(x[rows]), 1 - nl.program_id()
        nisa.sendrecv(tile, tile, other, other, pipe_id=3)
        nisa.sendrecv(tile, tile, nl.program_id(), nl.program_id(), pipe_id=3)
        nl.store(out[rows], tile)
        return out

    assert np.array_equal(kernel[2](X), np.roll(X, 4, axis=0))


def test_sendrecv_that_does_not_fit():
    def both_to_one(x, t):
        a, b = tile_of(1.0), tile_of(2.0)
        nisa.sendrecv(a, b, send_to_rank=0, recv_from_rank=1 - nl.program_id(), pipe_id=0)

    with pytest.raises(
        InterpretationError, match=r"nisa.sendrecv: core 0 receives .* core 1|core 1 receives"
    ):
        run_unwritten(both_to_one)

    def of_other_shapes(x, t):
        shape = (8, 16) if nl.program_id() else (8, 8)
        other = 1 - nl.program_id()
        nisa.sendrecv(tile_of(1.0, shape), tile_of(1.0, shape), other, other, pipe_id=0)

    with pytest.raises(InterpretationError, match=r"float32 \(8, 16\) comes in from .*'dst' is"):
        run_unwritten(of_other_shapes)


def test_a_barrier_in_a_loop_on_the_device():
    def body(x, t):
        tile = tile_of(me(), (1, 16))

        def step(i):
            nisa.dma_copy(dst=t.select(0, i), src=tile[0]) if nl.program_id() == 0 else None
            nisa.core_barrier(t, BARRIER)

        nl.fori_loop(0, 8, step)

    assert np.array_equal(run(body), np.ones((8, 16)))


def deadlock(body) -> str:
    with pytest.raises(InterpretationError, match="the cores wait for each other for ever") as got:
        run_unwritten(body)
    return str(got.value)


def test_a_core_that_misses_a_barrier():
    def body(x, t):
        if nl.program_id() == 0:
            nisa.core_barrier(t, BARRIER)

    line = body.__code__.co_firstlineno + 2
    text = deadlock(body)
    assert re.search(
        rf"core 0 waits in nisa.core_barrier at \S+:{line}:13 for rank 0, core 1, which has ended",
        text,
    )


def test_cores_that_wait_in_different_places():
    def pipes(x, t):
        other = 1 - nl.program_id()
        nisa.sendrecv(tile_of(1.0), tile_of(1.0), other, other, pipe_id=nl.program_id())

    def tensors(x, t):
        nisa.core_barrier(x if nl.program_id() else t, BARRIER)

    def kinds(x, t):
        if nl.program_id():
            nisa.core_barrier(t, BARRIER)
        else:
            nisa.sendrecv(tile_of(1.0), tile_of(1.0), 1, 1, pipe_id=0)

    for body in (pipes, tensors, kinds):
        text = deadlock(body)
        assert re.search(r"core 0 waits in .* core 1, which waits elsewhere", text)
        assert re.search(r"core 1 waits in .* core 0, which waits elsewhere", text)


def test_loops_that_go_around_a_barrier_a_different_number_of_times():
    def body(x, t):
        nl.fori_loop(0, 2 + nl.program_id(), lambda i: nisa.core_barrier(t, BARRIER))

    assert "core 1 waits in nisa.core_barrier" in deadlock(body)


# ------------------------------------------------------------------ races


def write(place, value=None):
    shape = place.shape if len(place.shape) > 1 else (1, *place.shape)
    nl.store(place if len(place.shape) > 1 else place.expand_dim(0), tile_of(value or me(), shape))


def test_two_writes():
    def body(x, t):
        write(t)

    line = write.__code__.co_firstlineno + 2
    text = races(body)
    assert re.search(
        rf"core 1 writes bytes of shared tensor 't' in nisa.dma_copy at \S+:{line}:", text
    )
    assert re.search(rf"which the other core writes in nisa.dma_copy at \S+:{line}:", text)


@pytest.mark.parametrize("writer", [0, 1])
def test_a_read_and_a_write(writer):
    def body(x, t):
        write(t[nl.ds(nl.program_id() * 4, 4)])
        nisa.core_barrier(t, BARRIER)
        if nl.program_id() == writer:
            write(t[0:1], 9.0)
        else:
            nl.load(t[0:1])

    text = races(body)
    assert f"core 1 {'writes' if writer else 'reads'} bytes" in text
    assert f"the other core {'reads' if writer else 'writes'}" in text


def test_a_barrier_puts_in_order():
    def body(x, t):
        if nl.program_id() == 0:
            write(t)
        nisa.core_barrier(t, BARRIER)
        if nl.program_id() == 1:
            write(t)
        nisa.core_barrier(t, BARRIER)
        nl.load(t)

    assert np.array_equal(run(body), np.full((8, 16), 2))


def watched(body) -> list[int]:
    """How many operations of each core a run watches."""

    def kernel(x):
        t = shared()
        body(x, t)
        return t

    kernels = nki.jit(kernel)[2].trace(X)._kernels
    found = contested_tensors([Plan(k, launch=kernels) for k in kernels])
    assert bool(found) == any(found.uses)
    return [len(of_core) for of_core in found.uses]


def test_accesses_separated_by_barriers_are_not_watched():
    def exchange(x, t, barrier):
        half = t[0:4] if nl.program_id() else t[4:8]
        nisa.dma_copy(dst=half, src=tile_of(me(), (4, 16)))
        if barrier:
            nisa.core_barrier(t, BARRIER)
        nl.load(t[4:8] if nl.program_id() else t[0:4])

    assert watched(lambda x, t: exchange(x, t, True)) == [0, 0]
    assert watched(lambda x, t: exchange(x, t, False)) == [2, 2]


def test_only_overlapping_accesses_are_watched():
    def body(x, t):
        row = nl.program_id()
        nisa.dma_copy(dst=t[row : row + 1], src=tile_of(1.0, (1, 16)))
        nisa.dma_copy(dst=t[row + 4 : row + 6], src=tile_of(1.0, (2, 16)))

    assert watched(body) == [1, 1]
    assert (run_unwritten(body)[5] == 1).all()  # the same numbers, which is no race


def test_barriers_in_loops_keep_nothing_apart_for_certain():
    def body(x, t):
        if nl.program_id() == 0:
            write(t)
        nl.fori_loop(0, 2, lambda i: nisa.core_barrier(t, BARRIER))
        if nl.program_id() == 1:
            write(t)

    assert watched(body) == [1, 1]
    assert np.array_equal(run(body), np.full((8, 16), 2))


def test_a_barrier_on_another_tensor_does_not():
    def body(x, t):
        if nl.program_id() == 0:
            write(t)
        nisa.core_barrier(x, BARRIER)
        if nl.program_id() == 1:
            nl.load(t)

    assert "core 1 reads" in races(body)


def test_tiles_that_overlap_in_a_corner():
    def body(x, t):
        write(t[0:5, 0:9] if nl.program_id() else t[4:8, 8:16])

    assert "core 1 writes" in races(body)


@pytest.mark.parametrize(
    "part",
    [
        lambda t, core: t[:, core::2],
        lambda t, core: t[core::2, :],
        lambda t, core: t[:, 8 * core : 8 * core + 8],
        lambda t, core: t[0:4, 0:8] if core else t[4:8, 8:16],
        lambda t, core: t.view(nl.int16)[:, 4 * core : 4 * core + 2].view(nl.float32),
        lambda t, core: t.ap([(16, 8), (4, 4)], 2 * core),
    ],
    ids=["columns", "rows", "halves", "corners", "views", "pattern"],
)
def test_parts_that_do_not_meet(part):
    def body(x, t):
        write(part(t, nl.program_id()))

    result = run_unwritten(body)
    assert (result == 1).sum() == (result == 2).sum() > 0


def test_views_of_other_data_types():
    """Halves of the same 4-byte element do not meet, bytes of the same half do."""

    def bodies(first, second):
        def body(x, t):
            halves = t.view(nl.int16)
            core, column = nl.program_id(), (first, second)[nl.program_id()]
            nl.store(halves[:, column : column + 1], tile_of(core + 1, (8, 1), nl.int16))

        return body

    result = run_unwritten(bodies(0, 1)).view(np.int16)
    assert np.array_equal(result[:, :2], np.tile([1, 2], (8, 1)))
    assert "core 1 writes" in races(bodies(1, 1))

    def mixed(x, t):
        if nl.program_id():
            nl.store(t.view(nl.int16)[:, 3:4], tile_of(5, (8, 1), nl.int16))
        else:
            write(t[:, 1:2])

    assert "core 1 writes" in races(mixed)


@pytest.mark.parametrize(("places", "meet"), [((2, 3), False), ((3, 3), True)])
def test_offsets_known_at_run_time(places, meet):
    def body(x, t):
        row = nisa.register_alloc(places[nl.program_id()])
        nisa.dma_copy(dst=t.select(0, row), src=tile_of(me(), (1, 16))[0])

    if meet:
        assert "core 1 writes" in races(body)
    else:
        assert np.array_equal(run(body)[2:4, 0], [1, 2])


@pytest.mark.parametrize(("shift", "meet"), [(4, False), (3, True)])
def test_scattered_rows(shift, meet):
    def body(x, t):
        rows = nl.ndarray((4, 1), nl.int32)
        nisa.iota(rows, [[1, 1]], offset=nl.program_id() * shift, channel_multiplier=1)
        nisa.dma_copy(dst=t.vector_select(0, rows), src=tile_of(me(), (4, 16)))

    if meet:
        assert "core 1 writes" in races(body)
    else:
        assert np.array_equal(run(body)[:, 0], [1, 1, 1, 1, 2, 2, 2, 2])


def test_a_race_in_one_iteration_only():
    """Core 0 writes rows 0, 1, 2, core 1 rows 5, 4, 3, 2."""

    def bodies(last):
        def body(x, t):
            row = nisa.register_alloc(0)
            tile = tile_of(me(), (1, 16))
            rows = nl.ndarray((1, 8), nl.int32)
            nisa.iota(rows, [[-1 if nl.program_id() else 1, 8]], offset=5 * nl.program_id())

            def step(i):
                nisa.register_load(
                    row, rows.ap([(8, 1), (1, 1)], 0, scalar_offset=i, indirect_dim=1)
                )
                nisa.dma_copy(dst=t.select(0, row), src=tile[0])

            nl.fori_loop(0, last if nl.program_id() else 3, step)

        return body

    assert np.array_equal(run(bodies(3))[:6, 0], [1, 1, 1, 2, 2, 2])
    assert "core 1 writes" in races(bodies(4))


def test_writes_that_change_nothing_are_no_race():
    """As in published kernels: both cores make the same copy and go on with it."""

    def body(x, t):
        copy = shared(name="copy")
        nisa.dma_copy(dst=copy, src=x)
        tile = nl.load(copy)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        nl.store(t, tile)

    assert np.array_equal(run(body), X + 1)


def test_a_write_after_equal_writes_is_a_race():
    def body(x, t):
        write(t, 1.0)
        if nl.program_id() == 1:
            write(t[0:1], 2.0)

    assert "core 1 writes" in races(body)


def test_a_read_of_data_that_only_the_other_core_has_written():
    def body(x, t):
        if nl.program_id() == 0:
            write(t)
        else:
            write(t[0:4], 1.0)
            nl.load(t)

    assert "core 1 reads" in races(body)


def test_races_and_results_are_the_same_every_time():
    def body(x, t):
        write(t)

    assert len({races(body) for _ in range(5)}) == 1
    kernel = nki.jit(exchange)[2]
    assert len({kernel(X).tobytes() for _ in range(5)}) == 1


def test_low_precision_in_float32(monkeypatch):
    monkeypatch.setenv("NKI_PRECISE_FP", "0")

    @nki.jit
    def kernel(x):
        t = shared(dtype=nl.bfloat16)
        out = shared(name="out")
        nl.store(t[nl.ds(4 * nl.program_id(), 4)], tile_of(me() / 3, (4, 16), nl.bfloat16))
        nisa.core_barrier(t, BARRIER)
        other = nl.ds(4 - 4 * nl.program_id(), 4)
        tile = nl.ndarray((4, 16), nl.float32)
        nisa.dma_copy(dst=tile, src=t[other])
        nl.store(out[other], tile)
        return out

    result = kernel[2](X)
    assert np.array_equal(result[[0, 4], 0], np.float32([1 / 3, 2 / 3]))
