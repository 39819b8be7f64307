"""The arguments of classic calls, and the parts of operands that masks select."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nkijit.migrate.amounts import Amount, greatest, least
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.indices import Bound, Mask
from nkijit.migrate.observing import ObservedEvent, Seen
from nkijit.migrate.rewriting import Rewriter
from nkijit.migrate.values import Ranges, TensorValue


def bind(function: Callable[..., Any], node: ast.Call) -> dict[str, ast.expr]:
    """Return the argument expressions of a call, by the parameter names of `function`."""
    if any(isinstance(a, ast.Starred) for a in node.args) or any(
        k.arg is None for k in node.keywords
    ):
        raise NoRewriteError("arguments that are unpacked", node)
    try:
        bound = inspect.signature(function).bind(
            *node.args, **{str(k.arg): k.value for k in node.keywords}
        )
    except TypeError as error:
        raise NoRewriteError(str(error), node) from None
    arguments: dict[str, ast.expr] = {}
    for name, value in bound.arguments.items():
        if isinstance(value, dict):
            arguments |= value
        else:
            arguments[name] = value
    return arguments


@dataclass(frozen=True)
class Crop:
    """The part of a tile that a mask selects: (begin, end) by dimension; -1 is the last one."""

    ranges: Mapping[int, tuple[Amount, Amount]]

    def of(self, tile: TensorValue, dims: Sequence[int] | None = None) -> TensorValue:
        """Return the selected part of a tile.

        `dims` has the mask's dimension for each dimension of the tile; by default, the last
        dimensions.
        """
        rank = tile.rank
        about = tuple(range(-rank, 0)) if dims is None else dims
        ranges: Ranges = {
            at: self.ranges[dim] for at, dim in enumerate(about) if dim in self.ranges
        }
        return tile.cropped(ranges)

    @property
    def is_whole(self) -> bool:
        """Whether the whole tile is selected, because there is no mask."""
        return not self.ranges


def crop(
    rewriter: Rewriter, arguments: dict[str, ast.expr], events: Sequence[ObservedEvent]
) -> Crop:
    """Return the part that the `mask=` of a call selects, and remove `mask` from `arguments`."""
    rewriter.guard = ""
    node = arguments.pop("mask", None)
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return Crop({})
    mask = rewriter.value(node)
    if not isinstance(mask, Mask):
        masks = [event.arguments.get("mask") for event in events]
        if all(mask is None for mask in masks):
            return Crop({})
        if all(isinstance(mask, bool) for mask in masks):
            rewriter.note("mask", node)
            rewriter.guard = rewriter.text(node)
            return Crop({})
        raise NoRewriteError("a mask that is no comparison of index expressions", node)
    rewriter.note("mask", node)
    bounds = mask.bounds
    rewriter.guard = " and ".join(f"({each})" for each in mask.conditions)
    if len(mask.conditions) == 1:
        rewriter.guard = mask.conditions[0]
    ranges: dict[int, tuple[Amount, Amount]] = {}
    for bound in bounds:
        low, high = Amount.of(0), bound.size
        if bound.dim in ranges:
            low, high = ranges[bound.dim]
        low = greatest(low, bound.low) if bound.low.number != 0 else low
        high = least(high, bound.high)
        ranges[bound.dim] = (low, high)
    named: dict[int, tuple[Amount, Amount]] = {}
    for dim, (low, high) in ranges.items():
        hint = "rows" if dim == min(ranges) and len(ranges) > 1 else "count"
        low = rewriter.count("first", low)
        high = rewriter.count(_hint(node, hint), high)
        if low.number == 0 and high == _size(bounds, dim):
            continue
        named[dim] = (low, high)
    if any(event.is_empty for event in events):
        raise NoRewriteError("a mask that leaves nothing at times", node)
    return Crop(named)


def _size(bounds: Sequence[Bound], dim: int) -> Amount:
    return next(b.size for b in bounds if b.dim == dim)


def _hint(node: ast.expr, otherwise: str) -> str:
    """Return a name for the number of selected elements, e.g. `rows_left` for `row < rows`."""
    if isinstance(node, ast.Compare) and len(node.comparators) == 1:
        for side in (node.comparators[0], node.left):
            if isinstance(side, ast.Name):
                return f"{side.id}_left"
    return f"{otherwise}_left"


def tensors(events: Sequence[ObservedEvent], name: str) -> tuple[Seen, ...]:
    """Return the tensors that recorded calls received for the parameter `name`."""
    return tuple(s for e in events if isinstance(s := e.arguments.get(name), Seen))


__all__ = ["Crop", "bind", "crop", "tensors"]
