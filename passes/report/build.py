"""`report_of`: collect the data of a report, and relate source, IR, instructions and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.passes.analysis.addresses.blocks import SPACES, space_of
from nkijit.passes.analysis.memory.map import live_tile, map_of
from nkijit.passes.analysis.writes.liveness import Liveness, LiveRange, liveness
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.places import Position, cell_of, positions, shown_path
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.diagnostics.source_text import source_text
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.program import EngineInstruction, Item, Program, QueueLoop, Wait, What
from nkijit.passes.lower.texts import Texts, wait_text
from nkijit.passes.profile.profile import Profile
from nkijit.passes.profile.timeline import Timeline
from nkijit.passes.report import model
from nkijit.passes.report.iterations import Grouping
from nkijit.passes.report.printing import printed
from nkijit.passes.report.values import values_of
from nkijit.passes.values.record import Recording

DIGITS = 1
"""The number of decimals of the times in ns."""


def report_of(
    module: ModuleOp,
    kernels: Sequence[KernelOp],
    findings: Findings,
    programs: Sequence[Program] = (),
    profile: Profile | None = None,
    missing: str = "",
    record: Recording | None = None,
    advice: object = None,
) -> model.Report:
    """Return the report of a kernel.

    Args:
        module: the IR to print.
        kernels: the kernel's program for each core.
        findings: the kernel's findings.
        programs: the queues of each core; () for a kernel that cannot be lowered.
        profile: the kernel's profile; None if it cannot be simulated.
        missing: why a program or profile is missing, or which errors were ignored for its
            prediction.
        record: a recorded run of the kernel, whose values are shown.
        advice: an `Advice` on the kernel; None if it was not requested.
    """
    builder = _Builder(module)
    report = builder.report(kernels, findings, programs, profile, missing, record)
    report.advice = None if advice is None else builder.plain(advice)
    # Advice may refer to further source files.
    report.sources = builder.files
    return report


class _Builder:
    """The state while a report is built; equal texts, positions and files are stored once."""

    def __init__(self, module: ModuleOp):
        self._printed = printed(module)
        self._sources: dict[str, int] = {}
        self.files: list[model.ReportSource] = []
        self._strings: dict[str, int] = {}
        self._chains: dict[int, int] = {}
        self._known_chains: dict[tuple[model.Place, ...], int] = {}
        self._numbers: dict[Operation, int] = {}
        self._ops = model.Ops()
        self._grouping = Grouping()

    def report(
        self,
        kernels: Sequence[KernelOp],
        findings: Findings,
        programs: Sequence[Program],
        profile: Profile | None,
        missing: str,
        record: Recording | None,
    ) -> model.Report:
        self._number_ops(kernels)
        cores = [self._core(program) for program in programs]
        if programs:
            memory = [self._placed(program) for program in programs]
        else:
            memory = self._unplaced(kernels)
        events = None if profile is None else self._events(programs, profile.timeline)
        summary = None
        if profile is not None:
            summary = self.plain(profile)
            summary["loops"] = [str(loop) for loop in profile.loops]
            dma = kernels[0].target.timing.dma
            summary["hbm_bandwidth"] = dma.hbm_bytes_per_ns * len(programs) * 1e9
        values = None
        if record is not None:
            values = values_of(record, self._numbers, self._ops.chain, self._string)
        return model.Report(
            kernels[0].launch_name,
            kernels[0].target.platform,
            missing,
            self.files,
            [list(chain) for chain in self._known_chains],
            self._printed.text,
            self._ops,
            self._grouping.iterations,
            list(self._strings),
            cores,
            events,
            summary,
            memory,
            self._findings(findings),
            {found.rule.id: _rule(found.rule) for found in findings},
            values,
        )

    def plain(self, value: object) -> Any:
        """Convert a dataclass to JSON values, with positions as the page represents them."""
        return plain(value, self._place)

    # ---------------------------------------------------------------- places

    def _source(self, file: str) -> int:
        number = self._sources.get(file)
        if number is None:
            number = self._sources[file] = len(self.files)
            self.files.append(
                model.ReportSource(cell_of(file) or shown_path(file), source_text(file) or None)
            )
        return number

    def _place(self, position: Position) -> model.Place:
        return model.Place(self._source(position.file), position.line, position.column)

    def _chain(self, op: Operation) -> int:
        location = op.location
        known = self._chains.get(id(location))
        if known is None:
            chain = tuple(map(self._place, positions(location)))
            known = self._known_chains.setdefault(chain, len(self._known_chains)) if chain else -1
            self._chains[id(location)] = known
        return known

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _number_ops(self, kernels: Sequence[KernelOp]) -> None:
        """Number the operations of the kernels in the order of the IR text."""
        lines, ops = self._printed.lines, self._ops
        for kernel in kernels:
            self._grouping.add(kernel)
            for op in kernel.walk():
                span = lines.get(op)
                if span is not None:
                    self._numbers[op] = len(ops.first)
                    ops.first.append(span[0])
                    ops.last.append(span[1])
                    ops.chain.append(self._chain(op))
        ops.iteration = self._grouping.of(list(self._numbers))

    # ---------------------------------------------------------------- listing

    def _core(self, program: Program) -> model.ReportCore:
        # Items hash slowly. Their identities are unique while the program exists.
        numbers = {id(item): n for n, item in enumerate(program.instructions)}
        loops = [
            item
            for queue in program.queues
            for item in program.items(queue)
            if isinstance(item, QueueLoop)
        ]
        numbers |= {id(item): len(numbers) + n for n, item in enumerate(loops)}
        queues = {queue: n for n, queue in enumerate(program.queues)}
        columns = model.ReportItems()
        texts = Texts(program)
        durations = Durations(program.target)
        items: list[Item] = [*program.instructions, *loops]
        for item in items:
            self._add_item(columns, item, program, texts)
            columns.queue.append(queues[item.queue])
            columns.waits.append([self._wait(wait, numbers, texts) for wait in item.waits])
            columns.bytes.append(_bytes(item, durations))
            columns.flops.append(_flops(item, durations))
        return model.ReportCore(
            program.kernel.core[0],
            len(program.instructions),
            [
                model.QueueRows(queue.name, queue.is_ring, _rows(queued, numbers))
                for queue, queued in program.queues.items()
            ],
            columns,
            [-1 if loop.parent is None else loop.parent.number for loop in program.loops],
        )

    def _add_item(
        self, columns: model.ReportItems, item: Item, program: Program, texts: Texts
    ) -> None:
        words: list[str] = []
        body = -1
        if isinstance(item, EngineInstruction):
            op, mnemonic = item.op, item.mnemonic
            words += [f"{name}={operand.text}" for name, operand in texts.operands(item)]
            words += [f"{name}={value}" for name, value in texts.immediates(item)]
        else:
            loop = cast(QueueLoop, item).body
            op, body = loop.op, loop.number
            mnemonic = texts.loop(op)
        columns.op.append(self._numbers[program.origins.get(op, op)])
        columns.mnemonic.append(self._string(mnemonic))
        columns.words.append([self._string(word) for word in words])
        columns.signal.append(item.signal)
        columns.loop.append(-1 if item.loop is None else item.loop.number)
        columns.body.append(body)

    def _wait(self, wait: Wait, numbers: dict[int, int], texts: Texts) -> model.ReportWait:
        reason = -1
        if wait.kind is not None:
            tile = "" if wait.value is None else f" {texts.operand(wait.value).text}"
            reason = self._string(f"{wait.kind.value} dependence{tile}")
        text = self._string(wait_text(wait))
        return model.ReportWait(numbers[id(wait.before)], text, int(wait.carried), reason)

    # ---------------------------------------------------------------- time

    def _events(self, programs: Sequence[Program], timeline: Timeline) -> model.Events:
        columns = model.Events()
        numbers = {id(event): n for n, event in enumerate(timeline.events)}
        for event in timeline.events:
            columns.core.append(event.core)
            columns.item.append(event.instruction.number)
            columns.begin.append(round(event.begin, DIGITS))
            columns.free.append(round(event.free, DIGITS))
            columns.end.append(round(event.end, DIGITS))
            columns.stalled.append(round(event.stalled, DIGITS))
            columns.reason.append(self._string(event.reason.value))
            columns.cause.append(-1 if event.cause is None else numbers[id(event.cause)])
        columns.path = [numbers[id(step.event)] for step in timeline.critical_path()]
        return columns

    # ---------------------------------------------------------------- memory

    def _placed(self, program: Program) -> model.ReportMemory:
        """Return a core's memory with the addresses that lowering assigned."""
        placed = program.placement
        peaks = {MemoryRegion.sbuf: placed.sbuf_live, MemoryRegion.psum: placed.psum_live}
        return self._memory(
            program.kernel, placed.live, placed.addresses, peaks, program.target, program.origins
        )

    def _unplaced(self, kernels: Sequence[KernelOp]) -> list[model.ReportMemory]:
        """Return the cores' memories with the addresses of the memory map, which may not fit."""
        memories: list[model.ReportMemory] = []
        for kernel, core in zip(kernels, map_of(kernels).cores, strict=True):
            live = liveness(kernel)
            addresses: dict[AllocOp, tuple[int, int]] = {}
            peaks: dict[MemoryRegion, int] = {}
            for region, space in zip(SPACES, core.spaces, strict=True):
                ranges = [r for r in live.ranges if r.tile.region is region]
                peaks[region] = space.peak
                for found, tile in zip(ranges, space.tiles, strict=True):
                    addresses[found.alloc] = tile.address
            memories.append(self._memory(kernel, live, addresses, peaks, kernel.target, {}))
        return memories

    def _memory(
        self,
        kernel: KernelOp,
        live: Liveness,
        addresses: dict[AllocOp, tuple[int, int]],
        peaks: dict[MemoryRegion, int],
        target: Target,
        origins: dict[Operation, Operation],
    ) -> model.ReportMemory:
        numbers = self._numbers
        spaces: list[model.ReportSpace] = []
        for region in SPACES:
            space = space_of(region, target)
            ranges = [r for r in live.ranges if r.tile.region is region]
            tiles = [
                self._tile(live, r, addresses[r.alloc], numbers[origins.get(r.alloc, r.alloc)])
                for r in ranges
            ]
            spaces.append(
                model.ReportSpace(
                    region.name.upper(), space.capacity, space.bank or 0, peaks[region], tiles
                )
            )
        where = [numbers.get(origins.get(op, op), -1) for op in live.instructions]
        return model.ReportMemory(kernel.core[0], where, spaces)

    def _tile(
        self, live: Liveness, found: LiveRange, address: tuple[int, int], op: int
    ) -> model.ReportTile:
        tile = live_tile(live, found)
        partition, byte = address
        fixed = int(found.alloc.fixed_address is not None)
        return model.ReportTile(
            tile.name,
            tile.size,
            partition,
            tile.partitions,
            byte,
            tile.bytes,
            tile.start,
            tile.end,
            op,
            fixed,
        )

    # ---------------------------------------------------------------- findings

    def _findings(self, findings: Findings) -> list[model.ReportFinding]:
        lines: dict[str, list[int]] = {}
        if any(d.ir for d in findings):
            for number, line in enumerate(self._printed.text.splitlines()):
                lines.setdefault(line.strip(), []).append(number)
        return [self._finding(d, lines.get(d.ir.strip(), [])) for d in findings]

    def _finding(self, found: Diagnostic, lines: Sequence[int]) -> model.ReportFinding:
        return model.ReportFinding(
            found.severity,
            found.rule.id,
            found.subject,
            found.message,
            [self._place(position) for position in found.where],
            _marked(found),
            [
                (
                    f"{operand.name}: {operand.value}, {operand.description}",
                    None if operand.allocated is None else self._place(operand.allocated),
                )
                for operand in found.operands
            ],
            [(label, self._place(position)) for position, label in found.related],
            list(found.notes),
            found.help,
            found.ir,
            lines[0] if len(lines) == 1 else -1,
        )


