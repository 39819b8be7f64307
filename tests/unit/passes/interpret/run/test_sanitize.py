"""Sanitised runs: against sets of elements in Python, and against facts proven before a run.

Random small kernels contain cases that the verifier cannot decide: loops with trip counts from
arguments, addresses from registers, gathers, predicates.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Operation

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.effects import Effect
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.dialects.nki.views import base_of
from nkijit.ir.text import parse
from nkijit.passes.analysis.definedness.origins import Origins
from nkijit.passes.analysis.definedness.shadow import UNWRITTEN
from nkijit.passes.analysis.writes.written import Verdict, reads_of
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.errors import UnwrittenError
from nkijit.passes.interpret.run.launch import Launch
from nkijit.passes.interpret.run.sanitize import CoreSanitizer
from nkijit.traced.kernel import TracedKernel

P, F, COUNT = 4, 8, 3
"""Partitions and elements of a tile; the most iterations."""

# ------------------------------------------------------------------ random kernels


@dataclass
class Model:
    """The elements that a kernel has written, computed from its text alone."""

    written: dict[str, set[tuple[int, int]]] = field(default_factory=dict)

    def touch(self, tile: str, where: Sequence[tuple[int, int]]) -> None:
        self.written.setdefault(tile, set()).update(where)

    def missing(self, tile: str, where: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        return set(where) - self.written.get(tile, set())


def block(rows: range, columns: range) -> list[tuple[int, int]]:
    return [(row, column) for row in rows for column in columns]


@dataclass
class Kernel:
    """A kernel as IR, and the unwritten elements that each of its runs reads."""

    lines: list[str]
    steps: list[Any]

    def first_fault(self, trips: int, shift: int, index: Any, mask: Any) -> set[tuple[int, int]]:
        """The elements that the first faulty read of a run lacks; empty for a run without one."""
        model = Model()
        values = {"n": trips, "r": shift}
        return _run(self.steps, model, values, index, mask) or set()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def _run(steps: list[Any], model: Model, values: dict[str, int], index: Any, mask: Any) -> Any:
    for step in steps:
        kind, *rest = step
        if kind == "loop":
            body, name = rest
            for number in range(values["n"]):
                fault = _run(body, model, {**values, name: number}, index, mask)
                if fault:
                    return fault
            continue
        into, out_of, moved = rest
        if out_of is not None:
            read = _elements(out_of, values)
            if moved == "gather":
                read = [(row, int(index[row, column])) for row, column in block(range(P), range(F))]
            fault = model.missing(out_of[0], read)
            if fault == set(read):  # copying a partly written region is not a fault
                return fault
        wanted = _elements(into, values)
        if moved == "predicate":
            wanted = [(row, column) for row, column in wanted if mask[row, column]]
        model.touch(into[0], wanted)
    return None


def _elements(place: Any, values: dict[str, int]) -> list[tuple[int, int]]:
    _, rows, columns, by = place
    start = columns.start + (values[by] if by else 0)
    return block(rows, range(start, start + len(columns)))


def random_kernel(seed: int) -> Kernel:
    """Return a kernel of copies between parts of three tiles, whose outcome depends on data."""
    rng = random.Random(seed)
    lines = [
        "nki.kernel @k(%n: memref<1x1xi32, #nki.private_hbm>, %r: memref<1x1xi32, "
        "#nki.private_hbm>, %i: memref<4x8xui32, #nki.private_hbm>, %m: memref<4x8xui8, "
        "#nki.private_hbm>) target=trn3 {",
        "%zero = arith.constant 0 : i32",
        "%one = arith.constant 1 : i32",
        "%value = arith.constant 1.0 : f32",
        "%ntile = nki.alloc : memref<1x1xi32, #nki.sbuf>",
        "%itile = nki.alloc : memref<4x8xui32, #nki.sbuf>",
        "%mtile = nki.alloc : memref<4x8xui8, #nki.sbuf>",
        "nisa.dma_copy dst=%itile, src=%i",
        "nisa.dma_copy dst=%mtile, src=%m",
        "%nreg = nki.register",
        "%rreg = nki.register",
        "nisa.register_load dst=%nreg, src=%n",
        "nisa.register_load dst=%rreg, src=%r",
        *(f"%t{t} = nki.alloc : memref<4x8xf32, #nki.sbuf>" for t in range(3)),
    ]
    names = 0

    def place(tile: int, width: int, by: str) -> tuple[Any, str]:
        """Some columns of a tile, maybe moved by a number known at run time only."""
        nonlocal names
        names += 1
        room = F - width - (COUNT if by else 0)
        start = rng.randint(0, room)
        moved = {"": "", "r": f" scalar=%rreg scale=1 bound={COUNT + 1}"}.get(
            by, f" scalar=%{by} scale=1 bound={COUNT + 1}"
        )
        pairs = f"[[{F}, {P}], [1, {width}]]"
        lines.append(f"%v{names} = nki.view %t{tile} offset={start} pattern={pairs}{moved}")
        return (f"t{tile}", range(P), range(start, start + width), by), f"%v{names}"

    def steps(depth: int, loops: list[str]) -> list[Any]:
        nonlocal names
        found: list[Any] = []
        for _ in range(rng.randint(2, 5)):
            kind = rng.choice(["set", "set", "copy", "copy", "gather", "predicate", "loop"])
            width = rng.randint(1, F - COUNT)
            by = rng.choice(["", "", "r", *loops])
            if kind == "loop" and depth < 2:
                names += 1
                loop, bound = f"i{names}", f"%b{names}"
                lines.append(f"{bound} = nki.read %nreg")
                lines.append(f"scf.for %{loop} = %zero to {bound} step %one : i32 {{")
                found.append(("loop", steps(depth + 1, [*loops, loop]), loop))
                lines.append("}")
            elif kind == "copy":
                out_of, source = place(rng.randrange(3), width, by)
                into, target = place(rng.randrange(3), width, rng.choice(["", by]))
                lines.append(f"nisa.tensor_copy dst={target}, src={source}")
                found.append(("copy", into, out_of, ""))
            elif kind == "gather":
                source, target = rng.sample(range(3), 2)
                whole = (range(P), range(F), "")
                lines.append(f"nisa.nc_n_gather dst=%t{target}, data=%t{source}, indices=%itile")
                found.append(("copy", (f"t{target}", *whole), (f"t{source}", *whole), "gather"))
            elif kind == "predicate":
                tile = rng.randrange(3)
                lines.append(
                    f"nisa.tensor_copy_predicated dst=%t{tile}, src=%value, predicate=%mtile"
                )
                whole = (f"t{tile}", range(P), range(F), "")
                found.append(("copy", whole, None, "predicate"))
            else:
                into, target = place(rng.randrange(3), width, by)
                lines.append(f"nisa.memset dst={target}, value=1.0")
                found.append(("copy", into, None, ""))
        return found

    body = steps(0, [])
    lines += ["nki.return", "}"]
    return Kernel(lines, body)


# ------------------------------------------------------------------ proofs


class _Recorder(CoreSanitizer):
    """Records the reads of unwritten data in a run, and continues."""

    def __init__(self, plan: Plan):
        super().__init__(plan, Origins(), {})
        self.faults: list[tuple[Operation, str, bool]] = []

    def _taken(self, op: Operation, effect: Effect, marks: Any) -> Any:
        if not isinstance(base_of(effect.value).owner, AllocOp):
            return super()._taken(op, effect, marks)
        touched = self.touched(op, effect)
        missing = marks == UNWRITTEN
        self.faults.append(
            (op, effect.name, bool((missing if touched is None else missing & touched).any()))
        )
        return super()._taken(op, effect, marks)

    def entirely_unwritten(self, op: Operation, effect: Effect) -> None:
        pass


def _inputs(seed: int, trips: int, shift: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    index = rng.integers(0, F, (P, F), dtype=np.uint32)
    mask = rng.integers(0, 2, (P, F), dtype=np.uint8)
    return [np.array([[trips]], np.int32), np.array([[shift]], np.int32), index, mask]


CASES = list(product(range(120), range(COUNT + 1), (0, 2)))


@pytest.mark.parametrize("part", range(6))
def test_runs_stop_at_the_first_element_that_nothing_has_written(part: int) -> None:
    faults = 0
    for seed, trips, shift in CASES[part::6]:
        kernel = random_kernel(seed)
        (parsed,) = kernels_of(parse(kernel.text))
        inputs = _inputs(seed, trips, shift)
        expected = kernel.first_fault(trips, shift, *inputs[2:])
        launch = Launch([Plan(parsed)])
        if not expected:
            launch.run(inputs, sanitize=True)
            continue
        faults += 1
        with pytest.raises(UnwrittenError) as raised:
            launch.run(inputs, sanitize=True)
        assert "read-unwritten" in str(raised.value)
    assert faults > 20


@pytest.mark.parametrize("part", range(6))
def test_elements_proven_written_are_written_in_every_run(part: int) -> None:
    """Reads reported as unwritten are unwritten in every run that reaches them."""
    proven = told = 0
    for seed, trips, shift in CASES[part::6]:
        (parsed,) = kernels_of(parse(random_kernel(seed).text))
        verdicts: dict[tuple[Operation, str], Verdict] = {}
        for read in reads_of([parsed], known=True):
            verdicts.setdefault((read.op, read.effect.name), read.verdict)
        plan = Plan(parsed)
        recorder = _Recorder(plan)
        env = plan.start(_inputs(seed, trips, shift), watched=True)
        env[plan.body.observer] = recorder
        plan.body.run(env)
        seen: set[tuple[Operation, str]] = set()
        for op, name, missing in recorder.faults:
            verdict = verdicts[op, name]
            if verdict is Verdict.written:
                assert not missing, f"{op} reads what nothing has written (seed {seed})"
                proven += 1
            if verdict is Verdict.unwritten and (op, name) not in seen:
                assert missing, f"{op} reads nothing unwritten (seed {seed})"
                told += 1
            seen.add((op, name))
    assert proven > 100
    assert told > 20


# ------------------------------------------------------------------ as an author meets it


@nki.jit
def half_returned(x: Any, n: Any) -> Any:
    out = nl.ndarray((256, 16), dtype=nl.int32, buffer=nl.shared_hbm)
    count = nl.load(n)
    trips = nisa.register_alloc()
    nisa.register_load(trips, count)
    for i in nl.dynamic_range(0, trips):
        nisa.dma_copy(dst=out.reshape((2, 128, 16)).select(0, i), src=x)
    return out


def _traced() -> tuple[TracedKernel, Any]:
    x = np.arange(128 * 16, dtype=np.int32).reshape(128, 16)
    return half_returned.trace(x, np.zeros((1, 1), np.int32)), x


def test_results_that_are_partly_unwritten_are_a_warning() -> None:
    traced, x = _traced()
    assert np.array_equal(
        traced.run(x, np.array([[2]], np.int32), sanitize=True), np.tile(x, (2, 1))
    )
    with pytest.warns(nki.NkiWarning, match=r"nothing has written its elements \[128:256, 0:16\]"):
        result = traced.run(x, np.array([[1]], np.int32), sanitize=True)
    assert np.array_equal(result[:128], x)
    with pytest.raises(UnwrittenError, match=r"output-unwritten.*nothing has written it"):
        traced.run(x, np.array([[0]], np.int32), sanitize=True)


def test_the_environment_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    traced, x = _traced()
    none = np.array([[0]], np.int32)
    traced.run(x, none)
    monkeypatch.setenv("NKIJIT_SANITIZE", "1")
    with pytest.raises(UnwrittenError):
        traced.run(x, none)
    traced.run(x, none, sanitize=False)


def test_cores_see_writes_of_the_other() -> None:
    @nki.jit
    def swapped(x: Any) -> Any:
        me = nl.program_id(0)
        shared = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=shared[nl.ds(me * 2, 2)], src=x[nl.ds(me * 2, 2)])
        nisa.core_barrier(shared, cores=(0, 1))
        nisa.dma_copy(dst=out[nl.ds(me * 2, 2)], src=shared[nl.ds((1 - me) * 2, 2)])
        return out

    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    result = swapped[2].trace(x).run(x, sanitize=True)
    assert np.array_equal(result, np.roll(x, 2, axis=0))
