"""Time of a kernel's first call: tracing, verification and the first run, per instruction.

Each is relative to bare creation: creating the same operations with xDSL's low-level constructor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

import nkijit as nki
from benchmarks.kernels import Measured
from benchmarks.measuring import Ratio, seconds
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.nki.kernel import kernels_of

INSTRUCTIONS = 1_700
"""The size of a typical published kernel."""
LIMITS = {"reused": 12.0, "blocks": 12.0, "masked": 16.0, "on_device": 18.0}
"""Limits for the sum of the three steps, relative to bare creation, by kernel."""


def operations(module: ModuleOp) -> list[Operation]:
    """Return the operations of a module's kernels, including those in loops."""
    return [op for kernel in kernels_of(module) for op in kernel.operations]


def bare_creation(module: ModuleOp) -> Callable[[], Block]:
    """Return a function that creates the operations of kernels with xDSL's low-level constructor.

    It appends all of them to one block, loops without their bodies.
    """
    recipes: list[tuple[type[Operation], dict[str, Any]]] = []
    for op in operations(module):
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


STEPS = ("trace", "verify", "first run", "together")


def first_call(measured: Measured, rounds: int) -> dict[str, Ratio]:
    """Time each step relative to bare creation, in µs per instruction."""
    known = measured.fresh()
    count = sum(map(is_instruction, operations(known.module)))
    create = bare_creation(known.module)
    inputs = measured.inputs()
    spent: dict[str, list[tuple[float, float]]] = {step: [] for step in STEPS}
    for _ in range(rounds):
        bare = seconds(create)
        traced: list[nki.TracedKernel] = []
        times = [
            seconds(lambda traced=traced: traced.append(measured.fresh())),
            seconds(lambda traced=traced: traced[0].diagnostics),
            seconds(lambda traced=traced: traced[0].run(*inputs)),
        ]
        for step, taken in zip(STEPS, (*times, sum(times)), strict=True):
            spent[step].append((taken, bare))
    return {step: Ratio.of(pairs, 1e-6 * count) for step, pairs in spent.items()}
