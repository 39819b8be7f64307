"""Kernels that look as if a pass could change them, and in which the change would be wrong.

Each has been compiled to something else once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.compiled_runs import check
from support.odd_kernels import loop_that_stops

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.compile.passes import share_loads as share
from nkijit.passes.compile.pipeline import compiled

Array = np.ndarray[Any, Any]
RESET, REDUCE = nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.reduce


def _x(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def _same(kernel: Any, *inputs: Array, target: str = "trn3") -> int:
    return check(nki.jit(kernel, platform_target=target).trace(*inputs), inputs, range(3))


def _sbuf(rows: int, columns: int, dtype: str = nl.float32) -> Any:
    return nl.ndarray((rows, columns), dtype, buffer=nl.sbuf)


# ------------------------------------------------------------------ lanes


def _summed(engine: str, dst: Any, data: Any, command: Any, **given: Any) -> None:
    """Copy or double a tile, and add it up in the accumulators of its lanes."""
    if engine == "scalar":
        nisa.activation(dst, nl.copy, data, reduce_op=nl.add, reduce_cmd=command, **given)
    else:
        nisa.tensor_scalar_reduce(dst, data, nl.multiply, 2.0, nl.add, reduce_cmd=command, **given)


def _accumulators(engine: str, x: Any) -> Any:
    """The first sum is of lanes 32 to 63, and its data is copied there from others."""
    out = nl.ndarray((32, 1), nl.float32, buffer=nl.shared_hbm)
    a, b, c, d = (_sbuf(64, 64) for _ in range(4))
    r = _sbuf(64, 1)
    nisa.dma_copy(a, x[0])
    nisa.dma_copy(c, x[1])
    upper = slice(32, 64)
    nisa.tensor_copy(b[upper, :], a[0:32, :])
    _summed(engine, d[upper, :], b[upper, :], RESET)
    _summed(engine, d[upper, :], c[upper, :], REDUCE, reduce_res=r[upper, :])
    nisa.dma_copy(out, r[upper, :])
    return out


def scalar_accumulators(x: Any) -> Any:
    return _accumulators("scalar", x)


def vector_accumulators(x: Any) -> Any:
    return _accumulators("vector", x)


def two_scalar_accumulators(x: Any) -> Any:
    """Lanes 0 to 31 hold a sum of their own."""
    out = nl.ndarray((64, 1), nl.float32, buffer=nl.shared_hbm)
    a = _sbuf(32, 64)
    b, c, d = (_sbuf(64, 64) for _ in range(3))
    r = _sbuf(64, 1)
    nisa.dma_copy(a, x[0, 0:32])
    nisa.dma_copy(c, x[1])
    nisa.tensor_copy(b[32:64, :], a)
    for half, data in ((slice(0, 32), c), (slice(32, 64), b)):
        _summed("scalar", d[half, :], data[half, :], RESET)
    for half in (slice(0, 32), slice(32, 64)):
        _summed("scalar", d[half, :], c[half, :], REDUCE, reduce_res=r[half, :])
    nisa.dma_copy(out, r)
    return out


def generators(x: Any) -> Any:
    """Each lane has random numbers of its own."""
    out = nl.ndarray((32, 64), nl.float32, buffer=nl.shared_hbm)
    a = _sbuf(32, 64)
    b, d = _sbuf(64, 64), _sbuf(64, 64)
    nisa.dma_copy(a, x[0, 0:32])
    nisa.tensor_copy(b[32:64, :], a)
    nisa.dropout(d[32:64, :], b[32:64, :], 0.5)
    nisa.dma_copy(out, d[32:64, :])
    return out


@pytest.mark.parametrize(
    "kernel", [scalar_accumulators, two_scalar_accumulators, vector_accumulators, generators]
)
def test_operands_determine_the_lanes_of_an_engine(kernel: Any) -> None:
    _same(kernel, _x(2, 64, 64))


# ------------------------------------------------------------------ patterns that repeat

PATTERNS = {
    "repeated": [[64, 64], [1, 8], [0, 8]],
    "overlapping": [[64, 64], [4, 8], [1, 8]],
    "distinct": [[64, 64], [1, 8], [8, 8]],
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_copy_onto_itself_is_none(pattern: str) -> None:
    """The last write to an element counts."""

    def kernel(x: Any) -> Any:
        out = nl.ndarray((64, 64), nl.float32, buffer=nl.shared_hbm)
        a, b, d = (_sbuf(64, 64) for _ in range(3))
        nisa.dma_copy(a, x)
        part = b.ap(PATTERNS[pattern])
        nisa.tensor_copy(part, a.reshape((64, 8, 8)))
        nisa.tensor_scalar(d.reshape((64, 8, 8)), part, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(out, d)
        return out

    _same(kernel, _x(64, 64))


def test_results_in_different_parts_are_not_equivalent_tiles() -> None:
    """Each result has as many elements as its tile, some of them several times."""

    def kernel(x: Any) -> Any:
        out = nl.ndarray((2, 64, 8), nl.float32, buffer=nl.shared_hbm)
        a, u, v = (_sbuf(64, 64) for _ in range(3))
        nisa.dma_copy(a, x)
        for tile, offset in ((u, 0), (v, 8)):
            part = tile.ap([[64, 64], [1, 8], [0, 8]], offset=offset)
            nisa.tensor_scalar(part, a.reshape((64, 8, 8)), op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(out[0], u[:, 0:8])
        nisa.dma_copy(out[1], v[:, 8:16])
        return out

    _same(kernel, _x(64, 64))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("copies", [True, False])
def test_sums_of_repeated_elements(pattern: str, copies: bool) -> None:
    def kernel(x: Any) -> Any:
        out = nl.ndarray((64, 64), nl.float32, buffer=nl.shared_hbm)
        a, total = _sbuf(64, 64), _sbuf(64, 64)
        nisa.dma_copy(a, x)
        nisa.memset(total, 0.0)
        part = total.ap(PATTERNS[pattern])
        products = [nl.ndarray((64, 64), nl.float32, buffer=nl.psum) for _ in range(3)]
        for product in products:
            nisa.nc_matmul(product, a, a, accumulate=False)
        for number, product in enumerate(products):
            cube = product.reshape((64, 8, 8))
            if copies and number == 0:
                nisa.tensor_copy(part, cube)
            else:
                nisa.tensor_tensor(part, part, cube, op=nl.add)
        nisa.dma_copy(out, total)
        return out

    _same(kernel, _x(64, 64))


# ------------------------------------------------------------------ loops


def counted(x: Any) -> Any:
    out = nl.ndarray((4, 32, 16), nl.int32, buffer=nl.shared_hbm)

    def body(i: Any) -> None:
        t = _sbuf(32, 16, nl.int32)
        nisa.iota(t, [[1, 16]], offset=i, channel_multiplier=1)
        nisa.dma_copy(out[i], t)

    nl.fori_loop(0, 4, body)
    return out


def selected(x: Any) -> Any:
    out = nl.ndarray((4, 32, 16), nl.float32, buffer=nl.shared_hbm)
    a = _sbuf(32, 16)
    nisa.dma_copy(a, x)

    def body(i: Any) -> None:
        t = _sbuf(32, 16)
        nisa.affine_select(
            t,
            pattern=[[-1, 16]],
            offset=i,
            channel_multiplier=1,
            on_true_tile=a,
            on_false_value=-7.0,
            cmp_op=nl.greater_equal,
        )
        nisa.dma_copy(out[i], t)

    nl.fori_loop(0, 4, body)
    return out


def counted_outside(x: Any) -> Any:
    """Work that depends on the outer loop's index can leave only the inner loop."""
    out = nl.ndarray((4, 32, 16), nl.int32, buffer=nl.shared_hbm)

    def body(i: Any) -> None:
        def inner(j: Any) -> None:
            t = _sbuf(32, 16, nl.int32)
            nisa.iota(t, [[1, 16]], offset=i, channel_multiplier=1)
            nisa.dma_copy(out[i], t)

        nl.fori_loop(0, 3, inner)

    nl.fori_loop(0, 4, body)
    return out


