"""What was published: the rows of `rows.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROWS = Path(__file__).parent / "rows.toml"


@dataclass(frozen=True)
class Source:
    """A file of a public repository at GitHub."""

    repository: str
    """`owner/name`."""
    commit: str
    path: str
    prelude: str = ""
    """Imports, for a kernel that stands in a text without them."""

    @property
    def url(self) -> str:
        """Where the file is fetched from."""
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
    version: int = 0
    """Which of the pieces of the source that define the function, from 0."""
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    """Numbers that whoever measured had set in the kernel, by the name they are assigned to."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments that are no tensors."""
    disable_dge: bool = False
    with_launch: bool = True
    """True when the time has the start and the end of the launch in it."""
    versions: str = ""
    """Rows with the same word are versions of one kernel, whose order is compared."""
    unavailable: str = ""
    """Why it cannot be predicted: its source is not public any more. It does not count."""


@dataclass(frozen=True)
class Published:
    """Everything that is compared with."""

    sources: Mapping[str, Source]
    rows: tuple[Row, ...]


def read_rows(path: Path = ROWS) -> Published:
    """The rows of a file."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    sources = {name: Source(**table) for name, table in tables["sources"].items()}
    rows = tuple(Row(**{**t, "inputs": tuple(t["inputs"])}) for t in tables["rows"])
    return Published(sources, rows)
