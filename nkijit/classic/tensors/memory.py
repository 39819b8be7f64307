"""Direct allocation: addresses of the blocks of a tensor (`nki.compiler.sbuf` and `.psum`).

Source: NKI API reference 2.26, nki.compiler; NKI direct allocation guide.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast

from nkijit.classic.indexing.expressions import as_integer
from nkijit.dialects.hardware.targets import start_partitions
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.classic_kernels import DIRECT_ALLOCATION
from nkijit.dialects.spelling import numbered
from nkijit.tracing.checks import refuse, result_of
from nkijit.tracing.tracer import Tracer, tracer_for


@dataclass(frozen=True)
class DirectAllocation:
    """The `buffer=` value that gives addresses to the tiles of a tensor."""

    region: MemoryRegion
    function: Callable[[tuple[int, ...], int, int], Any]
    """`function(block index, partitions, bytes per partition)` returns the address of a tile.

    An address is (partition, byte) in SBUF, (bank, partition, byte) in PSUM. Raises ValueError if
    the block cannot have an address.
    """

    @staticmethod
    def of(region: MemoryRegion, function: Any) -> DirectAllocation:
        """Create an allocation in `region`. Raises TypeError if `function` cannot be called."""
        if not callable(function):
            message = f"alloc expects a function, got {one_line(function)}"
            refuse("alloc", message, error=TypeError)
        return DirectAllocation(region, function)

    def address(
        self, call: str, index: tuple[int, ...], partitions: int, size: int
    ) -> tuple[int, int]:
        """Return the address (partition, byte) of a tile. Ends the trace if the address is invalid
        for the tile's size."""
        tracer = tracer_for(call)
        block = f"block {index}: " if index else ""
        try:
            place = _call(self.function, index, partitions, size)
        except ValueError as error:
            tracer.fail(DIRECT_ALLOCATION, call, f"{block}{error}")
        parts = ("partition", "byte") if self._in_sbuf else ("bank", "partition", "byte")
        numbers = _integers(place, len(parts))
        shown = (
            f"{block}a tile of {numbered(partitions, 'partition')} with {numbered(size, 'byte')} "
            "each"
        )
        if numbers is None:
            expected = ", ".join(parts)
            tracer.fail(
                DIRECT_ALLOCATION,
                call,
                f"{shown} is placed at {one_line(place)}; expected ({expected})",
            )
        if not (self._fits_sbuf if self._in_sbuf else _fits_psum)(tracer, partitions, numbers):
            named = ", ".join(f"{part} {n}" for part, n in zip(parts, numbers, strict=True))
            tracer.fail(DIRECT_ALLOCATION, call, f"{shown} is placed at {named}")
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


def _call(function: Callable[..., Any], *given: Any) -> Any:
    """Call a user function with the reference's keywords, or else with positional arguments."""
    named = dict(zip(("idx", "pdim_size", "fdim_size"), given, strict=True))
    try:
        inspect.signature(function).bind(**named)
    except (TypeError, ValueError):
        return result_of("alloc", "func", function, *given)
    return function(**named)


def _fits_psum(tracer: Tracer, partitions: int, place: tuple[int, ...]) -> bool:
    del partitions
    bank, partition, byte = place
    return 0 <= bank < tracer.target.psum_banks and partition == byte == 0


def _integers(place: Any, count: int) -> tuple[int, ...] | None:
    """Return a sequence of `count` integers as a tuple; None for anything else."""
    if not isinstance(place, (tuple, list)):
        return None
    numbers = [as_integer(part) for part in cast("Sequence[Any]", place)]
    return (
        None
        if None in numbers or len(numbers) != count
        else cast("tuple[int, ...]", tuple(numbers))
    )


class Modulo:
    """Places blocks in rotation: block dimension `d` uses `counts[d]` addresses in turn."""

    def __init__(self, name: str, counts: Sequence[int], base: int):
        """Create a rotation from `base` on. `name` names the argument `counts` in messages.

        Raises ValueError for a count below 1 or a negative base.
        """
        given = counts if isinstance(counts, (tuple, list)) else (counts,)
        places, first = [as_integer(count) for count in given], as_integer(base)
        if first is None or first < 0 or any(count is None or count < 1 for count in places):
            refuse(
                "mod_alloc",
                f"'{name}' are positive numbers of places, from a base that is not negative; got "
                f"{one_line(counts)} from {one_line(base)}",
            )
        self._name = name
        self._counts = cast("tuple[int, ...]", tuple(places))
        self._base = first

    def __call__(self, index: tuple[int, ...], size: int) -> int:
        counts = self._counts or (1,) * len(index)
        if not index:
            return self._base  # a tensor without blocks is at the base
        if len(counts) != len(index):
            raise ValueError(
                f"'{self._name}' is {counts}, but the tensor has "
                f"{numbered(len(index), 'block dimension')}"
            )
        number = 0
        for block, count in zip(index, counts, strict=True):
            number = number * count + block % count
        return self._base + number * size


def as_buffer(buffer: Any) -> tuple[Any, DirectAllocation | None]:
    """Return the memory that a `buffer=` names, and its addresses (None without addresses)."""
    if isinstance(buffer, DirectAllocation):
        return buffer.region, buffer
    if isinstance(buffer, ModuleType):  # nki.compiler.sbuf itself means its auto_alloc()
        return getattr(buffer, "auto_alloc", lambda: buffer)(), None
    return MemoryRegion.sbuf if buffer is None else buffer, None
