"""Lowered kernels compute the results of their instructions in any order of the queues.

The oracle is the interpreter, which has no queues, addresses and waits. The results and all values
that instructions write must be equal bit for bit. Lowerings that are broken in one place show that
the interleavings are sufficient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from support.examples import parameters
from support.kernel_parts import random_kernel
from support.lowered_runs import SEEDS, Checked, Written, lowered, numbers
from support.random_kernels import PARTS, TARGETS
from support.tangled_kernels import tangled_kernel, visible_kernel

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.kernels.kernel import UnsupportedError
from nkijit.passes.analysis.writes.liveness import LiveRange
from nkijit.passes.interpret.queues.interleavings import Priorities, apart
from nkijit.passes.interpret.queues.run import Queues
from nkijit.passes.interpret.queues.sequencer import QueueError
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.lower.program import (
    EngineInstruction,
    Item,
    Placement,
    Program,
    QueueLoop,
    Wait,
    What,
)
from nkijit.tracing.target import TARGET_VARIABLE

# ------------------------------------------------------------------ right kernels


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("example", parameters())
def test_examples(example: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TARGET_VARIABLE, target)
    options = replace(example.small, dtype=example.dtypes[-1])
    inputs = example.inputs(options)
    try:
        traced = example.kernel.trace(**inputs)
    except UnsupportedError as error:
        pytest.skip(str(error))
    if traced.diagnostics.errors:
        pytest.skip(f"not for {target}")
    arrays = [value for value in inputs.values() if isinstance(value, np.ndarray)]
    for ahead in (None, 0):
        Checked(lowered(traced, ahead), arrays, all_bits=False).check(range(6))


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_random_kernels(part: str) -> None:
    for seed in range(3):
        kernel = random_kernel(Random(f"{part} {seed}"), part)
        traced = kernel.trace()
        inputs = [numbers(spec, seed) for _, spec in kernel.arguments]
        if sum(array.size for array in inputs) > 1 << 20:
            continue
        for ahead in (None, 0):
            Checked(lowered(traced, ahead), inputs, all_bits=False).check(range(seed, 12, 3))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("length", "depth"), [(24, 0), (4, 1), (7, 2)])
def test_tangled_kernels(target: str, length: int, depth: int) -> None:
    for seed in range(12):
        traced, inputs = tangled_kernel(seed, target, length, depth)
        ahead = 0 if seed % 2 else None
        Checked(lowered(traced, ahead), inputs, all_bits=True).check()


def test_run_lowered() -> None:
    traced, inputs = visible_kernel(1)
    expected = traced.run(*inputs)
    for seed in SEEDS:
        results = traced.run_lowered(*inputs, seed=seed)
        assert [a.tobytes() for a in results] == [a.tobytes() for a in expected]


def test_collectives_between_ranks() -> None:
    @nki.jit
    def kernel(x):
        sent = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        received = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        for _ in range(2):
            nisa.dma_copy(dst=tile, src=x)
            nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add)
            nisa.dma_copy(dst=sent, src=tile)
            ncc.all_reduce(
                srcs=[sent], dsts=[received], replica_group=ncc.ReplicaGroup([[0, 1]]), op=nl.add
            )
            nisa.dma_copy(dst=tile, src=received)
            nisa.dma_copy(dst=x, src=tile)
        nisa.dma_copy(dst=out, src=tile)
        return out

    inputs = [np.full((32, 8), rank + 1, np.float32) for rank in range(2)]
    traced = kernel.trace(inputs[0])
    queues = Queues(traced.programs())
    for seed in SEEDS:
        for result in queues.run_ranks([[array.copy()] for array in inputs], seed=seed):
            assert (result[0] == (1 + 2) * 2 * 2 * 2).all()


# ------------------------------------------------------------------ regressions


def i32(shape: Sequence[int], buffer: Any = None) -> Any:
    return nl.ndarray(shape, dtype=nl.int32, buffer=nl.sbuf if buffer is None else buffer)


@nki.jit
def _written_behind_the_loop(x):
    """The register of a loop is set again when the slower queues have yet to test it."""
    out, tile = i32((4, 4), nl.shared_hbm), i32((4, 4))
    nisa.memset(dst=tile, value=0)
    for _ in range(2):
        going = nisa.register_alloc(1)

        def body(register):
            nisa.tensor_tensor(
                dst=tile, data1=tile, data2=tile, op=nl.add, engine=nisa.gpsimd_engine
            )
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1)
            nisa.register_move(register, 0)
            return register

        nl.while_loop(going, body)
        nisa.register_move(going, 1)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def _loop_that_does_not_run(x):
    """A load before a loop is stored after it; the loop overwrites its destination."""
    out, tile, count = i32((4, 4), nl.shared_hbm), i32((4, 4)), i32((1, 1))
    nisa.memset(dst=count, value=0)
    times = nisa.register_alloc(1)
    nisa.register_load(times, count)
    nisa.dma_copy(dst=tile, src=x[0])
    for _ in nl.dynamic_range(times):
        nisa.dma_copy(dst=tile[:, 0:2], src=x[1][:, 0:2])
        nisa.memset(dst=tile, value=2, engine=nisa.vector_engine)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add, engine=nisa.gpsimd_engine)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def _store_behind_a_late_store(x):
    """Two stores of a tile, one of which waits for another one; then it is overwritten."""
    out, late, tile = i32((2, 4, 4), nl.shared_hbm), i32((4, 4)), i32((4, 4))
    nisa.memset(dst=tile, value=1)
    nisa.dma_copy(dst=late, src=x[0])
    nisa.tensor_tensor(dst=late, data1=late, data2=late, op=nl.add)
    nisa.dma_copy(dst=out[0], src=late)
    nisa.dma_copy(dst=out[0], src=tile)
    nisa.dma_copy(dst=out[1], src=tile)
    nisa.memset(dst=tile, value=2, engine=nisa.gpsimd_engine)
    return out


@nki.jit
def _tile_of_which_a_half_is_used(x):
    """Three tiles at one address; an engine touches one half of the second, and not the other."""
    out = i32((3, 4, 4), nl.shared_hbm)
    first, second, third = (
        nl.ndarray((4, 4), dtype=nl.int32, buffer=nl.sbuf, address=(0, 0)) for _ in range(3)
    )
    by_scalar = {"dge_mode": nisa.dge_mode.hwdge, "engine": nisa.scalar_engine}
    nisa.dma_copy(dst=first, src=x[0])
    nisa.dma_copy(dst=out[0][:, 0:2], src=first[:, 0:2])
    nisa.dma_copy(dst=out[0][:, 2:4], src=first[:, 2:4], **by_scalar)
    nisa.memset(dst=second[:, 0:2], value=1, engine=nisa.vector_engine)
    nisa.dma_copy(dst=out[1][:, 0:2], src=second[:, 0:2])
    nisa.dma_copy(dst=out[1][:, 2:4], src=x[1][:, 2:4])
    nisa.memset(dst=third[:, 2:4], value=2, engine=nisa.vector_engine)
    nisa.memset(dst=third[:, 0:2], value=3, engine=nisa.vector_engine)
    nisa.dma_copy(dst=out[2], src=third)
    return out


@pytest.mark.parametrize(
    "kernel",
    [
        _written_behind_the_loop,
        _loop_that_does_not_run,
        _store_behind_a_late_store,
        _tile_of_which_a_half_is_used,
    ],
)
def test_regressions(kernel: Any) -> None:
    x = np.arange(32, dtype=np.int32).reshape(2, 4, 4)
    Checked(kernel.trace(x).programs(), [x], all_bits=True).check(range(60))


# ------------------------------------------------------------------ two cores


@nki.jit
def _taking_turns(x):
    """Two cores repeatedly change halves of a shared tensor, and send each other tiles."""
    me = nl.program_id()
    shared = i32((2, 16, 8), nl.shared_hbm)
    out = i32((2, 16, 8), nl.shared_hbm)
    tile, other, sent = i32((16, 8)), i32((16, 8)), i32((16, 8))
    nisa.dma_copy(dst=tile, src=x[me])
    for _ in nl.dynamic_range(3):
        nisa.dma_copy(dst=shared[me], src=tile)
        nisa.core_barrier(data=shared, cores=(0, 1))
        nisa.dma_copy(dst=other, src=shared[1 - me])
        nisa.core_barrier(data=shared, cores=(0, 1))
        nisa.tensor_tensor(dst=tile, data1=tile, data2=other, op=nl.add)
        nisa.sendrecv(src=tile, dst=sent, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=0)
        nisa.tensor_tensor(dst=tile, data1=tile, data2=sent, op=nl.add, engine=nisa.gpsimd_engine)
    nisa.dma_copy(dst=out[me], src=tile)
    return out


def test_two_cores_that_take_turns() -> None:
    x = np.random.default_rng(0).integers(-(2**31), 2**31, (2, 16, 8)).astype(np.int32)
    traced = _taking_turns[2].trace(x)
    for ahead in (None, 0):
        checked = Checked(lowered(traced, ahead), [x], all_bits=True)
        checked.check(range(60))


@nki.jit
def _late_for_a_meeting(x):
    """Core 1's data is ready late; core 0 needs it before the barrier, core 1 does not."""
    me = nl.program_id()
    shared, out = i32((4, 8), nl.shared_hbm), i32((2, 4, 8), nl.shared_hbm)
    sent, received, tile = i32((4, 8)), i32((4, 8)), i32((4, 8))
    nisa.dma_copy(dst=sent, src=x[me])
    if me == 1:
        for _ in range(40):
            nisa.tensor_scalar(dst=sent, data=sent, op0=nl.add, operand0=1)
    nisa.sendrecv(src=sent, dst=received, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=0)
    if me == 0:
        nisa.dma_copy(dst=shared, src=received)
    nisa.core_barrier(data=shared, cores=(0, 1))
    nisa.dma_copy(dst=tile, src=shared)
    nisa.dma_copy(dst=out[me], src=tile)
    return out


