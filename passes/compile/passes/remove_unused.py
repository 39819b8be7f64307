"""`remove-unused`: removes instructions with unread results, and unused tiles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from nkijit.dialects.declare.accessors import value_at
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.effects import effects, registers_written
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import ViewOp, base_of, views_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.compile.analyses.accesses import Access
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.ordering import Kept


def remove_unused(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Remove instructions without effect on the kernel's results; returns their number.

    Instructions stay if they write anything but on-chip tiles, leave engine state for other
    instructions, or have a name.
    """
    analyses = analyses or Analyses(kernel)
    removed = _remove_instructions(analyses)
    if _remove_declarations(analyses.of_kind) or removed:
        analyses.changed()
    return removed


def _remove_instructions(analyses: Analyses) -> int:
    accesses, engine_state, readers = analyses.accesses, analyses.engine_state, _Readers(analyses)
    # An access that does not write reads. This cheap test rules out most tiles.
    unread = [
        base
        for base, touched in accesses.items()
        if all(access.writes for access in touched) and _is_private(base) and not readers.of(base)
    ]
    removed = 0
    while unread:
        for access in accesses[unread.pop()]:
            op = access.op
            if op.parent is None or not _is_removable(op, engine_state, readers):
                continue
            for base in {base_of(effect.value) for effect in effects(op)}:
                users = readers.of(base)
                users.discard(op)
                if not users and _is_private(base):
                    unread.append(base)
            op.detach()
            op.erase()
            removed += 1
    return removed


class _Readers:
    """The operations that read each tensor, computed on first use."""

    def __init__(self, analyses: Analyses):
        self._accesses, self._engine_state = analyses.accesses, analyses.engine_state
        self._known: dict[SSAValue, set[Operation]] = {}

    def of(self, base: SSAValue) -> set[Operation]:
        """Return the readers of a tensor that are not removed; the caller may change the set."""
        found = self._known.get(base)
        if found is None:
            found = self._known[base] = {
                access.op
                for access in self._accesses[base]
                if access.op.parent is not None and self._reads(access, base)
            }
        return found

    def _reads(self, access: Access, base: SSAValue) -> bool:
        """Whether an access uses the contents of a tensor for anything but an update of the tensor.

        Also True if the operation writes other tensors or has another effect.
        """
        if all(effect.role is Role.write for effect in access.effects):
            return False
        return _written(access.op) != {base} or not _has_no_other_effect(
            access.op, self._engine_state
        )


def _written(op: Operation) -> set[SSAValue]:
    return {base_of(effect.value) for effect in effects(op) if effect.role is not Role.read}


def _is_private(base: SSAValue) -> bool:
    return isinstance(base.owner, AllocOp) and info_of(base).region.on_chip


def _is_removable(op: Operation, engine_state: Kept, readers: _Readers) -> bool:
    written = _written(op)
    # An operation that writes no tensor has another purpose.
    if not written or not _has_no_other_effect(op, engine_state):
        return False
    return all(_is_private(base) and not readers.of(base) for base in written)


def _has_no_other_effect(op: Operation, engine_state: Kept) -> bool:
    """Whether an operation has no effect besides writing tensors."""
    if not is_instruction(op) or type(op) in WAITING or op.instruction_name is not None:
        return False
    return not any(True for _ in registers_written(op)) and not any(
        True for _ in engine_state.of(op)
    )


def _remove_declarations(of_kind: Mapping[type[Operation], list[Operation]]) -> bool:
    """Remove unused on-chip tiles and views; returns whether there were any."""
    views = of_kind.get(ViewOp, ())
    idle = any(_is_unused(view) and _is_private(base_of(view.results[0])) for view in views)
    removed = False
    for op in cast(list[AllocOp], of_kind.get(AllocOp, ())):
        if not (idle or _is_unused(op)) or not info_of(op.result).region.on_chip:
            continue
        if idle:
            _erase(view.owner for view in views_of(op.result) if view.first_use is None)
        if _is_unused(op):
            _erase([op])
            removed = True
    return removed or idle


def _is_unused(declaration: Operation) -> bool:
    return value_at(declaration.results, 0).first_use is None


def _erase(ops: Iterable[Operation | object]) -> None:
    for op in list(ops):
        assert isinstance(op, (AllocOp, ViewOp))
        Rewriter.erase_op(op)
