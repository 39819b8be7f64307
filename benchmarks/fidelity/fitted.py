"""Constants that were fitted to published times of kernels, and their values without a source.

All other constants are documented, read from charts, or measured on single operations by others;
the data files of `dialects/hardware/timings/` name these sources. The spreads of predictions
(`passes/profile/spread.py`) are fitted as well, to all rows; see `leaving_out.py`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TIMINGS = Path(__file__).parents[2] / "dialects/hardware/timings"

RISHIC3, KDA = "rishic3/asst4-trainium2", "Jerry2423/kda-for-trainium"
ROBERTPARE17 = "robertpare17/asst4-trainium"


@dataclass(frozen=True)
class Fit:
    """A constant that rows of one repository decide."""

    target: str
    section: str
    key: str
    repository: str
    without: float
    """The value that other sources give for the constant."""
    reason: str
    """The source of `without`."""


FITS = (
    Fit("trn2", "sequencer", "kernel_prebuilt_ns", RISHIC3, 16100, "that of trn1, from a chart"),
    Fit("trn2", "dma", "descriptor_ns", RISHIC3, 5.5, "DMA overview, rows of 4 KiB at 97%"),
    Fit("trn2", "dma", "hbm_bytes_per_ns", KDA, 375, "hardware page, 3.0 TB/s for 8 cores"),
    Fit("trn2", "tensor", "throttle_below", KDA, 0.5, "Neuron Explorer, about a half"),
    Fit("trn1", "dma", "prebuilt_ns", ROBERTPARE17, 70, "that of trn2"),
)


@contextmanager
def constants_without(repository: str, target: str) -> Iterator[Path | None]:
    """Yield a file of the target's constants without those that a repository decides.

    Yields None if the repository decides no constant of the target.
    """
    fits = [fit for fit in FITS if (fit.repository, fit.target) == (repository, target)]
    if not fits:
        yield None
        return
    text = (TIMINGS / f"{target}.toml").read_text(encoding="utf-8")
    for fit in fits:
        pattern = rf"(^\[{fit.section}\]$(?:(?!^\[).*\n)*?^{fit.key} = ).*$"
        text, count = re.subn(pattern, rf"\g<1>{fit.without}", text, count=1, flags=re.MULTILINE)
        if not count:
            raise ValueError(f"{target}.toml has no {fit.section}.{fit.key}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{target}.toml"
        path.write_text(text, encoding="utf-8")
        yield path
