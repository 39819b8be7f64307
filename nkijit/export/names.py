"""Names for the values of a kernel, as Python takes them."""

from __future__ import annotations

import builtins
import keyword
import re

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

    def inside(self) -> Names:
        """Names for a scope in which these are taken, too."""
        return Names(*self._taken)

    def of(self, hint: str | None, otherwise: str) -> str:
        """A name like `hint`, or `otherwise` without one; collisions get a number."""
        base = re.sub(r"\W", "_", hint or otherwise, flags=re.ASCII) or otherwise
        if base[0].isdigit():
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
