"""The target `nki-listing` of `nkijit-opt`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from nkijit.passes.lower.listing import listing
from nkijit.passes.lower.passes import lowered


@dataclass(frozen=True)
class ListingTarget(Target):
    """Prints the listing of every kernel and lowered program of a module."""

    name = "nki-listing"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write("\n".join(map(listing, lowered(module))))
