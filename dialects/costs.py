"""What an instruction of an engine costs: formulas over types and compile-time arguments.

A cost is how long the engine is busy, in cycles of its own clock: what two neighbours that do not
wait for each other are apart. N is elements per partition. The formulas are those of the NKI API
reference up to version 2.26 (later pages leave them out) unless a comment says otherwise; they
hold one machine cycle per element where no public page says anything, as the elementwise
instructions do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nkijit.dialects.hardware import Target
from nkijit.dialects.tiles import info_of, is_tile

MIN_INTERVAL = 64
"""Cycles between two instructions of an engine, at least."""
GPSIMD_START = 150
"""Cycles before the GpSimd Engine starts on an instruction."""
REGISTER_CYCLES = 64
"""Cycles of a register instruction: about 70 ns were published for a move; of others nothing."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A formula: as text, and over an operation."""

    text: str
    cycles: Callable[[Any, Target], float]


def elements(op: Any, name: str) -> int:
    """Elements per partition of an operand; 0 when it was left out or is a number."""
    value = op.operand_named(name)
    return info_of(value).free_size if value is not None and is_tile(value) else 0


def streaming(name: str, factor: float = 1.0, start: int = 0) -> Cost:
    """The elements of a tile, one after the other in every partition."""
    product = f"{factor:g} N({name})" if factor != 1 else f"N({name})"
    text = f"{start} + {product}" if start else f"max({MIN_INTERVAL}, {product})"

    def cycles(op: Any, target: Target) -> float:
        streamed = factor * elements(op, name)
        return start + streamed if start else max(MIN_INTERVAL, streamed)

    return Cost(text, cycles)


def two_inputs(first: str, second: str) -> Cost:
    """Two tiles: at half the rate, unless one comes from PSUM and the other from SBUF."""

    def cycles(op: Any, target: Target) -> float:
        regions = {
            info_of(value).region
            for value in (op.operand_named(first), op.operand_named(second))
            if value is not None and is_tile(value)
        }
        return max(MIN_INTERVAL, elements(op, first) * (1 if len(regions) == 2 else 2))

    text = f"max({MIN_INTERVAL}, 2 N({first})), N({first}) with one of the two in PSUM"
    return Cost(text, cycles)


def by_argument(text: str, cycles: Callable[[Any], float]) -> Cost:
    """A formula over compile-time arguments."""
    return Cost(text, lambda op, target: cycles(op))


def _bytes(op: Any, target: Target) -> float:
    tiles = [info_of(value) for value in op.operands if is_tile(value)]
    return max(float(tile.size * tile.dtype.itemsize) for tile in tiles)


ACCUMULATOR_READ = Cost(f"{MIN_INTERVAL}", lambda op, target: MIN_INTERVAL)
REGISTER = Cost(f"{REGISTER_CYCLES}", lambda op, target: REGISTER_CYCLES)
TRANSFER = Cost("bytes of the largest tensor", _bytes)
"""DMA: bytes to move, not cycles; a queue's bandwidth makes time of them."""
