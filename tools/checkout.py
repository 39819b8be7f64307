"""Access to the checkout: its root, TOML files and git."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def toml_of(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def git(*arguments: str, root: Path = ROOT) -> str:
    """Run git and return its output. Raises CalledProcessError."""
    command = ["git", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.strip()
