"""Scalars: integers that are computed on the device, as a kernel sees them during tracing."""

from __future__ import annotations

from typing import Any, NoReturn

from nkijit.dialects.nisa.registers import RegisterComputeOp
from nkijit.tracing import operators
from nkijit.tracing.emit import emit
from nkijit.tracing.registers import VirtualRegister, allocate_register, refuse_value


class NkiScalar(VirtualRegister):
    """An int32 that is known when the kernel runs (`nki.isa.NkiScalar`).

    Comes from `nisa.scalar_load`, or is the value that `nl.fori_loop` passes to its body. `+`, `-`
    and `*` with ints and other scalars are instructions and give new scalars; they wrap around at
    32 bits. A scalar can be an offset of an access pattern, a bound of a loop, or an operand of
    `nisa.scalar_store`; no instruction writes it.

    Attributes:
        dtype: `nl.int32`; the reference also has scalars of 64 bits, which are not modelled.

    Source: NKI API reference 0.7, nki.isa.NkiScalar.
    """

    __slots__ = ()
    is_value = True
    dtype = "int32"

    def __add__(self, other: Any) -> NkiScalar:
        return _computed(operators.add, self, other)

    def __radd__(self, other: Any) -> NkiScalar:
        return _computed(operators.add, other, self)

    def __sub__(self, other: Any) -> NkiScalar:
        return _computed(operators.subtract, self, other)

    def __rsub__(self, other: Any) -> NkiScalar:
        return _computed(operators.subtract, other, self)

    def __mul__(self, other: Any) -> NkiScalar:
        return _computed(operators.multiply, self, other)

    def __rmul__(self, other: Any) -> NkiScalar:
        return _computed(operators.multiply, other, self)

    def __neg__(self) -> NkiScalar:
        return _computed(operators.subtract, 0, self)

    def __pos__(self) -> NkiScalar:
        return self

    def __bool__(self) -> NoReturn:
        refuse_value("branch on it")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, float, VirtualRegister)) and other is not self:
            refuse_value("compare it")
        return self is other

    def __lt__(self, other: object) -> NoReturn:
        refuse_value("compare it")

    __le__ = __gt__ = __ge__ = __lt__

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"NkiScalar({self.ssa.name_hint or '?'})"


def _computed(op: Any, left: Any, right: Any) -> Any:
    """Emit the operation and return its result as a scalar.

    Returns NotImplemented if an operand is neither an int nor a scalar.
    """
    for value in (left, right):
        if isinstance(value, bool) or not isinstance(value, (int, NkiScalar)):
            return NotImplemented
    register = allocate_register("nisa.NkiScalar")
    emit(RegisterComputeOp, {"dst": register, "data1": left, "data2": right, "op": op})
    return scalar_in(register)


def scalar_in(register: VirtualRegister) -> NkiScalar:
    """Return the value of a register as a scalar; nothing may write the register afterwards."""
    return NkiScalar(register.tracer, register.ssa, frozen=register.frozen)
