"""`loop-order`: interchange loops of a nest, to save loads and stationary tiles."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import base_of, index_of
from nkijit.dialects.spelling import counted, in_number, numbered
from nkijit.dialects.tiles import info_of
from nkijit.passes.advise.edit import (
    Edit,
    NotPossibleError,
    access_in,
    declare_first,
    erase,
    remove_tile,
    writes,
)
from nkijit.passes.advise.facts import Facts, Renamed
from nkijit.passes.advise.kinds import LOOP_ORDER
from nkijit.passes.advise.loops import independent_loops, loops_around
from nkijit.passes.advise.nests import Items, Nest, Order, flat, rearrange
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.analysis.writes.repeated_loads import loads_of
from nkijit.passes.compile.passes.rename_tiles import rename_tiles
from nkijit.passes.profile.units import bytes_text

_AT_A_TIME = (0, 4, 2)
"""Alternatives for the number of outer iterations that run inside the inner loops; 0 means all.

With a few iterations at a time, fewer results are on chip.
"""


@dataclass(frozen=True, slots=True, eq=False)
class _Sunk:
    """A loop to interchange, with a chain of loops nested in it that move outside of it."""

    outer: Nest
    inner: Sequence[int]
    """For each loop of the chain, its index in the iteration of the surrounding loop."""
    depth: int
    """The number of loops around the outer loop."""

    @property
    def inside(self) -> tuple[NisaOp, int]:
        """An instruction inside the chain's innermost loop, and how many more loops contain it."""
        items, between = self.outer.iterations[0], 0
        for at in self.inner:
            item = items[at]
            items = item.iterations[0] if isinstance(item, Nest) else items
        while isinstance(item := next(iter(_instructions_first(items))), Nest):
            items, between = item.iterations[0], between + 1
        return item, between

    @property
    def has_more(self) -> bool:
        """Whether the loops around the innermost loop contain further instructions."""
        items = self.outer.iterations[0]
        for at in self.inner:
            if len(items) > 1:
                return True
            item = items[at]
            items = item.iterations[0] if isinstance(item, Nest) else items
        return False

    def order(self, at_a_time: int) -> Iterator[NisaOp]:
        """Yield the instructions in the order with interchanged loops."""
        iterations = self.outer.iterations
        count = at_a_time or len(iterations)
        for start in range(0, len(iterations), count):
            yield from _together(iterations[start : start + count], self.inner)


def _together(group: Sequence[Items], inner: Sequence[int]) -> Iterator[NisaOp]:
    """Yield the instructions of several outer iterations, with the chain's loops outermost."""
    if not inner:
        for items in group:
            yield from flat(items)
        return
    at = inner[0]
    for items in group:
        yield from flat(items[:at])
    loops = [item.iterations for items in group if isinstance(item := items[at], Nest)]
    for same in zip(*loops, strict=True):
        yield from _together(same, inner[1:])
    for items in group:
        yield from flat(items[at + 1 :])


def _instructions_first(items: Items) -> list[NisaOp | Nest]:
    return sorted(items, key=lambda item: isinstance(item, Nest))


def loop_orders(facts: Facts, renamed: Renamed) -> Iterator[Proposal]:
    """Yield proposals to interchange loops where this saves loads."""
    loops: dict[Hashable, list[_Sunk]] = {}
    for nest, depth in facts.nests:
        inner = _loops_in(nest.iterations)
        for levels in range(1, len(inner) + 1):
            sunk = _Sunk(nest, inner[:levels], depth)
            loops.setdefault((sunk.inside[0].location, depth, levels), []).append(sunk)
    if not loops:
        return
    places = {op: place for place, op in enumerate(facts.instructions)}
    kernels = _Kernel(facts), _Kernel(renamed)
    for subject, found in loops.items():
        for variant, at_a_time in enumerate(_AT_A_TIME):
            if at_a_time >= max(len(sunk.outer.iterations) for sunk in found):
                continue
            change = [
                (
                    [places[op] for op in sunk.outer.instructions],
                    [places[op] for op in sunk.order(at_a_time)],
                )
                for sunk in found
            ]
            own = next((kernel for kernel in kernels if kernel.allows(change)), None)
            if own is None:
                continue
            saved = own.saved(change)
            if not (saved.loads or saved.stationary):
                continue
            message, reason = _message(
                found[0], at_a_time, [facts.instructions[n] for n in saved.loads]
            )
            yield Proposal(
                LOOP_ORDER,
                subject,
                variant,
                found[0].inside[0].location,
                message,
                (*own.reasons(saved), *reason),
                [facts.instructions[n] for n in (*saved.loads, *saved.multiplies)],
                _Exchange(change, saved.loads, own is kernels[1]),
            )


