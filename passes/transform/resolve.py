"""Finds how the rolled IR refers to the values that operations use: by name, or as a list element.

If a loop creates a value that is used after the loop, the value is an element of a list of the
values of all iterations.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from nkijit.passes.transform.nodes import Loop, Node, Unit, add_regions

Definition = tuple[Unit, int]
"""The operation that creates a value, and the value's kind (see `Ref`)."""
Steps = tuple[tuple[Loop, int], ...]
"""For each loop, outermost first: the growth of a position per iteration."""


@dataclass(frozen=True, slots=True)
class Element:
    """Element `position` of a concatenation; each part is a loop's list or a single value."""

    parts: tuple[tuple[Node, Definition], ...]
    position: int
    steps: Steps

    @property
    def is_plain(self) -> bool:
        """True for a single value, which needs no list."""
        return len(self.parts) == 1 and isinstance(self.parts[0][0], Unit)


@dataclass(slots=True)
class Resolved:
    """The values that all operations use."""

    uses: dict[tuple[Unit, int], Element] = field(default_factory=dict[tuple[Unit, int], Element])
    """The value of each use, by the operation's node and the index among its uses."""
    lists: dict[Loop, dict[Definition, None]] = field(
        default_factory=dict[Loop, dict[Definition, None]]
    )
    """For each loop, the lists of its values that are used after the loop."""


@dataclass(slots=True)
class _Use:
    unit: Unit
    slot: int
    kind: int
    steps: Steps = ()


class _CannotResolveError(Exception):
    """Raised if the position of a used element is not affine in the loop indices."""


class _Scope:
    """The values that have been created in a block, or in an iteration of a loop."""

    def __init__(self):
        self._counts: dict[int, int] = {}
        self._starts: dict[int, list[int]] = {}
        self._makers: dict[int, list[Node]] = {}
        self._nodes: list[Node] = []

    def add(self, node: Node) -> None:
        for kind, count in node.makes.items():
            self._add(kind, count, node)
        self._nodes.append(node)

    def add_argument(self, unit: Unit, kind: int) -> None:
        """Add an argument of a block in an operation's region."""
        self._add(kind, 1, unit)

    def _add(self, kind: int, count: int, node: Node) -> None:
        start = self._counts.get(kind, 0)
        self._starts.setdefault(kind, []).append(start)
        self._makers.setdefault(kind, []).append(node)
        self._counts[kind] = start + count

    def made_by(self, kind: int, first: int, last: int) -> list[Node]:
        """Return the nodes among `first` to `last` that create values of a kind."""
        return [node for node in self._nodes[first : last + 1] if node.makes.get(kind)]

    def makers(self, kind: int, low: int, high: int) -> tuple[int, list[Node]]:
        """Return the nodes that create the values `low` to `high` of a kind.

        The first result is the ordinal of the first value that the returned nodes create.
        """
        starts = self._starts.get(kind, ())
        first = max(0, bisect_right(starts, low) - 1)
        last = bisect_right(starts, high)
        makers = self._makers.get(kind, [])[first:last]
        return starts[first] if makers else 0, makers


def resolve(nodes: list[Node]) -> Resolved:
    """Resolve all uses. Loops with uses that cannot be resolved are unrolled in `nodes`."""
    while True:
        resolver = _Resolver()
        try:
            resolver.kernel(nodes)
            return resolver.found
        except _CannotResolveError:
            resolver.culprit.take_apart()


@dataclass(frozen=True, slots=True)
class _Culprit:
    """The outermost loop around a use that cannot be resolved."""

    loop: Loop
    holder: list[Node]
    """The list of nodes that contains the loop."""
    around: tuple[Unit, ...]
    """The operations that contain the loop, outermost first."""

    def take_apart(self) -> None:
        """Replace the loop by its iterations."""
        at = next(i for i, node in enumerate(self.holder) if node is self.loop)
        self.holder[at : at + 1] = [node for block in self.loop.iterations for node in block]
        for unit in reversed(self.around):
            add_regions(unit, unit.numbers[: unit.own_numbers], unit.refs[: unit.own_refs])


