"""A recording of a run: every instruction with the values that it read and wrote.

Values are not stored. They are recomputed when needed, from checkpoints of the run, within a
memory budget. Tensors have the kernel's names.
"""

from __future__ import annotations

import difflib
import re
from array import array
from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import takewhile
from pathlib import PurePath
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.nki.views import base_of
from nkijit.passes.diagnostics.places import Position, cell_of, positions
from nkijit.passes.diagnostics.shown import html_of_text
from nkijit.passes.interpret.plan.cursor import Checkpoint, Cursor
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.values.budget import BUDGET
from nkijit.passes.values.heatmap import figure_of
from nkijit.passes.values.instructions import (
    Array,
    DeviceLoops,
    LoopIndices,
    TracedIndices,
    as_authors_see,
    merged,
    named,
    numbers_of,
    operands_of,
)
from nkijit.passes.values.integers import RoundedIntegers, rounded_elements, rounding_forms
from nkijit.passes.values.items import (
    Items,
    RecordedForm,
    RecordedInstruction,
    RecordedTile,
    RecordError,
    StepValues,
)
from nkijit.passes.values.search import Found, Given, Holds, Predicate, fills, not_finite, saturated
from nkijit.passes.values.text import counts_text, record_text

_INTERVAL = 16
"""The number of instructions between checkpoints.

Doubled whenever the checkpoints exceed their budget.
"""
_MOST_CHECKPOINTS = 512


