"""Known ranges of registers, induction variables and trip counts, against runs of random programs.

The oracle runs a program many times, with random data in memory and random numbers of iterations of
a `while`, and records every value that a probe sees.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO

import pytest
from xdsl.dialects.scf import ForOp

from nkijit.dialects.nisa.registers import RegisterStoreOp
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.ir.text import parse
from nkijit.passes.analysis.flow.ranges import Range, Ranges

SEEDS = range(500)
RUNS = 60
REGISTERS = 3


@dataclass
class _Run:
    """One run: values of registers and induction variables, and all values seen so far."""

    random: random.Random
    held: dict[str, int] = field(default_factory=dict[str, int])
    seen: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    counts: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    ended: bool = True


Action = Callable[[_Run], None]


class _Program:
    """A random program: its text, and Python functions that do the same."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.text = StringIO()
        self.probes = 0
        self.loops = 0
        self.names = 0
        self.actions = self._block(depth=0, numbers=[])

    def line(self, text: str) -> None:
        self.text.write(f"  {text}\n")

    @contextmanager
    def _nested(self, opening: str, closing: str = "}") -> Generator[None]:
        self.line(opening)
        yield
        self.line("scf.yield")
        self.line(closing)

    def _constant(self) -> tuple[str, Callable[[_Run], int]]:
        value = self.random.randrange(6)
        return f"%c{value}", lambda run: value

    def _bound(self) -> tuple[str, Callable[[_Run], int]]:
        if self.random.random() < 0.7:
            return self._constant()
        register = self._register()
        self.names += 1
        name = f"%n{self.names}"
        self.line(f"{name} = nki.read {register}")
        return name, lambda run: run.held[register]

    def _source(self, numbers: list[str]) -> tuple[str, Callable[[_Run], int]]:
        if self.random.random() < 0.4:
            return self._constant()
        source = self.random.choice([*(f"%r{n}" for n in range(REGISTERS)), *numbers * 2])
        return source, lambda run: run.held[source]

    def _register(self) -> str:
        return f"%r{self.random.randrange(REGISTERS)}"

    def _block(self, depth: int, numbers: list[str]) -> list[Action]:
        makers = [self._move, self._move, self._move, self._load, self._probe, self._probe]
        if depth < 3:
            makers += [self._for, self._while]
        return [
            self.random.choice(makers)(depth, numbers) for _ in range(self.random.randint(1, 5))
        ]

    def _move(self, depth: int, numbers: list[str]) -> Action:
        target = self._register()
        source, value = self._source(numbers)
        self.line(f"nisa.register_move dst={target}, src={source}")

        def act(run: _Run) -> None:
            run.held[target] = value(run)

        return act

    def _load(self, depth: int, numbers: list[str]) -> Action:
        target = self._register()
        self.line(f"nisa.register_load dst={target}, src=%t")

        def act(run: _Run) -> None:
            run.held[target] = run.random.choice([-3, 0, 2, 7])

        return act

    def _probe(self, depth: int, numbers: list[str]) -> Action:
        probe, register = self.probes, self._register()
        self.probes += 1
        source = self.random.choice([register, *numbers])
        self.line(f"nisa.register_store dst=%t, src={source}")

        def act(run: _Run) -> None:
            run.seen.setdefault(probe, []).append(run.held[source])

        return act

    def _for(self, depth: int, numbers: list[str]) -> Action:
        (lower, low), (upper, high) = self._bound(), self._bound()
        step = self.random.choice([1, 1, 2, 3])
        loop = self.loops
        self.loops += 1
        name = f"%i{loop}"
        with self._nested(f"scf.for {name} = {lower} to {upper} step %c{step} : i32 {{"):
            body = self._block(depth + 1, [*numbers, name])

        def act(run: _Run) -> None:
            values = range(low(run), high(run), step)
            run.counts.setdefault(loop, []).append(len(values))
            for value in values:
                run.held[name] = value
                for action in body:
                    action(run)

        return act

    def _while(self, depth: int, numbers: list[str]) -> Action:
        self.names += 1
        number = self.names
        self.line("scf.while () : () -> () {")
        self.line(f"%n{number} = nki.read %r0")
        self.line(f"%m{number} = arith.cmpi ne, %n{number}, %c0 : i32")
        self.line(f"scf.condition(%m{number})")
        with self._nested("} do {"):
            body = self._block(depth + 1, numbers)

        def act(run: _Run) -> None:
            for _ in range(3):
                if run.held["%r0"] == 0:
                    return
                for action in body:
                    action(run)
            raise _EndlessError

        return act

    def source(self) -> str:
        registers = "".join(f"  %r{n} = nki.register\n" for n in range(REGISTERS))
        constants = "".join(f"  %c{n} = arith.constant {n} : i32\n" for n in range(7))
        start = "".join(
            f"  nisa.register_move dst=%r{n}, src=%c{n + 1}\n" for n in range(REGISTERS)
        )
        return (
            "nki.kernel @k() target=trn3 {\n"
            f"{constants}{registers}"
            "  %t = nki.alloc : memref<1x1xi32, #nki.sbuf>\n"
            f"{start}{self.text.getvalue()}  nki.return\n}}\n"
        )

    def run(self, seed: int) -> _Run:
        run = _Run(random.Random(seed))
        for register in range(REGISTERS):
            run.held[f"%r{register}"] = register + 1
        try:
            for action in self.actions:
                action(run)
        except _EndlessError:
            run.ended = False
        return run


