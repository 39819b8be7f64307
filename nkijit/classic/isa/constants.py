"""The enumerations that instructions take (`neuronxcc.nki.isa.constants`)."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Any, NoReturn

from nkijit.dialects.hardware import words
from nkijit.dialects.hardware.words import Members, engine, nc_version, oob_mode, reduce_cmd
from nkijit.tracing.dtype_names import missing


class dge_mode(IntEnum, metaclass=Members):
    """The hardware that builds the descriptors of a DMA.

    The numeric values differ from the values of `nki.isa.dge_mode` in the current API.
    """

    none = 0
    swdge = 1
    hwdge = 2
    unknown = 3


tensor_engine = engine.tensor
vector_engine = engine.vector
scalar_engine = engine.scalar
gpsimd_engine = engine.gpsimd
dma_engine = engine.dma
unknown_engine = engine.unknown

_CLASSIC: dict[str, type[Enum]] = {
    "engine": engine,
    "reduce_cmd": reduce_cmd,
    "oob_mode": oob_mode,
    "dge_mode": dge_mode,
}


def as_member(argument: str, value: Any) -> Any:
    """Return the current API's enumeration member for a value of the argument named `argument`.

    Members and their values are accepted; anything else is returned unchanged, so that the
    instruction refuses it. The first versions of the classic API have 0 as defaults.
    """
    enum = _CLASSIC[argument]
    if isinstance(value, bool):
        return value
    try:
        member = value if isinstance(value, Enum) else enum(value)
        return getattr(words, argument)[member.name]
    except (KeyError, ValueError):
        return value


def is_enumeration(argument: str) -> bool:
    """Return True for an argument that takes a member of an enumeration."""
    return argument in _CLASSIC


def __getattr__(name: str) -> NoReturn:
    raise missing("neuronxcc.nki.isa.constants", name, globals())


__all__ = [
    "dge_mode",
    "dma_engine",
    "engine",
    "gpsimd_engine",
    "nc_version",
    "oob_mode",
    "reduce_cmd",
    "scalar_engine",
    "tensor_engine",
    "unknown_engine",
    "vector_engine",
]
