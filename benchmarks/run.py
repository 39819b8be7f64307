"""Speed as ratios within one run: tracing, verifying, interpreting, calling, growth.

Absolute times depend on the machine; what is held to a limit is a ratio of two things measured
in turn in the same process, the median over rounds. `--check` fails when a limit is passed.
"""

from __future__ import annotations

import argparse
import gc
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.kernel import Kernel
from nkijit.passes.analysis.dependences import Dependences
from nkijit.passes.interpret.numerics import STORAGE, loader, rounder
from nkijit.passes.lower.listing import listing
from nkijit.passes.lower.schedule import lower
from nkijit.passes.profile.profile import profile_of
from nkijit.passes.profile.simulate import simulate
from nkijit.passes.verify.passes import WHOLE, VerificationPass, find_all

Array = npt.NDArray[np.float32]
P, F = 128, 512


def unrolled(instructions: int) -> Kernel:
    """A kernel of about so many instructions: ten per iteration, with views as in real code."""

    @nki.jit
    def kernel(x: Any, out: Any) -> None:
        pmax = nl.tile_size.pmax
        a = nl.ndarray((pmax, 4 * F), dtype=nl.float32, buffer=nl.sbuf)
        b = nl.ndarray((pmax, F), dtype=nl.float32, buffer=nl.sbuf)
        c = nl.ndarray((pmax, F), dtype=nl.bfloat16, buffer=nl.sbuf)
        column = nl.ndarray((pmax, 1), dtype=nl.float32, buffer=nl.sbuf)
        for i in nl.affine_range(instructions // 10):
            row = (i % 8) * pmax
            tile = a[:, nl.ds((i % 4) * F, F)]
            nisa.dma_copy(dst=tile, src=x[row : row + pmax, 0:F])
            nisa.tensor_reduce(dst=column, op=nl.maximum, data=tile, axis=1, negate=True)
            nisa.activation(
                dst=b,
                op=nl.exp,
                data=tile,
                bias=column,
                scale=1.0,
                reduce_op=nl.add,
                reduce_res=column,
                reduce_cmd=nisa.reduce_cmd.reset_reduce,
            )
            nisa.reciprocal(dst=column, data=column)
            nisa.tensor_scalar(dst=c, data=b, op0=nl.multiply, operand0=column)
            nisa.tensor_tensor(dst=b, data1=b, data2=c, op=nl.add)
            nisa.scalar_tensor_tensor(
                dst=b, data=b, op0=nl.multiply, operand0=0.5, op1=nl.add, operand1=tile
            )
            nisa.activate2(
                dst=c, op=nl.silu, data=b, imm0=2.0, imm1=column, op0=nl.multiply, op1=nl.add
            )
            nisa.tensor_copy(dst=b, src=c)
            nisa.dma_copy(dst=out[row : row + pmax, 0:F], src=b)

    return kernel


SHAPE = nki.TensorSpec((8 * P, F), nl.float32)


def seconds(function: Callable[[], object]) -> float:
    """Time of one call, garbage collection kept out of it."""
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    function()
    elapsed = time.perf_counter() - start
    gc.enable()
    return elapsed


def in_turn(first: Callable[[], object], second: Callable[[], object], rounds: int) -> list[float]:
    """Medians of both and of their ratio, measured pair by pair."""
    first()
    second()
    pairs = [(seconds(first), seconds(second)) for _ in range(rounds)]
    return [
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
    ]


def bare_creation(module: ModuleOp) -> Callable[[], object]:
    """Create the operations of a kernel with xDSL's low-level constructor, and append them."""
    block = module.body.block.first_op
    assert block is not None
    recipes: list[tuple[type[Operation], dict[str, Any]]] = []
    for op in block.regions[0].block.ops:
        recipe = {
            "operands": tuple(op.operands),
            "result_types": tuple(op.result_types),
            "properties": op.properties,
            "location": op.location,
        }
        recipes.append((type(op), recipe))

    def create() -> Block:
        target = Block()
        Region(target)
        for op_class, recipe in recipes:
            target.add_op(op_class.create(**recipe))
        return target

    return create


def tracing(rounds: int) -> list[float]:
    """µs per instruction of tracing over bare creation of the same operations."""
    kernel = unrolled(10_000)
    traced = fresh(kernel)
    count = len(traced.module.body.block.first_op.regions[0].block.ops)  # type: ignore[union-attr]
    a, b, ratio = in_turn(lambda: fresh(kernel), bare_creation(traced.module), rounds)
    return [a / count * 1e6, b / count * 1e6, ratio]


def fresh(kernel: Kernel) -> nki.TracedKernel:
    """Trace without the cache."""
    return nki.jit(kernel.__wrapped__).trace(SHAPE, SHAPE)  # type: ignore[attr-defined]


PASSES_LIMIT = 3.0
"""The most that all passes together, with their advice, may take of the time of tracing."""
LOWERING_LIMIT = 5.0
"""The most that lowering, listing and profile together may take of it."""


def verification(instructions: int, rounds: int) -> list[float]:
    """All passes together over tracing the same kernel, in ms."""
    kernel = unrolled(instructions)
    kernels = kernels_of(fresh(kernel).module)
    a, b, ratio = in_turn(lambda: find_all(kernels), lambda: fresh(kernel), rounds)
    return [a * 1e3, b * 1e3, ratio]


def predict(kernel: KernelOp) -> None:
    """Lower a kernel, list it, and tell how long it takes and why."""
    program = lower(kernel)
    listing(program)
    str(profile_of(simulate([program])))


def lowering(instructions: int, rounds: int) -> list[float]:
    """Lowering, listing and profile together over tracing the same kernel, in ms."""
    kernel = unrolled(instructions)
    (lowered,) = kernels_of(fresh(kernel).module)
    a, b, ratio = in_turn(lambda: predict(lowered), lambda: fresh(kernel), rounds)
    return [a * 1e3, b * 1e3, ratio]


def by_pass(instructions: int) -> dict[str, float]:
    """What each pass takes, in µs per instruction."""
    (kernel,) = kernels_of(fresh(unrolled(instructions)).module)
    spent: dict[str, float] = {}
    for each in WHOLE:
        found = each()
        program = Dependences(kernel)

        def run(check: VerificationPass = found, program: Dependences = program) -> None:
            list(check.find(kernel))
            list(check.find_together([kernel]))
            list(check.advise(program))

        spent[found.name] = seconds(run) / instructions * 1e6
    return spent


REPEATS = 40


@nki.jit
def tiles(x: Any, y: Any) -> Any:
    """Tile operations on 128x512 float32, for comparison with the same calls of NumPy."""
    out = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.sbuf)
    b = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.sbuf)
    c = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.sbuf)
    column = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=b, src=y)
    for _ in range(REPEATS):
        nisa.tensor_tensor(dst=c, data1=a, data2=b, op=nl.add)
        nisa.scalar_tensor_tensor(
            dst=c, data=c, op0=nl.multiply, operand0=0.5, op1=nl.subtract, operand1=b
        )
        nisa.tensor_reduce(dst=column, op=nl.maximum, data=c, axis=1)
        nisa.tensor_scalar(dst=c, data=c, op0=nl.subtract, operand0=column)
        nisa.activation(dst=a, op=nl.exp, data=c)
    nisa.dma_copy(dst=out, src=a)
    return out


