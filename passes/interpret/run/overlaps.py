"""Finds inputs of a run that share memory although the kernel writes one of these inputs.

A kernel that reads one of them may or may not see writes to the other one: instructions are ordered
only if they use the same tensor, and inputs are different tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from nkijit.passes.interpret.records.environment import Array

EFFORT = 10_000
"""The limit for the exact search for a byte shared by arrays with interleaved elements.

If the search exceeds this number of steps, the arrays count as disjoint.
"""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two inputs that share memory. The kernel writes the second one."""

    name: str
    written: str
    ranks: tuple[int, int]
    number: int
    """The position of the first input among the inputs of its rank."""
    both_written: bool

    @property
    def across_ranks(self) -> bool:
        """True if the two inputs belong to different ranks, which have separate memories."""
        return self.ranks[0] != self.ranks[1]

    def __str__(self) -> str:
        names = [f"'{self.name}'", f"'{self.written}'"]
        if self.across_ranks:
            names = [f"{name} of rank {rank}" for name, rank in zip(names, self.ranks, strict=True)]
            why = "every rank has a memory of its own"
        else:
            why = f"whether what is written is seen through '{self.name}' is not determined"
        return (
            f"inputs {' and '.join(names)} share memory, and the kernel writes '{self.written}': "
            f"{why}; pass a copy of one of them"
        )


def overlap_of(
    inputs: Sequence[tuple[str, bool]], ranks: Sequence[Sequence[Any]]
) -> Overlap | None:
    """Return the first pair of inputs that share memory and include a written input.

    Args:
        inputs: name of each input of the kernel, and whether it is written.
        ranks: the inputs of each rank, in order.
    """
    if len(ranks) == 1 and not _may_overlap(inputs, ranks[0]):
        return None
    arrays = [
        (rank, name, is_written, cast(Array, array))
        for rank, rank_inputs in enumerate(ranks)
        for (name, is_written), array in zip(inputs, rank_inputs, strict=False)
        if isinstance(array, np.ndarray)
    ]
    for at, (rank, name, is_written, array) in enumerate(arrays):
        if not is_written:
            continue
        for other_at, (other_rank, other_name, also, other) in enumerate(arrays):
            if other_at == at or (also and other_at > at):
                continue
            if np.may_share_memory(array, other) and _share(array, other):
                number = other_at - other_rank * len(inputs)
                return Overlap(other_name, name, (other_rank, rank), number, also)
    return None


def _may_overlap(inputs: Sequence[tuple[str, bool]], arrays: Sequence[Any]) -> bool:
    """Return False if certainly no written array shares memory with another array; fast."""
    for (_, is_written), array in zip(inputs, arrays, strict=False):
        if is_written:
            for other in arrays:
                if other is not array and np.may_share_memory(array, other):
                    return True
    return len({id(array) for array in arrays}) < len(arrays)


def _share(one: Array, other: Array) -> bool:
    """True if two arrays have a byte in common; False if that is expensive to determine."""
    try:
        # NumPy's stubs allow two limits only.
        return np.shares_memory(one, other, max_work=EFFORT)  # pyright: ignore[reportArgumentType]
    except np.exceptions.TooHardError:
        return False
