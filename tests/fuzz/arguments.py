"""Calls of public functions with one wrong argument, subscript or operand.

Each ends in a finding at the user's line, or in an error that Python raises there: never in an
exception of nkijit's own code, a hang, or a large allocation. The calls run in a child process with
limits of time and memory.
"""

from __future__ import annotations

import signal
from random import Random
from time import monotonic

from support.wrong_arguments import outcomes

from nkijit.host.processes.channels import EndedError, OutOfTimeError
from nkijit.host.processes.isolated import Isolated, Limits
from tests.fuzz.campaign import Count, Finding, UnavailableError

CASES = 300
"""Maximum calls per round."""
LIMITS = Limits(seconds=120.0, mebibytes=3072)
"""Limits of a round. A call takes some milliseconds."""


def campaign(rng: Random, deadline: float) -> Count:
    """Run a round: random wrong calls."""
    if not hasattr(signal, "SIGVTALRM"):
        raise UnavailableError("calls are limited by a timer of the CPU")
    return tried(str(rng.random()), CASES, deadline)


def tried(seed: str, cases: int, deadline: float) -> Count:
    """Try wrong calls until the deadline."""
    count = Count()
    process = Isolated(outcomes, (seed, cases), LIMITS)
    title, source = "no call", ""
    try:
        while count.cases == 0 or monotonic() < deadline:
            found = process.next()
            if found is None:
                return count
            title, source, problem = found[0]
            count.cases += problem is None
            if problem is not None:
                count.findings.append(_finding(title, source, problem))
    except (EndedError, OutOfTimeError) as error:
        count.findings.append(_finding(title, source, str(error)))
    process.kill()
    return count


def _finding(title: str, source: str, problem: str) -> Finding:
    text = f"{problem.partition(chr(10))[0]}\n\n{title}:\n{source}\n\n{problem}"
    return Finding(text, {"call.py": source.encode("utf-8", "backslashreplace")})
