"""`nkijit lit-config`."""

from __future__ import annotations

from nkijit.cli.options import Output


def lit_config(*, output: Output) -> None:
    """Print a lit.cfg.py for FileCheck tests of kernels.

    Save it in the folder of the tests with `nkijit lit-config -o tests/lit.cfg.py`, then run
    `lit -v tests`.
    """
    from nkijit.testing.lit import lit_config as text_of_config

    output.write(text_of_config())
