"""What a report shows, as plain data: source, IR, listing, timeline, memory and findings.

Lists of equal length are columns of a table. A number that stands for something is an index: into
`Report.sources`, `Report.strings`, `Report.chains`, the rows of `Report.ops`, the items of a core
or the rows of `Report.events`; -1 is none. Lines of a source count from 1, lines of the IR from 0.
Times are in ns.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, cast

from nkijit.passes.report.columns import packed


class Place(NamedTuple):
    """A place in a source file."""

    source: int
    line: int
    column: int


@dataclass(slots=True)
class ReportSource:
    """A file of the author."""

    name: str
    text: str | None
    """None when the file cannot be read."""


@dataclass(slots=True)
class Ops:
    """The operations of the kernel, in the order of the text."""

    first: list[int] = field(default_factory=list[int])
    """The line of the IR that an operation begins on."""
    last: list[int] = field(default_factory=list[int])
    chain: list[int] = field(default_factory=list[int])
    """Where it comes from."""
    iteration: list[int] = field(default_factory=list[int])
    """The innermost iteration of unrolled loops that it is in: a row of `ReportIterations`."""


@dataclass(slots=True)
class ReportIterations:
    """Iterations of loops that were unrolled while the kernel was traced."""

    parent: list[int] = field(default_factory=list[int])
    """The iteration of the loop around it."""
    number: list[int] = field(default_factory=list[int])
    """Counted from 0."""
    count: list[int] = field(default_factory=list[int])
    """How many its loop has."""


class ReportWait(NamedTuple):
    """A semaphore that an item waits for."""

    item: int
    """What is waited for."""
    text: int
    """As the listing has it, a string."""
    carried: int
    """1 when it is for the previous iteration."""
    reason: int
    """The dependence and the tile, a string; -1 for an edge of the author."""


@dataclass(slots=True)
class ReportItems:
    """What stands in the queues of a core: instructions by number, then loops in queues."""

    op: list[int] = field(default_factory=list[int])
    queue: list[int] = field(default_factory=list[int])
    """Index into `ReportCore.queues`."""
    mnemonic: list[int] = field(default_factory=list[int])
    """A string; of a loop its head."""
    words: list[list[int]] = field(default_factory=list[list[int]])
    """Operands and immediates, strings."""
    waits: list[list[ReportWait]] = field(default_factory=list[list[ReportWait]])
    signal: list[int] = field(default_factory=list[int])
    loop: list[int] = field(default_factory=list[int])
    """Which loop it is directly in."""
    body: list[int] = field(default_factory=list[int])
    """Of a loop, which one it is."""
    bytes: list[int] = field(default_factory=list[int])
    """What a transfer moves; 0 of other items."""
    flops: list[int] = field(default_factory=list[int])
    """What a matrix product computes; 0 of other items."""


@dataclass(slots=True)
class QueueRows:
    """The listing of a queue."""

    name: str
    is_ring: bool
    rows: list[int] = field(default_factory=list[int])
    """Items, loops before what is in them; `-1 - item` ends a loop."""


@dataclass(slots=True)
class ReportCore:
    """The program of one core."""

    number: int
    instructions: int
    queues: list[QueueRows]
    items: ReportItems
    loops: list[int]
    """For each loop the one that it is in."""


@dataclass(slots=True)
class Events:
    """Instructions that have run, in the order in which they could begin."""

    core: list[int] = field(default_factory=list[int])
    item: list[int] = field(default_factory=list[int])
    begin: list[float] = field(default_factory=list[float])
    free: list[float] = field(default_factory=list[float])
    """When its queue could begin with the next one."""
    end: list[float] = field(default_factory=list[float])
    """When others may see its results."""
    stalled: list[float] = field(default_factory=list[float])
    """How long its queue had nothing to do when it began."""
    reason: list[int] = field(default_factory=list[int])
    """What it waited for last, a string."""
    cause: list[int] = field(default_factory=list[int])
    """The event that it waited for last."""
    path: list[int] = field(default_factory=list[int])
    """The events of the critical path."""


class ReportTile(NamedTuple):
    """A tile and where it lies."""

    name: str
    size: str
    """Shape and data type."""
    partition: int
    partitions: int
    byte: int
    bytes: int
    """Per partition."""
    start: int
    """Index into `ReportMemory.positions`, as `end`: between which it is in use."""
    end: int
    op: int
    """Its allocation."""
    fixed: int
    """1 when the author gave the address."""


@dataclass(slots=True)
class ReportSpace:
    """SBUF or PSUM of a core."""

    name: str
    capacity: int
    bank: int
    """Bytes of a bank; 0 when it has none."""
    peak: int
    """The most bytes in use at once, per partition."""
    tiles: list[ReportTile]


@dataclass(slots=True)
class ReportMemory:
    """The memories of a core."""

    core: int
    positions: list[int]
    """The operation at each position of the program."""
    spaces: list[ReportSpace]


@dataclass(slots=True)
class ReportFinding:
    """A diagnostic."""

    severity: str
    rule: str
    subject: str
    message: str
    where: list[Place]
    """Innermost call first."""
    marked: list[tuple[int, int, int]]
    """What it is about: a line of the innermost place's file, its first and its last column."""
    operands: list[tuple[str, Place | None]]
    related: list[tuple[str, Place]]
    notes: list[str]
    help: str
    ir: str
    """The operation, where no source is known."""
    line: int
    """The line of the IR that reads so, if there is just one."""


