"""The words of the public API that name hardware: engines, generations, memories, commands."""

from __future__ import annotations

from enum import Enum, EnumMeta, IntEnum
from typing import Any

from nkijit.dialects.spelling import did_you_mean


class Members(EnumMeta):
    """The class of public enumerations: a member that they do not have is answered by name."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        members = cls.__members__
        if name in members:  # where Python 3.11 looks members up
            return members[name]
        raise AttributeError(
            f"{cls.__name__} has no member {name!r}; it has {', '.join(members)}"
            f"{did_you_mean(name, members)}"
        )


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
    """What an instruction does with its engine's accumulators (`nki.isa.reduce_cmd`)."""

    idle = 0
    reset = 1
    reduce = 2
    reset_reduce = 3
    load_reduce = 4

    @property
    def reduces(self) -> bool:
        """True when the instruction's results are reduced into the accumulators."""
        return self in (reduce_cmd.reduce, reduce_cmd.reset_reduce, reduce_cmd.load_reduce)


class dge_mode(Enum, metaclass=Members):
    """What builds DMA descriptors (`nki.isa.dge_mode`)."""

    unknown = 0
    swdge = 1
    hwdge = 2
    none = 3


class oob_mode(Enum, metaclass=Members):
    """What an out-of-bounds dynamic access does (`nki.isa.oob_mode`)."""

    error = 0
    skip = 1


class dma_engine(Enum, metaclass=Members):
    """Which DMA engine makes a transfer (`nki.isa.dma_engine`)."""

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
    """Where a tensor lives (`nki.language.MemoryRegion`)."""

    sbuf = "sbuf"
    psum = "psum"
    private_hbm = "private_hbm"
    shared_hbm = "shared_hbm"

    on_chip: bool
    """True for SBUF and PSUM, whose dim 0 is the partition dimension."""

    def __init__(self, value: str):
        self.on_chip = value in ("sbuf", "psum")

    # Asked for with every view; members are what they are by identity.
    __hash__ = object.__hash__