def test_a_core_that_comes_late_to_a_meeting_does_not_hold_up_the_other() -> None:
    x = np.arange(64, dtype=np.int32).reshape(2, 4, 8)
    Checked(_late_for_a_meeting[2].trace(x).programs(), [x], all_bits=True).check()


# ------------------------------------------------------------------ broken lowerings

TRIES = 12


def is_found(checked: Checked, before: Item, waiter: Item) -> bool:
    """True when some interleaving shows that nothing keeps two items in order."""
    for seed in range(TRIES):
        change = (0.0, 0.02, 0.2)[seed % 3]
        directed = Priorities(Random(seed), change, apart(before, waiter))
        try:
            if not (checked.is_right(seed, directed) and checked.is_right(seed)):
                return True
        except InterpretationError:
            return True
    return False


def small_kernels() -> Iterator[Checked]:
    for seed in range(36):
        traced, inputs = visible_kernel(seed, TARGETS[seed % 3], 7)
        yield Checked(lowered(traced, 0 if seed % 2 else None), inputs, all_bits=True)


def all_waits(program: Program) -> list[tuple[Item, Wait]]:
    return [(i, wait) for queue in program.queues for i in program.items(queue) for wait in i.waits]


def place(item: Item) -> str:
    number = item.number if isinstance(item, EngineInstruction) else "loop"
    return f"{item.queue.name} {number}"


