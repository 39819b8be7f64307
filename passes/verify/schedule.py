"""Checks of the ordering edges that the kernel adds between instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation

from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.nki.kernel import KernelOp, NoReorderOp
from nkijit.dialects.rule_texts.access import SCHEDULE_CYCLE, SCHEDULE_LOOP, SCHEDULE_NAME
from nkijit.dialects.spelling import numbered
from nkijit.dialects.walks import operations
from nkijit.passes.analysis.flow.edge_order import Arrangement, Unit, blocks_out_of_order
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.places import positions


def check_schedule(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a finding for each edge between instructions that cannot be respected."""
    consumers: list[NisaOp] = []
    named: dict[str, list[NisaOp]] = {}
    for op in kernel.operations:
        # Reads `properties`: xDSL's own access by name is slow.
        properties = op.properties
        if ("after" in properties or "name" in properties) and is_instruction(op):
            if "after" in properties:
                consumers.append(op)
            if "name" in properties:
                named.setdefault(op.label, []).append(op)
    if not consumers:
        return
    before: dict[NisaOp, list[NisaOp]] = {}
    for op in consumers:
        for name in op.runs_after:
            producers = named.get(name, [])
            if len(producers) != 1:
                owners = (
                    f"{numbered(len(producers), 'instruction')} have"
                    if producers
                    else "no instruction has"
                )
                yield diagnose(SCHEDULE_NAME, op, f"runs after '{name}', a name that {owners}")
                continue
            producer = producers[0]
            if not _encloses(producer.parent_block(), op):
                where = _loop_of(producer)
                yield diagnose(
                    SCHEDULE_LOOP,
                    op,
                    f"runs after '{name}', which is in a loop on the device that this is not in",
                    notes=[f"the loop is at {where}"] if where else [],
                )
                continue
            before.setdefault(op, []).append(producer)
    for block in _ordered_blocks(kernel):
        ordered = [op for op in operations(block) if isinstance(op, NisaOp)]
        for first, second in pairwise(ordered):
            before.setdefault(second, []).append(first)
    cycles = list(_cycles(before))
    yield from cycles or _against_data(kernel)


def _against_data(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a finding for each instruction that must wait for an instruction that depends on it."""
    for block in blocks_out_of_order(kernel):
        stuck = Arrangement(block).stuck
        if not stuck:
            continue
        waits = _Waits(stuck)
        for unit in stuck:
            for consumer in unit.instructions:
                for name in consumer.runs_after:
                    found = waits.named.get(name)
                    if found is None or found[0].number <= unit.number:
                        continue
                    other, producer = found
                    if waits.reaches(other, unit):
                        yield diagnose(
                            SCHEDULE_CYCLE,
                            consumer,
                            f"runs after '{name}', which needs what this instruction does",
                            related=[(producer, f"'{name}'")],
                            notes=_whole(unit.op),
                        )


def _whole(op: Operation) -> list[str]:
    """Return a note for an instruction in a loop, because only the whole loop can be moved."""
    if isinstance(op, (ForOp, WhileOp)):
        return ["the instruction is in a loop that runs as a whole"]
    return []


class _Waits:
    """The waits of the operations of a block, by named edges (`after`) and by dependences."""

    def __init__(self, units: Sequence[Unit]):
        self._units = units
        self._known: dict[Unit, list[Unit]] = {}
        self.named = {
            op.label: (unit, op)
            for unit in units
            for op in unit.instructions
            if op.label in unit.labels
        }
        """The units (operations of the block) and instructions, by instruction name."""

    def _of(self, unit: Unit) -> list[Unit]:
        found = self._known.get(unit)
        if found is None:
            named = [self.named[name][0] for name in unit.awaited if name in self.named]
            before = takewhile(lambda other: other.number < unit.number, self._units)
            found = self._known[unit] = named + [o for o in before if unit.needs(o)]
        return found

    def reaches(self, first: Unit, wanted: Unit) -> bool:
        """True if `first` waits for `wanted`, directly or through other units."""
        seen, pending = {first}, [first]
        while pending:
            for unit in self._of(pending.pop()):
                if unit is wanted:
                    return True
                if unit not in seen:
                    seen.add(unit)
                    pending.append(unit)
        return False


def _ordered_blocks(kernel: KernelOp) -> Iterator[Block]:
    for op in kernel.operations:
        if isinstance(op, NoReorderOp) and not isinstance(op.parent_op(), NoReorderOp):
            yield op.body.block


def loop_block(block: Block | None) -> Block | None:
    """Return the body of the innermost loop around a block, or the kernel's body."""
    while block is not None and isinstance(block.parent_op(), NoReorderOp):
        parent = block.parent_op()
        block = None if parent is None else parent.parent_block()
    return block


def _encloses(block: Block | None, op: Operation) -> bool:
    """True if an operation is in the loop with the body `block`, or in a loop nested in it."""
    wanted = loop_block(block)
    here = op.parent_block()
    while here is not None:
        if here is wanted:
            return True
        parent = here.parent_op()
        here = None if parent is None or isinstance(parent, KernelOp) else parent.parent_block()
    return False


def _loop_of(op: Operation) -> str:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, (ForOp, WhileOp)):
        parent = parent.parent_op()
    places = positions(parent.location) if parent is not None else []
    return str(places[0]) if places else ""


def _cycles(before: dict[NisaOp, list[NisaOp]]) -> Iterator[Diagnostic]:
    """Yield a finding for each cycle of edges, found by walking backward along them."""
    done: set[NisaOp] = set()
    for start in before:
        path: dict[NisaOp, Iterator[NisaOp]] = {}
        stack = [start]
        while stack:
            op = stack[-1]
            if op in done:
                stack.pop()
                continue
            if op not in path:
                path[op] = iter(before.get(op, ()))
            following = next(path[op], None)
            if following is None:
                done.add(op)
                del path[op]
                stack.pop()
            elif following in path:
                names = list(path)
                loop = [*names[names.index(following) :], following]
                shown = " after ".join(f"'{o.label or o.SPEC.name}'" for o in loop)
                yield diagnose(
                    SCHEDULE_CYCLE,
                    op,
                    f"the edges form a cycle: {shown}",
                    related=[(o, f"'{o.label or o.SPEC.name}'") for o in loop[:-1] if o is not op],
                )
            elif following not in done:
                stack.append(following)
