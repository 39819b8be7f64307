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
    """None if the file cannot be read."""


@dataclass(slots=True)
class Ops:
    """The operations of the kernel, in the order of the text."""

    first: list[int] = field(default_factory=list[int])
    """The first IR line of each operation."""
    last: list[int] = field(default_factory=list[int])
    chain: list[int] = field(default_factory=list[int])
    """The source position, an index into `Report.chains`."""
    iteration: list[int] = field(default_factory=list[int])
    """The innermost iteration of an unrolled loop around it, a row of `ReportIterations`."""


@dataclass(slots=True)
class ReportIterations:
    """The iterations of loops that were unrolled by tracing."""

    parent: list[int] = field(default_factory=list[int])
    """The iteration of the loop around it."""
    number: list[int] = field(default_factory=list[int])
    """The index of the iteration, from 0."""
    count: list[int] = field(default_factory=list[int])
    """The loop's trip count."""


class ReportWait(NamedTuple):
    """A semaphore that an item waits for."""

    item: int
    """The item that is waited for."""
    text: int
    """The text in the listing, a string index."""
    carried: int
    """1 if it is the item of the previous iteration."""
    reason: int
    """The dependence and the tile, a string index; -1 for an order that the user required."""


@dataclass(slots=True)
class ReportItems:
    """The items in the queues of a core: instructions by number, then loops."""

    op: list[int] = field(default_factory=list[int])
    queue: list[int] = field(default_factory=list[int])
    """An index into `ReportCore.queues`."""
    mnemonic: list[int] = field(default_factory=list[int])
    """The mnemonic, or a loop's header, a string index."""
    words: list[list[int]] = field(default_factory=list[list[int]])
    """The operands and immediates, string indices."""
    waits: list[list[ReportWait]] = field(default_factory=list[list[ReportWait]])
    signal: list[int] = field(default_factory=list[int])
    loop: list[int] = field(default_factory=list[int])
    """The innermost loop around it."""
    body: list[int] = field(default_factory=list[int])
    """For a loop item: the number of the loop."""
    bytes: list[int] = field(default_factory=list[int])
    """The bytes that a transfer moves; 0 for other items."""
    flops: list[int] = field(default_factory=list[int])
    """The flops of a matrix product; 0 for other items."""


@dataclass(slots=True)
class QueueRows:
    """The listing of a queue."""

    name: str
    is_ring: bool
    rows: list[int] = field(default_factory=list[int])
    """Items in order, with a loop before its body; `-1 - item` ends a loop."""


@dataclass(slots=True)
class ReportCore:
    """The program of one core."""

    number: int
    instructions: int
    queues: list[QueueRows]
    items: ReportItems
    loops: list[int]
    """The parent of each loop."""


@dataclass(slots=True)
class Events:
    """Simulated instructions, by the time when they could begin."""

    core: list[int] = field(default_factory=list[int])
    item: list[int] = field(default_factory=list[int])
    begin: list[float] = field(default_factory=list[float])
    free: list[float] = field(default_factory=list[float])
    """When its queue can begin the next instruction."""
    end: list[float] = field(default_factory=list[float])
    """When other instructions can see its results."""
    stalled: list[float] = field(default_factory=list[float])
    """The time that its queue was idle before it began."""
    reason: list[int] = field(default_factory=list[int])
    """The last condition that it waited for, a string index."""
    cause: list[int] = field(default_factory=list[int])
    """The event that it waited for last."""
    path: list[int] = field(default_factory=list[int])
    """The events of the critical path."""


class ReportTile(NamedTuple):
    """A tile and its address."""

    name: str
    size: str
    """Shape and dtype."""
    partition: int
    partitions: int
    byte: int
    bytes: int
    """Bytes per partition."""
    start: int
    """The first position of its use, an index into `ReportMemory.positions`. `end` is the last."""
    end: int
    op: int
    """Its allocation."""
    fixed: int
    """1 if the user fixed the address."""


