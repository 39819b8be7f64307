"""Direct allocation: where the blocks of a tensor are (`nki.compiler.sbuf`, `nki.compiler.psum`).

Source: NKI API reference 2.26, nki.compiler; NKI direct allocation guide.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from nkijit.dialects.hardware import MemoryRegion, start_partitions
from nkijit.dialects.rule_texts.classic_kernels import DIRECT_ALLOCATION
from nkijit.tracer import Tracer, tracer_for


@dataclass(frozen=True)
class Placement:
    """The `buffer=` of a tensor whose tiles have addresses."""

    region: MemoryRegion
    function: Callable[[tuple[int, ...], int, int], Any]
    """From block index, partitions and bytes per partition of a tile to where it is: partition
    and byte in SBUF; bank, partition and byte in PSUM. Raises ValueError where there is none."""

    def address(
        self, call: str, index: tuple[int, ...], partitions: int, size: int
    ) -> tuple[int, int]:
        """(partition, byte) of a tile. Ends the trace where no tile of that size can be."""
        tracer = tracer_for(call)
        try:
            place = _called(self.function, index, partitions, size)
        except ValueError as error:
            tracer.fail(DIRECT_ALLOCATION, call, f"block {index}: {error}")
        parts = ("partition", "byte") if self._in_sbuf else ("bank", "partition", "byte")
        numbers = _integers(place, len(parts))
        shown = f"block {index}, a tile of {partitions} partitions with {size} bytes each"
        if numbers is None:
            expected = ", ".join(parts)
            tracer.fail(
                DIRECT_ALLOCATION, call, f"{shown}, is placed at {place!r}; expected ({expected})"
            )
        if not (self._fits_sbuf if self._in_sbuf else _fits_psum)(tracer, partitions, numbers):
            named = ", ".join(f"{part} {n}" for part, n in zip(parts, numbers, strict=True))
            tracer.fail(DIRECT_ALLOCATION, call, f"{shown}, is placed at {named}")
        if self._in_sbuf:
            return numbers[0], numbers[1]
        bank, partition, byte = numbers
        return partition, bank * tracer.target.psum_bank_bytes + byte

    @property
    def _in_sbuf(self) -> bool:
        return self.region is MemoryRegion.sbuf

    @staticmethod
    def _fits_sbuf(tracer: Tracer, partitions: int, place: tuple[int, ...]) -> bool:
        partition, byte = place
        aligned = byte >= 0 and byte % tracer.target.sbuf_min_align == 0
        return aligned and partition in start_partitions(partitions)


def _called(function: Callable[..., Any], *given: Any) -> Any:
    """By name, as the reference names the parameters, else by position."""
    named = dict(zip(("idx", "pdim_size", "fdim_size"), given, strict=True))
    try:
        inspect.signature(function).bind(**named)
    except (TypeError, ValueError):
        return function(*given)
    return function(**named)


def _fits_psum(tracer: Tracer, partitions: int, place: tuple[int, ...]) -> bool:
    del partitions
    bank, partition, byte = place
    return 0 <= bank < tracer.target.psum_banks and partition == byte == 0


def _integers(place: Any, count: int) -> tuple[int, ...] | None:
    """A sequence of so many integers; None for anything else."""
    if not isinstance(place, (tuple, list)):
        return None
    try:
        numbers = tuple(operator.index(part) for part in cast("Sequence[Any]", place))
    except TypeError:
        return None
    return numbers if len(numbers) == count else None


class OnChipMemory:
    """`nki.compiler.sbuf` and `nki.compiler.psum`: as a `buffer=`, and what places tiles there."""

    def __init__(self, region: MemoryRegion):
        """`region`: SBUF or PSUM."""
        self.region = region

    def auto_alloc(self) -> MemoryRegion:
        """The `buffer=` of tensors for which places are found: `nl.sbuf` or `nl.psum`."""
        return self.region

    def alloc(self, func: Callable[[tuple[int, ...], int, int], Any]) -> Placement:
        """The `buffer=` of a tensor whose blocks `func` places.

        Args:
            func: called for every block with its index (a tuple, empty without block
                dimensions), the partitions of the tile, and its bytes per partition. Returns
                (start partition, byte) in SBUF, (bank, start partition, byte) in PSUM.

        Raises TypeError when `func` cannot be called.
        """
        if not callable(func):
            raise TypeError(f"alloc expects a function, got {func!r}")
        return Placement(self.region, func)

    def __repr__(self) -> str:
        return f"nki.compiler.{self.region.value}"


class Sbuf(OnChipMemory):
    """`nki.compiler.sbuf`."""

    def __init__(self) -> None:
        """There is one."""
        super().__init__(MemoryRegion.sbuf)

    def mod_alloc(
        self,
        *,
        base_addr: int,
        base_partition: int = 0,
        num_par_tiles: Sequence[int] = (),
        num_free_tiles: Sequence[int] = (),
    ) -> Placement:
        """The `buffer=` of a tensor whose blocks take turns at a number of places.

        Args:
            base_addr: byte at which the first place begins.
            base_partition: partition at which it begins.
            num_par_tiles: places below each other, per block dimension; () for one.
            num_free_tiles: places beside each other, per block dimension; () for one.

        Raises ValueError for what is no number of bytes, partitions or places.
        Source: NKI API reference 2.26, nki.compiler.sbuf.mod_alloc.
        """
        partition = _Modulo("num_par_tiles", num_par_tiles, base_partition)
        byte = _Modulo("num_free_tiles", num_free_tiles, base_addr)
        return self.alloc(
            lambda index, partitions, size: (partition(index, partitions), byte(index, size))
        )


class Psum(OnChipMemory):
    """`nki.compiler.psum`."""

    def __init__(self) -> None:
        """There is one."""
        super().__init__(MemoryRegion.psum)

    def mod_alloc(
        self,
        *,
        base_bank: int,
        base_addr: int = 0,
        base_partition: int = 0,
        num_bank_tiles: Sequence[int] = (),
        num_par_tiles: Sequence[int] = (),
        num_free_tiles: Sequence[int] = (),
    ) -> Placement:
        """The `buffer=` of a tensor whose blocks take turns at a number of banks.

        Args:
            base_bank: the first bank.
            base_addr: byte in the bank; only 0 is a place.
            base_partition: partition; only 0 is a place.
            num_bank_tiles: banks, per block dimension; () for one.
            num_par_tiles: places below each other in a bank; only one is a place.
            num_free_tiles: places beside each other in a bank; only one is a place.

        Raises ValueError for what is no number of banks.
        Source: NKI API reference 2.26, nki.compiler.psum.mod_alloc.
        """
        bank = _Modulo("num_bank_tiles", num_bank_tiles, base_bank)
        partition = _Modulo("num_par_tiles", num_par_tiles, base_partition)
        byte = _Modulo("num_free_tiles", num_free_tiles, base_addr)
        return self.alloc(
            lambda index, partitions, size: (
                bank(index, 1),
                partition(index, partitions),
                byte(index, size),
            )
        )


class _Modulo:
    """Along one axis of a memory: which of a number of places each block takes."""

    def __init__(self, name: str, counts: Sequence[int], base: int):
        given = tuple(counts)
        if any(operator.index(count) < 1 for count in given) or operator.index(base) < 0:
            raise ValueError(
                f"'{name}' are positive numbers of places, from a base that is not negative; got "
                f"{given} from {base}"
            )
        self._name = name
        self._counts = given
        self._base = base

    def __call__(self, index: tuple[int, ...], size: int) -> int:
        counts = self._counts or (1,) * len(index)
        if not index:
            return self._base  # one tile has one place, whatever room is left beside it
        if len(counts) != len(index):
            raise ValueError(
                f"'{self._name}' is {counts}, but the tensor has {len(index)} block dimensions"
            )
        number = 0
        for block, count in zip(index, counts, strict=True):
            number = number * count + block % count
        return self._base + number * size


sbuf = Sbuf()
psum = Psum()


def as_buffer(buffer: Any) -> tuple[Any, Placement | None]:
    """Where a tensor lives, and the placement of its tiles if it has one, of a `buffer=`."""
    if isinstance(buffer, Placement):
        return buffer.region, buffer
    if isinstance(buffer, OnChipMemory):
        return buffer.region, None
    return MemoryRegion.sbuf if buffer is None else buffer, None
