"""A traced kernel: its IR, its findings, its runs and predictions about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from nkijit.dialects.collection import without_collection
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.text import WarningGroup
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of
from nkijit.frameworks.calls import Backward, DeferredCall
from nkijit.host.file_state import FileState
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.denial import Denial
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import NkiValidationError, stop_at_errors
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.shown import ShownPage, ShownText
from nkijit.passes.values.budget import BUDGET
from nkijit.traced.findings import findings, found_by_passes, shown
from nkijit.traced.programs import of_few_programs
from nkijit.traced.strictness import denial_of_environment
from nkijit.tracing.tracebacks import without_own_frames

# Imported at the first run or prediction: more than half of nkijit, which tracing and verifying do
# not need.
if TYPE_CHECKING:
    from nkijit.passes.advise.advice import Advice
    from nkijit.passes.interpret.backends.choice import BackendReport
    from nkijit.passes.lower.program import Program
    from nkijit.passes.profile.profile import Profile
    from nkijit.passes.profile.simulate import Progress
    from nkijit.passes.prove.proof import Proof
    from nkijit.passes.prove.terms import Term
    from nkijit.passes.report.memory.report import MemoryReport
    from nkijit.passes.values.events import ListenerLike
    from nkijit.passes.values.instructions import TracedIndices
    from nkijit.traced.optimized import OptimizedKernel
    from nkijit.traced.predictions import PredictionOptions, Predictions
    from nkijit.traced.recording import TracedRecording
    from nkijit.traced.runs import Runs


class TracedKernel:
    """One specialisation of a kernel.

    Everything here works on the IR alone, so a kernel that was loaded from text behaves like one
    that was just traced.
    """

    def __init__(
        self,
        module: ModuleOp,
        trace_diagnostics: Sequence[Diagnostic] = (),
        kernels: Sequence[KernelOp] = (),
        named_tuple: Callable[[Iterable[Any]], Any] | None = None,
        files: Mapping[Path, FileState] | None = None,
        launched: tuple[Position, int] | None = None,
    ):
        """`kernels`: the kernel's program for each core; by default all kernels of the module.

        `launched`: the first `nl.program_id`, and the number of programs of the launch.
        """
        self._launched = launched
        self.module = module
        self._kernels = tuple(kernels or kernels_of(module))
        self._kernel = self._kernels[0]
        self._trace_diagnostics = tuple(trace_diagnostics)
        self._named_tuple = named_tuple
        self._found: Findings | None = None
        self._found_by_passes: Sequence[Diagnostic] | None = None
        self._is_right: bool | None = None
        self._admitted: Findings | None = None
        self._suspicious: Sequence[Diagnostic] = ()
        """Warnings of the group `suspicious`, known once the kernel is verified."""
        self._not_denied = Denial()
        """The denied warnings that the kernel is known not to have."""
        self._files = dict(files or {})
        self.loop_indices: Mapping[Operation, TracedIndices] = {}
        """The values of the loop variables around each operation; empty unless tracing recorded
        them."""

    def is_current(self) -> bool:
        """Return False if a file that tracing has read was changed or removed."""
        return all(state.is_of(path) for path, state in self._files.items())

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._kernel.launch_name

    @property
    def target(self) -> Target:
        """The hardware that the kernel was traced for."""
        return self._kernel.target

    @property
    def argument_types(self) -> list[tuple[str, tuple[int, ...], str]]:
        """Name, shape and data type of every tensor argument."""
        result: list[tuple[str, tuple[int, ...], str]] = []
        for index, value in enumerate(self._kernel.arguments):
            info = info_of(value)
            result.append((value.name_hint or f"arg{index}", info.shape, info.dtype.name))
        return result

    @property
    def result_types(self) -> list[tuple[tuple[int, ...], str]]:
        """Shape and data type of every result."""
        infos = map(info_of, self._kernel.return_op.values)
        return [(info.shape, info.dtype.name) for info in infos]

    def __repr__(self) -> str:
        return f"<trace of {self._headline()}>"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from nkijit.traced.notebooks import html_of_trace

        return html_of_trace(self._headline(), self.diagnostics, self.text(rolled=True))

    def _headline(self) -> str:
        """Return the kernel's name, target and types on one line."""
        types = self.argument_types
        inputs = ", ".join(f"{name} {_size(shape, dtype)}" for name, shape, dtype in types)
        results = ", ".join(_size(*of) for of in self.result_types) or "nothing"
        cores = f" on {numbered(len(self._kernels), 'core')}" if len(self._kernels) > 1 else ""
        return f"@{self.name} for {self.target.platform}{cores}: {inputs} -> {results}"

    def text(
        self, *, locations: bool = False, generic: bool = False, rolled: bool = False
    ) -> ShownText:
        """Return the IR as text.

        Args:
            locations: print `file:line:column` of the kernel's source after every operation.
            generic: print MLIR's generic form.
            rolled: print repeated instructions once, in loops (`nki.repeat`). `nkijit.load` and all
                commands read this form as the same kernel.

        Example: `print(kernel.trace(x).text(rolled=True))`
        """
        from nkijit.ir.text import ir_text_of

        text = ir_text_of(self.module, locations=locations, generic=generic, rolled=rolled)
        return self._shown("IR", text)

    def _shown(self, kind: str, text: str, more: str = "") -> ShownText:
        return ShownText(text, f"{kind} of @{self.name} for {self.target.platform}{more}")

    def source(
        self, *, comments: bool = True, loops: bool = True, schedule: str = "author"
    ) -> ShownText:
        """Return Python source that traces to this kernel, written for the vendor's compiler, too.

        Tracing it gives the same IR, except for names and locations.

        Args:
            comments: quote the lines of the original source.
            loops: write repeated instructions as loops; False writes every instruction.
            schedule: "author" retains the kernel's own order and tiles; "compiler" writes the
                result of the compiler's passes.

        Raises ExportError, with the source line, for IR that the API cannot express, and with
        "compiler" the errors of `programs`.

        Example: `Path("new.py").write_text(kernel.trace(x).source())`.
        """
        from nkijit.export.source import source_of

        text = source_of([self.cores(schedule)], comments=comments, loops=loops)
        return self._shown("source", text)

    @without_own_frames
    def cores(self, schedule: str = "author") -> Sequence[KernelOp]:
        """Return the IR of each core's program; schedule and errors are as for `programs`."""
        if Schedule(schedule) is Schedule.author:
            return self._kernels
        return [program.kernel for program in self.programs(schedule=schedule)]

    @property
    @without_collection()
    def diagnostics(self) -> Findings:
        """All findings of tracing and of the verification passes."""
        if self._found is None:
            self._found = findings(
                self._kernels, self._trace_diagnostics, found=self._pass_findings()
            )
        return self._found

    def _pass_findings(self) -> Sequence[Diagnostic]:
        """Return the findings of the verification passes, without advice."""
        if self._found_by_passes is None:
            found = found_by_passes(self._kernels, self._trace_diagnostics)
            self._found_by_passes = of_few_programs(found, self._launched, self._kernel)
        return self._found_by_passes

    @without_own_frames
    @without_collection()
    def find(self, *passes: str) -> Findings:
        """Return the findings of the named passes (`verify-access`), errors first.

        Raises ValueError for an unknown name.
        """
        from nkijit.passes.verify.passes import VERIFICATION_PASSES, find_all

        known = {pass_class.name: pass_class for pass_class in VERIFICATION_PASSES}
        for name in passes:
            if name not in known:
                raise ValueError(f"there is no pass '{name}'; there are {', '.join(known)}")
        found = find_all(self._kernels, [known[name] for name in passes])
        found = of_few_programs(found, self._launched, self._kernel)
        return shown(found, self._kernels, lambda rule: False)

    @without_own_frames
    @without_collection()
    def defects(self, nki: str | None = None) -> Findings:
        """Return warnings about code that a release of NKI is known to get wrong or to refuse.

        Args:
            nki: the version of the release, e.g. `"0.5"`; the newest by default.

        Raises ValueError for an unknown version. Example: `kernel.trace(x).defects("0.3")`.
        """
        from nkijit.traced.defects import known_defects

        return known_defects(self._kernels, nki)

    @without_own_frames
    @without_collection()
    def verify(self) -> None:
        """Raise one NkiValidationError with all findings if any of them is an error.

        This method ignores `NKIJIT_STRICT` in the environment.
        """
        if self._is_right is None:
            # Advice takes time and does not change the result.
            pass_findings = self._pass_findings()
            found = findings(
                self._kernels, self._trace_diagnostics, advise=False, found=pass_findings
            )
            self._is_right = not found.errors
            self._suspicious = [d for d in found if d.group is WarningGroup.suspicious]
            if not self._is_right:  # kernels with errors get no advice: complete
                self._found = found
        if not self._is_right:
            raise NkiValidationError(self.diagnostics)

    def admit(self, *, strict: bool) -> Sequence[Diagnostic]:
        """Return the errors that do not stop a run or a listing; empty for a valid kernel.

        Args:
            strict: True stops at all errors, False only at errors that no device or compiler
                accepts.

        Raises NkiValidationError with all findings if an error stops the kernel.
        """
        self._check_denied()
        if self._is_right or (self._admitted is not None and not strict):
            return self._admitted or ()
        try:
            self.verify()
        except NkiValidationError as error:
            if any(d.stops(strict=strict) for d in self.diagnostics):
                error.may_go_on = not any(d.stops(strict=False) for d in self.diagnostics)
                raise
            self._admitted = Findings(d for d in self.diagnostics if d.severity == "error")
            return self._admitted
        return ()

    def _check_denied(self) -> None:
        """Raise NkiValidationError for warnings that `NKIJIT_DENY` counts as errors."""
        denial = denial_of_environment()
        if denial and denial != self._not_denied:
            self.verify()
            warnings = self.diagnostics if denial.needs_advice else self._suspicious
            stop_at_errors(Findings(denial.applied(warnings)))
            self._not_denied = denial

    @without_own_frames
    def run(
        self,
        *inputs: Any,
        listener: ListenerLike | None = None,
        sanitize: bool | None = None,
        strict: bool | None = None,
        backward: Backward | None = None,
    ) -> Any:
        """Verify the kernel, once, and interpret it.

        Args:
            inputs: one array per tensor argument, in order, of NumPy, PyTorch or JAX.
            listener: a function that is called with an `Event` after each instruction, or an object
                with `did_run(operation, arrays)`. Example: `kernel.trace(x).run(x, listener=lambda
                event: print(event, event.tiles))`.
            sanitize: end the run with an `UnwrittenError` when it reads or returns an element that
                was never written, also where this depends on data. None uses `NKIJIT_SANITIZE` in
                the environment: 1 for yes.
            strict: False continues in spite of tiles that do not fit and of errors that leave
                values undefined, and issues each of these errors as an `NkiWarning`. None uses
                `NKIJIT_STRICT` in the environment: 0 for no.
            backward: computes gradients, for frameworks that record the run.

        Inputs that the kernel writes are updated in place if the run completes; otherwise they have
        their values from before the run. Raises InterpretationError when a written input shares
        memory with another input, because reads of the shared memory are undefined on a device. A
        run that is not strict issues a warning and continues.

        Returns arrays of the same framework, in the container that the kernel returned. Under
        `jax.jit`, `torch.export` and other transformations, the kernel is verified at once and
        interpreted each time the transformed function runs. `NKI_PRECISE_FP=0` in the environment
        stores low-precision tensors as float32.
        """
        return self._runs.run(inputs, listener, sanitize, strict, backward)

    def deferred(
        self, *, strict: bool | None = None, backward: Backward | None = None
    ) -> DeferredCall:
        """Return a run as a framework calls it, with the arguments of `run`."""
        return self._runs.deferred(strict, backward)

    @without_own_frames
    def run_ranks(
        self, inputs: Sequence[Sequence[Any]], *, strict: bool | None = None
    ) -> list[Any]:
        """Run on several ranks, which communicate by collectives.

        Args:
            inputs: the arrays of each rank, one per tensor argument.
            strict: as for `run`.

        Returns the results of each rank. See `run`.
        """
        return self._runs.run_ranks(inputs, strict)

    @without_own_frames
    def run_lowered(self, *inputs: Any, seed: int = 0, listener: ListenerLike | None = None) -> Any:
        """Run the queues that the kernel is lowered to, as engines and DMA rings would; slow.

        All queues of all cores run at the same time, on one SBUF and one PSUM per core, in a random
        order that their waits allow. For every order the results equal those of `run`, bit for bit,
        except for elements that were never written; any other difference is a defect of the
        lowering. `NKI_PRECISE_FP=0` has no effect, because memory has the device's layout. Any
        error stops the run, also with `NKIJIT_STRICT=0`.

        Args:
            inputs: as for `run`.
            seed: determines the order, and the contents of unwritten memory.
            listener: as for `run`; called in the order in which instructions end.

        Raises LoweringError for instructions that lowering does not model, and QueueError when the
        queues wait for each other for ever.
        """
        return self._runs.run_queues(self.programs(strict=True), inputs, listener, seed)

    @without_own_frames
    def record(
        self, *inputs: Any, budget: int = BUDGET, strict: bool | None = None
    ) -> TracedRecording:
        """Run the kernel and record the values that every instruction reads and writes.

        Args:
            inputs: as for `run`. They are copied, and not written.
            budget: bytes of values to retain, besides the inputs and the memory of one run. All
                other values are computed on access, from checkpoints.
            strict: as for `run`.

        Raises RecordError for a kernel on two cores, and the errors of `run`.

        Example: `record["tile"][0].value`, `record.at("kernel.py:14")[3].result`, `print(record)`.
        """
        return self._runs.record(self, self.module, inputs, budget, self.loop_indices, strict)

    @property
    def backend(self) -> BackendReport:
        """The backend of the next run: NumPy, or native code (`pip install 'nkijit[native]'`).

        `NKIJIT_BACKEND` in the environment selects the backend. `auto`, the default, compiles
        native code in the background from the third run on, `native` before the first run, `numpy`
        never.

        >>> print(kernel.trace(x).backend)  # doctest: +SKIP
        native: 37 of 40 instructions
          numpy: 3 × nisa.iota: Opaque
        """
        return self._runs.plan(False)[0].backend

    @without_own_frames
    @without_collection()
    def programs(
        self,
        constants: str | os.PathLike[str] | None = None,
        *,
        strict: bool | None = None,
        disable_dge: bool = False,
        schedule: str = "author",
    ) -> list[Program]:
        """Return the queues of each core: engine instructions with addresses, waits and signals.

        Args:
            constants: a file with timing constants to use in place of the target's own.
            strict: False lowers in spite of errors that leave values undefined, and as if the
                memories were as large as the tiles need; `Program.passed_over` has these errors.
                None uses `NKIJIT_STRICT` in the environment: 0 for no.
            disable_dge: make DMA descriptors in advance, as the vendor's compiler does with
                `--disable-dge`, except for DMAs whose `dge_mode` the kernel specifies and for
                addresses that are known only at run time.
            schedule: "author" retains the kernel's own order and tiles; "compiler" lets passes
                change both, as the vendor's compiler does.

        Raises NkiValidationError for a kernel with errors, LoweringError for instructions that
        lowering does not model, TimingError for a file that cannot be used, ValueError for an
        unknown schedule.
        """
        return self._predictions.programs(
            _prediction_options(constants, strict, disable_dge, schedule)
        )

    @without_own_frames
    @without_collection()
    def listing(
        self,
        *,
        strict: bool | None = None,
        disable_dge: bool = False,
        schedule: str = "author",
    ) -> ShownText:
        """Return the queues of each core as text: one engine instruction per line, with its waits.

        The arguments are those of `programs`. The first line names the errors that did not stop the
        lowering, if there are any, the next one the schedule.
        """
        text = self._predictions.listing(_prediction_options(None, strict, disable_dge, schedule))
        return self._shown("listing", text, f", {Schedule(schedule).words}")

    def cycles(self) -> list[dict[str, float]]:
        """Return the busy time of the engines of each core, in cycles of the engine's clock.

        The time is a sum over the instructions, without waiting; the body of a loop on the device
        counts once. For `dma` the figure is in bytes. `nkijit explain nisa.X` shows the formulas.
        """
        from nkijit.passes.profile.cycles import engine_cycles

        return [
            {engine.name: total for engine, total in engine_cycles(kernel).items()}
            for kernel in self._kernels
        ]

    @without_own_frames
    @without_collection()
    def report(
        self,
        constants: str | os.PathLike[str] | None = None,
        iterations: int = 1,
        *,
        strict: bool | None = None,
        disable_dge: bool = False,
        schedule: str = "compiler",
        record: TracedRecording | None = None,
        advise: bool = False,
        against: TracedKernel | TracedRecording | None = None,
    ) -> ShownPage:
        """Return a page of HTML: source, IR, listing, timeline, profile, memory and findings.

        The page is a string that needs no network and no other file; notebooks show it in a frame.
        A kernel with errors, or one that lowering does not model, has no listing and no timeline;
        its page says so.

        Args:
            constants: a file of timing constants, in place of those of the target.
            iterations: the assumed trip count of loops with a count known only at run time.
            strict: as for `programs`: False shows listing and timeline in spite of some errors,
                which the page names.
            disable_dge: as for `programs`.
            schedule: as for `programs`, but "compiler" by default.
            record: a recording of this kernel, whose values the page shows: statistics of each
                instruction's result, pictures of as many results as fit, and the first occurrences
                of NaN, infinities and saturated numbers. `record.report()` is shorter.
            advise: include the result of `advice`; this takes time, because it tries changes.
            against: another kernel, with which the page compares this kernel; or a recording of
                another kernel. The page then also shows the first instruction whose values in
                `record` differ from the values in that recording.

        Raises TimingError when the file of constants cannot be used, ValueError for a recording of
        another kernel.

        Example: `Path("page.html").write_text(traced.report(), encoding="utf-8")`.
        """
        if record is not None and record.plan.kernel not in self._kernels:
            raise ValueError(f"{record!r} is of another kernel, or of another trace of it")
        if constants is not None and Path(constants).suffix in (".html", ".htm"):
            raise ValueError(
                f"report() returns the page: "
                f"pathlib.Path('{constants}').write_text(traced.report(), encoding='utf-8')"
            )
        options = _prediction_options(constants, strict, disable_dge, schedule)
        reported = self._predictions.report(
            *(options, iterations, self.module, self.diagnostics, record), advise=advise
        )
        other = None
        if against is not None:
            recorded = None if isinstance(against, TracedKernel) else against
            beside = against if isinstance(against, TracedKernel) else against.traced
            assert isinstance(beside, TracedKernel)
            other = beside._predictions.report(
                *(options, iterations, beside.module, beside.diagnostics), compared=recorded
            )
        title = f"report of @{self.name} for {self.target.platform}"
        return ShownPage(reported.html(other), title)

    def memory(self) -> MemoryReport:
        """Return the contents of SBUF and PSUM at each instruction, in the author's schedule.

        A kernel with tiles that do not fit has a report, too. `print` it for a table and a map; a
        notebook shows it as a picture, which `svg()` returns.
        """
        from nkijit.passes.report.memory.report import memory_report

        return memory_report(self._kernels)

    @without_own_frames
    @without_collection()
    def profile(
        self,
        constants: str | os.PathLike[str] | None = None,
        iterations: int = 1,
        progress: Progress | None = None,
        *,
        strict: bool | None = None,
        disable_dge: bool = False,
        schedule: str = "compiler",
    ) -> Profile:
        """Return the predicted time of the kernel and its causes; `print` it for a summary.

        The times are those of the cost model: nothing is run or measured. `to_perfetto()` of the
        result is the timeline of every instruction.

        Args:
            constants: a file of timing constants, in place of those of the target.
            iterations: the assumed trip count of loops with a count known only at run time.
            progress: called at intervals with the fraction that is done, from 0 to 1.
            strict: as for `programs`; the first line of the summary names the errors that did not
                stop the prediction, and `Profile.passed_over` has these errors.
            disable_dge: as for `programs`.
            schedule: as for `programs`, but "compiler" by default: this is the order that runs on a
                device.

        Raises:
            TimingError: the file of constants cannot be used.
            LoweringError: the kernel is not modelled, or its tiles found no addresses.
            SimulationError: the kernel's cores wait for each other for ever.
        """
        options = _prediction_options(constants, strict, disable_dge, schedule)
        return self._predictions.profile(options, iterations, progress)

    @without_own_frames
    @without_collection()
    def advice(
        self,
        constants: str | os.PathLike[str] | None = None,
        iterations: int = 1,
        progress: Progress | None = None,
        *,
        strict: bool | None = None,
        disable_dge: bool = False,
        schedule: str = "compiler",
    ) -> Advice:
        """Return changes that would make the kernel faster, with the time that each gains.

        `print` the result. Each suggestion is an experiment that was run on the cost model: a copy
        of the kernel with the change in it. Nothing is run on a device.

        Args:
            constants: a file of timing constants, in place of those of the target.
            iterations: the assumed trip count of loops with a count known only at run time.
            progress: called at intervals with the fraction that is done, from 0 to 1.
            strict: as for `programs`.
            disable_dge: as for `programs`.
            schedule: the schedule to compare times in. "compiler" compiles the kernel and its
                changed copies; "author" compares them as written, and reports which changes the
                compiler makes itself.

        Raises the errors of `profile`.

        >>> print(kernel.trace(x).advice())  # doctest: +SKIP
        advice on @kernel for trn2: 46.31 us, 1 change of 3 tried
        """
        options = _prediction_options(constants, strict, disable_dge, schedule)
        return self._predictions.advice(options, iterations, progress)

    @without_own_frames
    def optimize(
        self,
        allow: str = "bits",
        budget: float = 60.0,
        progress: Progress | None = None,
        *,
        constants: str | os.PathLike[str] | None = None,
        iterations: int = 1,
        disable_dge: bool = False,
        schedule: str = "compiler",
        experiments: int | None = None,
        resume: str | None = None,
        two_cores: bool = False,
    ) -> OptimizedKernel[TracedKernel]:
        """Search for a faster version of the kernel; `print` the result for a summary.

        Changes of `advice` are composed. Each version is verified, predicted and compared with the
        original kernel. The result is the original if nothing gains.

        Args:
            allow: the allowed differences of the results: "bits" (none), "reassociated" (sums and
                products in another order) or "rounding" (intermediate results rounded otherwise).
            budget: the time for the search, in seconds.
            progress: called at intervals with the fraction of the time that has passed.
            constants: as for `profile`.
            iterations: as for `profile`.
            disable_dge: as for `programs`.
            schedule: as for `profile`: "compiler" does not count gains that the compiler's passes
                bring themselves.
            experiments: the largest number of changes that are tried; the result of such a search
                does not depend on the speed of the machine if the budget is large enough.
            resume: the JSON text of an earlier result, to continue with.
            two_cores: also divide a kernel for one core between two cores. Callers then launch the
                result with `kernel[2](...)`.

        Raises the errors of `profile` for a strict prediction, ValueError for an unknown `allow`
        or for a text that is not a result of this kernel.

        >>> print(kernel.trace(x).optimize(budget=10))  # doctest: +SKIP
        @kernel for trn2: 46.31 -> 34.51 us (-25.5%), 1 step
        """
        from nkijit.passes.optimize.search import Limits
        from nkijit.passes.prove.algebra import Level
        from nkijit.traced.optimized import optimized

        options = _prediction_options(constants, True, disable_dge, schedule)
        conditions = self._predictions.conditions(options, iterations)
        limits = Limits(Level(allow), budget, experiments, two_cores)
        return optimized(
            *(self, conditions, limits, progress, resume),
            lambda kernels: TracedKernel(ModuleOp(list(kernels)), kernels=kernels),
        )

    @without_own_frames
    def equivalent(
        self, other: TracedKernel, level: str = "rounding", trips: int | None = None
    ) -> Proof:
        """Compare the results with those of another kernel, for all inputs and without data.

        Args:
            other: a kernel with arguments and results of the same types, in the same order.
            level: the weakest level to try: "bits", "reassociated" or "rounding".
            trips: the number of iterations to assume of loops whose trip counts depend on inputs.

        Returns the strictest level that holds, or the first difference. Raises NkiValidationError
        if one of the kernels has errors.

        Example: `assert kernel.trace(x).equivalent(changed.trace(x)).holds("bits")`
        """
        from nkijit.passes.prove.proof import prove

        if not isinstance(cast(Any, other), TracedKernel):
            raise TypeError(f"expected a traced kernel, kernel.trace(x), got {one_line(other)}")
        self.verify()
        other.verify()
        return prove(self.cores(), other.cores(), level, trips)

    @without_own_frames
    def term(self, name: str, *index: int, level: str = "bits") -> Term:
        """Return an element of a result as an expression of the kernel's inputs.

        Args:
            name: the name of a result, or of an argument that the kernel writes.
            index: the index of the element, one number per dimension.
            level: "bits" retains the order of sums and all roundings; see `equivalent`.

        Raises KeyError for an unknown name, IndexError for an index out of bounds, and
        NotProvableError for a kernel with computations that have no term.

        Example: `print(kernel.trace(x).term("y", 3, 7))`
        """
        from nkijit.passes.prove.algebra import Level
        from nkijit.passes.prove.terms import Terms

        self.verify()
        return Terms(self.cores(), Level(level)).term(name, index)

    @cached_property
    def _runs(self) -> Runs:
        """The kernel's runs; the first use imports the interpreter."""
        from nkijit.traced.runs import Runs

        return Runs(self._kernels, self._admits, lambda: self._suspicious, self._named_tuple)

    @cached_property
    def _predictions(self) -> Predictions:
        """The predictions about the kernel; the first use imports the lowering."""
        from nkijit.traced.predictions import Predictions

        return Predictions(self._kernels, self._admits)

    def _admits(self, strict: bool) -> Sequence[Diagnostic]:
        return self.admit(strict=strict)


