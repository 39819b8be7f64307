"""Tiles placed by nki.compiler: the modulo formula, its limits, and results of such kernels."""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nkijit.classic as nki
import nkijit.classic.compiler as ncc
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
from nkijit import NkiValidationError, UnsupportedError
from nkijit.classic.tensors.memory import DirectAllocation
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.kernels.arguments import ArgumentTypeError


def numbered(index: tuple[int, ...], counts: tuple[int, ...]) -> int:
    """The number of a block among the places: its index modulo the counts, in row-major order."""
    counts = counts or tuple(1 for _ in index)
    wrapped = np.array([i % n for i, n in zip(index, counts, strict=True)], dtype=int)
    weights = [reduce(lambda a, b: a * b, counts[d + 1 :], 1) for d in range(len(counts))]
    return int(np.dot(wrapped, np.array(weights, dtype=int))) if index else 0


counts = st.lists(st.integers(1, 4), max_size=3)


@given(counts, counts, counts, st.integers(0, 7), st.integers(0, 4096))
def test_the_modulo_formula(
    blocks: list[int], par: list[int], free: list[int], bank: int, base: int
) -> None:
    rank = len(blocks)
    par_tiles, free_tiles = (tuple([*n, 2, 3, 1][:rank]) for n in (par, free))
    in_sbuf = ncc.sbuf.mod_alloc(
        base_addr=base, base_partition=32, num_par_tiles=par_tiles, num_free_tiles=free_tiles
    )
    in_psum = ncc.psum.mod_alloc(base_bank=bank, num_bank_tiles=free_tiles)
    for index in product(*map(range, blocks)):
        assert in_sbuf.function(index, 32, 96) == (
            32 + 32 * numbered(index, par_tiles),
            base + 96 * numbered(index, free_tiles),
        )
        assert in_psum.function(index, 128, 2048) == (bank + numbered(index, free_tiles), 0, 0)


def test_the_example_of_the_guide() -> None:
    """(4, 128, 512) bfloat16 in two places: 0, 1024, 0, 1024."""
    placement = ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,))
    assert [placement.function((i,), 128, 1024)[1] for i in range(4)] == [0, 1024, 0, 1024]


@pytest.mark.parametrize(
    "call",
    [
        lambda: ncc.sbuf.mod_alloc(base_addr=-1),
        lambda: ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(0,)),
        lambda: ncc.psum.mod_alloc(base_bank=-1),
        lambda: ncc.psum.mod_alloc(base_bank=0, num_bank_tiles=(2, -1)),
    ],
)
def test_numbers_of_places_are_positive(call: Any) -> None:
    with pytest.raises(ValueError, match="positive numbers of places"):
        call()


def test_a_placement_needs_a_function() -> None:
    with pytest.raises(TypeError, match="alloc expects a function"):
        ncc.sbuf.alloc((0, 0))  # pyright: ignore[reportArgumentType]


def addresses(kernel: Any, *arguments: Any) -> list[str]:
    """The addresses of the tiles, as the IR has them, in the order of their allocation."""
    lines = str(kernel.trace(*arguments)).splitlines()
    return [line.split("address=")[1].partition(" :")[0] for line in lines if "address=" in line]


@pytest.mark.parametrize(
    ("partitions", "legal"),
    [(128, {0}), (65, {0}), (64, {0, 64}), (33, {0, 64}), (32, {0, 32, 64, 96}), (1, {0, 32})],
)
def test_start_partitions_in_sbuf(partitions: int, legal: set[int]) -> None:
    for start in range(0, 128, 16):
        placement = ncc.sbuf.alloc(lambda index, p, f, start=start: (start, 0))

        @nki.jit
        def kernel(placement: DirectAllocation = placement) -> None:
            nl.ndarray((partitions, 4), dtype=nl.float32, buffer=placement)

        if start in legal or (start in {64, 96} and partitions <= 32):
            assert addresses(kernel) == [f"[{start}, 0]"]
        else:
            with pytest.raises(NkiValidationError, match="direct-allocation"):
                kernel.trace()


def test_the_function_gets_index_partitions_and_bytes() -> None:
    seen: list[Any] = []

    def place(index: Any, partitions: Any, size: Any) -> tuple[int, int]:
        seen.append((index, partitions, size))
        return 0, size * len(seen)

    @nki.jit
    def kernel() -> None:
        buffer = ncc.sbuf.alloc(place)
        nl.ndarray((2, 3, nl.par_dim(16), 5, 7), dtype=nl.bfloat16, buffer=buffer)
        nl.ndarray((16, 3), dtype=nl.float32, buffer=buffer)

    kernel.trace()
    assert seen == [((i, j), 16, 70) for i in range(2) for j in range(3)] + [((), 16, 12)]


