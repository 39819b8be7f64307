"""Display of results: `repr` shows one line, `print` one page, and notebooks show everything."""

from __future__ import annotations

import html
from typing import Self

from nkijit.dialects.spelling import counted
from nkijit.passes.diagnostics.styled import as_html, line


class ShownAsText:
    """Base class of results that notebooks show as the text of `print`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return html_of_text(str(self))


class ShownText(str):
    """A text with a one-line `repr`. `print` and notebooks show all of it."""

    what: str
    """The title of the text, e.g. `listing of @scores for trn2`."""

    def __new__(cls, text: str, what: str) -> Self:
        shown = super().__new__(cls, text)
        shown.what = what
        return shown

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (str(self), self.what)

    def __repr__(self) -> str:
        count = self.count("\n")
        return f"<{self.what}: {counted(count, 'line')}>"

    def _repr_html_(self) -> str:
        return html_of_text(self)


_DARK = ('[data-jp-theme-light="false"]', '[data-theme="dark"]', '[theme="dark"]', ".vscode-dark")
"""Selectors of dark pages: Jupyter and nbconvert, Sphinx themes, Colab, Visual Studio Code."""
_THEMES = (
    "<style>.nkijit-page { color-scheme: light }"
    f"{', '.join(f'{each} .nkijit-page' for each in _DARK)} {{ color-scheme: dark }}</style>"
)
"""The theme of a frame is that of its page. Browsers would use that of the system."""


class ShownPage(ShownText):
    """A self-contained HTML page. Notebooks show it in a frame."""

    def __repr__(self) -> str:
        return f"<{self.what}: a page of {-(-len(self) // 1000):,} kB>"

    def _repr_html_(self) -> str:
        # The sandboxed frame isolates its scripts and styles from the notebook.
        return (
            f'{_THEMES}<iframe class="nkijit-page" sandbox="allow-scripts allow-downloads" '
            f'title="{html.escape(self.what)}" '
            'style="width:100%;height:min(80vh,800px);min-height:480px;border:1px solid #8888;'
            'box-sizing:border-box" '
            f'srcdoc="{html.escape(self)}"></iframe>'
        )


def html_of_text(text: str) -> str:
    """Return a text as one `<pre>` element: monospaced, and never wrapped or cut."""
    return as_html([line(each) for each in text.rstrip("\n").split("\n")])