def _size(shape: tuple[int, ...], dtype: str) -> str:
    """Return a tensor's shape and data type as text: `128x512 float32`."""
    return f"{'x'.join(map(str, shape)) or 'scalar'} {dtype}"


def _prediction_options(
    constants: str | os.PathLike[str] | None, strict: bool | None, disable_dge: bool, schedule: str
) -> PredictionOptions:
    from nkijit.traced.predictions import PredictionOptions

    return PredictionOptions.of(constants, strict, disable_dge, schedule)


@without_own_frames
def load(path: str | os.PathLike[str], kernel: str | None = None) -> TracedKernel:
    """Load a traced kernel from a `.mlir` file.

    Args:
        path: the file.
        kernel: the kernel's name; required when the file has several.

    Raises ParseError for malformed text and ValueError when there is no such kernel.

    Example:

        traced = nki.load("kernel.mlir")
        out = traced.run(x[:128])
    """
    from nkijit.ir.text import launches_of, load_module

    module = load_module(path)
    found = launches_of(module)
    if kernel is None:
        if len(found) != 1:
            raise ValueError(
                f"{os.fspath(path)} has {numbered(len(found), 'kernel')}"
                + (f" ({', '.join(found)}); name one" if found else "")
            )
        kernel = next(iter(found))
    if kernel not in found:
        raise ValueError(f"{os.fspath(path)} has no kernel '{kernel}'; it has {', '.join(found)}")
    return TracedKernel(module, kernels=found[kernel])


