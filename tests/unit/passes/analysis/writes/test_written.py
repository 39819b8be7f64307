"""Elements known to be written, and cells of tensors, against sets of bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir import SSAValue

from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.dialects.nki.views import reach_of
from nkijit.ir.text import parse
from nkijit.passes.analysis.bytes.footprints import FEW, Cells, Extent, FewCells, cut
from nkijit.passes.analysis.writes.written import Read, Verdict, reads_of
from nkijit.passes.analysis.writes.written_tensors import REPORTED_EXACTLY

SIZES = {"i8": 1, "bf16": 2, "f32": 4}


@dataclass(frozen=True)
class View:
    """A tile: elements of a data type at an offset, with a stride and a count per dimension."""

    base: int
    dtype: str
    offset: int
    pairs: tuple[tuple[int, int], ...]
    index: str | None = None
    """The induction variable that moves it, by `scale` elements below `bound`."""
    scale: int = 0
    bound: int = 0

    def at(self, values: dict[str, int]) -> View:
        """Where the view is when the induction variables have these values."""
        if self.index is None:
            return self
        offset = self.offset + values[self.index] * self.scale
        return View(self.base, self.dtype, offset, self.pairs)

    def elements(self) -> Iterator[frozenset[int]]:
        """The bytes of every element, in row-major order."""
        size = SIZES[self.dtype]
        for index in product(*(range(count) for _, count in self.pairs)):
            steps = zip(index, self.pairs, strict=True)
            start = self.offset + sum(i * stride for i, (stride, _) in steps)
            yield frozenset(range(start * size, (start + 1) * size))

    @property
    def bytes(self) -> set[int]:
        return set[int]().union(*self.elements())

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(count for _, count in self.pairs)


@dataclass
class Program:
    """A kernel as text: allocations, views of them, and calls that read and write views."""

    shapes: list[tuple[tuple[int, ...], str]]
    names: dict[View, str] = field(default_factory=dict[View, str])
    body: list[str] = field(default_factory=list[str])

    def whole(self, base: int) -> View:
        shape, dtype = self.shapes[base]
        pairs: list[tuple[int, int]] = []
        stride = 1
        for count in reversed(shape):
            pairs.insert(0, (stride, count))
            stride *= count
        return View(base, dtype, 0, tuple(pairs))

    def name(self, view: View) -> str:
        if view == self.whole(view.base):
            return f"%t{view.base}"
        return self.names.setdefault(view, f"%v{len(self.names)}")

    def copy(self, dst: View, src: View) -> None:
        self.body.append(f"nisa.dma_copy dst={self.name(dst)}, src={self.name(src)}")

    def define(self, view: View, name: str) -> str:
        pattern = [list(pair) for pair in view.pairs]
        other = "" if view.dtype == self.shapes[view.base][1] else f" as {view.dtype}"
        text = f"{name} = nki.view %t{view.base} offset={view.offset} pattern={pattern}{other}"
        if view.index is None:
            return text
        return f"{text} scalar={view.index} scale={view.scale} bound={view.bound}"

    def text(self) -> str:
        lines = [
            f"%t{i} = nki.alloc : memref<{'x'.join(map(str, shape))}x{dtype}, #nki.private_hbm>"
            for i, (shape, dtype) in enumerate(self.shapes)
        ]
        lines += [f"%c{n} = arith.constant {n} : i32" for n in range(10)]
        static = [(view, name) for view, name in self.names.items() if view.index is None]
        lines += [self.define(view, name) for view, name in static]
        return "\n".join(["nki.kernel @k() target=trn3 {", *lines, *self.body, "nki.return", "}"])

    def reads(self) -> list[Read]:
        return list(reads_of(list(kernels_of(parse(self.text()))), known=True))


def _random_view(draw: random.Random, whole: View) -> View:
    """Return a random view: slices, steps, reversals, permutations, broadcasts, dtypes."""
    offset, pairs, dtype = whole.offset, list(whole.pairs), whole.dtype
    if draw.random() < 0.4:
        other = draw.choice([name for name in SIZES if name != dtype])
        old, new = SIZES[dtype], SIZES[other]
        if pairs[-1][1] * old % new == 0 and all(s * old % new == 0 for s, _ in pairs[:-1]):
            *outer, (_, count) = pairs
            pairs = [*((s * old // new, n) for s, n in outer), (1, count * old // new)]
            dtype = other
    if draw.random() < 0.3:
        at = draw.randrange(len(pairs))
        stride, count = pairs[at]
        factor = draw.choice([f for f in range(1, count + 1) if count % f == 0])
        pairs[at : at + 1] = [(stride * factor, count // factor), (stride, factor)]
    for at, (stride, count) in enumerate(pairs):
        if draw.random() < 0.6:
            first = draw.randrange(count)
            step = draw.choice([1, 1, 1, 2, 3])
            count = len(range(first, draw.randint(first + 1, count), step))
            offset += first * stride
            stride *= step
        if draw.random() < 0.15:
            offset += stride * (count - 1)
            stride = -stride
        pairs[at] = (stride, count)
    if draw.random() < 0.3:
        draw.shuffle(pairs)
    if draw.random() < 0.1:
        pairs.insert(draw.randrange(len(pairs) + 1), (0, draw.randint(1, 3)))
    return View(whole.base, dtype, offset, tuple(pairs))


def _random_shapes(draw: random.Random) -> list[tuple[tuple[int, ...], str]]:
    return [
        (tuple(draw.randint(1, 8) for _ in range(draw.randint(1, 3))), draw.choice(list(SIZES)))
        for _ in range(draw.randint(1, 4))
    ]


def _random_program(draw: random.Random) -> tuple[Program, list[tuple[View, View]]]:
    program = Program(_random_shapes(draw))
    pool: list[View] = []
    for base in range(len(program.shapes)):
        whole = program.whole(base)
        pool += [whole, *(_random_view(draw, whole) for _ in range(draw.randint(1, 6)))]
    calls = [(draw.choice(pool), draw.choice(pool)) for _ in range(draw.randint(1, 25))]
    for dst, src in calls:
        program.copy(dst, src)
    return program, calls


def _expected(calls: list[tuple[View, View]]) -> Iterator[tuple[Verdict, list[bool]]]:
    """Yield for every source its `Verdict`, unless reported before, and its unwritten elements."""
    written: dict[int, set[int]] = {}
    told: set[View] = set()
    for dst, src in calls:
        there = written.setdefault(src.base, set())
        missing = [not part <= there for part in src.elements()]
        if not any(missing):
            yield Verdict.written, missing
        else:
            yield Verdict.unknown if src in told else Verdict.unwritten, missing
            told.add(src)
        written.setdefault(dst.base, set()).update(dst.bytes)


@pytest.mark.parametrize("seed", range(300))
def test_straight_programs(seed: int) -> None:
    program, calls = _random_program(random.Random(seed))
    reads = program.reads()
    assert len(reads) == len(calls)
    for number, (read, (verdict, missing)) in enumerate(zip(reads, _expected(calls), strict=True)):
        assert read.verdict is verdict, number
        if verdict is Verdict.unwritten:
            assert read.missing is not None
            assert read.missing.shape == calls[number][1].shape
            assert read.missing.ravel().tolist() == missing


# -- loops


@dataclass
class _Loop:
    """A loop with bounds that are numbers, and the calls and loops in it."""

    variable: str
    counts: range
    body: list[_Loop | tuple[View, View]]


def _moving(draw: random.Random, whole: View, around: list[_Loop]) -> View | None:
    """A tile that an induction variable moves along a dimension of a tensor."""
    loop = draw.choice(around)
    fitting = [at for at, (_, count) in enumerate(whole.pairs) if count >= loop.counts.stop]
    if not fitting:
        return None
    at = draw.choice(fitting)
    stride, bound = whole.pairs[at]
    rest = View(
        whole.base, whole.dtype, 0, (*whole.pairs[:at], (stride, 1), *whole.pairs[at + 1 :])
    )
    part = _random_view(draw, rest)
    if part.dtype != whole.dtype:
        return None
    return View(part.base, part.dtype, part.offset, part.pairs, loop.variable, stride, bound)


def _random_loops(
    draw: random.Random, program: Program, pool: list[View], around: list[_Loop], least: int
) -> list[_Loop | tuple[View, View]]:
    found: list[_Loop | tuple[View, View]] = []
    for _ in range(draw.randint(1, 5)):
        if len(around) < 2 and draw.random() < 0.4:
            start = draw.randint(0, 2)
            counts = range(start, draw.randint(start + least, 6), draw.randint(1, 3))
            loop = _Loop(f"%i{draw.getrandbits(40)}", counts, [])
            loop.body = _random_loops(draw, program, pool, [*around, loop], least)
            found.append(loop)
            continue
        views = [draw.choice(pool) for _ in range(2)]
        for at, view in enumerate(views):
            if around and draw.random() < 0.6:
                views[at] = _moving(draw, program.whole(view.base), around) or view
        found.append((views[0], views[1]))
    return found


def _emit(program: Program, body: list[_Loop | tuple[View, View]]) -> None:
    """Emit the text of loops, with the views that an induction variable moves at their start."""
    for item in body:
        if isinstance(item, tuple):
            program.copy(*item)
            continue
        counts, outside = item.counts, program.body
        program.body = []
        _emit(program, item.body)
        inside = [
            program.define(view, name)
            for view, name in program.names.items()
            if view.index == item.variable
        ]
        bounds = f"%c{counts.start} to %c{counts.stop} step %c{counts.step}"
        head = f"scf.for {item.variable} = {bounds} : i32 {{"
        program.body = [*outside, head, *inside, *program.body, "}"]


def _calls(
    body: list[_Loop | tuple[View, View]], depth: int = 0
) -> Iterator[tuple[View, int, int]]:
    """Yield the calls that are walked: the read view, its identity, and its depth."""
    for item in body:
        if isinstance(item, tuple):
            yield item[1], id(item), depth
        elif item.counts:
            yield from _calls(item.body, depth + 1)


def _run(
    body: list[_Loop | tuple[View, View]],
    values: dict[str, int],
    written: dict[int, set[int]],
    seen: dict[int, list[list[bool]]],
) -> None:
    """Run the loops; record for every execution of a call the elements that it misses."""
    for item in body:
        if isinstance(item, tuple):
            dst, src = (view.at(values) for view in item)
            there = written.setdefault(src.base, set())
            seen.setdefault(id(item), []).append([not part <= there for part in src.elements()])
            written.setdefault(dst.base, set()).update(dst.bytes)
            continue
        for value in item.counts:
            _run(item.body, values | {item.variable: value}, written, seen)


@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("seed", range(150))
def test_loops(seed: int, least: int) -> None:
    """Only facts that hold are reported; after loops that run, all facts are reported."""
    draw = random.Random(seed)
    program = Program(_random_shapes(draw))
    pool: list[View] = []
    for base in range(len(program.shapes)):
        whole = program.whole(base)
        pool += [whole, *(_random_view(draw, whole) for _ in range(2))]
    body = _random_loops(draw, program, pool, [], least)
    _emit(program, body)
    seen: dict[int, list[list[bool]]] = {}
    _run(body, {}, {}, seen)
    told: set[View] = set()
    for read, (view, call, depth) in zip(program.reads(), _calls(body), strict=True):
        runs = seen.get(call, [])
        if read.verdict is Verdict.written:
            assert not any(any(missing) for missing in runs)
        elif view in told:
            assert read.verdict is Verdict.unknown
        elif read.verdict is Verdict.unwritten:
            told.add(view)
            assert not runs or any(runs[0])
            if read.missing is not None and runs:
                assert (read.missing.ravel() <= np.array(runs[0])).all()
        elif least:
            assert depth > 0


def test_verdicts_after_loops_are_exact() -> None:
    """Every other row is written by a loop, then the rows between."""
    program = Program([((8, 4), "f32"), ((4,), "f32")])
    row = View(0, "f32", 0, ((4, 1), (1, 4)), "%i", 4, 8)
    between = View(0, "f32", 4, ((4, 1), (1, 4)), "%j", 4, 7)
    whole, other = program.whole(0), program.whole(1)
    even = View(0, "f32", 0, ((8, 4), (1, 4)))
    body: list[_Loop | tuple[View, View]] = [
        (other, whole),
        _Loop("%i", range(0, 8, 2), [(row, other)]),
        (other, even),
        (other, View(0, "f32", 4, ((8, 4), (1, 4)))),
        _Loop("%j", range(0, 7, 2), [(between, other)]),
        (other, View(0, "f32", 0, ((1, 32),))),
    ]
    _emit(program, body)
    verdicts = [read.verdict.value for read in program.reads()]
    assert verdicts == ["unwritten", "written", "written", "unwritten", "written", "written"]


# -- large tensors


def test_missing_elements_of_a_huge_tensor_are_not_searched_byte_by_byte() -> None:
    program = Program([((100_000, 100_000), "f32"), ((128, 512), "f32")])
    tile = View(0, "f32", 0, ((100_000, 128), (1, 512)))
    program.copy(tile, program.whole(1))
    program.copy(program.whole(1), tile)
    program.copy(program.whole(1), program.whole(0))
    _, inside, whole = program.reads()
    assert inside.verdict is Verdict.written
    assert whole.verdict is Verdict.unwritten
    assert whole.missing is None
    assert not whole.entire


@pytest.mark.parametrize("more", [0, 1])
def test_the_size_limit_for_reports_of_missing_elements(more: int) -> None:
    program = Program([((REPORTED_EXACTLY // 4096 + more, 4096), "i8"), ((1, 4096), "i8")])
    program.copy(View(0, "i8", 0, ((4096, 1), (1, 4096))), program.whole(1))
    program.copy(program.whole(1), program.whole(0))
    _, read = program.reads()
    assert read.verdict is Verdict.unwritten
    assert not read.entire
    assert (read.missing is None) == bool(more)


# -- cells


def _tensor(*shape: int, dtype: str = "i8") -> SSAValue:
    """An allocation in HBM."""
    sizes = "x".join(map(str, shape))
    text = f"%t = nki.alloc : memref<{sizes}x{dtype}, #nki.private_hbm>"
    (kernel,) = kernels_of(parse(f"nki.kernel @k() target=trn3 {{ {text} nki.return }}"))
    (allocation,) = [op for op in kernel.operations if isinstance(op, AllocOp)]
    return allocation.result


def _bytes(extent: Extent) -> set[int]:
    steps = (range(0, stride * count, stride) for stride, count in extent.terms)
    return {extent.low + sum(step) for step in product(*steps)}


def _cells(cells: Cells, extent: Extent) -> set[int]:
    return set(cells.footprint(extent).part(np.arange(cells.count)).ravel().tolist())


def _signatures(parts: list[set[int]]) -> set[frozenset[int]]:
    """The sets of parts that points have in common."""
    points = set[int]().union(*parts)
    return {frozenset(n for n, part in enumerate(parts) if point in part) for point in points}


@st.composite
def _some_extents(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Extent]]:
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    size = int(np.prod(shape))
    strides = [int(np.prod(shape[dim:])) for dim in range(len(shape) + 1)]
    extents: list[Extent] = []
    for _ in range(draw(st.integers(1, 6))):
        low = draw(st.integers(0, size - 1))
        room, terms = size - 1 - low, list[tuple[int, int]]()
        for _ in range(draw(st.integers(0, 3))):
            stride = draw(st.sampled_from(strides)) * draw(st.integers(1, 3))
            count = draw(st.integers(1, 1 + room // stride))
            room -= stride * (count - 1)
            terms.append((stride, count))
        extents.append(Extent.of(low, terms))
    return shape, extents


@given(_some_extents())
@settings(deadline=None, max_examples=400)
def test_cells_are_exactly_the_bytes(case: tuple[tuple[int, ...], list[Extent]]) -> None:
    """Extents share cells as they share bytes, two of them and all together."""
    shape, extents = case
    cells = Cells(reach_of(_tensor(*shape)), extents)
    parts = [_cells(cells, extent) for extent in extents]
    assert _signatures(parts) == _signatures([_bytes(extent) for extent in extents])
    assert all(0 <= cell < cells.count for part in parts for cell in part)
    assert cells.count <= np.prod(shape)
    few = cut(reach_of(_tensor(*shape)), extents)
    if isinstance(few, FewCells):
        assert few.count == cells.count
        for extent, part in zip(extents, parts, strict=True):
            assert set(few.numbers[extent]) == part
            assert few.bits[extent] == sum(1 << cell for cell in part)
    else:
        assert cells.count > FEW


@given(
    st.integers(0, 40),
    st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), max_size=4),
)
def test_extents_are_the_sums_of_their_terms(low: int, terms: list[tuple[int, int]]) -> None:
    extent = Extent.of(low, terms)
    steps = ([stride * n for n in range(count)] for stride, count in terms)
    wanted = {low + sum(step) for step in product(*steps)}
    assert _bytes(extent) == wanted
    assert (extent.low, extent.high) == (min(wanted), max(wanted))
    if extent.is_run:
        assert wanted == set(range(extent.low, extent.low + extent.run))


def test_windows_that_slide_are_one_run() -> None:
    assert Extent.of(3, [(1, 4), (1, 3)]) == Extent(3, ((1, 6),))
    assert Extent.of(0, [(8, 2), (4, 3), (1, 4)]) == Extent(0, ((1, 20),))
    assert Extent.of(0, [(5, 2), (1, 4)]) == Extent(0, ((1, 4), (5, 2)))


def _tile(first: int, rows: int, pitch: int, column: int, width: int) -> Extent:
    """Rows and columns of a tensor of bytes."""
    return Extent.of(first * pitch + column, [(pitch, rows), (1, width)])


@pytest.mark.parametrize("columns", [1, 7])
def test_tiles_of_a_huge_tensor_have_few_cells(columns: int) -> None:
    """40 GB in tiles of 128 rows, and of some of their columns: a cell for each."""
    rows, pitch = 128 * 400, 7 * 111_607
    width = pitch // columns
    tiles = [
        _tile(first, 128, pitch, column * width, width)
        for first in range(0, rows, 128)
        for column in range(columns)
    ]
    cells = Cells(reach_of(_tensor(rows, pitch)), [Extent.of(0, [(1, rows * pitch)]), *tiles])
    assert cells.count == 400 * columns
    assert sorted(cell for tile in tiles for cell in _cells(cells, tile)) == list(
        range(cells.count)
    )


def test_overlapping_tiles_of_a_huge_tensor_have_few_cells() -> None:
    rows, pitch = 128 * 400, 800_000
    tiles = [_tile(first, 192, pitch, 0, pitch) for first in range(0, rows - 128, 128)]
    cells = Cells(reach_of(_tensor(rows, pitch)), tiles)
    assert cells.count <= 2 * 400
    for first, second in pairwise(tiles):
        assert len(_cells(cells, first) & _cells(cells, second)) == 1
    assert not _cells(cells, tiles[0]) & _cells(cells, tiles[2])


def test_views_that_cut_a_huge_tensor_into_too_many_cells() -> None:
    """Nothing is reported about it, and nothing is allocated for it."""
    (kernel,) = kernels_of(
        parse("""
        nki.kernel @k() target=trn3 {
          %a = nki.alloc : memref<1048576x16384xf32, #nki.private_hbm>
          %t = nki.alloc : memref<128x16xf32, #nki.sbuf>
          %into = nki.view %a offset=1 pattern=[[49152, 128], [3, 16]]
          %from = nki.view %a offset=5 pattern=[[7, 128], [1000003, 16]]
          nisa.memset dst=%t, value=0.0
          nisa.dma_copy dst=%into, src=%t
          nisa.dma_copy dst=%t, src=%from
          nki.return
        }""")
    )
    verdicts = [read.verdict for read in reads_of([kernel], known=True)]
    assert verdicts == [Verdict.written, Verdict.unknown]
