"""Which value a use is in all iterations: one by its name, or an element of a list.

What a loop makes is used after it as an element of the list of what its iterations have made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nkijit.passes.transform.nodes import Loop, Node, Unit

Definition = tuple[Unit, int]
"""A value: what makes it, and its kind."""
Steps = tuple[tuple[Loop, int], ...]
"""By how much something moves in each iteration of loops, the outermost first."""


@dataclass(frozen=True, slots=True)
class Element:
    """Element `position` of lists in a row, or of single values. A list is a loop's."""

    parts: tuple[tuple[Node, Definition], ...]
    position: int
    steps: Steps

    @property
    def is_plain(self) -> bool:
        """True for a value that needs no list."""
        return len(self.parts) == 1 and isinstance(self.parts[0][0], Unit)


@dataclass(slots=True)
class Resolved:
    """What the uses of all operations are."""

    uses: dict[tuple[Unit, int], Element] = field(default_factory=dict[tuple[Unit, int], Element])
    """By operation and the position among its uses."""
    lists: dict[Loop, dict[Definition, None]] = field(
        default_factory=dict[Loop, dict[Definition, None]]
    )
    """What is used of a loop after it."""
    certain: bool = True
    """False where loops run more or less often from iteration to iteration of one around, and make
    what is counted: then it has to be seen whether all is right."""


@dataclass(slots=True)
class _Use:
    unit: Unit
    slot: int
    kind: int
    ordinal: int
    steps: Steps = ()


class _CannotResolveError(Exception):
    """The element that is used is not affine."""


class _Scope:
    """What has been made in a block so far: in an iteration of a loop, or since the beginning."""

    def __init__(self, loop: Loop | None = None):
        self.loop = loop
        self._nodes: list[Node] = []
        self._made: dict[int, list[tuple[int, int, Node]]] = {}
        self._counts: dict[int, int] = {}
        self._uneven: dict[int, bool] = {}

    def add(self, node: Node) -> None:
        """Note a node."""
        for kind, count in node.makes.items():
            start = self._counts.get(kind, 0)
            self._made.setdefault(kind, []).append((start, count, node))
            self._counts[kind] = start + count
        if self.loop is not None:
            position = len(self._nodes)
            for kind in node.makes:
                counts = {block[position].makes.get(kind, 0) for block in self.loop.iterations}
                if len(counts) > 1:
                    self._uneven[kind] = True
        self._nodes.append(node)

    def add_argument(self, unit: Unit, kind: int) -> None:
        """Note an argument of a block of an operation."""
        start = self._counts.get(kind, 0)
        self._made.setdefault(kind, []).append((start, 1, unit))
        self._counts[kind] = start + 1

    def is_uneven(self, kind: int) -> bool:
        """True where iterations make different numbers of values of a kind."""
        return kind in self._uneven

    def parts(self, kind: int, low: int, high: int) -> list[tuple[int, int, Node]]:
        """What makes the values with some ordinals: the first ordinal, how many, and the node."""
        return [
            part for part in self._made.get(kind, ()) if part[0] <= high and part[0] + part[1] > low
        ]

    def start_step(self, node: Node, kind: int) -> int:
        """By how much the ordinals of what a node makes grow in each iteration."""
        if self.loop is None:
            return 0
        starts = [0, 0]
        for k, before in enumerate(self._nodes):
            if before is node:
                break
            for i in range(2):
                starts[i] += self.loop.iterations[i][k].makes.get(kind, 0)
        return starts[1] - starts[0]


def resolve(nodes: list[Node]) -> Resolved:
    """What all uses are. Loops of which that cannot be said are taken apart, in place."""
    while True:
        resolver = _Resolver()
        try:
            resolver.kernel(nodes)
            return resolver.found
        except _CannotResolveError:
            holder, loop = resolver.culprit
            at = next(i for i, node in enumerate(holder) if node is loop)
            holder[at : at + 1] = [node for block in loop.iterations for node in block]


