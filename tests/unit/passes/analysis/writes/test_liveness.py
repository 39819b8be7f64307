"""Live ranges against the definition, on small random programs that are executed in full.

The oracle runs a program for all numbers of iterations that its loops may have and looks at every
byte that is read: whether the same iteration has written it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.core_program import CoreProgram
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.ir.text import parse
from nkijit.passes.analysis.writes.liveness import Liveness, liveness

ROWS, COLUMNS = 2, 4
TILES = 3
MOST_LOOPS = 4
"""The oracle runs a program for every number of iterations of each."""


@dataclass(frozen=True)
class View:
    """Some rows and some columns of a tile."""

    tile: int
    first_row: int
    rows: int
    first: int
    step: int
    columns: int

    @property
    def text(self) -> str:
        offset = self.first_row * COLUMNS + self.first
        pattern = f"[[{COLUMNS}, {self.rows}], [{self.step}, {self.columns}]]"
        return f"nki.view %t{self.tile} offset={offset} pattern={pattern}"

    @property
    def elements(self) -> set[tuple[int, int, int]]:
        return {
            (self.tile, self.first_row + row, self.first + column * self.step)
            for row in range(self.rows)
            for column in range(self.columns)
        }


@dataclass(frozen=True)
class Instruction:
    """Reads one view or none, and writes one."""

    dst: View
    src: View | None


@dataclass(frozen=True)
class Loop:
    """Runs `trips` times; None is unknown, and may be 0."""

    trips: int | None
    body: tuple[Instruction | Loop, ...] = field(default=())


Program = tuple[Instruction | Loop, ...]


@st.composite
def views(draw: st.DrawFn) -> View:
    tile = draw(st.integers(0, TILES - 1))
    if draw(st.booleans()):
        return View(tile, 0, ROWS, 0, 1, COLUMNS)
    first_row = draw(st.integers(0, ROWS - 1))
    first = draw(st.integers(0, COLUMNS - 1))
    step = draw(st.integers(1, 2))
    return View(
        tile,
        first_row,
        draw(st.integers(1, ROWS - first_row)),
        first,
        step,
        draw(st.integers(1, (COLUMNS - 1 - first) // step + 1)),
    )


instructions = st.builds(Instruction, views(), st.none() | views())


def programs(depth: int) -> st.SearchStrategy[Program]:
    item = instructions
    if depth:
        trips = st.sampled_from((None, None, 2))
        loops = st.builds(Loop, trips, programs(depth - 1))
        item = st.one_of(instructions, instructions, loops)
    return st.lists(item, max_size=4).map(tuple)


# ------------------------------------------------------------------ as IR


def kernel_of(program: Program) -> Liveness:
    lines = ["nki.kernel @k(%trips: memref<1x1xi32, #nki.private_hbm>) target=trn3 {"]
    lines += [f"%c{n} = arith.constant {n} : i32" for n in range(3)]
    lines += ["%n = nki.register", "nisa.register_load dst=%n, src=%trips"]
    lines += [f"%t{n} = nki.alloc : memref<{ROWS}x{COLUMNS}xf32, #nki.sbuf>" for n in range(TILES)]
    lines += [*_text(program, "v"), "nki.return", "}"]
    (kernel,) = kernels_of(parse("\n".join(lines)))
    return liveness(kernel)


def _text(program: Program, name: str) -> Iterator[str]:
    for number, item in enumerate(program):
        here = f"{name}_{number}"
        if isinstance(item, Instruction):
            yield f"%{here}d = {item.dst.text}"
            if item.src is None:
                yield f"nisa.memset dst=%{here}d, value=0"
            else:
                yield f"%{here}s = {item.src.text}"
                yield f"nisa.tensor_copy dst=%{here}d, src=%{here}s"
        else:
            bound = "%c2"
            if item.trips is None:
                bound = f"%{here}n"
                yield f"{bound} = nki.read %n"
            yield f"scf.for %{here}i = %c0 to {bound} step %c1 : i32 {{"
            yield from _text(item.body, here)
            yield "}"


# ------------------------------------------------------------------ the oracle


@dataclass
class Run:
    """One execution: each loop's iterations, and which tiles an iteration reads from before it."""

    trips: dict[int, int]
    carried: set[tuple[int, int]] = field(default_factory=set)
    """(loop, tile)"""
    open: list[tuple[int, set[tuple[int, int, int]]]] = field(default_factory=list)
    """The running loops, each with the elements that its iteration has written."""

    def execute(self, program: Program) -> None:
        for item in program:
            if isinstance(item, Loop):
                for _ in range(self.trips[id(item)]):
                    self.open.append((id(item), set()))
                    self.execute(item.body)
                    _, written = self.open.pop()
                    if self.open:
                        self.open[-1][1].update(written)
                continue
            for index, (loop, _) in enumerate(self.open):
                # Elements written by an inner loop's iteration are also written by the outer one's.
                written = set().union(*(w for _, w in self.open[index:]))
                if item.src is not None and item.src.elements - written:
                    self.carried.add((loop, item.src.tile))
            if self.open:
                self.open[-1][1].update(item.dst.elements)


