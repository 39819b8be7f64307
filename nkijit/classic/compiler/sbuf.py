"""Addresses of tiles in SBUF, for the `buffer=` of a tensor (`nki.compiler.sbuf`).

Source: NKI API reference 2.26, nki.compiler.sbuf; NKI direct allocation guide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from nkijit.classic.tensors.memory import DirectAllocation, Modulo
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.tracing.dtype_names import missing


def auto_alloc() -> MemoryRegion:
    """Return the `buffer=` value of tensors that are placed automatically: `nl.sbuf`."""
    return MemoryRegion.sbuf


def alloc(func: Callable[[tuple[int, ...], int, int], Any]) -> DirectAllocation:
    """Return the `buffer=` value of a tensor whose blocks `func` places.

    Args:
        func: called for every block with its index (a tuple, empty without block dimensions), the
            partitions of the tile, and its bytes per partition. Returns (start partition, byte).

    Raises TypeError when `func` cannot be called.
    """
    return DirectAllocation.of(MemoryRegion.sbuf, func)


def mod_alloc(
    *,
    base_addr: int,
    base_partition: int = 0,
    num_par_tiles: Sequence[int] = (),
    num_free_tiles: Sequence[int] = (),
) -> DirectAllocation:
    """Return the `buffer=` value of a tensor whose blocks rotate through a number of addresses.

    Args:
        base_addr: the first byte of the first tile, in each partition.
        base_partition: the first partition of the first tile.
        num_par_tiles: the number of tiles along the partitions, per block dimension; () for one.
        num_free_tiles: the number of tiles along the bytes, per block dimension; () for one.

    Raises ValueError for a count below 1 or a negative base.
    Source: NKI API reference 2.26, nki.compiler.sbuf.mod_alloc.
    """
    partition = Modulo("num_par_tiles", num_par_tiles, base_partition)
    byte = Modulo("num_free_tiles", num_free_tiles, base_addr)
    return alloc(lambda index, partitions, size: (partition(index, partitions), byte(index, size)))


def __getattr__(name: str) -> NoReturn:
    raise missing("neuronxcc.nki.compiler.sbuf", name, globals())


__all__ = ["alloc", "auto_alloc", "mod_alloc"]
