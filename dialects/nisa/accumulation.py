"""What matmuls do with what they find in PSUM."""

from __future__ import annotations

from enum import Enum

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import passes_bits_through
from nkijit.dialects.hardware.targets import Target


class Accumulation(Enum):
    """What a matmul does with the elements that it finds in `dst`."""

    overwrites = "overwrites"
    adds = "adds"
    by_location = "by_location"
    """It adds where a matmul has written before, and overwrites the rest."""


_OF_ARGUMENT = {
    True: Accumulation.adds,
    False: Accumulation.overwrites,
    None: Accumulation.by_location,
}


def accumulation_of(op: NisaOp, target: Target) -> Accumulation | None:
    """What a matmul does with what is in `dst`; None for instructions that never add to it.

    `accumulate` says it where it is given. Transpose mode, which passes bits through, overwrites.
    """
    if not op.declares("accumulate"):
        return None
    given = op.value_of("accumulate")
    if given is None and passes_bits_through(op, target):
        return Accumulation.overwrites
    return _OF_ARGUMENT[given]
