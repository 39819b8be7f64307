"""Shares records and steps between instructions that differ only in the tiles that they access.

Iterations of an unrolled loop apply the same computation to other tiles, or to other views. The
*form* of an instruction contains everything that semantics and a backend may depend on. Each form
has one record (description of the computation) and one step (function that computes it). Both use a
*frame*: the few slots of the instruction, numbered from 0. An *instance* of the form represents one
instruction: the indices of that instruction's slots in the environment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from operator import itemgetter
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.operation import NisaOp, form_key, scalar_constant
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.analysis.flow.accumulators import accumulator_lanes
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Env, OperandTile, Slots, Step, Views
from nkijit.passes.interpret.records.records import (
    Chain,
    Computed,
    Copy,
    Destination,
    Fill,
    Matmul,
    Record,
    Reduce,
    Source,
    Transpose,
)
from nkijit.passes.interpret.semantics.registry import history_of, record_of

Frame = Callable[[Any], Any]
"""A function that selects the slots of one instruction from an environment."""

Bind = Callable[[Record, Slots], Step]
"""Returns the step that computes a record, on some backend."""

_SHARED_RECORDS = (Chain, Computed, Copy, Fill, Matmul, Reduce, Transpose)
"""Types of records that describe a computation completely, so that instructions can share steps."""


def whole(env: Env) -> Env:
    """Return the whole environment: the frame of a step that belongs to a single operation."""
    return env


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StepForm:
    """The record and step of instructions that differ only in the tiles that they access."""

    step: Step
    record: Record | None
    """The computation, with slots of the frame as operands; None for non-instructions."""
    places: tuple[tuple[int, Views], ...] = ()
    """For the first slots of a frame: the number of the slot's operand, and its group of views."""
    shared: tuple[int, ...] = ()
    """The remaining slots of the frame, which are equal for all instances."""
    operands: Mapping[SSAValue, int] | None = None
    """The number of each operand in the record; None if the form belongs to one operation."""


def record_at(form: StepForm, frame: Frame, op: NisaOp, slots: Slots) -> Record | None:
    """Return the record of instruction `op`, with slots of the environment, not of the frame."""
    numbers = form.operands
    if numbers is None:
        return form.record
    values = op.operands
    at = frame(range(len(slots.template)))
    tiles = {value: OperandTile.of(values[number]) for value, number in numbers.items()}
    return _moved(form.record, lambda slot: at[slot], tiles)


def step_at(form: StepForm, frame: Frame) -> Step:
    """Return the step of the instruction with frame `frame`, as a function of the environment."""
    if frame is whole:
        return form.step
    step = form.step
    return lambda env: step(frame(env))


