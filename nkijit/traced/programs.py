"""Notes on findings about unwritten memory: other programs of a launch may write that memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts.initialisation import (
    OUTPUT_PARTLY_UNWRITTEN,
    OUTPUT_UNWRITTEN,
    READ_UNWRITTEN,
    UNDEFINED_USE,
)
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.places import Position

_UNWRITTEN = (OUTPUT_UNWRITTEN, OUTPUT_PARTLY_UNWRITTEN, READ_UNWRITTEN, UNDEFINED_USE)
_REST = re.compile(r"nothing has written its elements \[([\d:, ]+)\]")


@dataclass(frozen=True, slots=True)
class _Share:
    """The part of a result that each program of a launch writes, along one dimension."""

    dim: int
    size: int
    whole: int

    @property
    def programs(self) -> int:
        """The number of programs that write the whole result."""
        return self.whole // self.size

    def __str__(self) -> str:
        what = "rows" if self.dim == 0 else f"elements in dimension {self.dim}"
        return f"{self.size} of the {self.whole} {what}"

    @staticmethod
    def of(message: str, programs: int) -> _Share | None:
        """Return the share that a message implies if all programs have equal shares; else None."""
        rest = _REST.search(message)
        if rest is None:
            return None
        ranges = [tuple(map(int, part.split(":"))) for part in rest[1].split(", ")]
        cut = [dim for dim, (start, _) in enumerate(ranges) if start]
        if len(cut) != 1:
            return None
        written, whole = ranges[cut[0]]
        if written % programs or whole % (written // programs):
            return None
        return _Share(cut[0], written // programs, whole)


def of_few_programs(
    found: Sequence[Diagnostic], launched: tuple[Position, int] | None, kernel: KernelOp
) -> list[Diagnostic]:
    """Add a note to findings about unwritten memory: more programs may write that memory.

    Args:
        found: the findings of a launch.
        launched: the first `nl.program_id`, and the number of programs of the launch.
        kernel: the program of the launch's first core.
    """
    if launched is None or (launched[1] > 1 and kernel.classic is None):
        return list(found)
    return [_noted(d, *launched, kernel) if d.rule in _UNWRITTEN else d for d in found]


def _noted(found: Diagnostic, place: Position, programs: int, kernel: KernelOp) -> Diagnostic:
    share = None if kernel.classic is None else _Share.of(found.message, programs)
    which = "0" if programs == 1 else f"0 to {programs - 1}"
    note = f"nl.program_id is {which} of {programs} at {place}"
    if share is not None and share.programs > 2:
        help = f"launch kernel[{share.programs}](…), if each program writes {share}"
    elif programs == 1:
        help = "launch with -c 2, in Python kernel[2](…), if the other program writes the rest"
    else:
        return found
    return replace(found, notes=(*found.notes, note), help=f"{help}; else {found.help}")
