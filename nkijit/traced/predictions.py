"""Predictions about a traced kernel: queues, listing, profile, advice and the report page.

This module is imported for the first prediction: tracing, verifying and running need no lowering.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from nkijit.dialects.hardware.targets import Target, with_timing, without_dge
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.walks import unchanged
from nkijit.ir.text import ir_text_of
from nkijit.passes.compile.listings import listing_of
from nkijit.passes.compile.pipeline import program_of
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.lower.program import LoweringError, Program
from nkijit.passes.profile.choice import Choice, compiled_programs
from nkijit.passes.profile.profile import Profile, profile_of
from nkijit.passes.profile.simulate import Progress, SimulationError, simulate
from nkijit.traced.strictness import is_strict

if TYPE_CHECKING:
    from nkijit.passes.advise.advice import Advice
    from nkijit.passes.advise.trials import Conditions
    from nkijit.traced.page import Reported
    from nkijit.traced.recording import TracedRecording
    from nkijit.traced.runs import Admit


@dataclass(frozen=True, slots=True)
class PredictionOptions:
    """The options of a prediction; see `TracedKernel.programs`."""

    constants: str | os.PathLike[str] | None
    strict: bool
    disable_dge: bool
    schedule: Schedule

    @staticmethod
    def of(
        constants: str | os.PathLike[str] | None,
        strict: bool | None,
        disable_dge: bool,
        schedule: str,
    ) -> PredictionOptions:
        """Return a method's arguments as options. Raises ValueError for an unknown schedule."""
        return PredictionOptions(constants, is_strict(strict), disable_dge, Schedule(schedule))


class Predictions:
    """The predictions about one specialisation; `TracedKernel` documents them."""

    def __init__(self, kernels: Sequence[KernelOp], admit: Admit):
        self._kernels = kernels
        self._admit = admit
        self._programs: dict[PredictionOptions, list[Program]] = {}

    def programs(self, options: PredictionOptions) -> list[Program]:
        """The queues of each core."""
        return self._choice(options).programs

    def _choice(self, options: PredictionOptions) -> Choice:
        """Return the queues of each core, and their simulated run if there was one."""
        with unchanged(self._kernels):
            return self._unchanged_choice(options)

    def _unchanged_choice(self, options: PredictionOptions) -> Choice:
        """Return the result of `_choice`; must run within `unchanged(kernels)`."""
        passed_over = self._passed_over(options)
        made = self._programs.get(options)
        if made is not None:
            return Choice(made)
        target = self._target(options)
        if options.schedule is Schedule.author:
            choice = Choice(
                [program_of(k, options.schedule, target, passed_over) for k in self._kernels]
            )
        else:
            own = self.programs(replace(options, schedule=Schedule.author))
            choice = compiled_programs(self._kernels, own, target, passed_over)
        if options.constants is None:  # the result for a file is not cached: the file may change
            self._programs[options] = choice.programs
        return choice

    def _passed_over(self, options: PredictionOptions) -> PassedOver | None:
        """Return the errors that do not stop the lowering; None if strict.

        Raises NkiValidationError for all other errors.
        """
        admitted = self._admit(options.strict)
        return None if options.strict else PassedOver.of(admitted)

    def _target(self, options: PredictionOptions) -> Target:
        """Return the target with the timing constants and the DMA descriptors of the options."""
        target = self._kernels[0].target
        if options.constants is not None:
            target = with_timing(target, options.constants)
        return without_dge(target) if options.disable_dge else target

    def listing(self, options: PredictionOptions) -> str:
        """Return the queues of each core as text."""
        return listing_of(self.programs(options))

    def profile(
        self, options: PredictionOptions, iterations: int, progress: Progress | None
    ) -> Profile:
        """Return the profile, which also contains the time in the author's order for comparison."""
        choice = self._choice(options)
        if iterations != 1:
            choice = Choice(choice.programs)
        found = choice.timeline
        if found is None:
            found = simulate(choice.programs, iterations=iterations, progress=progress)
        if choice.programs[0].changes is None:
            return profile_of(found)
        if choice.own is not None:
            return profile_of(found, choice.own)
        own = self.programs(replace(options, schedule=Schedule.author))
        if own[0].changes is not None:  # the kernel's own order does not fit
            return profile_of(found)
        return profile_of(found, simulate(own, iterations=iterations).total)

    def report(
        self,
        options: PredictionOptions,
        iterations: int,
        module: ModuleOp,
        diagnostics: Findings,
        record: TracedRecording | None = None,
        *,
        compared: TracedRecording | None = None,
        advise: bool = False,
    ) -> Reported:
        """Return the report for the page, with the reason for a missing listing or timeline.

        The page shows the values of `record`. It compares with the values of `compared`, but does
        not show them.
        """
        from nkijit.passes.report.build import report_of
        from nkijit.traced.page import Reported

        programs: Sequence[Program] = ()
        profile: Profile | None = None
        try:
            programs = self.programs(options)
            notice = str(programs[0].passed_over)
            profile = profile_of(simulate(programs, iterations=iterations))
        except NkiValidationError as error:
            notice = f"no listing and no timeline, for the kernel has {error.diagnostics.summary()}"
        except LoweringError as error:
            notice = f"no listing and no timeline: {error}"
        except SimulationError as error:
            notice = f"no timeline: {error}"
        advice = self.advice(options, iterations, None) if advise and profile is not None else None
        report = report_of(
            *(module, self._kernels, diagnostics, programs, profile, notice, record),
            advice=advice,
        )
        return Reported(
            *(report, programs, profile, record or compared),
            ir=lambda: ir_text_of(module, rolled=True),
        )

    def advice(
        self, options: PredictionOptions, iterations: int, progress: Progress | None
    ) -> Advice:
        """Return the changes that would make the kernel faster."""
        from nkijit.passes.advise.advisor import advise

        return advise(self._kernels, self.conditions(options, iterations), progress)

    def conditions(self, options: PredictionOptions, iterations: int) -> Conditions:
        """Return the conditions under which experiments are predicted."""
        from nkijit.passes.advise.trials import Conditions

        passed_over = self._passed_over(options)
        return Conditions(options.schedule, self._target(options), iterations, passed_over)
