"""Where things are in the checkout."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
ALIASES = ROOT / "aliases"
LIT = ROOT / "tests" / "lit"
GOLDEN = ROOT / "tests" / "golden"
TIMINGS = ROOT / "dialects" / "hardware" / "timings"
