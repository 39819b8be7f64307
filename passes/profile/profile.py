"""The public profile of a kernel: its time by the cost model, with an explanation.

`collect.py` computes the figures from a `Timeline`; `text.py` and `perfetto.py` show them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from functools import cached_property

from nkijit.dialects.spelling import counted
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.diagnostics.shown import html_of_text
from nkijit.passes.profile.collect import figures_of
from nkijit.passes.profile.extremes import Range, range_of
from nkijit.passes.profile.figures import Figures
from nkijit.passes.profile.perfetto import trace_of
from nkijit.passes.profile.svg import svg_of
from nkijit.passes.profile.text import text_of
from nkijit.passes.profile.timeline import Timeline
from nkijit.passes.profile.units import time_text


@dataclass(frozen=True, repr=False)
class Profile(Figures):
    """The predicted time of a kernel and its explanation. `str()` is a summary. Times are in ns."""

    timeline: Timeline = field(repr=False, compare=False)
    author: float | None = None
    """The time with the author's schedule in ns; None if `time` is the time with that schedule."""

    @cached_property
    def range(self) -> Range:
        """The range of the kernel's time, and the published times that it rests on."""
        return range_of(self, self.timeline)

    @property
    def schedule(self) -> Schedule:
        """The order and the tiles of the predicted instructions: of the author or the compiler."""
        return Schedule.of(self.timeline.programs[0])

    def __repr__(self) -> str:
        size = f"{time_text(self.time)}, {counted(self.instructions, 'instruction')}"
        return f"<profile of @{self.kernel} for {self.target}, {self.schedule.words}: {size}>"

    def svg(self) -> str:
        """Return the timeline as a self-contained SVG picture, with a row for each queue."""
        return svg_of(self.kernel, self.target, self.timeline)

    def _repr_html_(self) -> str:
        picture = svg_of(self.kernel, self.target, self.timeline, inline=True)
        return f"{picture}{html_of_text(str(self))}"

    def __str__(self) -> str:
        return text_of(self, self.range, self.schedule.headline, self.author)

    def to_json(self) -> str:
        """Return everything but the timeline as JSON text, with places as `file:line:column`."""
        extra = {"schedule": self.schedule.value, "range": plain(self.range)}
        return json.dumps(plain(self) | extra, indent=2) + "\n"

    def to_perfetto(self) -> str:
        """Return the timeline in Chrome's trace format, which ui.perfetto.dev opens."""
        return trace_of(self.timeline)


def profile_of(timeline: Timeline, author: float | None = None) -> Profile:
    """Create the profile of a simulated run; see `Profile.author`."""
    found = figures_of(timeline)
    figures = {f.name: getattr(found, f.name) for f in fields(Figures)}
    return Profile(**figures, timeline=timeline, author=author)
