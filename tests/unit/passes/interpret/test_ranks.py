"""Collectives against NumPy on lists of arrays, one for each rank."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.frameworks.calls import ArgumentTypeError
from nkijit.passes.interpret.records.errors import InterpretationError

Array = npt.NDArray[Any]
Groups = list[list[int]]

GROUPS: list[Groups] = [
    [[0]],
    [[0, 1]],
    [[1, 0]],
    [[0, 1, 2, 3]],
    [[2, 0], [3, 1]],
    [[5, 0, 3, 6, 1, 7, 4, 2]],
    [[0, 2, 4, 6], [7, 5, 3, 1]],
]
DTYPES = {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16, "float16": np.float16}
REDUCTIONS = {"add": np.add, "minimum": np.minimum, "maximum": np.maximum}
ROWS, COLUMNS = 8, 3


def data(groups: Groups, dtype: Any = np.float32, seed: int = 0) -> list[Array]:
    """An array of numbers for each rank."""
    random = np.random.default_rng(seed)
    count = sum(map(len, groups))
    return [random.normal(0, 3, (ROWS, COLUMNS)).astype(dtype) for _ in range(count)]


def on_ranks(kernel: Any, *columns: list[Array], cores: int = 1) -> list[Any]:
    """Run a kernel on ranks; each column has an argument's value on each rank."""
    launched = kernel if cores == 1 else kernel[cores]
    return nki.run_ranks(launched, [tuple(arrays) for arrays in zip(*columns, strict=True)])


def collective(
    call: Any, shape: Any, *, sbuf: bool = False, tensors: int = 1, private: bool = False
) -> nki.Kernel:
    """A kernel that calls a collective on a copy of its argument, and on its negative."""

    @nki.jit
    def kernel(x):
        buffer = nl.sbuf if sbuf else nl.hbm if private else nl.shared_hbm
        srcs, dsts, results = [], [], []
        for number in range(tensors):
            tile = nl.load(x)
            if number:
                nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=-float(number))
            src = tile
            if not sbuf:
                src = nl.ndarray(x.shape, x.dtype, buffer=buffer)
                nisa.dma_copy(dst=src, src=tile)
            srcs.append(src)
            dsts.append(nl.ndarray(shape, x.dtype, buffer=buffer))
        call(srcs, dsts)
        for dst in dsts:
            results.append(nl.ndarray(shape, x.dtype, buffer=nl.shared_hbm))
            nisa.dma_copy(dst=results[-1], src=dst)
        return tuple(results)

    return kernel


def check(kernel: nki.Kernel, groups: Groups, arrays: list[Array], expected: Any, **how: Any):
    """`expected` computes the results of a group's ranks from the data that they send."""
    results = on_ranks(kernel, arrays, **how)
    for tensor in range(len(results[0])):
        factor = arrays[0].dtype.type(-tensor or 1)
        for group in groups:
            wanted = expected([arrays[rank] * factor for rank in group])
            for rank, array in zip(group, wanted, strict=True):
                got = results[rank][tensor]
                assert got.dtype == array.dtype
                assert np.array_equal(got, array), (rank, tensor)


def reduced(op: str, sent: list[Array]) -> Array:
    """The reduction in the order of the group: in float32, rounded once."""
    total = sent[0].astype(np.float32)
    for array in sent[1:]:
        total = REDUCTIONS[op](total, array.astype(np.float32)).astype(np.float32)
    return total.astype(sent[0].dtype)


where = pytest.mark.parametrize(
    ("cores", "place"),
    [(1, "hbm"), (1, "sbuf"), (2, "hbm"), (2, "sbuf"), (2, "private")],
)
groups_of = pytest.mark.parametrize("groups", GROUPS, ids=str)


def placed(place: str, tensors: int = 2) -> dict[str, Any]:
    if place == "sbuf":
        return {"sbuf": True}
    return {"tensors": tensors, "private": place == "private"}


