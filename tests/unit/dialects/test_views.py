"""Views beyond their allocation are rejected: random views against lists of their bytes."""

from __future__ import annotations

import random
from itertools import product

import pytest
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.access import AccessPattern, Indirection, ViewError
from nkijit.dialects.dtypes import DTYPES, DType
from nkijit.dialects.hardware.targets import target_named
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.registers import RegisterOp
from nkijit.dialects.nki.views import DynamicPart, ViewOp
from nkijit.dialects.rule_texts.access import PATTERN_BOUNDS
from nkijit.dialects.tiles import memref_type

NAMES = ("uint8", "bfloat16", "float32")
REGIONS = (MemoryRegion.sbuf, MemoryRegion.psum, MemoryRegion.private_hbm)
SEEDS = range(40)
VIEWS = 60


def _bytes(access: AccessPattern, size: int, index: int, scale: int) -> list[tuple[int, int, int]]:
    """Return (row of the view, first byte, end byte) of each element, computed one by one."""
    listed: list[tuple[int, int, int]] = []
    for position in product(*map(range, access.shape)):
        steps = sum(s * i for s, i in zip(access.strides, position, strict=True))
        first = (access.offset + index * scale + steps) * size
        listed.append((position[0], first, first + size))
    return listed


def _is_legal(
    shape: tuple[int, ...],
    source: DType,
    region: MemoryRegion,
    access: AccessPattern,
    result: DType,
    dynamic: DynamicPart | None,
) -> bool:
    row = source.itemsize
    for count in shape[1:]:
        row *= count
    total = row * shape[0]
    if region.on_chip and row % result.itemsize:
        return False
    runs = range(1) if dynamic is None else range(dynamic.bound)
    placed: set[tuple[int, ...]] = set()
    for index in runs:
        elements = _bytes(access, result.itemsize, index, 0 if dynamic is None else dynamic.scale)
        if any(first < 0 or last > total for _, first, last in elements):
            return False
        if not region.on_chip:
            continue
        # All elements of a row of the view are in one partition, at the same places in each.
        partitions: list[int] = []
        columns: list[list[int]] = []
        for number in range(access.shape[0]):
            mine = [first for r, first, _ in elements if r == number]
            if len({first // row for first in mine}) != 1:
                return False
            partitions.append(mine[0] // row)
            columns.append([first % row for first in mine])
        if any(column != columns[0] for column in columns):
            return False
        placed.add(tuple(partitions))
    return len(placed) <= 1


def _accepts(
    source: SSAValue, access: AccessPattern, dtype: DType, dynamic: DynamicPart | None
) -> bool:
    """True when a view is one, and the rule about its bounds has nothing to say."""
    try:
        view = ViewOp.of(source, access, dtype, dynamic)
        view.verify()
    except (ViewError, VerifyException):
        return False
    (bounds,) = [rule for rule in ViewOp.RULES if rule.text is PATTERN_BOUNDS]
    return bounds.check(view, target_named("trn3")) is None


def _pattern(draw: random.Random, row: int, total: int) -> AccessPattern:
    rank = draw.randint(1, 3)
    strides = [draw.choice([row, row, row, -row, 2 * row, 1, row + 1])]
    strides += [draw.choice([-2, -1, 0, 1, 1, 2, 3]) for _ in range(rank)]
    shape = [draw.randint(1, 4) for _ in strides]
    return AccessPattern(draw.randrange(-1, total + 1), tuple(strides), tuple(shape))


@pytest.mark.parametrize("seed", SEEDS)
def test_views_are_right_exactly_when_they_stay_in_their_allocation(seed: int) -> None:
    draw = random.Random(seed)
    legal = 0
    for _ in range(VIEWS):
        region = draw.choice(REGIONS)
        source, result = (DTYPES[draw.choice(NAMES)] for _ in range(2))
        shape = (draw.randint(1, 5), draw.randint(1, 8))
        tile = AllocOp.of(memref_type(source, shape, region)).result
        row = max(1, shape[1] * source.itemsize // result.itemsize)
        access = _pattern(draw, row, shape[0] * row)
        dynamic = None
        if draw.random() < 0.4:
            register = RegisterOp.of().result
            scale, bound = draw.choice([0, 1, 1, row]), draw.randint(1, 4)
            dynamic = DynamicPart(Indirection.scalar, register, scale, bound)
        expected = _is_legal(shape, source, region, access, result, dynamic)
        legal += expected
        assert _accepts(tile, access, result, dynamic) == expected, (
            f"{region} {shape} {source.name} {access} as {result.name} {dynamic}"
        )
    assert legal
