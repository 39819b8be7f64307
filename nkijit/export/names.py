"""Valid Python names for the values of a kernel."""

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
"""The import statements that an exported file may need, by the imported name, in sorted order."""

_RESERVED = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *MODULES}
_AMBIGUOUS = ("l", "O", "I")
"""Names that linters reject because they look like digits."""


class Names:
    """Allocates unique names."""

    def __init__(self, *taken: str):
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def inside(self, *more: str) -> Names:
        """Return names for an inner scope; the names of this scope and `more` count as in use."""
        return Names(*self._taken, *more)

    def of(self, hint: str | None, otherwise: str) -> str:
        """Return an unused name derived from `hint`, or from `otherwise` if there is no hint."""
        # Python treats names as equal that have the same NFKC form.
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
