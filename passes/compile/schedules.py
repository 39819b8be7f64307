"""The choice between the author's instruction order and the compiler's."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nkijit.passes.lower.program import Program


class Schedule(StrEnum):
    """Whether to use the instruction order and tiles of the author, or those of the compiler."""

    author = "author"
    compiler = "compiler"

    @staticmethod
    def of(program: Program) -> Schedule:
        """Return the schedule of a lowered program."""
        return Schedule.author if program.changes is None else Schedule.compiler

    @property
    def words(self) -> str:
        """The schedule in the title of a picture or a result: `schedule author`."""
        return f"schedule {self}"

    @property
    def headline(self) -> str:
        """The line with which texts about a kernel with this schedule begin."""
        return f"{self.words}: {_MEANINGS[self]}"


_MEANINGS = {
    Schedule.author: "order and tiles as written; profile and report predict schedule compiler",
    Schedule.compiler: "order and tiles after the compiler's passes",
}
