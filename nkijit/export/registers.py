"""Registers in exported source: scalars (`NkiScalar`) and registers without Python operators.

An NkiScalar is a register that a single load or operator writes, before any read. The induction
variable of `nl.fori_loop` is a scalar if both bounds are numbers or scalars.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.arith import ConstantOp as NumberConstantOp
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nisa.registers import RegisterComputeOp, RegisterLoadOp, RegisterMoveOp
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.loops import bounds_of, compared, storage_of
from nkijit.dialects.nki.registers import ReadRegisterOp, RegisterOp
from nkijit.dialects.nki.repeat import ElementOp, RepeatOp
from nkijit.dialects.nki.repeat import YieldOp as RepeatYieldOp
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import info_of
from nkijit.export.errors import ExportError
from nkijit.tracing.scalars import NkiScalar

_SILENT = (*DECLARATIONS, RegisterOp, NumberConstantOp, ReadRegisterOp, ElementOp, RepeatYieldOp)
"""Operations that write no register."""


# ---------------------------------------------------------------- scalars


def scalars_of(computing: Iterable[SSAValue]) -> dict[SSAValue, NisaOp | None]:
    """Return the values that must be scalars because Python operators use them.

    The result maps each register to the instruction that creates it, and other values to None.

    Raises:
        ExportError: a register is written in a way that scalars do not support.
    """
    found: dict[SSAValue, NisaOp | None] = {}
    pending = list(computing)
    while pending:
        value = pending.pop()
        if value not in found:
            found[value] = _maker_of(value)
            pending += _scalars_with(value)
    return found


def _scalars_with(value: SSAValue) -> list[SSAValue]:
    """Return the values that must be scalars if `value` is a scalar."""
    owner = value.owner
    if isinstance(owner, ElementOp):
        return list(owner.lists)
    if isinstance(owner, RepeatOp):
        return [owner.yielded[owner.results.index(value)]]
    return registers_of_bounds(value)


def is_scalar(value: SSAValue, scalars: set[SSAValue]) -> bool:
    """Whether a register, or an induction variable, is a scalar in Python."""
    if isinstance(value.owner, Operation):
        return value in scalars
    return all(is_scalar(bound, scalars) for bound in registers_of_bounds(value))


def registers_of_bounds(value: SSAValue) -> list[SSAValue]:
    """Return the registers and induction variables that bound an induction variable's loop."""
    loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
    bounds = bounds_of(loop)[:2] if isinstance(loop, ForOp) else ()
    return [bound for bound in map(storage_of, bounds) if is_register(bound)]


def is_register(value: SSAValue) -> bool:
    """Whether a value is a register or an induction variable."""
    return isinstance(value.type, RegisterType) or isinstance(value.owner, Block)


def _maker_of(value: SSAValue) -> NisaOp | None:
    """Return the load or operator that creates a scalar; None for an element of a list."""
    owner = value.owner
    if not isinstance(owner, Operation) or isinstance(owner, RepeatOp):
        return None
    writers = _writers_of(value)
    if isinstance(owner, ElementOp) and not writers:
        return None
    creator = writers[0] if len(writers) == 1 and isinstance(owner, RegisterOp) else None
    if not isinstance(creator, (RegisterLoadOp, RegisterComputeOp)):
        raise ExportError.at(
            writers[0] if writers else owner,
            "Python computes with scalars, which are loaded or computed once, not written",
        )
    if isinstance(creator, RegisterLoadOp):
        info = info_of(creator.required("src"))
        if info.dtype.name != NkiScalar.dtype:
            raise ExportError.at(
                creator, f"a scalar is loaded from int32, not from {info.dtype.name}"
            )
    elif not any(map(is_register, (creator.required("data1"), creator.required("data2")))):
        raise ExportError.at(creator, "Python computes with numbers while a kernel is traced")
    return creator


def _writers_of(register: SSAValue) -> list[NisaOp]:
    users = (use.operation for use in register.uses)
    found = (op for op in users if isinstance(op, NisaOp))
    return [
        op
        for op in found
        if any(f.role is not Role.read and v is register for f, v in op.given_operands())
    ]


# ---------------------------------------------------------------- scopes


@dataclass(frozen=True, slots=True)
class Escape:
    """A register that is assigned in a loop's body and used outside of the loop.

    The body becomes a function in Python, so the register's name must be declared before `outer`.
    """

    register: SSAValue
    outer: Operation
    """The outermost loop around the assignment that is not around all uses of the register."""
    inner: Operation
    """The innermost loop around the assignment."""


def escape_of(register: SSAValue, creator: NisaOp) -> Escape | None:
    """Return the `Escape` of a register from the loops around `creator`; None if it has none."""
    loops = [op for op in _around(creator) if isinstance(op, (ForOp, WhileOp))]
    users = [use.operation for use in register.uses]
    left = [loop for loop in loops if not all(loop.is_ancestor(user) for user in users)]
    return Escape(register, left[-1], loops[0]) if left else None


def _around(op: Operation) -> Iterator[Operation]:
    """Yield the operations around an operation, innermost first."""
    around = op.parent_op()
    while around is not None:
        yield around
        around = around.parent_op()


# ---------------------------------------------------------------- moves and reads


def initial_move(op: RegisterOp) -> RegisterMoveOp | None:
    """Return the move of a constant directly after a register's allocation; None without one."""
    move = op.next_op
    if not isinstance(move, RegisterMoveOp) or move.required("dst") is not op.result:
        return None
    is_number = isinstance(move.required("src").owner, NumberConstantOp)
    return move if is_number and is_plain(move) else None


def is_plain(op: NisaOp) -> bool:
    """Whether an instruction has no name and no ordering edges (`depends_on`)."""
    return not op.label and not op.runs_after


def is_read_at_once(op: ReadRegisterOp) -> bool:
    """Whether a loop that uses a register's value can read the (unchanged) register directly."""
    users = {use.operation for use in op.result.uses}
    if any(isinstance(user, CmpiOp) for user in users):
        return True
    if len(users) != 1 or not isinstance(next(iter(users)), ForOp):
        return not users
    block = op.parent
    assert block is not None
    changes = {block.find_ancestor_op_in_block(writer) for writer in _writers_of(op.source)}
    following = op.next_op
    while following is not None and following not in users:
        if following in changes:
            return False
        following = following.next_op
    return following is not None


# ---------------------------------------------------------------- loops


def loop_start(loop: WhileOp) -> RegisterMoveOp | None:
    """Return the move that `nl.while_loop` emits before its loop; None if there is none.

    The move writes the register that the loop tests. Only the move and the loop use this register.
    """
    numbers = compared(loop)
    read = None if numbers is None else numbers[0].owner
    if not isinstance(read, ReadRegisterOp):
        return None
    register = read.source
    op = loop.prev_op
    while op is not None and _is_silent(op):
        op = op.prev_op
    if not isinstance(op, RegisterMoveOp) or op.required("dst") is not register:
        return None
    is_number = isinstance(op.required("src").owner, NumberConstantOp) or not is_plain(op)
    users = [use.operation for use in register.uses if use.operation is not op]
    return None if is_number or not all(loop.is_ancestor(user) for user in users) else op


def _is_silent(op: Operation) -> bool:
    if isinstance(op, RepeatOp):
        return all(map(_is_silent, op.body.block.ops))
    return isinstance(op, _SILENT)
