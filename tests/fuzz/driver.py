"""Run fuzzing campaigns, store their findings and print a table.

    python -m tests.fuzz --minutes 10
    python -m tests.fuzz --only files --seed 7 --round 12

All campaigns get the same share of the time. `--seed` (by default random, and printed) determines
the cases. A finding is stored in a folder under `build/fuzz/`, with the command that reproduces its
round. The exit code is 1 when there are findings.

Campaigns are not guided by coverage. Atheris, the maintained tool for Python, runs all cases in one
process: it cannot limit the memory and time of a case, cannot continue after a crash, and cannot
repeat a run from a seed. The campaign `files` needs all of these. Hypothesis
(`hypothesis.target`) maximises a number that a test defines. Instead, the campaign `files` further
mutates mutants with new output.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from random import Random, SystemRandom
from time import monotonic

import tests.fuzz
from tests.fuzz.campaign import Count, Finding, UnavailableError

FINDINGS = Path("build") / "fuzz"
Campaign = Callable[[Random, float], Count]


@cache
def campaigns() -> dict[str, Campaign]:
    """Return the campaigns of this package by name."""
    modules = [m.name for m in pkgutil.iter_modules(tests.fuzz.__path__) if m.name != "__main__"]
    found = {name: importlib.import_module(f"tests.fuzz.{name}") for name in modules}
    return {name: m.campaign for name, m in found.items() if hasattr(m, "campaign")}


@dataclass
class Tally:
    """The results of a campaign's rounds."""

    name: str
    count: Count = field(default_factory=Count)
    seconds: float = 0.0
    rounds: dict[int, list[Finding]] = field(default_factory=dict[int, list[Finding]])
    """Findings by the number of their round."""
    missing: str = ""
    """The reason why the campaign cannot run on this machine."""


def run_rounds(name: str, seed: str, rounds: Sequence[int], deadline: float) -> Tally:
    """Run rounds of a campaign until the deadline, at least one."""
    tally, start = Tally(name), monotonic()
    for number in rounds:
        rng = Random(f"{name} {seed} {number}")
        try:
            result = campaigns()[name](rng, deadline)
        except UnavailableError as error:
            tally.missing = str(error)
            break
        except Exception as error:
            title = f"the campaign raised {type(error).__name__}: {error}"
            result = Count(1, findings=[Finding(f"{title}\n\n{traceback.format_exc()}")])
        tally.count.add(result)
        if result.findings:
            tally.rounds[number] = result.findings
        if monotonic() > deadline:
            break
    tally.seconds = monotonic() - start
    return tally


def keep(tally: Tally, seed: str) -> list[str]:
    """Write findings into folders, one per kind. Returns lines that describe them."""
    kinds: dict[str, list[tuple[int, Finding]]] = {}
    for number, findings in sorted(tally.rounds.items()):
        for finding in findings:
            kinds.setdefault(finding.kind, []).append((number, finding))
    lines: list[str] = []
    for index, cases in enumerate(kinds.values()):
        number, finding = cases[0]
        safe_seed = re.sub(r"\W", "_", seed)
        folder = FINDINGS / f"{tally.name}-{safe_seed}-{number}-{index}"
        folder.mkdir(parents=True, exist_ok=True)
        begin = [sys.executable, "-m", "tests.fuzz", "--only", tally.name]
        again = shlex.join([*begin, "--seed", str(seed), "--round", str(number)])
        (folder / "finding.txt").write_text(f"{finding.text}\n\nagain: {again}\n", "utf-8")
        for file, content in finding.files.items():
            (folder / file).write_bytes(content)
        times = f" ({len(cases)} times)" if len(cases) > 1 else ""
        lines += [f"{tally.name}: {finding.title[:300]}{times}", f"  stored: {folder}"]
        lines += [f"  again: {again}"]
    return lines


def table(tallies: Sequence[Tally]) -> str:
    """Return the table of results: cases, seconds, findings and outcomes per campaign."""
    lines = [f"{'campaign':<14}{'cases':>8}{'skipped':>13}{'seconds':>9}{'findings':>10}"]
    for tally in tallies:
        count = tally.count
        line = f"{tally.name:<14}{count.cases:>8}{count.skipped:>13}{tally.seconds:>9.0f}"
        lines.append(f"{line}{len(count.findings):>10}  {tally.missing}".rstrip())
        lines += [f"{number:>10} {what}" for what, number in sorted(count.outcomes.items())]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run campaigns. Returns 1 when there are findings."""
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="total time; default 5")
    parser.add_argument("--seed", default=str(SystemRandom().randrange(10**6)), help="any text")
    parser.add_argument(
        "--only", action="append", choices=campaigns(), help="run this campaign; may be repeated"
    )
    parser.add_argument("--round", type=int, help="run only this round")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes; default 1")
    options = parser.parse_args(arguments)
    names = options.only or list(campaigns())
    share = options.minutes * 60 / len(names)
    print(f"seed {options.seed}", flush=True)
    tallies = [_run(name, options, share) for name in names]
    print(table(tallies))
    return any(tally.count.findings for tally in tallies)


def _run(name: str, options: argparse.Namespace, share: float) -> Tally:
    if options.round is not None:
        tally = run_rounds(name, options.seed, [options.round], monotonic() + 3600.0)
    elif options.jobs == 1:
        tally = run_rounds(name, options.seed, range(10**9), monotonic() + share)
    else:
        tally = _run_together(name, options.seed, share, options.jobs)
    for line in keep(tally, options.seed):
        print(line, flush=True)
    return tally


def _run_together(name: str, seed: str, share: float, jobs: int) -> Tally:
    """Run a campaign in `jobs` processes; process `n` runs the rounds n, n + jobs, …"""
    total, start = Tally(name), monotonic()
    run = partial(run_rounds, name, seed, deadline=start + share)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for part in pool.map(run, [range(job, 10**9, jobs) for job in range(jobs)]):
            total.count.add(part.count)
            total.rounds |= part.rounds
            total.missing = total.missing or part.missing
    total.seconds = monotonic() - start
    return total
