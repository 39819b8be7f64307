"""Nodes: the representation of a program for the search for loops; each has a form and numbers.

A node is an operation with the views that it touches, or a loop that has been found. Nodes of one
form differ only in their numbers and in the allocations that they use.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation

Place = tuple[tuple[int, int], ...]
"""For each call that leads to an operation, its line and column, outermost first; () if unknown."""


@dataclass(slots=True)
class NodeForm:
    """The form of a node: everything except its numbers and the values that it uses."""

    index: int
    """The index of the form; equal forms have equal indices."""
    masks: tuple[int, ...] = ()
    """The indices of numbers that are bit masks: combinations of `GIVEN` and `OMITTED`."""


GIVEN = 1
"""Bit of `NodeForm.masks` for a number that can be written as an argument."""
OMITTED = 2
"""Bit of `NodeForm.masks` for a number that can be omitted, as it is the argument's default."""


@dataclass(slots=True)
class Ref:
    """A use of an earlier value: an allocation, a register, …

    Values have kinds: values that the same statement creates have the same kind. The values of a
    kind are numbered in order of creation (*ordinal*).
    """

    kind: int
    """The index of the value's kind; `NodeForms.kind` numbers the kinds by their keys."""
    ordinal: int
    """The ordinal of the value: the number of earlier values of its kind."""
    back: int
    """The number of values of the kind from the used value up to the start of the node.

    At least 1, unless the node itself creates the value.
    """
    low: int = 0
    """The lowest ordinal that any iteration of the loop uses, minus `ordinal`; at most 0."""
    high: int = 0
    """The highest ordinal that any iteration of the loop uses, minus `ordinal`."""


@dataclass(slots=True, eq=False)
class Node:
    """An operation or a loop. A loop has the numbers and uses of its first iteration."""

    form: NodeForm
    numbers: tuple[int, ...]
    refs: Sequence[Ref]
    """The uses of values that are created outside the node."""
    makes: dict[int, int]
    """The number of values that the node creates, by kind."""
    place: Place
    size: int
    """The number of operations that the node has in the rolled IR."""


@dataclass(frozen=True, slots=True)
class RefStep:
    """The values that a use in a loop refers to: the ordinal grows by `step` per iteration."""

    step: int = 0
    inside: bool = False
    """True if the value is created in the same iteration."""
    maker: int = 0
    """The index in an iteration of the first node that may create the value; only if `inside`."""
    last: int = 0
    """The index in an iteration of the last node that may create the value; only if `inside`."""
    start: int = 0
    """The index of the value among the values of nodes `maker` to `last`; only if `inside`.

    This is the index in the first iteration.
    """
    low: int = field(default=0, compare=False)
    """The lowest ordinal in any iteration; `high` is the highest ordinal."""
    high: int = field(default=0, compare=False)


@dataclass(slots=True, eq=False)
class Unit(Node):
    """A node for one operation, with the views created for that operation."""

    op: Operation
    regions: list[InRegion] = field(default_factory=list["InRegion"])
    own_numbers: int = 0
    """The length of `numbers` without the numbers of the regions."""
    own_refs: int = 0
    """The length of `refs` without the uses in the regions."""
    steps: tuple[RefStep, ...] = ()
    """The uses in the unit's regions, in the order of the nodes."""


@dataclass(slots=True)
class InRegion:
    """The nodes of one region of an operation."""

    block: Block
    arguments: list[int]
    """The kinds of the arguments of the region's block."""
    nodes: list[Node]


def add_regions(unit: Unit, numbers: Sequence[int], refs: Sequence[Ref]) -> None:
    """Set the numbers and uses of an operation: first its own, then those in its regions.

    Args:
        unit: the operation, with its regions.
        numbers: the operation's own numbers.
        refs: the operation's own uses.
    """
    all_numbers, all_refs = list(numbers), list(refs)
    steps: list[RefStep] = []
    counts: dict[int, int] = {}
    for region in unit.regions:
        added(counts, dict.fromkeys(region.arguments, 1))
        for node in region.nodes:
            all_numbers += node.numbers
            for ref in node.refs:
                at = counts.get(ref.kind, 0) - ref.back
                if at >= 0:
                    steps.append(RefStep(0, True, start=at, low=at + ref.low, high=at + ref.high))
                else:
                    steps.append(RefStep())
                    all_refs.append(Ref(ref.kind, ref.ordinal, -at, ref.low, ref.high))
            added(counts, node.makes)
    unit.numbers, unit.refs, unit.steps = tuple(all_numbers), all_refs, tuple(steps)
    unit.own_numbers, unit.own_refs = len(numbers), len(refs)


@dataclass(slots=True, eq=False)
class Loop(Node):
    """Consecutive iterations. Its `numbers` are the trip count, then the body's numbers."""

    iterations: list[list[Node]]
    """The nodes of each iteration."""
    number_steps: tuple[int, ...]
    """For each number of the body, its increase per iteration."""
    ref_steps: tuple[RefStep, ...]
    """For each use in the body, the change per iteration of the value that the use refers to."""

    @property
    def body(self) -> list[Node]:
        """The nodes of the first iteration."""
        return self.iterations[0]


class NodeForms:
    """Assigns indices to the forms of nodes and to the kinds of values."""

    def __init__(self):
        self._forms: dict[Hashable, NodeForm] = {}
        self._kinds: dict[Hashable, int] = {}

    def form(self, key: Hashable, masks: tuple[int, ...] = ()) -> NodeForm:
        """Return the form for a key; equal keys must have equal masks."""
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = NodeForm(len(self._forms), masks)
        return form

    def kind(self, key: Hashable) -> int:
        """Return the index of the value kind for a key; a new key starts a new kind."""
        return self._kinds.setdefault(key, len(self._kinds))


def added(counts: dict[int, int], more: dict[int, int]) -> None:
    """Add the counts in `more` to `counts`, by kind."""
    for kind, count in more.items():
        counts[kind] = counts.get(kind, 0) + count


def made_by(nodes: Sequence[Node]) -> dict[int, int]:
    """Return the number of values that some nodes create, by kind."""
    counts: dict[int, int] = {}
    for node in nodes:
        added(counts, node.makes)
    return counts


def has_loops(nodes: Sequence[Node]) -> bool:
    """True if one of the nodes is a loop, or contains a loop in a region."""
    return any(
        not isinstance(node, Unit) or any(has_loops(region.nodes) for region in node.regions)
        for node in nodes
    )