def _rule(rule: RuleText) -> model.ReportRule:
    kind = "" if rule.kind is None else rule.kind.value
    return model.ReportRule(
        rule.category, rule.severity, kind, rule.sentence, rule.help, rule.source
    )


def _marked(found: Diagnostic) -> list[tuple[int, int, int]]:
    """Return the marked parts of the innermost statement: (line, first column, last column)."""
    if not found.where:
        return []
    at = found.where[0]
    if not found.marked:
        return [(at.line, at.column, at.column + at.width - 1)]
    return [
        (line, *span.columns(line))
        for span in found.marked
        if span.start.file == at.file
        for line in range(span.start.line, span.end_line + 1)
    ]


def _bytes(item: Item, durations: Durations) -> int:
    if not isinstance(item, EngineInstruction) or item.what is not What.transfer:
        return 0
    return durations.transfer(item).bytes


def _flops(item: Item, durations: Durations) -> int:
    if not isinstance(item, EngineInstruction) or item.weights is None:
        return 0
    return round(durations.work(item).flops)


def _rows(items: Sequence[Item], numbers: dict[int, int]) -> list[int]:
    """Return the items of a queue by number; `-1 - item` marks the end of a loop."""
    found: list[int] = []
    for item in items:
        number = numbers[id(item)]
        found.append(number)
        if isinstance(item, QueueLoop):
            found += [*_rows(item.items, numbers), -1 - number]
    return found
