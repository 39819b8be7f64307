"""The instances of a launch grid while they are traced."""

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
    """The instance of a grid that is being traced, and what it shares with the others."""

    grid: LaunchGrid
    at: tuple[int, ...]
    """Its index in the grid."""
    shared: list[NkiTensor]
    """Tensors in shared HBM, in the order in which every instance allocates them."""
    independence: Independence
    """What is known of the order in which instances and iterations were traced."""
    lazy: list[MemsetOp]
    """Initial values that are written at the first use (`lazy_initialization`)."""
    places_automatically: bool
    """No tile is where its `buffer=` says (`nki.compiler.force_auto_alloc`)."""
    allocated: int = field(default=0)
    """How many of the shared tensors this instance has allocated."""


_instance: ContextVar[Instance | None] = ContextVar("nkijit_instance", default=None)


def active_instance() -> Instance | None:
    """The instance that is being traced in this context, if any."""
    return _instance.get()


def places_automatically() -> bool:
    """True while a kernel is traced whose tiles are all placed automatically."""
    instance = _instance.get()
    return instance is not None and instance.places_automatically


@contextmanager
def tracing(instance: Instance) -> Generator[None]:
    """Functions of the language see this instance inside."""
    around = _instance.get()
    try:  # an interrupt can arrive before and after each statement
        _instance.set(instance)
        yield
    finally:
        _instance.set(around)