@where
@groups_of
@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_reduce(groups, op, dtype, cores, place):
    group = ncc.ReplicaGroup(groups)

    def call(srcs, dsts):
        ncc.all_reduce(srcs, dsts, group, getattr(nl, op))

    kernel = collective(call, (ROWS, COLUMNS), **placed(place))
    arrays = data(groups, DTYPES[dtype])
    check(kernel, groups, arrays, lambda sent: [reduced(op, sent)] * len(sent), cores=cores)


def test_a_reduction_rounds_once():
    """In bfloat16 256 + 1 is 256 at every step; in float32 the ones add up."""
    groups = [list(range(8))]
    arrays = [np.full((1, 1), 256 if rank == 0 else 1, ml_dtypes.bfloat16) for rank in range(8)]

    def call(srcs, dsts):
        ncc.all_reduce(srcs, dsts, ncc.ReplicaGroup(groups), nl.add)

    for (result,) in on_ranks(collective(call, (1, 1)), arrays):
        assert float(result[0, 0]) == 264.0  # 263, rounded to a multiple of 2 with ties to even


def test_a_reduction_keeps_nan_and_infinity():
    arrays = [np.array([[1, np.inf, np.nan, -np.inf]], np.float32) * sign for sign in (1, -1)]

    def call(srcs, dsts):
        ncc.all_reduce(srcs, dsts, ncc.ReplicaGroup([[0, 1]]), nl.add)

    for (result,) in on_ranks(collective(call, (1, 4)), arrays):
        assert np.array_equal(result, [[0, np.nan, np.nan, np.nan]], equal_nan=True)


