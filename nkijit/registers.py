"""Registers as a kernel sees them while it is traced: a place for a value, no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from xdsl.ir import SSAValue

from nkijit.dialects.declare.properties import is_int32
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.objects import NKIObject

if TYPE_CHECKING:
    from nkijit.tracer import Tracer


class VirtualRegister(NKIObject):
    """A 32-bit register that instructions read and write (`nki.isa.VirtualRegister`).

    Comes from `nisa.register_alloc`, or is the induction variable of a loop on the device, which
    is frozen: nothing may write it. What it holds is known when the kernel runs, so Python cannot
    compute with it or branch on it. `while reg:` is a loop on the device.

    Source: NKI API reference, nki.isa.VirtualRegister.
    """

    __slots__ = ("frozen", "ssa", "tracer")

    def __init__(self, tracer: Tracer, ssa: SSAValue, *, frozen: bool = False):
        self.tracer = tracer
        self.ssa = ssa
        self.frozen = frozen

    def __bool__(self) -> bool:
        """True for the one trace of the body of `while reg:`; anywhere else TypeError."""
        again = self.tracer.while_register(self)
        if again is None:
            self._unknown("branch on it with Python's if, or negate or combine it")
        return again

    def _unknown(self, what: str) -> NoReturn:
        raise TypeError(
            f"the value of a register is not known while a kernel is traced, so Python cannot "
            f"{what}; use nl.fori_loop, nl.while_loop, `while register:` alone, or instructions"
        )

    def __index__(self) -> NoReturn:
        self._unknown("use it as an integer")

    def __int__(self) -> NoReturn:
        self._unknown("convert it")

    def __float__(self) -> NoReturn:
        self._unknown("convert it")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, float)):
            self._unknown("compare it")
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"VirtualRegister({self.ssa.name_hint or '?'})"


def loop_bound(tracer: Tracer, call: str, name: str, value: Any) -> SSAValue:
    """A bound of a loop in the IR: an int, or the value that a register holds now."""
    if isinstance(value, VirtualRegister):
        if value.tracer is not tracer:
            tracer.fail(ARGUMENT, call, f"'{name}': the register belongs to another kernel")
        return tracer.read_register(value)
    is_integer = hasattr(value, "__index__") and not isinstance(value, bool)
    number = value.__index__() if is_integer else None
    if number is None or not is_int32(number):
        tracer.fail(ARGUMENT, call, f"'{name}': expected an int32 or a register, got {value!r}")
    return tracer.constant(number)
