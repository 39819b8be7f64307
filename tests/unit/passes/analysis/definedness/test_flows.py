"""Propagation of undefined values, against results that change if the inputs change.

Every instruction in every form of the lit tests runs alone, on memory filled with numbers. Some
input elements are then replaced: result elements that differ depend on them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.paths import LIT
from xdsl.ir import Operation

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction, scalar_constant
from nkijit.dialects.declare.queries import rules_of
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.nki.views import access_of, base_of, reach_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.ir.text import parse
from nkijit.passes.analysis.definedness.origins import Origins, Use, use_of
from nkijit.passes.analysis.definedness.shadow import DEFINED, Shadow
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.run.sanitize import CoreSanitizer

FILES = sorted((LIT / "dialects" / "nisa").glob("*/ops.mlir"))
FILLINGS = 16
MARK = 2

RANDOM = ("nisa.rng", "nisa.rand2", "nisa.dropout", "nisa.rand_get_state")
"""Each run draws other numbers."""
DECIDES = {
    "nisa.nc_n_gather": ("indices",),
    "nisa.local_gather": ("index",),
    "nisa.range_select": ("bound0", "bound1"),
}
"""Operands that stay as they are: indices, and bounds that are whole numbers in the tile."""


LOOSE = {
    "nisa.tensor_scalar_cumulative": "a running maximum loses what is smaller",
    "nisa.quantize_mx": "elements that are not the largest of a group do not move its scale",
    "nisa.max8": "what is not among the largest does not matter",
    "nisa.nc_find_index8": "most values are in no place of the row",
    "nisa.nonzero_with_count": "an index beyond the count is padding",
    "nisa.affine_select": "the forms of the lit tests select too little",
    "nisa.range_select": "bounds are whole numbers, most elements are outside",
    "nisa.sequence_bounds": "a bound does not move with every id",
}
"""Instructions of which data decides how much depends on an element, and why."""
USES = ("nisa.set_rng_seed", "nisa.rand_set_state", "nisa.register_load")
"""Their operand decides: it is never passed on."""


class Alone(CoreSanitizer):
    """The marks around one instruction."""

    def __init__(self, plan: Plan):
        super().__init__(plan, Origins(), {})

    def entirely_unwritten(self, op: Operation, effect: Effect) -> None:
        raise AssertionError("everything is written")

    def used(self, use: Use) -> None:
        raise AssertionError("what decides stays as it is")

    def mark(self, effect: Effect, chosen: Any) -> None:
        """Mark elements of a tile as undefined; all else is defined."""
        self._own.clear()
        base, size = base_of(effect.value), info_of(effect.value).dtype.itemsize
        shadow = self._own[base] = Shadow([base], reach_of(base), DEFINED)
        shadow.write(access_of(effect.value), size, np.where(chosen, np.int32(MARK), DEFINED))

    def left(self, op: NisaOp, env: Any) -> dict[str, Any]:
        """Which elements of each result are marked."""
        self._env = env
        for effect in effects(op):
            base = base_of(effect.value)
            self._own.setdefault(base, Shadow([base], reach_of(base), DEFINED))
        for effect, marks in list(self.written_by(op)):
            shadow, size = self._own[base_of(effect.value)], info_of(effect.value).dtype.itemsize
            assert shadow is not None
            shadow.write(access_of(effect.value), size, marks)
        written = [effect for effect in effects(op) if effect.role is not Role.read]
        return {effect.name: self.read(op, effect) == MARK for effect in written}


def cases(path: Path) -> Iterator[tuple[KernelOp, NisaOp]]:
    text = path.read_text(encoding="utf-8")
    for kernel in kernels_of(parse(text)):
        for op in kernel.operations:
            if not is_instruction(op) or op.name in RANDOM or isinstance(op, WAITING):
                continue
            static = all(info_of(effect.value).indirection is None for effect in effects(op))
            broken = [rule for rule in rules_of(type(op)) if rule.check(op, kernel.target)]
            if static and not broken:
                yield kernel, op


def contents(value: Any, rng: Any, name: str) -> Any:
    """Numbers for the memory of a tensor, as bytes."""
    info = info_of(base_of(value))
    size, dtype = info.size, info.dtype
    if dtype.name.startswith(("int", "uint", "bool")):
        most = 2 if dtype.itemsize == 1 else 8
        stored = f"{'i' if dtype.name.startswith('int') else 'u'}{dtype.itemsize}"
        if name.endswith("_scale"):
            return rng.integers(120, 130, size).astype(np.uint8)
        return rng.integers(0, most, size).astype(stored).view(np.uint8)
    if dtype.name == "float32":
        return rng.uniform(1, 2, size).astype(np.float32).view(np.uint8)
    if dtype.name == "bfloat16":
        bits = rng.uniform(1, 2, size).astype(np.float32).view(np.uint32) >> 16
        return bits.astype(np.uint16).view(np.uint8)
    if dtype.name == "float16":
        return rng.uniform(1, 2, size).astype(np.float16).view(np.uint8)
    # Small normal numbers in any format of 8 bits.
    return rng.integers(0x38, 0x3C, size * dtype.itemsize).astype(np.uint8)


def elements(plan: Plan, env: Any, value: Any) -> Any:
    """The stored elements of a tile, sharing memory with the run."""
    access, size = access_of(value), info_of(value).dtype.itemsize
    raw = env[plan.slots.base(base_of(value))]
    strides = tuple(stride * size for stride in access.strides)
    return np.ndarray(access.shape, f"u{size}", raw, access.offset * size, strides)


def environment(plan: Plan, inputs: list[Any], op: NisaOp, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    env = plan.start(inputs, apart=True)
    for effect in effects(op):
        base = base_of(effect.value)
        memory = env[plan.slots.base(base)]
        memory[...] = contents(effect.value, rng, effect.touched.operand)
    for value in op.operands:
        if not is_tile(value) and scalar_constant(value) is None:
            env[plan.slots.register(value)] = 1
    for slot, initial in plan.slots.states.values():
        state = initial()
        state[...] = 1
        env[slot] = state
    return env


def inputs_of(kernel: KernelOp, plan: Plan) -> list[Any]:
    return [
        np.zeros(info_of(a).shape, plan.slots.stored(info_of(a).dtype)) for a in kernel.arguments
    ]


def results(plan: Plan, env: Any, op: NisaOp) -> dict[str, Any]:
    """Return the results of an instruction on the current memory."""
    (step,) = [step for bound, step, _ in plan.body.bound() if bound is op]
    with np.errstate(all="ignore"):
        step(env)
    written = [effect for effect in effects(op) if effect.role is not Role.read]
    return {effect.name: elements(plan, env, effect.value).copy() for effect in written}


def compared(kernel: KernelOp, op: NisaOp, rng: random.Random) -> Iterator[tuple[Any, Any]]:
    """For each operand, which elements of the results change with a part of it, and are marked."""
    plan = Plan(kernel)
    inputs = inputs_of(kernel, plan)
    for effect in effects(op):
        fixed = effect.role is not Role.read or use_of(op, effect) is not None
        if fixed or effect.touched.operand in DECIDES.get(op.name, ()):
            continue
        shape = info_of(effect.value).shape
        chosen = np.zeros(shape, np.bool_)
        starts = [rng.randrange(count) for count in shape]
        ends = [rng.randint(start + 1, count) for start, count in zip(starts, shape, strict=True)]
        chosen[tuple(map(slice, starts, ends))] = True
        alone = Alone(plan)
        alone.mark(effect, chosen)
        marked = alone.left(op, environment(plan, inputs, op, 0))
        before = results(plan, environment(plan, inputs, op, 0), op)
        changed = {name: np.zeros(array.shape, np.bool_) for name, array in before.items()}
        for seed in range(1, FILLINGS):
            other, env = environment(plan, inputs, op, seed), environment(plan, inputs, op, 0)
            tile = elements(plan, env, effect.value)
            tile[chosen] = elements(plan, other, effect.value)[chosen]
            for name, array in results(plan, env, op).items():
                changed[name] |= array != before[name]
        yield changed, marked


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_changed_results_are_marked(path: Path) -> None:
    rng = random.Random(path.parent.name)
    count, tight = 0, set[str]()
    for kernel, op in cases(path):
        for changed, marked in compared(kernel, op, rng):
            for name, differs in changed.items():
                missed = differs & ~marked[name]
                assert not missed.any(), f"{op.name}: {name} depends on more: {op}"
            count += 1
            if any(differs.any() for differs in changed.values()) and all(
                np.array_equal(differs, marked[name]) for name, differs in changed.items()
            ):
                tight.add(op.name)
    reading = {op.name for _, op in cases(path) if any(e.role is Role.read for e in effects(op))}
    assert reading - tight - set(USES) <= set(LOOSE), "these mark more than what changes"
    assert count or not reading - set(USES)
