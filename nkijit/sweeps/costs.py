"""The predicted cost of a kernel, for searches by other tools: one call, one small result."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from nkijit.dialects.collection import without_collection
from nkijit.dialects.rule_texts.text import WarningGroup
from nkijit.dialects.spelling import counted
from nkijit.discovery.argument_text import with_tensors
from nkijit.discovery.errors import failure_of
from nkijit.kernels.kernel import Kernel
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.diagnostics.styled import Line, Style, as_html, as_text, line
from nkijit.passes.lower.program import LoweringError
from nkijit.passes.profile.figures import LineUse
from nkijit.passes.profile.profile import Profile
from nkijit.passes.profile.simulate import SimulationError
from nkijit.passes.profile.units import percent, range_text, time_text
from nkijit.traced.kernel import TracedKernel
from nkijit.tracing.tracebacks import without_own_frames

MOST_LINES = 5
"""The number of critical-path lines that a cost lists."""


@dataclass(frozen=True, slots=True, repr=False)
class Time(ShownFields):
    """A predicted time and its range, in ns."""

    ns: float
    low: float
    high: float
    launch: float
    """The time to start and end any kernel, which is not included in the other figures."""

    def __str__(self) -> str:
        return range_text(self.ns, self.low, self.high)


@dataclass(frozen=True, slots=True, repr=False)
class Peak(ShownFields):
    """The peak use of an on-chip memory, in bytes per partition of a core."""

    bytes: int
    capacity: int

    def __str__(self) -> str:
        return percent(self.bytes / self.capacity)


@dataclass(frozen=True, slots=True, repr=False)
class CriticalLine(ShownFields):
    """A source line on the critical path."""

    place: Position | None
    queue: str
    instructions: tuple[str, ...]
    ns: float
    """The line's part of the critical path, in ns."""
    share: float
    """The line's part of the critical path, as a fraction of the kernel's time."""


@dataclass(frozen=True, slots=True, repr=False)
class Finding(ShownFields):
    """A short form of a finding; `kernel.trace(...).diagnostics` has the details."""

    rule: str
    severity: str
    """`error` or `warning`."""
    group: str | None
    """`suspicious`, `advice` or `portability` for a warning; None for an error."""
    place: Position | None
    """The source line of the innermost call."""
    subject: str
    message: str

    @classmethod
    def of(cls, found: Diagnostic, **more: Any) -> Self:
        """Create the short form of a finding; `more` has the fields of subclasses."""
        place = found.where[0] if found.where else None
        group = found.group and found.group.value
        shown = found.rule.id, found.severity, group, place, found.subject, found.message
        return cls(*shown, **more)

    def __str__(self) -> str:
        at = "" if self.place is None else f"{self.place}: "
        return f"{at}{self.severity}[{self.rule}]: {self.subject}: {self.message}"


