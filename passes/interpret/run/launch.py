"""Runs of kernels on several cores and several ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Operation

from nkijit.dialects.nki.kernel import DevicePrintOp
from nkijit.passes.interpret.backends.choice import BackendReport
from nkijit.passes.interpret.plan.lending import Loan
from nkijit.passes.interpret.plan.plan import Listener, Plan, launched_together, lend
from nkijit.passes.interpret.records.environment import Array, Env
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.interpret.records.machine import Core, run_together
from nkijit.passes.interpret.run.races import RaceWatch, Tell, contested_tensors
from nkijit.passes.interpret.run.sanitize import CoreSanitizer, Sanitizer
from nkijit.passes.interpret.steps.body import Observer
from nkijit.passes.numerics.storage import untrapped

LONG = 1 << 18
"""Cores run in threads if each core computes at least this many elements in native code.

Native code computes that many elements in about 0.1 ms.
"""


@dataclass(frozen=True, slots=True)
class _Observers:
    observers: tuple[Observer, ...]

    def before(self, op: Operation, env: Env) -> None:
        for observer in self.observers:
            observer.before(op, env)

    def after(self, op: Operation, env: Env) -> None:
        for observer in self.observers:
            observer.after(op, env)


def _observe(env: Env, plan: Plan, observer: Observer) -> None:
    others = env[plan.body.observer]
    env[plan.body.observer] = observer if others is None else _Observers((others, observer))


class Launch:
    """A kernel for a launch: one plan per core."""

    def __init__(self, plans: Sequence[Plan]):
        """Create a launch. `plans` has the kernel's specialisation for each core, in order."""
        self._plans = launched_together(plans)
        self._written = set[int]().union(*(plan.written_arguments for plan in plans))
        self.inputs = [
            (name, index in self._written) for index, (name, _) in enumerate(self._plans[0].inputs)
        ]
        """The name of each input, and whether a core writes the input."""
        self._contested = contested_tensors(self._plans)
        self._prints = any(
            isinstance(op, DevicePrintOp) for plan in self._plans for op in plan.kernel.operations
        )
        self._operations = sum(1 for plan in self._plans for _ in plan.kernel.operations)

    @property
    def plans(self) -> Sequence[Plan]:
        """The plans of the cores, in order."""
        return self._plans

    @property
    def writes_inputs(self) -> bool:
        """Whether a core writes one of the inputs."""
        return bool(self._written)

    @property
    def backend(self) -> BackendReport:
        """The backend of the next run."""
        return BackendReport.together([plan.backend for plan in self._plans])

    @property
    def result_types(self) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
        """The shape and data type of each array that a run returns."""
        return self._plans[0].result_types

    def run(
        self,
        inputs: Sequence[Any],
        listener: Listener | None = None,
        *,
        sanitize: bool = False,
        tell: Tell | None = None,
        finish: Callable[[list[Array]], Any] = list,
    ) -> Any:
        """Run on one rank; see `Plan.run`.

        A race between two cores ends the run with an error. If `tell` is given, it is called with
        the race instead. With `sanitize`, reading or returning unwritten data raises
        UnwrittenError.
        """
        if len(self._plans) == 1 and not sanitize:
            return self._plans[0].run(inputs, listener, finish)
        return self.run_ranks(
            [inputs],
            listener,
            sanitize=sanitize,
            tell=tell,
            finish=lambda results: finish(results[0]),
        )

    def _is_long(self, environments: Sequence[tuple[Plan, Env]]) -> bool:
        """True if cores run in threads: all run long native code, and no accesses are tracked."""
        return (
            len(environments) > 1
            and not self._contested
            and not self._prints
            and all(plan.native_elements(env) > LONG for plan, env in environments)
        )

    def run_ranks(
        self,
        inputs: Sequence[Sequence[Any]],
        listener: Listener | None = None,
        *,
        sanitize: bool = False,
        tell: Tell | None = None,
        finish: Callable[[list[list[Array]]], Any] = list,
    ) -> Any:
        """Run on several ranks, each with its own inputs; `finish` gets each rank's results."""
        if not inputs:
            raise InterpretationError("a run needs at least one rank")
        return Loan().run(lambda loan: finish(self._run(loan, inputs, listener, sanitize, tell)))

    def _run(
        self,
        loan: Loan,
        inputs: Sequence[Sequence[Any]],
        listener: Listener | None,
        sanitize: bool,
        tell: Tell | None,
    ) -> list[list[Array]]:
        runners: list[tuple[Core, Any]] = []
        environments: list[tuple[Plan, Env]] = []
        sanitizers: list[CoreSanitizer] = []
        for rank, arguments in enumerate(inputs):
            memory, lent = lend(self._plans, loan, arguments, self._written)
            watch = (
                RaceWatch(memory, self._contested, len(self._plans), self._operations, tell)
                if self._contested
                else None
            )
            sanitizer = Sanitizer()
            for number, plan in enumerate(self._plans):
                core = Core(rank, number)
                env = plan.start(
                    arguments,
                    listener,
                    core=core,
                    memory=memory,
                    lent=lent,
                    watched=sanitize or watch is not None,
                )
                if watch is not None:
                    env[plan.watch] = watch
                    _observe(env, plan, watch.of_core(plan, number))
                if sanitize:
                    sanitizers.append(sanitizer.of_core(plan))
                    _observe(env, plan, sanitizers[-1])
                runners.append((core, plan.body.drive(env)))
                environments.append((plan, env))
        threaded = not sanitizers and listener is None and self._is_long(environments)
        untrapped(run_together, runners, threaded=threaded)
        for core_sanitizer in sanitizers:
            core_sanitizer.check_results()
        first = self._plans[0]
        results = [first.results(env) for plan, env in environments if plan is first]
        for plan, env in environments:
            plan.finish(env)
        return results
