"""Campaigns that look for mistakes with random input, for as long as one likes: `make fuzz`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Before NumPy is imported: processes are forked here, and threads of its BLAS are not for that.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What tests share is imported as `support`, here as there.
_UNIT = str(Path(__file__).resolve().parents[1] / "unit")
if _UNIT not in sys.path:
    sys.path.insert(0, _UNIT)
