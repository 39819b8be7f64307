"""Self-contained SVG pictures: no external fonts, style sheets or scripts."""

from __future__ import annotations

from html import escape

COLOURS = (
    *("#77AADD", "#EE8866", "#EEDD88", "#FFAABB"),
    *("#99DDFF", "#44BB99", "#BBCC33", "#AAAA00"),
)
"""Paul Tol's light scheme: distinct for colour-blind people, and black text is legible on it."""
INK = "currentColor"
"""The colour of text and lines on the background: that of the surrounding text."""
ON_COLOUR = "#222222"
"""The colour of text on `COLOURS`."""
MARK = "#D33A52"
"""The colour of marks, which is legible on light and dark backgrounds."""
GRID = "#88888855"
LETTER = 6.6
"""The largest width of a letter in pixels, at font size 11."""


class Picture:
    """An SVG picture to which elements are added from the top down."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._parts: list[str] = []
        self._top = 0.0

    def down(self, pixels: float) -> None:
        """Move the origin down by a number of pixels, for the elements that are added later."""
        self._top += pixels

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: int = 12,
        bold: bool = False,
        anchor: str = "start",
        colour: str = INK,
    ) -> None:
        """Add a line of text; `anchor` is start, middle or end."""
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{self._top + y:.1f}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}"{weight}>{escape(words, quote=False)}</text>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, colour: str, width: float, dash: str = ""
    ) -> None:
        """Add a line; `dash` is the SVG dash pattern."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<line x1="{x1:.1f}" y1="{self._top + y1:.1f}" x2="{x2:.1f}" '
            f'y2="{self._top + y2:.1f}" stroke="{colour}" stroke-width="{width}"{dashes}/>'
        )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        colour: str,
        *,
        border: float = 0.6,
        dash: str = "",
        title: str = "",
    ) -> None:
        """Add a rectangle; its title is shown when the pointer is over it."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        shape = (
            f'<rect x="{x:.2f}" y="{self._top + y:.2f}" width="{width:.2f}" '
            f'height="{height:.2f}" fill="{colour}" stroke="{ON_COLOUR}" '
            f'stroke-width="{border}"{dashes}'
        )
        self._parts.append(
            f"{shape}><title>{escape(title, quote=False)}</title></rect>" if title else shape + "/>"
        )

    def svg(self, *, inline: bool = False) -> str:
        """Return the SVG document. Its height fits the elements.

        Args:
            inline: whether the picture has the colours of the page that it is part of, which may be
                dark. Otherwise it is dark on white.
        """
        height = self._top + 12
        ground = f'<rect width="{self._width}" height="{height:.0f}" fill="#FFFFFF"/>'
        colour = "" if inline else f'color="{ON_COLOUR}" '
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self._width}" '
                f'height="{height:.0f}" viewBox="0 0 {self._width} {height:.0f}" '
                f'style="max-width:100%;height:auto" {colour}'
                'font-family="Helvetica, Arial, DejaVu Sans, sans-serif">',
                *([] if inline else [ground]),
                *self._parts,
                "</svg>\n",
            ]
        )
