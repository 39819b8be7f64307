"""Advice on a kernel as authors hold it, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from nkijit.passes.advise.kinds import KINDS, Numbers
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.diagnostics.shown import ShownAsText
from nkijit.passes.profile.units import percent, time_text, times_text

_OF_NUMBERS = {
    Numbers.same.value: "",
    Numbers.rounding.value: "results are rounded otherwise",
    Numbers.change.value: "results change",
    Numbers.estimate.value: "an estimate: the kernel has to be written otherwise",
}


@dataclass(frozen=True, slots=True, repr=False)
class Suggestion(ShownAsText):
    """A change that gains time. Times are in ns, of the whole kernel."""

    kind: str
    """The id of its `Kind`, e.g. `repeated-load`."""
    place: Position | None
    """The author's line."""
    message: str
    """What to do."""
    reasons: tuple[str, ...]
    """Why, in a line each."""
    numbers: str
    """What it does to the results: `same`, `rounding`, `change` or `estimate`."""
    before: float
    after: float
    compiled_before: float | None
    """As the compiler would have the kernel; None where that was chosen already."""
    compiled_after: float | None
    by_compiler: bool
    """The kernel as the compiler has it gains nothing by the change."""

    @property
    def gain(self) -> float:
        """The part of the time that it gains."""
        return (self.before - self.after) / self.before

    def __repr__(self) -> str:
        return f"<{next(self.lines())}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """The suggestion as it is shown."""
        place = self.place
        at = "" if place is None else f"{place.line_text}: "
        yield (
            f"{at}{self.message}: {times_text(self.before, self.after)} "
            f"(-{percent(self.gain)}) [{self.kind}]"
        )
        yield from (f"  {reason}" for reason in self.reasons)
        changed = _OF_NUMBERS[self.numbers]
        if changed:
            yield f"  {changed}"
        if self.by_compiler:
            yield f"  the compiler does this itself: {time_text(self.compiled_before or 0.0)}"


@dataclass(frozen=True, repr=False)
class Advice(ShownAsText):
    """What would make a kernel faster, the largest gain first: `str()` is a summary.

    Every suggestion was tried by itself: gains of several do not add up.
    """

    kernel: str
    target: str
    schedule: str
    """Whose order and tiles the times are of: the author's or the compiler's."""
    time: float
    """Of the kernel as it is, in ns, by the cost model."""
    suggestions: tuple[Suggestion, ...]
    tried: int
    """How many experiments were run."""
    left_out: int
    """How many others there would have been, that could gain less."""
    passed_over: str
    """The kernel's errors, if it was to be lowered in spite of them."""

    def __repr__(self) -> str:
        count = len(self.suggestions)
        changes = f"{count} change{'' if count == 1 else 's'} of {self.tried} tried"
        return f"<advice on @{self.kernel} for {self.target}: {time_text(self.time)}, {changes}>"

    def __str__(self) -> str:
        count = len(self.suggestions)
        lines = [self.passed_over] if self.passed_over else []
        lines += [
            f"advice on @{self.kernel} for {self.target}: {time_text(self.time)}, "
            f"{count} change{'' if count == 1 else 's'} of {self.tried} tried",
            "  predicted, not measured; each was tried by itself, so gains do not add up",
        ]
        if self.left_out:
            lines.append(f"  {self.left_out} that could gain less were not tried")
        for suggestion in self.suggestions:
            lines += ["", *suggestion.lines()]
        if not self.suggestions:
            lines.append("  nothing that was tried gains 2% of the time")
        return "\n".join(lines) + "\n"

    def to_json(self) -> str:
        """Everything as JSON text, with places as `file:line:column`."""
        return json.dumps(plain(self), indent=2) + "\n"


def list_of_kinds() -> str:
    """All kinds of advice, a line each."""
    width = max(map(len, KINDS))
    return "".join(f"{kind.id.ljust(width)}  {kind.says}\n" for kind in KINDS.values())


def kinds_as_markdown() -> str:
    """The table of all kinds, as docs/advice.md has it."""
    parts: list[str] = []
    for kind in KINDS.values():
        parts += [
            f"### {kind.id}\n",
            f"{kind.says}\n",
            f"*Experiment.* {kind.experiment}\n",
            f"*Results.* {_RESULTS[kind.numbers]}\n",
            f"*Source.* {kind.source}\n",
        ]
    return "\n".join(parts)


_RESULTS = {
    Numbers.same: "The same, bit by bit.",
    Numbers.rounding: "Rounded at other places, or added up in another order.",
    Numbers.change: "They change: precision is lost, or arguments are others.",
    Numbers.estimate: "None: the experiment stands for a kernel that is written otherwise.",
}
