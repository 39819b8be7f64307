"""dma_compute, and DMAs that gather and scatter rows with a vector of indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support import oracle
from support.nisa.harness import any_bits, filled, whole_numbers
from support.nisa.naive import STORAGE
from support.oracle import ROUNDED_TYPES, f32

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.isa import NkiValidationError
from nkijit.passes.interpret.records.errors import InterpretationError

Array = npt.NDArray[Any]
HELD = [dtype for dtype in ROUNDED_TYPES if dtype not in ("bool_", "tfloat32")]
"""Data types that arrays of NumPy have."""


def decoded(dtype: str, array: Array) -> list[float]:
    bits = array.view(f"u{array.dtype.itemsize}").reshape(-1)
    return [f32(float(oracle.decode(dtype, int(value)))) for value in bits]


def summed(dtypes: Sequence[str], arrays: Sequence[Array], result: str) -> Array:
    """One element after the other: float32 sums in the order of the sources, rounded once."""
    columns = [decoded(dtype, array) for dtype, array in zip(dtypes, arrays, strict=True)]
    totals: list[float] = []
    with np.errstate(all="ignore"):
        for first, *others in zip(*columns, strict=True):
            total = first
            for value in others:
                total = f32(total + value)
            totals.append(oracle.round_to(result, total))
        return np.array(totals).astype(STORAGE[result])


def assert_same(actual: Array, expected: Array) -> None:
    """Check for equal bits; any NaN equals any NaN."""
    flat, wanted = actual.reshape(-1), expected.reshape(-1)
    assert flat.dtype == wanted.dtype
    with np.errstate(invalid="ignore"):
        nan = (flat != flat) & (wanted != wanted)
    bits = f"u{flat.dtype.itemsize}"
    wrong = np.flatnonzero((flat.view(bits) != wanted.view(bits)) & ~nan)
    assert wrong.size == 0, (wrong[:3], flat[wrong[:3]], wanted[wrong[:3]])


# -- sums -----------------------------------------------------------------------------------------


def add_all(
    arrays: Sequence[Array],
    result: str,
    shape: tuple[int, ...] = (4, 6),
    buffers: str = "",
    scales: list[float] | None = None,
) -> Array:
    """Return the result of dma_compute; `buffers` is h or s for dst and each source."""
    places = (buffers + "h" * (len(arrays) + 1))[: len(arrays) + 1]

    @nki.jit
    def kernel(xs: list[Any]) -> Any:
        sources = [nl.load(x) if places[1 + i] == "s" else x for i, x in enumerate(xs)]
        out = nl.ndarray(shape, dtype=result, buffer=nl.shared_hbm)
        dst = out if places[0] == "h" else nl.ndarray(shape, dtype=result, buffer=nl.sbuf)
        nisa.dma_compute(dst, sources, nl.add, scales=scales)
        if dst is not out:
            nisa.dma_copy(out, dst)
        return out

    return kernel(list(arrays))


def held(dtype: str, seed: int, shape: tuple[int, ...] = (4, 6)) -> Array:
    data = filled(dtype, shape, seed=seed).data
    assert data is not None
    return data


@pytest.mark.parametrize("count", [1, 2, 3, 15, 16])
@pytest.mark.parametrize("result", ["float32", "bfloat16", "int8"])
def test_number_of_sources(count: int, result: str) -> None:
    dtypes = [HELD[i % len(HELD)] for i in range(count)]
    arrays = [held(dtype, seed) for seed, dtype in enumerate(dtypes)]
    assert_same(add_all(arrays, result), summed(dtypes, arrays, result))


@pytest.mark.parametrize("result", HELD)
@pytest.mark.parametrize("source", HELD)
def test_data_types(source: str, result: str) -> None:
    arrays = [held(source, 1), held(source, 2)]
    assert_same(add_all(arrays, result), summed([source, source], arrays, result))


def test_float32_sums_are_rounded_once() -> None:
    """Each addition is float32's; only the total becomes a bfloat16."""
    one, tiny = np.float32(1), np.float32(2.0**-9)
    arrays = [np.full((4, 6), value, np.float32) for value in (one, tiny, tiny, tiny)]
    result = add_all(arrays, "bfloat16").astype(np.float32)
    assert (result == np.float32(1 + 2.0**-7)).all()
    big = [np.full((4, 6), value, np.float32) for value in (2.0**24, 1, 1)]
    assert (add_all(big, "float32") == 2.0**24).all()


def test_one_source_keeps_no_more_than_float32() -> None:
    array = np.full((4, 6), 2**24 + 1, np.int32)
    assert (add_all([array], "int32") == 2**24).all()


