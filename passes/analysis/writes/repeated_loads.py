"""Repeated loads: loads of bytes of HBM that were loaded before and not written in between.

`dependences.py` lists, byte by byte, the writes that a load depends on. Two loads of one view load
the same data if they depend on the same writes and no synchronisation with another core or rank is
between them. A load in a device loop loads the same data in each iteration if its address does not
change and no iteration writes the bytes that it reads.
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
    """A load from HBM into on-chip memory, at addresses known before run time."""

    op: DmaCopyOp
    contents: Hashable
    """A key that is equal for loads of the same bytes in the same order."""
    runs_again: bool
    """True if the load is in a device loop and loads the same data in each iteration."""


def loads_of(program: Dependences) -> list[Load]:
    """Return the loads of a kernel from known addresses that always load the same data."""
    seen: dict[DmaCopyOp, set[tuple[frozenset[int], int]]] = {}
    runs: dict[DmaCopyOp, int] = {}
    meetings = 0
    for event in program.events:
        op = event.op
        if isinstance(op, WAITING):
            meetings += 1  # later loads may see the writes of other cores
        elif isinstance(op, DmaCopyOp) and _is_static_load(op):
            seen.setdefault(op, set()).add((frozenset(event.sources), meetings))
            runs[op] = runs.get(op, 0) + 1
    found: list[Load] = []
    for op, written in seen.items():
        if len(written) > 1:
            continue  # an iteration reads data that an earlier one wrote
        contents = base_of(op.src), access_of(op.src), info_of(op.src).dtype, *written
        found.append(Load(op, contents, runs[op] > 1))
    return found


def _is_static_load(op: DmaCopyOp) -> bool:
    dst, src = info_of(op.dst), info_of(op.src)
    if dst.indirection is not None or src.indirection is not None:
        return False
    return dst.region.on_chip and not src.region.on_chip
