"""The data of a report: source, IR, listing, timeline, memory and findings.

Lists of equal length are columns of a table. Numbers are often indices: into `Report.sources`,
`Report.strings`, `Report.chains`, the rows of `Report.ops`, the items of a core or the rows of
`Report.events`; -1 is none. Source lines count from 1, IR lines from 0. Times are in ns.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, cast

from nkijit.passes.report.columns import packed


class Place(NamedTuple):
    """A position in a source file."""

    source: int
    line: int
    column: int


@dataclass(slots=True)
class ReportSource:
    """A source file."""

    name: str
    text: str | None
    """The text of the file; None if the file cannot be read."""


@dataclass(slots=True)
class Ops:
    """The operations of the kernel, in order of the IR text; each field is a list over them."""

    first: list[int] = field(default_factory=list[int])
    """The first IR line of each operation."""
    last: list[int] = field(default_factory=list[int])
    chain: list[int] = field(default_factory=list[int])
    """The source position, an index into `Report.chains`."""
    iteration: list[int] = field(default_factory=list[int])
    """The innermost iteration of an unrolled loop around each operation.

    It is a row of `ReportIterations`.
    """


@dataclass(slots=True)
class ReportIterations:
    """The iterations of loops that tracing unrolled; each field is a list over them."""

    parent: list[int] = field(default_factory=list[int])
    """The iteration of the surrounding loop, as a row of these columns; -1 for none."""
    number: list[int] = field(default_factory=list[int])
    """The index of the iteration in its loop, from 0."""
    count: list[int] = field(default_factory=list[int])
    """The trip count of the iteration's loop."""


class ReportWait(NamedTuple):
    """A semaphore that an item waits for."""

    item: int
    """The item that is awaited, an index into `ReportItems`."""
    text: int
    """The text of the wait in the listing, a string index."""
    carried: int
    """1 if the wait is for the item in the previous iteration."""
    reason: int
    """The dependence and its tile, a string index; -1 for an order that the user required."""


@dataclass(slots=True)
class ReportItems:
    """The items in the queues of a core: instructions by number, then loops."""

    op: list[int] = field(default_factory=list[int])
    queue: list[int] = field(default_factory=list[int])
    """The queue of each item, an index into `ReportCore.queues`."""
    mnemonic: list[int] = field(default_factory=list[int])
    """The mnemonic of each instruction or the header of each loop, as string indices."""
    words: list[list[int]] = field(default_factory=list[list[int]])
    """The operands and immediates of each item, string indices."""
    waits: list[list[ReportWait]] = field(default_factory=list[list[ReportWait]])
    signal: list[int] = field(default_factory=list[int])
    loop: list[int] = field(default_factory=list[int])
    """The innermost loop around each item."""
    body: list[int] = field(default_factory=list[int])
    """The number of the loop, for items that are loops."""
    bytes: list[int] = field(default_factory=list[int])
    """The number of bytes that each transfer moves; 0 for other items."""
    flops: list[int] = field(default_factory=list[int])
    """The floating-point operations of each matrix product; 0 for other items."""


@dataclass(slots=True)
class QueueRows:
    """The listing of one queue."""

    name: str
    is_ring: bool
    rows: list[int] = field(default_factory=list[int])
    """The items in order; a loop precedes its body, and `-1 - item` marks the end of a loop."""


@dataclass(slots=True)
class ReportCore:
    """The program of one core."""

    number: int
    instructions: int
    queues: list[QueueRows]
    items: ReportItems
    loops: list[int]
    """The parent of each loop; -1 for none."""


@dataclass(slots=True)
class Events:
    """The simulated instructions by earliest start; each field is a list over them."""

    core: list[int] = field(default_factory=list[int])
    item: list[int] = field(default_factory=list[int])
    begin: list[float] = field(default_factory=list[float])
    free: list[float] = field(default_factory=list[float])
    """The time when the event's queue can begin the next instruction."""
    end: list[float] = field(default_factory=list[float])
    """The time when other instructions can see the event's results."""
    stalled: list[float] = field(default_factory=list[float])
    """The time that the event's queue was idle before the event."""
    reason: list[int] = field(default_factory=list[int])
    """The condition that the event waited for last, a string index."""
    cause: list[int] = field(default_factory=list[int])
    """The event that each event waited for last; -1 for none."""
    path: list[int] = field(default_factory=list[int])
    """The events of the critical path."""


class ReportTile(NamedTuple):
    """A tile and its address."""

    name: str
    size: str
    """The tile's shape and dtype."""
    partition: int
    partitions: int
    byte: int
    bytes: int
    """The tile's size in bytes per partition."""
    start: int
    """The first position at which the tile is in use, an index into `ReportMemory.positions`.

    `end` is the last such position.
    """
    end: int
    op: int
    """The allocation of the tile, a row of `Ops`."""
    fixed: int
    """1 if the user fixed the tile's address."""


@dataclass(slots=True)
class ReportSpace:
    """SBUF or PSUM of a core."""

    name: str
    capacity: int
    bank: int
    """The size of a bank in bytes; 0 without banks."""
    peak: int
    """The largest number of bytes per partition in use at one position."""
    tiles: list[ReportTile]


@dataclass(slots=True)
class ReportMemory:
    """The memories of one core."""

    core: int
    positions: list[int]
    """The operation at each position of the program, a row of `Ops`."""
    spaces: list[ReportSpace]


@dataclass(slots=True)
class ReportFinding:
    """A finding."""

    severity: str
    rule: str
    subject: str
    message: str
    where: list[Place]
    """The source positions of the finding, innermost call first."""
    marked: list[tuple[int, int, int]]
    """The marked parts of the source: (line, first column, last column).

    The lines are in the file of the innermost position.
    """
    operands: list[tuple[str, Place | None]]
    related: list[tuple[str, Place]]
    notes: list[str]
    help: str
    ir: str
    """The IR of the operation, if its source is unknown."""
    line: int
    """The IR line with the text in `ir`; -1 if there is none, or if there are several."""


