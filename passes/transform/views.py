"""Views that are created directly before their first use, and shared by all later uses.

The trace of a kernel contains each view of an allocation once, before the first instruction that
uses it. So the position of a view is implied by the order of the instructions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.tiles import info_of
from nkijit.passes.transform.numbers import Splits

AGAIN = "nki.again"
"""The attribute of a view that is created although an equal view exists."""


class Views:
    """The views of a block and of its surrounding blocks."""

    def __init__(self, splits: Splits):
        self._splits = splits
        self._scopes: list[dict[Hashable, SSAValue]] = []

    def open(self) -> None:
        """Enter a block."""
        self._scopes.append({})

    def close(self) -> None:
        """Leave the block and its views."""
        self._scopes.pop()

    def key(self, view: ViewOp, operands: Sequence[SSAValue]) -> Hashable:
        """Return a key that is equal for views of the same elements.

        Args:
            view: the view, whose properties and data type are compared.
            operands: the allocation, and the index if there is one.
        """
        properties = [
            (name, *self._splits.of(attr)) for name, attr in sorted(view.properties.items())
        ]
        return (*operands, info_of(view.result).dtype, *properties)

    def find(self, key: Hashable) -> SSAValue | None:
        """Return the visible view with a key; None if there is none."""
        for scope in self._scopes:
            value = scope.get(key)
            if value is not None:
                return value
        return None

    def add(self, key: Hashable, value: SSAValue) -> None:
        """Add a view to the current block."""
        self._scopes[-1].setdefault(key, value)


class SharedViews(Views):
    """The views of a kernel that are directly before their first use; the IR text can omit them."""

    def __init__(self, splits: Splits):
        super().__init__(splits)
        self._shared: set[Operation] = set()
        self.repeated: set[Operation] = set()
        """The views that are created although an equal view exists."""

    def __contains__(self, view: object) -> bool:
        return view in self._shared

    def admit(self, views: Sequence[ViewOp], op: Operation) -> Sequence[ViewOp]:
        """Register the views before an operation; returns those that the IR text must contain."""
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
    """Yield the views that an operation uses, in the order in which the views are created."""
    for value in op.operands:
        owner = value.owner
        if type(owner) is ViewOp:
            yield from _views_of(owner)
            yield owner
