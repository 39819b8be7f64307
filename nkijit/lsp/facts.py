"""What there is to say of a file: plain data, which crosses between processes.

Lines and columns count from 1, in characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from nkijit.passes.diagnostics.places import Position, Span


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to put before a line."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to tell the author at a place of the file."""

    span: Span
    severity: str
    """`error`, `warning`, or `information`."""
    message: str
    rule: str | None = None
    """The id of the rule that is broken."""
    related: tuple[tuple[Position, str], ...] = ()
    """Other places, each with what happened there."""
    remedy: tuple[Insertion, ...] = ()
    """What puts it right; empty where only the author can."""


@dataclass(frozen=True, slots=True)
class LineTime:
    """What a line of a kernel is predicted to take. Times are in ns."""

    line: int
    time: float
    """On the critical path."""
    share: float
    """The same as a part of the kernel's time."""
    busy: float
    """How long it occupies queues."""
    queues: tuple[str, ...]
    """The one that takes longest first."""
    instructions: int
    mnemonics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KernelView:
    """What is known of a kernel, with its first arguments."""

    name: str
    span: Span
    """Its name in its definition."""
    line: int
    """The first line of its definition: that of the first decorator."""
    judged: str
    """What it was traced for: `for trn3 (default)`."""
    summary: str
    """Its findings in words."""
    ir_file: str | None = None
    """Where its IR was written to."""
    ir_lines: tuple[tuple[int, int], ...] = ()
    """Lines of the file, and the first line of the IR, from 1, that comes from each."""
    time: float | None = None
    """Predicted, in ns; None if it is not."""
    bound: str = ""
    note: str = ""
    """Why there is no prediction."""
    lines: tuple[LineTime, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that there is to say of a file."""

    problems: tuple[Problem, ...] = ()
    kernels: tuple[KernelView, ...] = ()
    complete: bool = field(default=True, compare=False)
    """Whether this is all; else more comes."""

    def ended(self, problem: Problem, seconds: float) -> Analysis:
        """This, as all that there is: the process is over before its end.

        Args:
            problem: what there is to say of that.
            seconds: the time that it had.

        Where all has been judged, and only predictions are missing, it is no problem of the file.
        """
        if not self.kernels:
            return replace(self, problems=(*self.problems, problem), complete=True)
        note = f"no prediction within {seconds:g} s"
        kernels = (
            view if view.time is not None else replace(view, note=view.note or note)
            for view in self.kernels
        )
        return replace(self, kernels=tuple(kernels), complete=True)