@without_own_frames
def load_record(path: str | os.PathLike[str], *, budget: int = BUDGET) -> TracedRecording:
    """Load a recording that `TracedRecording.save` wrote; `budget` is as for `TracedKernel.record`.

    The recorded kernel is run again. Raises OSError when the file cannot be read, RecordError when
    the file is no recording, or when this version of nkijit computes other results than the version
    that wrote it, and the errors of a run.

    Example:

        kernel.record(x[:128]).save("kernel.record")
        record = nki.load_record("kernel.record")
        out = record.results[0]
    """
    from nkijit.passes.interpret.plan.plan import Plan
    from nkijit.passes.values.items import RecordError
    from nkijit.traced.recording import TracedRecording, read_record

    found = read_record(path)
    traced = TracedKernel(found.module, kernels=[found.kernel])
    traced.loop_indices = found.indices
    traced.admit(strict=False)
    plan = Plan(found.kernel, precise=found.precise, launch=[found.kernel])
    record = TracedRecording(traced, found.module, plan, found.inputs, budget, found.indices)
    for now, then in zip(record.results, found.results, strict=True):
        if now.tobytes() != then.tobytes():
            raise RecordError(
                f"{os.fspath(path)}: this version of nkijit computes other results than the one "
                "that made the recording; record the kernel again"
            )
    return record
