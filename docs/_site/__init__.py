"""Generator of the documentation site: `make site`, or `python -m docs._site`.

The pages of docs/ are Markdown that is readable in the repository. `assemble.py` copies them to a
folder under build/ and adapts their links. It adds the reference, which `reference/` generates from
declarations, docstrings and tests. `docs/conf.py` configures Sphinx.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[2]

# The examples of functions use the tests' definitions of tensors and other names.
_UNIT = str(ROOT / "tests" / "unit")
if _UNIT not in sys.path:
    sys.path.insert(0, _UNIT)
