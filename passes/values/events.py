"""Functions as listeners: `run(listener=f)` calls `f(event)` after every instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation

from nkijit.passes.diagnostics.places import Position
from nkijit.passes.interpret.plan.plan import Listener
from nkijit.passes.values.instructions import (
    Array,
    as_authors_see,
    operands_of,
    place_of,
    short_place,
)


class Event:
    """An instruction that has just run.

    Its arrays are views of the run's memory and valid only during the call of the listener. Copy
    arrays that are needed later.
    """

    __slots__ = ("_written", "number", "operation")

    def __init__(self, number: int, operation: Operation, written: Sequence[Array]):
        self.number = number
        """The instruction's position in the run, from 0."""
        self.operation = operation
        """The instruction as an operation of the IR."""
        self._written = written

    @property
    def op(self) -> str:
        """The operation's name, e.g. `nisa.activation`."""
        return self.operation.name

    @property
    def location(self) -> Position | None:
        """The call in the user's source: file, line and column; None if unknown."""
        return place_of(self.operation)

    @property
    def tiles(self) -> dict[str, Array]:
        """The tiles that the instruction wrote, by the kernel's names of the tensors.

        A tile has only the part of the tensor that was touched.
        """
        return {operand.tile: array for operand, array in self._pairs()}

    @property
    def results(self) -> dict[str, Array]:
        """The tiles that the instruction wrote, by operand name, e.g. `dst`."""
        return {operand.name: array for operand, array in self._pairs()}

    def _pairs(self) -> Sequence[tuple[Any, Array]]:
        written = [operand for operand in operands_of(self.operation) if operand.is_written]
        return [
            (operand, as_authors_see(operand.value, array))
            for operand, array in zip(written, self._written, strict=True)
        ]

    def __repr__(self) -> str:
        writes = ", ".join(str(o) for o in operands_of(self.operation) if o.is_written)
        return f"<#{self.number} {self.op} {short_place(self.location)} {writes}>"


class _Calling:
    """A listener that calls a function with an `Event` after each instruction."""

    def __init__(self, function: Callable[[Event], object]):
        self._function = function
        self._count = 0

    def did_run(self, op: Operation, written: Sequence[Array]) -> None:
        number, self._count = self._count, self._count + 1
        self._function(Event(number, op, written))


ListenerLike = Listener | Callable[[Event], object]


def as_listener(given: ListenerLike | None) -> Listener | None:
    """Return a listener for an object with `did_run`, or for a function that takes an `Event`.

    Raises TypeError for other objects, except None.
    """
    if given is None or hasattr(given, "did_run"):
        return given  # pyright: ignore[reportReturnType]
    if not callable(given):
        raise TypeError(
            f"listener expects a function that takes an event, or an object with did_run, got "
            f"{given!r}"
        )
    return _Calling(given)
