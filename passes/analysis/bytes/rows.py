"""The partitions of an on-chip tile in its allocation, and the position of its first element.

Callers pass the tile's access pattern, `access_of(value)`, which they have already computed.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.nki.views import row_elements
from nkijit.dialects.tiles import info_of


def partitions_of(value: SSAValue, access: AccessPattern) -> tuple[int, int]:
    """Return the first partition of a tile, and the number of partitions up to its last one."""
    return access.partition_range(row_elements(value))


def start_of(value: SSAValue, access: AccessPattern) -> tuple[int, int]:
    """Return the partition of a tile's first element, and the byte in that partition."""
    partition, element = access.start(row_elements(value))
    return partition, element * info_of(value).dtype.itemsize