def by_hand(x: Array, y: Array) -> Array:
    """The same tile operations, written in NumPy by hand."""
    out = np.empty((P, F), np.float32)
    a, b, c = (np.empty((P, F), np.float32) for _ in range(3))
    half = np.float32(0.5)
    np.copyto(a, x)
    np.copyto(b, y)
    for _ in range(REPEATS):
        np.add(a, b, out=c)
        np.multiply(c, half, out=c)
        np.subtract(c, b, out=c)
        column = np.max(c, axis=1, keepdims=True)
        np.subtract(c, column, out=c)
        np.exp(c, out=a)
    np.copyto(out, a)
    return out


def interpretation(rounds: int) -> list[float]:
    """A traced kernel over hand-written NumPy that does the same tile operations."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((P, F), dtype=np.float32) for _ in range(2))
    assert np.array_equal(tiles(x, y), by_hand(x, y))
    a, b, ratio = in_turn(lambda: tiles(x, y), lambda: by_hand(x, y), rounds * 8)
    return [a * 1e3, b * 1e3, ratio]


CASTS: dict[str, float] = {
    "bfloat16": 6,
    "float16": 15,
    "float8_e4m3": 15,
    "float8_e4m3fn": 15,
    "float8_e5m2": 15,
    "float8_e8m0fnu": 15,
}
"""Narrow types, and the most that a cast to or from one may take of the time of a copy."""


def call_by_call(
    first: Callable[[], object], second: Callable[[], object], calls: int
) -> list[float]:
    """As `in_turn`, for calls so short that most are not interrupted: medians, and their ratio."""
    spent: list[tuple[float, float]] = []
    clock = time.perf_counter
    for _ in range(calls):
        start = clock()
        first()
        between = clock()
        second()
        spent.append((between - start, clock() - between))
    a, b = (statistics.median(each) for each in zip(*spent, strict=True))
    return [a * 1e6, b * 1e6, a / b]


def cast(name: str, rounds: int) -> tuple[list[float], list[float]]:
    """Rounding a 128x512 tile to a narrow type, and loading it, each over a float32 copy; µs."""
    values = np.random.default_rng(0).standard_normal((P, F), dtype=np.float32)
    copied, stored = np.empty_like(values), np.empty((P, F), STORAGE[name])
    round_into, load = rounder(DTYPES[name]), loader(DTYPES[name])
    assert load is not None
    calls = 100 * rounds

    def copy() -> None:
        np.copyto(copied, values)

    narrow = call_by_call(lambda: round_into(stored, values), copy, calls)
    return narrow, call_by_call(lambda: load(stored), copy, calls)


@nki.jit
def smallest(x: Any, scale: float = 2.0) -> Any:
    """One instruction on one element."""
    out = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    return out


def cached_call(rounds: int) -> list[float]:
    """What a call adds to the plan's work: the whole call of the smallest kernel, in µs."""
    x = np.ones((1, 1), np.float32)
    smallest(x)
    calls = 1000

    def loop() -> None:
        for _ in range(calls):
            smallest(x)

    return [statistics.median(seconds(loop) for _ in range(rounds)) / calls * 1e6]