def _loops_in(iterations: Sequence[Items]) -> list[int]:
    """Return the chain of inner loops: for each, its index in the surrounding iteration.

    A loop is part of the chain if it is the only loop in the body and has the same trip count in
    all iterations.
    """
    first = iterations[0]
    loops = [number for number, item in enumerate(first) if isinstance(item, Nest)]
    if len(loops) != 1 or any(len(items) != len(first) for items in iterations):
        return []
    nests = [item for items in iterations if isinstance(item := items[loops[0]], Nest)]
    if len(nests) < len(iterations) or len({len(nest.iterations) for nest in nests}) > 1:
        return []
    return [loops[0], *_loops_in([items for nest in nests for items in nest.iterations])]


def _message(sunk: _Sunk, at_a_time: int, loads: Sequence[NisaOp]) -> tuple[str, Sequence[str]]:
    """Return the message and the reasons. `loads` are the loads that are saved."""
    op, between = sunk.inside
    count = len(sunk.inner)
    names = loops_around(op.location)
    message, outer = f"put a loop inside the {in_number(count, 'loop')} in it", "like it"
    first = sunk.depth
    if len(names) != sunk.depth + 1 + count + between:
        # A loop with one iteration is missing in the trace: the one on which no load depends.
        independent = [set(independent_loops(load.location)) for load in loads]
        only = set(names).intersection(*independent) if independent else set[str]()
        first = names.index(only.pop()) if len(only) == 1 else len(names)
    outer_and_inner = names[first : first + 1 + count]
    if len(outer_and_inner) == 1 + count:
        outer, *inner = outer_and_inner
        loops = in_number(count, "loop")
        message = f"put the loop over {outer} inside the {loops} over {', '.join(inner)}"
        outer = f"over {outer}"
    if at_a_time:
        message += f", {numbered(at_a_time, 'iteration')} at a time"
    beside = sunk.has_more
    return message, (f"other instructions of its body get their own loop {outer}",) * beside


_Change = Sequence[tuple[Sequence[int], Sequence[int]]]
"""For each region, the instruction numbers in program order, and the same numbers in the new order.
"""


@dataclass(slots=True)
class _Saved:
    """The savings of a new order: loads, and loads of stationary tiles."""

    loads: dict[int, int] = field(default_factory=dict[int, int])
    """The redundant loads, each with the earlier load of the same bytes."""
    stationary: int = 0
    """The number of loads of stationary tiles that are saved."""
    all_stationary: int = 0
    """The number of loads of stationary tiles in the original order."""
    multiplies: list[int] = field(default_factory=list[int])
    """The numbers of the matmuls, if loads of stationary tiles are saved."""