class _Resolver:
    culprit: _Culprit
    """The loop to unroll, after a `_CannotResolveError`."""

    def __init__(self):
        self.found = Resolved()
        self._outermost: _Culprit | None = None
        """The outermost loop that contains the current node."""
        self._around: list[Unit] = []
        """The operations that contain the current node."""

    def kernel(self, nodes: list[Node]) -> None:
        scope = _Scope()
        for node in nodes:
            for use, ref in zip(self._node(node, nodes), node.refs, strict=True):
                low, high = ref.ordinal + ref.low, ref.ordinal + ref.high
                start, makers = scope.makers(use.kind, low, high)
                self._settle(use, makers, ref.ordinal - start, nodes)
            scope.add(node)

    def _node(self, node: Node, holder: list[Node]) -> list[_Use]:
        """Resolve the uses in a node; returns the uses of values from outside the node."""
        if isinstance(node, Loop):
            if self._outermost is not None:
                return self._loop(node)
            self._outermost = _Culprit(node, holder, tuple(self._around))
            uses = self._loop(node)
            self._outermost = None
            return uses
        assert isinstance(node, Unit)
        uses = [_Use(node, i, ref.kind) for i, ref in enumerate(node.refs[: node.own_refs])]
        if node.regions:
            self._around.append(node)
            uses += self._regions(node)
            self._around.pop()
        return uses

    def _regions(self, unit: Unit) -> list[_Use]:
        scope = _Scope()
        left = iter(unit.steps)
        outside: list[_Use] = []
        for region in unit.regions:
            for kind in region.arguments:
                scope.add_argument(unit, kind)
            for node in region.nodes:
                for use in self._node(node, region.nodes):
                    step = next(left)
                    if step.inside:
                        start, makers = scope.makers(use.kind, step.low, step.high)
                        self._settle(use, makers, step.start - start, region.nodes)
                    else:
                        outside.append(use)
                scope.add(node)
        return outside

    def _loop(self, loop: Loop) -> list[_Use]:
        scope = _Scope()
        left = iter(loop.ref_steps)
        outside: list[_Use] = []
        for node in loop.body:
            for use in self._node(node, loop.body):
                step = next(left)
                if step.step:
                    use.steps = ((loop, step.step), *use.steps)
                if step.inside:
                    makers = scope.made_by(use.kind, step.maker, step.last)
                    self._settle(use, makers, step.start, loop.body)
                else:
                    outside.append(use)
            scope.add(node)
        return outside

    def _settle(self, use: _Use, makers: Sequence[Node], position: int, holder: list[Node]) -> None:
        """Resolve a use.

        Args:
            makers: the nodes that create all values to which the use refers.
            position: the position of the value among the values of `makers`, in the first
                iterations.
            holder: the list of nodes that contains the use.
        """
        try:
            element = _element(makers, use.kind, position, use.steps)
        except _CannotResolveError:
            loop = next((node for node in makers if isinstance(node, Loop)), None)
            if self._outermost is None and loop is None:
                raise LookupError("internal error: a value is used that nothing makes") from None
            if self._outermost is None and loop is not None:
                self.culprit = _Culprit(loop, holder, tuple(self._around))
            elif self._outermost is not None:
                self.culprit = self._outermost
            raise
        self.found.uses[use.unit, use.slot] = element
        for node, definition in element.parts:
            self._need(node, definition)

    def _need(self, node: Node, definition: Definition) -> None:
        while isinstance(node, Loop):
            self.found.lists.setdefault(node, {})[definition] = None
            node = next(inner for inner in node.body if _makes(inner, definition))


def _element(makers: Sequence[Node], kind: int, position: int, steps: Steps) -> Element:
    """Return an element of the values of a kind that several nodes create."""
    if len(makers) == 1 and isinstance(makers[0], Loop):
        return _select(makers[0], kind, position, steps)
    if len(makers) == 1 and isinstance(makers[0], Unit) and not steps and not position:
        return Element(((makers[0], (makers[0], kind)),), 0, ())
    found = [(node, _only(node, kind)) for node in makers]
    made = tuple((node, definition) for node, definition in found if definition is not None)
    if not made or len(made) < len(found):
        raise _CannotResolveError
    return Element(made, position, steps)


def _makes(node: Node, definition: Definition) -> bool:
    if isinstance(node, Loop):
        return any(_makes(inner, definition) for inner in node.body)
    return node is definition[0]


def _only(node: Node, kind: int) -> Definition | None:
    """Return the only operation in a node that creates values of a kind; None if several do."""
    while isinstance(node, Loop):
        makers = [inner for inner in node.body if inner.makes.get(kind)]
        if len(makers) != 1:
            return None
        node = makers[0]
    return (node, kind) if isinstance(node, Unit) and not node.regions else None


def _select(loop: Loop, kind: int, position: int, steps: Steps) -> Element:
    """Return the element at a position among all values of a kind that a loop creates.

    The values are in the order of their creation.
    """
    only = _only(loop, kind)
    if only is not None:
        return Element(((loop, only),), position, steps)
    # Several operations create such values: each has its own list.
    each = {sum(node.makes.get(kind, 0) for node in block) for block in loop.iterations}
    if len(each) > 1:
        raise _CannotResolveError
    count = each.pop()
    iteration, offset = divmod(position, count)
    if any(step % count for _, step in steps):
        raise _CannotResolveError
    for node in loop.body:
        made = node.makes.get(kind, 0)
        if offset < made:
            if not isinstance(node, Unit) or node.regions:
                raise _CannotResolveError
            moves = tuple((of, step // count) for of, step in steps)
            return Element(((loop, (node, kind)),), iteration, moves)
        offset -= made
    raise _CannotResolveError
