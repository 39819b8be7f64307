"""What a page shows of a kernel, also beside another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nkijit.passes.lower.program import Program
from nkijit.passes.profile.profile import Profile
from nkijit.passes.report.compare import comparison_of, departed_of
from nkijit.passes.report.model import Report
from nkijit.traced.html import html_of
from nkijit.traced.recording import TracedRecording


@dataclass(frozen=True, slots=True)
class Reported:
    """What a page shows of a kernel, and what it was made from."""

    report: Report
    programs: Sequence[Program]
    profile: Profile | None
    record: TracedRecording | None = None
    """A recorded run, whose values it shows, or others are compared with."""

    def html(self, against: Reported | None = None) -> str:
        """The page; with another kernel beside this one if that is given."""
        if against is not None:
            self.report.other = against.report
            values = self.report.values
            if values is not None and self.record is not None and against.record is not None:
                self.report.departed = departed_of(values, self.record, against.record)
            if self.profile is not None and against.profile is not None:
                self.report.comparison = comparison_of(
                    (self.report, against.report),
                    (self.programs, against.programs),
                    (self.profile, against.profile),
                )
        return html_of(self.report)
