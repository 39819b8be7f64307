"""Whether a matmul adds, against sets of elements."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.dialects.nki.views import access_of
from nkijit.dialects.tiles import info_of
from nkijit.ir.text import parse
from nkijit.passes.analysis.flow.matmul_writes import MatmulWrites

COLUMNS = 64


def added(lines: list[str]) -> list[tuple[object, object]]:
    """Return for each matmul its reported accumulation, and the elements written before."""
    (kernel,) = kernels_of(
        parse(
            "nki.kernel @k() target=trn2 {\n"
            "%p = nki.alloc : memref<128x64xf32, #nki.psum>\n"
            "%w = nki.alloc : memref<128x128xbf16, #nki.sbuf>\n"
            "%x = nki.alloc : memref<128x64xbf16, #nki.sbuf>\n"
            + "\n".join(lines)
            + "\nnki.return\n}"
        )
    )
    writes, seen, found = MatmulWrites(), set[int](), list[tuple[object, object]]()
    for op in kernel.operations:
        if is_instruction(op):
            dst = op.required("dst")
            info = info_of(dst)
            touched = np.array(list(access_of(dst).offsets())).reshape(info.partitions, -1)
            wanted = np.isin(touched, list(seen))
            answer = writes.added(op, kernel.target)
            seen.update(touched.ravel().tolist())
            found.append((np.broadcast_to(np.asarray(answer), wanted.shape).tolist(), wanted))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_matmuls_add_where_one_has_written(seed: int) -> None:
    random = Random(seed)
    lines: list[str] = []
    for number in range(random.choice((4, 8, 24))):
        count = random.choice((8, 16, 32))
        step = random.choice((1, 1, 2))
        first = random.choice((0, 8, 16, random.randrange(COLUMNS)))
        first = min(first, COLUMNS - 1 - step * (count - 1))
        if first < 0:
            continue
        lines += [
            f"%v{number} = nki.view %p offset={first} pattern=[[64, 128], [{step}, {count}]]",
            f"%x{number} = nki.view %x offset=0 pattern=[[64, 128], [1, {count}]]",
            f"nisa.nc_matmul dst=%v{number}, stationary=%w, moving=%x{number}",
        ]
    for answer, wanted in added(lines):
        assert np.array_equal(answer, wanted)


def test_banks_that_are_written_piece_by_piece() -> None:
    lines: list[str] = []
    for number in range(4):
        lines += [
            f"%v{number} = nki.view %p offset={number * 16} pattern=[[64, 128], [1, 16]]",
            f"%x{number} = nki.view %x offset=0 pattern=[[64, 128], [1, 16]]",
        ]
    for number in (*range(4), *range(4)):
        lines.append(f"nisa.nc_matmul dst=%v{number}, stationary=%w, moving=%x{number}")
    answers = [np.asarray(answer) for answer, _ in added(lines)]
    assert [bool(a.all()) for a in answers] == [False] * 4 + [True] * 4
