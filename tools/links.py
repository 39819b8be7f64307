"""Repair the links `nkijit/dialects` and `nkijit/passes` where git has written text files instead.

git does this on Windows, unless it may create links. nkijit works without them: an editable install
finds the folders by the table in pyproject.toml. pyright, import-linter and editors need them, so
`make lint` begins with:

    python -m tools.links
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tools.checkout import ROOT, toml_of

_HELP = """\
nkijit/ has text files instead of links to {names}, and links cannot be created here:
  {error}
nkijit works without them; pyright, import-linter and editors need them. On Windows, switch on the
Developer Mode (Settings, System, For developers), and run this again."""


def links(root: Path = ROOT) -> dict[Path, Path]:
    """Return the links of the checkout with their targets, relative to the link's folder."""
    table = toml_of(root / "pyproject.toml")["tool"]["setuptools"]["package-dir"]
    return {
        root.joinpath(*package.split(".")): Path("..", folder)
        for package, folder in table.items()
        if "." in package
    }


def repair(root: Path = ROOT) -> list[str]:
    """Replace the text files that git has written by links. Returns the names of their targets.

    git does not report the links as changes. Raises OSError where links cannot be created, and
    leaves the text files.
    """
    repaired: list[str] = []
    for link, leads_to in links(root).items():
        if link.is_symlink() or not link.is_file():
            continue
        replacement = link.with_name(f".{link.name}.link")
        replacement.unlink(missing_ok=True)
        os.symlink(leads_to, replacement, target_is_directory=True)
        link.unlink()
        replacement.rename(link)
        repaired.append(leads_to.name)
    return repaired


def main() -> int:
    """Repair the links of this checkout and print the repaired ones."""
    try:
        for name in repair():
            print(f"nkijit/{name}: replaced git's text file by a link")
    except OSError as error:
        names = " and ".join(f"{leads_to.name}/" for leads_to in links().values())
        print(_HELP.format(names=names, error=error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
