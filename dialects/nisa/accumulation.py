"""Accumulation of matmuls in PSUM."""

from __future__ import annotations

from enum import Enum

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import passes_bits_through
from nkijit.dialects.hardware.targets import Target


class Accumulation(Enum):
    """The effect of a matmul on the previous contents of `dst`."""

    overwrites = "overwrites"
    adds = "adds"
    by_location = "by_location"
    """The matmul adds to elements that a matmul has written, and overwrites the others."""


_OF_ARGUMENT = {
    True: Accumulation.adds,
    False: Accumulation.overwrites,
    None: Accumulation.by_location,
}


def accumulation_of(op: NisaOp, target: Target) -> Accumulation | None:
    """Return the effect of a matmul on the contents of `dst`; None for other instructions.

    The argument `accumulate` decides, unless it is None. If it is None, matmuls in transpose mode
    overwrite, and other matmuls accumulate by location.
    """
    if not op.declares("accumulate"):
        return None
    given = op.value_of("accumulate")
    if given is None and passes_bits_through(op, target):
        return Accumulation.overwrites
    return _OF_ARGUMENT[given]
