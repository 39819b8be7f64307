"""Effects: the tiles and registers that an operation of a kernel reads and writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, cast

from xdsl.ir import Operation, SSAValue, Use

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.kinds import OperandKind, Role
from nkijit.dialects.declare.operation import SEGMENTS, NisaOp, is_instruction
from nkijit.dialects.declare.queries import skips_out_of_bounds
from nkijit.dialects.nki.kernel import DevicePrintOp, ReturnOp
from nkijit.dialects.nki.views import ViewOp, index_of
from nkijit.dialects.tiles import is_tile
from nkijit.dialects.tuples import made


class Touched(NamedTuple):
    """The operand of an effect, or the index tile that the operand's address depends on."""

    operand: str
    """The name of the operand's field; `tensor` for a print, `result <number>` for a return."""
    is_index: bool = False
    """True when the effect is on the index tile of the operand, not on the operand itself."""

    def __str__(self) -> str:
        return f"index of {self.operand}" if self.is_index else self.operand


class Effect(NamedTuple):
    """A read or write of one tile by an operation."""

    touched: Touched
    value: SSAValue
    role: Role
    partial: bool
    """True when the operation may touch only some of the tile's elements."""

    @property
    def name(self) -> str:
        """The name of the operand in messages."""
        return str(self.touched)


class DependenceKind(Enum):
    """The type of a data dependence between two operations."""

    true = "true"
    anti = "anti"
    output = "output"


def effects(op: Operation) -> tuple[Effect, ...]:
    """Return the reads and writes of tiles by an operation.

    Reads of index tiles come first, as the addresses of the other tiles depend on them.
    """
    # Every pass calls this, so the result is cached on the operation, with the tuple of operands
    # for which it was computed: xDSL replaces that tuple as a whole.
    kept = op.__dict__.get(_KEPT)
    if kept is not None and kept[0] is operand_tuple(op):
        indexed = kept[2]
        if indexed is None or indexed == _indexed(op, kept[3]):
            return kept[1]
    touched = _operands(op)
    views = [cast(ViewOp, e.value.owner) for e in touched if index_of(e.value) is not None]
    indexed = _indexed(op, views) if views else None
    if indexed is not None:
        touched = _with_indices(touched, skips=indexed.skips)
    setattr(op, _KEPT, (operand_tuple(op), touched, indexed, views))
    return touched


_KEPT = "_nki_effects"
"""Name of the attribute that caches the effects of an operation."""


class _Indexed(NamedTuple):
    """The effects of an operation that depend on run-time addresses."""

    skips: bool
    """True when the operation skips accesses that are out of bounds."""
    operands: list[Sequence[SSAValue]]
    """For each view that the operation uses, the view's operands, which include indices."""


def _indexed(op: Operation, views: Sequence[Operation]) -> _Indexed:
    skips = is_instruction(op) and skips_out_of_bounds(op)
    return _Indexed(skips, [operand_tuple(view) for view in views])


def _with_indices(touched: tuple[Effect, ...], *, skips: bool) -> tuple[Effect, ...]:
    """Add the reads of index tiles. If `skips`, mark all effects as partial."""
    if skips:
        touched = tuple(Effect(n, v, role, True) for n, v, role, _ in touched)
    read: list[Effect] = []
    for what, value, _, _ in touched:
        index = index_of(value)
        if index is not None and is_tile(index):
            read.append(Effect(Touched(what.operand, is_index=True), index, Role.read, False))
    return (*read, *touched)


def reads_and_writes(op: Operation) -> list[tuple[SSAValue, Role]]:
    """Return the value and role of each effect of an operation."""
    return [(value, role) for _, value, role, _ in effects(op)]


def role_of(use: Use) -> Role | None:
    """Return how an operation accesses a tile that it uses; None if it does not access it."""
    op = use.operation
    if is_instruction(op):
        key = type(op), _given(op)
        roles = _ROLES.get(key)
        if roles is None:
            roles = _ROLES[key] = {position: role for position, _, role, _, _ in _tiles(op)}
        return roles.get(use.index)
    return Role.read if type(op) in (DevicePrintOp, ReturnOp) else None


def registers_written(op: Operation) -> Iterator[SSAValue]:
    """Yield the registers that an operation writes."""
    if is_instruction(op):
        for name in _registers(type(op)):
            yield from op.operands_named(name)


@cache
def _registers(instruction: type[NisaOp]) -> tuple[str, ...]:
    """Return the names of an instruction's written operands that may be registers."""
    return tuple(
        f.name
        for f in instruction.SPEC.operand_fields
        if f.role is not Role.read and cast(OperandKind, f.kind).accepts_register
    )


def _operands(op: Operation) -> tuple[Effect, ...]:
    if is_instruction(op):
        # A list, as xDSL's own sequence is slow to index.
        values = list(operand_tuple(op))
        return tuple(
            [
                made(Effect, (what, values[position], role, partial))
                for position, what, role, partial, always in _tiles(op)
                if always or is_tile(values[position])
            ]
        )
    if type(op) is DevicePrintOp:
        return (Effect(Touched("tensor"), op.tensor, Role.read, False),)
    if type(op) is ReturnOp:
        results = enumerate(op.values)
        return tuple(Effect(Touched(f"result {i}"), v, Role.read, False) for i, v in results)
    return ()


_Tiles = tuple[tuple[int, Touched, Role, bool, bool], ...]
"""Operands that may be tiles: position, operand, role, partial, always a tile."""
_ROLES: dict[tuple[type[NisaOp], bytes], dict[int, Role]] = {}
_TILES: dict[type[NisaOp], dict[bytes, _Tiles]] = {}


def _given(op: NisaOp) -> bytes:
    """Return the operand segment sizes as bytes: a key of an instruction's present operands."""
    segments: Any = op.properties.get(SEGMENTS)
    return b"" if segments is None else segments.data.data


def _tiles(op: NisaOp) -> _Tiles:
    """Return the operands of an instruction that may be tiles.

    The result is cached by class and present operands.
    """
    given = _given(op)
    known = _TILES.get(type(op))
    if known is None:
        known = _TILES[type(op)] = {}
    tiles = known.get(given)
    if tiles is None:
        tiles = known[given] = tuple(_list_tiles(type(op), op.segments))
    return tiles


def _list_tiles(
    instruction: type[NisaOp], segments: tuple[range, ...] | None
) -> Iterator[tuple[int, Touched, Role, bool, bool]]:
    for f in instruction.SPEC.operand_fields:
        kind = cast(OperandKind, f.kind)
        always = not (kind.accepts_scalar or kind.accepts_register)
        positions = (f.index,) if segments is None else segments[f.index]
        if kind.accepts_tile:
            what = Touched(f.name)
            yield from ((i, what, kind.role, kind.partial, always) for i in positions)
