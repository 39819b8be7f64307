"""In which partitions of its allocation an on-chip tile is, and where in them it begins.

The access pattern of the tile, `access_of(value)`, is handed over, as callers have it already.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.nki.views import row_elements
from nkijit.dialects.tiles import info_of


def partitions_of(value: SSAValue, access: AccessPattern) -> tuple[int, int]:
    """The first partition that a tile is in, and how many there are up to the last one."""
    return access.partition_range(row_elements(value))


def start_of(value: SSAValue, access: AccessPattern) -> tuple[int, int]:
    """The partition of a tile's first element, and the byte in that partition."""
    partition, element = access.start(row_elements(value))
    return partition, element * info_of(value).dtype.itemsize