@dataclass(slots=True)
class ReportRule:
    """The documentation of a rule, as in `nkijit explain`."""

    category: str
    severity: str
    kind: str
    """The kind of error that a violation of the rule is."""
    says: str
    do: str
    source: str
    """The public document that states the rule."""


class ReportFigures(NamedTuple):
    """Statistics of an operand's elements; see `Statistics` for the definitions."""

    least: float | None
    largest: float | None
    mean: float | None
    nans: int
    infinities: int
    zeros: int
    subnormals: int
    saturated: int


class ReportPicture(NamedTuple):
    """The values of a tile, reduced to a small picture; see `passes.report.values`."""

    rows: int
    columns: int
    cells_high: int
    cells: str
    """The cells in base64, row by row; 0 to 250 represent values from the minimum to the maximum.

    252 is a cell without finite elements, 253 -Inf, 254 Inf, 255 NaN.
    """
    histogram: list[int]
    """The histogram of finite elements from minimum to maximum; empty if these are equal."""


class Pattern(NamedTuple):
    """A picture of the elements of a tensor that an operand covers."""

    rows: int
    columns: int
    cells_high: int
    cells: str
    """The cells in base64, row by row, from 0 for an uncovered cell to 255 for a covered cell."""


class Shown(NamedTuple):
    """An operand with its values."""

    text: int
    """The operand's name, tile, shape and dtype, a string index."""
    written: int
    """1 if the operand is written and the values are those after the instruction; else 0."""
    figures: int
    picture: int
    """The index of the picture of the values; -1 without one, as their number is limited."""
    pattern: int
    """The picture of the covered elements; -1 for the whole tensor, or if unknown."""
    op: int
    """The allocation of the operand's tensor, a row of `Ops`."""


class ReportStep(NamedTuple):
    """An executed instruction."""

    op: int
    number: int
    """The position of the instruction in the run, from 0."""
    loops: int
    """The loops around the instruction with their indices, a string index."""
    operands: list[int]
    """The operands that the instruction wrote; for steps with pictures, also the read operands."""


class Turn(NamedTuple):
    """The first time that NaN and infinities, or saturated numbers, occur in a run."""

    kind: str
    step: int
    text: str
    """An explanation as several lines of text."""


@dataclass(slots=True)
class ReportValues:
    """The values that a recorded run has read and written."""

    instructions: int
    """The number of executed instructions, including those without steps."""
    pictured: int = 0
    """The number of steps with pictures."""
    not_finite: int = 0
    """The number of instructions that wrote NaN or infinities."""
    saturated: int = 0
    """The number of instructions that wrote the largest or smallest number of a dtype."""
    turns: list[Turn] = field(default_factory=list[Turn])
    steps: list[ReportStep] = field(default_factory=list[ReportStep])
    operands: list[Shown] = field(default_factory=list[Shown])
    figures: list[ReportFigures] = field(default_factory=list[ReportFigures])
    pictures: list[ReportPicture] = field(default_factory=list[ReportPicture])
    patterns: list[Pattern] = field(default_factory=list[Pattern])


@dataclass(slots=True)
class Comparison:
    """A comparison of two kernels. Rows contain the same texts as the output of `nkijit diff`."""

    names: tuple[str, str]
    figures: list[list[str]]
    """Rows of: figure, first kernel, second kernel, change from second to first."""
    lines: list[list[str]]
    """The lines with the largest differences on the critical paths, after a header row."""
    instructions: list[list[str]]
    """Rows of: queue and mnemonic, first kernel, second kernel, change from second to first."""
    ir: list[str]
    """A unified diff of the IR with loops, from the second kernel to the first."""
    queues: list[str]
    """A unified diff of the queues, from the second kernel to the first."""
    source: list[tuple[int, int]]
    """Pairs of corresponding lines of the two main sources; 0 for a missing line."""


@dataclass(slots=True)
class Departed:
    """The result of comparing the values of two recorded runs."""

    text: str
    """The result in several lines of text."""
    step: int
    """The first instruction with different values, a row of `ReportValues.steps`; or -1."""


@dataclass(slots=True)
class Report:
    """All data of a report."""

    kernel: str
    target: str
    missing: str
    """The reason why the listing or the timeline is missing, or errors that were ignored."""
    sources: list[ReportSource]
    chains: list[list[Place]]
    """Source positions with their callers, innermost call first."""
    ir: str
    ops: Ops
    iterations: ReportIterations
    strings: list[str]
    cores: list[ReportCore]
    events: Events | None
    profile: dict[str, Any] | None
    """The `Profile` without its timeline; positions are `Place`s."""
    memory: list[ReportMemory]
    findings: list[ReportFinding]
    rules: dict[str, ReportRule]
    """The rules of the findings, by id."""
    values: ReportValues | None = None
    """The values of a recorded run."""
    advice: dict[str, Any] | None = None
    """The `Advice` on the kernel; positions are `Place`s."""
    other: Report | None = None
    """The kernel that the page compares with the kernel of this report."""
    comparison: Comparison | None = None
    departed: Departed | None = None
    """The comparison of the two runs' values, if both runs were recorded."""

    def to_json(self) -> str:
        """Return everything as compact ASCII JSON, with long lists in the form of `packed`."""
        return json.dumps(self, default=_plain, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> dict[str, Any]:
    found = {f.name: getattr(value, f.name) for f in fields(value)}
    return {k: packed(cast(list[Any], v)) if isinstance(v, list) else v for k, v in found.items()}
