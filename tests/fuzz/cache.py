"""The trace cache: random kernels that change between calls, compared with uncached traces."""

from __future__ import annotations

import os
from random import Random

from support.changing_kernels import Program, program, stale_steps

from tests.fuzz.campaign import Count, Finding, UnavailableError, until


def campaign(rng: Random, deadline: float) -> Count:
    """Run a round: random kernels with changes."""
    if not hasattr(os, "fork"):
        raise UnavailableError("processes that know nothing are forked")
    count = Count()
    for _ in until(deadline, 20):
        case = program(rng)
        count.cases += 1
        stale, live = stale_steps(case)
        count.skipped += live.hits == 0
        if stale:
            count.findings.append(Finding("\n".join(["a stale trace", *stale]), _files(case)))
    return count


def _files(case: Program) -> dict[str, bytes]:
    """Return a program as files: its modules, and the statements before and between calls."""
    statements = "\n".join([*case.begin, "# then, one by one", *case.changes])
    files = {"statements.py": statements, **case.files}
    return {name.replace("/", "."): text.encode() for name, text in files.items() if text}
