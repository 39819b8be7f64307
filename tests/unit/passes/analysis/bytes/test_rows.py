"""Partitions of on-chip tiles, and where in them a tile begins."""

from __future__ import annotations

import pytest

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.tiles import memref_type
from nkijit.passes.analysis.bytes.rows import partitions_of, start_of


@pytest.mark.parametrize(
    ("access", "dtype", "partitions", "start"),
    [
        (AccessPattern(0, (12, 1), (4, 12)), "float32", (0, 4), (0, 0)),
        (AccessPattern(12 + 3, (12, 1), (2, 5)), "float32", (1, 2), (1, 12)),
        (AccessPattern(3 * 12, (-12, 1), (3, 2)), "float32", (1, 3), (3, 0)),
        (AccessPattern(24 + 5, (24, 2), (2, 3)), "bfloat16", (1, 2), (1, 10)),
    ],
)
def test_tiles(
    access: AccessPattern, dtype: str, partitions: tuple[int, int], start: tuple[int, int]
) -> None:
    base = AllocOp.create(
        result_types=(memref_type(DTYPES["float32"], (4, 12), MemoryRegion.sbuf),)
    )
    value = ViewOp.of(base.result, access, DTYPES[dtype]).result
    assert partitions_of(value, access) == partitions
    assert start_of(value, access) == start
