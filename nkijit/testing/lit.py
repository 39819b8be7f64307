"""The configuration for lit tests of kernels, which check the output of commands."""

from __future__ import annotations

from importlib import resources


def lit_config() -> str:
    """Return a `lit.cfg.py` for the folder that it is written to.

    It finds `nkijit`, `nkijit-opt` and `filecheck` next to the Python that runs lit, in any
    environment. `nkijit lit-config > lit.cfg.py` writes it.

    Example:

        >>> from nkijit.testing.lit import lit_config
        >>> "lit.formats.ShTest" in lit_config()
        True
    """
    folder = resources.files("nkijit") / "assets" / "lit"
    return (folder / "lit.cfg.py.txt").read_text(encoding="utf-8")
