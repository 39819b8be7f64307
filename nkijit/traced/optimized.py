"""A kernel made faster: the result of `TracedKernel.optimize`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from xdsl.dialects.builtin import ModuleOp

from nkijit.dialects.collection import without_collection
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.export.layout import WIDTH
from nkijit.export.settle import settled
from nkijit.ir.text import ir_text_of
from nkijit.passes.advise.trials import Conditions
from nkijit.passes.diagnostics.shown import ShownAsText, ShownText
from nkijit.passes.optimize.result import Optimized, moves_of, step_lines
from nkijit.passes.optimize.search import Limits, Search
from nkijit.passes.optimize.state import State
from nkijit.passes.profile.compare import ir_text, profiles_text
from nkijit.passes.profile.profile import profile_of
from nkijit.passes.profile.simulate import Progress
from nkijit.passes.prove.algebra import Level
from nkijit.passes.transform.unroll import unrolled


class Traced(Protocol):
    """The parts of a traced kernel that a search needs."""

    @property
    def name(self) -> str:
        """The kernel's name."""
        ...

    def cores(self, schedule: str = "author") -> Sequence[KernelOp]:
        """Return the IR of each core's program."""
        ...


_TracedT = TypeVar("_TracedT", bound=Traced)


class OptimizedKernel(ShownAsText, Generic[_TracedT]):
    """The best version of a kernel that a search has found; `print` it for a summary."""

    def __init__(
        self,
        original: _TracedT,
        search: Search,
        allowed: Level,
        trace_of: Callable[[Sequence[KernelOp]], _TracedT],
    ):
        """`trace_of` returns the traced kernel of the programs of all cores."""
        self._original = original
        self._trace_of = trace_of
        self._search = search
        self.result = Optimized.of(search, allowed)
        """The steps, times and levels."""

    def __repr__(self) -> str:
        return repr(self.result)

    def __str__(self) -> str:
        return str(self.result)

    @cached_property
    def traced(self) -> _TracedT:
        """The best version. It is the original kernel if no change gains."""
        if not self.result.steps:
            return self._original
        return self._trace_of(self._search.best.kernels)

    def source(self, *, comments: bool = True, loops: bool = True) -> ShownText:
        """Return Python source of the best version, with a comment for each step.

        The arguments and errors are those of `TracedKernel.source`.
        """
        from nkijit.export.source import source_of

        notes = [part for line in self.result.lines() for part in _wrapped(line)]
        text = source_of(
            [self.traced.cores()], comments=comments, loops=loops, notes=notes if comments else []
        )
        return ShownText(text, f"source of @{self.result.kernel} for {self.result.target}")

    def diff(self) -> ShownText:
        """Return the differences between the IR of the original and of the best version."""
        text = _diff(self._search.original, self._search.best, ("original", "optimized"))
        return ShownText(text, f"changes of @{self.result.kernel}")

    def explain(self, step: int) -> ShownText:
        """Return a step with its effect on the IR and on the profile.

        Args:
            step: the number of the step, from 1.

        Raises:
            ValueError: there is no such step.
        """
        steps = self.result.steps
        if not 1 <= step <= len(steps):
            raise ValueError(f"there is no step {step}; there are {len(steps)}")
        after = self._search.versions[step]
        before = self._search.versions[step - 1]
        names = (f"step {step - 1}" if step > 1 else "original", f"step {step}")
        profiles = profiles_text(
            profile_of(after.timeline), profile_of(before.timeline), (names[1], names[0])
        )
        lines = "\n".join(step_lines(step, steps[step - 1]))
        text = f"{lines}\n\n{_diff(before, after, names)}\n{profiles}"
        return ShownText(text, f"step {step} of @{self.result.kernel}")

    def to_json(self) -> str:
        """Return the result as JSON text, which `resume` of `TracedKernel.optimize` takes."""
        return self.result.to_json()


def _wrapped(line: str) -> list[str]:
    """Return a line in pieces that fit into a comment; an empty line is one piece."""
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line, WIDTH - 2, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    ) or [""]


def _diff(before: State, after: State, names: tuple[str, str]) -> str:
    return ir_text(_text(before.kernels), _text(after.kernels), names)


def _text(kernels: Sequence[KernelOp]) -> str:
    return ir_text_of(
        ModuleOp([settled(unrolled(kernel), tiles=True) for kernel in kernels]), rolled=True
    )


@without_collection()
def optimized(
    traced: _TracedT,
    conditions: Conditions,
    limits: Limits,
    progress: Progress | None,
    resume: str | None,
    trace_of: Callable[[Sequence[KernelOp]], _TracedT],
) -> OptimizedKernel[_TracedT]:
    """Search for a faster version of a verified kernel; see `TracedKernel.optimize`."""
    moves = [] if resume is None else moves_of(resume, traced.name)
    search = Search(traced.cores(), conditions, limits, progress)
    search.apply(moves)
    search.run()
    return OptimizedKernel(traced, search, limits.allowed, trace_of)
