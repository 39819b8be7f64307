"""Runs of a kernel on digests: all cores of all ranks, from inputs to results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.records.environment import Env, Step, strided
from nkijit.passes.interpret.records.machine import Core, run_together
from nkijit.passes.interpret.steps.arena import Lifetime, aligned, arrange, lifetimes
from nkijit.passes.interpret.steps.body import Observer, compile_body
from nkijit.passes.interpret.steps.forms import StepForm
from nkijit.passes.prove.algebra import Algebra
from nkijit.passes.prove.constructors import Binder
from nkijit.passes.prove.digests import CELL, Cells, atoms, differ
from nkijit.passes.prove.forms import DigestForms
from nkijit.passes.prove.loops import Trips, give_trips
from nkijit.passes.prove.memory import DigestSlots, elements


@dataclass(frozen=True, slots=True)
class Digests:
    """The digests of a kernel's results, each in the shape of its tensor."""

    returned: Sequence[Cells]
    """The returned tensors of the first core of each rank, one rank after the other."""
    undefined: Sequence[Callable[[], npt.NDArray[np.bool_]]]
    """For each returned tensor, a function that finds the elements that the kernel never writes."""
    written: Mapping[tuple[int, int], Cells]
    """The arguments that the kernel writes, by rank and number."""


@dataclass(frozen=True, slots=True)
class _Unwritten:
    """A step that fills a tensor with the digests of undefined elements."""

    slot: int
    cells: int
    name: tuple[object, ...]

    def __call__(self, env: Env) -> None:
        env[self.slot].view(CELL)[...] = atoms(self.cells, *self.name)


class CorePlan:
    """One core's kernel, compiled to steps on digests."""

    def __init__(
        self,
        kernel: KernelOp,
        algebra: Algebra,
        run: str,
        launch: Sequence[KernelOp],
        trips: Trips,
    ):
        """Compile a verified kernel.

        Args:
            kernel: the program of the core.
            algebra: the constructors of terms.
            run: a name of the kernel; undefined elements of kernels with different names differ.
            launch: the programs of all cores, if there are several.
            trips: the iterations of loops that depend on inputs.
        """
        self.kernel = kernel
        self._run = run
        binder = Binder(algebra)
        self.slots = DigestSlots(kernel, precise=True, launch=launch)
        self.slots.algebra = algebra
        forms = DigestForms(self.slots, binder.bind, algebra)
        self.body = compile_body(self.slots, forms, kernel.body.block)
        give_trips(self.body, algebra, trips)
        for body in self.body.all():
            for position, op in enumerate(body.ops):
                if isinstance(op, DevicePrintOp):
                    body.forms[position] = StepForm(_nothing, None)
        lives = lifetimes(kernel, self.body)
        self.written = [
            number
            for number, value in enumerate(kernel.arguments)
            if (life := lives.get(self.slots.base(value))) is not None and life.written
        ]
        self._own: list[tuple[SSAValue, int]] = []
        """The tensors with memory of their own, each with its number among shared tensors."""
        passing: list[tuple[int, int, Lifetime]] = []
        returned = {base_of(value) for value in kernel.return_op.values}
        for op in kernel.operations:
            if type(op) is not AllocOp:
                continue
            value, number = op.result, self.slots.shared_number(op.result)
            slot, cells = self.slots.base(value), self.slots.count(value)
            life = lives.get(slot)
            if life is None or number >= 0 or value in returned:
                self._own.append((value, number))
                continue
            passing.append((slot, cells * CELL.itemsize, life))
            if life.read_first:
                unwritten: Step = _Unwritten(slot, cells, ("unwritten", run, slot))
                self.body.before.setdefault(life.first, []).append(unwritten)
        self._sizes = {slot: size for slot, size, _ in passing}
        self._arrangement = arrange(passing)
        self._results = [
            self.slots.view(base_of(value), self.slots.access(value), info_of(value).dtype)
            for value in kernel.return_op.values
        ]
        self._core = self.slots.named("core")

    def start(self, core: Core, shared: dict[int, Cells]) -> Env:
        """Return the environment of a run; `shared` has the tensors that cores share, by number."""
        slots = self.slots
        env = slots.template.copy()
        env[self._core] = core
        for number, value in enumerate(self.kernel.arguments):
            if number not in shared:
                shared[number] = slots.cells_in(value, argument(value, core.rank, number))
            env[slots.base(value)] = shared[number]
        for value, number in self._own:
            cells = shared.get(number)
            if cells is None:
                cells = self._unwritten(value, core)
                if number >= 0:
                    shared[number] = cells
            env[slots.base(value)] = cells
        arena = aligned(self._arrangement.size)
        for slot, at in self._arrangement.offsets.items():
            env[slot] = arena[at : at + self._sizes[slot]]
        for name, (slot, _) in slots.states.items():
            # Generators have a seed at the start of a run, accumulators are undefined.
            owner = self._run if name.startswith("accumulators") else ""
            lanes = slots.target.pmax
            env[slot] = atoms(lanes, "state", owner, name).reshape(lanes, 1)
        for views in slots.views:
            views.fill(env)
        return env

    def _unwritten(self, value: SSAValue, core: Core) -> Cells:
        """Return the digests of the undefined elements of a tensor."""
        name = (self._run, core, self.slots.base(value))
        return atoms(self.slots.count(value), "unwritten", *name)

    def written_argument(self, env: Env, number: int) -> Cells:
        """Return the digests of an argument's elements after a run, as a flat array."""
        value = self.kernel.arguments[number]
        return self.slots.elements_in(value, env[self.slots.base(value)])

    def results(self, env: Env) -> list[tuple[Cells, Callable[[], npt.NDArray[np.bool_]]]]:
        """Return the digests of each result, and a function that finds unwritten elements."""
        found: list[tuple[Cells, Callable[[], npt.NDArray[np.bool_]]]] = []
        for value, slot in zip(self.kernel.return_op.values, self._results, strict=True):
            base = base_of(value)
            cells, own, shown = env[slot], info_of(base).dtype, info_of(value).dtype
            undefined = partial(self._undefined, value, cells, env[self._core])
            found.append((elements(self.slots.algebra, cells, own, shown), undefined))
        return found

    def _undefined(self, value: SSAValue, cells: Cells, core: Core) -> npt.NDArray[np.bool_]:
        base = base_of(value)
        if not any(base is each for each, _ in self._own):
            return np.zeros(cells.shape, np.bool_)
        before = strided(self._unwritten(base, core), self.slots.access(value), cells.dtype)
        return ~differ(before, cells)