class _Resolver:
    def __init__(self):
        self.found = Resolved()
        self._path: list[tuple[list[Node], Loop]] = []
        self.culprit: tuple[list[Node], Loop]
        """The loop to take apart, and what it is in."""

    def kernel(self, nodes: list[Node]) -> None:
        """Resolve the uses of a whole program."""
        scope = _Scope()
        for node in nodes:
            uses = self._node(node, nodes)
            for use, ref in zip(uses, node.refs, strict=True):
                low, high = ref.ordinal + ref.low, ref.ordinal + ref.high
                self._settle(use, scope, use.ordinal, use.steps, low, high, nodes)
            scope.add(node)

    def _node(self, node: Node, holder: list[Node]) -> list[_Use]:
        """The uses of what is made outside of a node."""
        if isinstance(node, Loop):
            self._path.append((holder, node))
            uses = self._loop(node)
            self._path.pop()
            return uses
        assert isinstance(node, Unit)
        own = len(node.refs) - sum(not step.inside for step in node.steps)
        uses = [_Use(node, i, ref.kind, ref.ordinal) for i, ref in enumerate(node.refs[:own])]
        if node.regions:
            uses += self._regions(node)
        return uses

    def _regions(self, unit: Unit) -> list[_Use]:
        scope = _Scope()
        left = iter(unit.steps)
        outside: list[_Use] = []
        for arguments, nodes in zip(unit.arguments, unit.regions, strict=True):
            for kind in arguments:
                scope.add_argument(unit, kind)
            for node in nodes:
                for use in self._node(node, nodes):
                    step = next(left)
                    if step.inside:
                        start = step.start
                        self._settle(use, scope, start, use.steps, step.low, step.high, nodes)
                    else:
                        outside.append(use)
                scope.add(node)
        return outside

    def _loop(self, loop: Loop) -> list[_Use]:
        scope = _Scope(loop)
        left = iter(loop.ref_steps)
        outside: list[_Use] = []
        for node in loop.body:
            for use in self._node(node, loop.body):
                step = next(left)
                steps = ((loop, step.step), *use.steps) if step.step else use.steps
                if step.inside:
                    self._settle(use, scope, step.start, steps, step.low, step.high, loop.body)
                else:
                    use.steps = steps
                    outside.append(use)
            scope.add(node)
        return outside

    def _settle(
        self,
        use: _Use,
        scope: _Scope,
        ordinal: int,
        steps: Steps,
        low: int,
        high: int,
        holder: list[Node],
    ) -> None:
        """Say what a use is of what is made in a scope, where it has the ordinals low to high."""
        kind = use.kind
        if scope.is_uneven(kind):
            self.found.certain = False
            low = high = ordinal
        parts = scope.parts(kind, low, high)
        loops = [node for _, _, node in parts if isinstance(node, Loop)]
        try:
            element = self._element(parts, kind, ordinal, steps, scope)
        except _CannotResolveError:
            self.culprit = self._path[0] if self._path else (holder, loops[0])
            raise
        self.found.uses[use.unit, use.slot] = element
        for node, definition in element.parts:
            self._need(node, definition)

    def _element(
        self,
        parts: Sequence[tuple[int, int, Node]],
        kind: int,
        ordinal: int,
        steps: Steps,
        scope: _Scope,
    ) -> Element:
        if not parts:
            raise _CannotResolveError
        start, _, node = parts[0]
        position = ordinal - start
        moved = scope.start_step(node, kind) if scope.is_uneven(kind) else 0
        if moved and scope.loop is not None:
            of = dict(steps)
            of[scope.loop] = of.get(scope.loop, 0) - moved
            steps = tuple((loop, step) for loop, step in of.items() if step)
        if len(parts) == 1:
            if isinstance(node, Loop):
                return _select(node, kind, position, steps)
            if steps or position:
                raise _CannotResolveError
            assert isinstance(node, Unit)
            return Element(((node, (node, kind)),), 0, ())
        found = [(part, _only(part, kind)) for _, _, part in parts]
        made = tuple((part, unit) for part, unit in found if unit is not None)
        if len(made) < len(found):
            raise _CannotResolveError
        return Element(made, position, steps)

    def _need(self, node: Node, definition: Definition) -> None:
        while isinstance(node, Loop):
            self.found.lists.setdefault(node, {})[definition] = None
            node = next(inner for inner in node.body if _makes(inner, definition))


def _makes(node: Node, definition: Definition) -> bool:
    if isinstance(node, Loop):
        return any(_makes(inner, definition) for inner in node.body)
    return node is definition[0]


def _only(node: Node, kind: int) -> Definition | None:
    """The operation that makes all values of a kind that a node makes, if there is only one."""
    while isinstance(node, Loop):
        makers = [inner for inner in node.body if inner.makes.get(kind)]
        if len(makers) != 1:
            return None
        node = makers[0]
    return (node, kind) if isinstance(node, Unit) and not node.regions else None


def _select(loop: Loop, kind: int, position: int, steps: Steps) -> Element:
    """The element of what a loop makes of a kind, counted in the order in which it is made."""
    only = _only(loop, kind)
    if only is not None:
        return Element(((loop, only),), position, steps)
    # Several operations make it: each has a list of its own.
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
