"""The folders of nkijit's own code, as opposed to users' code.

A wheel has one such folder. In a checkout without symbolic links, as git creates it on Windows,
`nkijit.dialects` and `nkijit.passes` are top-level folders of the repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import nkijit.dialects
import nkijit.passes


def prefixes(folders: Iterable[str | Path]) -> tuple[str, ...]:
    """Return the prefixes of paths in the given folders, for `str.startswith`.

    Each ends with a separator: `nkijit_kernels/` is not in `nkijit/`.
    """
    return tuple({str(folder).rstrip(os.sep) + os.sep: None for folder in folders})


OWN = prefixes((Path(__file__).parents[1], *nkijit.dialects.__path__, *nkijit.passes.__path__))
"""Prefixes of the paths of nkijit's own files."""