@pytest.mark.slow
def test_every_wait_that_is_left_out_is_found() -> None:
    for checked in small_kernels():
        (program,) = checked.programs
        for item, wait in all_waits(program):
            kept = list(item.waits)
            item.waits.remove(wait)
            found = is_found(checked, wait.before, item)
            item.waits[:] = kept
            assert found, f"{place(item)} need not wait for {place(wait.before)}"


@pytest.mark.slow
def test_every_signal_that_is_left_out_is_found() -> None:
    for checked in small_kernels():
        (program,) = checked.programs
        waits = all_waits(program)
        for before in dict.fromkeys(wait.before for _, wait in waits):
            # Instructions that wait then wait for the same number of signals.
            asked = copy(before)
            kept = {item: list(item.waits) for item, wait in waits if wait.before is before}
            for item in kept:
                item.waits[:] = [
                    w._replace(before=asked) if w.before is before else w for w in item.waits
                ]
            before.signal = 0
            with pytest.raises(QueueError, match="for ever"):
                checked.is_right(0)
            before.signal = asked.signal
            for item, waits_of_it in kept.items():
                item.waits[:] = waits_of_it


def moves(placement: Placement) -> Iterator[tuple[LiveRange, tuple[int, int]]]:
    """Addresses that bring a tile onto another one while both hold something.

    An element further on, for one of the two may be a copy of the other.
    """
    heights = {
        MemoryRegion.sbuf: placement.sbuf_bytes,
        MemoryRegion.psum: placement.psum_bytes,
    }
    for one in placement.live.ranges:
        for two in placement.live.ranges:
            if one.tile.region is two.tile.region and one.start < two.start < one.end:
                partition, byte = placement.addresses[two.alloc]
                byte += 4
                if byte + one.tile.partition_bytes <= heights[one.tile.region]:
                    yield one, (partition, byte)