@dataclass(frozen=True, slots=True, repr=False)
class Cost:
    """The predicted cost of a kernel: `str()` is a summary.

    A kernel with errors has `findings` and no figures. `failure` has any other reason for missing
    figures.
    """

    kernel: str
    target: str
    time: Time | None = None
    bound: str | None = None
    """The resource with the highest utilisation; `latency` if none is busy half of the time."""
    sbuf: Peak | None = None
    psum: Peak | None = None
    mfu: float | None = None
    """Model flops utilisation: flops, divided by the flops at peak speed in the same time."""
    instructions: int | None = None
    """The number of executed instructions on all cores."""
    lines: tuple[CriticalLine, ...] = ()
    """The lines with the largest share of the critical path, the largest first."""
    findings: tuple[Finding, ...] = ()
    failure: str = ""
    """The reason for a missing time if not in `findings`: an exception, or a limit of the model."""

    @property
    def us(self) -> float | None:
        """The predicted time in microseconds."""
        return None if self.time is None else self.time.ns / 1000

    @property
    def errors(self) -> int:
        """The number of errors among the findings."""
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def suspicious(self) -> frozenset[str]:
        """The rules of the findings that make a wrong result likely."""
        group = WarningGroup.suspicious.value
        return frozenset(found.rule for found in self.findings if found.group == group)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values: times in ns, places as `file:line:column`."""
        return plain(self)

    def to_json(self) -> str:
        """Return `as_dict` as JSON text."""
        return json.dumps(self.as_dict(), indent=2) + "\n"

    def _lines(self) -> list[Line]:
        shown = [line((self._headline(), Style.strong))]
        if self.time is not None:
            shown.append(
                line(
                    f"  bound by {self.bound}, {self.sbuf} of SBUF and {self.psum} of PSUM at the "
                    f"peak, MFU {percent(self.mfu or 0.0)}"
                )
            )
        for use in self.lines:
            place = f"{use.place}, " if use.place is not None else ""
            work = f"{place}{use.queue} {', '.join(use.instructions)}"
            shown.append(line(f"  {percent(use.share):>6}  {work}: {time_text(use.ns)}"))
        for finding in self.findings:
            style = Style.error if finding.severity == "error" else Style.warning
            shown.append(line("  ", (str(finding), style)))
        return [*shown, *(line(f"  {text}") for text in self.failure.splitlines())]

    def __repr__(self) -> str:
        return f"<cost of {self._headline()}>"

    def _headline(self) -> str:
        head = f"@{self.kernel} for {self.target}"
        if self.time is None:
            errors = counted(self.errors, "error")
            return f"{head}: no time, " + (errors if self.errors else "it cannot be predicted")
        return f"{head}: {self.time}, {counted(self.instructions or 0, 'instruction')}"

    def __str__(self) -> str:
        return as_text(self._lines())

    def _repr_html_(self) -> str:
        return as_html(self._lines())


@without_own_frames
def cost(
    kernel: Kernel[...] | TracedKernel, /, *args: Any, schedule: str = "compiler", **kwargs: Any
) -> Cost:
    """Predict the cost of a kernel by the model: time, memory, critical lines, findings.

    Nothing is run or measured. Errors of the kernel are in the result, even if it cannot be traced.

    Args:
        kernel: a kernel, `kernel[2]` for two cores; or a traced kernel, without further arguments.
        args: the arguments of a call; tensors as arrays, `TensorSpec` or text:
            `"128x512:bfloat16"`. Other strings are passed unchanged.
        schedule: "compiler" predicts the kernel with a compiler's order and tiles; "author" with
            those of the source, which takes about half the time to compute.
        kwargs: further arguments of the call.

    Raises:
        TypeError: the kernel does not have such arguments.
        ValueError: a text looks like a tensor but is invalid, or the schedule is unknown.

    Example:

        found = nki.cost(kernel, x[:128], schedule="author")
        print(found)
        if found.time is not None and found.time.high < 20_000:
            out = kernel(x[:128])
    """
    subject: Any = kernel
    if isinstance(subject, TracedKernel):
        if args or kwargs:
            raise TypeError(f"@{subject.name} is traced already: it takes no arguments")
        return cost_of(subject, lambda: subject.profile(schedule=schedule))
    if not isinstance(subject, Kernel):
        raise TypeError(f"expected a kernel or a traced kernel, got {subject!r}")
    positional = [with_tensors(value) for value in args]
    named = {name: with_tensors(value) for name, value in kwargs.items()}
    subject.signature.bind(*positional, **named)
    with without_collection():
        return cost_of_trace(
            subject,
            lambda: subject.trace(*positional, **named),
            lambda traced: traced.profile(schedule=schedule),
        )


def cost_of_trace(
    kernel: Kernel[...],
    trace: Callable[[], TracedKernel],
    profile: Callable[[TracedKernel], Profile],
) -> Cost:
    """Predict the cost of a kernel, using `trace` and `profile`; see `cost`."""
    try:
        traced = trace()
    except NkiValidationError as error:  # the trace was aborted
        return _without_time(kernel.__name__, kernel.target.platform, error.diagnostics)
    except (Exception, SystemExit) as error:  # user code may raise anything
        failure = failure_of(error)
        return Cost(kernel.__name__, kernel.target.platform, failure=failure.message)
    return cost_of(traced, lambda: profile(traced))


def cost_of(traced: TracedKernel, profile: Callable[[], Profile]) -> Cost:
    """Return the cost of a traced kernel, with figures if it can be profiled."""
    name, target = traced.name, traced.target.platform
    try:
        found = profile()
        ends = found.range
    except NkiValidationError as error:
        return _without_time(name, target, error.diagnostics)
    except (LoweringError, SimulationError) as error:
        return _without_time(name, target, traced.diagnostics, failure_of(error).message)
    fullest = max(found.memory, key=lambda use: use.sbuf)
    banks = max(found.memory, key=lambda use: use.psum)
    return Cost(
        kernel=name,
        target=target,
        time=Time(found.time, ends.low, ends.high, found.launch),
        bound=found.bound,
        sbuf=Peak(fullest.sbuf, fullest.sbuf_capacity),
        psum=Peak(banks.psum, banks.psum_capacity),
        mfu=found.mfu,
        instructions=found.instructions,
        lines=tuple(_critical(use) for use in found.lines[:MOST_LINES] if use.share > 0),
        findings=tuple(map(Finding.of, traced.diagnostics)),
    )


def _without_time(kernel: str, target: str, found: Findings, failure: str = "") -> Cost:
    return Cost(kernel, target, findings=tuple(map(Finding.of, found)), failure=failure)


def _critical(use: LineUse) -> CriticalLine:
    return CriticalLine(use.place, use.queue, use.mnemonics, use.path, use.share)