@pytest.mark.parametrize("buffers", ["hhh", "hsh", "hss", "shh", "shs", "sss"])
def test_memories(buffers: str) -> None:
    arrays = [held("bfloat16", 1), held("float32", 2)]
    expected = summed(["bfloat16", "float32"], arrays, "float16")
    assert_same(add_all(arrays, "float16", buffers=buffers, scales=[1.0, 1]), expected)


def test_elements_correspond_for_any_shapes() -> None:
    arrays = [held("float32", 1, (24,)), held("float32", 2, (2, 3, 4)), held("float32", 3, (12, 2))]
    assert_same(add_all(arrays, "float32"), summed(["float32"] * 3, arrays, "float32"))


def test_views_in_place() -> None:
    """Every source is read before dst is written."""

    @nki.jit
    def kernel(x: Any) -> Any:
        tile = nl.load(x)
        nisa.dma_compute(tile[:, 1:6], [tile[:, 0:5], tile[:, 1:6], tile[:, 2:7]], nl.add)
        out = nl.ndarray((4, 7), dtype=x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, tile)
        return out

    x = whole_numbers("float32", (4, 7)).data
    assert x is not None
    expected = x.copy()
    expected[:, 1:6] = x[:, 0:5] + x[:, 1:6] + x[:, 2:7]
    assert (kernel(x) == expected).all()


# -- read, modify, write --------------------------------------------------------------------------

ROWS, COLUMNS, TABLE = 8, 5, 20


def _scatter(dtype: str, *, swap: bool, skip: bool) -> nki.Kernel:
    mode = nisa.oob_mode.skip if skip else nisa.oob_mode.error

    @nki.jit
    def kernel(table: Any, data: Any, index: Any) -> Any:
        rows, added = nl.load(index), nl.load(data)
        out = nl.ndarray((TABLE, COLUMNS), dtype=dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, table)
        pattern = [[COLUMNS, ROWS], [1, COLUMNS]]
        view = out.ap(pattern, vector_offset=rows, indirect_dim=0)
        sources = [added, view] if swap else [view, added]
        nisa.dma_compute(view, sources, nl.add, oob_mode=mode)
        return out

    return kernel


def _gather(dtype: str, *, swap: bool, skip: bool) -> nki.Kernel:
    mode = nisa.oob_mode.skip if skip else nisa.oob_mode.error

    @nki.jit
    def kernel(table: Any, data: Any, index: Any) -> Any:
        rows, tile = nl.load(index), nl.load(data)
        view = table.ap([[COLUMNS, ROWS], [1, COLUMNS]], vector_offset=rows, indirect_dim=0)
        sources = [tile, view] if swap else [view, tile]
        nisa.dma_compute(tile, sources, nl.add, oob_mode=mode)
        out = nl.ndarray((ROWS, COLUMNS), dtype=dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, tile)
        return out

    return kernel


def modified(scatters: bool, dtype: str, table: Array, data: Array, index: Array) -> Array:
    """Row after row; those out of bounds are left out."""
    result = (table if scatters else data).copy()
    for row, number in enumerate(index[:, 0]):
        if not 0 <= number < TABLE:
            continue
        line = summed([dtype, dtype], [table[number], data[row]], dtype)
        result[number if scatters else row] = line
    return result


@pytest.mark.parametrize("swap", [False, True], ids=["view-first", "view-second"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "uint8"])
@pytest.mark.parametrize("form", ["scatter", "gather"])
def test_read_modify_write(form: str, dtype: str, swap: bool) -> None:
    index = np.array([[3], [19], [0], [7], [12], [1], [18], [5]], np.int32)
    table, data = (held(dtype, seed, (n, COLUMNS)) for seed, n in ((1, TABLE), (2, ROWS)))
    make = _scatter if form == "scatter" else _gather
    result = make(dtype, swap=swap, skip=False)(table, data, index)
    assert_same(result, modified(form == "scatter", dtype, table, data, index))


def test_gathered_indices_may_repeat() -> None:
    index = np.array([[3], [3], [0], [3], [19], [0], [3], [5]], np.uint32)
    table, data = held("float32", 1, (TABLE, COLUMNS)), held("float32", 2, (ROWS, COLUMNS))
    result = _gather("float32", swap=False, skip=False)(table, data, index)
    assert_same(result, modified(False, "float32", table, data, index))


OUT_OF_BOUNDS = np.array([[3], [-1], [0], [TABLE], [12], [2**31 - 1], [18], [5]], np.int32)


