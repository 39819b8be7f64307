"""Addresses known at run time: reads and writes of instructions, against explicit loops."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.interpret.records.errors import InterpretationError

RNG = np.random.default_rng(7)
SKIP = nisa.oob_mode.skip
ROWS, WIDTH = 12, 6
DATA = RNG.standard_normal((ROWS, WIDTH)).astype(np.float32)


def _loaded(tensor, dtype=None):
    tile = nl.ndarray(tensor.shape, dtype or tensor.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=tensor)
    return tile


def _copied(tensor):
    out = nl.ndarray(tensor.shape, tensor.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tensor)
    return out


def _number(value) -> np.ndarray:
    return np.array([[value]], np.int32)


def _column(values) -> np.ndarray:
    return np.array(values, np.int32)[:, None]


# -- vectors of indices

_INDICES = {
    "one": [3],
    "some": [5, 0, 11, 5],
    "all": list(range(ROWS)),
    "many": [int(i) for i in RNG.integers(0, ROWS, 128)],
}


@nki.jit
def _gather(data, indices, width=WIDTH, dtype=None, by_ap=False, mode=nisa.oob_mode.error):
    index = _loaded(indices)
    count = indices.shape[0]
    old = nl.ndarray((count, width), dtype or data.dtype, buffer=nl.sbuf)
    nisa.memset(dst=old, value=-7)
    if by_ap:
        source = data.ap([[data.shape[1], count], [1, width]], vector_offset=index)
    else:
        source = data[:, 0:width].vector_select(0, index)
    nisa.dma_copy(dst=old, src=source, oob_mode=mode)
    return _copied(old)


@pytest.mark.parametrize("indices", _INDICES.values(), ids=_INDICES)
@pytest.mark.parametrize("index_dtype", [np.int32, np.uint32])
@pytest.mark.parametrize("by_ap", [False, True])
def test_gather(indices, index_dtype, by_ap):
    result = _gather(DATA, _column(indices).astype(index_dtype), width=4, by_ap=by_ap)
    expected = np.empty((len(indices), 4), np.float32)
    for row, index in enumerate(indices):
        for column in range(4):
            expected[row, column] = DATA[index, column]
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", [None, "float16", "int32"])
def test_gather_skips_rows_out_of_bounds(dtype):
    indices = [2, -1, 5, ROWS, 2**31 - 1, 0]
    result = _gather(DATA, _column(indices), dtype=dtype, mode=SKIP)
    expected = np.full((len(indices), WIDTH), -7, result.dtype)
    for row, index in enumerate(indices):
        if 0 <= index < ROWS:
            expected[row] = np.rint(DATA[index]) if dtype == "int32" else DATA[index]
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("index", [-1, ROWS])
def test_rows_out_of_bounds_are_errors(index):
    message = (
        rf"'src' is out of bounds: %tile\[1, 0\] is {index}; 1 of 2 is out of 0 to 11\n .*py:\d+"
    )
    with pytest.raises(InterpretationError, match=message):
        _gather(DATA, _column([0, index]))


@nki.jit
def _scatter(data, indices, into, dtype=None, mode=nisa.oob_mode.error):
    index, source = _loaded(indices), _loaded(data, dtype)
    out = _copied(into)
    nisa.dma_copy(dst=out.vector_select(0, index), src=source, oob_mode=mode)
    return out


@pytest.mark.parametrize("dtype", [None, "bfloat16"])
@pytest.mark.parametrize("indices", [[4, 0, 9], [4, 4, 4], [3, -1, 11], [12, -5, 99]], ids=str)
def test_scatter(indices, dtype):
    """Of rows that go to one place the last one stays."""
    data = DATA[: len(indices)].round(1) if dtype is None else np.rint(DATA[: len(indices)] * 4)
    old = np.arange(ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH)
    result = _scatter(data, _column(indices), old, dtype, SKIP)
    expected = old.copy()
    for row, index in enumerate(indices):
        if 0 <= index < ROWS:
            expected[index] = data[row]
    np.testing.assert_array_equal(result, expected)
    if not all(0 <= index < ROWS for index in indices):
        with pytest.raises(InterpretationError, match=r"index of 'dst' is out of bounds: %tile\["):
            _scatter(data, _column(indices), old, dtype)


def test_an_input_is_scattered_into():
    @nki.jit
    def kernel(data, indices, into):
        nisa.dma_copy(dst=into.vector_select(0, _loaded(indices)), src=_loaded(data))

    into = np.zeros((ROWS, WIDTH), np.float32)
    kernel(DATA[:2], _column([7, 1]), into)
    expected = np.zeros((ROWS, WIDTH), np.float32)
    expected[7], expected[1] = DATA[0], DATA[1]
    np.testing.assert_array_equal(into, expected)


def test_skipped_rows_in_a_destination_of_another_shape():
    """Elements correspond in row-major order, so a skipped row is part of a row of dst."""

    @nki.jit
    def kernel(data, indices):
        index = _loaded(indices)
        old = nl.ndarray((2, 3 * WIDTH), nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=old, value=-7)
        nisa.dma_copy(dst=old, src=data.vector_select(0, index), oob_mode=SKIP)
        return _copied(old)

    indices = [3, 99, 0, -1, 2, 2]
    expected = np.full((6, WIDTH), -7, np.float32)
    for row, index in enumerate(indices):
        if 0 <= index < ROWS:
            expected[row] = DATA[index]
    np.testing.assert_array_equal(kernel(DATA, _column(indices)), expected.reshape(2, -1))


def test_skipped_rows_in_a_destination_that_moves():
    @nki.jit
    def kernel(data, indices, where):
        index = _loaded(indices)
        at = nisa.register_alloc()
        nisa.register_load(at, _loaded(where))
        out = nl.ndarray((ROWS, WIDTH), nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=data)
        nisa.dma_copy(dst=out[nl.ds(at, 3), :], src=data.vector_select(0, index), oob_mode=SKIP)
        return out

    expected = DATA.copy()
    expected[5], expected[7] = DATA[9], DATA[0]
    np.testing.assert_array_equal(kernel(DATA, _column([9, 77, 0]), _number(5)), expected)
    np.testing.assert_array_equal(kernel(DATA, _column([9, 77, 0]), _number(10)), DATA)


@pytest.mark.parametrize("shape", [(4, 6), (8, 3), (2, 12)])
def test_gather_and_scatter_at_once(shape):
    """Rows skipped on either side are not written; the rows of the sides can differ."""

    @nki.jit
    def kernel(data, sources, targets, old):
        out = _copied(old)
        nisa.dma_copy(
            dst=out.vector_select(0, _loaded(targets)),
            src=data.vector_select(0, _loaded(sources)),
            oob_mode=SKIP,
        )
        return out

    data = np.arange(24, dtype=np.float32).reshape(4, 6)
    old = -np.arange(1, 25, dtype=np.float32).reshape(shape)
    sources, targets = [2, 9, 0, 1], [int(i) for i in RNG.permutation(shape[0])]
    targets[0] = -1
    expected = old.copy()
    for number in range(24):
        source, target = sources[number // 6], targets[number // shape[1]]
        if source < 4 and target >= 0:
            expected[target, number % shape[1]] = data[source, number % 6]
    np.testing.assert_array_equal(kernel(data, _column(sources), _column(targets), old), expected)


def test_indices_are_read_when_the_instruction_runs():
    @nki.jit
    def kernel(data, indices):
        index = _loaded(indices)
        selected = data.vector_select(0, index)
        first = nl.ndarray((2, WIDTH), nl.float32, buffer=nl.shared_hbm)
        second = nl.ndarray((2, WIDTH), nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=first, src=selected)
        nisa.tensor_scalar(dst=index, data=index, op0=nl.add, operand0=1)
        nisa.dma_copy(dst=second, src=selected)
        return first, second

    first, second = kernel(DATA, _column([0, 5]))
    np.testing.assert_array_equal(first, DATA[[0, 5]])
    np.testing.assert_array_equal(second, DATA[[1, 6]])


def test_gather_from_rows_of_a_view():
    @nki.jit
    def kernel(data, indices):
        out = nl.ndarray((2, 2, 2), nl.float32, buffer=nl.shared_hbm)
        view = data[2:10:2, 1:5].reshape_dim(1, (2, 2)).permute((0, 2, 1))
        nisa.dma_copy(dst=out, src=view.vector_select(0, _loaded(indices)))
        return out

    expected = np.empty((2, 2, 2), np.float32)
    for row, index in enumerate([3, 0]):
        for a in range(2):
            for b in range(2):
                expected[row, a, b] = DATA[2 + 2 * index, 1 + 2 * b + a]
    np.testing.assert_array_equal(kernel(DATA, _column([3, 0])), expected)
    with pytest.raises(InterpretationError, match=r"%tile\[1, 0\] is 4; 1 of 2 is out of 0 to 3"):
        kernel(DATA, _column([3, 4]))


# -- one index

_SOURCES = ("register", "tile", "loop")


def _at(kind, where):
    """Something that holds the number in `where`, whose body is called with it."""
    tile = _loaded(where)
    if kind == "tile":
        return lambda body: body(tile)
    register = nisa.register_alloc()
    nisa.register_load(register, tile)
    if kind == "register":
        return lambda body: body(register)
    after = nisa.register_alloc()
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1)
    nisa.register_load(after, tile)
    return lambda body: nl.fori_loop(register, after, body)


@pytest.mark.parametrize("kind", _SOURCES)
@pytest.mark.parametrize("where", [0, 3, 8])
def test_one_index_in_hbm(kind, where):
    @nki.jit
    def kernel(data, number):
        run = _at(kind, number)
        read = nl.ndarray((4, 3), nl.float32, buffer=nl.shared_hbm)
        written, row = _copied(data), _copied(data)

        def body(index):
            nisa.dma_copy(dst=read, src=data[nl.ds(index, 4), 1:6:2])
            nisa.dma_copy(dst=written[nl.ds(index, 4), 0:2], src=data[0:4, 4:6])
            nisa.dma_copy(dst=row.select(0, index), src=data[0])

        run(body)
        return read, written, row

    read, written, row = kernel(DATA, _number(where))
    np.testing.assert_array_equal(read, DATA[where : where + 4, 1:6:2])
    expected = DATA.copy()
    expected[where : where + 4, 0:2] = DATA[0:4, 4:6]
    np.testing.assert_array_equal(written, expected)
    expected = DATA.copy()
    expected[where] = DATA[0]
    np.testing.assert_array_equal(row, expected)
    for wrong in (-1, 9):
        with pytest.raises(InterpretationError, match=rf"out of bounds: %.* is {wrong}, legal are"):
            kernel(DATA, _number(wrong))


@pytest.mark.parametrize("kind", _SOURCES)
@pytest.mark.parametrize("partitions", [1, 4, 128])
def test_one_index_in_sbuf(kind, partitions):
    data = RNG.standard_normal((partitions, 10)).astype(np.float32)

    @nki.jit
    def kernel(data, number):
        run = _at(kind, number)
        tile = _loaded(data)
        half = nl.ndarray((partitions, 5), nl.float32, buffer=nl.sbuf)

        def body(index):
            nisa.activation(dst=half, op=nl.square, data=tile[:, nl.ds(index, 5)])
            nisa.tensor_scalar(
                dst=tile[:, nl.ds(index, 2)], data=half[:, 0:2], op0=nl.add, operand0=1.0
            )

        run(body)
        return _copied(tile), _copied(half)

    tile, half = kernel(data, _number(3))
    expected = data[:, 3:8] * data[:, 3:8]
    np.testing.assert_array_equal(half, expected)
    changed = data.copy()
    changed[:, 3:5] = expected[:, :2] + 1
    np.testing.assert_array_equal(tile, changed)


@pytest.mark.parametrize("mode", [nisa.oob_mode.error, SKIP])
@pytest.mark.parametrize("side", ["src", "dst"])
def test_one_index_out_of_bounds(mode, side):
    @nki.jit
    def kernel(data, number):
        index = _loaded(number)
        out = _copied(data)
        views = {"src": data[0:2], "dst": out[0:2]}
        views[side] = {"src": data, "dst": out}[side][nl.ds(index, 2)]
        nisa.dma_copy(**views, oob_mode=mode)
        return out

    for wrong in (-1, ROWS - 1):
        if mode is SKIP:
            np.testing.assert_array_equal(kernel(DATA, _number(wrong)), DATA)
        else:
            with pytest.raises(InterpretationError, match=rf"'{side}' is out of .* is {wrong},"):
                kernel(DATA, _number(wrong))


def test_a_view_that_moves_by_two_registers():
    """Views of one type may lie on each other in different places."""

    @nki.jit
    def kernel(data, first, second):
        tile = _loaded(data)
        a, b = _loaded(first), _loaded(second)
        nisa.tensor_scalar(
            dst=tile[:, nl.ds(a, 4)],
            data=tile[:, nl.ds(b, 4)],
            op0=nl.multiply,
            operand0=2.0,
            op1=nl.add,
            operand1=tile[:, 0:1],
        )
        nisa.tensor_copy(dst=tile[:, nl.ds(b, 4)], src=tile[:, nl.ds(a, 4)])
        return _copied(tile)

    for a, b in ((0, 1), (1, 0), (2, 2), (0, 2)):
        expected = DATA.copy()
        results = [[DATA[p, b + f] * 2 + DATA[p, 0] for f in range(4)] for p in range(ROWS)]
        expected[:, a : a + 4] = np.array(results, np.float32)
        expected[:, b : b + 4] = expected[:, a : a + 4].copy()
        np.testing.assert_array_equal(kernel(DATA, _number(a), _number(b)), expected)


def test_ap_with_an_offset_in_another_data_type():
    """The index counts in a dimension of the tensor, the pattern in elements of the new type."""

    @nki.jit
    def kernel(data, number):
        out = nl.ndarray((2, 3), nl.uint16, buffer=nl.shared_hbm)
        source = data.ap(
            [[4 * WIDTH, 2], [2, 3]],
            offset=1,
            scalar_offset=_loaded(number),
            indirect_dim=0,
            dtype=nl.uint16,
        )
        nisa.dma_copy(dst=out, src=source)
        return out

    flat = DATA.view(np.uint16).reshape(-1)
    expected = [[flat[1 + 5 * 2 * WIDTH + 4 * WIDTH * i + 2 * j] for j in range(3)] for i in (0, 1)]
    np.testing.assert_array_equal(kernel(DATA, _number(5)), np.array(expected, np.uint16))


def test_ap_counts_in_the_dimension_that_is_named():
    @nki.jit
    def kernel(data, number):
        tile = _loaded(data)
        out = nl.ndarray((ROWS, 2), nl.float32, buffer=nl.sbuf)
        pattern = [[WIDTH, ROWS], [3, 2]]
        moved = tile.reshape((ROWS, 2, 3)).ap(
            pattern, scalar_offset=_loaded(number), indirect_dim=2
        )
        nisa.tensor_copy(dst=out, src=moved)
        return _copied(out)

    for index in range(3):
        np.testing.assert_array_equal(kernel(DATA, _number(index)), DATA[:, [index, index + 3]])
    with pytest.raises(InterpretationError, match="legal are 0 to 2"):
        kernel(DATA, _number(3))


def test_matmul_into_a_place_known_at_run_time():
    a = RNG.integers(-4, 5, (8, 4)).astype(np.float32)
    b = RNG.integers(-4, 5, (8, 3)).astype(np.float32)

    @nki.jit
    def kernel(a, b, accumulate=None, times=1):
        left, right = _loaded(a), _loaded(b)
        product = nl.ndarray((4, 12), nl.float32, buffer=nl.psum)
        nisa.memset(dst=product, value=0.0)
        for i in nl.dynamic_range(4):
            window = product.reshape((4, 4, 3)).select(1, i)
            for _ in range(times):
                nisa.nc_matmul(dst=window, stationary=left, moving=right, accumulate=accumulate)
        result = nl.ndarray((4, 12), nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=result, src=product)
        return _copied(result)

    np.testing.assert_array_equal(kernel(a, b), np.tile(a.T @ b, 4))
    np.testing.assert_array_equal(kernel(a, b, True, 3), 3 * np.tile(a.T @ b, 4))
    np.testing.assert_array_equal(kernel(a, b, False, 3), np.tile(a.T @ b, 4))
    with pytest.raises(InterpretationError, match=r"accumulate="):
        kernel(a, b, None, 2)


# -- tensor indirection


def _offsets(index, count, group=16):
    """For every partition, the numbers that its group's index tile holds, down partitions first."""
    partitions = index.shape[0]
    result = np.empty((partitions, count), int)
    for partition in range(partitions):
        first = partition // group * group
        height = min(group, partitions - first)
        for number in range(count):
            result[partition, number] = index[first + number % height, number // height]
    return result


@pytest.mark.parametrize("partitions", [1, 5, 16, 17, 32, 100, 128])
@pytest.mark.parametrize("count", [None, 1, 7])
def test_tensor_indirection_gathers(partitions, count):
    data = RNG.standard_normal((partitions, 3, 20)).astype(np.float32)
    columns = 9
    index = RNG.integers(0, 60, (partitions, columns)).astype(np.uint32)
    last = partitions % 16 or 16
    number = (last if partitions > 16 else partitions) * columns if count is None else count

    @nki.jit
    def kernel(data, index):
        tile, where = _loaded(data), _loaded(index)
        out = nl.ndarray((partitions, number), nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=out, src=tile.indirect(where, count))
        return _copied(out)

    offsets = _offsets(index, number)
    expected = np.empty((partitions, number), np.float32)
    for p in range(partitions):
        for f in range(number):
            expected[p, f] = data[p].reshape(-1)[offsets[p, f]]
    np.testing.assert_array_equal(kernel(data, index), expected)


@pytest.mark.parametrize("partitions", [1, 16, 40])
def test_tensor_indirection_scatters(partitions):
    data = RNG.standard_normal((partitions, 8)).astype(np.float32)
    index = RNG.integers(0, 30, (partitions, 8)).astype(np.int32)

    @nki.jit
    def kernel(data, index):
        tile, where = _loaded(data), _loaded(index)
        into = nl.ndarray((partitions, 40), nl.bfloat16, buffer=nl.sbuf)
        nisa.memset(dst=into, value=1.0)
        nisa.tensor_copy(dst=into[:, 4:34].indirect(where, 8), src=tile)
        return _copied(into)

    offsets = _offsets(index, 8)
    rounded = nki_bfloat16(data)
    expected = np.ones((partitions, 40), rounded.dtype)
    for p in range(partitions):
        for f in range(8):
            expected[p, 4 + offsets[p, f]] = rounded[p, f]
    np.testing.assert_array_equal(kernel(data, index), expected)


def nki_bfloat16(values):
    import ml_dtypes

    return values.astype(ml_dtypes.bfloat16)


def test_tensor_indirection_in_place():
    """A view that is read and written: gathered before, scattered after the instruction."""

    @nki.jit
    def kernel(data, index):
        tile, where = _loaded(data), _loaded(index)
        view = tile.indirect(where, 3)
        nisa.tensor_copy(dst=view, src=view)
        return _copied(tile)

    index = RNG.integers(0, WIDTH, (ROWS, 1)).astype(np.uint32)
    np.testing.assert_array_equal(kernel(DATA, index), DATA)


def test_tensor_indirection_out_of_bounds():
    @nki.jit
    def kernel(data, index):
        tile, where = _loaded(data), _loaded(index)
        out = nl.ndarray((ROWS, 1), nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=out, src=tile.indirect(where, 1))
        return _copied(out)

    with pytest.raises(InterpretationError, match=r"%tile\[0, 0\] is 6, legal are 0 to 5"):
        kernel(DATA, np.full((ROWS, 1), WIDTH, np.int32))


# -- listeners -------


def test_a_listener_sees_writes_at_indices():
    class Recorder:
        def __init__(self):
            self.seen = []

        def did_run(self, op, written):
            self.seen += [array.copy() for array in written]

    @nki.jit
    def kernel(data, indices, number):
        index, where = _loaded(indices), _loaded(number)
        out = nl.ndarray((ROWS, WIDTH), nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out.vector_select(0, index)[:, 2:4], src=data[0:2, 2:4])
        nisa.dma_copy(dst=out.select(0, where), src=data[3])
        return out

    recorder = Recorder()
    inputs = DATA, _column([7, 1]), _number(5)
    kernel.trace(*inputs).run(*inputs, listener=recorder)
    np.testing.assert_array_equal(recorder.seen[2], DATA[0:2, 2:4])
    np.testing.assert_array_equal(recorder.seen[3], DATA[3])