@pytest.mark.parametrize("kernel", [counted, selected, counted_outside])
def test_users_of_a_loop_index_change(kernel: Any) -> None:
    _same(kernel, _x(32, 16))


@pytest.mark.parametrize("rewritten", ["before", "behind"])
def test_a_loop_may_run_the_first_time_only(rewritten: str) -> None:
    check(*loop_that_stops(rewritten), range(3))


def test_a_sum_is_in_a_tile_that_is_declared_after_its_matmul() -> None:
    def kernel(x: Any) -> Any:
        out = nl.ndarray((4, 64, 64), nl.float32, buffer=nl.shared_hbm)
        a = _sbuf(64, 64)
        nisa.dma_copy(a, x)

        def body(i: Any) -> None:
            p, q = (nl.ndarray((64, 128), nl.float32, buffer=nl.psum) for _ in range(2))
            t = _sbuf(64, 64)
            for half in (slice(0, 32), slice(32, 64)):
                nisa.nc_matmul(p[:, half], a, a[:, half], accumulate=False)
            nisa.nc_matmul(q[:, 0:64], a, a, accumulate=False)
            nisa.tensor_copy(t, p[:, 0:64])
            nisa.tensor_tensor(t, t, q[:, 0:64], op=nl.add)
            nisa.dma_copy(out[i], t)

        nl.fori_loop(0, 4, body)
        return out

    assert _same(kernel, _x(64, 64)) > 0


