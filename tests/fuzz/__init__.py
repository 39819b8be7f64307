"""Fuzzing campaigns with a time limit: `make fuzz`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Before NumPy is imported: processes are forked here, which is unsafe with threads of its BLAS.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The tests' package `support` is imported by the same name as in the tests.
_UNIT = str(Path(__file__).resolve().parents[1] / "unit")
if _UNIT not in sys.path:
    sys.path.insert(0, _UNIT)
