"""What has been written in PSUM along a kernel: `accumulate=True` needs something to add to."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from nkijit.dialects.constraints import engine_of
from nkijit.dialects.declare import NisaOp
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.fields import Role
from nkijit.dialects.hardware import MemoryRegion, Target, engine, nc_version
from nkijit.dialects.nki import KernelOp
from nkijit.dialects.rule_texts.dataflow import PSUM_ACCUMULATE
from nkijit.dialects.tiles import TileInfo, info_of
from nkijit.dialects.views import base_of
from nkijit.passes.verify.diagnostics import Diagnostic, diagnose


def check_psum(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Every matmul that accumulates where nothing is to add to."""
    if not any(isinstance(op, NisaOp) and _accumulates(op) for op in kernel.operations):
        return
    # Dictionaries as ordered sets: what was written last is the likeliest to be added to.
    written: dict[SSAValue, dict[TileInfo, None]] = {}
    for op in kernel.operations:
        if not isinstance(op, NisaOp):
            continue
        for value, role in reads_and_writes(op):
            tile = info_of(value)
            if role is Role.read or tile.region is not MemoryRegion.psum:
                continue
            tiles = written.setdefault(base_of(value), {})
            if _accumulates(op) and tile not in tiles and not _touches(tile, tiles):
                yield diagnose(
                    PSUM_ACCUMULATE,
                    op,
                    "'accumulate' is True, but nothing to add to has been written in 'dst' before",
                    [("dst", value)],
                )
            if _initialises(op, kernel.target):
                tiles[tile] = None


def _accumulates(op: NisaOp) -> bool:
    return "accumulate" in op.SPEC.by_name and op.value_of("accumulate") is True


def _initialises(op: NisaOp, target: Target) -> bool:
    # Before NeuronCore-v4 matmuls add to what matmuls have written, to nothing else.
    return target.version >= nc_version.gen4 or engine_of(op, target) is engine.tensor


def _touches(tile: TileInfo, tiles: dict[TileInfo, None]) -> bool:
    # Partly written counts as written: convolutions accumulate into shifted windows.
    return any(tile.overlaps(other) for other in reversed(tiles))
