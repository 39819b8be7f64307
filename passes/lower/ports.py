"""The memory ports that several engines share, so that accesses through a port are serialised.

On NeuronCore-v2, the Vector and the GpSimd Engine share a port to SBUF, and the Vector and the
Scalar Engine share a port to PSUM (architecture guide, NeuronCore-v2). For later generations, no
shared port with a cost is documented.
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
    """Return, for each memory with a shared port, the engines that use the port."""
    return _OF_GEN2 if target.version is nc_version.gen2 else {}
