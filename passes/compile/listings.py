"""The listing of a kernel: its schedule, and the queues of each core."""

from __future__ import annotations

from collections.abc import Sequence

from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.lower.listing import listing
from nkijit.passes.lower.program import Program


def listing_of(programs: Sequence[Program]) -> str:
    """Return the listing of all cores as text.

    The first line names the author's schedule, or the compiler's with the changes of the core. Only
    errors that did not stop the lowering precede it.
    """
    schedule = Schedule.of(programs[0])
    headline = schedule.headline if schedule is Schedule.author else ""
    first, *others = programs
    return "\n".join((listing(first, headline), *map(listing, others)))
