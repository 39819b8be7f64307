"""The public memory map of a kernel: the result of `TracedKernel.memory()`.

`map.py` computes its data; `text.py` and `svg.py` draw it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.spelling import counted
from nkijit.passes.analysis.memory.map import MemoryMap, map_of
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.diagnostics.shown import html_of_text
from nkijit.passes.report.memory.svg import svg_of
from nkijit.passes.report.memory.text import text_of


@dataclass(frozen=True, slots=True, repr=False)
class MemoryReport(MemoryMap):
    """The on-chip memory of a kernel: `str()` is a table and a map, `svg()` a picture."""

    def __repr__(self) -> str:
        peaks = ", ".join(
            f"{space.name} {space.peak:,} of {counted(space.capacity, 'byte')}"
            for space in max(self.cores, key=lambda core: [s.peak for s in core.spaces]).spaces
        )
        return f"<memory of @{self.kernel} for {self.target}, {Schedule.author.words}: {peaks}>"

    def __str__(self) -> str:
        return text_of(self)

    def svg(self) -> str:
        """Return a self-contained SVG picture: time to the right, addresses upwards."""
        return svg_of(self)

    def _repr_html_(self) -> str:
        text = html_of_text(str(self))
        picture = svg_of(self, inline=True)
        return f"{picture}<details><summary>as text</summary>{text}</details>"

    def to_json(self) -> str:
        """Return everything as JSON text, with places as `file:line:column`."""
        return json.dumps(plain(self) | {"schedule": Schedule.author.value}, indent=2) + "\n"


def memory_report(kernels: Sequence[KernelOp]) -> MemoryReport:
    """Return the memory map of a kernel; `kernels` are its programs, one per core."""
    found = map_of(kernels)
    return MemoryReport(found.kernel, found.target, found.cores)
