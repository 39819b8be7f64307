"""Public enumerations of hardware: engines, generations, memories, commands."""

from __future__ import annotations

from enum import Enum, EnumMeta, IntEnum
from typing import Any

from nkijit.dialects.other_names import member_meant
from nkijit.dialects.spelling import did_you_mean


class Members(EnumMeta):
    """Metaclass of the public enumerations: unknown members raise an error with their name."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        members = cls.__members__
        if name in members:  # Python 3.11 looks members up here
            return members[name]
        meant = member_meant(name, members)
        hint = f"; did you mean '{meant}'?" if meant else did_you_mean(name, members)
        known = ", ".join(members)
        raise AttributeError(f"{cls.__name__} has no member {name!r}; it has {known}{hint}")


class engine(Enum, metaclass=Members):
    """Engines of a NeuronCore (`nki.isa.engine`)."""

    unknown = 0
    tensor = 1
    scalar = 2
    gpsimd = 3
    dma = 4
    vector = 5
    sync = 6


class reduce_cmd(Enum, metaclass=Members):
    """Commands for the accumulator registers of an engine (`nki.isa.reduce_cmd`)."""

    idle = 0
    reset = 1
    reduce = 2
    reset_reduce = 3
    load_reduce = 4

    @property
    def reduces(self) -> bool:
        """True when the command reduces an instruction's results into the accumulator registers."""
        return self in (reduce_cmd.reduce, reduce_cmd.reset_reduce, reduce_cmd.load_reduce)


class dge_mode(Enum, metaclass=Members):
    """Ways to generate DMA descriptors (`nki.isa.dge_mode`)."""

    unknown = 0
    swdge = 1
    hwdge = 2
    none = 3


class oob_mode(Enum, metaclass=Members):
    """Handling of dynamic accesses that are out of bounds (`nki.isa.oob_mode`)."""

    error = 0
    skip = 1


class dma_engine(Enum, metaclass=Members):
    """DMA engines that can run a transfer (`nki.isa.dma_engine`)."""

    dma = 1
    gpsimd_dma = 2


class matmul_perf_mode(Enum, metaclass=Members):
    """Performance modes of the Tensor Engine (`nki.isa.matmul_perf_mode`)."""

    none = "none"
    double_row = "double_row"


class nc_version(IntEnum, metaclass=Members):
    """NeuronCore generations (`nki.isa.nc_version`); ordered, so kernels may compare them."""

    gen2 = 2
    gen3 = 3
    gen4 = 4


class MemoryRegion(Enum, metaclass=Members):
    """Memories of tensors (`nki.language.MemoryRegion`)."""

    sbuf = "sbuf"
    psum = "psum"
    private_hbm = "private_hbm"
    shared_hbm = "shared_hbm"

    on_chip: bool
    """True for SBUF and PSUM, whose dim 0 is the partition dimension."""

    def __init__(self, value: str):
        self.on_chip = value in ("sbuf", "psum")

    # Called for every view, and members are unique, so their identity is enough.
    __hash__ = object.__hash__
