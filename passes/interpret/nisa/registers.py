"""What register instructions do."""

from __future__ import annotations

from typing import Any

import numpy as np

from nkijit.dialects.nisa.registers import RegisterLoadOp, RegisterMoveOp, RegisterStoreOp
from nkijit.passes.interpret.binding import Binding, Env, Step, semantics

_BITS = 32


@semantics(RegisterMoveOp)
def register_move(b: Binding) -> Step:
    into, read = b.register_slot("dst"), b.register("src")

    def step(env: Env) -> None:
        env[into] = read(env)

    return step


@semantics(RegisterLoadOp)
def register_load(b: Binding) -> Step:
    into, source = b.register_slot("dst"), b.read("src", raw=True)
    convert = _as_integer if b.dtype("src").is_integer else _bits

    def step(env: Env) -> None:
        env[into] = _signed(convert(source.read(env)))

    return step


@semantics(RegisterStoreOp)
def register_store(b: Binding) -> Step:
    read, target = b.register("src"), b.read("dst", raw=True).slot
    size = b.storage("dst").itemsize

    def step(env: Env) -> None:
        low = (read(env) % (1 << (8 * size))).to_bytes(size, "little")
        array = env[target]
        array[...] = np.frombuffer(low, array.dtype).reshape(array.shape)

    return step


def _as_integer(array: Any) -> int:
    return int(array.item())


def _bits(array: Any) -> int:
    return int.from_bytes(np.ascontiguousarray(array).tobytes(), "little")


def _signed(value: int) -> int:
    """The 32 bits of a value as a signed integer."""
    low = value % (1 << _BITS)
    return low - (1 << _BITS) if low >> (_BITS - 1) else low
