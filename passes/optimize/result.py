"""The result of `optimize`, as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from nkijit.dialects.spelling import counted
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.diagnostics.shown import ShownAsText
from nkijit.passes.optimize.search import Search
from nkijit.passes.optimize.state import Move, State, Step
from nkijit.passes.profile.profile import profile_of
from nkijit.passes.profile.units import percent, range_text, time_text, times_text
from nkijit.passes.prove.algebra import Level


class ResumeError(ValueError):
    """Raised for a file that is not the JSON of an earlier search of the same kernel."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """The predicted time of a version, in ns."""

    time: float
    low: float
    """The time with the fastest timing constants."""
    high: float
    """The time with the slowest timing constants."""
    bound: str
    """The resource with the highest utilisation, or `latency`."""
    busiest: str
    """The busiest resource."""
    busy: float
    """The utilisation of the busiest resource, from 0 to 1."""
    sbuf: int
    """The peak use of SBUF, in bytes per partition."""
    sbuf_capacity: int

    @staticmethod
    def of(state: State) -> Predicted:
        """Return the prediction for a version."""
        profile = profile_of(state.timeline)
        busiest, busy = profile.shares[0] if profile.shares else ("none", 0.0)
        ends = state.ends
        return Predicted(
            time=state.time,
            low=min(state.time, *ends),
            high=max(state.time, *ends),
            bound=profile.bound,
            busiest=busiest,
            busy=busy,
            sbuf=max((use.sbuf for use in profile.memory), default=0),
            sbuf_capacity=max((use.sbuf_capacity for use in profile.memory), default=0),
        )

    @property
    def limit(self) -> str:
        """The limit in words, e.g. `bound by dma: dma is 91.2% busy`."""
        return f"bound by {self.bound}: {self.busiest} is {percent(self.busy)} busy"


@dataclass(frozen=True, repr=False)
class Optimized(ShownAsText):
    """The best version of a kernel that was found. `str()` is a summary. Times are in ns."""

    kernel: str
    target: str
    allowed: Level
    """The allowed level of equivalence with the original kernel."""
    before: Predicted
    after: Predicted
    steps: tuple[Step, ...]
    """The applied changes, in order."""
    tried: int
    """The number of experiments that were run."""
    refuted: int
    """The number of faster versions that were dropped: their results are not proven to be equal."""
    is_complete: bool
    """Whether nothing was left to try at the end of the budget."""
    seconds: float = field(repr=False)
    """The time that the search took."""

    @staticmethod
    def of(search: Search, allowed: Level) -> Optimized:
        """Return the result of a search."""
        first = search.original.kernels[0]
        return Optimized(
            kernel=first.launch_name,
            target=first.target.platform,
            allowed=allowed,
            before=Predicted.of(search.original),
            after=Predicted.of(search.best),
            steps=search.steps,
            tried=search.tried,
            refuted=len(search.refuted),
            is_complete=search.is_complete,
            seconds=search.seconds,
        )

    @property
    def level(self) -> Level:
        """The level at which the best version is equivalent to the original kernel."""
        return self.steps[-1].level if self.steps else Level.bits

    @property
    def gain(self) -> float:
        """The fraction of the time that is saved."""
        return (self.before.time - self.after.time) / self.before.time

    def __repr__(self) -> str:
        return f"<{next(self.lines())}>"

    def __str__(self) -> str:
        return "\n".join(self.lines()) + "\n"

    def lines(self) -> Iterator[str]:
        """Yield the lines of the summary."""
        count = len(self.steps)
        steps = counted(count, "step")
        yield (
            f"@{self.kernel} for {self.target}: "
            f"{times_text(self.before.time, self.after.time)} (-{percent(self.gain)}), {steps}"
        )
        after = self.after
        yield (
            f"  predicted, not measured: {range_text(after.time, after.low, after.high)}, "
            f"before {range_text(self.before.time, self.before.low, self.before.high)}"
        )
        yield "  ranges: constants of the model vary; `nkijit profile` has those of published times"
        if self.steps:
            allowed = f"allowed: {self.allowed.value}"
            yield f"  equivalent to the original at level {self.level.value}; {allowed}"
        yield f"  {after.limit}; {percent(after.sbuf / after.sbuf_capacity)} of SBUF in use"
        yield f"  {self._effort()}"
        if not self.steps:
            yield "  no change that was tried gains more than the uncertainty of the model"
        for number, step in enumerate(self.steps, 1):
            yield ""
            yield from step_lines(number, step)

    def _effort(self) -> str:
        left = "nothing is left to try" if self.is_complete else "the budget is spent"
        refuted = f", {self.refuted} not proven" if self.refuted else ""
        return f"{counted(self.tried, 'experiment')}{refuted}; {left}"

    def to_json(self) -> str:
        """Return everything as JSON text, which `--resume` reads."""
        return json.dumps(plain(self) | {"level": self.level.value}, indent=2) + "\n"


def step_lines(number: int, step: Step) -> Iterator[str]:
    """Yield the lines that describe a step; `number` counts from 1."""
    at = "" if step.place is None else f"{step.place.brief}: "
    yield (
        f"step {number}. {at}{step.message}: {times_text(step.before, step.after)} "
        f"(-{percent(step.gain)}) [{step.move.kind}]"
    )
    yield from (f"  {reason}" for reason in step.reasons)
    low, high = time_text(step.low), time_text(step.high)
    yield f"  gains {low} to {high}; equivalent to the original: {step.level.value}"


def moves_of(text: str, kernel: str) -> list[Move]:
    """Return the steps of an earlier result from its JSON text.

    Raises:
        ResumeError: the text is no result, or the result of another kernel.
    """
    try:
        document = cast("dict[str, Any]", json.loads(text))
        found = [Move(**step["move"]) for step in document["steps"]]
        name = document["kernel"]
    except (ValueError, KeyError, TypeError) as error:
        raise ResumeError("this is not the JSON of `nkijit optimize`") from error
    if name != kernel:
        raise ResumeError(f"this is the result for @{name}, not for @{kernel}")
    return found
