"""Recordings and bisections of kernels with loops on the device.

Random kernels with loops of Python and on the device. The contents of every instance of a tile are
also computed without nkijit. A bisection against them must find nothing, and must find an instance
that was changed.
"""

from __future__ import annotations

import traceback
from random import Random

from support.sequenced_kernels import sequenced_kernel, wrong_with

from tests.fuzz.campaign import Count, Finding, until

CASES = 20
"""Maximum kernels per round."""


def campaign(rng: Random, deadline: float) -> Count:
    """Run a round: random kernels, each recorded and bisected."""
    count = Count()
    for _ in until(deadline, CASES):
        count.cases += 1
        kernel = sequenced_kernel(rng)
        try:
            found = list(wrong_with(kernel, rng))
        except Exception as error:
            found = [f"{type(error).__name__}: {error}\n\n{traceback.format_exc()}"]
        for problem in found:
            count.findings.append(Finding(problem, {"kernel.py": kernel.source.encode()}))
    return count
