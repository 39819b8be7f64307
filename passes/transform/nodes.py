"""The representation of a program for the search for repetition: nodes with a form and numbers.

A node is an operation with the views that it touches, or a loop that has been found. Nodes of one
form differ only in their numbers and in the allocations that they use.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation

Place = tuple[tuple[int, int], ...]
"""The line and column of each call that leads to an operation, outermost first; () if unknown."""


@dataclass(slots=True)
class NodeForm:
    """The form of a node: everything but its numbers and the values that it uses."""

    index: int
    """The index of the form; equal forms have equal indices."""
    masks: tuple[int, ...] = ()
    """The positions of the numbers that are bits: `GIVEN` and `OMITTED`."""


GIVEN = 1
"""Bit of a number that can be written as an argument."""
OMITTED = 2
"""Bit of a number that can be omitted, as it is the argument's default."""


@dataclass(slots=True)
class Ref:
    """A use of a value that was created before: an allocation, a register, …

    Values are counted by kind; values that one statement creates have the same kind.
    """

    kind: int
    """The index of the value's kind; `NodeForms.kind` numbers the kinds by their keys."""
    ordinal: int
    """The number of values of the kind that were created before the value."""
    back: int
    """The number of values of the kind from the used value to the start of the node.

    At least 1, unless the node itself creates the value.
    """
    low: int = 0
    """The lowest ordinal that any iteration of the node uses, relative to `ordinal`; at most 0."""
    high: int = 0
    """The highest ordinal that any iteration of the node uses, relative to `ordinal`."""


@dataclass(slots=True, eq=False)
class Node:
    """An operation, or a loop as it is in its first iteration."""

    form: NodeForm
    numbers: tuple[int, ...]
    refs: Sequence[Ref]
    """The uses of values that are created outside the node."""
    makes: dict[int, int]
    """The number of values that the node creates, by kind."""
    place: Place
    size: int
    """The number of operations of the node in written form."""


@dataclass(frozen=True, slots=True)
class RefStep:
    """The values that a use in a loop refers to: the ordinal grows by `step` per iteration."""

    step: int = 0
    inside: bool = False
    """True if the value is created in the same iteration."""
    maker: int = 0
    """For a value of the same iteration, the first node of an iteration that may create it."""
    last: int = 0
    """For a value of the same iteration, the last node of an iteration that may create it."""
    start: int = 0
    """For a value of the same iteration, its number among those of nodes `maker` to `last`.

    It is that of the first iteration.
    """
    low: int = field(default=0, compare=False)
    """The lowest ordinal in any iteration; `high` is the highest one."""
    high: int = field(default=0, compare=False)


@dataclass(slots=True, eq=False)
class Unit(Node):
    """An operation, with the views created for it."""

    op: Operation
    regions: list[InRegion] = field(default_factory=list["InRegion"])
    own_numbers: int = 0
    """The number of the unit's numbers without those of its regions."""
    own_refs: int = 0
    """The number of the unit's uses without those of its regions."""
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
    """Set the numbers and uses of a unit: its own, then those of its regions.

    Args:
        unit: the unit, with its regions.
        numbers: its own numbers.
        refs: its own uses.
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
    """Consecutive iterations. The loop's numbers are the trip count, then those of its body."""

    iterations: list[list[Node]]
    """The nodes of each iteration."""
    number_steps: tuple[int, ...]
    """The growth per iteration of the numbers of the body's nodes."""
    ref_steps: tuple[RefStep, ...]
    """The values that the uses of the body's nodes refer to, per iteration."""

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
        """Return the index of the kind of values that have a key; a new key starts a new kind."""
        return self._kinds.setdefault(key, len(self._kinds))


def added(counts: dict[int, int], more: dict[int, int]) -> None:
    """Add `more` to `counts`, by kind."""
    for kind, count in more.items():
        counts[kind] = counts.get(kind, 0) + count


def made_by(nodes: Sequence[Node]) -> dict[int, int]:
    """Return the number of values that some nodes create, by kind."""
    counts: dict[int, int] = {}
    for node in nodes:
        added(counts, node.makes)
    return counts


def has_loops(nodes: Sequence[Node]) -> bool:
    """True if one of the nodes is a loop, or contains one in a region."""
    return any(
        not isinstance(node, Unit) or any(has_loops(region.nodes) for region in node.regions)
        for node in nodes
    )
