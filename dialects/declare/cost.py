"""What an instruction costs: the kinds of answers, which every declaration of one gives.

The formulas are in `costs/engines.py` (Vector, Scalar, GpSimd), `costs/pe_array.py` (Tensor)
and `costs/dma.py`; their constants in the data file of the target, `target.timing`. They are over
types and compile-time arguments alone, so that equal instructions need to be asked once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import dge_mode, engine


class Duration(NamedTuple):
    """How long an engine instruction takes, in ns."""

    issue: float
    """How long its engine is busy before the next instruction can start that does not wait.

    For a stationary tile: how long the port is busy over which the array is loaded, while the
    array may multiply. For DMA: how long the queue is busy that starts the transfer.
    """
    latency: float
    """From its start until an instruction that depends on it can see its results."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a DMA instruction makes the DMA engines do. Times in ns."""

    bytes: int
    """Bytes that pass through the engines."""
    descriptors: int
    descriptor_bytes: int
    """Bytes of a descriptor: neighbours on both sides."""
    engines: int
    """DMA engines that it spreads over; 0 when the GpSimd Engine's own DMA engine moves it."""
    fullest: int
    """How many of the engines have most to move."""
    engine_ns: float
    """How long each of the fullest is busy when there are other transfers after this one."""
    other_ns: float
    """How long each of the other engines is."""
    payload_ns: float
    """From the first byte to the last when it is the only transfer."""
    trigger_ns: float
    """How long the queue is busy that starts it."""
    dispatch_ns: float
    """From the end of the trigger to the first byte."""
    notify_ns: float
    """From the last byte until an instruction that waits for it can start."""
    mode: dge_mode
    """What makes the descriptors; never `unknown`."""
    trigger: engine
    """The engine whose queue starts it."""

    @property
    def latency_ns(self) -> float:
        """From the start of the trigger to the release of what waits, nothing else going on."""
        return self.trigger_ns + self.dispatch_ns + self.payload_ns + self.notify_ns

    def busy_ns(self, target: Target) -> float:
        """How long it takes of the time of all DMA engines together."""
        return self.engines_ns / target.timing.dma.engines

    @property
    def engines_ns(self) -> float:
        """How long its engines are busy, added up."""
        return self.fullest * self.engine_ns + (self.engines - self.fullest) * self.other_ns


@dataclass(frozen=True, slots=True)
class StageCost:
    """What one engine instruction costs."""

    text: str
    """The formula of `cycles`, in the names of the data file."""
    cycles: Callable[[Any, Target], float]
    """What the engine is busy, in cycles of its own clock; for DMA, bytes."""
    time: Callable[[Any, Target], Duration]
    transfer: Callable[[Any, Target], Transfer] | None = None
    """Set for DMA."""


def clock_ghz(runs_on: engine, target: Target) -> float:
    """The clock of an engine that has one."""
    return getattr(target.timing.clocks, f"{runs_on.name}_ghz")


def transfer_of(op: Any, target: Target) -> Transfer:
    """What a DMA instruction or a collective makes the DMA engines do.

    Raises:
        TypeError: the instruction is none of DMA.
    """
    (stage, *_) = op.SPEC.stages
    if stage.cost.transfer is None:
        raise TypeError(f"{op.name} moves nothing by DMA")
    return stage.cost.transfer(op, target)
