"""`remove-unused`: instructions whose results nothing reads, and tiles that nothing touches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from nkijit.dialects.declare.accessors import value_at
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.effects import effects, registers_written
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import ViewOp, base_of, views_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.compile.accesses import Accesses
from nkijit.passes.compile.analyses import Analyses
from nkijit.passes.compile.order import Kept


def remove_unused(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Remove what has no effect on any result; returns how many instructions that were.

    An instruction stays that writes anything but on-chip tiles, that leaves something in its engine
    for others, and that has a name from the author. `analyses`: what is known of the kernel.
    """
    analyses = analyses or Analyses(kernel)
    removed = _remove_instructions(analyses) if _may_be_unread(analyses.accesses) else 0
    if _remove_declarations(analyses.of_kind) or removed:
        analyses.changed()
    return removed


def _may_be_unread(accesses: Accesses) -> bool:
    """Whether there is a tile that only those touch who write it."""
    return any(
        touched[-1].writes and all(access.writes for access in touched) and _is_private(base)
        for base, touched in accesses.items()
    )


def _remove_instructions(analyses: Analyses) -> int:
    kernel, kept = analyses.kernel, analyses.kept
    readers: dict[SSAValue, set[Operation]] = {}
    writers: dict[SSAValue, list[NisaOp]] = {}
    for op in kernel.operations:
        bases = _bases(op)
        if not bases:
            continue
        written = [base for base, (_, writes) in bases.items() if writes]
        for base, (reads, _) in bases.items():
            # What a tile becomes of itself is no use of it.
            if reads and not _only_itself(op, written, base):
                readers.setdefault(base, set()).add(op)
            if is_instruction(op):
                writers.setdefault(base, []).append(op)
    unread = [base for base in writers if _is_private(base) and not readers.get(base)]
    removed = 0
    while unread:
        for op in writers[unread.pop()]:
            if op.parent is None or not _is_removable(op, kept, readers):
                continue
            for base in _bases(op):
                users = readers.get(base, set())
                users.discard(op)
                if not users and base in writers and _is_private(base):
                    unread.append(base)
            op.detach()
            op.erase()
            removed += 1
    return removed


def _bases(op: Operation) -> dict[SSAValue, tuple[bool, bool]]:
    """The tensors that an operation touches; whether it reads them, and whether it writes them."""
    found: dict[SSAValue, tuple[bool, bool]] = {}
    for _, value, role, _ in effects(op):
        base = base_of(value)
        reads, writes = found.get(base, (False, False))
        found[base] = reads or role is not Role.write, writes or role is not Role.read
    return found


def _only_itself(op: Operation, written: Sequence[SSAValue], base: SSAValue) -> bool:
    """Whether an instruction writes a tensor that it reads, and nothing else."""
    return is_instruction(op) and written == [base]


def _is_private(base: SSAValue) -> bool:
    return isinstance(base.owner, AllocOp) and info_of(base).region.on_chip


def _is_removable(op: NisaOp, kept: Kept, readers: dict[SSAValue, set[Operation]]) -> bool:
    if isinstance(op, WAITING) or op.instruction_name is not None:
        return False
    if any(True for _ in registers_written(op)) or any(True for _ in kept.of(op)):
        return False
    written = {base_of(e.value) for e in effects(op) if e.role is not Role.read}
    # What writes nothing is there for something else.
    return bool(written) and all(_is_private(b) and not readers.get(b) for b in written)


def _remove_declarations(of_kind: Mapping[type[Operation], list[Operation]]) -> bool:
    """Remove tiles and views that nothing uses; whether there were any."""
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
