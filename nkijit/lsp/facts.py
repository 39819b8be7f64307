"""The result of an analysis: plain data, which is sent between processes.

Lines and columns count from 1; columns are in characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from nkijit.passes.diagnostics.diagnostic import Fix
from nkijit.passes.diagnostics.places import Position, Span


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to put before a line."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A message for the user at a place in the file."""

    span: Span
    severity: str
    """The severity: `error`, `warning`, or `information`."""
    message: str
    rule: str | None = None
    """Id of the violated rule."""
    related: tuple[tuple[Position, str], ...] = ()
    """Related places, each with a label."""
    remedy: tuple[Insertion, ...] = ()
    """Insertions that fix the problem; empty if there is no automatic fix."""
    fix: Fix | None = None
    """The edit that the finding suggests, if it suggests one."""
    is_suppressible: bool = False
    """Whether a comment suppresses the finding: it is a warning, or a warning that is denied."""


@dataclass(frozen=True, slots=True)
class LineTime:
    """The predicted time of a line of a kernel, in ns."""

    line: int
    time: float
    """The line's time on the critical path."""
    share: float
    """`time` as a fraction of the kernel's time."""
    busy: float
    """The total time for which the line's instructions occupy queues, summed over all queues."""
    queues: tuple[str, ...]
    """The queues that the line's instructions use, the busiest first."""
    instructions: int
    mnemonics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KernelView:
    """A kernel, traced with its first set of arguments."""

    name: str
    span: Span
    """The span of the kernel's name in its `def` statement."""
    line: int
    """The first line of the definition, i.e. the line of the first decorator."""
    target: str
    """The target and its origin: `for trn3 (default)`."""
    summary: str
    """The numbers of errors and warnings, in words."""
    ir_file: str | None = None
    """The path of the file with the kernel's IR."""
    ir_lines: tuple[tuple[int, int], ...] = ()
    """Pairs: a line of the source, and the first IR line of the operations that it creates."""
    time: float | None = None
    """The predicted time in ns; None if there is no prediction."""
    bound: str = ""
    note: str = ""
    """The reason why there is no prediction."""
    lines: tuple[LineTime, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """The problems and the kernels of a file."""

    problems: tuple[Problem, ...] = ()
    kernels: tuple[KernelView, ...] = ()
    complete: bool = field(default=True, compare=False)
    """False if a later analysis of the same text will follow."""

    def ended(self, problem: Problem, seconds: float) -> Analysis:
        """Return this analysis as the final one, after its process ended early.

        Args:
            problem: describes the end of the process.
            seconds: the time limit of the process.

        The problem is added only if the kernels were not verified. If only predictions are missing,
        the kernels get a note instead.
        """
        if not self.kernels:
            return replace(self, problems=(*self.problems, problem), complete=True)
        note = f"no prediction within {seconds:g} s"
        kernels = (
            view if view.time is not None else replace(view, note=view.note or note)
            for view in self.kernels
        )
        return replace(self, kernels=tuple(kernels), complete=True)
