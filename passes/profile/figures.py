"""The figures of a profile, as data: sums over the events of a simulated run.

If only some iterations of a loop were simulated, the sums are extrapolated to all of them. Nothing
is measured: durations are from `target.timing`.
"""

from __future__ import annotations

from dataclasses import dataclass

from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.profile.iterations import LoopCount


@dataclass(frozen=True, slots=True, repr=False)
class Waiting(ShownFields):
    """The time for which a queue waits for one reason."""

    reason: str
    """The `Reason` for waiting; for semaphores, the queue that is waited for."""
    time: float


@dataclass(frozen=True, slots=True, repr=False)
class QueueUse(ShownFields):
    """The use of a queue's time. Busy, waiting and idle add up to the kernel's time."""

    core: int
    queue: str
    instructions: int
    busy: float
    waiting: float
    """The time that the queue waits between its instructions."""
    idle: float
    """The time after the queue's last instruction."""
    waits: tuple[Waiting, ...]
    """The waits by reason, the longest first."""


@dataclass(frozen=True, slots=True, repr=False)
class Moved(ShownFields):
    """The DMA traffic in one direction."""

    direction: str
    transfers: int
    bytes: int
    descriptors: int
    bytes_per_ns: float
    """The bytes per ns, averaged over the kernel's time."""


@dataclass(frozen=True, slots=True, repr=False)
class LineUse(ShownFields):
    """The time that the instructions of a source line occupy one queue."""

    place: Position | None
    queue: str
    mnemonics: tuple[str, ...]
    instructions: int
    busy: float
    path: float
    """The time that the line takes on the critical path, in ns."""
    share: float
    """The time on the critical path, as a fraction of the kernel's time."""
    reason: str
    """The `Reason` of the longest wait of the line's instructions on the critical path."""


@dataclass(frozen=True, slots=True, repr=False)
class Stall(ShownFields):
    """A source line at which an engine waits."""

    queue: str
    place: Position | None
    reason: str
    before: str | None
    """The queue that the engine waits for; None if the engine waits for something else."""
    before_place: Position | None
    tile: str | None
    """The tile or register that causes the wait, by name; the first if there are several."""
    kind: str | None
    """The type of dependence: true, anti or output; None without a dependence."""
    time: float
    count: int


@dataclass(frozen=True, slots=True, repr=False)
class Roofline(ShownFields):
    """The upper bound of the hardware's speed at the kernel's arithmetic intensity."""

    flops: float
    """The floating-point operations of matrix multiplications, over all cores."""
    hbm_bytes: int
    intensity: float
    """Floating-point operations per byte moved to or from HBM."""
    peak: float
    """The peak of the Tensor Engines for the multiplied dtypes, in operations per second."""
    attainable: float
    """The attainable operations per second: the minimum of peak and HBM bandwidth limit."""
    achieved: float
    """The predicted operations per second."""
    bound: str
    """The limit: `compute` or `memory`; `none` for kernels without multiplications."""


@dataclass(frozen=True, slots=True, repr=False)
class MemoryUse(ShownFields):
    """The peak use of on-chip memory by a core, in bytes per partition."""

    core: int
    sbuf: int
    sbuf_capacity: int
    psum: int
    psum_capacity: int


@dataclass(frozen=True)
class Figures:
    """The predicted time of a kernel and its explanation. Times are in ns."""

    kernel: str
    target: str
    time: float
    """The time of the whole kernel, without `launch`."""
    launch: float
    """The time to start and end any kernel, which is not part of `time`."""
    instructions: int
    """The number of executed instructions on all cores."""
    bound: str
    """The resource with the highest utilisation; `latency` if that is below a half."""
    shares: tuple[tuple[str, float], ...]
    """The utilisation of each resource, from 0 to 1, highest first."""
    mfu: float
    """Model flops utilisation: flops, divided by the flops at peak rate in the kernel's time."""
    mfu_active: float
    """Flops, divided by the flops at peak rate while the Tensor Engines are busy."""
    roofline: Roofline
    queues: tuple[QueueUse, ...]
    moved: tuple[Moved, ...]
    dma_utilization: float
    """Moved bytes, divided by the bytes that the DMA engines could move in the kernel's time."""
    memory: tuple[MemoryUse, ...]
    lines: tuple[LineUse, ...]
    """The source lines, the largest share of the critical path first. The shares add up to 1."""
    stalls: tuple[Stall, ...]
    """The waits of engines, the longest first."""
    loops: tuple[LoopCount, ...]
    """The loops with an assumed trip count, and the loops that were only partly simulated."""
    passed_over: PassedOver
    """The kernel's errors that were ignored for the prediction."""