@pytest.mark.slow
def test_every_address_that_is_moved_onto_a_live_tile_is_found() -> None:
    count = 0
    for checked in small_kernels():
        (program,) = checked.programs
        addresses = program.placement.addresses
        for moved, address in list(moves(program.placement)):
            kept = addresses[moved.alloc]
            addresses[moved.alloc] = address
            found = not all(_is_right(checked, seed) for seed in range(10 * len(SEEDS)))
            addresses[moved.alloc] = kept
            assert found, f"{moved.tile} of {moved.start} to {moved.end} may lie at {address}"
            count += 1
    assert count > 100


def _is_right(checked: Checked, seed: int) -> bool:
    try:
        return checked.is_right(seed)
    except InterpretationError:
        return False


def test_carried_waits_are_needed() -> None:
    """One engine fills a tile and another one reads it, once per iteration."""

    @nki.jit
    def kernel(x):
        out, total, tile = i32((4, 4), nl.shared_hbm), i32((4, 4)), i32((4, 4))
        nisa.memset(dst=total, value=0)
        for i in nl.dynamic_range(4):
            nisa.dma_copy(dst=tile, src=x[i])
            nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
        nisa.dma_copy(dst=out, src=total)
        return out

    x = np.arange(64, dtype=np.int32).reshape(4, 4, 4)
    checked = Checked(kernel.trace(x).programs(), [x], all_bits=True)
    checked.check()
    (program,) = checked.programs
    waits = all_waits(program)
    assert any(wait.carried for _, wait in waits)
    assert any(isinstance(wait.before, QueueLoop) for _, wait in waits)
    for item, wait in waits:
        kept = list(item.waits)
        item.waits.remove(wait)
        assert is_found(checked, wait.before, item), place(item)
        item.waits[:] = kept


# ------------------------------------------------------------------ engine state


def test_equal_seeds_make_equal_choices() -> None:
    traced, inputs = tangled_kernel(3, "trn3", 8, 1)
    for seed in SEEDS:
        orders: list[list[Any]] = []
        for _ in range(2):
            listener = Written()
            traced.run_lowered(*inputs, seed=seed, listener=listener)
            orders.append(list(listener.bits))
        assert orders[0] == orders[1]


def test_a_table_that_is_not_loaded_is_reported() -> None:
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nisa.activation(dst=tile, op=nl.exp, data=tile)
        nl.store(out, tile)
        return out

    x = np.ones((4, 4), np.float32)
    (program,) = kernel.trace(x).programs()
    load = next(i for i in program.instructions if i.what is What.load_table)
    load.table = "tanh"
    with pytest.raises(QueueError, match=r"needs the table of exp, the Scalar Engine has tanh"):
        Queues([program]).run([x])


def test_a_deadlock_names_the_waiting_instructions() -> None:
    traced, inputs = visible_kernel(0)
    (program,) = lowered(traced, 0)
    item, wait = all_waits(program)[0]
    item.waits[0] = wait._replace(before=item)
    item.signal = 1
    with pytest.raises(QueueError, match=r"rank 0, core 0, \w+: \w+ \(\d+, .*waits for"):
        Queues([program]).run(inputs)
