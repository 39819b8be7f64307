"""The configuration that lit needs to test kernels by the text that commands print of them."""

from __future__ import annotations

from importlib import resources


def lit_config() -> str:
    """A `lit.cfg.py` for the folder that it is written into.

    It finds `nkijit`, `nkijit-opt` and `filecheck` beside the Python that lit runs in, whatever
    environment is active. `nkijit lit-config > lit.cfg.py` writes it.

        >>> from nkijit.testing.lit import lit_config
        >>> "lit.formats.ShTest" in lit_config()
        True
    """
    folder = resources.files("nkijit") / "assets" / "lit"
    return (folder / "lit.cfg.py.txt").read_text(encoding="utf-8")
