"""The page of the package index: the README, whose links hold from there as well.

Everything else about the distribution is in pyproject.toml.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
_LINK = re.compile(r"(?<=\]\()(?!https?://|mailto:|#)(?:\./)?([^)\s]+)(?=\))")
"""The target of a Markdown link that is a path in the repository."""


def page(readme: str, repository: str, version: str) -> str:
    """A README with links to files in the repository, as they are at a version."""
    return _LINK.sub(rf"{repository}/blob/v{version}/\1", readme)


def _page() -> str:
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = (HERE / "nkijit" / "version.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    assert found is not None
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    return page(readme, project["urls"]["Repository"], found[1])


if __name__ == "__main__":  # what builds runs it so; tests import it
    setup(long_description=_page(), long_description_content_type="text/markdown")
