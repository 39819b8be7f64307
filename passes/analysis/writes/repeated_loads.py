"""Loads of what has been loaded before: the same bytes of HBM, with no write in between.

Which writes a load sees is told byte by byte (`dependences.py`), so two loads of the same view
bring the same contents if they see the same ones, and no other core or rank is met in between. In a
loop on the device a load is run again; it brings the same if its address does not change and no
iteration writes what it reads.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nki.views import access_of, base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.flow.dependences import Dependences


@dataclass(frozen=True, slots=True)
class Load:
    """A load from HBM into SBUF whose addresses are known."""

    op: DmaCopyOp
    contents: Hashable
    """Equal for loads that bring the same bytes in the same order."""
    runs_again: bool
    """It is in a loop on the device, of which each iteration brings the same."""


def loads_of(program: Dependences) -> list[Load]:
    """The loads of a kernel whose addresses are known, in program order."""
    seen: dict[DmaCopyOp, set[tuple[frozenset[int], int]]] = {}
    runs: dict[DmaCopyOp, int] = {}
    meetings = 0
    for event in program.events:
        op = event.op
        if isinstance(op, WAITING):
            meetings += 1  # behind it is what others have written
        elif isinstance(op, DmaCopyOp) and _is_static_load(op):
            seen.setdefault(op, set()).add((frozenset(event.sources), meetings))
            runs[op] = runs.get(op, 0) + 1
    found: list[Load] = []
    for op, written in seen.items():
        if len(written) > 1:
            continue  # each iteration reads what the one before has written
        contents = base_of(op.src), access_of(op.src), info_of(op.src).dtype, *written
        found.append(Load(op, contents, runs[op] > 1))
    return found


def _is_static_load(op: DmaCopyOp) -> bool:
    dst, src = info_of(op.dst), info_of(op.src)
    if dst.indirection is not None or src.indirection is not None:
        return False
    return dst.region.on_chip and not src.region.on_chip
