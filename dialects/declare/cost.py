"""Costs of instructions: the data types in which instructions declare their costs.

The formulas are in `costs/engines.py` (Vector, Scalar, GpSimd), `costs/pe_array.py` (Tensor) and
`costs/dma.py`; their constants are in the data file of the target, `target.timing`. Costs depend
only on types and compile-time arguments, so instructions with equal types and arguments share a
result.
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
    """Time that the engine is busy before the next independent instruction can start.

    For the load of a stationary tile, the time that the array's load port is busy; the array may
    multiply meanwhile. For DMA, the time that the queue with the trigger is busy.
    """
    latency: float
    """Time from the start of an instruction until a dependent instruction can read its results."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """The work of the DMA engines for a DMA instruction. Times are in ns."""

    bytes: int
    """Number of bytes that pass through the DMA engines."""
    descriptors: int
    descriptor_bytes: int
    """Bytes per descriptor: a run that is contiguous in both source and destination."""
    engines: int
    """Number of DMA engines that share the transfer; 0 if only GpSimd's DMA engine moves it."""
    fullest: int
    """Number of engines that have the most descriptors."""
    engine_ns: float
    """Time that each of the fullest engines is busy, in a stream of transfers."""
    other_ns: float
    """Time that each of the other engines is busy, in a stream of transfers."""
    payload_ns: float
    """Time from the first byte to the last one, for an isolated transfer."""
    trigger_ns: float
    """Time that the queue with the trigger is busy."""
    dispatch_ns: float
    """Time from the end of the trigger to the first byte."""
    notify_ns: float
    """Time from the last byte until an instruction that waits for the transfer can start."""
    mode: dge_mode
    """How the descriptors are generated; never `unknown`."""
    trigger: engine
    """The engine whose queue starts the transfer."""

    @property
    def latency_ns(self) -> float:
        """Time from the start of an isolated transfer's trigger until a waiter can start."""
        return self.trigger_ns + self.dispatch_ns + self.payload_ns + self.notify_ns

    def busy_ns(self, target: Target) -> float:
        """Return the transfer's share of the time of a core's DMA engines, in ns.

        This is the sum of the engines' busy times (`engines_ns`), divided by the number of engines.
        """
        return self.engines_ns / target.timing.dma.engines

    @property
    def engines_ns(self) -> float:
        """The sum of the busy times of the transfer's engines, in ns."""
        return self.fullest * self.engine_ns + (self.engines - self.fullest) * self.other_ns


@dataclass(frozen=True, slots=True)
class StageCost:
    """The cost of one engine instruction."""

    text: str
    """The formula of `cycles` as text, with the constants' names in the data file."""
    cycles: Callable[[Any, Target], float]
    """Returns the time that an instruction keeps its engine busy, in the engine's cycles.

    For DMA, returns the number of bytes.
    """
    time: Callable[[Any, Target], Duration]
    transfer: Callable[[Any, Target], Transfer] | None = None
    """Returns the transfer of a DMA instruction; None for stages that are not DMA."""


def clock_ghz(runs_on: engine, target: Target) -> float:
    """Return the clock of an engine, in GHz."""
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
