"""The stationary tiles that the PE array contains, so that a resident tile is not loaded again."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.rules.pe_array import LOAD_STATIONARY
from nkijit.dialects.effects import Effect
from nkijit.dialects.nki.views import base_of, index_of
from nkijit.passes.lower.program import EngineInstruction


class Array:
    """The stationary tiles in the array of processing elements, by their position in the array."""

    def __init__(self) -> None:
        self._held: dict[ArrayPlace, tuple[set[SSAValue], EngineInstruction]] = {}
        self._bases: set[int] = set()
        """The `id`s of the tensors that contain the stationary tiles.

        The set may also contain tensors whose tiles have been replaced in the array.
        """

    def forget(self) -> None:
        """Discard all knowledge of the array."""
        self._held.clear()
        self._bases.clear()

    def holds(self, op: NisaOp) -> EngineInstruction | None:
        """Return the instruction that loaded a matmul's stationary tile.

        None if the array does not hold the tile, so it must be loaded.
        """
        held = self._held.get(_place(op))
        return held[1] if held is not None and _loads_the_same(held[1].op, op) else None

    def load(self, op: NisaOp, instruction: EngineInstruction) -> None:
        """Record a load of a stationary tile, which replaces tiles at overlapping positions."""
        place = _place(op)
        self._held = {p: h for p, h in self._held.items() if not _meet(p, place)}
        loaded = {v for name in instruction.operands for v in op.operands_named(name)}
        bases = {base_of(value) for value in loaded}
        self._held[place] = bases, instruction
        self._bases.update(map(id, bases))

    def note(self, done: Sequence[Effect]) -> None:
        """Forget the array's contents after an instruction without a `stationary` operand.

        Such an instruction of the Tensor Engine, e.g. a transpose, replaces the contents.
        """
        if all(effect.name != "stationary" for effect in done):
            self.forget()

    def note_writes(self, done: Sequence[Effect]) -> None:
        """Forget stationary tiles that an instruction overwrites in memory."""
        if not self._bases:
            return
        for _, value, role, _ in done:
            if role is not Role.read and id(base := base_of(value)) in self._bases:
                self._held = {p: h for p, h in self._held.items() if base not in h[0]}


def _loads_the_same(one: Operation, two: NisaOp) -> bool:
    """Whether two matmuls load equal stationary tiles, at known addresses, in the same way."""
    if type(one) is not type(two) or not is_instruction(one):
        return False
    if any(one.properties.get(name) != two.properties.get(name) for name in _LOADING):
        return False
    loaded = next(stage.operands for stage in two.SPEC.stages if stage.mnemonic == LOAD_STATIONARY)
    for name in loaded:
        value = one.operand_named(name)
        if value is not two.operand_named(name) or (value and index_of(value) is not None):
            return False
    return True


_LOADING = ("perf_mode", "is_transpose", "is_stationary_onezero")
"""Properties of a matmul that may affect the load of the stationary tile."""
ArrayPlace = tuple[tuple[int, ...], tuple[int, ...]]


def _place(op: NisaOp) -> ArrayPlace:
    """Return the position and size (rows, columns) of a matmul in the array; () for all of it."""
    return tuple(op.value_of("tile_position") or ()), tuple(op.value_of("tile_size") or ())


def _meet(one: ArrayPlace, two: ArrayPlace) -> bool:
    (position, size), (other, extent) = one, two
    if not size or not extent:
        return True
    return all(
        a < b + m and b < a + n for a, b, n, m in zip(position, other, size, extent, strict=True)
    )