@pytest.mark.parametrize("swap", [False, True], ids=["view-first", "view-second"])
@pytest.mark.parametrize("form", ["scatter", "gather"])
def test_rows_out_of_bounds_are_skipped(form: str, swap: bool) -> None:
    table, data = held("float32", 1, (TABLE, COLUMNS)), held("float32", 2, (ROWS, COLUMNS))
    make = _scatter if form == "scatter" else _gather
    result = make("float32", swap=swap, skip=True)(table, data, OUT_OF_BOUNDS)
    expected = modified(form == "scatter", "float32", table, data, OUT_OF_BOUNDS)
    assert_same(result, expected)


@pytest.mark.parametrize("form", ["scatter", "gather"])
def test_rows_out_of_bounds_end_the_run(form: str) -> None:
    table, data = held("float32", 1, (TABLE, COLUMNS)), held("float32", 2, (ROWS, COLUMNS))
    make = _scatter if form == "scatter" else _gather
    with pytest.raises(InterpretationError, match=r"%.*\[1, 0\] is -1; 3 of 8 are out of 0 to 19"):
        make("float32", swap=False, skip=False)(table, data, OUT_OF_BOUNDS)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "reduce_op": ({"reduce_op": nl.maximum}, "'reduce_op' must be nl.add, it is nl.maximum"),
    "scales": ({"scales": [0.5]}, r"'scales' must be 1.0 for each source, it is \[0.5\]"),
    "number of scales": ({"scales": [1.0, 1.0]}, "'scales' must be 1.0 for each source"),
    "oob_mode": ({"oob_mode": nisa.oob_mode.skip}, "'oob_mode' is skip"),
    "scale": ({"scales": 1.0}, "'scales': expected a list of numbers, got 1.0"),
    "word": ({"scales": ["1"]}, "'scales': expected a list of numbers"),
    "operator": ({"reduce_op": "add"}, "'reduce_op': expected an operator"),
    "source": ({"srcs": None}, "'srcs': expected a list of tiles"),
    "sources": ({"srcs": [1.0]}, "'srcs': expected a tile, got 1.0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_reported_at_the_authors_line(name: str) -> None:
    changes, message = WRONG[name]

    @nki.jit
    def wrong(x: Any) -> None:
        tile = nl.ndarray((4, 6), dtype=nl.float32, buffer=nl.sbuf)
        arguments = {"srcs": [x], "reduce_op": nl.add} | changes
        nisa.dma_compute(tile, **arguments)

    with pytest.raises(NkiValidationError, match=rf"{message}(.|\n)*test_dma_indices\.py:\d+"):
        wrong(held("float32", 1))


def test_no_sources() -> None:
    @nki.jit
    def wrong(x: Any) -> None:
        tile = nl.ndarray((4, 6), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_compute(tile, [], nl.add)

    with pytest.raises(NkiValidationError, match=r"srcs(.|\n)*test_dma_indices\.py:\d+"):
        wrong(held("float32", 1))


# -- gathering transposes -------------------------------------------------------------------------

AXES = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
DEPTH = 256
"""The number of rows of the gathered tensor."""


def gather_transpose(
    x: Array,
    rows: int,
    index: Array,
    *,
    before: Array | None = None,
    mode: nisa.oob_mode = nisa.oob_mode.error,
) -> Array:
    """Return rows of `x` selected by indices, transposed, written over the contents of dst."""
    strides = [int(np.prod(x.shape[dim + 1 :])) for dim in range(x.ndim)]
    pattern = [[stride, n] for stride, n in zip(strides, (rows, *x.shape[1:]), strict=True)]
    shape = tuple((rows, *x.shape[1:])[axis] for axis in AXES[x.ndim])

    @nki.jit
    def kernel(x: Any, index: Any, before: Any) -> Any:
        numbers = nl.load(index)
        dst = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst, before)
        source = x.ap(pattern, vector_offset=numbers, indirect_dim=0)
        nisa.dma_transpose(dst, source, axes=AXES[x.ndim], oob_mode=mode)
        out = nl.ndarray(shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, dst)
        return out

    return kernel(x, index, np.zeros(shape, x.dtype) if before is None else before)


def gathered(x: Array, rows: int, index: Array, before: Array | None = None) -> Array:
    """Element by element; index number n is in row n % P and column n // P."""
    shape = tuple((rows, *x.shape[1:])[axis] for axis in AXES[x.ndim])
    result = np.zeros(shape, x.dtype) if before is None else before.copy()
    for place in np.ndindex(rows, *x.shape[1:]):
        n, *others = place
        number = int(index[n % index.shape[0], n // index.shape[0]])
        if number < len(x):
            result[tuple(place[axis] for axis in AXES[x.ndim])] = x[(number, *others)]
    return result


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "uint16", "int16"])
@pytest.mark.parametrize(
    ("shape", "rows", "index_shape"),
    [
        ((DEPTH, 128), 128, (128, 1)),
        ((DEPTH, 128), 256, (128, 2)),
        ((DEPTH, 128), 144, (128, 2)),
        ((DEPTH, 7), 16, (16, 1)),
        ((DEPTH, 1), 16, (32, 1)),
        ((DEPTH, 3, 16), 48, (48, 1)),
        ((DEPTH, 2, 5), 384, (128, 3)),
        ((DEPTH, 1, 3, 8), 32, (32, 1)),
        ((DEPTH, 2, 1, 4), 256, (128, 2)),
    ],
    ids=str,
)
def test_gathering_transposes(
    shape: tuple[int, ...], rows: int, index_shape: tuple[int, int], dtype: str
) -> None:
    x = any_bits(dtype, shape, seed=1).data
    assert x is not None
    index = np.random.default_rng(2).integers(0, DEPTH, index_shape).astype(np.uint32)
    result = gather_transpose(x, rows, index)
    assert result.tobytes() == gathered(x, rows, index).tobytes()


@pytest.mark.parametrize(
    ("shape", "rows", "index_shape"),
    [
        ((DEPTH, 6), 32, (32, 1)),
        ((DEPTH, 3, 5), 160, (128, 2)),
        ((DEPTH, 2, 1, 5), 16, (16, 1)),
    ],
    ids=str,
)
def test_transposed_rows_out_of_bounds_are_skipped(
    shape: tuple[int, ...], rows: int, index_shape: tuple[int, int]
) -> None:
    x = any_bits("bfloat16", shape, seed=1).data
    assert x is not None
    index = np.random.default_rng(2).integers(0, 2 * DEPTH, index_shape).astype(np.uint32)
    index[0, 0] = 2**32 - 1
    permuted = tuple((rows, *shape[1:])[axis] for axis in AXES[len(shape)])
    before = any_bits("bfloat16", permuted, seed=3).data
    assert before is not None
    result = gather_transpose(x, rows, index, before=before, mode=nisa.oob_mode.skip)
    assert result.tobytes() == gathered(x, rows, index, before).tobytes()
    with pytest.raises(InterpretationError, match=r"%numbers\[0, 0\] is 4294967295; "):
        gather_transpose(x, rows, index)


# -- offsets in registers -------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0, 7, -3, 2**31 - 1, -(2**31)])
def test_offsets_in_registers(offset: int) -> None:
    """The same as with a number, wrapped to 32 bits."""

    @nki.jit
    def kernel(x: Any, start: Any) -> Any:
        register = nisa.register_alloc()
        nisa.register_load(register, start)
        tile = nl.load(x)
        results: list[Any] = []
        for number in (register, offset):
            index = nl.ndarray((4, 12), dtype=nl.int32, buffer=nl.sbuf)
            picked = nl.ndarray((4, 12), dtype=nl.float32, buffer=nl.sbuf)
            nisa.iota(index, [[3, 4], [-1, 3]], offset=number, channel_multiplier=2)
            nisa.affine_select(picked, [[-1, 12]], 1, tile, -1.0, nl.greater_equal, offset=number)
            for made in (index, picked):
                out = nl.ndarray((4, 12), dtype=made.dtype, buffer=nl.shared_hbm)
                nisa.dma_copy(out, made)
                results.append(out)
        return tuple(results)

    x = np.arange(48, dtype=np.float32).reshape(4, 12)
    index, picked, same_index, same_picked = kernel(x, np.array([[offset]], np.int32))
    for p in range(4):
        for column in range(12):
            wide = offset + 2 * p + 3 * (column // 3) - column % 3
            assert index[p, column] == (wide + 2**31) % 2**32 - 2**31
            kept = (offset + p - column + 2**31) % 2**32 - 2**31 >= 0
            assert picked[p, column] == (x[p, column] if kept else -1.0)
    assert (index == same_index).all()
    assert (picked == same_picked).all()


def test_a_tile_of_numbers_is_not_an_offset() -> None:
    """A tile of numbers is no offset."""

    @nki.jit
    def wrong(x: Any) -> None:
        tile = nl.ndarray((4, 12), dtype=nl.int32, buffer=nl.sbuf)
        nisa.iota(tile, [[1, 12]], offset=nl.load(x))

    with pytest.raises(NkiValidationError, match="'offset': expected an int32 or a register"):
        wrong(np.zeros((1, 1), np.int32))
