"""The text of errors for indices that are out of bounds in a run, on both backends."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.backends import natively

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.interpret.backends.choice import NUMPY, on_backend
from nkijit.passes.interpret.records.errors import FoundError

Array = npt.NDArray[Any]
ROWS, WIDTH = 1000, 8
TABLE = np.arange(ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH)
SKIP = "nisa.dma_copy(…, oob_mode=nisa.oob_mode.skip) leaves out"

backends = pytest.mark.parametrize(
    "backend", [lambda: on_backend(NUMPY), natively], ids=["numpy", "native"]
)


def returned(tile: Any) -> Any:
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile)
    return out


def column(count: int, wrong: dict[int, int], dtype: Any = np.int32) -> Array:
    """Legal indices in a column, except for those in `wrong`."""
    index = np.arange(count, dtype=dtype).reshape(count, 1)
    for row, number in wrong.items():
        index[row, 0] = number
    return index


@nki.jit
def gather(table: Any, ids: Any) -> Any:
    i = nl.load(ids)
    rows = nl.ndarray((128, WIDTH), table.dtype, buffer=nl.sbuf)
    nisa.dma_copy(rows, table.ap([[WIDTH, 128], [1, WIDTH]], vector_offset=i))
    return returned(rows)


@nki.jit
def scatter(table: Any, ids: Any) -> Any:
    i = nl.load(ids)
    out = returned(table)
    nisa.dma_copy(out.ap([[WIDTH, 4], [1, WIDTH]], vector_offset=i), nl.load(table[0:4]))
    return out


@nki.jit
def part_of_a_tile(table: Any, ids: Any) -> Any:
    """The index is a column of a larger tile, from partition 32 on."""
    i = nl.load(ids)
    rows = nl.ndarray((4, WIDTH), table.dtype, buffer=nl.sbuf)
    nisa.dma_copy(rows, table.ap([[WIDTH, 4], [1, WIDTH]], vector_offset=i[32:36, 2:3]))
    return returned(rows)


@nki.jit
def added(table: Any, ids: Any) -> Any:
    i = nl.load(ids)
    out = returned(table)
    rows = nl.load(table[0:4])
    view = out.ap([[WIDTH, 4], [1, WIDTH]], vector_offset=i)
    nisa.dma_compute(view, [view, rows], nl.add)
    return out


@nki.jit
def transposed(table: Any, ids: Any) -> Any:
    i = nl.load(ids)
    columns = nl.ndarray((WIDTH, 144), table.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(
        columns, table.ap([[WIDTH, 144], [1, WIDTH]], vector_offset=i, indirect_dim=0), axes=(1, 0)
    )
    return returned(columns)


@nki.jit
def from_a_register(table: Any, ids: Any) -> Any:
    first = nisa.register_alloc()
    nisa.register_load(first, ids)
    rows = nl.ndarray((4, WIDTH), table.dtype, buffer=nl.sbuf)
    nisa.dma_copy(rows, table[nl.ds(first, 4)])
    return returned(rows)


@nki.jit
def from_an_element(table: Any, ids: Any) -> Any:
    i = nl.load(ids)
    rows = nl.ndarray((4, WIDTH), table.dtype, buffer=nl.sbuf)
    nisa.dma_copy(rows, table[nl.ds(i[7:8], 4)])
    return returned(rows)


@nki.jit
def on_chip(table: Any, ids: Any) -> Any:
    first = nisa.register_alloc()
    tile = nl.load(table[0:4])
    nisa.register_load(first, ids)
    two = nl.ndarray((4, 2), table.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(two, tile[:, nl.ds(first, 2)])
    return returned(two)


@nki.jit
def in_a_loop(table: Any, ids: Any) -> Any:
    last = nisa.register_alloc()
    out = returned(table)
    nisa.register_load(last, ids)

    def body(k: Any) -> None:
        nisa.dma_copy(out[nl.ds(k, 1)], table[0:1])

    nl.fori_loop(0, last, body)
    return out


@nki.jit
def indirect(table: Any, ids: Any) -> Any:
    i = nl.load(ids)
    tile = nl.load(table[0:32])
    chosen = nl.ndarray((32, 3), table.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(chosen, tile.indirect(i, 3))
    return returned(chosen)


@nki.jit
def gathered_in_partitions(table: Any, ids: Any) -> Any:
    i = nl.load(ids)
    tile = nl.load(table[0:32])
    chosen = nl.ndarray((32, 2), table.dtype, buffer=nl.sbuf)
    nisa.nc_n_gather(chosen, tile, i[:, 1:3])
    return returned(chosen)


@nki.jit
def gathered_in_groups(table: Any, ids: Any) -> Any:
    i = nl.load(ids)
    tile = nl.load(table[0:32])
    chosen = nl.ndarray((32, 20), table.dtype, buffer=nl.sbuf)
    nisa.local_gather(chosen, tile, i, num_valid_indices=20)
    return returned(chosen)


def elements(shape: tuple[int, int], wrong: dict[tuple[int, int], int], dtype: Any) -> Array:
    index = np.zeros(shape, dtype)
    for place, number in wrong.items():
        index[place] = number
    return index


SHORTS = np.arange(256 * WIDTH, dtype=np.float16).reshape(256, WIDTH)

CASES: dict[str, tuple[Any, Array, Array, str, str]] = {
    "vector": (
        gather,
        TABLE,
        column(128, {77: 1000, 99: -1, 127: 2**31 - 1}),
        "nisa.dma_copy: the index of 'src' is out of bounds: "
        "%i[77, 0] is 1000; 3 of 128 are out of 0 to 999",
        f"let %i hold numbers from 0 to 999; {SKIP} rows with other numbers",
    ),
    "scatter": (
        scatter,
        TABLE,
        column(4, {2: -7}),
        "nisa.dma_copy: the index of 'dst' is out of bounds: "
        "%i[2, 0] is -7; 1 of 4 is out of 0 to 999",
        f"let %i hold numbers from 0 to 999; {SKIP} rows with other numbers",
    ),
    "uint32": (
        scatter,
        TABLE,
        column(4, {3: 2**32 - 1}, np.uint32),
        "%i[3, 0] is 4294967295; 1 of 4 is out of 0 to 999",
        "",
    ),
    "part of a tile": (
        part_of_a_tile,
        TABLE,
        elements((64, 3), {(33, 2): 1000, (40, 2): 2000, (33, 1): 3000}, np.int32),
        "%i[33, 2] is 1000; 1 of 4 is out of 0 to 999",
        "",
    ),
    "dma_compute": (
        added,
        TABLE,
        column(4, {0: 1001}),
        "nisa.dma_compute: the index of 'srcs' is out of bounds: "
        "%i[0, 0] is 1001; 1 of 4 is out of 0 to 999",
        "nisa.dma_compute(…, oob_mode=nisa.oob_mode.skip) leaves out rows with other numbers",
    ),
    "several columns": (
        transposed,
        SHORTS,
        elements((128, 2), {(15, 1): 256, (16, 1): 999}, np.uint32),
        "nisa.dma_transpose: the index of 'src' is out of bounds: "
        "%i[15, 1] is 256; 1 of 144 is out of 0 to 255",
        "nisa.dma_transpose(…, oob_mode=nisa.oob_mode.skip) leaves out rows with other numbers",
    ),
    "register": (
        from_a_register,
        TABLE,
        column(1, {0: 997}),
        "nisa.dma_copy: the index of 'src' is out of bounds: %first is 997, legal are 0 to 996",
        f"let %first hold numbers from 0 to 996; {SKIP} the instruction",
    ),
    "one element": (
        from_an_element,
        TABLE,
        column(8, {0: -2, 7: -1}),
        "the index of 'src' is out of bounds: %i[7, 0] is -1, legal are 0 to 996",
        f"let %i hold numbers from 0 to 996; {SKIP} the instruction",
    ),
    "on chip": (
        on_chip,
        TABLE,
        column(1, {0: 7}),
        "nisa.tensor_copy: the index of 'src' is out of bounds: %first is 7, legal are 0 to 6",
        "let %first hold numbers from 0 to 6; nisa.tensor_copy has no oob_mode=, with which it "
        "could leave out others",
    ),
    "loop": (
        in_a_loop,
        TABLE,
        column(1, {0: 1001}),
        "the index of 'dst' is out of bounds: %k is 1000, legal are 0 to 999",
        f"let %k hold numbers from 0 to 999; {SKIP} the instruction",
    ),
    "tensor": (
        indirect,
        TABLE,
        # Element i of the first 16 partitions is the number in partition i.
        elements((32, 1), {(18, 0): 8, (5, 0): 99}, np.uint32),
        "nisa.tensor_copy: the index of 'src' is out of bounds: "
        "%i[18, 0] is 8; 1 of 6 is out of 0 to 7",
        "nisa.tensor_copy has no oob_mode=, with which it could leave out others",
    ),
    "nc_n_gather": (
        gathered_in_partitions,
        TABLE,
        elements((32, 3), {(30, 2): 8, (31, 1): 9, (0, 0): 77}, np.uint32),
        "nisa.nc_n_gather: 'indices' is out of bounds: %i[30, 2] is 8; 2 of 64 are out of 0 to 7",
        "let %i hold numbers from 0 to 7; nisa.nc_n_gather has no oob_mode=",
    ),
    "local_gather": (
        gathered_in_groups,
        TABLE,
        # Of the last column only the first 4 partitions of each group are used.
        elements((32, 2), {(19, 1): 8, (20, 1): 99}, np.uint16),
        "nisa.local_gather: 'index' is out of bounds: %i[19, 1] is 8; 1 of 40 is out of 0 to 7",
        "let %i hold numbers from 0 to 7; nisa.local_gather has no oob_mode=",
    ),
}


@backends
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_element_is_named(
    case: tuple[Any, Array, Array, str, str], backend: Callable[[], AbstractContextManager[None]]
) -> None:
    kernel, table, ids, message, help = case
    with backend(), pytest.raises(FoundError) as caught:
        kernel(table, ids)
    text = str(caught.value)
    headline, place, *_ = text.split("\n")
    assert headline.startswith("error[index-bounds]: ")
    assert headline.endswith(message)
    assert "test_bounds.py:" in place
    assert help in text
    # Processes pass errors on to others.
    assert str(pickle.loads(pickle.dumps(caught.value))) == text


@backends
def test_legal_indices_are_no_error(backend: Callable[[], AbstractContextManager[None]]) -> None:
    with backend():
        assert np.array_equal(
            gather(TABLE, column(128, {5: 999})), TABLE[column(128, {5: 999})[:, 0]]
        )
