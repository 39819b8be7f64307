"""What a program is to those who look for repetition: nodes of a form, with numbers.

A node is an operation with the views that it touches, or a loop that has been found. Nodes of one
form differ in their numbers and in which allocations they touch.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation

Place = tuple[tuple[int, int], ...]
"""Line and column of the calls that lead to an operation, the outermost first; () if unknown."""


@dataclass(slots=True)
class NodeForm:
    """What nodes have in common that differ in numbers at most."""

    index: int
    """Equal for equal forms."""
    masks: tuple[int, ...] = ()
    """Which of the numbers are sets of bits: `GIVEN`, `OMITTED`."""


GIVEN = 1
"""A number that is not left out."""
OMITTED = 2
"""A number that is left out where it is the default."""


@dataclass(slots=True)
class Ref:
    """A use of something that was made before: an allocation, a register, …

    Values are counted by kinds, of which those of one statement are one.
    """

    kind: int
    """What kind of value it is."""
    ordinal: int
    """How many of the kind there are before it."""
    back: int
    """How many there were where the node begins, from it on: at least 1, unless it is its own."""
    low: int = 0
    """What is used in other iterations of the node lies so far before it, at most; not above 0."""
    high: int = 0
    """What is used in other iterations of the node lies so far behind it, at most."""


@dataclass(slots=True, eq=False)
class Node:
    """An operation, or a loop; of a loop, what it is in its first iteration."""

    form: NodeForm
    numbers: tuple[int, ...]
    refs: Sequence[Ref]
    """Uses of what is made outside of the node."""
    makes: dict[int, int]
    """How many values of each kind it makes."""
    place: Place
    size: int
    """How many operations it is written with."""


@dataclass(frozen=True, slots=True)
class RefStep:
    """Which value a use inside of a loop is in each iteration: it moves by `step` from one to the
    next.
    """

    step: int = 0
    inside: bool = False
    """It is made in the same iteration."""
    maker: int = 0
    """Which of the iteration's nodes makes it, if it is made there; the first of those that do."""
    last: int = 0
    """The last of those that do."""
    start: int = 0
    """The ordinal among what these make, in the first iteration."""
    low: int = field(default=0, compare=False)
    """The first and the last that it is in any iteration."""
    high: int = field(default=0, compare=False)


@dataclass(slots=True, eq=False)
class Unit(Node):
    """An operation, with the views made for it."""

    op: Operation
    regions: list[InRegion] = field(default_factory=list["InRegion"])
    own_numbers: int = 0
    """How many of its numbers are not of what is in its regions."""
    own_refs: int = 0
    """How many of its uses are not of what is in its regions."""
    steps: tuple[RefStep, ...] = ()
    """What the uses in its regions are: of each node in turn."""


@dataclass(slots=True)
class InRegion:
    """What is in a region of an operation."""

    block: Block
    arguments: list[int]
    """The kinds of the block's arguments."""
    nodes: list[Node]


def add_regions(unit: Unit, numbers: Sequence[int], refs: Sequence[Ref]) -> None:
    """Let a unit have the numbers and uses of what is in its regions, behind those of its own.

    Args:
        unit: its regions are looked at.
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
    """Iterations in a row. Its first number says how many; those of its body follow."""

    iterations: list[list[Node]]
    """The nodes of each."""
    number_steps: tuple[int, ...]
    """By how much the numbers of the body's nodes grow."""
    ref_steps: tuple[RefStep, ...]
    """Which values the uses of the body's nodes are."""

    @property
    def body(self) -> list[Node]:
        """The nodes of the first iteration."""
        return self.iterations[0]


class NodeForms:
    """Gives each form its number."""

    def __init__(self):
        self._forms: dict[Hashable, NodeForm] = {}
        self._kinds: dict[Hashable, int] = {}

    def form(self, key: Hashable, masks: tuple[int, ...] = ()) -> NodeForm:
        """The form that a key stands for; equal keys have equal masks."""
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = NodeForm(len(self._forms), masks)
        return form

    def kind(self, key: Hashable) -> int:
        """The kind of value that a key stands for."""
        return self._kinds.setdefault(key, len(self._kinds))


def added(counts: dict[int, int], more: dict[int, int]) -> None:
    """Add numbers of values by kind."""
    for kind, count in more.items():
        counts[kind] = counts.get(kind, 0) + count


def made_by(nodes: Sequence[Node]) -> dict[int, int]:
    """How many values of each kind some nodes make."""
    counts: dict[int, int] = {}
    for node in nodes:
        added(counts, node.makes)
    return counts


def has_loops(nodes: Sequence[Node]) -> bool:
    """True when there is a loop among nodes, or in a region of one."""
    return any(
        not isinstance(node, Unit) or any(has_loops(region.nodes) for region in node.regions)
        for node in nodes
    )