@where
@groups_of
@pytest.mark.parametrize("dtype", DTYPES)
def test_reduce_scatter(groups, dtype, cores, place):
    ranks = len(groups[0])

    def call(srcs, dsts):
        ncc.reduce_scatter(srcs, dsts, ncc.ReplicaGroup(groups), 0, nl.add)

    def expected(sent):
        rows = ROWS // ranks
        return [reduced("add", sent)[i * rows : (i + 1) * rows] for i in range(ranks)]

    kernel = collective(call, (ROWS // ranks, COLUMNS), **placed(place))
    check(kernel, groups, data(groups, DTYPES[dtype]), expected, cores=cores)


@where
@groups_of
def test_all_gather(groups, cores, place):
    ranks = len(groups[0])

    def call(srcs, dsts):
        ncc.all_gather(srcs, dsts, ncc.ReplicaGroup(groups), 0)

    kernel = collective(call, (ROWS * ranks, COLUMNS), **placed(place))
    check(kernel, groups, data(groups), lambda sent: [np.vstack(sent)] * ranks, cores=cores)


@groups_of
def test_all_gather_along_the_free_dimension(groups):
    ranks = len(groups[0])

    def call(srcs, dsts):
        ncc.all_gather(srcs, dsts, ncc.ReplicaGroup(groups), collective_dim=1)

    kernel = collective(call, (ROWS, COLUMNS * ranks), sbuf=True)
    check(kernel, groups, data(groups), lambda sent: [np.hstack(sent)] * ranks)


@pytest.mark.parametrize(("cores", "place"), [(1, "hbm"), (2, "hbm"), (2, "private")])
@groups_of
def test_all_to_all(groups, cores, place):
    ranks = len(groups[0])

    def call(srcs, dsts):
        ncc.all_to_all(srcs, dsts, ncc.ReplicaGroup(groups), 0)

    def expected(sent):
        rows = ROWS // ranks
        return [np.vstack([s[i * rows : (i + 1) * rows] for s in sent]) for i in range(ranks)]

    kernel = collective(call, (ROWS, COLUMNS), **placed(place))
    check(kernel, groups, data(groups), expected, cores=cores)


@where
@groups_of
def test_a_step_around_the_ring(groups, cores, place):
    def call(srcs, dsts):
        channels = [[t] for t in srcs], [[t] for t in dsts]
        ids = list(range(len(srcs)))
        ncc.collective_permute_implicit(*channels, ncc.ReplicaGroup(groups), channel_ids=ids)

    kernel = collective(call, (ROWS, COLUMNS), **placed(place, tensors=4))
    check(kernel, groups, data(groups), lambda sent: [sent[-1], *sent[:-1]], cores=cores)


@where
@groups_of
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_reducing_step_around_the_ring(groups, dtype, cores, place):
    def call(srcs, dsts):
        twice = [[t] for t in srcs]
        ids = list(range(len(srcs)))
        ncc.collective_permute_implicit_reduce(
            twice, twice, [[t] for t in dsts], ncc.ReplicaGroup(groups), nl.add, ids
        )

    def expected(sent):
        sums = [reduced("add", [array, array]) for array in sent]
        return [sums[-1], *sums[:-1]]

    kernel = collective(call, (ROWS, COLUMNS), **placed(place))
    check(kernel, groups, data(groups, DTYPES[dtype]), expected, cores=cores)


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize(
    "pairs",
    [[(0, 1)], [(0, 0)], [(0, 1), (1, 0)], [(3, 0), (0, 2), (2, 3)], [(1, 3), (3, 2)]],
    ids=str,
)
def test_collective_permute(pairs, cores):
    @nki.jit
    def kernel(x):
        src = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        dst = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=src, src=x)
        nl.store(dst, nl.full(x.shape, -1.0, x.dtype))
        if nl.num_programs() > 1:
            nisa.core_barrier(dst, (0, 1))
        ncc.collective_permute([src], [dst], pairs)
        return dst

    arrays = data([[0, 1, 2, 3]])
    source = {target: arrays[rank] for rank, target in pairs}
    for rank, result in enumerate(on_ranks(kernel, arrays, cores=cores)):
        assert np.array_equal(result, source.get(rank, np.full((ROWS, COLUMNS), -1.0)))


def test_rank_id():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((1, 1), nl.int32, buffer=nl.shared_hbm)
        tile = nl.ndarray((1, 1), nl.int32)
        nisa.register_store(tile, ncc.rank_id())
        nisa.dma_copy(dst=out, src=tile)
        return out

    for cores in (1, 2):
        results = on_ranks(kernel, data([[0, 1, 2]]), cores=cores)
        assert [int(r[0, 0]) for r in results] == [0, 1, 2]


RINGS = [[[0, 1]], [[2, 0, 3, 1]], [[0, 2], [3, 1]], [[0, 1, 2, 3, 4, 5, 6, 7]]]


@pytest.mark.parametrize("select", [True, False])
@pytest.mark.parametrize("groups", RINGS, ids=str)
def test_a_ring_gathers_in_the_order_of_ranks(groups, select):
    """Every rank stores each received block at the place of the block's original rank."""
    ranks, size = sum(map(len, groups)), ROWS * COLUMNS
    group = ncc.ReplicaGroup(groups)

    @nki.jit
    def kernel(x):
        out = nl.zeros((ranks, ROWS, COLUMNS), x.dtype, buffer=nl.shared_hbm)
        here, there = (nl.ndarray(x.shape, x.dtype, buffer=nl.hbm) for _ in range(2))
        nisa.dma_copy(dst=here, src=x)
        for step in range(len(groups[0])):
            whose = ncc.collective_permute_implicit_current_processing_rank_id(step, group)
            if select:
                place = out.select(0, whose)
            else:
                place = out.ap(
                    [(COLUMNS, ROWS), (1, COLUMNS)], 0, scalar_offset=whose, indirect_dim=0
                )
            nisa.dma_copy(dst=place, src=here)
            ncc.collective_permute_implicit([[here]], [[there]], group)
            here, there = there, here
        return out

    arrays = data(groups)
    results = on_ranks(kernel, arrays)
    for members in groups:
        for rank in members:
            wanted = np.zeros((ranks, ROWS, COLUMNS), np.float32)
            for other in members:
                wanted[other] = arrays[other]
            assert np.array_equal(results[rank], wanted), (rank, size)


def test_a_ring_in_a_loop_on_the_device():
    """The step is a register; after n steps everybody has its own data again."""
    group = ncc.ReplicaGroup([[0, 2, 1]])

    @nki.jit
    def kernel(x):
        out = nl.zeros((3, ROWS, COLUMNS), x.dtype, buffer=nl.shared_hbm)
        here, there = (nl.ndarray(x.shape, x.dtype, buffer=nl.hbm) for _ in range(2))
        nisa.dma_copy(dst=here, src=x)

        def body(step):
            whose = ncc.collective_permute_implicit_current_processing_rank_id(step, group)
            nisa.dma_copy(dst=out.select(0, whose), src=here)
            ncc.collective_permute_implicit([[here]], [[there]], group)
            nisa.dma_copy(dst=here, src=there)

        nl.fori_loop(0, 3, body)
        return out

    arrays = data([[0, 1, 2]])
    for result in on_ranks(kernel, arrays):
        assert np.array_equal(result, np.stack(arrays))


# ------------------------------------------------------------------ variable length


def metadata(rows: Any, in_sbuf: bool) -> Any:
    if not in_sbuf:
        return rows
    tile = nl.ndarray((1, *rows.shape), rows.dtype)
    nisa.dma_copy(dst=tile, src=rows.expand_dim(0))
    return tile


def exchange(
    groups: Groups,
    *,
    sbuf: bool = False,
    known: bool = False,
    places: bool = False,
    gather: bool = False,
    parts: bool = False,
    elements: int = 12,
) -> nki.Kernel:
    """Return the received data and the final metadata; `parts`: prepare before data is ready."""
    group = ncc.ReplicaGroup(groups)

    @nki.jit
    def kernel(x, rows):
        src = nl.ndarray(x.shape, x.dtype, buffer=nl.hbm)
        dst = nl.ndarray((elements,), x.dtype, buffer=nl.hbm)
        table = nl.ndarray(rows.shape, rows.dtype, buffer=nl.hbm)
        nisa.dma_copy(dst=table, src=rows)
        meta = metadata(table, sbuf)
        further = {} if gather else {"has_rdispls": places}
        arguments = ([src], [dst], group, meta, known)
        if parts:
            prepare = ncc.all_gather_v_prepare if gather else ncc.all_to_all_v_prepare
            prepared = prepare(*arguments, **further)
        nisa.dma_copy(dst=src, src=x)
        nl.store(dst.reshape((1, elements)), nl.full((1, elements), -1.0, x.dtype))
        if parts:
            (ncc.all_gather_v_trigger if gather else ncc.all_to_all_v_trigger)(prepared)
        else:
            (ncc.all_gather_v if gather else ncc.all_to_all_v)(*arguments, **further)
        out = nl.ndarray((elements,), x.dtype, buffer=nl.shared_hbm)
        after = nl.ndarray(meta.shape, rows.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=dst)
        nisa.dma_copy(dst=after, src=meta)
        return out, after

    return kernel


def tables(total: int, ranks: int, rows: int, counts: Any, starts: Any) -> list[Array]:
    result: list[Array] = []
    for rank in range(total):
        table = np.full((rows, ranks), 99, np.uint32)
        table[0], table[1] = counts[rank], starts[rank]
        result.append(table)
    return result


variants = pytest.mark.parametrize("sbuf", [False, True], ids=["hbm", "sbuf"])


in_parts = pytest.mark.parametrize("parts", [False, True], ids=["whole", "parts"])


@variants
@in_parts
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("places", [False, True])
@pytest.mark.parametrize("groups", [[[0]], [[1, 0]], [[0, 1, 2, 3]], [[3, 0], [1, 2]]], ids=str)
def test_all_to_all_v(groups, sbuf, known, places, parts):
    ranks, elements = len(groups[0]), 12
    total, slot = sum(map(len, groups)), elements // len(groups[0])
    random = np.random.default_rng(len(groups))
    arrays = [random.normal(size=(2, 7)).astype(np.float32) for _ in range(total)]
    counts = random.integers(0, min(slot, 14) + 1, (total, ranks))
    counts[0, 0] = 0
    starts = random.integers(0, 15 - counts)
    starts[counts == 0] = 4_000_000_000  # of nothing, the place does not matter
    rows = tables(total, ranks, 4 if places else 3, counts, starts)
    landing = [random.permutation(ranks) * slot for _ in range(total)]
    if places:
        for table, at in zip(rows, landing, strict=True):
            table[3] = at
    kernel = exchange(groups, sbuf=sbuf, known=known, places=places, parts=parts)
    results = on_ranks(kernel, arrays, rows)
    for group in groups:
        for target, rank in enumerate(group):
            wanted = np.full(elements, -1, np.float32)
            for position, sender in enumerate(group):
                count, start = counts[sender, target], starts[sender, target]
                at = landing[rank][position] if places else slot * position
                for i in range(count):
                    wanted[at + i] = arrays[sender].reshape(-1)[start + i]
            got, after = results[rank]
            assert np.array_equal(got, wanted)
            table = rows[rank].copy()
            if not known:
                table[2] = [counts[sender, target] for sender in group]
            assert np.array_equal(after.reshape(table.shape), table)


@variants
@in_parts
@pytest.mark.parametrize("known", [False, True])
def test_all_gather_v(sbuf, known, parts):
    groups = [[0, 1, 2, 3], [7, 5, 6, 4]]
    random = np.random.default_rng(0)
    arrays = [random.normal(size=(2, 7)).astype(np.float32) for _ in range(8)]
    counts = [3, 0, 1, 2, 0, 3, 3, 1]
    starts = [0, 3_000_000_000, 13, 5, 99, 11, 2, 0]
    rows = [np.full((3, 4), 77, np.uint32) for _ in range(8)]
    for table, count, start in zip(rows, counts, starts, strict=True):
        table[0, 0], table[1, 0] = count, start  # only these are read
    kernel = exchange(groups, sbuf=sbuf, known=known, gather=True, parts=parts)
    results = on_ranks(kernel, arrays, rows, cores=2)
    for group in groups:
        for rank in group:
            wanted = np.full(12, -1, np.float32)
            for position, sender in enumerate(group):
                sent = arrays[sender].reshape(-1)[starts[sender] : starts[sender] + counts[sender]]
                wanted[3 * position : 3 * position + len(sent)] = sent
            got, after = results[rank]
            assert np.array_equal(got, wanted)
            table = rows[rank].copy()
            if not known:
                table[2] = [counts[sender] for sender in group]
            assert np.array_equal(after.reshape(table.shape), table)


@pytest.mark.parametrize(
    ("count", "start", "place", "message"),
    [
        (
            5,
            10,
            None,
            "rank 1 of the group is sent 5 elements from 10 on (%table[0, 1] and "
            "%table[1, 1]), 'srcs' has 14",
        ),
        (7, 0, None, "rank 0 sends 7 elements, and there is room for 6 in 'dsts' of rank 1"),
        (
            3,
            0,
            10,
            "rank 0 sends 3 elements, and there is room for 2 in 'dsts' of rank 1, "
            "from 10 on (%table[3, 0])",
        ),
        (
            1,
            0,
            99,
            "rank 0 sends 1 element, and there is room for 0 in 'dsts' of rank 1, "
            "from 99 on (%table[3, 0])",
        ),
    ],
)
def test_sizes_are_checked_against_the_metadata(count, start, place, message):
    counts, starts = np.zeros((2, 2), int), np.zeros((2, 2), int)
    counts[0, 1], starts[0, 1] = count, start
    rows = tables(2, 2, 4, counts, starts)
    rows[1][3, 0] = place or 0
    arrays = [np.zeros((2, 7), np.float32)] * 2
    with pytest.raises(
        InterpretationError, match=r"test_ranks.py:\d+:\d+: ncc.all_to_all_v: " + re.escape(message)
    ):
        on_ranks(exchange([[0, 1]], places=place is not None), arrays, rows)


def test_a_trigger_takes_the_result_of_its_prepare():
    group = ncc.ReplicaGroup([[0, 1]])

    @nki.jit
    def kernel(x, rows):
        prepared = ncc.all_to_all_v_prepare([x], [x], group, rows, name="set-up")
        assert isinstance(prepared, nisa.NkiInstruction)
        ncc.all_gather_v_trigger(prepared)

    with pytest.raises(
        nki.NkiValidationError,
        match=r"'prepare_instr': expected what ncc\.all_gather_v_prepare returned, got NkiInstr",
    ):
        kernel.trace(np.zeros((2, 7), np.float32), np.zeros((3, 2), np.uint32))


# ------------------------------------------------------------------ errors


def summed(groups: Groups) -> nki.Kernel:
    def call(srcs, dsts):
        ncc.all_reduce(srcs, dsts, ncc.ReplicaGroup(groups), nl.add)

    return collective(call, (ROWS, COLUMNS))


def test_ranks_that_are_missing():
    with pytest.raises(
        InterpretationError,
        match=r"ncc.all_reduce at .*test_ranks.py:\d+:\d+ meets rank 1, core 0, which this run "
        r"does not have; nkijit.run_ranks runs a kernel on several ranks",
    ):
        summed([[0, 1]])(data([[0]])[0])


def test_a_rank_in_no_group():
    with pytest.raises(InterpretationError, match=r"ncc.all_reduce: rank 2 is in no group"):
        on_ranks(summed([[0, 1]]), data([[0, 1, 2]]))


def test_a_group_of_one_needs_no_other_ranks():
    (x,) = data([[0]])
    assert np.array_equal(summed([[0]])(x)[0], x)


def test_ranks_that_call_different_collectives():
    """Rank 1 goes around a loop once more than rank 0: each waits in a line of its own."""
    group = ncc.ReplicaGroup([[0, 1]])

    @nki.jit
    def kernel(x):
        src, dst, wide = (nl.ndarray((rows, 4), x.dtype, buffer=nl.hbm) for rows in (2, 2, 4))
        nisa.dma_copy(dst=src, src=x)
        nl.fori_loop(0, ncc.rank_id(), lambda i: ncc.all_reduce([src], [dst], group, nl.add))
        ncc.all_gather([src], [wide], group, 0)

    line = kernel.__wrapped__.__code__.co_firstlineno
    x = np.zeros((2, 4), np.float32)
    with pytest.raises(InterpretationError) as caught:
        nki.run_ranks(kernel, [(x,), (x,)])
    message = str(caught.value)
    assert message.startswith("the cores wait for each other for ever:")
    assert re.search(rf"rank 0, core 0 waits in ncc.all_gather at \S+:{line + 5}:", message)
    assert re.search(rf"rank 1, core 0 waits in ncc.all_reduce at \S+:{line + 4}:", message)


def test_a_rank_that_has_ended():
    group = ncc.ReplicaGroup([[0, 1]])

    @nki.jit
    def kernel(x):
        src = nl.ndarray((2, 4), x.dtype, buffer=nl.hbm)
        nisa.dma_copy(dst=src, src=x)
        nl.fori_loop(0, ncc.rank_id(), lambda i: ncc.all_reduce([src], [src], group, nl.add))

    x = np.zeros((2, 4), np.float32)
    with pytest.raises(InterpretationError, match=r"waits .* for rank 0, core 0, which has ended"):
        nki.run_ranks(kernel, [(x,), (x,)])


def test_cores_that_receive_different_data_in_the_same_tensor():
    @nki.jit
    def kernel(x):
        src = nl.ndarray(x.shape, x.dtype, buffer=nl.hbm)
        dst = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=src, src=x)
        ncc.all_reduce([src], [dst], ncc.ReplicaGroup([[0, 1]]), nl.add)
        return dst

    with pytest.raises(InterpretationError, match="different data in the same shared tensor"):
        on_ranks(kernel, data([[0, 1]]), cores=2)


