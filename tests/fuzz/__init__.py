"""Campaigns that look for mistakes with random input, for as long as one likes: `make fuzz`."""

from __future__ import annotations

import sys
from pathlib import Path

# What tests share is imported as `support`, here as there.
_UNIT = str(Path(__file__).resolve().parents[1] / "unit")
if _UNIT not in sys.path:
    sys.path.insert(0, _UNIT)