class Recording:
    """The values that every instruction of a run read and wrote.

    Example:

        record = kernel.record(x)
        record["tile"][0].value        # the first tensor called `tile`, after its last write
        record.at("kernel.py:14")[3].result    # the result of the 4th execution of line 14
        record.instructions[7]["data"].before  # an input of the 8th instruction
        record.first(np.isnan)         # the origin of the first NaN
    """

    def __init__(
        self,
        plan: Plan,
        inputs: Sequence[Array],
        *,
        budget: int = BUDGET,
        indices: Mapping[Operation, TracedIndices] | None = None,
    ):
        """Run a plan on copies of inputs, so that the caller's arrays do not change.

        Args:
            plan: a kernel on one core.
            inputs: one array per kernel argument.
            budget: bytes to retain, in addition to the inputs and the memory of one run.
            indices: for each operation, the loops in the user's source around it.

        Raises RecordError for a budget that is not positive, and the errors of a run.
        """
        if budget < 1:
            raise RecordError(f"the budget is a number of bytes, got {budget}")
        self._plan = plan
        self._indices = dict(indices or {})
        self.inputs = [np.array(given, order="C") for given in inputs]
        """Copies of the inputs, in the order of the kernel's arguments."""
        self._cursor = Cursor(plan, self.inputs)
        self._cache: OrderedDict[int, StepValues] = OrderedDict()
        self._cached = 0
        self._room = budget // 4
        """The limit of the cache of values, in bytes."""
        self._forms: list[RecordedForm] = []
        self._form_of = array("l")
        """For each instruction, the index of its form in `_forms`."""
        self._loops: list[DeviceLoops] = []
        """For each instruction, the loops on the device around it, with their iterations."""
        self._checkpoints: list[Checkpoint] = []
        self._run(budget // 2)
        self.results = [np.array(result) for result in plan.results(self._cursor.env)]
        """The kernel's results, in order."""
        self._last = len(self._loops)

    def _run(self, room: int) -> None:
        cursor, known = self._cursor, dict[Operation, int]()
        loops: DeviceLoops = ()
        interval, kept, last = _INTERVAL, dict[int, int](), None
        while True:
            op = cursor.next()
            if cursor.count % interval == 0:
                last = cursor.keep(last)
                self._checkpoints.append(last)
                kept |= {id(content): content.nbytes for content in last.contents.values()}
                while len(self._checkpoints) > 1 and (
                    sum(kept.values()) > room or len(self._checkpoints) > _MOST_CHECKPOINTS
                ):
                    interval *= 2
                    self._checkpoints = self._checkpoints[::2]
                    contents = [c for one in self._checkpoints for c in one.contents.values()]
                    kept = {id(content): content.nbytes for content in contents}
                if last is not self._checkpoints[-1]:
                    # The next checkpoint may share its contents, and counts them then.
                    last = None
            if op is None:
                return
            number = known.get(op)
            if number is None:
                number = known[op] = len(self._forms)
                self._forms.append(RecordedForm(op, operands_of(op), self._indices.get(op, ())))
            around = cursor.loops
            if around != loops:  # all instructions of an iteration share one tuple
                loops = around
            self._form_of.append(number)
            self._loops.append(loops)
            cursor.run()

    # ---------------------------------------------------------------- instructions and tensors

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self._plan.kernel.launch_name

    @property
    def plan(self) -> Plan:
        """The plan of the run."""
        return self._plan

    @cached_property
    def instructions(self) -> Items[RecordedInstruction]:
        """All instructions, in execution order."""
        return Items("instructions", len(self._loops), self._instruction)

    def _instruction(self, number: int) -> RecordedInstruction:
        form = self._forms[self._form_of[number]]
        loops = merged(form.indices, named(self._loops[number]))
        return RecordedInstruction(number, form, loops, self._values_of)

    @cached_property
    def _instances(self) -> dict[str, list[tuple[SSAValue, list[int], LoopIndices]]]:
        """For each variable, a list of its instances: (tensor, numbers of the writers, loops).

        An instance consists of consecutive writes of a tensor in one iteration of the surrounding
        device loops.
        """
        latest: dict[int, tuple[DeviceLoops, list[int]]] = {}
        found: dict[str, list[tuple[SSAValue, list[int], LoopIndices]]] = {}
        for number, loops in enumerate(self._loops):
            for operand in self._forms[self._form_of[number]].operands:
                if not operand.is_written:
                    continue
                base = base_of(operand.value)
                known = latest.get(id(base))
                if known is None or known[0] != loops:
                    latest[id(base)] = loops, [number]
                    instance = base, latest[id(base)][1], self._loops_of(base, loops)
                    found.setdefault(operand.tile, []).append(instance)
                elif known[1][-1] != number:
                    known[1].append(number)
        return found

    def _loops_of(self, base: SSAValue, loops: DeviceLoops) -> LoopIndices:
        """Return the loops around an instance's allocation, then the loops down to the device loop.

        Python loops inside the innermost device loop write the same instance in every iteration.
        """
        traced = self._indices.get(cast(Operation, base.owner), ())
        around = self._indices.get(loops[-1][0], ()) if loops else ()
        pairs = zip(traced, around, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        own = {name for name, value in traced if value is not None}
        added = [each for each in around[shared:] if each[1] is None or each[0] not in own]
        return merged((*traced, *added), named(loops))

    @property
    def names(self) -> list[str]:
        """The variables that were written, in the order of their first write."""
        return list(self._instances)

    def __getitem__(self, name: str) -> Items[RecordedTile]:
        """Return the instances of a variable, in execution order.

        Raises KeyError when no tensor of that name was written.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise KeyError(f"tensors have names, got {name!r}; record.instructions are numbered")
        found = self._instances.get(name)
        if found is None:
            close = difflib.get_close_matches(name, self.names, 3) or self.names
            raise KeyError(
                f"nothing was written to a tensor that is called '{name}'; there are "
                f"{', '.join(close)}"
            )

        def tile(number: int) -> RecordedTile:
            return RecordedTile(*found[number], self.instructions, self._contents_of)

        return Items(f"instances of {name}", len(found), tile)

    def __contains__(self, name: object) -> bool:
        return name in self._instances

    def at(self, place: str | int) -> Items[RecordedInstruction]:
        """Return the instructions of a source line, in execution order.

        Args:
            place: `"kernel.py:14"`, or only a line number, which then matches every file of the
                kernel. Leading parts of the path can be omitted. A line of a notebook's cell is
                `"Cell In[12], line 6"`. A line that calls a function of the user's has the
                instructions of that function.

        Raises RecordError when the line has no instructions.
        """
        cell = _CELL.fullmatch(str(place))
        file, colon, text = cell.groups() if cell else str(place).rpartition(":")
        if not text.isdecimal() or (isinstance(place, str) and colon and not file):
            raise RecordError(f"a place is 'FILE:LINE' or a line, got {place!r}")
        line = int(text)
        chains = [positions(form.op.location) for form in self._forms]

        def is_here(position: Position) -> bool:
            is_file = cell_of(position.file) == file if cell else _ends_with(position.file, file)
            return position.line == line and (not file or is_file)

        # Prefer the line of an instruction's own call; else lines that call a helper function.
        chosen = {n for n, chain in enumerate(chains) if chain and is_here(chain[0])}
        chosen = chosen or {n for n, chain in enumerate(chains) if any(map(is_here, chain))}
        if not chosen:
            lines = {(c[0].line, c[0].line_text) for c in chains if c}
            near = sorted(sorted(lines, key=lambda each: abs(each[0] - line))[:5])
            raise RecordError(
                f"no instruction comes from line {place}, an instruction is at the first line of "
                f"its call; near are {', '.join(text for _, text in near)}"
            )
        numbers = array("l", (n for n, form in enumerate(self._form_of) if form in chosen))
        return Items(
            f"instructions at {place}", len(numbers), lambda n: self._instruction(numbers[n])
        )

    # ---------------------------------------------------------------- values

    def _go_to(self, number: int) -> None:
        """Move the cursor to an instruction: from its current position, or from a checkpoint."""
        cursor = self._cursor
        place = bisect_right(self._checkpoints, number, key=lambda c: c.count) - 1
        nearest = self._checkpoints[place]
        if not nearest.count <= cursor.count <= number:
            cursor.go_back(nearest)
        # A caller that goes backwards will need the instructions before this one next.
        backwards = number < self._last
        self._last = number
        while cursor.count < number:
            if backwards and number - cursor.count < _INTERVAL:
                self._keep(cursor.count, self._step())
            else:
                cursor.next()
                cursor.run(shows=False)

    def _step(self) -> StepValues:
        """Run the next instruction; returns its operands' values before and after."""
        cursor = self._cursor
        form = self._forms[self._form_of[cursor.count]]
        op = form.op
        cursor.next()
        before = tuple(self._array(op, operand.value) for operand in form.operands)
        cursor.run(shows=False)
        resolved = self._plan.resolved_in(op)
        after = tuple(
            None
            if not operand.is_written
            else as_authors_see(operand.value, resolved[operand.value].values(cursor.env).copy())
            if operand.value in resolved
            else self._array(op, operand.value)
            for operand in form.operands
        )
        return StepValues(before, after)

    def _array(self, op: Operation, value: SSAValue) -> Array:
        env = self._cursor.env
        indirect = self._plan.resolved_in(op).get(value)
        if indirect is not None:
            return as_authors_see(value, indirect.selects(env))
        return as_authors_see(value, self._plan.array_of(value, env).copy())

    def _keep(self, number: int, values: StepValues) -> None:
        if values.size > self._room or number in self._cache:
            return
        self._cache[number] = values
        self._cached += values.size
        while self._cached > self._room:
            self._cached -= self._cache.popitem(last=False)[1].size

    def _values_of(self, number: int) -> StepValues:
        values = self._cache.get(number)
        if values is None:
            self._go_to(number)
            values = self._step()
            self._keep(number, values)
        return values

    def _contents_of(self, base: SSAValue, number: int) -> Array:
        cursor = self._cursor
        if cursor.count != number + 1:
            self._go_to(number)
            cursor.next()
            cursor.run(shows=False)
        return as_authors_see(base, self._plan.array_of(base, cursor.env).copy())

    def steps(self) -> Iterator[tuple[RecordedInstruction, StepValues]]:
        """Yield every instruction in order, with its operands' values before and after.

        Faster than accessing instructions one by one, and does not use the cache.
        """
        for number, values in self._steps():
            yield self._instruction(number), values

    def _steps(self) -> Iterator[tuple[int, StepValues]]:
        cursor = self._cursor
        for number in range(len(self._loops)):
            if cursor.count != number:
                self._go_to(number)
            yield number, self._step()

    def first(self, predicate: Predicate = not_finite) -> Found | None:
        """Return the first instruction that wrote matching elements and read no matching elements.

        Args:
            predicate: returns True for each element of an array that matches, like `np.isnan`; by
                default NaN and infinities match.

        If every instruction that wrote matching elements also read matching elements, the matching
        elements come from an input or from uninitialised memory. The result is then the first
        instruction that wrote matching elements. The result is None if no instruction wrote
        matching elements. A constant number of an instruction counts as an operand, as filling a
        tile with -inf is intentional.

        Example: `print(record.first(np.isnan))`.
        """
        holds = partial(_holds, predicate)
        return self._first(holds, lambda numbers, _values, _reads: bool(holds(numbers).any()))

    def first_saturated(self) -> Found | None:
        """Return the first instruction that wrote saturated elements and read no saturated ones.

        An element is saturated at the largest finite numbers of a float type, and at the least and
        the largest number of an integer type, except 0. Filling a tile with such a number, or with
        the -3.4e38 of a mask, is intentional and does not count. Clamping values to such a number
        counts. Saturated elements of inputs are treated as in `first`.

        Example: `print(record.first_saturated())`.
        """
        return self._first(saturated, fills)

    def rounded_integers(self) -> list[RoundedIntegers]:
        """Return the results that instructions rounded because they compute integers in float32.

        One entry for each instruction of a source line, in the order of execution, with the first
        rounded element, its exact value, and the number of rounded elements in all iterations.

        Example: `print(*record.rounded_integers(), sep="\\n")`.
        """
        forms = rounding_forms(self._forms, self._plan.kernel.target)
        found: dict[object, RoundedIntegers] = {}
        totals = Counter[object]()
        for number, form in enumerate(self._form_of if forms else ()):
            if form not in forms:
                continue
            instruction = self._instruction(number)
            elements = rounded_elements(instruction, forms[form])
            if elements is None:
                continue
            wrong, exact = elements
            place = tuple(instruction.calls)
            key = (place, instruction.op) if place else form
            totals[key] += wrong.size
            count = int(wrong.sum())
            if key in found:
                found[key] = replace(found[key], count=found[key].count + count)
            elif count:
                found[key] = RoundedIntegers.first(instruction, wrong, exact)
        return [replace(each, total=totals[key]) for key, each in found.items()]

    def _first(self, holds: Holds, given: Given) -> Found | None:
        passed_on: tuple[int, int] | None = None
        for number, values in self._steps():
            form = self._forms[self._form_of[number]]
            for place, operand in enumerate(form.operands):
                after = values.after[place]
                if not operand.is_written or after is None or not holds(after).any():
                    continue
                read = [values.before[n] for n, other in enumerate(form.operands) if other.is_read]
                if operand.role is not Role.write:
                    # It also reads this operand: only elements that did not match before count.
                    read = [each for each in read if each is not values.before[place]]
                    now, then = holds(after), holds(values.before[place])
                    is_new = bool((now & ~then).any())
                else:
                    is_new = True
                numbers = np.array(list(numbers_of(form.op).values()), np.float64)
                is_given = given(numbers, after, bool(read))
                if is_new and not is_given and not any(holds(each).any() for each in read):
                    return self._found(holds, number, place, made=True)
                if passed_on is None and not is_given:
                    passed_on = number, place
        return None if passed_on is None else self._found(holds, *passed_on, made=False)

    def _found(self, holds: Holds, number: int, place: int, *, made: bool) -> Found:
        instruction = self._instruction(number)
        operand = instruction.operands[place]
        where = holds(operand.after)
        index = tuple(int(i) for i in np.argwhere(where)[0])
        had = next(
            (
                each
                for each in instruction.operands
                if not made and each.is_read and holds(each.before).any()
            ),
            None,
        )
        return Found(instruction, operand, index, int(where.sum()), had)

    def __len__(self) -> int:
        return len(self._loops)

    def __repr__(self) -> str:
        return f"<record of {self.kernel}: {counts_text(len(self), len(self.names))}>"

    def __str__(self) -> str:
        return record_text(self.kernel, self.instructions, self.names, self.rounded_integers())

    def _repr_html_(self) -> str:
        shown = (self[name] for name in self.names[:_MOST_FIGURES])
        figures = [figure_of(repr(tiles[-1])[1:-1], tiles[-1].value) for tiles in shown if tiles]
        return html_of_text(str(self)) + "".join(figures)


_MOST_FIGURES = 12
"""The largest number of variables whose values a notebook shows with a recording."""
_CELL = re.compile(r"(Cell In\[\d+\])(, line )(\d+)")


def _holds(predicate: Predicate, values: Array) -> Any:
    """Evaluate a predicate; types that are not built into NumPy are converted to float32 first."""
    if values.dtype.kind == "V":  # bfloat16 and float8, which NumPy functions may not support
        values = values.astype(np.float32)
    return np.asarray(predicate(values))


def _ends_with(path: str, end: str) -> bool:
    """True if the components of a path end with all components of another path."""
    parts, wanted = PurePath(path).parts, PurePath(end).parts
    return parts[-len(wanted) :] == wanted
