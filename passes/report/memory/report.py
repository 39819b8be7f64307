"""The memory map of a kernel as authors hold it: what `TracedKernel.memory()` returns.

What is in it is found in `map.py`; `text.py` and `svg.py` draw it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.analysis.memory.map import MemoryMap, map_of
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.report.memory.svg import svg_of
from nkijit.passes.report.memory.text import text_of


@dataclass(frozen=True, slots=True, repr=False)
class MemoryReport(MemoryMap):
    """What a kernel keeps on the chip: `str()` is a table and a map, `svg()` a picture."""

    def __repr__(self) -> str:
        peaks = ", ".join(
            f"{space.name} {space.peak:,} of {space.capacity:,} bytes"
            for space in max(self.cores, key=lambda core: [s.peak for s in core.spaces]).spaces
        )
        return f"<memory of @{self.kernel} for {self.target}: {peaks}>"

    def __str__(self) -> str:
        return text_of(self)

    def svg(self) -> str:
        """The map as a picture that needs nothing else: time to the right, addresses upwards."""
        return svg_of(self)

    def _repr_svg_(self) -> str:
        return self.svg()

    def to_json(self) -> str:
        """Everything as JSON text, with places as `file:line:column`."""
        return json.dumps(plain(self), indent=2) + "\n"


def memory_report(kernels: Sequence[KernelOp]) -> MemoryReport:
    """The memory map of a kernel, given as its program for each core."""
    found = map_of(kernels)
    return MemoryReport(found.kernel, found.target, found.cores)
