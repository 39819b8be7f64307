"""Tests of kernels, without a device: what a test function calls.

The functions raise AssertionError with what is wrong and where; they work under pytest, unittest
and without either. `docs/testing.md` shows them at work; the plugin of pytest that comes with
nkijit (`pytest_nkijit`) adds targets, fixtures, and what failing tests show of their kernels.

Wherever a kernel is asked for, a traced one will do (`kernel.trace(x)`), or a kernel with
`inputs`: its arguments, in order or by name, tensors as `"128x512:bfloat16"`.
"""

from nkijit.testing.closeness import assert_close
from nkijit.testing.findings import assert_findings, assert_no_findings
from nkijit.testing.inputs import random_inputs
from nkijit.testing.matching import filecheck
from nkijit.testing.speed import assert_faster

__all__ = [
    "assert_close",
    "assert_faster",
    "assert_findings",
    "assert_no_findings",
    "filecheck",
    "random_inputs",
]


def __dir__() -> list[str]:
    """The public names: modules that they come from are not completed."""
    return sorted(__all__)
