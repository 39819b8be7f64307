"""The result of `advise`, as text and JSON, and the tables of all kinds of advice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from nkijit.dialects.spelling import numbered
from nkijit.passes.advise.kinds import KINDS, Numbers
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.diagnostics.shown import ShownAsText
from nkijit.passes.profile.units import percent, time_text, times_text

_CHANGED = {
    Numbers.change.value: "results change",
    Numbers.estimate.value: "an estimate: it requires rewriting the kernel",
}


@dataclass(frozen=True, slots=True, repr=False)
class Suggestion(ShownAsText):
    """A change that makes the kernel faster. Times are of the whole kernel, in ns."""

    kind: str
    """The id of the suggestion's `Kind`, e.g. `repeated-load`."""
    place: Position | None
    """The source line of the instructions that change."""
    message: str
    """The recommended change, in one line."""
    reasons: tuple[str, ...]
    """The reasons for the gain, one per line."""
    numbers: str
    """The effect on results: `same`, `rounding`, `change` or `estimate` (see `Numbers`)."""
    level: str | None
    """The level of equivalence with the kernel: `bits`, `reassociated` or `rounding`.

    None if results change.
    """
    proven: bool
    """Whether the level is proven for all inputs. Otherwise it is that of the kind of advice."""
    before: float
    after: float
    compiled_before: float | None
    """The compiled kernel's time; None if `before` and `after` are times of compiled kernels."""
    compiled_after: float | None
    by_compiler: bool
    """True if the compiler pipeline also makes this change, so the compiled kernel gains nothing.
    """

    @property
    def gain(self) -> float:
        """The fraction of the time that is saved."""
        return (self.before - self.after) / self.before

    def __repr__(self) -> str:
        return f"<{next(self.lines())}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the lines of the suggestion's text."""
        place = self.place
        at = "" if place is None else f"{place.line_text}: "
        yield (
            f"{at}{self.message}: {times_text(self.before, self.after)} "
            f"(-{percent(self.gain)}) [{self.kind}]"
        )
        yield from (f"  {reason}" for reason in self.reasons)
        if self.level is None:
            yield f"  {_CHANGED[self.numbers]}"
        else:
            proven = "proven for all inputs" if self.proven else "not proven"
            yield f"  level of results: {self.level}, {proven}"
        if self.by_compiler:
            yield f"  the compiler does this itself: {time_text(self.compiled_before or 0.0)}"


@dataclass(frozen=True, repr=False)
class Advice(ShownAsText):
    """The changes that would make a kernel faster, the largest gain first. `str()` is a summary.

    Each suggestion was tried on its own: the gains of several do not add up.
    """

    kernel: str
    target: str
    schedule: str
    """The schedule that times are predicted for: `author` or `compiler`."""
    time: float
    """The predicted time of the unchanged kernel, in ns."""
    suggestions: tuple[Suggestion, ...]
    tried: int
    """The number of experiments that were run."""
    left_out: int
    """The number of experiments that were not run.

    The experiments with the largest possible gains are run first.
    """
    passed_over: str
    """The errors of the kernel that were ignored for the prediction; "" if there are none."""

    def __repr__(self) -> str:
        count = len(self.suggestions)
        changes = f"{numbered(count, 'change')} of {self.tried} tried"
        return f"<advice on @{self.kernel} for {self.target}: {time_text(self.time)}, {changes}>"

    def __str__(self) -> str:
        count = len(self.suggestions)
        lines = [self.passed_over] if self.passed_over else []
        lines += [
            f"advice on @{self.kernel} for {self.target}: {time_text(self.time)}, "
            f"{numbered(count, 'change')} of {self.tried} tried",
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
        """Return everything as JSON text, with places as `file:line:column`."""
        return json.dumps(plain(self), indent=2) + "\n"


def list_of_kinds() -> str:
    """Return all kinds of advice as text, one per line."""
    width = max(map(len, KINDS))
    return "".join(f"{kind.id.ljust(width)}  {kind.says}\n" for kind in KINDS.values())


def kinds_as_markdown() -> str:
    """Return the documentation of all kinds as Markdown."""
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
    Numbers.rounding: "Rounded in other places, or added up in another order.",
    Numbers.change: "They change: they lose precision, or arguments have another dtype.",
    Numbers.estimate: "None: the experiment estimates the time of a rewritten kernel.",
}
