"""Trip counts of loops, and the number of iterations that are simulated.

Trip counts are known from constant bounds, or otherwise assumed by the caller. If there are too
many instructions to simulate, the loops with the highest trip counts are cut short. Omitted
iterations are assumed to take as long as the second half of the simulated iterations. A kernel that
still has too many instructions is rejected, as its simulation would take hours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.scf import ForOp

from nkijit.dialects.spelling import counted, numbered
from nkijit.passes.analysis.flow.ranges import Ranges
from nkijit.passes.diagnostics.environment import limit_of
from nkijit.passes.diagnostics.places import Position, positions
from nkijit.passes.lower.program import Loop, Program

LEAST = 8
"""Shortened loops simulate at least this number of iterations, unless the limit is exceeded."""
FEWEST = 2
"""The smallest number of simulated iterations of a loop: the first and a typical iteration."""
MOST = 2**31 - 1
"""The largest trip count, as registers have 32 bits."""
LIMIT = 1_000_000
"""The default limit of simulated instructions. It shortens loops only.

A program without loops is simulated completely, however long it is.
"""
LIMIT_VARIABLE = "NKIJIT_SIMULATION_LIMIT"


class SimulationError(ValueError):
    """A program that cannot be simulated to its end.

    Either the queues or cores are deadlocked, or the loops would take too long to simulate.
    """


def simulation_limit() -> int:
    """Return the limit of simulated instructions; NKIJIT_SIMULATION_LIMIT overrides the default."""
    try:
        return limit_of(LIMIT_VARIABLE, LIMIT)
    except ValueError as error:
        raise SimulationError(str(error)) from None


@dataclass(frozen=True, slots=True)
class LoopCount:
    """A loop with an assumed trip count, or a loop that was cut short."""

    core: int
    place: Position | None
    iterations: int
    """The trip count for each entry to the loop."""
    assumed: bool
    """True if the trip count is known only at run time, and was assumed."""
    simulated: int
    """The number of simulated iterations."""
    limit: int
    """The limit of simulated instructions, which is why the loop was cut short."""

    def __str__(self) -> str:
        where = "a loop" if self.place is None else f"the loop at {self.place}"
        times = numbered(self.iterations, "iteration")
        if self.assumed:
            text = f"{where} is taken to run for {times}: how often is known on the device only"
        else:
            text = f"{where} runs for {times}"
        if self.simulated < self.iterations:
            text += (
                f"; {self.simulated} are simulated, the others taken to be like the later ones: "
                f"{LIMIT_VARIABLE} is {self.limit}"
            )
        return text


class Iterations:
    """The trip counts of a program's loops."""

    def __init__(self, program: Program, assumed: int, limit: int):
        """Determine the trip counts.

        Args:
            program: the queues of a core.
            assumed: the assumed trip count of loops with an unknown count.
            limit: the maximum number of instructions to simulate.
        """
        self._program = program
        self._limit = limit
        self._assumed: set[Loop] = set()
        self.of: dict[Loop, int] = {}
        """The trip count of each loop."""
        self._own: dict[Loop | None, int] = {}
        self._inner: dict[Loop | None, list[Loop]] = {}
        ranges: Ranges | None = None
        for loop in program.loops:
            if isinstance(loop.op, ForOp):
                ranges = ranges or Ranges(program.kernel)
            self.of[loop] = self._count(loop, ranges, assumed)
            self._inner.setdefault(loop.parent, []).append(loop)
        for instruction in program.instructions:
            self._own[instruction.loop] = self._own.get(instruction.loop, 0) + 1
        self.simulated = self._cut(limit)
        """The number of simulated iterations of each loop."""
        self.instructions = self._size(None, self.simulated)
        """The number of simulated instructions."""

    def _count(self, loop: Loop, ranges: Ranges | None, assumed: int) -> int:
        if isinstance(loop.op, ForOp) and ranges is not None:
            least, most = ranges.trip_counts(loop.op)
            if least == most:
                return least
        self._assumed.add(loop)
        return assumed

    def _size(self, loop: Loop | None, counts: dict[Loop, int]) -> int:
        inner = self._inner.get(loop, ())
        return self._own.get(loop, 0) + sum(counts[i] * self._size(i, counts) for i in inner)

    def _cut(self, limit: int) -> dict[Loop, int]:
        most = max(self.of.values(), default=0)
        counts = dict(self.of)
        while most > FEWEST and self._size(None, counts) > limit:
            # Few iterations are inexact, so going below `LEAST` is the last step.
            most = max(LEAST, most // 2) if most > LEAST else FEWEST
            counts = {loop: min(count, most) for loop, count in self.of.items()}
        return counts

    def check(self) -> None:
        """Raise SimulationError if there are too many instructions even with shortened loops."""
        size, own = self.instructions, len(self._program.instructions)
        if size > max(self._limit, own):
            depth = max(self._depth(loop) for loop in self._program.loops)
            raise SimulationError(
                f"the loops of the kernel, {depth} deep, make {counted(size, 'instruction')} "
                "even if of "
                f"each only {FEWEST} iterations are simulated; {LIMIT_VARIABLE} is "
                f"{self._limit}, a higher one simulates them"
            )

    def _depth(self, loop: Loop) -> int:
        return 1 if loop.parent is None else 1 + self._depth(loop.parent)

    def is_cut(self, loop: Loop) -> bool:
        """Whether only some of a loop's iterations are simulated."""
        return self.simulated[loop] < self.of[loop]

    def weights(self) -> dict[Loop | None, float]:
        """Return, by loop, the number of executed instructions per simulated instruction."""
        found: dict[Loop | None, float] = {None: 1.0}
        for loop in self._program.loops:
            simulated = self.simulated[loop]
            own = self.of[loop] / simulated if simulated else 1.0
            found[loop] = found[loop.parent] * own
        return found

    def left_out(self, ends: dict[Loop, list[float]]) -> float:
        """Return the time in ns of all iterations that were not simulated.

        `ends` has the end of each simulated iteration of the loops that were cut short.
        """
        return sum(self._missing(loop, ends) for loop in self._inner.get(None, ()))

    def _missing(self, loop: Loop, ends: dict[Loop, list[float]]) -> float:
        """Return the time in ns of the omitted iterations, per entry to the loop."""
        inner = sum(self._missing(i, ends) for i in self._inner.get(loop, ()))
        missing = self.of[loop] * inner
        if self.is_cut(loop):
            missing += (self.of[loop] - self.simulated[loop]) * self._period(loop, ends[loop])
        return missing

    def _period(self, loop: Loop, ends: Sequence[float]) -> float:
        """Return the mean time in ns of the second half of the simulated iterations."""
        count = self.simulated[loop]
        entries = len(ends) // count
        half = count // 2
        spans = [ends[(e + 1) * count - 1] - ends[e * count + half - 1] for e in range(entries)]
        return sum(spans) / (entries * (count - half)) if entries else 0.0

    def assumptions(self, core: int) -> list[LoopCount]:
        """Return the loops with an assumed trip count, or that are cut short."""
        return [
            LoopCount(
                core,
                next(iter(positions(loop.op.location)), None),
                self.of[loop],
                loop in self._assumed,
                self.simulated[loop],
                self._limit,
            )
            for loop in self._program.loops
            if loop in self._assumed or self.is_cut(loop)
        ]
