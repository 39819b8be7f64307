"""The figures of a profile, as data: sums over the events of a simulated run.

Figures of loops that were cut short stand for all of their iterations. Nothing was measured: the
durations are those of `target.timing`.
"""

from __future__ import annotations

from dataclasses import dataclass

from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.profile.iterations import LoopCount


@dataclass(frozen=True, slots=True, repr=False)
class Waiting(ShownFields):
    """What a queue waits for, of one kind."""

    reason: str
    """A `Reason`; of semaphores, the queue that is waited for."""
    time: float


@dataclass(frozen=True, slots=True, repr=False)
class QueueUse(ShownFields):
    """What a queue does with its time. Busy, waiting and idle sum up to the kernel's time."""

    core: int
    queue: str
    instructions: int
    busy: float
    waiting: float
    """Before it begins with an instruction."""
    idle: float
    """After its last instruction."""
    waits: tuple[Waiting, ...]
    """The longest first."""


@dataclass(frozen=True, slots=True, repr=False)
class Moved(ShownFields):
    """What DMA moves in one direction."""

    direction: str
    transfers: int
    bytes: int
    descriptors: int
    bytes_per_ns: float
    """Achieved over the kernel's time."""


@dataclass(frozen=True, slots=True, repr=False)
class LineUse(ShownFields):
    """What a line of the kernel's source gives a queue to do."""

    place: Position | None
    queue: str
    mnemonics: tuple[str, ...]
    instructions: int
    busy: float
    path: float
    """How much of the critical path it is."""
    share: float
    """The same, as a part of the kernel's time."""
    reason: str
    """What its instructions on the path waited for, the longest."""


@dataclass(frozen=True, slots=True, repr=False)
class Stall(ShownFields):
    """A line whose instructions hold up an engine, because they wait."""

    queue: str
    place: Position | None
    reason: str
    before: str | None
    """The queue that is waited for."""
    before_place: Position | None
    tile: str | None
    """The name of the tile, or register, because of which it waits; the first of several."""
    kind: str | None
    """The dependence: true, anti or output."""
    time: float
    count: int


@dataclass(frozen=True, slots=True, repr=False)
class Roofline(ShownFields):
    """What the hardware could do at most at the kernel's arithmetic intensity."""

    flops: float
    """Of matrix multiplications, over all cores."""
    hbm_bytes: int
    intensity: float
    """Flops for each byte of HBM."""
    peak: float
    """Flops per second of the Tensor Engines, with the data types that are multiplied."""
    attainable: float
    """Flops per second: the lower of the peak and what HBM lets through."""
    achieved: float
    """Flops per second."""
    bound: str
    """`compute` or `memory`; `none` when nothing is multiplied."""


@dataclass(frozen=True, slots=True, repr=False)
class MemoryUse(ShownFields):
    """How much of the memories on the chip a core uses, in bytes per partition."""

    core: int
    sbuf: int
    sbuf_capacity: int
    psum: int
    psum_capacity: int


@dataclass(frozen=True)
class Figures:
    """How long a kernel takes and why. Times are in ns."""

    kernel: str
    target: str
    time: float
    """Of the whole kernel, without `launch`."""
    launch: float
    """What starting and ending any kernel takes, outside of its own work."""
    instructions: int
    """As often as they run, on all cores."""
    bound: str
    """The resource that is busy for the longest; `latency` when none is for half of the time."""
    shares: tuple[tuple[str, float], ...]
    """How busy the resources are, as parts of the time, the busiest first."""
    mfu: float
    """Flops as a part of what the Tensor Engines could do in the kernel's time."""
    mfu_active: float
    """The same in the time in which they are busy."""
    roofline: Roofline
    queues: tuple[QueueUse, ...]
    moved: tuple[Moved, ...]
    dma_utilization: float
    """Bytes as a part of what the DMA engines could move in the kernel's time."""
    memory: tuple[MemoryUse, ...]
    lines: tuple[LineUse, ...]
    """Those with the largest share of the critical path first; the shares sum up to 1."""
    stalls: tuple[Stall, ...]
    """What engines wait for, the longest first."""
    loops: tuple[LoopCount, ...]
    """Loops about which something was assumed."""
    passed_over: PassedOver
    """The kernel's errors, if it was to be lowered in spite of them."""