def test_a_collective_in_one_branch_only(monkeypatch):
    @nki.jit
    def kernel(x):
        dst = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        if nl.program_id() == 0:
            ncc.all_reduce([x], [dst], ncc.ReplicaGroup([[0, 1]]), nl.add)
        return dst

    with pytest.raises(nki.NkiValidationError, match="core 0 waits here for core 1"):
        on_ranks(kernel, data([[0, 1]]), cores=2)
    monkeypatch.setattr(nki.TracedKernel, "verify", lambda self: None)
    with pytest.raises(InterpretationError, match=r"rank 0, core 1, which has ended"):
        on_ranks(kernel, data([[0, 1]]), cores=2)


def test_cores_work_on_halves_of_a_shared_tensor():
    """A collective is a barrier for its tensors: it reduces the data written by both cores."""

    @nki.jit
    def kernel(x):
        half = nl.ds(nl.program_id() * ROWS // 2, ROWS // 2)
        src = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        dst = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=src[half], src=x[half])
        ncc.all_reduce([src], [dst], ncc.ReplicaGroup([[0, 1]]), nl.add)
        other = nl.ds((1 - nl.program_id()) * ROWS // 2, ROWS // 2)
        nisa.dma_copy(dst=out[other], src=dst[other])
        return out

    arrays = data([[0, 1]])
    for result in on_ranks(kernel, arrays, cores=2):
        assert np.array_equal(result, arrays[0] + arrays[1])


def test_source_and_destination_may_be_one_tensor():
    @nki.jit
    def kernel(x):
        t = nl.ndarray(x.shape, x.dtype, buffer=nl.hbm)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=t, src=x)
        ncc.collective_permute_implicit([[t]], [[t]], ncc.ReplicaGroup([[0, 1, 2]]))
        nisa.dma_copy(dst=out, src=t)
        return out

    arrays = data([[0, 1, 2]])
    results = on_ranks(kernel, arrays)
    assert all(np.array_equal(results[i], arrays[i - 1]) for i in range(3))


