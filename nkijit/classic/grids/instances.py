"""The instances of a launch grid during tracing."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from nkijit.classic.grids.grid import LaunchGrid
from nkijit.classic.grids.independence import Independence
from nkijit.dialects.nisa.movement import MemsetOp
from nkijit.tracing.tensor import NkiTensor


@dataclass(slots=True)
class Instance:
    """The instance of a grid that is being traced, and the state that instances share."""

    grid: LaunchGrid
    at: tuple[int, ...]
    """The instance's index in the grid."""
    shared: list[NkiTensor]
    """The tensors in shared HBM that all instances use.

    Every instance allocates these tensors in the same order.
    """
    independence: Independence
    """Records the range of the trace of each instance, to check that instances are independent."""
    lazy: list[MemsetOp]
    """`memset`s of initial values that move to the tile's first use (`lazy_initialization`)."""
    places_automatically: bool
    """Whether to ignore the addresses in `buffer=` (`nki.compiler.force_auto_alloc`)."""
    allocated: int = field(default=0)
    """The number of shared tensors that this instance has allocated so far."""


_instance: ContextVar[Instance | None] = ContextVar("nkijit_instance", default=None)


def active_instance() -> Instance | None:
    """Return the instance that is being traced in this context, if any."""
    return _instance.get()


def places_automatically() -> bool:
    """Return True while tracing a kernel with automatic placement of all tiles."""
    instance = _instance.get()
    return instance is not None and instance.places_automatically


@contextmanager
def tracing(instance: Instance) -> Generator[None]:
    """Make an instance the result of `active_instance` within the `with` block."""
    around = _instance.get()
    try:  # an interrupt can arrive before and after each statement
        _instance.set(instance)
        yield
    finally:
        _instance.set(around)