class _EndlessError(Exception):
    """A `while` that has run long enough; the values seen until then count."""


def _load(source: str) -> tuple[Ranges, list[RegisterStoreOp], list[ForOp]]:

    (kernel,) = kernels_of(parse(source))
    ops = list(kernel.operations)
    probes = [op for op in ops if isinstance(op, RegisterStoreOp)]
    return Ranges(kernel), probes, [op for op in ops if isinstance(op, ForOp)]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed: int) -> None:
    program = _Program(seed)
    ranges, probes, loops = _load(program.source())
    runs = [program.run(number) for number in range(RUNS)]
    for number, probe in enumerate(probes):
        known = ranges.range_of(probe.src, probe)
        always = ranges.always_runs(probe)
        for run in runs:
            seen = run.seen.get(number, [])
            assert seen or not always or not run.ended
            if known is None or not seen:
                continue
            assert known.low <= min(seen)
            assert max(seen) <= known.high
            if known.exact and always and run.ended:
                assert (min(seen), max(seen)) == (known.low, known.high)
    for number, loop in enumerate(loops):
        least, most = ranges.trip_counts(loop)
        for count in (count for run in runs for count in run.counts.get(number, [])):
            assert least <= count
            assert most is None or count <= most


def _known(body: str) -> list[Range | None]:
    registers = "".join(f"  %r{n} = nki.register\n" for n in range(REGISTERS))
    constants = "".join(f"  %c{n} = arith.constant {n} : i32\n" for n in range(7))
    source = (
        f"nki.kernel @k() target=trn3 {{\n{constants}{registers}"
        f"  %t = nki.alloc : memref<1x1xi32, #nki.sbuf>\n{body}\n  nki.return\n}}\n"
    )
    ranges, probes, _ = _load(source)
    return [ranges.range_of(probe.src, probe) for probe in probes]


def test_nothing_is_known_of_a_register_that_was_never_written() -> None:
    assert _known("nisa.register_store dst=%t, src=%r0") == [None]


def test_a_register_holds_the_last_moved_value() -> None:
    body = """
      nisa.register_move dst=%r0, src=%c3
      nisa.register_store dst=%t, src=%r0
      nisa.register_move dst=%r0, src=%c5
      nisa.register_move dst=%r1, src=%r0
      nisa.register_store dst=%t, src=%r1
      nisa.register_load dst=%r1, src=%t
      nisa.register_store dst=%t, src=%r1
    """
    assert _known(body) == [Range(3, 3, True), Range(5, 5, True), None]


def test_the_last_value_of_an_induction_variable_is_below_the_bound() -> None:
    body = """
      scf.for %i = %c1 to %c6 step %c3 : i32 {
        nisa.register_store dst=%t, src=%i
        nisa.register_move dst=%r0, src=%i
        nisa.register_store dst=%t, src=%r0
        scf.yield
      }
      nisa.register_store dst=%t, src=%r0
    """
    inside = Range(1, 4, True)
    assert _known(body) == [inside, inside, Range(1, 4, False)]


def test_a_loop_may_bring_a_register_into_its_next_iteration() -> None:
    body = """
      nisa.register_move dst=%r0, src=%c0
      scf.for %i = %c0 to %c6 step %c1 : i32 {
        nisa.register_store dst=%t, src=%r0
        nisa.register_move dst=%r0, src=%c2
        scf.yield
      }
      nisa.register_store dst=%t, src=%r0
    """
    assert _known(body) == [Range(0, 2, False), Range(2, 2, True)]


def test_a_bound_in_a_register_gives_the_numbers_it_may_reach() -> None:
    body = """
      scf.for %i = %c0 to %c6 step %c5 : i32 {
        nisa.register_move dst=%r0, src=%i
        %n = nki.read %r0
        scf.for %j = %n to %c6 step %c1 : i32 {
          nisa.register_store dst=%t, src=%j
          scf.yield
        }
        scf.yield
      }
    """
    assert _known(body) == [Range(0, 5, False)]


def test_a_loop_that_never_runs_has_no_induction_variable() -> None:
    body = """
      scf.for %i = %c3 to %c3 step %c1 : i32 {
        nisa.register_store dst=%t, src=%i
        scf.yield
      }
    """
    assert _known(body) == [None]