def test_results_are_the_same_every_time():
    groups = [[0, 3, 1, 2]]
    arrays = data(groups)
    first = on_ranks(summed(groups), arrays, cores=2)
    for _ in range(5):
        again = on_ranks(summed(groups), arrays, cores=2)
        assert all(a[0].tobytes() == b[0].tobytes() for a, b in zip(first, again, strict=True))


# ------------------------------------------------------------------ nkijit.run_ranks


@nki.jit
def scaled_sum(x, scale=1.0, groups=((0, 1),)):
    src, dst = (nl.ndarray(x.shape, x.dtype, buffer=nl.hbm) for _ in range(2))
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=scale)
    nisa.dma_copy(dst=src, src=tile)
    ncc.all_reduce([src], [dst], ncc.ReplicaGroup([list(g) for g in groups]), nl.add)
    nisa.dma_copy(dst=out, src=dst)
    nisa.dma_copy(dst=x, src=dst)
    return {"sum": out}


def test_inputs_that_were_written_are_updated_on_every_rank():
    arrays = data([[0, 1]])
    total = (arrays[0] + arrays[1]) * 2
    results = nki.run_ranks(scaled_sum, [[array, 2.0] for array in arrays])
    for array, result in zip(arrays, results, strict=True):
        assert np.array_equal(result["sum"], total)
        assert np.array_equal(array, total)


