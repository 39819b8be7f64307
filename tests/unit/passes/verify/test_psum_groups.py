"""PSUM accumulation groups against brute force, and against results of the interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pytest
from support.random_programs import Program, lines_of, outcomes, random_program
from support.unwritten import WithUnwritten
from xdsl.ir import Operation

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.ir.text import parse
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.verify.psum import check_psum
from nkijit.traced.kernel import TracedKernel

SEEDS = range(250)

WINDOWS = {
    "all": (0, 8, "offset=0 pattern=[[8, 4], [1, 8]]"),
    "left": (0, 4, "offset=0 pattern=[[8, 4], [1, 4]]"),
    "right": (4, 8, "offset=4 pattern=[[8, 4], [1, 4]]"),
    "middle": (2, 6, "offset=2 pattern=[[8, 4], [1, 4]]"),
    "backwards": (1, 5, "offset=4 pattern=[[8, 4], [-1, 4]]"),
}
"""Views of a tile of 4 partitions and 8 columns: from and to which column."""
KINDS = ("true", "false", "none", "memset", "read", "update")

State = tuple[str, str, frozenset[tuple[int, str]]]
"""For each column its contents, whether it has been read, and the errors by instruction."""
START: State = ("." * 8, "-" * 8, frozenset())
# . nothing, m a matmul's result, o another engine's result, r that over a matmul's result.


@dataclass
class Case:
    """A random program."""

    program: Program
    kinds: list[tuple[str, str]]
    target: str

    @staticmethod
    def of(seed: int) -> Case:
        random = Random(seed)
        program, count = random_program(random, 7)
        kinds = random.choices(KINDS, (5, 3, 3, 1, 2, 1), k=count)
        windows = random.choices(tuple(WINDOWS), (4, 1, 1, 1, 1), k=count)
        if random.random() < 0.6:
            kinds[0], windows[0] = "false", "all"
        target = random.choice(("trn2", "trn3"))
        return Case(program, list(zip(kinds, windows, strict=True)), target)

    def text(self) -> str:
        def line(number: int) -> str:
            kind, window = self.kinds[number]
            name = f'name="{number}"'
            if kind == "memset":
                return f"nisa.memset dst=%{window}, value=0, {name}"
            if kind == "read":
                copy = "copy" if window == "all" else "part"
                return f"nisa.tensor_copy dst=%{copy}, src=%{window}, {name}"
            if kind == "update":
                scaled = f"dst=%{window}, data=%{window}, op0=multiply, operand0=%one"
                return f"nisa.tensor_scalar {scaled}, {name}"
            moving = "whole" if window == "all" else "half"
            flag = "" if kind == "none" else f"accumulate={kind}, "
            return f"nisa.nc_matmul dst=%{window}, stationary=%a, moving=%{moving}, {flag}{name}"

        views = [f"%{w} = nki.view %psum {text}" for w, (*_, text) in WINDOWS.items()]
        head = _HEAD.replace("TARGET", self.target)
        return "\n".join((head, *views, *lines_of(self.program, line), "nki.return %arg", "}"))

    def added(self) -> dict[int, set[int]]:
        """The columns that each matmul adds to: accumulate=None is decided in program order."""
        written: set[int] = set()
        result: dict[int, set[int]] = {}
        for number, (kind, window) in enumerate(self.kinds):
            columns = set(range(*WINDOWS[window][:2]))
            if kind in ("true", "false", "none"):
                inferred = columns & written
                result[number] = {"true": columns, "false": set(), "none": inferred}[kind]
                written |= columns
        return result

    def step(self, number: int, state: State) -> State:
        kind, window = self.kinds[number]
        there, read, wrong = list(state[0]), list(state[1]), set(state[2])
        added = self.added().get(number, set[int]())
        resets = self.target == "trn2"
        for column in range(*WINDOWS[window][:2]):
            what = there[column]
            if kind in ("memset", "update"):
                there[column] = ("r" if what in "mr" else "o") if resets else "m"
                read[column] = "-"
            elif kind == "read":
                read[column] = "y"
            else:
                if column in added and what in ".o":
                    wrong.add((number, "accumulate"))
                if column in added and what == "r":
                    wrong.add((number, "overwritten"))
                if column in added and read[column] == "y":
                    wrong.add((number, "read"))
                there[column], read[column] = "m", "-"
        return "".join(there), "".join(read), frozenset(wrong)


_HEAD = """nki.kernel @k(%arg: memref<4x8xf32, #nki.private_hbm>) target=TARGET {
%one = arith.constant 1.0 : f32
%a = nki.alloc : memref<4x4xbf16, #nki.sbuf>
%whole = nki.alloc : memref<4x8xbf16, #nki.sbuf>
%half = nki.alloc : memref<4x4xbf16, #nki.sbuf>
%copy = nki.alloc : memref<4x8xf32, #nki.sbuf>
%part = nki.alloc : memref<4x4xf32, #nki.sbuf>
%psum = nki.alloc : memref<4x8xf32, #nki.psum>
nisa.memset dst=%a, value=1.0
nisa.memset dst=%whole, value=1.0
nisa.memset dst=%half, value=1.0"""


def traced(case: Case) -> TracedKernel:
    return TracedKernel(parse(case.text()))


def found(case: Case) -> Iterator[tuple[int, str, Diagnostic]]:
    """Yield the pass's findings: instruction number, end of the rule's id, finding."""
    kernel = traced(case).module.body.block.first_op
    assert isinstance(kernel, KernelOp)
    for d in check_psum(kernel):
        yield int(d.ir.rpartition('name="')[2][:-1]), d.rule.id.rpartition("-")[2], d


@pytest.mark.parametrize("seed", SEEDS)
def test_as_brute_force_finds(seed: int) -> None:
    case = Case.of(seed)
    told = [(number, rule, d) for number, rule, d in found(case)]
    states = outcomes(case.program, {START}, case.step)
    wrong = {w for state in states for w in state[2]}
    faults = {(number, rule) for number, rule, _ in told}
    assert {f for f in faults if f[1] in ("accumulate", "overwritten", "read")} == wrong
    often = outcomes(case.program, {START}, case.step, fewest=1)
    for number, rule, diagnostic in told:
        if diagnostic.severity == "error":
            assert all((number, rule) in state[2] for state in often)


def test_the_cases_are_of_all_kinds() -> None:
    """Enough of them are wrong, possibly wrong, and right."""
    rules = [{(r, d.severity) for _, r, d in found(Case.of(seed))} for seed in SEEDS]
    assert sum(("accumulate", "error") in r for r in rules) > 30
    assert sum(("accumulate", "warning") in r for r in rules) > 5
    assert sum(("read", "warning") in r for r in rules) > 30
    assert sum(("overwritten", "warning") in r for r in rules) > 5
    assert sum(not r for r in rules) > 20


class _Results:
    """Records matmuls that have added to unwritten data."""

    def __init__(self) -> None:
        self.undefined: list[str] = []

    def did_run(self, op: Operation, written: Sequence[Any]) -> None:
        if op.name == "nisa.nc_matmul" and any(np.isnan(tile).any() for tile in written):
            assert isinstance(op, NisaOp)
            self.undefined.append(op.label)


@pytest.mark.parametrize("seed", SEEDS)
def test_valid_kernels_add_to_nothing_undefined(seed: int) -> None:
    case = Case.of(seed)
    case.kinds = [("read" if k == "update" else k, w) for k, w in case.kinds]  # NaN goes through
    if any(rule == "accumulate" for _, rule, _ in found(case)):
        return
    results = _Results()
    WithUnwritten(traced(case)).run(np.zeros((4, 8), np.float32), listener=results)
    assert not results.undefined


def test_undefined_sums_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case([0, 1], [("false", "left"), ("true", "all")], "trn3")
    assert [(number, rule) for number, rule, _ in found(case)] == [(1, "accumulate")]
    monkeypatch.setattr(TracedKernel, "verify", lambda self: None)
    results = _Results()
    traced(case).run(np.zeros((4, 8), np.float32), listener=results)
    assert results.undefined == ["1"]
