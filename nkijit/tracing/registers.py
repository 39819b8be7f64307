"""Registers during tracing; they have values only when the kernel runs."""

from __future__ import annotations

from typing import Any, NoReturn

from xdsl.dialects import arith
from xdsl.dialects.scf import ConditionOp, ForOp, WhileOp, YieldOp
from xdsl.ir import Block, Region, SSAValue

from nkijit.dialects.declare.operation import scalar_constant
from nkijit.dialects.declare.properties import is_int32
from nkijit.dialects.nki.loops import bounds_of
from nkijit.dialects.python_values import as_index
from nkijit.dialects.rule_texts.access import LOOP_CONDITION, LOOP_LEFT
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.tracing.locations import author_frame, has_break, while_test
from nkijit.tracing.objects import NKIObject
from nkijit.tracing.tracer import PythonWhile, Tracer, tracer_for


def refuse_value(use: str) -> NoReturn:
    """Raise TypeError, because the value of a register is not known while tracing."""
    raise TypeError(
        f"the value of a register is not known while a kernel is traced, so Python cannot "
        f"{use}; use nl.fori_loop, nl.while_loop, `while register:` alone, or instructions"
    )


class VirtualRegister(NKIObject):
    """A 32-bit register that instructions read and write (`nki.isa.VirtualRegister`).

    Comes from `nisa.register_alloc`, or is the induction variable of a loop on the device. An
    induction variable is frozen: no instruction may write it. The value of a register is known only
    when the kernel runs, so Python cannot compute with it or branch on it. `while reg:` is a loop
    on the device.

    Source: NKI API reference, nki.isa.VirtualRegister.
    """

    __slots__ = ("frozen", "ssa", "tracer")

    is_value = False
    """Whether this is a scalar that was read from a register. No instruction may write it."""

    def __init__(self, tracer: Tracer, ssa: SSAValue, *, frozen: bool = False):
        self.tracer = tracer
        self.ssa = ssa
        self.frozen = frozen

    def __bool__(self) -> bool:
        """Return True, then False, as the test of `while reg:`; raise TypeError anywhere else."""
        again = while_register(self)
        if again is None:
            refuse_value("branch on it with Python's if, or negate or combine it")
        return again

    def __index__(self) -> NoReturn:
        refuse_value("use it as an integer")

    def __int__(self) -> NoReturn:
        refuse_value("convert it")

    def __float__(self) -> NoReturn:
        refuse_value("convert it")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, float)):
            refuse_value("compare it")
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"VirtualRegister({self.ssa.name_hint or '?'})"


def allocate_register(call: str) -> VirtualRegister:
    """Emit the register that `call` returns, named after the variable that it is assigned to."""
    tracer = tracer_for(call)
    return VirtualRegister(tracer, tracer.allocate_register())


def register_value(register: VirtualRegister) -> SSAValue:
    """Return a register's SSA value; an induction variable is valid only inside its loop."""
    owner = register.ssa.owner
    if register.frozen and not (isinstance(owner, Block) and register.tracer.is_inside(owner)):
        name = register.ssa.name_hint
        register.tracer.fail(
            ARGUMENT,
            f"register '{name}'" if name else "register",
            "the induction variable is used outside the body of its loop",
            _help_after(register),
        )
    return register.ssa


def _help_after(register: VirtualRegister) -> str:
    """Return the help for a use of an induction variable outside the body of its loop."""
    help = "move the line into the body of the loop"
    bounds = constant_bounds(register)
    numbers = range(0) if bounds is None or bounds[2] == 0 else range(*bounds)
    if not numbers:
        return help
    return f"{help}; the number of the last iteration is {numbers[-1]}, which is known: write that"


def constant_bounds(register: VirtualRegister) -> tuple[int, int, int] | None:
    """Return start, stop and step of the loop that counts in a register; None if not known."""
    block = register.ssa.owner
    loop = block.parent_op() if isinstance(block, Block) else None
    if not isinstance(loop, ForOp):
        return None
    start, stop, step = [scalar_constant(bound) for bound in bounds_of(loop)]
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return start, stop, step
    return None


def read_register(register: VirtualRegister) -> SSAValue:
    """Emit a read of a register at the current point of the trace, and return the value."""
    if register.frozen:
        return register_value(register)
    return register.tracer.read_register(register.ssa)


def loop_bound(tracer: Tracer, call: str, name: str, value: Any) -> SSAValue:
    """Return the bound of a loop in the IR: an int, or the current value of a register."""
    if isinstance(value, VirtualRegister):
        if value.tracer is not tracer:
            message = f"'{name}': the register belongs to another kernel"
            tracer.fail(ARGUMENT, call, message, "allocate it in this kernel")
        return read_register(value)
    number = as_index(value)
    if number is None or not is_int32(number):
        tracer.wrong_argument(call, name, "an int32 or a register", value)
    return tracer.constant(number)


# ---------------------------------------------------------------- while


def open_while(register: VirtualRegister) -> WhileOp:
    """Open a loop on the device that runs while `register` is not zero."""
    tracer = register.tracer
    tracer.refuse_loop("while")
    condition, body = Block(), Block()
    op = WhileOp((), (), Region(condition), Region(body))
    zero = tracer.constant(0)
    location = tracer.location()
    tracer.open(op, condition, location)
    test = arith.CmpiOp(read_register(register), zero, "ne")
    tracer.append(test, location)
    tracer.append(ConditionOp(test.result), location)
    tracer.go_on_in(body)
    return op


def while_register(register: VirtualRegister) -> bool | None:
    """Return the truth value of a register as the test of Python's `while`; None anywhere else.

    Python evaluates the test twice: True opens the loop and its body is traced; False closes it.
    """
    tracer, frame = register.tracer, author_frame()
    loop = None if frame is None or not tracer.is_open else while_test(frame)
    if frame is None or loop is None:
        return None
    for depth, opened in enumerate(tracer.whiles):
        if opened.frame is frame and opened.loop is loop:
            del tracer.whiles[depth:]  # also inner loops that were left by return
            _close_while(opened, register)
            return False
    if has_break(loop):
        tracer.record(LOOP_LEFT, "while", "there is a break in the body of the loop")
    tracer.whiles.append(PythonWhile(frame, loop, register.ssa, open_while(register)))
    return True


def _close_while(opened: PythonWhile, register: VirtualRegister) -> None:
    tracer = register.tracer
    if register.ssa is not opened.register:
        message = "the test of the loop has become another register"
        tracer.record(LOOP_CONDITION, "while", message)
    tracer.close(opened.op, YieldOp())
