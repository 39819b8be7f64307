"""Two tiles with the same contents become one."""

from __future__ import annotations

from functools import cached_property
from typing import cast

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.passes.compile.analyses.cache import Analyses


class Tiles:
    """The tiles of a kernel, while some of them go."""

    def __init__(self, analyses: Analyses):
        self._analyses = analyses

    @cached_property
    def _places(self) -> dict[Operation, int]:
        """The place of each allocation among them, which is asked for where a tile goes."""
        return {op: place for place, op in enumerate(self._analyses.of_kind.get(AllocOp, ()))}

    def merge(self, kept: SSAValue, gone: SSAValue, filled: NisaOp) -> None:
        """Let those who read a tile read another one of the same type and block.

        Args:
            kept: the other one.
            gone: the tile, which goes.
            filled: the instruction that fills it, and goes as well.
        """
        here, there = cast(AllocOp, kept.owner), cast(AllocOp, gone.owner)
        places = self._places
        if places[there] < places[here]:
            # Views of the tile that goes may stand before the other tile.
            block = here.parent
            assert block is not None
            here.detach()
            block.insert_op_before(here, there)
            places[here] = places[there]
        Rewriter.erase_op(filled)
        gone.replace_all_uses_with(kept)
        Rewriter.erase_op(there)
