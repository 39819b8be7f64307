"""The public result of a sweep."""

from __future__ import annotations

from nkijit.sweeps.page import fragment_of, page_of
from nkijit.sweeps.results import Results
from nkijit.sweeps.text import text_of


class Sweep(Results):
    """The variants of a kernel: `str()` is a table, the best first."""

    def to_html(self) -> str:
        """Return a self-contained page with the table, and a plot of time against SBUF."""
        return page_of(self)

    def _repr_html_(self) -> str:
        return fragment_of(self)

    def __str__(self) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        return f"<{str(self).partition(chr(10))[0]}>"
