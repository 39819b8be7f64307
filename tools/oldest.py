"""Print the oldest versions of dependencies that pyproject.toml allows, as requirements for pip.

python -m tools.oldest > oldest.txt
python -m pip install -r oldest.txt
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tools.checkout import ROOT, toml_of

_LEFT_OUT = ("dev", "site", "torch", "jax")
"""Extras for nkijit's development, and for large frameworks."""
_BOUND = re.compile(r"(?P<name>[\w.-]+)>=(?P<version>[\d.]+)(,<[\d.]+)?")


def oldest(project: dict[str, Any]) -> Iterator[str]:
    """Yield a requirement for each dependency: `numpy==1.26.*` for `numpy>=1.26`.

    `project` is the table of pyproject.toml. Raises ValueError for a dependency without a lower
    bound.
    """
    extras: dict[str, list[str]] = project["optional-dependencies"]
    used = [each for name, found in extras.items() if name not in _LEFT_OUT for each in found]
    for requirement in dict.fromkeys([*project["dependencies"], *used]):
        bound = _BOUND.fullmatch(requirement)
        if bound is None:
            raise ValueError(f"no oldest version in {requirement!r}")
        version = bound["version"]
        yield f"{bound['name']}=={version}{'' if '.' in version else '.0'}.*"


if __name__ == "__main__":
    print("\n".join(oldest(toml_of(ROOT / "pyproject.toml")["project"])))
