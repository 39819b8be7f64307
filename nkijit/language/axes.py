"""The axes of reductions: their legality, and the shapes of results."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from nkijit import isa
from nkijit.dialects.nisa.reduce import wrong_axes
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.dialects.rule_texts.shapes import REDUCE_AXES
from nkijit.language.tiles import expect_tile
from nkijit.tracing.call_arguments import argument_of
from nkijit.tracing.locations import author_frame
from nkijit.tracing.operators import Word
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


@dataclass(frozen=True, slots=True)
class TileReduction:
    """A tile and the axes that are reduced, with the shapes of the result."""

    x: NkiTensor
    axis: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of elements of `x` that are reduced to one element of the result."""
        return math.prod(self.x.shape[-len(self.axis) :])

    @property
    def kept(self) -> tuple[int, ...]:
        """The shape of the result with `keepdims`: reduced dimensions have size 1."""
        return (*self.x.shape[: -len(self.axis)], *(1,) * len(self.axis))

    @property
    def dropped(self) -> tuple[int, ...]:
        """The shape of the result without reduced dimensions; at least two dimensions remain."""
        left = self.x.shape[: -len(self.axis)]
        return left if len(left) > 1 else (*left, 1)

    @property
    def whole_rows(self) -> bool:
        """True when all free dimensions are reduced: the result has one element per partition."""
        return math.prod(self.kept[1:]) == 1

    def reduce(self, dst: NkiTensor, op: Word, data: NkiTensor, *, negate: bool = False) -> None:
        """Emit one instruction that reduces `data`, which has the shape of `x`, into `dst`."""
        isa.tensor_reduce(dst, op, data, self.axis, negate=negate)

    def spread(self, reduced: NkiTensor) -> NkiTensor:
        """Return a view of a reduced tile, of shape `kept`, broadcast to the shape of `x`."""
        for dim, size in enumerate(self.x.shape):
            if reduced.shape[dim] != size:
                reduced = reduced.broadcast(dim, size)
        return reduced


def reduction(call: str, x: Any, axis: Any) -> TileReduction:
    """Return a reduction; ends the trace for illegal arguments."""
    tile = expect_tile(call, "x", x)
    return TileReduction(tile, legal_axes(call, tile.ndim, axis, tile.name))


def legal_axes(call: str, rank: int, axis: Any, name: str) -> tuple[int, ...]:
    """Return the axes to reduce of a tile of `rank` dimensions, in ascending order.

    Axes that `nisa.tensor_reduce` does not support end the trace. `name` is the tile's name in the
    message.
    """
    several = isinstance(axis, (tuple, list))
    axes = tuple(cast(Sequence[Any], axis)) if several else (axis,)
    if not all(type(a) is int for a in axes):
        _refuse_two_tiles(call, axis)
        tracer_for(call).wrong_argument(call, "axis", "an integer or a sequence of integers", axis)
    wrong = wrong_axes(rank, axes, name)
    if wrong is not None:
        message, help = wrong
        tracer_for(call).fail(REDUCE_AXES, call, message.replace("axis is", "'axis' is"), help)
    return tuple(sorted(a % rank for a in axes))


_OF_TWO_TILES = {"nl.max": "maximum", "nl.min": "minimum", "nl.prod": "multiply", "nl.sum": "add"}
"""Maps reductions to the functions that compute the same of two tiles, element by element."""


def _refuse_two_tiles(call: str, axis: Any) -> None:
    """End the trace if a reduction is called with a second tile in the place of `axis`."""
    function, frame = _OF_TWO_TILES.get(call), author_frame()
    if function is None or not (hasattr(axis, "shape") and hasattr(axis, "buffer")):
        return
    nodes = [argument_of(frame, name) for name in ("x", "axis")]
    one, two = ("..." if node is None else ast.unparse(node) for node in nodes)
    message = f"'axis': expected an integer or a sequence of integers, got {one_line(axis)}"
    help = f"{call} reduces along an axis; for two tiles, write nl.{function}({one}, {two})"
    tracer_for(call).fail(ARGUMENT, call, message, help)