class _Kernel:
    """A kernel, either as written or with a separate tile for each refill of a buffer."""

    def __init__(self, facts: Facts):
        self._facts = facts
        self._ops = facts.instructions
        self._contents: dict[int, Hashable] | None = None
        self._orders: dict[tuple[int, int], Order | None] = {}

    def allows(self, change: _Change) -> bool:
        """Whether every instruction reads the same data in the new order as in program order."""
        for old, new in change:
            first = old[0]
            if (first, len(old)) not in self._orders:
                try:
                    constraints = Order(self._facts.engine_state, [self._ops[n] for n in old])
                except NotPossibleError:
                    constraints = None
                self._orders[first, len(old)] = constraints
            order = self._orders[first, len(old)]
            if order is None or not order.allows([n - first for n in new]):
                return False
        return True

    def saved(self, change: _Change) -> _Saved:
        """Return the savings of a new order, without loads that are redundant in either order."""
        found = _Saved()
        matmuls: list[int] = []
        for old, new in change:
            known = self._repeated(old)
            found.loads |= {
                n: earlier for n, earlier in self._repeated(new).items() if n not in known
            }
            before, after = self._stationary(old, {}), self._stationary(new, found.loads)
            found.all_stationary += before
            found.stationary += before - after
            matmuls += [n for n in old if isinstance(self._ops[n], NcMatmulOp)]
        if found.stationary > 0:
            found.multiplies = matmuls
        found.stationary = max(0, found.stationary)
        return found

    def reasons(self, saved: _Saved) -> Iterator[str]:
        """Yield the reasons for a gain, from the savings of a new order."""
        if saved.loads:
            loaded = [info_of(writes(self._ops[n])[0]) for n in saved.loads]
            total = bytes_text(sum(info.size * info.dtype.itemsize for info in loaded))
            loads = counted(len(saved.loads), "load")
            yield f"{loads} bring bytes that the previous iteration has: {total} of HBM"
        if saved.stationary:
            left = saved.all_stationary - saved.stationary
            yield (
                f"stationary tiles are loaded {counted(left, 'time')}, not {saved.all_stationary:,}"
            )

    def _repeated(self, order: Sequence[int]) -> dict[int, int]:
        """Map each load that repeats the previous load of its source line to that previous load."""
        contents = self._loaded()
        last: dict[LocationAttr, int] = {}
        found: dict[int, int] = {}
        for number in order:
            if number in contents:
                line = self._ops[number].location
                before = last.get(line)
                if before is not None and contents[before] == contents[number]:
                    found[number] = before
                else:
                    last[line] = number
        return found

    def _loaded(self) -> dict[int, Hashable]:
        """Map each load that alone fills its tile to a key of the loaded bytes."""
        if self._contents is None:
            places = {op: place for place, op in enumerate(self._ops)}
            self._contents = {}
            for load in loads_of(self._facts.program):
                tile = base_of(load.op.dst)
                accesses = self._facts.accesses[tile]
                filled = [access.op for access in accesses if access.role is not Role.read]
                own = isinstance(tile.owner, AllocOp) and tile.owner.fixed_address is None
                if own and filled == [load.op] and load.op is accesses[0].op:
                    key = tile.type, access_in(load.op.dst), load.contents
                    self._contents[places[load.op]] = key
        return self._contents

    def _stationary(self, order: Sequence[int], shared: dict[int, int]) -> int:
        """Return how often the matmuls load stationary tiles in an order.

        `shared` maps redundant loads to the earlier load of the same bytes.
        """
        replaced = {
            base_of(writes(self._ops[n])[0]): base_of(writes(self._ops[by])[0])
            for n, by in shared.items()
        }
        count = 0
        last: tuple[SSAValue, AccessPattern] | None = None
        for number in order:
            op = self._ops[number]
            if not isinstance(op, NcMatmulOp) or index_of(op.stationary) is not None:
                continue
            base = base_of(op.stationary)
            key = replaced.get(base, base), info_of(op.stationary).pattern
            count += key != last
            last = key
        return count


@dataclass(frozen=True, slots=True)
class _Exchange:
    """The change: reorder instructions and remove redundant loads."""

    change: _Change
    loads: dict[int, int]
    renames: bool

    def __call__(self, edit: Edit) -> None:
        ops = Facts(edit.kernel).instructions
        if self.renames:
            touched = {
                base_of(v).owner for old, _ in self.change for n in old for v in ops[n].operands
            }
            rename_tiles(edit.kernel, only={b for b in touched if isinstance(b, Operation)})
        for old, new in self.change:
            rearrange([ops[n] for n in old], [n - old[0] for n in new])
        for number, earlier in self.loads.items():
            tile, there = (base_of(writes(ops[n])[0]).owner for n in (number, earlier))
            if not isinstance(tile, AllocOp) or not isinstance(there, AllocOp):
                raise NotPossibleError
            erase(ops[number])
            declare_first(there)
            tile.result.replace_all_uses_with(there.result)
            remove_tile(tile)
