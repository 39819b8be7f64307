"""Direct allocation: where the blocks of a tensor are (`nki.compiler.sbuf`, `nki.compiler.psum`).

Source: NKI API reference 2.26, nki.compiler; NKI direct allocation guide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from nkijit.dialects.hardware import MemoryRegion
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.tracer import tracer_for


@dataclass(frozen=True)
class Placement:
    """The `buffer=` of a tensor whose tiles have addresses."""

    region: MemoryRegion
    function: Callable[[tuple[int, ...], int, int], Any]
    """From block index, partitions and bytes per partition of a tile to where it is: partition
    and byte in SBUF; bank, partition and byte in PSUM."""

    def address(
        self, call: str, index: tuple[int, ...], partitions: int, size: int
    ) -> tuple[int, int]:
        """(partition, byte) of a tile."""
        tracer = tracer_for(call)
        place: Any = self.function(index, partitions, size)
        expected = 2 if self.region is MemoryRegion.sbuf else 3
        if not isinstance(place, (tuple, list)) or len(cast("Sequence[Any]", place)) != expected:
            tracer.fail(ARGUMENT, call, f"the allocation function returned {place!r}")
        numbers = tuple(cast("Sequence[int]", place))
        if self.region is MemoryRegion.sbuf:
            return numbers[0], numbers[1]
        bank, partition, byte = numbers
        return partition, bank * tracer.target.psum_bank_bytes + byte