def test_banks_of_psum_are_bytes_of_an_address() -> None:
    @nki.jit
    def kernel() -> None:
        buffer = ncc.psum.mod_alloc(base_bank=3, num_bank_tiles=(2,))
        nl.ndarray((3, nl.par_dim(128), 512), dtype=nl.float32, buffer=buffer)

    assert addresses(kernel) == ["[0, 6144]", "[0, 8192]", "[0, 6144]"]


def test_the_automatic_buffers() -> None:
    assert ncc.sbuf.auto_alloc() is nl.sbuf is MemoryRegion.sbuf
    assert ncc.psum.auto_alloc() is nl.psum is MemoryRegion.psum

    @nki.jit
    def kernel() -> None:
        assert nl.ndarray((8, 4), dtype=nl.float32, buffer=ncc.sbuf).buffer is nl.sbuf
        assert nl.ndarray((8, 4), dtype=nl.float32, buffer=ncc.psum).buffer is nl.psum

    assert addresses(kernel) == []


@nki.jit
def squares(x: Any) -> Any:
    """x[i].T @ x[i], through two places in SBUF and PSUM each."""
    out = nl.ndarray((x.shape[0], 64, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray(
        (x.shape[0], nl.par_dim(32), 64),
        dtype=nl.float32,
        buffer=ncc.sbuf.mod_alloc(base_addr=256, num_free_tiles=(2,)),
    )
    product = nl.ndarray(
        (x.shape[0], nl.par_dim(64), 64),
        dtype=nl.float32,
        buffer=ncc.psum.mod_alloc(base_bank=1, num_bank_tiles=(2,)),
    )
    total = nl.ndarray(
        (x.shape[0], nl.par_dim(64), 64),
        dtype=nl.float32,
        buffer=ncc.sbuf.mod_alloc(base_addr=1024, num_free_tiles=(3,)),
    )
    for i in nl.affine_range(x.shape[0]):
        tile[i] = nl.load(x[i])
        product[i] = nisa.nc_matmul(tile[i], tile[i])
        total[i] = product[i]
        nl.store(out[i], total[i])
    return out


def test_tiles_take_turns_at_their_places() -> None:
    x = np.random.default_rng(3).integers(-4, 5, (5, 32, 64)).astype(np.float32)
    expected = np.stack([block.T @ block for block in x])
    assert np.array_equal(squares(x), expected)
    traced = squares.trace(x)
    assert traced.diagnostics.errors == 0
    placed = addresses(squares, x)
    assert placed[:5] == [f"[0, {256 + 256 * (i % 2)}]" for i in range(5)]
    assert placed[5:10] == [f"[0, {2048 * (1 + i % 2)}]" for i in range(5)]
    assert placed[10:] == [f"[0, {1024 + 256 * (i % 3)}]" for i in range(5)]
    assert np.array_equal(traced.run_lowered(x), expected)


def test_placing_automatically_changes_no_result() -> None:
    x = np.random.default_rng(4).random((3, 32, 64)).astype(np.float32)
    automatic = ncc.force_auto_alloc(squares)
    assert addresses(automatic, x) == []
    assert np.array_equal(automatic(x), squares(x))
    assert addresses(squares, x) != []


def test_decorators_that_make_no_difference() -> None:
    assert ncc.skip_middle_end_transformations(squares) is squares
    assert ncc.enable_stack_allocator(squares) is squares
    assert ncc.enable_stack_allocator(log_level=10)(squares) is squares
    for decorator in (ncc.skip_middle_end_transformations, ncc.enable_stack_allocator):
        with pytest.raises(ArgumentTypeError, match="expects a kernel, got 3"):
            decorator(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentTypeError, match="log_level"):
        ncc.enable_stack_allocator(squares, log_level="high")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentTypeError, match=r"stands above @nki\.jit"):
        ncc.force_auto_alloc(lambda: None)


def test_unmodelled_names_are_refused_by_name() -> None:
    for name in ("multi_buffer", "allocation_scope"):
        with pytest.raises(UnsupportedError, match=rf"nki\.compiler\.{name}.* is not modelled"):
            getattr(ncc, name)()
    with pytest.raises(AttributeError, match=r"nki\.compiler has no 'anything'"):
        _ = ncc.anything