def test_a_function_need_not_be_a_kernel_yet():
    arrays = data([[0, 1]])
    total = arrays[0] + arrays[1]
    results = nki.run_ranks(scaled_sum.__wrapped__, [(array,) for array in arrays])
    assert np.array_equal(results[1]["sum"], total)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([], "expects a list with the arguments of each rank"),
        (None, "expects a list with the arguments of each rank"),
        ([np.zeros((2, 2), np.float32)], "for rank 0"),
        (
            [(np.zeros((2, 2), np.float32),), (np.zeros((2, 3), np.float32),)],
            "argument 'x' is .* rank 1",
        ),
        (
            [(np.zeros((2, 2), np.float32),), (np.zeros((2, 2), np.int32),)],
            "argument 'x' is .* rank 1",
        ),
        (
            [(np.zeros((2, 2), np.float32), 1.0), (np.zeros((2, 2), np.float32), 2.0)],
            "argument 'scale' is 2.0 on rank 1 and 1.0 on rank 0",
        ),
    ],
)
def test_arguments_of_ranks_that_do_not_fit(ranks, message):
    with pytest.raises(ArgumentTypeError, match=message):
        nki.run_ranks(scaled_sum, ranks)


def test_a_traced_kernel_needs_a_rank():
    with pytest.raises(InterpretationError, match="at least one rank"):
        scaled_sum.trace(nki.TensorSpec((2, 2), "float32")).run_ranks([])


def test_collectives_outside_a_kernel():
    with pytest.raises(RuntimeError, match=r"ncc.all_reduce can only be called inside a kernel"):
        ncc.all_reduce([], [], ncc.ReplicaGroup([[0]]), nl.add)
