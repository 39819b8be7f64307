"""Export of kernels: an exported kernel traces to the same IR.

The kernels are those of the campaign `programs`, most of them with bounds, addresses and indices
that are known only at run time. Each is exported as traced, from its text, without loops, and after
the compiler's passes. A kernel with Python's `while register:` exports to different IR, so its
results are compared.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from random import Random

from support.exports import check_round_trip, has_own_condition, retraced

from nkijit.ir.text import parse
from nkijit.traced.kernel import TracedKernel
from tests.fuzz.campaign import Count, Finding, until
from tests.fuzz.programs import SORTS, Case, results_of, runtime

CASES = 8
"""Maximum kernels per round."""


def campaign(rng: Random, deadline: float) -> Count:
    """Run a round: random kernels, each exported in every way."""
    count = Count()
    for _ in until(deadline, CASES):
        case = (runtime if rng.random() < 0.6 else rng.choice(SORTS))(rng)
        count.cases += 1
        for problem in wrong_with(case):
            files = {"kernel.mlir": case[0].text().encode()}
            count.findings.append(Finding(problem, files))
    return count


def wrong_with(case: Case) -> Iterator[str]:
    """Yield the ways of exporting a kernel that do not reproduce it."""
    traced, inputs, _ = case
    ways: dict[str, Callable[[], object]] = {
        "as traced": lambda: check_round_trip(traced),
        "from its text": lambda: check_round_trip(TracedKernel(parse(traced.text()))),
        "without loops": lambda: check_round_trip(traced, loops=False),
    }
    if not traced.diagnostics.errors:
        ways["as compiled"] = lambda: check_round_trip(traced, order=False, schedule="compiler")
    for way, check in ways.items():
        try:
            check()
        except AssertionError:
            yield f"another kernel when exported {way}\n\n{traceback.format_exc()}"
        except Exception as error:
            yield f"{type(error).__name__} when exported {way}: {error}\n\n{traceback.format_exc()}"
    is_other = any(map(has_own_condition, traced.cores()))
    if is_other and results_of(retraced(traced), inputs) != results_of(traced, inputs):
        yield "other results when exported as traced"