def loops_in(program: Program) -> list[Loop]:
    found: list[Loop] = []
    for item in program:
        if isinstance(item, Loop):
            found += [*loops_in(item.body), item]
    return found


def expected(program: Program) -> dict[int, tuple[int, int]]:
    """The live range of every tile that is used, by the definition."""
    uses: dict[int, list[int]] = {}
    spans: dict[int, tuple[int, int]] = {}
    position = 1  # the register's instruction comes first

    def number(items: Program) -> None:
        nonlocal position
        for item in items:
            if isinstance(item, Loop):
                start = position
                number(item.body)
                spans[id(item)] = start, position - 1
            else:
                for view in (item.dst, item.src):
                    if view is not None:
                        uses.setdefault(view.tile, []).append(position)
                position += 1

    number(program)
    loops = loops_in(program)
    carried: set[tuple[int, int]] = set()
    for trips in product(*([0, 1, 2] if loop.trips is None else [2] for loop in loops)):
        run = Run({id(loop): count for loop, count in zip(loops, trips, strict=True)})
        run.execute(program)
        carried |= run.carried
    ranges: dict[int, tuple[int, int]] = {}
    for tile, at in uses.items():
        start, end = min(at), max(at)
        for loop in loops:
            first, last = spans[id(loop)]
            is_in = any(first <= use <= last for use in at)
            if is_in and ((id(loop), tile) in carried or max(at) > last):
                start, end = min(start, first), max(end, last)
        ranges[tile] = start, end
    return ranges


@settings(max_examples=400, deadline=None)
@given(programs(2).filter(lambda program: len(loops_in(program)) <= MOST_LOOPS))
def test_ranges_are_those_of_the_definition(program: Program) -> None:
    # Loops are distinguished by identity, and Hypothesis may use one twice.
    program = _copied(program)
    found = kernel_of(program)
    tiles = {f"t{n}": n for n in range(TILES)}
    ranges = {tiles[r.alloc.result.name_hint or ""]: (r.start, r.end) for r in found.ranges}
    assert ranges == expected(program)
    assert {a.result.name_hint for a in found.unused} == {
        name for name, n in tiles.items() if n not in ranges
    }


def _copied(program: Program) -> Program:
    return tuple(
        Loop(item.trips, _copied(item.body)) if isinstance(item, Loop) else item for item in program
    )


# ------------------------------------------------------------------ as authors write it


X = np.zeros((128, 8), np.float32)


def live(kernel: nki.Kernel) -> dict[str, tuple[int, int]]:
    (program,) = kernels_of(kernel.trace(X).module)
    return {r.alloc.result.name_hint or "": (r.start, r.end) for r in liveness(program).ranges}


def test_views_and_other_dtypes_are_accesses_to_their_tile():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        a = nl.ndarray(x.shape, x.dtype)
        nisa.dma_copy(a, x)
        nisa.memset(a[:, 0:1].view(nl.int32), 0)
        nisa.dma_copy(out[:, 0:4], a[:, 4:8])
        return out

    assert live(kernel) == {"a": (0, 2)}


def test_an_index_tile_is_read_where_its_view_is_used():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        index = nl.ndarray((128, 1), nl.int32)
        rows = nl.ndarray(x.shape, x.dtype)
        nisa.memset(index, 0)
        nisa.memset(rows, 0)
        nisa.dma_copy(rows, x.ap([[8, 128], [1, 8]], vector_offset=index, indirect_dim=0))
        nisa.dma_copy(out, rows)
        return out

    assert live(kernel)["index"] == (0, 2)


def test_a_block_that_keeps_its_order_is_no_loop():
    @nki.jit
    def kernel(x):
        a = nl.ndarray(x.shape, x.dtype)
        b = nl.ndarray(x.shape, x.dtype)
        with nl.no_reorder():
            nisa.memset(a, 0)
            nisa.tensor_copy(b, a)
            nisa.memset(b, 0)

    assert live(kernel) == {"a": (0, 1), "b": (1, 2)}


