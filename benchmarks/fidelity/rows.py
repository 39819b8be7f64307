"""Published times: the rows of `rows.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROWS = Path(__file__).parent / "rows.toml"


@dataclass(frozen=True)
class Source:
    """A file of a public repository at GitHub, or a folder whose rows name the file."""

    repository: str
    """`owner/name`."""
    commit: str
    path: str
    prelude: str = ""
    """Imports to add, for a kernel in a text without them."""

    def file(self, name: str) -> Source:
        """Return the source of a file in the folder `path`; the source itself without a name."""
        return replace(self, path=f"{self.path}/{name}") if name else self

    @property
    def url(self) -> str:
        """The address of the file."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{self.path}"


@dataclass(frozen=True)
class Row:
    """A published time of a kernel."""

    name: str
    source: str
    """The key of its `Source`."""
    function: str
    inputs: tuple[str, ...]
    """Data type and shape of each argument: `float32[128,512]`."""
    target: str
    measured_us: float
    file: str = ""
    """The name of the file, if the source is a folder."""
    version: int = 0
    """Index of the definition of the function, if the source has several."""
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    """Values for constants of the kernel in this measurement, by variable."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments that are not tensors."""
    disable_dge: bool = False
    with_launch: bool = True
    """Whether the measured time includes the start and the end of the launch."""
    versions: str = ""
    """Rows with the same word are versions of one kernel; their order is compared."""
    busy_us: Mapping[str, float] = field(default_factory=dict[str, float])
    """Published busy times in µs by resource: `tensor`, `vector`, `scalar`, `gpsimd` or `dma`."""
    hbm_bytes: int = 0
    """Published bytes that are read from and written to HBM; 0 if none are."""
    unavailable: str = ""
    """The reason why the kernel's source is not public any more. Such rows are not counted."""


@dataclass(frozen=True)
class Published:
    """All published times, with the sources of their kernels."""

    sources: Mapping[str, Source]
    rows: tuple[Row, ...]


def read_rows(path: Path = ROWS) -> Published:
    """Read the rows of a TOML file."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    sources = {name: Source(**table) for name, table in tables["sources"].items()}
    rows = tuple(Row(**{**t, "inputs": tuple(t["inputs"])}) for t in tables["rows"])
    return Published(sources, rows)
