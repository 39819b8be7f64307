"""Names for the values of a kernel, as Python takes them."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata

MODULES = {
    "base64": "import base64",
    "zlib": "import zlib",
    "ml_dtypes": "import ml_dtypes",
    "nki": "import nki",
    "ncc": "import nki.collectives as ncc",
    "nisa": "import nki.isa as nisa",
    "nl": "import nki.language as nl",
    "np": "import numpy as np",
}
"""What an exported file may import, by name, in the order in which formatters sort it."""

_RESERVED = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *MODULES}
_AMBIGUOUS = ("l", "O", "I")
"""Linters refuse these: they look like digits."""


class Names:
    """Hands out names, each of them once."""

    def __init__(self, *taken: str):
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def inside(self, *more: str) -> Names:
        """Names for a scope in which these are taken, too, and `more`."""
        return Names(*self._taken, *more)

    def of(self, hint: str | None, otherwise: str) -> str:
        """A name like `hint`, or `otherwise` without one; collisions get a number."""
        # Python takes names for the same that are in this form.
        base = re.sub(r"\W", "_", unicodedata.normalize("NFKC", hint or otherwise))
        if not base.isidentifier():
            base = f"{otherwise}_{base}"
        if base in _RESERVED or base in _AMBIGUOUS:
            base = f"{base}_"
        name, count = base, self._counts.get(base, 0)
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._counts[base] = count
        self._taken.add(name)
        return name
