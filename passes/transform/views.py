"""Views that are made where they are first used, and are there for all that follows.

A kernel's trace has each view of an allocation once, in front of the first instruction that touches
it. So which instruction that is, is not said: it follows from the order of the instructions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.tiles import info_of
from nkijit.passes.transform.numbers import Splits

AGAIN = "nki.again"
"""The attribute of a view that is made although there may be one like it."""


class Views:
    """The views that there are in a block and in those around it."""

    def __init__(self, splits: Splits):
        self._splits = splits
        self._scopes: list[dict[Hashable, SSAValue]] = []

    def open(self) -> None:
        """Begin a block."""
        self._scopes.append({})

    def close(self) -> None:
        """End it: what follows does not see its views."""
        self._scopes.pop()

    def key(self, view: ViewOp, operands: Sequence[SSAValue]) -> Hashable:
        """Equal for views of the same elements.

        Args:
            view: its properties are looked at.
            operands: the allocation, and the index if there is one.
        """
        properties = [
            (name, *self._splits.of(attr)) for name, attr in sorted(view.properties.items())
        ]
        return (*operands, info_of(view.result).dtype, *properties)

    def find(self, key: Hashable) -> SSAValue | None:
        """The view with a key that there is already."""
        for scope in self._scopes:
            value = scope.get(key)
            if value is not None:
                return value
        return None

    def add(self, key: Hashable, value: SSAValue) -> None:
        """Note a view of the block that was opened last."""
        self._scopes[-1].setdefault(key, value)


class SharedViews(Views):
    """Which views of a kernel are where they belong, so that nothing has to be said about them."""

    def __init__(self, splits: Splits):
        super().__init__(splits)
        self._shared: set[Operation] = set()
        self.repeated: set[Operation] = set()
        """Views that are made although there is one like them."""

    def __contains__(self, view: object) -> bool:
        return view in self._shared

    def admit(self, views: Sequence[ViewOp], op: Operation) -> Sequence[ViewOp]:
        """Look at the views in front of an operation; returns those that have to be said."""
        start = len(views)
        fresh: list[bool] = []
        for view in views:
            key = self.key(view, view.operands)
            fresh.append(self.find(key) is None)
            if not fresh[-1]:
                self.repeated.add(view)
            self.add(key, view.result)
        while start and fresh[start - 1] and _belongs(views[start - 1], op):
            start -= 1
        belonging = views[start:]
        if belonging:
            among = set(belonging)
            order = dict.fromkeys(view for view in _views_of(op) if view in among)
            if list(order) != list(belonging):
                return views
            self._shared |= among
        return views[:start]


def _belongs(view: ViewOp, op: Operation) -> bool:
    plain = not view.attributes and view.result.name_hint == view.source.name_hint
    return plain and view.location == op.location


def _views_of(op: Operation) -> Iterator[ViewOp]:
    """The views that are made for an operation, in order."""
    for value in op.operands:
        owner = value.owner
        if type(owner) is ViewOp:
            yield from _views_of(owner)
            yield owner
