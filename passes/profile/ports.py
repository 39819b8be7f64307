"""Memory ports that engines share, which lets them run one after the other only.

On NeuronCore-v2 the Vector and the GpSimd Engine have one port to SBUF, and the Vector and the
Scalar Engine one to PSUM (architecture guide, NeuronCore-v2). Later generations have none that
are documented with a cost.
"""

from __future__ import annotations

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion, nc_version
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.lower.program import Instruction, Queue, What
from nkijit.passes.profile.timeline import Event

SHARED: dict[MemoryRegion, frozenset[Queue]] = {
    MemoryRegion.sbuf: frozenset({Queue.vector, Queue.gpsimd}),
    MemoryRegion.psum: frozenset({Queue.vector, Queue.scalar}),
}
"""Of NeuronCore-v2: the engines that share a port to a memory."""


class Ports:
    """The shared ports of a core, and what uses them."""

    def __init__(self, target: Target):
        self._shared = SHARED if target.version is nc_version.gen2 else {}
        self._users: dict[MemoryRegion, Event] = {}
        self._known: dict[int, tuple[MemoryRegion, ...]] = {}

    def held(self, instruction: Instruction, time: float) -> Event | None:
        """What holds a port that an instruction needs at some time, the longest."""
        found: Event | None = None
        for region in self._needed(instruction):
            user = self._users.get(region)
            if user is not None and user.free > time:
                found, time = user, user.free
        return found

    def note(self, instruction: Instruction, event: Event) -> None:
        """An instruction uses its ports."""
        for region in self._needed(instruction):
            self._users[region] = event

    def _needed(self, instruction: Instruction) -> tuple[MemoryRegion, ...]:
        if not self._shared or instruction.what is not What.compute:
            return ()
        found = self._known.get(instruction.like)
        if found is None:
            regions = {info_of(v).region for v in instruction.op.operands if is_tile(v)}
            found = self._known[instruction.like] = tuple(
                region
                for region, queues in self._shared.items()
                if region in regions and instruction.queue in queues
            )
        return found
