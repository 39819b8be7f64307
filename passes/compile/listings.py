"""The listing of a kernel: its schedule, and the queues of each core."""

from __future__ import annotations

from collections.abc import Sequence

from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.lower.listing import listing
from nkijit.passes.lower.program import Program


def listing_of(programs: Sequence[Program]) -> str:
    """Return the listing of all cores as text.

    The first line names the author's schedule; in a listing with the compiler's schedule, that line
    has the changes of each core.
    """
    text = "\n".join(map(listing, programs))
    schedule = Schedule.of(programs[0])
    return f"{schedule.headline}\n{text}" if schedule is Schedule.author else text
