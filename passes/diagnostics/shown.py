"""How results show themselves: a line in a session, a page printed, all of it in a notebook."""

from __future__ import annotations

import html
from typing import Self

from nkijit.passes.diagnostics.styled import as_html, line


class ShownAsText:
    """What a notebook shows as the page of text that `print` gives."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return html_of_text(str(self))


class ShownText(str):
    """A text that names itself in a session; printed, and in a notebook, it is all there."""

    what: str
    """What it is: `listing of @scores for trn2`."""

    def __new__(cls, text: str, what: str) -> Self:
        made = super().__new__(cls, text)
        made.what = what
        return made

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (str(self), self.what)

    def __repr__(self) -> str:
        count = self.count("\n")
        return f"<{self.what}: {count:,} line{'' if count == 1 else 's'}>"

    def _repr_html_(self) -> str:
        return html_of_text(self)


class ShownPage(ShownText):
    """A page of HTML that needs nothing else; a notebook shows it in a frame of its own."""

    def __repr__(self) -> str:
        return f"<{self.what}: a page of {-(-len(self) // 1000):,} kB>"

    def _repr_html_(self) -> str:
        # Its scripts and styles stay inside: a frame without the notebook's origin.
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" title="{html.escape(self.what)}" '
            'style="width:100%;height:min(80vh,800px);min-height:480px;border:1px solid #8888;'
            'box-sizing:border-box" '
            f'srcdoc="{html.escape(self)}"></iframe>'
        )


def html_of_text(text: str) -> str:
    """A text in one `<pre>` element: monospaced, and never wrapped or cut."""
    return as_html([line(each) for each in text.rstrip("\n").split("\n")])
