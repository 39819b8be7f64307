"""Checks of the engines' accumulator registers.

The Scalar Engine and the Vector Engine each have one float32 register per lane. Instructions reset
them, reduce into them, clobber them or read them out (`reduce_res`). A register must be defined
before it is read or continued, and an accumulated result should be read.

Two walks cover the instructions that use accumulators. The forward walk tracks the possible
contents of each lane: undefined since the kernel's start, a reduction with some operator, or
undefined since an instruction clobbered it. The backward walk finds the lanes that are read later:
a reduction that no path reads is lost.

A reduction that is read out before another reduction begins is complete. If a later instruction
continues the complete reduction, the author may have meant to continue the other reduction, which
is in other lanes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from xdsl.ir import Operation

from nkijit.dialects.declare.accessors import operand_tuple, value_at
from nkijit.dialects.declare.operation import SEGMENTS, NisaOp
from nkijit.dialects.declare.spec import Accumulators
from nkijit.dialects.hardware.words import engine, reduce_cmd
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.rule_texts.dataflow import (
    ACCUMULATOR_LOST,
    ACCUMULATOR_MIXED,
    ACCUMULATOR_RESUMED,
    ACCUMULATOR_SHARED,
    ACCUMULATOR_UNDEFINED,
)
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.dialects.spelling import in_number
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.byte_sets import shown
from nkijit.passes.analysis.flow.accumulators import (
    accumulated_tile,
    accumulator_command,
    accumulator_operator,
    lanes_of,
    reads_accumulators,
)
from nkijit.passes.analysis.flow.event_tree import backward, event_tree, forward
from nkijit.passes.analysis.writes.unused_results import call_of
from nkijit.passes.diagnostics.diagnose import diagnose, mention
from nkijit.passes.diagnostics.diagnostic import Diagnostic


@dataclass(slots=True, eq=False)
class _Value:
    """One possible content of a register; compared by identity."""

    operator: str | None = None
    """The operator of the reduction; None if undefined."""
    by: _Event | None = None
    """The instruction that last set the register; None if no instruction has."""
    clobbered_by: NisaOp | None = None
    known: bool = True
    """False after a finding about the content, to avoid follow-up findings."""


_Values = frozenset[_Value]
_Pieces = dict[_Values, int]
"""Maps each set of possible contents to the lanes that have these contents, as bits.

Immutable: visits replace the mapping.
"""
_State = dict[engine, _Pieces]

_START: _Values = frozenset({_Value()})
_UNKNOWN = _Value(known=False)


@dataclass(frozen=True, slots=True)
class _Use:
    """The use of accumulators by instructions that differ only in offsets and names."""

    owner: engine
    operator: str | None
    continues: bool
    """True if the instruction reduces onto the current contents."""
    sets: bool
    clobbers: bool
    reads: bool
    requested: bool
    """True if the kernel requests the reduction explicitly; False for a default."""
    begins: bool
    """True if the kernel explicitly begins a reduction."""
    reads_out: bool
    """True if the instruction reads through `reduce_res`, which is meant for complete results."""
    data: int
    """The index of the operand whose partitions determine the lanes of the instruction."""
    all_lanes: int
    """All lanes of the engine, as bits."""


@dataclass(slots=True, eq=False)
class _Event:
    """An instruction that changes or reads accumulators."""

    op: NisaOp
    position: int
    use: _Use
    lanes: int
    read_later: int = 0
    """The lanes of the instruction that are read later on at least one path, as bits."""
    leaves: _Values = frozenset()
    """The possible contents of the instruction's lanes after the instruction."""


