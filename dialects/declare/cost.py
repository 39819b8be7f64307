"""Costs of instructions: the data types in which declarations express them.

The formulas are in `costs/engines.py` (Vector, Scalar, GpSimd), `costs/pe_array.py` (Tensor)
and `costs/dma.py`; their constants are in the data file of the target, `target.timing`. Costs
depend only on types and compile-time arguments, so instructions of one form share a result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import dge_mode, engine


class Duration(NamedTuple):
    """The duration of an engine instruction, in ns."""

    issue: float
    """The time that its engine is busy before the next independent instruction can start.

    For a stationary tile, the time that the array's load port is busy; the array may multiply
    meanwhile. For DMA, the time that the queue that starts the transfer is busy.
    """
    latency: float
    """The time from its start until a dependent instruction can read its results."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """The work of the DMA engines for a DMA instruction. Times are in ns."""

    bytes: int
    """Bytes that pass through the engines."""
    descriptors: int
    descriptor_bytes: int
    """Bytes that a descriptor moves: contiguous in the source and in the destination."""
    engines: int
    """DMA engines that share it; 0 when the GpSimd Engine's own DMA engine moves it."""
    fullest: int
    """The number of engines with the most descriptors."""
    engine_ns: float
    """The time that each of the fullest engines is busy when other transfers follow this one."""
    other_ns: float
    """The time that each of the other engines is busy."""
    payload_ns: float
    """From the first byte to the last one when it is the only transfer."""
    trigger_ns: float
    """The time that the queue that starts it is busy."""
    dispatch_ns: float
    """From the end of the trigger to the first byte."""
    notify_ns: float
    """From the last byte until an instruction that waits for it can start."""
    mode: dge_mode
    """The generation of the descriptors; never `unknown`."""
    trigger: engine
    """The engine whose queue starts it."""

    @property
    def latency_ns(self) -> float:
        """From the start of the trigger until an instruction that waits can start, if alone."""
        return self.trigger_ns + self.dispatch_ns + self.payload_ns + self.notify_ns

    def busy_ns(self, target: Target) -> float:
        """Its share of the time of all DMA engines, in ns: `engines_ns` over their number."""
        return self.engines_ns / target.timing.dma.engines

    @property
    def engines_ns(self) -> float:
        """The busy times of its engines, added up, in ns."""
        return self.fullest * self.engine_ns + (self.engines - self.fullest) * self.other_ns


@dataclass(frozen=True, slots=True)
class StageCost:
    """The cost of one engine instruction."""

    text: str
    """The formula of `cycles`, with the names of the data file."""
    cycles: Callable[[Any, Target], float]
    """The time that the engine is busy, in cycles of its own clock; for DMA, bytes."""
    time: Callable[[Any, Target], Duration]
    transfer: Callable[[Any, Target], Transfer] | None = None
    """Set for DMA."""


def clock_ghz(runs_on: engine, target: Target) -> float:
    """The clock of an engine, in GHz."""
    return getattr(target.timing.clocks, f"{runs_on.name}_ghz")


def transfer_of(op: Any, target: Target) -> Transfer:
    """Return the transfer of a DMA instruction or a collective.

    Raises:
        TypeError: the instruction does not use DMA.
    """
    (stage, *_) = op.SPEC.stages
    if stage.cost.transfer is None:
        raise TypeError(f"{op.name} moves nothing by DMA")
    return stage.cost.transfer(op, target)