def addressed_by_a_register(x: Any) -> Any:
    """The products of a sum are not where the first one was."""
    out = nl.ndarray((64, 32), nl.float32, buffer=nl.shared_hbm)
    factors, total = [_sbuf(64, 64) for _ in range(3)], _sbuf(64, 32)
    for number, factor in enumerate(factors):
        nisa.dma_copy(factor, x[number])
    where = nisa.register_alloc(0)
    nisa.memset(total, 0.0)
    for k in range(2):
        product = nl.ndarray((64, 64), nl.float32, buffer=nl.psum)
        nisa.register_move(where, 32 * k)
        part = product[:, nl.ds(where, 32)]
        nisa.nc_matmul(part, factors[k], factors[k + 1][:, 0:32], accumulate=False)
        nisa.tensor_tensor(total, total, part, op=nl.add)
    nisa.dma_copy(out, total)
    return out


def addressed_by_an_index(x: Any) -> Any:
    out = nl.ndarray((4, 64, 32), nl.float32, buffer=nl.shared_hbm)
    factors, total = [_sbuf(64, 64) for _ in range(3)], _sbuf(64, 32)
    for number, factor in enumerate(factors):
        nisa.dma_copy(factor, x[number])
    products = [nl.ndarray((64, 64), nl.float32, buffer=nl.psum) for _ in range(2)]

    def body(i: Any) -> None:
        nisa.memset(total, 0.0)
        for k in range(2):
            part = products[k][:, nl.ds(i, 32)]
            nisa.nc_matmul(part, factors[k], factors[k + 1][:, 0:32], accumulate=False)
            nisa.tensor_tensor(total, total, part, op=nl.add)
        nisa.dma_copy(out[i], total)

    nl.fori_loop(0, 4, body)
    return out


@pytest.mark.parametrize("kernel", [addressed_by_a_register, addressed_by_an_index])
def test_where_products_are_is_known_at_run_time_only(kernel: Any) -> None:
    _same(kernel, _x(3, 64, 64))


# ------------------------------------------------------------------ effects besides the result


def _in_place(engine: str, x: Any) -> Any:
    """Only the sum of the overwritten tile is used."""
    out = nl.ndarray((64, 1), nl.float32, buffer=nl.shared_hbm)
    a, b, r = _sbuf(64, 64), _sbuf(64, 64), _sbuf(64, 1)
    nisa.dma_copy(a, x[0])
    nisa.dma_copy(b, x[1])
    _summed(engine, a, a, RESET)
    _summed(engine, b, b, REDUCE, reduce_res=r)
    nisa.dma_copy(out, r)
    return out


def sums_in_place(x: Any) -> Any:
    return _in_place("scalar", x)


def vector_sums_in_place(x: Any) -> Any:
    return _in_place("vector", x)


def named(x: Any) -> Any:
    """A named instruction is preserved, and so are its inputs."""
    out = nl.ndarray((64, 64), nl.float32, buffer=nl.shared_hbm)
    a, b = _sbuf(64, 64), _sbuf(64, 64)
    nisa.dma_copy(a, x[0])
    nisa.dma_copy(b, x[1])
    nisa.tensor_scalar(a, a, op0=nl.add, operand0=1.0, name="kept")
    nisa.dma_copy(out, b)
    return out


