"""The folders that nkijit's own code is in: what stands in them is no author's.

In a wheel that is one. In a checkout without symbolic links, as git makes them on Windows,
`nkijit.dialects` and `nkijit.passes` are found where they stand at the top of the repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import nkijit.dialects
import nkijit.passes


def prefixes(folders: Iterable[str | Path]) -> tuple[str, ...]:
    """What the paths of files in some folders begin with, for `str.startswith`.

    With its end: `nkijit_kernels/` beside `nkijit/` is not a part of it.
    """
    return tuple({str(folder).rstrip(os.sep) + os.sep: None for folder in folders})


OWN = prefixes((Path(__file__).parents[1], *nkijit.dialects.__path__, *nkijit.passes.__path__))
"""What the paths of nkijit's own files begin with."""