@dataclass(slots=True)
class ReportSpace:
    """SBUF or PSUM of a core."""

    name: str
    capacity: int
    bank: int
    """The size of a bank in bytes; 0 without banks."""
    peak: int
    """The maximum number of bytes in use per partition."""
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
    """A finding."""

    severity: str
    rule: str
    subject: str
    message: str
    where: list[Place]
    """The source positions, innermost call first."""
    marked: list[tuple[int, int, int]]
    """The marked parts: a line of the innermost position's file, first column, last column."""
    operands: list[tuple[str, Place | None]]
    related: list[tuple[str, Place]]
    notes: list[str]
    help: str
    ir: str
    """The operation, if its source is unknown."""
    line: int
    """The IR line with this text, if it is unique; otherwise -1."""


@dataclass(slots=True)
class ReportRule:
    """A rule's documentation, as in `nkijit explain`."""

    category: str
    severity: str
    kind: str
    """The kind of an error."""
    says: str
    do: str
    source: str
    """The public document that states it."""


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
    """Base64 of the cells, row by row, with 0 to 250 from the minimum to the maximum.

    252 is a cell without finite elements, 253 -Inf, 254 Inf, 255 NaN.
    """
    histogram: list[int]
    """The histogram of finite elements from minimum to maximum; empty if these are equal."""


class Pattern(NamedTuple):
    """The part of a tensor that an operand covers."""

    rows: int
    columns: int
    cells_high: int
    cells: str
    """Base64 of the cells, row by row: from 0 for an uncovered cell to 255 for a covered one."""


class Shown(NamedTuple):
    """An operand with its values."""

    text: int
    """Its name, tile, shape and dtype, a string index."""
    written: int
    """1 if the instruction writes the operand: its values are those afterwards; 0 if it reads."""
    figures: int
    picture: int
    """-1 without a picture, as their number is limited."""
    pattern: int
    """-1 for the whole tensor, or if the part is known only at run time."""
    op: int
    """The allocation of its tensor."""


class ReportStep(NamedTuple):
    """An executed instruction."""

    op: int
    number: int
    """Its number in the run."""
    loops: int
    """The loops around it with their indices, a string index."""
    operands: list[int]
    """The operands that it wrote. If it has pictures, also those that it read."""


class Turn(NamedTuple):
    """The first occurrence of NaN and infinities, or of saturated numbers."""

    kind: str
    step: int
    text: str
    """An explanation, of several lines."""


@dataclass(slots=True)
class ReportValues:
    """The values that a recorded run has read and written."""

    instructions: int
    """The number of executed instructions. Not all of them have steps."""
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
    """A comparison of two kernels. Rows of text are those of `nkijit diff`."""

    names: tuple[str, str]
    figures: list[list[str]]
    """Name, first kernel, second kernel, change from second to first."""
    lines: list[list[str]]
    """The largest differences between the critical paths, with a header."""
    instructions: list[list[str]]
    """Queue and mnemonic, first kernel, second kernel, change from second to first."""
    queues: list[str]
    """A unified diff of the queues, from the second kernel to the first."""
    source: list[tuple[int, int]]
    """Corresponding lines of the two main sources; 0 for no line."""


@dataclass(slots=True)
class Departed:
    """The result of comparing the values of two recorded runs."""

    text: str
    """A text of several lines."""
    step: int
    """The first instruction that differs, a row of `ReportValues.steps`; -1 for none."""


@dataclass(slots=True)
class Report:
    """All data of a report."""

    kernel: str
    target: str
    missing: str
    """Why the listing or the timeline is missing, or which errors were ignored for them."""
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
    """A `Profile` without its timeline. Positions are `Place`s."""
    memory: list[ReportMemory]
    findings: list[ReportFinding]
    rules: dict[str, ReportRule]
    """The rules of the findings, by id."""
    values: ReportValues | None = None
    """The values of a recorded run."""
    advice: dict[str, Any] | None = None
    """An `Advice`. Positions are `Place`s."""
    other: Report | None = None
    """The kernel to compare with."""
    comparison: Comparison | None = None
    departed: Departed | None = None
    """Set if both runs were recorded."""

    def to_json(self) -> str:
        """Return everything as compact ASCII JSON, with long lists in the form of `packed`."""
        return json.dumps(self, default=_plain, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> dict[str, Any]:
    found = {f.name: getattr(value, f.name) for f in fields(value)}
    return {k: packed(cast(list[Any], v)) if isinstance(v, list) else v for k, v in found.items()}