def growth_of(instructions: int) -> list[float]:
    """Seconds of trace, verify, print, list and profile, and peak memory in MiB, here."""
    kernel = unrolled(instructions)
    spent: list[float] = []
    traced: list[nki.TracedKernel] = []
    spent.append(seconds(lambda: traced.append(kernel.trace(SHAPE, SHAPE))))
    spent.append(seconds(traced[0].verify))
    spent.append(seconds(traced[0].text))
    spent.append(seconds(traced[0].listing))
    spent.append(seconds(lambda: str(traced[0].profile())))
    return [*spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]


def growth() -> tuple[list[tuple[int, list[float]]], float]:
    """`growth_of` for growing kernels, each in a process of its own; worst growth per 10x."""
    rows: list[tuple[int, list[float]]] = []
    for count in (1_000, 10_000, 100_000):
        command = [sys.executable, __file__, "--growth-of", str(count)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows.append((count, [float(word) for word in printed.split()]))
    worst = max(b / a for a, b in zip(rows[1][1][:5], rows[2][1][:5], strict=True))
    return rows, worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds per measurement")
    parser.add_argument("--check", action="store_true", help="fail when a limit is passed")
    parser.add_argument("--growth-of", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.growth_of:
        print(*growth_of(options.growth_of))
        return 0

    results = [
        ("trace / bare creation, µs per op", tracing(options.rounds), 3.0),
        *(
            (f"all passes / trace, {count:,} instructions, ms", verification(count, rounds), limit)
            for count, rounds in ((1_000, options.rounds), (10_000, options.rounds), (100_000, 1))
            for limit in (PASSES_LIMIT,)
        ),
        *(
            (
                f"lower, list, profile / trace, {count:,} instructions, ms",
                lowering(count, rounds),
                LOWERING_LIMIT,
            )
            for count, rounds in ((1_000, options.rounds), (10_000, options.rounds), (100_000, 1))
        ),
        ("interpret / NumPy by hand, ms", interpretation(options.rounds), 1.10),
    ]
    for name, limit in CASTS.items():
        narrow, widen = cast(name, options.rounds)
        results.append((f"float32 to {name} / float32 copy, µs", narrow, limit))
        results.append((f"{name} to float32 / float32 copy, µs", widen, limit))
    table = Table("measured", "nkijit", "other", "ratio", "limit", title="speed")
    failed = False
    for name, (ours, other, ratio), limit in results:
        table.add_row(name, f"{ours:.2f}", f"{other:.2f}", f"{ratio:.2f}", f"≤ {limit:.2f}")
        failed |= ratio > limit
    (call,) = cached_call(options.rounds)
    table.add_row("cached call of the smallest kernel, µs", f"{call:.1f}", "", "", "≤ 100")
    failed |= call > 100
    passes = Table("pass", "µs per instruction", title="passes")
    for name, spent in by_pass(10_000).items():
        passes.add_row(name, f"{spent:.2f}")
    rows, worst = growth()
    heads = ("instructions", "trace s", "verify s", "print s", "list s", "profile s", "MiB")
    sizes = Table(*heads, title="growth")
    for count, numbers in rows:
        sizes.add_row(f"{count:,}", *(f"{n:.3f}" for n in numbers[:5]), f"{numbers[5]:.0f}")
    failed |= worst > 13
    console = Console(width=100)
    console.print(table)
    console.print(passes)
    console.print(sizes)
    console.print(f"worst growth from 10,000 to 100,000 instructions: {worst:.1f}x (linear: 10x)")
    return int(options.check and failed)


if __name__ == "__main__":
    sys.exit(main())
