"""verify-accumulators against brute force, and against results of the interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
import pytest
from support.random_programs import Program, lines_of, outcomes, random_program
from xdsl.ir import Operation

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.ir.text import parse
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.records import AccumulatorUse
from nkijit.passes.interpret.semantics.nisa import accumulators, exponential, select
from nkijit.passes.verify.accumulators import check_accumulators
from nkijit.traced.kernel import TracedKernel

SEEDS = range(250)


@dataclass(frozen=True)
class Kind:
    """An instruction, as the documents describe its use of accumulators."""

    text: str
    engine: str
    effect: str
    """set, continue, clobber or keep."""
    op: str = "add"
    reads: bool = False
    asked: bool = True
    result: str = ""
    """Where it reads accumulators out to."""
    by_default: bool = False
    """It resets because its call says nothing else."""


_ACTIVATION = "nisa.activation dst=%{h}, op=exp, data=%{h}, reduce_op=add"
_ACTIVATE2 = (
    "nisa.activate2 dst=%{h}, op=exp, data=%{h}, imm0=%one, imm1=%one, op0=multiply, op1=add"
)
_EXPONENTIAL = "nisa.exponential dst=%{h}, src=%{h}"
_RANGE = (
    "nisa.range_select dst=%{h}, on_true_tile=%{h}, comp_op0=greater, comp_op1=less, "
    "bound0=%{h}_c, bound1=%{h}_c"
)
_CUMULATIVE = "nisa.tensor_scalar_cumulative dst=%{h}, src=%{h}, op0=multiply, op1=add, imm0=%one"
_READ = ", reduce_res=%{h}_r"

KINDS = (
    Kind(f"{_ACTIVATION}, reduce_cmd=reset_reduce", "scalar", "set"),
    Kind(f"{_ACTIVATION}, reduce_cmd=reset", "scalar", "set", asked=False),
    Kind(f"{_ACTIVATION}, reduce_cmd=reduce", "scalar", "continue"),
    Kind(f"{_ACTIVATION}{_READ}, reduce_cmd=reduce", "scalar", "continue", reads=True),
    Kind(f"{_ACTIVATION}{_READ}", "scalar", "keep", reads=True),
    Kind(_ACTIVATION, "scalar", "keep"),
    Kind(f"{_ACTIVATE2}, reduce_op=maximum, reduce_cmd=reset_reduce", "scalar", "set", "maximum"),
    Kind(f"{_ACTIVATE2}, reduce_op=maximum, reduce_cmd=reduce", "scalar", "continue", "maximum"),
    Kind(f"{_EXPONENTIAL}, reduce_cmd=reset_reduce", "vector", "set"),
    Kind(f"{_EXPONENTIAL}, reduce_cmd=load_reduce, reduce_init=%one", "vector", "set"),
    Kind(f"{_EXPONENTIAL}{_READ}, reduce_cmd=reduce", "vector", "continue", reads=True),
    Kind(_EXPONENTIAL, "vector", "clobber"),
    Kind(f"{_EXPONENTIAL}{_READ}", "vector", "clobber", reads=True),
    Kind(_RANGE, "vector", "set", "maximum", asked=False),
    Kind(f"{_RANGE}{_READ}, reduce_cmd=reduce", "vector", "continue", "maximum", reads=True),
    Kind(_CUMULATIVE, "vector", "set", reads=True),
    Kind(f"{_CUMULATIVE}, reduce_cmd=reduce", "vector", "continue", reads=True),
    Kind("nisa.tensor_copy dst=%{h}, src=%{h}", "vector", "keep"),
)

HALVES = {"x": (0, 1), "low": (0,), "high": (1,)}
"""The tiles that instructions work on, and which halves of the lanes these are."""

Register = tuple[str, frozenset[int]]
"""The operator, `undefined` or `forgiven`; and the instructions whose values are in it."""
State = tuple[frozenset[tuple[str, int, Register]], frozenset[tuple[int, str]], frozenset[int]]
"""Registers by engine and half, the errors by instruction, and setters whose values were read."""

_UNDEFINED: Register = ("undefined", frozenset())
_START = frozenset((engine, half, _UNDEFINED) for engine in ("scalar", "vector") for half in (0, 1))
START: State = (_START, frozenset(), frozenset())


@dataclass
class Case:
    """A random program."""

    program: Program
    kinds: list[tuple[Kind, str]]
    """Each instruction, and the tile that it works on."""

    @staticmethod
    def of(seed: int, kinds: Sequence[Kind] = KINDS) -> Case:
        random = Random(seed)
        program, count = random_program(random, 7)
        engine = random.choice(("scalar", "vector"))
        few = [kind for kind in kinds if kind.engine == engine or random.random() < 0.2]
        tiles = ("x", "x", "x", "low", "high")
        kinds_of = [(random.choice(few), random.choice(tiles)) for _ in range(count)]
        if program[0] == 0 and random.random() < 0.7:  # else most programs begin with a mistake
            sets = [kind for kind in kinds if kind.effect == "set" and kind.engine == engine]
            kinds_of[0] = random.choice(sets), "x"
        return Case(program, kinds_of)

    def text(self) -> str:
        def line(number: int) -> str:
            kind, tile = self.kinds[number]
            return f'{kind.text.replace("{h}", tile)}, name="{number}"'

        return "\n".join((_HEAD, *lines_of(self.program, line), "nki.return %arg", "}"))

    def step(self, number: int, state: State) -> State:
        """One instruction, one half of the lanes after the other."""
        kind, tile = self.kinds[number]
        registers = {(engine, half): register for engine, half, register in state[0]}
        wrong, read = set(state[1]), set(state[2])
        for half in HALVES[tile]:
            operator, values = registers[kind.engine, half]
            if kind.effect == "continue":
                if operator == "undefined":
                    wrong.add((number, "undefined"))
                elif operator not in ("forgiven", kind.op):
                    wrong.add((number, "mixed"))
                values |= {number}
                operator = kind.op
            elif kind.effect == "set":
                operator, values = kind.op, frozenset({number})
            elif kind.effect == "clobber":
                if kind.reads and operator != "forgiven":
                    wrong.add((number, "undefined"))
                operator = "forgiven" if operator == "forgiven" else "undefined"
                values = frozenset[int]()
            elif kind.reads and operator == "undefined":
                wrong.add((number, "undefined"))
                operator = "forgiven"
            if kind.reads:
                read |= values
            registers[kind.engine, half] = operator, values
        left = frozenset((engine, half, r) for (engine, half), r in registers.items())
        return left, frozenset(wrong), frozenset(read)


_HEAD = """nki.kernel @k(%arg: memref<128x8xf32, #nki.private_hbm>) target=trn3 {
%one = arith.constant 1.0 : f32
%x = nki.alloc : memref<128x8xf32, #nki.sbuf>
%low = nki.view %x offset=0 pattern=[[8, 64], [1, 8]]
%high = nki.view %x offset=512 pattern=[[8, 64], [1, 8]]
%x_c = nki.alloc : memref<128x1xf32, #nki.sbuf>
%low_c = nki.alloc : memref<64x1xf32, #nki.sbuf>
%high_c = nki.alloc : memref<64x1xf32, #nki.sbuf>
%x_r = nki.alloc : memref<128x1xf32, #nki.sbuf>
%low_r = nki.alloc : memref<64x1xf32, #nki.sbuf>
%high_r = nki.alloc : memref<64x1xf32, #nki.sbuf>
%x_q = nki.alloc : memref<128x1xf32, #nki.sbuf>
%low_q = nki.alloc : memref<64x1xf32, #nki.sbuf>
%high_q = nki.alloc : memref<64x1xf32, #nki.sbuf>
nisa.memset dst=%x, value=0
nisa.memset dst=%x_c, value=0
nisa.memset dst=%low_c, value=0
nisa.memset dst=%high_c, value=0"""


def traced(case: Case) -> TracedKernel:
    return TracedKernel(parse(case.text()))


def kernel_of(case: Case) -> KernelOp:
    kernel = traced(case).module.body.block.first_op
    assert isinstance(kernel, KernelOp)
    return kernel


def found(case: Case) -> Iterator[tuple[int, str, Diagnostic]]:
    """Yield the pass's findings: instruction number, end of the rule's id, finding."""
    for d in check_accumulators(kernel_of(case)):
        yield int(d.ir.rpartition('name="')[2][:-1]), d.rule.id.rpartition("-")[2], d


@pytest.mark.parametrize("seed", SEEDS)
def test_as_brute_force_finds(seed: int) -> None:
    case = Case.of(seed)
    states = outcomes(case.program, {START}, case.step)
    wrong = {w for state in states for w in state[1]}
    told = [(number, rule, d) for number, rule, d in found(case)]
    faults = [(number, rule) for number, rule, _ in told if rule in ("undefined", "mixed")]
    assert {number for number, _ in faults} == {number for number, _ in wrong}
    assert set(faults) <= wrong
    # An error occurs in every run in which the loops around it run at all.
    often = outcomes(case.program, {START}, case.step, fewest=1)
    for number, _, diagnostic in told:
        if diagnostic.severity == "error":
            assert all(number in {w for w, _ in state[1]} for state in often)
    if not faults:
        read = {number for state in states for number in state[2]}
        lost = {number for number in _executed(case) if case.kinds[number][0].asked} - read
        lost = {n for n in lost if case.kinds[n][0].effect in ("set", "continue")}
        shown = {number for number, rule, _ in told if rule == "lost"}
        assert shown <= lost
        if not any(rule == "resumed" for _, rule, _ in told):  # which is why another one is lost
            assert bool(shown) == bool(lost)


STRAIGHT = (
    *(
        Kind(f"{text}{to}, reduce_cmd={command}", engine, effect, reads=bool(to), result=to)
        for text, engine in ((_ACTIVATION, "scalar"), (_EXPONENTIAL, "vector"))
        for effect, command in (("set", "reset_reduce"), ("continue", "reduce"))
        for to in ("", _READ, ", reduce_res=%{h}_q")
    ),
    Kind(f"{_ACTIVATION}{_READ}", "scalar", "keep", reads=True, result=_READ),
    Kind(f"{_ACTIVATION}, reduce_cmd=reset", "scalar", "set", asked=False),
    Kind(_RANGE, "vector", "set", asked=False, by_default=True),
    Kind(_EXPONENTIAL, "vector", "clobber"),
)


def _resumed(case: Case) -> set[int]:
    """Instructions of a program without loops that continue a reduction which is over.

    It has been read out, and another one began after that in other lanes, or in part of its lanes.
    Reductions that go on in turn, and results that are read to one place, are left out.
    """
    held: dict[tuple[str, int], int | None] = {}
    began: dict[str, list[int]] = {"scalar": [], "vector": []}
    continues: list[tuple[int, int, int | None]] = []
    read: dict[int, int] = {}
    for number, (kind, tile) in enumerate(case.kinds):
        places = [(kind.engine, half) for half in HALVES[tile]]
        if kind.effect == "continue":
            begin = began[kind.engine][-1] if began[kind.engine] else None
            continues += [(number, value, begin) for p in places if (value := held[p]) is not None]
        if kind.effect == "set" and not kind.by_default:
            began[kind.engine].append(number)
        if kind.effect != "keep":
            held |= dict.fromkeys(places, None if kind.effect == "clobber" else number)
        if kind.reads:
            for place in places:
                value = held[place]
                if value is not None:
                    read.setdefault(value, number)
    gone_on = {value for _, value, _ in continues}
    found: set[int] = set()
    for number, value, begin in continues:
        reader = read.get(value)
        if begin is None or reader is None or not value <= reader < begin:
            continue
        lanes, old, new = (set(HALVES[case.kinds[n][1]]) for n in (number, value, begin))
        same = case.kinds[number][0].result == case.kinds[reader][0].result
        if same and case.kinds[number][1] == case.kinds[reader][1]:
            continue
        if (new & old) or (not new & lanes and begin not in gone_on):
            found.add(number)
    return found


def _straight(seed: int) -> Case:
    random = Random(seed)
    engine = random.choice(("scalar", "vector"))
    kinds = [kind for kind in STRAIGHT if kind.engine == engine or random.random() < 0.1]
    tiles = [random.choice(("x", "low", "low", "high", "high")) for _ in range(9)]
    return Case(list(range(9)), [(random.choice(kinds), tile) for tile in tiles])


def test_reductions_that_go_on_after_their_end() -> None:
    wrong = right = 0
    for seed in range(600):
        case = _straight(seed)
        told = list(found(case))
        if any(rule in ("undefined", "mixed") for _, rule, _ in told):
            continue
        resumed = {number for number, rule, _ in told if rule == "resumed"}
        assert resumed == _resumed(case), seed
        wrong, right = wrong + bool(resumed), right + (not resumed)
    assert wrong > 10
    assert right > 50


def _executed(case: Case) -> set[int]:
    def step(number: int, state: frozenset[int]) -> frozenset[int]:
        return state | {number}

    return set().union(*outcomes(case.program, {frozenset[int]()}, step))


def test_the_cases_are_of_all_kinds() -> None:
    """Enough of them are wrong, possibly wrong, and right."""
    severities = [{d.severity for _, r, d in found(Case.of(s)) if r != "lost"} for s in SEEDS]
    assert sum("error" in s for s in severities) > 30
    assert sum("warning" in s for s in severities) > 20
    assert sum(not s for s in severities) > 30


class _Results:
    """Records the instructions that output undefined accumulators."""

    def __init__(self) -> None:
        self.undefined: list[str] = []

    def did_run(self, op: Operation, written: Sequence[Any]) -> None:
        uses = isinstance(op, NisaOp) and op.SPEC.accumulators is not None
        if uses and any(np.isnan(tile).any() for tile in written):
            self.undefined.append(op.label)


def _poisoning(b: Binding, *, negate: bool = False) -> AccumulatorUse | None:
    """`accumulator_use`, after which idle leaves NaN where the documents promise nothing."""
    made = accumulators.accumulator_use(b, negate=negate)
    use = b.op.SPEC.accumulators
    assert use is not None
    if not use.idle_clobbers or accumulators.accumulator_command(b.op).name != "idle":
        return made
    if made is None:
        return AccumulatorUse(accumulators.registers_of(b), np.nan, word=None)
    return replace(made, start=np.nan)


@pytest.mark.parametrize("seed", SEEDS[:100])
def test_valid_kernels_read_nothing_undefined(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exponential, "accumulator_use", _poisoning)
    monkeypatch.setattr(select, "accumulator_use", _poisoning)
    case = Case.of(seed)
    if any(rule in ("undefined", "mixed") for _, rule, _ in found(case)):
        return
    results = _Results()
    traced(case).run(np.zeros((128, 8), np.float32), listener=results)
    assert not results.undefined


def test_the_poison_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exponential, "accumulator_use", _poisoning)
    kinds = [
        next(k for k in KINDS if k.text == text)
        for text in (
            f"{_EXPONENTIAL}, reduce_cmd=reset_reduce",
            _EXPONENTIAL,
            f"{_EXPONENTIAL}{_READ}, reduce_cmd=reduce",
        )
    ]
    case = Case([0, 1, 2], [(kind, "x") for kind in kinds])
    assert [(number, rule) for number, rule, _ in found(case)] == [(2, "undefined")]
    results = _Results()
    kernel = traced(case)
    monkeypatch.setattr(TracedKernel, "verify", lambda self: None)
    kernel.run(np.zeros((128, 8), np.float32), listener=results)
    assert results.undefined == ["2"]
