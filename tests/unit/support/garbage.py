"""Random kernels with parts that compute on unwritten memory, and runs on garbage.

Brute force finds results that depend on such memory: run the kernel with several contents of the
memory, and compare the results. The kernels use operators that preserve differences, so an equal
result does not depend on the memory.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.plan.plan import Plan

SIZE = 8
"""Partitions and elements per partition of a tile."""
TILES = 4
OUTPUTS = 2
TRIPS = 3
MOST = 1e9
MOST_PRODUCTS = 2
"""Matmuls after which numbers grow so large that sums lose differences."""

_HEAD = [
    "nki.kernel @k(%x: memref<8x8xf32, #nki.private_hbm>, %n: memref<1x1xi32, #nki.private_hbm>, "
    "%i: memref<8x8xui32, #nki.private_hbm>, %m: memref<8x8xui8, #nki.private_hbm>) "
    "target=trn3 {",
    "%zero = arith.constant 0 : i32",
    "%one = arith.constant 1 : i32",
    "%number = arith.constant 1.5 : f32",
    "%unit = arith.constant 1.0 : f32",
    "%trips = arith.constant 2 : i32",
    "%ntile = nki.alloc : memref<1x1xi32, #nki.sbuf>",
    "%itile = nki.alloc : memref<8x8xui32, #nki.sbuf>",
    "%mtile = nki.alloc : memref<8x8xui8, #nki.sbuf>",
    "nisa.dma_copy dst=%ntile, src=%n",
    "nisa.dma_copy dst=%itile, src=%i",
    "nisa.dma_copy dst=%mtile, src=%m",
    "%nreg = nki.register",
    "nisa.register_load dst=%nreg, src=%ntile",
    *(f"%t{t} = nki.alloc : memref<8x8xf32, #nki.sbuf>" for t in range(TILES)),
    "%h = nki.alloc : memref<8x8xf32, #nki.private_hbm>",
    *(f"%o{o} = nki.alloc : memref<8x8xf32, #nki.shared_hbm>" for o in range(OUTPUTS)),
]


class Writer:
    """Writes a random kernel as text."""

    def __init__(self, seed: int, static: bool):
        """`static`: only of instructions of which all is known before a run."""
        self.rng = random.Random(seed)
        self.static = static
        self.lines = list(_HEAD)
        self._names = 0
        self._products = 0
        self._written: set[str] = set()
        """Tiles of which something is certainly written."""

    def name(self, prefix: str) -> str:
        self._names += 1
        return f"%{prefix}{self._names}"

    def view(self, tile: str, rows: int, columns: int, row: int = 0, moved: str = "") -> str:
        """Some columns of some rows of a tile."""
        rng = self.rng
        room = SIZE - columns - (TRIPS if moved else 0)
        offset = row * SIZE + rng.randint(0, max(room, 0))
        if columns == SIZE and rows == SIZE:
            return tile
        made = self.name("v")
        index = f" scalar={moved} scale=1 bound={TRIPS + 1}" if moved else ""
        pattern = f"[[{SIZE}, {rows}], [1, {columns}]]"
        self.lines.append(f"{made} = nki.view {tile} offset={offset} pattern={pattern}{index}")
        return made

    def tile(self) -> str:
        """A tile of which something is written, as far as possible."""
        written = sorted(self._written)
        return self.rng.choice(written) if written else "%t0"

    def any_tile(self) -> str:
        return f"%t{self.rng.randrange(TILES)}"

    def step(self, loops: Sequence[str]) -> None:
        rng = self.rng
        kinds = [
            *("fill", "fill", "load", "copy", "copy", "add", "scalar", "bias", "reduce"),
            *("scan", "transpose", "matmul", "accumulate", "hbm", "totals", "cumulative"),
        ]
        if not self.static:
            kinds += ["gather", "predicated", "affine", "range", "loop"]
        kind = rng.choice(kinds)
        rows, columns = rng.choice([SIZE, SIZE, 4]), rng.choice([SIZE, SIZE, 5, 3, 1])
        getattr(self, f"_{kind}")(rows, columns, list(loops))

    def _move(self, loops: list[str], columns: int) -> str:
        fits = columns <= SIZE - TRIPS
        return self.rng.choice(["", *loops]) if fits and not self.static else ""

    def _to(self, rows: int, columns: int, loops: list[str]) -> str:
        tile = self.any_tile()
        made = self.view(tile, rows, columns, 0, self._move(loops, columns))
        self._written.add(tile)
        return made

    def _from(self, rows: int, columns: int, loops: list[str]) -> str:
        return self.view(self.tile(), rows, columns, 0, self._move(loops, columns))

    def _fill(self, rows: int, columns: int, loops: list[str]) -> None:
        value = self.rng.choice(["1.5", "2.25", "3.0"])
        self.lines.append(f"nisa.memset dst={self._to(rows, columns, loops)}, value={value}")

    def _load(self, rows: int, columns: int, loops: list[str]) -> None:
        source = self.view("%x", rows, columns)
        self.lines.append(f"nisa.dma_copy dst={self._to(rows, columns, loops)}, src={source}")

    def _copy(self, rows: int, columns: int, loops: list[str]) -> None:
        source = self._from(rows, columns, loops)
        self.lines.append(f"nisa.tensor_copy dst={self._to(rows, columns, loops)}, src={source}")

    def _hbm(self, rows: int, columns: int, loops: list[str]) -> None:
        self.lines.append(f"nisa.dma_copy dst=%h, src={self.tile()}")
        tile = self.any_tile()
        self.lines.append(f"nisa.dma_copy dst={tile}, src=%h")
        self._written.add(tile)

    def _add(self, rows: int, columns: int, loops: list[str]) -> None:
        one, two = self._from(rows, columns, loops), self._from(rows, columns, loops)
        op = self.rng.choice(["add", "add", "maximum"])
        into = self._to(rows, columns, loops)
        self.lines.append(f"nisa.tensor_tensor dst={into}, data1={one}, data2={two}, op={op}")

    def _scalar(self, rows: int, columns: int, loops: list[str]) -> None:
        data, column = self._from(rows, columns, loops), self._from(rows, 1, loops)
        operand = self.rng.choice([column, "%number"])
        into = self._to(rows, columns, loops)
        self.lines.append(
            f"nisa.tensor_scalar dst={into}, data={data}, op0=add, operand0={operand}"
        )

    def _bias(self, rows: int, columns: int, loops: list[str]) -> None:
        data, bias = self._from(rows, columns, loops), self._from(rows, 1, loops)
        into = self._to(rows, columns, loops)
        self.lines.append(
            f"nisa.activation dst={into}, op=copy, data={data}, bias={bias}, scale=%number"
        )

    def _reduce(self, rows: int, columns: int, loops: list[str]) -> None:
        data = self._from(rows, columns, loops)
        into = self._to(rows, 1, loops)
        op = self.rng.choice(["add", "maximum"])
        self.lines.append(f"nisa.tensor_reduce dst={into}, op={op}, data={data}, axis=[1]")

    def _scan(self, rows: int, columns: int, loops: list[str]) -> None:
        one, two = self._from(rows, columns, loops), self._from(rows, columns, loops)
        into = self._to(rows, columns, loops)
        self.lines.append(
            f"nisa.tensor_tensor_scan dst={into}, data0={one}, data1={two}, initial=%number, "
            "op0=add, op1=add"
        )

    def _transpose(self, rows: int, columns: int, loops: list[str]) -> None:
        into = self.any_tile()
        self.lines.append(f"nisa.nc_transpose dst={into}, data={self.tile()}, engine=vector")
        self._written.add(into)

    def _psum(self) -> str:
        made = self.name("p")
        self.lines.append(f"{made} = nki.alloc : memref<8x8xf32, #nki.psum>")
        return made

    def _matmul(self, rows: int, columns: int, loops: list[str], times: int = 1) -> None:
        self._products += 1
        if self._products > MOST_PRODUCTS:
            return
        psum = self._psum()
        for _ in range(times):
            self.lines.append(
                f"nisa.nc_matmul dst={psum}, stationary={self.tile()}, moving={self.tile()}"
            )
        into = self.any_tile()
        self.lines.append(f"nisa.tensor_copy dst={into}, src={psum}")
        self._written.add(into)

    def _accumulate(self, rows: int, columns: int, loops: list[str]) -> None:
        self._matmul(rows, columns, loops, times=2)

    def _totals(self, rows: int, columns: int, loops: list[str]) -> None:
        data, into = self._from(rows, columns, loops), self._to(rows, columns, loops)
        total = self._to(rows, 1, loops)
        self.lines.append(
            f"nisa.tensor_scalar_reduce dst={into}, data={data}, op0=add, operand0=%number, "
            f"reduce_op=add, reduce_res={total}"
        )

    def _cumulative(self, rows: int, columns: int, loops: list[str]) -> None:
        data, into = self._from(rows, columns, loops), self._to(rows, columns, loops)
        self.lines.append(
            f"nisa.tensor_scalar_cumulative dst={into}, src={data}, op0=add, imm0=%number, "
            "op1=add, reduce_cmd=reset_reduce"
        )

    def _gather(self, rows: int, columns: int, loops: list[str]) -> None:
        source, into = self.tile(), self.any_tile()
        if source != into:
            self.lines.append(f"nisa.nc_n_gather dst={into}, data={source}, indices=%itile")
            self._written.add(into)

    def _predicated(self, rows: int, columns: int, loops: list[str]) -> None:
        source = self.rng.choice([self.tile(), "%number"])
        into = self.tile()
        if source != into:
            self.lines.append(
                f"nisa.tensor_copy_predicated dst={into}, src={source}, predicate=%mtile"
            )

    def _affine(self, rows: int, columns: int, loops: list[str]) -> None:
        source, into = self.tile(), self.any_tile()
        self.lines.append(
            f"nisa.affine_select dst={into}, on_true_tile={source}, offset=%zero, "
            "pattern=[[1, 8]], channel_multiplier=-1, on_false_value=7.0, cmp_op=greater_equal"
        )
        self._written.add(into)

    def _range(self, rows: int, columns: int, loops: list[str]) -> None:
        source, into = self.tile(), self.any_tile()
        low = self.name("low")
        high = self.name("high")
        for made, value in ((low, "2.0"), (high, "5.0")):
            self.lines.append(f"{made} = nki.alloc : memref<8x1xf32, #nki.sbuf>")
            self.lines.append(f"nisa.memset dst={made}, value={value}")
        self.lines.append(
            f"nisa.range_select dst={into}, on_true_tile={source}, bound0={low}, bound1={high}, "
            "comp_op0=greater_equal, comp_op1=less"
        )
        self._written.add(into)

    def _loop(self, rows: int, columns: int, loops: list[str]) -> None:
        if len(loops) > 1:
            return
        index = self.name("k")
        bound = self.rng.choice(["%trips", ""])
        if not bound:
            bound = self.name("b")
            self.lines.append(f"{bound} = nki.read %nreg")
        self.lines.append(f"scf.for {index} = %zero to {bound} step %one : i32 {{")
        before = set(self._written)
        for _ in range(self.rng.randint(1, 4)):
            self.step([*loops, index])
        self.lines.append("}")
        self._written = before

    def finish(self) -> str:
        rng = self.rng
        for output in range(OUTPUTS):
            for whole in rng.choice([[True], [True], [False], [True, False]]):
                rows, columns = SIZE, SIZE
                if not whole:
                    rows, columns = rng.choice([SIZE, 4]), rng.choice([SIZE, 5])
                source = self.view(self.tile(), rows, columns)
                into = self.view(f"%o{output}", rows, columns)
                self.lines.append(f"nisa.dma_copy dst={into}, src={source}")
        results = ", ".join(f"%o{output}" for output in range(OUTPUTS))
        return "\n".join([*self.lines, f"nki.return ({results})", "}"])


def random_kernel(seed: int, *, static: bool) -> str:
    """A kernel of few steps; `static`: all of it is known before a run."""
    writer = Writer(seed, static)
    for shape in writer.rng.choice([[(SIZE, SIZE)] * 4, [(SIZE, SIZE), (SIZE, 5)], [(4, SIZE)]]):
        writer._fill(*shape, [])
    for _ in range(writer.rng.randint(3, 9)):
        writer.step([])
    return writer.finish()


def inputs(seed: int, trips: int) -> list[Any]:
    """Arrays for the arguments of such a kernel."""
    rng = np.random.default_rng(seed)
    return [
        rng.uniform(1, 2, (SIZE, SIZE)).astype(np.float32),
        np.array([[trips]], np.int32),
        rng.integers(0, SIZE, (SIZE, SIZE), dtype=np.uint32),
        rng.integers(0, 2, (SIZE, SIZE), dtype=np.uint8),
    ]


def run_on_garbage(plan: Plan, arguments: Sequence[Any], seed: int, sign: int) -> list[Any]:
    """Run a kernel on memory filled with numbers that are large, of one sign, and all different."""
    env = plan.start(arguments, apart=True)
    rng = np.random.default_rng(seed)
    for op in plan.kernel.operations:
        if isinstance(op, AllocOp) and info_of(op.result).dtype.name == "float32":
            content = env[plan.slots.base(op.result)]
            garbage = sign * rng.uniform(1e3, 2e3, content.size // 4).astype(np.float32)
            content[...] = garbage.view(np.uint8)
    with np.errstate(all="ignore"):
        # Operations alone: unwritten memory is not initialised.
        for step in plan.body.steps:
            step(env)
    return [array.copy() for array in plan.results(env)]


@dataclass(frozen=True)
class Effect:
    """The effect of garbage on the results of a kernel."""

    depends: list[Any]
    """Which elements of each result differ between runs."""
    exact: bool
    """Numbers stayed so small that no difference was lost."""


def effect_of_garbage(plan: Plan, arguments: Sequence[Any], seed: int) -> Effect:
    """Run a kernel on different garbage, large and small."""
    runs = [
        run_on_garbage(plan, arguments, seed + number, sign)
        for number, sign in enumerate((1, 1, -1, -1))
    ]
    results = [[run[number] for run in runs] for number in range(len(runs[0]))]
    depends = [
        np.any([run.view(np.uint32) != one[0].view(np.uint32) for run in one[1:]], axis=0)
        for one in results
    ]
    exact = all(np.abs(run).max() < MOST for one in results for run in one)
    return Effect(depends, exact)
