"""Semantics of register instructions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from nkijit.dialects.nisa.registers import (
    RegisterComputeOp,
    RegisterLoadOp,
    RegisterMoveOp,
    RegisterStoreOp,
)
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array, Env
from nkijit.passes.interpret.records.operands import reader
from nkijit.passes.interpret.records.records import (
    Calculated,
    Generated,
    Loaded,
    OfRegister,
    OnRegisters,
    Opaque,
)
from nkijit.passes.interpret.semantics.registry import semantics

_BITS = 32
_COMPUTE: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


@semantics(RegisterMoveOp)
def register_move(b: Binding) -> Opaque:
    into, read = b.register_slot("dst"), b.register("src")

    def step(env: Env) -> None:
        env[into] = read(env)

    return Opaque(step, OnRegisters.only)


@semantics(RegisterComputeOp)
def register_compute(b: Binding) -> Opaque:
    into, left, right = b.register_slot("dst"), b.register("data1"), b.register("data2")
    compute = _COMPUTE[b.value("op")]

    def step(env: Env) -> None:
        env[into] = _signed(compute(left(env), right(env)))

    return Opaque(step, Calculated(b.value("op"), (left, right), into))


@semantics(RegisterLoadOp)
def register_load(b: Binding) -> Opaque:
    into, source = b.register_slot("dst"), b.read("src", raw=True)
    stored = reader(source, b.slots)
    as_number = _as_integer if b.dtype("src").is_integer else _bits

    def convert(element: Array) -> int:
        return _signed(as_number(element))

    def step(env: Env) -> None:
        env[into] = convert(stored(env))

    return Opaque(step, Loaded(source, into, convert))


@semantics(RegisterStoreOp)
def register_store(b: Binding) -> Opaque:
    read, into, stored = b.register("src"), b.into(), b.storage("dst")
    target, size, shape = into.slot, stored.itemsize, into.reshape or into.shape

    def element(env: Env) -> Array:
        low = (read(env) % (1 << (8 * size))).to_bytes(size, "little")
        return np.frombuffer(low, stored).reshape(shape)

    def step(env: Env) -> None:
        env[target][...] = element(env)

    of = OfRegister(("stored", into.dtype.name), read, np.zeros((), np.int64))
    return Opaque(step, Generated(element, of, into))


def _as_integer(array: Any) -> int:
    return int(array.item())


def _bits(array: Any) -> int:
    return int.from_bytes(np.ascontiguousarray(array).tobytes(), "little")


def _signed(value: int) -> int:
    """Return the low 32 bits of a value as a signed integer."""
    low = value % (1 << _BITS)
    return low - (1 << _BITS) if low >> (_BITS - 1) else low
