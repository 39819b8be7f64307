"""The passes of the compiler, in order, and a kernel that has been through them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import Operation

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.compile.accumulation import resolve_accumulation
from nkijit.passes.compile.list_schedule import list_schedule
from nkijit.passes.compile.rename import rename_tiles


class Step(NamedTuple):
    """A pass of the compiler."""

    name: str
    run: Callable[[KernelOp], int]
    """Changes a kernel in place; returns how much it has changed."""
    what: str
    """What the number counts."""


STEPS = (
    Step("resolve-accumulation", resolve_accumulation, "matmuls that say whether they add"),
    Step("rename-tiles", rename_tiles, "tiles more"),
    Step("list-schedule", list_schedule, "instructions in other places"),
)
"""The passes, in the order in which they run."""


@dataclass(frozen=True)
class Compiled:
    """A kernel as a compiler would have it."""

    kernel: KernelOp
    """A changed copy."""
    origins: Mapping[Operation, Operation]
    """The operation that each of its operations is a copy of; new ones are not in it."""
    changes: Mapping[str, int]
    """How much each pass has changed, by its name."""


def compiled(kernel: KernelOp, without: Collection[str] = ()) -> Compiled:
    """A copy of a verified kernel that the passes have changed.

    Args:
        kernel: it stays as it is.
        without: the names of passes that are left out.
    """
    copy = kernel.clone()
    origins = dict(zip(copy.walk(), kernel.walk(), strict=True))
    changes = {step.name: step.run(copy) for step in STEPS if step.name not in without}
    return Compiled(copy, origins, changes)
