"""The memory ports that engines share."""

from __future__ import annotations

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.lower.ports import shared_ports
from nkijit.passes.lower.program import EngineInstruction, What
from nkijit.passes.profile.timeline import Event


class Ports:
    """The shared memory ports of a core, each with the last events that used it."""

    def __init__(self, target: Target):
        self._shared = shared_ports(target)
        self._users: dict[MemoryRegion, Event] = {}
        self._known: dict[int, tuple[MemoryRegion, ...]] = {}

    def held(self, instruction: EngineInstruction, time: float) -> Event | None:
        """Return the event that occupies a required port the longest; None if all are free.

        `time` is when the instruction needs its ports, in ns.
        """
        found: Event | None = None
        for region in self._needed(instruction):
            user = self._users.get(region)
            if user is not None and user.free > time:
                found, time = user, user.free
        return found

    def note(self, instruction: EngineInstruction, event: Event) -> None:
        """Record that an instruction's event uses the instruction's ports."""
        for region in self._needed(instruction):
            self._users[region] = event

    def _needed(self, instruction: EngineInstruction) -> tuple[MemoryRegion, ...]:
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
