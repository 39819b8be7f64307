"""Registers of the engines' sequencers."""

from __future__ import annotations

from typing import Any

from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nisa.registers import RegisterLoadOp, RegisterMoveOp, RegisterStoreOp
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.registers import VirtualRegister, allocate_register
from nkijit.tracing.scalars import NkiScalar, scalar_in
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for

__all__ = [
    "register_alloc",
    "register_move",
    "register_load",
    "register_store",
    "scalar_load",
    "scalar_store",
]


def register_alloc(x: int | None = None) -> VirtualRegister:
    """Allocate a 32-bit register.

    Args:
        x: the initial value; None leaves it undefined until the first write.

    Example:

        register = nisa.register_alloc(0)

    Source: NKI API reference, nki.isa.register_alloc.
    """
    register = allocate_register("nisa.register_alloc")
    if x is not None:
        register_move(register, x)
    return register


def register_move(dst: VirtualRegister, src: int | VirtualRegister) -> NkiInstruction:
    """`dst = src`.

    Args:
        dst: the register; not the induction variable of a loop.
        src: an integer that fits 32 bits, with a sign, or another register.

    Example:

        nisa.register_move(register, 3)

    Source: NKI API reference, nki.isa.register_move.
    """
    return emit(RegisterMoveOp, locals())


def register_load(dst: VirtualRegister, src: NkiTensor) -> NkiInstruction:
    """Load one element of at most 32 bits into a register.

    Args:
        dst: the register.
        src: tensor of one element in SBUF or HBM. Integers keep their value, the bits of any
            other type are loaded as they are.

    Example:

        nisa.register_load(register, position)

    Source: NKI API reference, nki.isa.register_load.
    """
    return emit(RegisterLoadOp, locals())


def register_store(dst: NkiTensor, src: VirtualRegister) -> NkiInstruction:
    """Store a register in a tensor of one element.

    Args:
        dst: tensor of one element in SBUF or HBM; an integer type shorter than 32 bits keeps the
            low bits, any other type the bits as they are.
        src: the register.

    Example:

        nisa.register_store(position, register)

    Source: NKI API reference, nki.isa.register_store.
    """
    return emit(RegisterStoreOp, locals())


def scalar_load(src: NkiTensor) -> NkiScalar:
    """Load one element as a scalar, which Python's operators compute with.

    Args:
        src: int32 tensor of one element in SBUF or HBM; int64, which the reference takes too, is
            not modelled.

    Example:

        start = nisa.scalar_load(position)

    Source: NKI API reference 0.7, nki.isa.scalar_load.
    """
    call = "nisa.scalar_load"
    _check_element(call, "src", src)
    register = allocate_register(call)
    register_load(register, src)
    return scalar_in(register)


def scalar_store(dst: NkiTensor, value: NkiScalar) -> None:
    """Store a scalar in a tensor of one element.

    Args:
        dst: int32 tensor of one element in SBUF or HBM.
        value: the scalar; for an int there is `nisa.memset`.

    Example:

        nisa.scalar_store(position, nisa.scalar_load(position) + 1)

    Source: NKI API reference 0.7, nki.isa.scalar_store.
    """
    call = "nisa.scalar_store"
    given: Any = value
    if not isinstance(given, NkiScalar):
        tracer_for(call).wrong_argument(call, "value", "a scalar", given)
    _check_element(call, "dst", dst)
    register_store(dst, value)


def _check_element(call: str, name: str, tensor: Any) -> None:
    is_one = isinstance(tensor, NkiTensor) and tensor.size == 1
    if is_one and tensor.dtype == NkiScalar.dtype and tensor.buffer is not MemoryRegion.psum:
        return
    shown = one_line(tensor)
    if isinstance(tensor, NkiTensor):
        shown = f"{tensor.dtype} {tensor.shape} in {tensor.buffer.value}"
    tracer_for(call).fail(
        ARGUMENT, call, f"'{name}': expected one int32 element in SBUF or HBM, got {shown}"
    )
