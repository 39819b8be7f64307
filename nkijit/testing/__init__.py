"""Test functions for kernels; they need no device.

The functions raise AssertionError with the problem and its place, under pytest, unittest or
neither. nkijit's pytest plugin (`pytest_nkijit`) adds targets and fixtures, and shows the kernels
of failing tests in reports.

A kernel argument is a traced kernel (`kernel.trace(x)`), or a kernel with `inputs`: its arguments,
in order or by name, with tensors as `"128x512:bfloat16"`.
"""

from nkijit.testing.closeness import assert_close
from nkijit.testing.equivalence import assert_equivalent
from nkijit.testing.findings import assert_findings, assert_no_findings
from nkijit.testing.inputs import random_inputs
from nkijit.testing.matching import filecheck
from nkijit.testing.speed import assert_faster

__all__ = [
    "assert_close",
    "assert_equivalent",
    "assert_faster",
    "assert_findings",
    "assert_no_findings",
    "filecheck",
    "random_inputs",
]


def __dir__() -> list[str]:
    """Return the public names, without the submodules."""
    return sorted(__all__)