def test_a_loop_carries_an_accumulator_and_its_psum_tile_does_not_leave_an_iteration():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((8, 8), nl.float32, buffer=nl.shared_hbm)
        total = nl.zeros((8, 8), nl.float32)  # 0
        for _ in nl.dynamic_range(4):
            tile = nl.ndarray(x.shape, x.dtype)
            nisa.dma_copy(tile, x)  # 1
            product = nl.ndarray((8, 8), nl.float32, buffer=nl.psum)
            nisa.nc_matmul(product, tile, tile)  # 2
            nisa.tensor_tensor(total, total, product, op=nl.add)  # 3
            nisa.memset(tile, 0)  # 4
        nisa.dma_copy(out, total)  # 5
        return out

    assert live(kernel) == {"total": (0, 5), "tile": (1, 4), "product": (2, 3)}


def test_a_matmul_that_accumulates_over_iterations_is_live_in_the_whole_loop():
    @nki.jit
    def kernel(x):
        tile = nl.load(x)  # 0
        product = nl.ndarray((8, 8), nl.float32, buffer=nl.psum)
        for _ in nl.dynamic_range(4):
            nisa.memset(tile, 0)  # 1
            nisa.nc_matmul(product, tile, tile, accumulate=True)  # 2
            nisa.memset(tile, 0)  # 3

    assert live(kernel)["product"] == (1, 3)


def test_a_matmul_adds_to_writes_before_the_loop():
    @nki.jit
    def kernel(x):
        tile = nl.load(x)  # 0
        product = nl.ndarray((8, 8), nl.float32, buffer=nl.psum)
        nisa.nc_matmul(product, tile, tile)  # 1
        for _ in nl.dynamic_range(4):
            nisa.nc_matmul(product, tile, tile)  # 2
            nisa.memset(tile, 0)  # 3

    assert live(kernel)["product"] == (1, 3)


def test_elements_that_a_predicated_copy_preserves_are_read():
    @nki.jit
    def kernel(x):
        mask = nl.ndarray(x.shape, nl.uint8)
        tile = nl.load(x)  # 0
        kept = nl.ndarray(x.shape, x.dtype)
        nisa.memset(mask, 0)  # 1
        for _ in nl.dynamic_range(4):
            nisa.memset(tile, 0)  # 2
            nisa.tensor_copy_predicated(kept, tile, mask)  # 3

    assert live(kernel)["kept"] == (2, 3)


def test_an_address_known_at_run_time_overwrites_nothing_for_certain():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray(x.shape, x.dtype)
        copy = nl.ndarray((128, 1), x.dtype)
        for i in nl.dynamic_range(8):
            nisa.memset(copy, 0)  # 0
            nisa.memset(tile[:, nl.ds(i, 1)], 0)  # 1
            nisa.tensor_copy(copy, tile[:, 0:1])  # 2
            nisa.memset(copy, 0)  # 3

    assert live(kernel) == {"tile": (0, 3), "copy": (0, 3)}


def test_a_kernel_without_tiles():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, x)
        return out

    assert live(kernel) == {}


def test_partly_written_tiles_are_carried():
    """A predicated copy keeps elements from one iteration to the next."""

    @nki.jit
    def kernel(x, mask):
        tile = nl.ndarray(x.shape, x.dtype)
        predicate = nl.load(mask)  # 0
        copy = nl.ndarray(x.shape, x.dtype)
        for _ in nl.dynamic_range(8):
            nisa.memset(copy, 0)  # 1
            nisa.tensor_copy_predicated(tile, copy, predicate)  # 2
            nisa.tensor_copy(copy, tile)  # 3
            nisa.memset(copy, 0)  # 4

    program = kernel.trace(
        nki.TensorSpec((128, 8), "float32"), nki.TensorSpec((128, 8), "uint8")
    ).module
    found = {
        r.alloc.result.name_hint: (r.start, r.end) for r in liveness(kernels_of(program)[0]).ranges
    }
    assert found["tile"] == (1, 4)


def test_loops_of_two_cores_are_walked_without_the_whole_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many loops there are, the program as a whole is not walked for each."""
    walks: list[int] = []
    every = CoreProgram.operations.fget
    assert every is not None

    def counted(program: CoreProgram) -> object:
        walks.append(1)
        return every(program)

    monkeypatch.setattr(CoreProgram, "operations", property(counted))
    of_size: list[int] = []
    for count in (2, 40):
        loop = "scf.for %i = %low to %high step %one : i32 {\nnisa.memset dst=%t, value=0.0\n}\n"
        (kernel,) = kernels_of(
            parse(
                "nki.kernel @k_core0() target=trn3 program=[0, 2] {\n"
                "%low = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n"
                "%high = arith.constant 4 : i32\n"
                "%t = nki.alloc : memref<128x8xf32, #nki.sbuf>\n"
                f"{loop * count}nki.return\n}}"
            )
        )
        walks.clear()
        assert len(liveness(kernel).loops) == count
        of_size.append(len(walks))
    assert of_size[0] == of_size[1]
