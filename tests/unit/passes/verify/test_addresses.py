"""Tiles at fixed addresses, against a memory that records the last writer of each byte."""

from __future__ import annotations

from random import Random

import pytest

from nkijit.ir.text import launches_of, parse
from nkijit.passes.verify.addresses import check_addresses

PARTITIONS = 4
ROW = 4
"""Elements of 4 bytes in a row of a tile."""

Step = tuple[int | None, int]
"""The tile that an instruction reads, if any, and the one that it writes."""


def _program(random: Random, tiles: int) -> list[Step]:
    written: list[int] = []
    steps: list[Step] = []
    for _ in range(random.randint(2, 8)):
        read = random.choice([None, *written])
        write = random.choice([t for t in range(tiles) if t != read])
        steps.append((read, write))
        written.append(write)
    return steps


def _spoils(addresses: list[tuple[int, int]], steps: list[Step]) -> bool:
    """True when something reads bytes of a tile that another tile has overwritten."""
    owner: dict[tuple[int, int], int] = {}
    for read, write in steps:
        if read is not None and any(owner[place] != read for place in _places(addresses[read])):
            return True
        owner |= dict.fromkeys(_places(addresses[write]), write)
    return False


def _places(address: tuple[int, int]) -> list[tuple[int, int]]:
    partition, byte = address
    return [(partition + p, byte + b) for p in range(PARTITIONS) for b in range(4 * ROW)]


def _found(addresses: list[tuple[int, int]], steps: list[Step]) -> list[str]:
    lines = [
        f"%t{i} = nki.alloc address=[{p}, {b}] : memref<{PARTITIONS}x{ROW}xf32, #nki.sbuf>"
        for i, (p, b) in enumerate(addresses)
    ]
    for read, write in steps:
        source = "nisa.memset" if read is None else "nisa.tensor_copy"
        rest = "value=0.0" if read is None else f"src=%t{read}"
        lines.append(f"{source} dst=%t{write}, {rest}")
    body = "\n".join(lines)
    module = parse(f"nki.kernel @k() target=trn3 {{\n{body}\nnki.return\n}}")
    (kernel,) = launches_of(module)["k"]
    return [str(d) for d in check_addresses(kernel)]


@pytest.mark.parametrize("seed", range(300))
def test_only_overwritten_tiles_are_found(seed: int) -> None:
    random = Random(seed)
    choices = [(p, b) for p in (0, 2, 4) for b in (0, 8, 16)]
    addresses = random.choices(choices, k=random.randint(2, 4))
    steps = _program(random, len(addresses))
    found = _found(addresses, steps)
    assert bool(found) == _spoils(addresses, steps), (addresses, steps, found)


def test_the_program_draws_both() -> None:
    drawn: set[bool] = set()
    for seed in range(50):
        random = Random(seed)
        addresses = random.choices([(0, 0), (0, 8), (0, 16)], k=3)
        drawn.add(_spoils(addresses, _program(random, 3)))
    assert drawn == {True, False}
