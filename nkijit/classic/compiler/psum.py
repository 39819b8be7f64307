"""Addresses of tiles in PSUM, for the `buffer=` of a tensor (`nki.compiler.psum`).

Source: NKI API reference 2.26, nki.compiler.psum; NKI direct allocation guide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from nkijit.classic.tensors.memory import DirectAllocation, Modulo
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.tracing.dtype_names import missing


def auto_alloc() -> MemoryRegion:
    """Return the `buffer=` value of tensors that are placed automatically: `nl.psum`."""
    return MemoryRegion.psum


def alloc(func: Callable[[tuple[int, ...], int, int], Any]) -> DirectAllocation:
    """Return the `buffer=` value of a tensor whose blocks `func` places.

    Args:
        func: called for every block with its index (a tuple, empty without block dimensions), the
            partitions of the tile, and its bytes per partition. Returns (bank, start partition,
            byte).

    Raises TypeError when `func` cannot be called.
    """
    return DirectAllocation.of(MemoryRegion.psum, func)


def mod_alloc(
    *,
    base_bank: int,
    base_addr: int = 0,
    base_partition: int = 0,
    num_bank_tiles: Sequence[int] = (),
    num_par_tiles: Sequence[int] = (),
    num_free_tiles: Sequence[int] = (),
) -> DirectAllocation:
    """Return the `buffer=` value of a tensor whose blocks rotate through a number of banks.

    Args:
        base_bank: the first bank.
        base_addr: byte in the bank; only 0 is legal.
        base_partition: partition; only 0 is legal.
        num_bank_tiles: the number of banks, per block dimension; () for one.
        num_par_tiles: the number of tiles in a bank along the partitions; only one is legal.
        num_free_tiles: the number of tiles in a bank along the bytes; only one is legal.

    Raises ValueError for a count below 1 or a negative base.
    Source: NKI API reference 2.26, nki.compiler.psum.mod_alloc.
    """
    bank = Modulo("num_bank_tiles", num_bank_tiles, base_bank)
    partition = Modulo("num_par_tiles", num_par_tiles, base_partition)
    byte = Modulo("num_free_tiles", num_free_tiles, base_addr)
    return alloc(
        lambda index, partitions, size: (
            bank(index, 1),
            partition(index, partitions),
            byte(index, size),
        )
    )


def __getattr__(name: str) -> NoReturn:
    raise missing("neuronxcc.nki.compiler.psum", name, globals())


__all__ = ["alloc", "auto_alloc", "mod_alloc"]
