"""The report page of a kernel, optionally with a comparison with another kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nkijit.passes.lower.program import Program
from nkijit.passes.profile.profile import Profile
from nkijit.passes.report.compare import comparison_of, departed_of
from nkijit.passes.report.model import Report
from nkijit.traced.html import html_of
from nkijit.traced.recording import TracedRecording


@dataclass(frozen=True, slots=True)
class Reported:
    """The report of a kernel, and the programs, profile and recording it was built from."""

    report: Report
    programs: Sequence[Program]
    profile: Profile | None
    record: TracedRecording | None = None
    """A recorded run of the kernel, for the values on the page or for comparison only."""
    ir: Callable[[], str] = str
    """Returns the kernel's IR with loops, which comparisons show."""

    def html(self, against: Reported | None = None) -> str:
        """Return the page as HTML; `against` adds a comparison with another kernel."""
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
                    (self.ir(), against.ir()),
                )
        return html_of(self.report)