def check_accumulators(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield findings about undefined, mixed, resumed and lost reductions, in program order."""
    reader = _Reader(kernel.target.pmax)
    program = event_tree(kernel.body.block, reader.event)
    flow = _Flow({_START: reader.all_lanes})
    end: _State = {}
    forward(program, end, flow)
    for owner in reader.owners:
        backward(program, 0, _needed(owner))
    found = [*flow.found.items(), *_resumed(flow), *_lost(flow, end)]
    yield from (d for _, d in sorted(found, key=lambda item: item[0][0]))


class _Reader:
    """Creates events; equal instructions share their `_Use`."""

    def __init__(self, lanes: int):
        self.all_lanes = (1 << lanes) - 1
        self.owners: set[engine] = set()
        self._position = 0
        self._declared: dict[type[Operation], Accumulators | None] = {}
        # Keys are identities: attributes and values live as long as the kernel.
        self._uses: dict[tuple[object, ...], _Use | None] = {}
        self._lanes: dict[int, int] = {}

    def event(self, op: Operation) -> _Event | None:
        """Return the event of an operation; None if the operation does not use accumulators."""
        op_class = type(op)
        if op_class not in self._declared:
            spec = op.SPEC if isinstance(op, NisaOp) else None
            self._declared[op_class] = None if spec is None else spec.accumulators
        declared = self._declared[op_class]
        if declared is None:
            return None
        properties = op.properties
        key = (
            op_class,
            id(properties.get("reduce_cmd")),
            id(properties.get(declared.operator_field)),
            id(properties.get(SEGMENTS)),
        )
        if key not in self._uses:
            self._uses[key] = self._use(cast(NisaOp, op), declared)
        use = self._uses[key]
        if use is None:
            return None
        tile = value_at(operand_tuple(op), use.data)
        lanes = self._lanes.get(id(tile))
        if lanes is None:
            part = range(self.all_lanes.bit_length())[lanes_of(tile)]
            lanes = self._lanes[id(tile)] = ((1 << len(part)) - 1) << part.start
        self._position += 1
        event = _Event(cast(NisaOp, op), self._position, use, lanes)
        if use.sets:
            value = _Value(use.operator, event, known=use.operator is not None)
            event.leaves = frozenset((value,))
        return event

    def _use(self, op: NisaOp, declared: Accumulators) -> _Use | None:
        command, reads = accumulator_command(op), reads_accumulators(op)
        sets = command is not reduce_cmd.idle
        if not (sets or reads or declared.idle_clobbers):
            return None
        self.owners.add(declared.engine)
        field = op.SPEC.by_name.get(declared.operator_field)
        by_default = "reduce_cmd" not in op.properties and (field is None or not field.required)
        return _Use(
            declared.engine,
            accumulator_operator(op),
            continues=command is reduce_cmd.reduce,
            sets=sets,
            clobbers=not sets and declared.idle_clobbers,
            reads=reads,
            requested=command.reduces and not by_default,
            begins=sets and command is not reduce_cmd.reduce and not by_default,
            reads_out=reads and op.declares("reduce_res"),
            data=op.operands.index(accumulated_tile(op)),
            all_lanes=self.all_lanes,
        )


class _Flow:
    """The forward walk. It tracks the set of possible contents of each lane."""

    def __init__(self, start: _Pieces) -> None:
        self.start = start
        self.found: dict[tuple[int, str], Diagnostic] = {}
        """The findings by the position of the event and the rule id."""
        self.replaced: dict[_Event, tuple[str, NisaOp]] = {}
        """For each instruction whose accumulated values were lost: how, and the cause.

        The cause is the instruction that replaced the values.
        """
        self.blamed: set[_Event] = set()
        """Instructions with findings, and the instructions that set the values in question.

        `accumulator-lost` is not reported for them.
        """
        self.resumed: dict[_Event, _Resumption] = {}
        self.continued: set[_Event] = set()
        """Instructions whose accumulated values another instruction continues."""
        self._clobbered: dict[tuple[_Value, NisaOp], _Value] = {}
        self._began: dict[engine, list[_Event]] = {}
        """The instructions that begin reductions, by engine, in program order."""
        self._read_by: dict[_Event, _Event] = {}
        """For each instruction that set accumulators, the first one that reads the values out."""

    def keys(self, event: _Event) -> Iterable[engine]:
        return (event.use.owner,)

    def join(self, one: _Pieces, two: _Pieces) -> _Pieces:
        if one == two:
            return one
        joined: _Pieces = {}
        for values, lanes in one.items():
            for others, held in two.items():
                if lanes & held:
                    either = values | others
                    joined[either] = joined.get(either, 0) | lanes & held
        return joined

    def visit(self, event: _Event, state: _State, certain: bool) -> None:
        use, lanes = event.use, event.lanes
        pieces = state.get(use.owner, self.start)
        wrong: list[_Unusable] = []
        if use.continues or (use.reads and not use.sets):
            wrong = self._check(event, pieces, certain)
        if use.reads_out:
            self._note_read(event, pieces)
        if use.sets:
            if not use.continues:
                self._replace(event, pieces, "reset")
                self._note_begin(event)
            state[use.owner] = _put(pieces, lanes, event.leaves)
        elif use.clobbers:
            self._replace(event, pieces, "clobbered")
            state[use.owner] = self._clobber(event, pieces)
        elif wrong:
            reported = {w.value for w in wrong}
            state[use.owner] = _changed(pieces, lanes, lambda v: _UNKNOWN if v in reported else v)

    def _note_begin(self, event: _Event) -> None:
        began = self._began.setdefault(event.use.owner, [])
        if event.use.begins and (not began or began[-1].position < event.position):
            began.append(event)

    def last_begin(self, event: _Event) -> _Event | None:
        """Return the latest earlier instruction that begins a reduction in the event's engine."""
        began = self._began.get(event.use.owner, [])
        index = bisect_left(began, event.position, key=lambda earlier: earlier.position)
        return began[index - 1] if index else None

    def _note_read(self, event: _Event, pieces: _Pieces) -> None:
        if event.use.sets:
            self._read_by.setdefault(event, event)
            return
        for values, lanes in pieces.items():
            if lanes & event.lanes:
                for value in values:
                    if value.by is not None:
                        self._read_by.setdefault(value.by, event)

    def _note_continued(self, event: _Event, by: _Event, lanes: int) -> None:
        """Record that `event` continues, in some lanes, the values that `by` has set."""
        self.continued.add(by)
        last, reader = self.last_begin(event), self._read_by.get(by)
        if last is None or last.position <= by.position:
            return
        if reader is not None and reader.position > last.position:
            reader = None
        if not last.lanes & event.lanes or last.lanes & by.lanes:
            found = self.resumed.setdefault(event, _Resumption(by, reader, last))
            if found.by is by:
                found.lanes |= lanes

    def _replace(self, event: _Event, pieces: _Pieces, how: str) -> None:
        for values, lanes in pieces.items():
            if lanes & event.lanes:
                for value in values:
                    if value.operator is not None and value.by is not None:
                        self.replaced.setdefault(value.by, (how, event.op))

    def _clobber(self, event: _Event, pieces: _Pieces) -> _Pieces:
        return _changed(pieces, event.lanes, lambda value: self._after_clobber(value, event.op))

    def _after_clobber(self, value: _Value, op: NisaOp) -> _Value:
        if value.operator is None:  # undefined before
            return value
        key = value, op
        if key not in self._clobbered:
            self._clobbered[key] = _Value(None, value.by, op)
        return self._clobbered[key]

    def _check(self, event: _Event, pieces: _Pieces, certain: bool) -> list[_Unusable]:
        """Report the register contents that an instruction cannot use, and return them.

        `certain`: False if the instruction may never run with these contents.
        """
        undefined: list[_Unusable] = []
        mixed: list[_Unusable] = []
        use, op = event.use, event.op
        if use.continues and use.operator is None:  # a finding of its own
            return []
        for values, lanes in pieces.items():
            lanes &= event.lanes
            if not lanes:
                continue
            for value in values:
                by = value.by
                if value.operator is None or use.clobbers:
                    if value.known:
                        undefined.append(_Unusable(value, lanes, values))
                elif use.continues and use.operator != value.operator:
                    mixed.append(_Unusable(value, lanes, values))
                elif by is not None:
                    if _always_resets(by.op, op):
                        self._report(event, ACCUMULATOR_SHARED, _shared(op, by.op))
                    if use.continues:
                        self._note_continued(event, by, lanes)
        wrong = undefined + mixed
        if certain:
            values_of = {w.value for w in wrong}
            for w in wrong:
                w.sure = w.among <= values_of
        if undefined:
            last = self.last_begin(event) if use.continues else None
            self._report(event, ACCUMULATOR_UNDEFINED, _undefined(event, undefined, last))
        elif mixed:
            self._report(event, ACCUMULATOR_MIXED, _mixed(event, mixed))
        if wrong:
            self.blamed.add(event)
            self.blamed.update(w.value.by for w in wrong if w.value.by is not None)
        return wrong

    def _report(self, event: _Event, rule: RuleText, diagnostic: Diagnostic) -> None:
        key = event.position, rule.id
        earlier = self.found.get(key)
        if earlier is None or (earlier.severity, diagnostic.severity) == ("warning", "error"):
            self.found[key] = diagnostic


@dataclass(slots=True)
class _Resumption:
    """A reduction that is continued after another reduction began."""

    by: _Event
    """The instruction that last set the accumulators."""
    reader: _Event | None
    """The instruction that read the accumulators before the other reduction began."""
    last: _Event
    """The instruction that began the other reduction."""
    lanes: int = 0
    """The lanes in which the first reduction is continued."""


@dataclass(slots=True)
class _Unusable:
    """Possible contents of some lanes that an instruction cannot use."""

    value: _Value
    lanes: int
    among: _Values
    """All possible contents of the lanes, usable or not."""
    sure: bool = False
    """True if the instruction can use none of `among`."""


def _put(pieces: _Pieces, lanes: int, contents: _Values) -> _Pieces:
    """Return a mapping in which the given lanes have `contents`."""
    left = {values: held & ~lanes for values, held in pieces.items() if held & ~lanes}
    left[contents] = left.get(contents, 0) | lanes
    return left


def _changed(pieces: _Pieces, lanes: int, change: Callable[[_Value], _Value]) -> _Pieces:
    """Return a mapping in which `change` is applied to the contents of the given lanes."""
    left = pieces
    for values, held in pieces.items():
        if held & lanes:
            left = _put(left, held & lanes, frozenset(map(change, values)))
    return left


def _needed(owner: engine) -> Callable[[_Event, int], int]:
    """Return the step of the backward walk for one engine.

    The step maps the lanes that are read after an event to the lanes that are read before the
    event.
    """

    def visit(event: _Event, needed: int) -> int:
        use = event.use
        if use.owner is not owner:
            return needed
        event.read_later |= needed & event.lanes
        if use.clobbers or (use.sets and not use.continues):
            return needed & ~event.lanes
        return needed | event.lanes if use.reads else needed

    return visit


def _always_resets(first: NisaOp, second: NisaOp) -> bool:
    """True if `first` always resets the accumulators and `second` is of another type."""
    declared = first.SPEC.accumulators
    return declared is not None and declared.command is not None and first.name != second.name


def _lost(flow: _Flow, end: _State) -> Iterator[tuple[tuple[int, str], Diagnostic]]:
    """Yield a finding for the last instruction of each reduction that nothing reads."""
    fates: dict[_Event, tuple[str, NisaOp | None]] = {**flow.replaced}
    others: dict[_Event, _Event] = {}
    for event, found in flow.resumed.items():
        others.setdefault(found.last, event)
    for values in (values for pieces in end.values() for values in pieces):
        for value in values:
            if value.operator is not None and value.by is not None:
                fates.setdefault(value.by, ("unread at the end of the kernel", None))
    for event, (how, by) in fates.items():
        if event.use.requested and not (
            event.use.reads or event.read_later or event in flow.blamed
        ):
            rule = ACCUMULATOR_LOST
            place = f"the {_engine(event)}{_in_lanes(event)}"
            message = f"what it accumulates in {place} is never read out"
            related = [] if by is None else [(by, f"{how} by {mention(by)}")]
            if event in others:
                other = others[event]
                text = f"{mention(other.op)} continues an earlier reduction{_in_lanes(other)}"
                related.append((other.op, text))
            notes = [how] if by is None else []
            help = (
                _RESET_ONCE if how == "reset" and by is not None and _repeats(event, by) else None
            )
            diagnostic = diagnose(rule, event.op, message, notes=notes, related=related, help=help)
            yield (event.position, rule.id), diagnostic


_RESET_ONCE = (
    "reset in the first iteration only, and continue in the others: reduce_cmd="
    "nisa.reduce_cmd.reset_reduce if i == 0 else nisa.reduce_cmd.reduce"
)


def _repeats(event: _Event, by: NisaOp) -> bool:
    """True if `by` is the instruction of the event in a later iteration of an unrolled loop."""
    declared = event.op.SPEC.accumulators
    has_command = declared is not None and declared.command is None
    return has_command and by is not event.op and call_of(by) == call_of(event.op)


def _resumed(flow: _Flow) -> Iterator[tuple[tuple[int, str], Diagnostic]]:
    """Yield a finding for each instruction that continues a complete reduction."""
    for event, found in flow.resumed.items():
        last, by, reader = found.last, found.by, found.reader
        # Intended: two reductions that both continue in their own lanes, and partial results of
        # one.
        both_go_on = last in flow.continued and not last.lanes & by.lanes
        if reader is None or both_go_on or _same_result(event.op, reader.op):
            continue
        rule = ACCUMULATOR_RESUMED
        related = [(by.op, f"last set by {mention(by.op)}")]
        if reader is not by:
            related.append((reader.op, f"read out by {mention(reader.op)}"))
        related.append((last.op, f"{mention(last.op)} begins a reduction{_in_lanes(last)}"))
        diagnostic = diagnose(
            rule,
            event.op,
            f"reduce_cmd.reduce continues the reduction{_in_lanes(event, found.lanes)} of the "
            f"{_engine(event)}, which has been read out, and not the one that began last",
            notes=_uses(event, found.lanes),
            related=related,
        )
        flow.blamed.add(last)
        yield (event.position, rule.id), diagnostic


def _same_result(one: NisaOp, other: NisaOp) -> bool:
    """True if two instructions read accumulators into overlapping elements of an allocation."""
    if not one.declares("reduce_res") or one.get("reduce_res") is None:
        return False
    result, earlier = one.required("reduce_res"), other.required("reduce_res")
    same = base_of(result) is base_of(earlier)
    return same and info_of(result).overlaps(info_of(earlier))


def _undefined(event: _Event, wrong: list[_Unusable], last: _Event | None) -> Diagnostic:
    """Return the finding that an instruction uses undefined accumulators.

    `last` is the last instruction that began a reduction, if the instruction continues one; else
    None.
    """
    first = next((w for w in wrong if w.sure), wrong[0])
    value = first.value
    subject = "reduce_cmd.reduce continues on" if event.use.continues else "'reduce_res' reads"
    related: list[tuple[NisaOp, str]] = []
    if value.by is not None:
        related.append((value.by.op, f"accumulated by {mention(value.by.op)}"))
    if event.use.clobbers:
        when = "which reduce_cmd.idle leaves undefined"
    elif not first.sure:
        when = "which may be undefined here"
    elif value.by is None:
        when = "which are undefined at the start of a kernel"
    else:
        when = "which are undefined here"
    if value.clobbered_by is not None and not event.use.clobbers:
        by = value.clobbered_by
        related.append((by, f"clobbered by {mention(by)}"))
    lanes = _lanes(wrong)
    if last is not None and not last.lanes & lanes:
        related.append((last.op, f"{mention(last.op)} begins a reduction{_in_lanes(last)}"))
    return diagnose(
        ACCUMULATOR_UNDEFINED,
        event.op,
        f"{subject} the accumulators of the {_engine(event)}{_in_lanes(event, lanes)}, {when}",
        notes=_where(event, wrong),
        related=related,
        severity="error" if first.sure else "warning",
    )


def _mixed(event: _Event, wrong: list[_Unusable]) -> Diagnostic:
    first = next((w for w in wrong if w.sure), wrong[0])
    hold = "hold" if first.sure else "may hold"
    by = first.value.by
    return diagnose(
        ACCUMULATOR_MIXED,
        event.op,
        f"the accumulators of the {_engine(event)}{_in_lanes(event, _lanes(wrong))} {hold} a "
        f"reduction with "
        f"nl.{first.value.operator}, this one is nl.{event.use.operator}",
        notes=_where(event, wrong),
        related=[] if by is None else [(by.op, f"last set by {mention(by.op)}")],
        severity="error" if first.sure else "warning",
    )


def _shared(op: NisaOp, by: NisaOp) -> Diagnostic:
    return diagnose(
        ACCUMULATOR_SHARED,
        op,
        f"goes on with what {by.name} has accumulated",
        related=[(by, f"last set by {mention(by)}")],
    )


def _where(event: _Event, wrong: list[_Unusable]) -> Iterator[str]:
    yield from _uses(event, _lanes(wrong))
    if not any(w.sure for w in wrong):
        yield "it depends on how often loops on the device run"


def _uses(event: _Event, lanes: int) -> Iterator[str]:
    """Yield a note about the lanes of a finding, unless they are all lanes of the instruction."""
    if lanes != event.lanes:
        yield f"the instruction uses {_named(event.lanes)}"


def _lanes(wrong: Iterable[_Unusable]) -> int:
    lanes = 0
    for w in wrong:
        lanes |= w.lanes
    return lanes


def _in_lanes(event: _Event, lanes: int | None = None) -> str:
    """Return text that names lanes, by default an instruction's; empty for all lanes."""
    lanes = event.lanes if lanes is None else lanes
    return "" if lanes == event.use.all_lanes else f" in {_named(lanes)}"


def _named(lanes: int) -> str:
    return f"{in_number(lanes.bit_count(), 'lane')} {shown(lanes)}"


def _engine(event: _Event) -> str:
    return f"{event.use.owner.name.capitalize()} Engine"