@dataclass(slots=True)
class ReportRule:
    """What there is to know of a rule, as `nkijit explain` has it."""

    category: str
    severity: str
    kind: str
    """Of an error, what becomes of the kernel."""
    says: str
    do: str
    source: str
    """The public document that states it."""


class ReportFigures(NamedTuple):
    """What the elements of an operand are like; see `Statistics`, which says what is counted."""

    least: float | None
    largest: float | None
    mean: float | None
    nans: int
    infinities: int
    zeros: int
    subnormals: int
    saturated: int


class ReportPicture(NamedTuple):
    """Values as partitions by free elements, made smaller; see `passes.report.values`."""

    rows: int
    columns: int
    cells_high: int
    cells: str
    """Bytes in base64, row by row: 0 to 250 from the least to the largest; 252 nothing finite,
    253 -Inf, 254 Inf, 255 NaN."""
    histogram: list[int]
    """Finite elements in equal parts from the least to the largest; empty when these are equal."""


class Pattern(NamedTuple):
    """Which part of a tensor an operand is."""

    rows: int
    columns: int
    cells_high: int
    cells: str
    """Bytes in base64, row by row: 0 for nothing of a cell, 255 for all of it."""


class Shown(NamedTuple):
    """An operand with its values."""

    text: int
    """Its name, tile, shape and data type, a string."""
    written: int
    """1 for what the instruction wrote: these are the values after it."""
    figures: int
    picture: int
    """-1 where there was no room for one."""
    pattern: int
    """-1 for all of its tensor, and where that is known at run time only."""
    op: int
    """The allocation of its tensor."""


class ReportStep(NamedTuple):
    """An instruction that has run."""

    op: int
    number: int
    """Its place in the run."""
    loops: int
    """The loops around it with their indices, a string."""
    operands: list[int]
    """What it wrote; if there are pictures of it, also what it read."""


class Turn(NamedTuple):
    """Where something turned up first: NaN and infinities, or saturated numbers."""

    kind: str
    step: int
    text: str
    """What is known of it, in lines."""


@dataclass(slots=True)
class ReportValues:
    """What a recorded run has read and written."""

    instructions: int
    """How many have run; there may be fewer steps."""
    pictured: int = 0
    """Steps with pictures."""
    not_finite: int = 0
    """Instructions that wrote NaN or infinities."""
    saturated: int = 0
    """Instructions that wrote numbers at an end of their data type."""
    turns: list[Turn] = field(default_factory=list[Turn])
    steps: list[ReportStep] = field(default_factory=list[ReportStep])
    operands: list[Shown] = field(default_factory=list[Shown])
    figures: list[ReportFigures] = field(default_factory=list[ReportFigures])
    pictures: list[ReportPicture] = field(default_factory=list[ReportPicture])
    patterns: list[Pattern] = field(default_factory=list[Pattern])


@dataclass(slots=True)
class Comparison:
    """Two kernels side by side; rows of text are those of `nkijit diff`."""

    names: tuple[str, str]
    figures: list[list[str]]
    """Name, the first, the second, what the first takes more."""
    lines: list[list[str]]
    """Where the critical paths differ the most, with a head."""
    instructions: list[list[str]]
    """Queue and mnemonic, the first, the second, change."""
    queues: list[str]
    """A unified diff of what the queues run, the second's against the first's."""
    source: list[tuple[int, int]]
    """Lines of the two main sources that stand beside each other; 0 where one has none."""


@dataclass(slots=True)
class Departed:
    """What came of comparing the values of two recorded runs."""

    text: str
    """In lines."""
    step: int
    """The first instruction that departs, a row of `ReportValues.steps`; -1 for none."""


@dataclass(slots=True)
class Report:
    """Everything that a report shows of a kernel."""

    kernel: str
    target: str
    missing: str
    """Why there is no listing, or no timeline; empty when there are both."""
    sources: list[ReportSource]
    chains: list[list[Place]]
    """Places with the calls that lead there, innermost first."""
    ir: str
    ops: Ops
    iterations: ReportIterations
    strings: list[str]
    cores: list[ReportCore]
    events: Events | None
    profile: dict[str, Any] | None
    """A `Profile` without its timeline; places are `Place`s."""
    memory: list[ReportMemory]
    findings: list[ReportFinding]
    rules: dict[str, ReportRule]
    """Those of the findings, by id."""
    values: ReportValues | None = None
    """Of a run that was recorded."""
    advice: dict[str, Any] | None = None
    """An `Advice`; places are `Place`s."""
    other: Report | None = None
    """The kernel that this one is compared with."""
    comparison: Comparison | None = None
    departed: Departed | None = None
    """Where both runs were recorded."""

    def to_json(self) -> str:
        """Everything as compact JSON, in ASCII, with long lists as `packed` writes them."""
        return json.dumps(self, default=_plain, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> dict[str, Any]:
    found = {f.name: getattr(value, f.name) for f in fields(value)}
    return {k: packed(cast(list[Any], v)) if isinstance(v, list) else v for k, v in found.items()}
