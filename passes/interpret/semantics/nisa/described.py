"""Constructors of terms for instructions that are functions without a further description."""

from __future__ import annotations

from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array
from nkijit.passes.interpret.records.records import (
    Constructor,
    Declared,
    Destination,
    Reach,
    Source,
)

_WITHOUT_EFFECT = frozenset(("engine", "name"))
"""Fields that do not change the results of an instruction."""


def constructor(b: Binding, reach: Reach) -> Constructor:
    """Return an instruction as a constructor of terms.

    The name has the instruction, all arguments that are not operands, and the data types and shapes
    of all tiles.
    """
    arguments = tuple(
        (f.name, str(b.op.properties.get(f.name)))
        for f in b.op.SPEC.fields
        if f.name not in _WITHOUT_EFFECT
    )
    tiles = tuple(
        (f.name, b.dtype(f.name).name, b.tile(f.name).shape)
        for f in b.op.SPEC.operand_fields
        if b.has(f.name) and b.number(f.name) is None
    )
    return Constructor((b.op.name, arguments, tiles), reach)


def declared(
    b: Binding,
    reach: Reach,
    sources: tuple[Source, ...],
    *into: Destination,
    written: tuple[Array | None, ...] = (),
) -> Declared:
    """Return an opaque instruction's operands and results; see `Declared`."""
    return Declared(constructor(b, reach), sources, into, written)
