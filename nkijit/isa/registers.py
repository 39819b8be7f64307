"""Registers of the engines' sequencers."""

from __future__ import annotations

from typing import Any

from nkijit.dialects.nisa.registers import RegisterLoadOp, RegisterMoveOp, RegisterStoreOp
from nkijit.instructions import NkiInstruction, emit
from nkijit.registers import VirtualRegister, allocate_register
from nkijit.tensor import NkiTensor


def register_alloc(x: int | None = None) -> VirtualRegister:
    """Allocate a 32-bit register.

    Args:
        x: what it holds at first; None leaves it undefined until something writes it.

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

    Source: NKI API reference, nki.isa.register_move.
    """
    return emit(RegisterMoveOp, locals())


def register_load(dst: VirtualRegister, src: NkiTensor) -> NkiInstruction:
    """Load one element of at most 32 bits into a register.

    Args:
        dst: the register.
        src: tensor of one element in SBUF or HBM. Integers keep their value, the bits of any
            other type are loaded as they are.

    Source: NKI API reference, nki.isa.register_load.
    """
    return emit(RegisterLoadOp, locals())


def register_store(dst: NkiTensor, src: Any) -> NkiInstruction:
    """Store a register in a tensor of one element.

    Args:
        dst: tensor of one element in SBUF or HBM; an integer type shorter than 32 bits keeps the
            low bits, any other type the bits as they are.
        src: the register.

    Source: NKI API reference, nki.isa.register_store.
    """
    return emit(RegisterStoreOp, locals())
