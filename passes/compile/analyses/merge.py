"""Merging of tiles with the same contents."""

from __future__ import annotations

from functools import cached_property
from typing import cast

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.passes.compile.analyses.cache import Analyses


class Tiles:
    """Replaces tiles of a kernel by other tiles with the same contents."""

    def __init__(self, analyses: Analyses):
        self._analyses = analyses

    @cached_property
    def _places(self) -> dict[Operation, int]:
        """The index of each allocation in program order, among all allocations of the kernel."""
        return {op: place for place, op in enumerate(self._analyses.of_kind.get(AllocOp, ()))}

    def merge(self, replacement: SSAValue, replaced: SSAValue, filled: NisaOp) -> None:
        """Replace a tile by another tile of the same type in the same block.

        Args:
            replacement: the tile that is used instead.
            replaced: the replaced tile; its allocation is erased.
            filled: the instruction that fills `replaced`; it is erased.
        """
        here, there = cast(AllocOp, replacement.owner), cast(AllocOp, replaced.owner)
        places = self._places
        if places[there] < places[here]:
            # Views of `replaced` may precede the allocation of `replacement`.
            block = here.parent
            assert block is not None
            here.detach()
            block.insert_op_before(here, there)
            places[here] = places[there]
        Rewriter.erase_op(filled)
        replaced.replace_all_uses_with(replacement)
        Rewriter.erase_op(there)
