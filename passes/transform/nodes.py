"""The representation of a program for the search for repetition: nodes with a form and numbers.

A node is an operation with the views that it touches, or a loop that has been found. Nodes of one
form differ only in their numbers and in the allocations that they use.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation

Place = tuple[tuple[int, int], ...]
"""Line and column of the calls that lead to an operation, the outermost first; () if unknown."""


@dataclass(slots=True)
class NodeForm:
    """The common part of nodes that differ only in numbers and values used."""

    index: int
    """Equal for equal forms."""
    masks: tuple[int, ...] = ()
    """Positions of numbers that are bit sets of `GIVEN` and `OMITTED`."""


GIVEN = 1
"""The number can be written as an argument."""
OMITTED = 2
"""The number can be omitted where it is the default."""


@dataclass(slots=True)
class Ref:
    """A use of a value that was created before: an allocation, a register, …

    Values are counted by kind; values that one statement creates have the same kind.
    """

    kind: int
    """The kind of the value."""
    ordinal: int
    """The number of earlier values of the kind."""
    back: int
    """The number of values of the kind from this one to the start of the node.

    At least 1, unless the node itself creates the value.
    """
    low: int = 0
    """Lowest ordinal, relative to this one, that other iterations of the node use; at most 0."""
    high: int = 0
    """Highest ordinal, relative to this one, that other iterations of the node use."""


@dataclass(slots=True, eq=False)
class Node:
    """An operation, or a loop as it is in its first iteration."""

    form: NodeForm
    numbers: tuple[int, ...]
    refs: Sequence[Ref]
    """Uses of values that are created outside the node."""
    makes: dict[int, int]
    """The number of values of each kind that it creates."""
    place: Place
    size: int
    """The number of operations in its written form."""


@dataclass(frozen=True, slots=True)
class RefStep:
    """The values that a use in a loop refers to: the ordinal grows by `step` per iteration."""

    step: int = 0
    inside: bool = False
    """True if the value is created in the same iteration."""
    maker: int = 0
    """For an inside value, the first of the iteration's nodes that create such values."""
    last: int = 0
    """The last of these nodes."""
    start: int = 0
    """The ordinal among the values of these nodes, in the first iteration."""
    low: int = field(default=0, compare=False)
    """The lowest and the highest ordinal in any iteration."""
    high: int = field(default=0, compare=False)


@dataclass(slots=True, eq=False)
class Unit(Node):
    """An operation, with the views created for it."""

    op: Operation
    regions: list[InRegion] = field(default_factory=list["InRegion"])
    own_numbers: int = 0
    """The number of its numbers without those of its regions."""
    own_refs: int = 0
    """The number of its uses without those of its regions."""
    steps: tuple[RefStep, ...] = ()
    """The uses in its regions, in the order of the nodes."""


@dataclass(slots=True)
class InRegion:
    """The contents of a region of an operation."""

    block: Block
    arguments: list[int]
    """The kinds of the block's arguments."""
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
    """Consecutive iterations. Its numbers are the trip count and then those of its body."""

    iterations: list[list[Node]]
    """The nodes of each iteration."""
    number_steps: tuple[int, ...]
    """The growth of the numbers of the body's nodes per iteration."""
    ref_steps: tuple[RefStep, ...]
    """The values that the uses of the body's nodes refer to."""

    @property
    def body(self) -> list[Node]:
        """The nodes of the first iteration."""
        return self.iterations[0]


class NodeForms:
    """Numbers the forms of nodes and the kinds of values."""

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
        """Return the kind of value for a key."""
        return self._kinds.setdefault(key, len(self._kinds))


def added(counts: dict[int, int], more: dict[int, int]) -> None:
    """Add `more` to `counts`, by kind."""
    for kind, count in more.items():
        counts[kind] = counts.get(kind, 0) + count


def made_by(nodes: Sequence[Node]) -> dict[int, int]:
    """The number of values of each kind that some nodes create."""
    counts: dict[int, int] = {}
    for node in nodes:
        added(counts, node.makes)
    return counts


def has_loops(nodes: Sequence[Node]) -> bool:
    """True when one of the nodes is a loop, or contains one in a region."""
    return any(
        not isinstance(node, Unit) or any(has_loops(region.nodes) for region in node.regions)
        for node in nodes
    )