class StepForms:
    """The forms of a kernel's instructions that have been bound so far."""

    def __init__(self, slots: Slots, bind: Bind):
        """Start without forms. `bind` returns the step that computes a record."""
        self._slots = slots
        self._bind = bind
        self._known: dict[tuple[object, ...] | None, StepForm | None] = {}
        """The form for each key; None for a key whose instructions do not share a form."""
        self._numbers: dict[int, str] = {}
        """Texts of constants, by the `id` of their values."""

    def _key(self, op: NisaOp, history: Any) -> tuple[object, ...] | None:
        """Return a key of everything that semantics and backends may depend on.

        Args:
            op: the instruction.
            history: the result of `history_of`.

        None for an instruction with an address or number that is known only at run time, or that
        may access memory beyond a tensor.
        """
        slots = self._slots
        history_key = history.tobytes() if isinstance(history, np.ndarray) else history
        parts: list[object] = [*form_key(op), history_key]
        if op.SPEC.accumulators is not None:
            lanes = accumulator_lanes(op)
            parts += lanes.start, lanes.stop
        bases: list[int] = []
        starts: list[int] = []
        # A tuple: making xDSL's own sequence is slow.
        for value in operand_tuple(op):
            if not is_tile(value):
                number = self._numbers.get(id(value))
                if number is None:
                    constant = scalar_constant(value)
                    if constant is None:
                        return None
                    # `repr` distinguishes equal numbers: 0.0 and -0.0, 1 and 1.0.
                    number = self._numbers[id(value)] = repr(constant)
                parts.append(number)
                continue
            info, base = info_of(value), base_of(value)
            if info.indirection is not None or slots.reach(base).extended:
                return None
            start = info.offset * info.dtype.itemsize
            kind = info.dtype.name, id(info.region), info.shape, info.strides
            identity = id(base)
            if identity in bases:
                first = bases.index(identity)
                parts += kind, first, start - starts[first]
            else:
                parts += kind, info_of(base).dtype.name
            bases.append(identity)
            starts.append(start)
        return tuple(parts)

    def bind(self, op: NisaOp) -> tuple[StepForm, Frame, Binding | None]:
        """Return the form of an instruction, and the frame that selects its slots.

        The third result is the instruction's binding if it has its own form, else None.
        """
        history = history_of(op, self._slots)
        key = self._key(op, history)
        form = self._known.get(key)
        if form is None:
            binding = Binding(self._slots, op, history)
            record = record_of(binding)
            form = None if key is None or key in self._known else self._shared_form(op, record)
            self._known[key] = form
            if form is None:
                return StepForm(self._bind(record, self._slots), record), whole, binding
        return form, self._frame(form, op), None

    def _frame(self, form: StepForm, op: NisaOp) -> Frame:
        slots, values = self._slots, operand_tuple(op)
        found: list[int] = []
        for number, views in form.places:
            value = values[number]
            offset = info_of(value).offset * views.dtype.itemsize
            found.append(slots.view_at(views, slots.base(base_of(value)), offset))
        found += form.shared
        if len(found) == 1:  # with a single item, `itemgetter` returns no tuple
            found *= 2
        return itemgetter(*found)

    def _shared_form(self, op: NisaOp, record: Record) -> StepForm | None:
        if type(record) not in _SHARED_RECORDS:
            return None
        numbers: dict[SSAValue, int] = {}
        for number, value in enumerate(op.operands):
            numbers.setdefault(value, number)
        slots = self._slots
        operands = _operands_of(record)
        placed: dict[int, tuple[int, Views]] = {}
        others: dict[int, None] = {}
        for operand in operands:
            if operand.tile is None:
                others[operand.slot] = None
                continue
            number, views = numbers[operand.tile.value], slots.views_of(operand.slot)
            if views is None:
                return None
            placed[operand.slot] = number, views
        local = Slots(slots.kernel, slots.precise, slots.launch)
        at = {slot: local.new() for slot in (*placed, *others)}
        own = {operand.tile.value: operand.tile for operand in operands if operand.tile}
        moved = _moved(record, at.__getitem__, own)
        step = self._bind(moved, local)
        scratch = [slots.scratch_of(*key) for key in local.scratch]
        named = {value: numbers[value] for value in own}
        return StepForm(step, moved, tuple(placed.values()), (*others, *scratch), named)


def _operands_of(part: Any) -> list[Source | Destination]:
    if isinstance(part, (Source, Destination)):
        return [part]
    parts: Iterable[Any] = ()
    if isinstance(part, tuple):
        parts = cast(tuple[Any, ...], part)
    elif is_dataclass(part):
        parts = (getattr(part, field.name) for field in fields(part))
    return [operand for each in parts for operand in _operands_of(each)]


def _moved(part: Any, slot: Callable[[int], int], tiles: Mapping[SSAValue, OperandTile]) -> Any:
    """Return a record, or a part of one, with slots replaced by `slot` and tiles by `tiles`."""
    if isinstance(part, (Source, Destination)):
        tile = None if part.tile is None else tiles[part.tile.value]
        return replace(part, slot=slot(part.slot), tile=tile)
    if isinstance(part, tuple):
        return tuple(_moved(each, slot, tiles) for each in cast(tuple[Any, ...], part))
    if is_dataclass(part) and not isinstance(part, type):
        values = {f.name: _moved(getattr(part, f.name), slot, tiles) for f in fields(part)}
        return replace(part, **values)
    return part
