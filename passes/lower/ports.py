"""Memory ports that engines share, which lets them run one after the other only.

On NeuronCore-v2 the Vector and the GpSimd Engine have one port to SBUF, and the Vector and the
Scalar Engine one to PSUM (architecture guide, NeuronCore-v2). Later generations have none that
are documented with a cost.
"""

from __future__ import annotations

from collections.abc import Mapping

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion, nc_version
from nkijit.passes.lower.program import Queue

_OF_GEN2: Mapping[MemoryRegion, frozenset[Queue]] = {
    MemoryRegion.sbuf: frozenset({Queue.vector, Queue.gpsimd}),
    MemoryRegion.psum: frozenset({Queue.vector, Queue.scalar}),
}


def shared_ports(target: Target) -> Mapping[MemoryRegion, frozenset[Queue]]:
    """For each memory to which some engines share a port, these engines."""
    return _OF_GEN2 if target.version is nc_version.gen2 else {}
