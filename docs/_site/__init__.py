"""What makes the documentation site: `make site`, or `python -m docs._site`.

The pages of docs/ are Markdown that can be read where it stands. `assemble.py` puts them into one
folder under build/, with links that fit there, together with the reference, which `reference/`
makes from declarations, docstrings and tests; `docs/conf.py` tells Sphinx what to make of it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[2]

# Examples of functions, and what they take for granted, are those of the tests.
_UNIT = str(ROOT / "tests" / "unit")
if _UNIT not in sys.path:
    sys.path.insert(0, _UNIT)