@pytest.mark.parametrize("kernel", [sums_in_place, vector_sums_in_place, named])
def test_instructions_preserved_for_another_reason_need_their_data(kernel: Any) -> None:
    _same(kernel, _x(2, 64, 64))


# ------------------------------------------------------------------ the author's order


def copied_before_its_source_changes(x: Any) -> Any:
    """ "late" runs first: the copy may be read after it, the copy's source may not."""
    out = nl.ndarray((3, 64, 64), nl.float32, buffer=nl.shared_hbm)
    a, b, c, r = (_sbuf(64, 64) for _ in range(4))
    nisa.dma_copy(a, x[0])
    nisa.dma_copy(c, x[1], name="early")
    nisa.tensor_copy(b, a)
    nisa.tensor_tensor(r, b, c, op=nl.add)
    nisa.dma_copy(a[:, 0:32], x[2, :, 0:32], name="late")
    for place, tile in enumerate((r, a, a)):
        nisa.dma_copy(out[place], tile)
    return out


def loaded_for_what_comes_first(x: Any) -> Any:
    out = nl.ndarray((3, 64, 64), nl.float32, buffer=nl.shared_hbm)
    a, b, r = (_sbuf(64, 64) for _ in range(3))
    nisa.dma_copy(a, x[0], name="early")
    nisa.dma_copy(b, x[0])
    nisa.tensor_scalar(r, b, op0=nl.add, operand0=1.0)
    nisa.dma_copy(out[0], r, name="late")
    nisa.dma_copy(out[1], a)
    nisa.dma_copy(out[2], a)
    return out


def summed_of_what_changes(x: Any) -> Any:
    out = nl.ndarray((3, 64, 64), nl.float32, buffer=nl.shared_hbm)
    one, two, total = (_sbuf(64, 64) for _ in range(3))
    p, q = (nl.ndarray((64, 64), nl.float32, buffer=nl.psum) for _ in range(2))
    nisa.dma_copy(two, x[1])
    nisa.dma_copy(one, x[0], name="early")
    nisa.nc_matmul(p, one, one, accumulate=False)
    nisa.nc_matmul(q, two, two, accumulate=False)
    nisa.tensor_copy(total, p)
    nisa.tensor_tensor(total, total, q, op=nl.add)
    nisa.dma_copy(two[:, 0:32], x[2, :, 0:32], name="late")
    for place, tile in enumerate((total, total, two)):
        nisa.dma_copy(out[place], tile)
    return out


@pytest.mark.parametrize(
    "kernel",
    [copied_before_its_source_changes, loaded_for_what_comes_first, summed_of_what_changes],
)
def test_an_edge_to_a_later_instruction_can_be_kept_afterwards(kernel: Any) -> None:
    x = _x(4, 64, 64)
    made = nki.jit(kernel, platform_target="trn3").with_schedule([("early", "late")])
    traced = made.trace(x)
    check(traced, [x], range(3))
    assert traced.profile().time > 0


# ------------------------------------------------------------------ growth


def test_the_work_for_a_load_does_not_grow_with_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One tile is loaded repeatedly, and has the addresses of others."""
    calls = 0
    around = share._places_of  # pyright: ignore[reportPrivateUsage]

    def counted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        return around(*args)

    def kernel(x: Any, numbers: Any) -> Any:
        count = numbers.shape[0]
        out = nl.ndarray((count, 4, 8), nl.float32, buffer=nl.shared_hbm)
        index = _sbuf(4, 1, nl.int32)
        for i in range(count):
            rows = _sbuf(4, 8)
            nisa.dma_copy(index, numbers[i])
            nisa.dma_copy(rows, x.vector_select(0, index))
            nisa.dma_copy(out[i], rows)
        return out

    monkeypatch.setattr(share, "_places_of", counted)
    counts: list[int] = []
    for count in (20, 40):
        specs = nki.TensorSpec((64, 8), nl.float32), nki.TensorSpec((count, 4, 1), nl.int32)
        traced = nki.jit(kernel, platform_target="trn2").trace(*specs)
        calls = 0
        compiled(kernels_of(traced.module)[0])
        counts.append(calls)
    assert 0 < counts[1] <= 2 * counts[0] + 4
