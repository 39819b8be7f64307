"""The loops of a kernel, found in its unrolled instructions, and changes to the loops' order.

As in `reroll`, a loop is a sequence of instructions that repeats with affine numbers. Adjacent
iterations that differ only in an argument are added to the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.repeat import has_repeats
from nkijit.passes.advise.edit import NotPossibleError
from nkijit.passes.compile.analyses.accesses import is_free
from nkijit.passes.compile.analyses.ordering import Kept, is_movable, predecessors
from nkijit.passes.compile.analyses.regions import declares
from nkijit.passes.transform.nodes import Loop, Node, Unit
from nkijit.passes.transform.read import Reader


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """An unrolled loop: the instructions and inner loops of each iteration."""

    iterations: list[list[NisaOp | Nest]]

    @property
    def instructions(self) -> list[NisaOp]:
        """All instructions, in program order."""
        return [op for iteration in self.iterations for op in flat(iteration)]


Items = Sequence[NisaOp | Nest]


def flat(items: Items) -> Iterator[NisaOp]:
    """Yield the instructions of some items, including those of nested loops."""
    for item in items:
        if isinstance(item, Nest):
            for iteration in item.iterations:
                yield from flat(iteration)
        else:
            yield item


def nests_of(kernel: KernelOp) -> Iterator[tuple[Nest, int]]:
    """Yield the loops of a kernel, outer ones first, with the number of loops around each."""
    if not has_repeats(kernel):
        yield from _below(Reader(kernel).read(), 0)


def _below(nodes: Sequence[Node], depth: int) -> Iterator[tuple[Nest, int]]:
    """Yield the loops among nodes, and then the loops inside device loops."""
    yield from _inside(_items(nodes), depth)
    yield from _on_device(nodes, depth)


def _on_device(nodes: Sequence[Node], depth: int) -> Iterator[tuple[Nest, int]]:
    for node in nodes:
        if isinstance(node, Loop):
            for iteration in node.iterations:
                yield from _on_device(iteration, depth + 1)
        elif isinstance(node, Unit):
            for region in node.regions:
                yield from _below(region.nodes, depth + 1)


def _inside(items: Items, depth: int) -> Iterator[tuple[Nest, int]]:
    for item in items:
        if isinstance(item, Nest):
            yield item, depth
            for iteration in item.iterations:
                yield from _inside(iteration, depth + 1)


def _items(nodes: Sequence[Node]) -> list[NisaOp | Nest]:
    found: list[NisaOp | Nest] = []
    for node in nodes:
        if isinstance(node, Unit):
            if is_instruction(node.op):
                found.append(node.op)
            continue
        assert isinstance(node, Loop)
        iterations = [body for nodes in node.iterations if (body := _items(nodes))]
        if len(iterations) == len(node.iterations):
            found += [Nest(iterations)] if len(iterations) > 1 else iterations[0]
    return _twice(_with_neighbours(found))


def _with_neighbours(items: list[NisaOp | Nest]) -> list[NisaOp | Nest]:
    """Extend loops by adjacent iterations that differ only in an argument."""
    found: list[NisaOp | Nest] = []
    at = 0
    while at < len(items):
        item = items[at]
        at += 1
        if isinstance(item, Nest):
            size = len(item.iterations[0])
            iterations, key = list(item.iterations), _key(item.iterations[0])
            while size <= len(found) and _key(found[-size:]) == key:
                iterations.insert(0, found[-size:])
                del found[-size:]
            while _key(items[at : at + size]) == key:
                iterations.append(items[at : at + size])
                at += size
            item = Nest(iterations)
        found.append(item)
    return found


_LONGEST = 100
"""The largest number of items among which loops of two iterations are searched."""


def _twice(items: list[NisaOp | Nest]) -> list[NisaOp | Nest]:
    """Group adjacent equivalent items into loops of two iterations.

    `reroll` does not find these if an argument of the first iteration differs.
    """
    if len(items) > _LONGEST:
        return items
    keys = [_key([item]) for item in items]
    found: list[NisaOp | Nest] = []
    at = 0
    while at < len(items):
        sizes = range(1, (len(items) - at) // 2 + 1)
        size = next((n for n in sizes if keys[at : at + n] == keys[at + n : at + 2 * n]), 0)
        found.append(
            Nest([items[at : at + size], items[at + size :][:size]]) if size else items[at]
        )
        at += 2 * size or 1
    return found


def _key(items: Items) -> object:
    """Return the equivalence key of items: their lines, instruction types and trip counts."""
    return [
        (len(item.iterations), *map(_key, item.iterations[:1]))
        if isinstance(item, Nest)
        else (type(item), item.location)
        for item in items
    ]


def levels_to(items: Items, op: NisaOp) -> int | None:
    """Return the number of loops around an instruction in an iteration; None if not found."""
    for item in items:
        if item is op:
            return 0
        if isinstance(item, Nest):
            inside = levels_to(item.iterations[0], op)
            if inside is not None:
                return 1 + inside
    return None


# ------------------------------------------------------------------ another order


class Order:
    """The constraints on the order of the instructions of a loop."""

    def __init__(self, state: Kept, region: Sequence[NisaOp]):
        """Find the constraints of a straight-line region; `state` is the kernel's engine state.

        Raises:
            NotPossibleError: an instruction cannot move.
        """
        block = region[0].parent_block()
        if not all(op.parent_block() is block and is_free(op) and is_movable(op) for op in region):
            raise NotPossibleError
        _between(region)
        self._before = predecessors(region, state)

    def allows(self, order: Sequence[int]) -> bool:
        """Whether an order keeps every instruction after its predecessors.

        `order` lists the instructions by their old positions.
        """
        place = [0] * len(order)
        for new, old in enumerate(order):
            place[old] = new
        return all(
            place[before] < place[old] for old, each in enumerate(self._before) for before in each
        )


def rearrange(region: Sequence[NisaOp], order: Sequence[int]) -> None:
    """Reorder the instructions of a region, and put all declarations in it before them."""
    last = region[-1].next_op
    block = region[0].parent_block()
    assert block is not None
    assert last is not None
    for op in (*_between(region), *(region[number] for number in order)):
        op.detach()
        block.insert_op_before(op, last)


def _between(region: Sequence[NisaOp]) -> list[Operation]:
    """Return the declarations in a region. They can move anywhere before their uses.

    Raises:
        NotPossibleError: the region has other operations as well.
    """
    found: list[Operation] = []
    instructions = set[Operation](region)
    op: Operation | None = region[0]
    while op is not region[-1]:
        if op is None or not (op in instructions or declares(type(op))):
            raise NotPossibleError
        if op not in instructions:
            found.append(op)
        op = op.next_op
    return found
