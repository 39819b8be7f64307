"""`nkijit/dialects` and `nkijit/passes` where git has made text files of these links.

That is what git does on Windows unless it is allowed to make links. nkijit runs all the same: an
editable install finds the folders by pyproject.toml's table. pyright, import-linter and editors do
not, so `make lint` begins with this:

    python -m tools.links
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tools.checkout import ROOT, toml_of

_HELP = """\
nkijit/ has text files in the place of links to {names}, and links cannot be made here:
  {error}
nkijit runs without them; pyright, import-linter and editors need them. On Windows switch on the
Developer Mode (Settings, System, For developers), and run this again."""


def links(root: Path = ROOT) -> dict[Path, Path]:
    """The links of the checkout, and what each leads to, relative to its own folder."""
    table = toml_of(root / "pyproject.toml")["tool"]["setuptools"]["package-dir"]
    return {
        root.joinpath(*package.split(".")): Path("..", folder)
        for package, folder in table.items()
        if "." in package
    }


def repair(root: Path = ROOT) -> list[str]:
    """Make links of the text files that git has left; returns the names of what they lead to.

    git takes the links for what it has left, so nothing counts as changed. Raises OSError where no
    links can be made; the text files stay then.
    """
    repaired: list[str] = []
    for link, leads_to in links(root).items():
        if link.is_symlink() or not link.is_file():
            continue
        made = link.with_name(f".{link.name}.link")
        made.unlink(missing_ok=True)
        os.symlink(leads_to, made, target_is_directory=True)
        link.unlink()
        made.rename(link)
        repaired.append(leads_to.name)
    return repaired


def main() -> int:
    """Repair the links of this checkout, and say so."""
    try:
        for name in repair():
            print(f"nkijit/{name}: the text file that git had left is a link now")
    except OSError as error:
        names = " and ".join(f"{leads_to.name}/" for leads_to in links().values())
        print(_HELP.format(names=names, error=error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
