"""Measure the speed of nkijit and print tables: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import os
import sys

from rich.console import Console
from rich.table import Table

from benchmarks import cold, computing, following, growth, memory, tiny, warm
from benchmarks.kernels import KERNELS, blocks, reused
from benchmarks.measuring import Ratio
from benchmarks.production import layers, steps
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.interpret.backends.choice import NATIVE, NUMPY, is_installed
from nkijit.passes.verify.verdicts import CACHE_VARIABLE


def first_calls(console: Console, rounds: int) -> bool:
    """Print the table of first calls. Returns whether a limit is exceeded."""
    title = "first calls, µs per instruction and times bare creation"
    table = Table("kernel", "bare", *cold.STEPS, "limit", title=title)
    failed = False
    for make in KERNELS:
        ratios = cold.first_call(make(cold.INSTRUCTIONS), rounds)
        limit = cold.LIMITS[make.__name__]
        failed |= ratios["together"].value > limit
        cells = [
            f"{ratio.ours:.1f}\n{ratio.value:.1f}x ({ratio.low:.1f}–{ratio.high:.1f})"
            for ratio in ratios.values()
        ]
        bare = f"{ratios['together'].other:.1f}"
        table.add_row(make.__name__, bare, *cells, f"\n≤ {limit:.0f}x")
    console.print(table)
    return failed


def ratios(console: Console, rounds: int) -> bool:
    """Print the table of ratios. Returns whether a limit is exceeded."""
    results: list[tuple[str, Ratio, float]] = [
        ("trace / bare creation, µs per op", following.tracing(rounds), following.TRACING_LIMIT)
    ]
    sizes = ((1_000, rounds), (10_000, rounds), (100_000, 1))
    for count, times in sizes:
        name = f"all passes / bare creation, {count:,} instructions, ms"
        ratio = following.verification(count, times)
        results.append((name, ratio, following.PASSES_LIMIT))
    for count, times in sizes:
        name = f"lower, list, profile / bare creation, {count:,} instructions, ms"
        results.append((name, following.lowering(count, times), following.LOWERING_LIMIT))
    name = "interpret / NumPy by hand, ms"
    results.append((name, computing.interpretation(rounds), computing.LIMIT))
    for name, limit in computing.CASTS.items():
        narrow, widen = computing.cast(name, rounds)
        results.append((f"float32 to {name} / float32 copy, µs", narrow, limit))
        results.append((f"{name} to float32 / float32 copy, µs", widen, limit))
    table = Table("measured", "nkijit", "other", "ratio", "limit", title="speed")
    for name, ratio, limit in results:
        numbers = (f"{ratio.ours:.2f}", f"{ratio.other:.2f}", f"{ratio.value:.2f}")
        table.add_row(name, *numbers, f"≤ {limit:.2f}")
    call = computing.cached_call(rounds)
    name = "cached call of the smallest kernel, µs"
    table.add_row(name, f"{call:.1f}", "", "", f"≤ {computing.CALL_LIMIT}")
    console.print(table)
    over = any(ratio.value > limit for _, ratio, limit in results)
    return over or call > computing.CALL_LIMIT


def warm_calls(console: Console, rounds: int) -> bool:
    """Print the table of warm calls on each backend. Returns whether a limit is exceeded."""
    backends = [NUMPY, NATIVE] if is_installed() else [NUMPY]
    title = "warm calls, µs and times NumPy by hand, tile by tile, buffers reused"
    table = Table("kernel", "whole arrays", "by hand", *backends, title=title)
    found: dict[str, list[Ratio]] = {backend: [] for backend in backends}
    for case in warm.cases():
        cells: list[str] = []
        for backend in backends:
            ratio = warm.measured(case, backend, 10 * rounds)
            found[backend].append(ratio)
            cells.append(f"{ratio.ours:.0f}  {ratio.value:.2f}x ({ratio.low:.2f}–{ratio.high:.2f})")
        by_hand, whole = found[backends[-1]][-1].other, warm.on_whole_arrays(case, rounds)
        table.add_row(case.name, f"{whole:.0f}", f"{by_hand:.0f}", *cells)
    means = {backend: warm.geometric_mean(ratios) for backend, ratios in found.items()}
    table.add_row(
        "geometric mean",
        "",
        "",
        *(f"{mean:.2f}x, ≤ {warm.LIMITS[backend]:.2f}x" for backend, mean in means.items()),
    )
    console.print(table)
    return any(mean > warm.LIMITS[backend] for backend, mean in means.items())


def tiny_tiles(console: Console, rounds: int) -> bool:
    """Print the table of instructions on tiny tiles. Returns whether a limit is exceeded."""
    backends = [NUMPY, NATIVE] if is_installed() else [NUMPY]
    title = f"an instruction on {tiny.N}x{tiny.N} float32, µs"
    table = Table("instruction", "by hand", *backends, "limit", title=title)
    failed = False
    for name in tiny.INSTRUCTIONS:
        found = [tiny.measured(name, backend, 10 * rounds) for backend in backends]
        failed |= len(found) == 2 and found[1].ours > tiny.LIMIT
        cells = [f"{found[0].other:.2f}", *(f"{ratio.ours:.2f}" for ratio in found)]
        table.add_row(name, *cells, f"≤ {tiny.LIMIT} ({NATIVE})")
    console.print(table)
    return failed


def memory_of_runs(console: Console) -> bool:
    """Print the table of memory. Returns whether a limit is exceeded."""
    table = Table("measured", "found", "limit", title="memory")
    faults, live = memory.page_faults(), memory.tile_bytes() / (2 * memory.TILE)
    name = f"page faults of a warm call, {memory.WARM_TILES} tiles of 256 KiB"
    table.add_row(name, str(faults), f"≤ {memory.FAULTS_LIMIT}")
    name = f"{memory.TILES:,} tiles of 256 KiB, two live, over those two"
    table.add_row(name, f"{live:.2f}x", f"≤ {memory.MEMORY_LIMIT}x")
    console.print(table)
    return faults > memory.FAULTS_LIMIT or live > memory.MEMORY_LIMIT


def passes(console: Console) -> None:
    """Print the time of each verification pass."""
    table = Table("pass", "reused", "blocks", title="passes, µs per instruction")
    columns = [
        following.by_pass(kernels_of(make(10_000).fresh().module)[0], 10_000)
        for make in (reused, blocks)
    ]
    for name in columns[0]:
        table.add_row(name, *(f"{column[name]:.2f}" for column in columns))
    console.print(table)


def sizes(console: Console, million: bool) -> bool:
    """Print the table of growth. Returns whether it exceeds the limit for linear growth."""
    heads = (*(f"{step} s" for step in growth.STEPS), "verified MiB", "run MiB", "MiB")
    table = Table("kernel", "instructions", *heads, title="growth")
    failed = False
    for name in growth.KERNELS:
        counts, rows = list(growth.SIZES), growth.growth(name)
        worst = growth.worst_of(rows)
        failed |= worst > growth.LIMIT
        if million:
            counts.append(growth.MILLION)
            rows += growth.growth(name, [growth.MILLION])
        for count, (*spent, verified, ran, peak) in zip(counts, rows, strict=True):
            skipped = [""] * (len(growth.STEPS) - len(spent))
            times = [*(f"{n:.3f}" for n in spent), *skipped]
            table.add_row(name, f"{count:,}", *times, *(f"{n:.0f}" for n in (verified, ran, peak)))
        console.print(f"{name}: worst growth from 10,000 to 100,000: {worst:.1f}x (linear: 10x)")
    console.print(table)
    return failed


def production(console: Console) -> bool:
    """Print the table of production kernels. Returns whether a limit is exceeded."""
    heads = (
        "operations",
        "trace",
        "verify",
        "first run",
        "second call",
        "over bare",
        "new process",
    )
    title = "production kernels, seconds; new: trace and verify as the first in a process"
    table = Table("kernel", *heads, title=title)
    failed = False
    for make in layers.KERNELS:
        for size in steps.SIZES:
            steps.steps(make.__name__, steps.SIZES[0])  # imports
            row, new = steps.steps(make.__name__, size), ""
            times = (row.trace, row.verify, row.first_run, row.second_call)
            over = f"{row.overhead:.1f}x"
            failed |= row.verify > steps.VERIFY_LIMIT * row.trace
            if size == steps.SIZES[0]:
                first = steps.in_new_process(make.__name__, size)
                failed |= first.trace + first.verify > steps.NEW_PROCESS_LIMIT
                new = f"{first.trace + first.verify:.2f}, ≤ {steps.NEW_PROCESS_LIMIT}"
            else:
                failed |= row.overhead > steps.OVERHEAD_LIMIT
                over += f", ≤ {steps.OVERHEAD_LIMIT:.0f}x"
            shown = [f"{time:.3f}" for time in times]
            table.add_row(make.__name__, f"{row.operations:,}", *shown, over, new)
    console.print(table)
    return failed


PARTS = ("first", "production", "warm", "tiny", "memory", "ratios", "passes", "growth")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds per measurement")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is exceeded")
    parser.add_argument("--only", choices=PARTS, help="print only this table")
    parser.add_argument("--million", action="store_true", help="add a kernel of 10**6 instructions")
    options = parser.parse_args()
    os.environ[CACHE_VARIABLE] = ""  # every kernel is verified
    console = Console(width=110)
    failed = False
    for part in PARTS if options.only is None else (options.only,):
        match part:
            case "first":
                failed |= first_calls(console, options.rounds)
            case "production":
                failed |= production(console)
            case "warm":
                failed |= warm_calls(console, options.rounds)
            case "tiny":
                failed |= tiny_tiles(console, options.rounds)
            case "memory":
                failed |= memory_of_runs(console)
            case "ratios":
                failed |= ratios(console, options.rounds)
            case "passes":
                passes(console)
            case _:
                failed |= sizes(console, options.million)
    return int(options.check and failed)


if __name__ == "__main__":
    sys.exit(main())