def result_names(kernel: KernelOp) -> list[str]:
    """Return the names of a kernel's results; equal names are followed by the result's number."""
    hints = [value.name_hint for value in kernel.return_op.values]
    return [
        f"result {number}"
        if hint is None
        else hint
        if hints.count(hint) == 1
        else f"{hint} (result {number})"
        for number, hint in enumerate(hints)
    ]


def argument(value: SSAValue, rank: int, number: int) -> Cells:
    """Return the digests of the elements of a kernel's argument, as a flat array."""
    return atoms(info_of(value).size, "argument", rank, number)


def _nothing(env: Env) -> None:
    pass


def ranks_of(kernel: KernelOp) -> int:
    """Return the number of ranks that a kernel's collectives name; 1 without collectives."""
    highest = 0
    for op in kernel.operations:
        if isinstance(op, NisaOp):
            for name in ("replica_group", "source_target_pairs"):
                if name in op.SPEC.by_name:
                    highest = max([highest, *(n for group in op.value_of(name) for n in group)])
    return highest + 1


def digests(
    kernels: Sequence[KernelOp],
    algebra: Algebra,
    run: str,
    observer: Observer | None = None,
    trips: Trips | None = None,
) -> Digests:
    """Run the kernel of each core on digests, and return those of the results.

    Args:
        kernels: a verified kernel's program for each core.
        algebra: the constructors of terms.
        run: a name of the kernel; undefined elements of kernels with different names differ.
        observer: is called before and after each operation.
        trips: the iterations of loops that depend on inputs; gets the facts that the run assumes.

    Raises NotProvableError for a kernel without terms, and InterpretationError as a run does.
    """
    launch = tuple(kernels) if len(kernels) > 1 else ()
    plans = [CorePlan(kernel, algebra, run, launch, trips or Trips()) for kernel in kernels]
    runners: list[tuple[Core, Any]] = []
    first: list[Env] = []
    for rank in range(max(map(ranks_of, kernels))):
        shared: dict[int, Cells] = {}
        for number, plan in enumerate(plans):
            core = Core(rank, number)
            env = plan.start(core, shared)
            env[plan.body.observer] = observer
            runners.append((core, plan.body.drive(env)))
            if number == 0:
                first.append(env)
    with np.errstate(all="ignore"):
        run_together(runners)
    written = {number for plan in plans for number in plan.written}
    results = [result for env in first for result in plans[0].results(env)]
    return Digests(
        [cells for cells, _ in results],
        [undefined for _, undefined in results],
        {
            (rank, number): plans[0].written_argument(env, number)
            for rank, env in enumerate(first)
            for number in sorted(written)
        },
    )
