"""A traced kernel: what can be asked of it, and what it computes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from nkijit.collection import without_collection
from nkijit.dialects.hardware.targets import Target, with_timing, without_dge
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.tiles import info_of
from nkijit.export.source import source_of
from nkijit.file_state import FileState
from nkijit.findings import findings, found_by_passes, shown
from nkijit.frameworks import (
    ArgumentTypeError,
    Framework,
    as_array,
    common_framework,
    named_dtypes,
    pending_framework,
)
from nkijit.ir_text import ir_text_of, launches_of, load_module
from nkijit.passes.advise.advice import Advice
from nkijit.passes.advise.advisor import Conditions, advise
from nkijit.passes.analysis.memory.report import MemoryReport, memory_report
from nkijit.passes.compile.pipeline import Schedule, lowered
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import NkiValidationError, NkiWarning
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.interpret import Launch, Plan
from nkijit.passes.interpret.backends.choice import BackendReport
from nkijit.passes.interpret.errors import InterpretationError
from nkijit.passes.interpret.overlaps import overlap_of
from nkijit.passes.interpret.queues.run import Queues
from nkijit.passes.lower.listing import listing
from nkijit.passes.lower.program import LoweringError, Program
from nkijit.passes.profile.choice import compiled_programs
from nkijit.passes.profile.cycles import engine_cycles
from nkijit.passes.profile.profile import Profile, profile_of
from nkijit.passes.profile.simulate import Progress, SimulationError, simulate
from nkijit.passes.report.build import report_of
from nkijit.passes.values.events import ListenerLike, as_listener
from nkijit.passes.values.instructions import TracedIndices
from nkijit.passes.values.record import BUDGET, RecordError
from nkijit.passes.verify.passes import VERIFICATION_PASSES, find_all
from nkijit.records import Record, read_record
from nkijit.report import html_of
from nkijit.strictness import Teller, is_strict
from nkijit.tracebacks import called_by_authors, warn_author

PRECISE_VARIABLE = "NKI_PRECISE_FP"
SANITIZE_VARIABLE = "NKIJIT_SANITIZE"


class TracedKernel:
    """One specialisation of a kernel.

    Everything here works on the IR alone, so it is the same for a kernel that was just traced
    and for one loaded from text.
    """

    def __init__(
        self,
        module: ModuleOp,
        trace_diagnostics: Sequence[Diagnostic] = (),
        kernels: Sequence[KernelOp] = (),
        named_tuple: Callable[[Iterable[Any]], Any] | None = None,
        files: Mapping[Path, FileState] | None = None,
    ):
        """`kernels`: the kernel's specialisation for each core; by default all of the module."""
        self.module = module
        self._kernels = tuple(kernels or kernels_of(module))
        self._kernel = self._kernels[0]
        self._trace_diagnostics = tuple(trace_diagnostics)
        # The class of the result is Python's: in the IR, and so when loaded, it is a tuple.
        self._named_tuple = named_tuple
        self._found: Findings | None = None
        self._found_by_passes: Sequence[Diagnostic] | None = None
        self._is_right: bool | None = None
        self._admitted: Findings | None = None
        self._files = dict(files or {})
        self._plans: dict[bool, Launch] = {}
        self._programs: dict[tuple[bool, bool, Schedule], list[Program]] = {}
        self._lock = threading.Lock()
        self.loop_indices: Mapping[Operation, TracedIndices] = {}
        """The loops of the author's that operations were traced in, where that was asked for."""

    def is_current(self) -> bool:
        """False when a file that was read while tracing has changed since, or is gone."""
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

    def __str__(self) -> str:
        return self.text()

    def text(self, *, locations: bool = False, generic: bool = False, rolled: bool = False) -> str:
        """The IR as text.

        Args:
            locations: print the author's `file:line:column` after every operation.
            generic: print MLIR's generic form.
            rolled: print instructions that repeat themselves once, in loops (`nki.repeat`). It is
                the same kernel: `nkijit.load` and all commands read it.

        Example: `print(kernel.trace(x).text(rolled=True))`
        """
        return ir_text_of(self.module, locations=locations, generic=generic, rolled=rolled)

    def source(self, *, comments: bool = True, loops: bool = True, schedule: str = "author") -> str:
        """A file of Python that traces to this kernel: plain NKI, for the vendor's compiler, too.

        Tracing it gives the same IR again, but for names and locations.

        Args:
            comments: quote the author's lines.
            loops: write what repeats itself as loops, else every instruction.
            schedule: "author" keeps the author's order and tiles; "compiler" writes what the
                compiler's passes make of them (docs/compiler.md).

        Raises ExportError, with the author's line, for IR that the API cannot say, and with
        "compiler" what `programs` raises.

        Example: `Path("new.py").write_text(kernel.trace(x).source())`; docs/export.md has more.
        """
        return source_of([self.cores(schedule)], comments=comments, loops=loops)

    def cores(self, schedule: str = "author") -> Sequence[KernelOp]:
        """The IR of each core's program; `schedule` is as for `programs`, which may raise."""
        if Schedule(schedule) is Schedule.author:
            return self._kernels
        return [program.kernel for program in self.programs(schedule=schedule)]

    @property
    def diagnostics(self) -> Findings:
        """Every finding of tracing and of the verification passes."""
        if self._found is None:
            self._found = findings(
                self._kernels, self._trace_diagnostics, found=self._found_by_passes
            )
        return self._found

    def find(self, *passes: str) -> Findings:
        """The findings of some passes, by name (`verify-access`), in the order of the source.

        Raises ValueError for a name that is not a verification pass's.
        """
        known = {pass_class.name: pass_class for pass_class in VERIFICATION_PASSES}
        for name in passes:
            if name not in known:
                raise ValueError(f"there is no pass '{name}'; there are {', '.join(known)}")
        found = find_all(self._kernels, [known[name] for name in passes])
        return shown(found, self._kernels, lambda rule: False)

    @called_by_authors
    def verify(self) -> None:
        """Raise one NkiValidationError with all findings if any of them is an error.

        `NKIJIT_STRICT` in the environment makes no difference to it.
        """
        if self._is_right is None:
            # Advice takes time, and is not given here.
            judged = found_by_passes(self._kernels, self._trace_diagnostics)
            self._found_by_passes = judged
            found = findings(self._kernels, self._trace_diagnostics, advise=False, found=judged)
            self._is_right = not found.errors
            if not self._is_right:  # then there is no advice
                self._found = found
        if not self._is_right:
            raise NkiValidationError(self.diagnostics)

    def admit(self, *, strict: bool) -> Sequence[Diagnostic]:
        """The errors that a run or a listing goes on with: none of a right kernel.

        Args:
            strict: stop at all errors, else at those only that no device or compiler takes.

        Raises NkiValidationError with all findings for a kernel that is stopped.
        """
        if self._is_right or (self._admitted is not None and not strict):
            return self._admitted or ()
        try:
            self.verify()
        except NkiValidationError:
            if any(d.stops(strict=strict) for d in self.diagnostics):
                raise
            self._admitted = Findings(d for d in self.diagnostics if d.severity == "error")
            return self._admitted
        return ()

    @called_by_authors
    def run(
        self,
        *inputs: Any,
        listener: ListenerLike | None = None,
        sanitize: bool | None = None,
        strict: bool | None = None,
    ) -> Any:
        """Verify once, then interpret.

        Args:
            inputs: one array per tensor argument, in order, of NumPy, PyTorch or JAX.
            listener: a function that is called with an `Event` for every instruction that has
                run, or an object with `did_run(operation, arrays)`. Example:
                `kernel.trace(x).run(x, listener=lambda event: print(event, event.tiles))`.
            sanitize: end the run with an `UnwrittenError` when it reads or returns an element that
                nothing has written, also where only data decides that. None means what
                `NKIJIT_SANITIZE` in the environment says: 1 for yes.
            strict: False goes on with errors that leave values undefined, and with tiles that do
                not fit, and issues each as an `NkiWarning`. None means what `NKIJIT_STRICT` in the
                environment says: 0 for no.

        Inputs that the kernel writes are written in place, if the run comes to its end: else they
        are as they were before it. Raises InterpretationError when one of them shares memory with
        another input, for a device does not say what a read of that gives; a run that is not strict
        warns and goes on.

        Returns arrays of the same framework in the container that the kernel returned. Under
        `jax.jit` and other transformations of JAX the kernel is verified now and interpreted when
        the transformed function runs, each time that it does.
        `NKI_PRECISE_FP=0` in the environment keeps low-precision tensors in float32.
        """
        plan, tell = self._plan(strict)
        framework = pending_framework(inputs)
        if framework is not None:
            return self._packed(self._run_later(plan, tell, framework, inputs))
        arrays, framework = _arrays(plan, inputs)
        _check_writes(plan, [(arrays, framework)], strict=tell is None)
        results = plan.run(arrays, as_listener(listener), sanitize=_sanitizes(sanitize), tell=tell)
        results = self._as_given(results, arrays)
        return self._packed(_of_framework(results, framework))

    def _run_later(
        self, plan: Launch, tell: Teller | None, framework: Framework, inputs: Sequence[Any]
    ) -> list[Any]:
        """Interpret a verified kernel whenever the framework has values for the inputs."""
        for name, is_written in plan.inputs:
            if is_written:
                raise ArgumentTypeError(
                    f"the kernel writes its argument '{name}', which a transformation of "
                    f"{framework.name} does not see; write to a tensor that the kernel allocates "
                    "and returns"
                )

        def run(*values: Any) -> list[Any]:
            arrays = [np.asarray(value) for value in values]
            return plan.run(arrays, sanitize=_sanitizes(None), tell=tell)

        return framework.run_later(run, plan.result_types, inputs)

    @called_by_authors
    def run_ranks(
        self, inputs: Sequence[Sequence[Any]], *, strict: bool | None = None
    ) -> list[Any]:
        """Run on several ranks that meet in collectives.

        Args:
            inputs: for each rank its arrays, one per tensor argument.
            strict: as for `run`.

        Returns the results of each rank. See `run`.
        """
        plan, tell = self._plan(strict)
        taken = [_arrays(plan, given) for given in inputs]
        _check_writes(plan, taken, strict=tell is None)
        results = plan.run_ranks(
            [arrays for arrays, _ in taken], sanitize=_sanitizes(None), tell=tell
        )
        return [
            self._packed(_of_framework(self._as_given(result, arrays), framework))
            for result, (arrays, framework) in zip(results, taken, strict=True)
        ]

    @called_by_authors
    def run_lowered(self, *inputs: Any, seed: int = 0, listener: ListenerLike | None = None) -> Any:
        """Run the queues that the kernel is lowered to, as engines and DMA rings would: slow.

        All queues of all cores run at the same time, on one SBUF and one PSUM per core, and in a
        random order that their waits allow. The results are those of `run`, bit for bit, whatever
        the order, but for elements that nothing has written; anything else is a mistake in the
        lowering. `NKI_PRECISE_FP=0` is not looked at: memory is laid out as it is. Any error stops
        it, whatever `NKIJIT_STRICT` says.

        Args:
            inputs: as for `run`.
            seed: the order, and what is in memory that nothing has written.
            listener: as for `run`; gets instructions in the order in which they ended.

        Raises LoweringError for what lowering does not model, QueueError when the queues wait for
        each other for ever.
        """
        programs = self.programs(strict=True)
        plan, _ = self._plan(True)
        arrays, framework = _arrays(plan, inputs)
        _check_writes(plan, [(arrays, framework)], strict=True)
        results = self._as_given(
            Queues(programs).run(arrays, as_listener(listener), seed=seed), arrays
        )
        return self._packed(_of_framework(results, framework))

    @called_by_authors
    def record(self, *inputs: Any, budget: int = BUDGET, strict: bool | None = None) -> Record:
        """Run, and keep what every instruction has read and written, to be looked at.

        Args:
            inputs: as for `run`. They are copied, and not written.
            budget: bytes that may be kept, beside the inputs and the memory of one run. Values
                beyond are computed again when they are asked for, from checkpoints.
            strict: as for `run`.

        Raises RecordError for a kernel on two cores, and what `run` raises.

        Example: `record["tile"][0].value`, `record.at("kernel.py:14")[3].result`, `print(record)`;
        docs/values.md has more.
        """
        plan, _ = self._plan(strict)
        if len(plan.plans) > 1:
            raise RecordError(
                f"kernel '{self.name}' runs on {len(plan.plans)} cores, whose instructions have no "
                "order between them; record it on one core, or give run() a listener"
            )
        arrays, _ = _arrays(plan, inputs)
        return Record(self, self.module, plan.plans[0], arrays, budget, self.loop_indices)

    @property
    def backend(self) -> BackendReport:
        """What computes the next run: NumPy, or native code (`pip install nkijit[native]`).

        `NKIJIT_BACKEND` in the environment says which: `auto`, the default, has native code made in
        the background from the third run on, `native` before the first, `numpy` never.

        >>> print(kernel.trace(x).backend)  # doctest: +SKIP
        native: 37 of 40 instructions
          numpy: 3 × nisa.iota: Opaque
        """
        return self._plan(False)[0].backend

    def _plan(self, strict: bool | None) -> tuple[Launch, Teller | None]:
        """The kernel as it is run, and what gets the errors that a run goes on with."""
        checked = is_strict(strict)
        admitted = self.admit(strict=checked)
        precise = os.environ.get(PRECISE_VARIABLE, "1") != "0"
        plan = self._plans.get(precise)
        if plan is None:
            with self._lock:
                plan = self._plans.get(precise)
                if plan is None:
                    kernels = self._kernels
                    plans = [Plan(k, precise=precise, launch=kernels) for k in kernels]
                    plan = self._plans[precise] = Launch(plans)
        return plan, None if checked else Teller(admitted)

    @without_collection()
    def programs(
        self,
        constants: str | os.PathLike[str] | None = None,
        *,
        strict: bool | None = None,
        disable_dge: bool = False,
        schedule: str = "author",
    ) -> list[Program]:
        """The queues of each core: engine instructions with addresses, waits and signals.

        Args:
            constants: a file with the timing constants of the target, in the place of its own.
            strict: False lowers in spite of errors that leave values undefined, and as if the
                memories were as large as the tiles need; `Program.passed_over` has these errors.
                None means what `NKIJIT_STRICT` in the environment says: 0 for no.
            disable_dge: make the descriptors of DMAs beforehand, as the vendor's compiler does with
                `--disable-dge`, but for those that the author says a `dge_mode` of and those with
                addresses that are known at run time only.
            schedule: "author" keeps the author's order and tiles; "compiler" lets passes change
                both (docs/compiler.md), as the vendor's compiler does.

        Raises NkiValidationError for a kernel with errors, LoweringError for what lowering does not
        model, TimingError for a file that cannot be used, ValueError for an unknown schedule.
        """
        checked = is_strict(strict)
        admitted = self.admit(strict=checked)
        passed_over = None if checked else PassedOver.of(admitted)
        target = self._timed(constants, disable_dge)
        order = Schedule(schedule)
        key = checked, disable_dge, order
        made = None if constants is not None else self._programs.get(key)
        if made is None:
            if order is Schedule.author:
                made = [lowered(kernel, order, target, passed_over) for kernel in self._kernels]
            else:
                own = self.programs(
                    constants, strict=checked, disable_dge=disable_dge, schedule="author"
                )
                made = compiled_programs(self._kernels, own, target, passed_over)
            if constants is None:
                self._programs[key] = made
        return made

    def _timed(self, constants: str | os.PathLike[str] | None, disable_dge: bool) -> Target:
        """The target with the constants that times are predicted with."""
        target = self.target if constants is None else with_timing(self.target, constants)
        return without_dge(target) if disable_dge else target

    @called_by_authors
    @without_collection()
    def listing(
        self,
        *,
        strict: bool | None = None,
        disable_dge: bool = False,
        schedule: str = "author",
    ) -> str:
        """The queues of each core as text: an engine instruction a line, with waits and signals.

        The arguments are those of `programs`; the first line names the errors that did not stop it.
        """
        programs = self.programs(strict=strict, disable_dge=disable_dge, schedule=schedule)
        return "\n".join(map(listing, programs))

    def cycles(self) -> list[dict[str, float]]:
        """For each core, how long its engines are busy, in cycles of their own clocks.

        A sum over the instructions, without waiting, in which the body of a loop on the device
        counts once; for `dma` it is bytes. `nkijit explain nisa.X` shows the formulas.
        """
        return [
            {engine.name: total for engine, total in engine_cycles(kernel).items()}
            for kernel in self._kernels
        ]

    @called_by_authors
    @without_collection()
    def report(
        self,
        constants: str | os.PathLike[str] | None = None,
        iterations: int = 1,
        *,
        strict: bool | None = None,
        disable_dge: bool = False,
        schedule: str = "compiler",
        record: Record | None = None,
    ) -> str:
        """Source, IR, listing, timeline, profile, memory and findings as one HTML page.

        The page needs nothing else, no network either. A kernel with errors, or one that lowering
        does not model, has no listing and no timeline, and its page says so.

        Args:
            constants: a file of timing constants, in place of those of the target.
            iterations: how often loops are taken to run of which only the device knows it.
            strict: as for `programs`: False shows listing and timeline in spite of some errors,
                which the page names.
            disable_dge: as for `programs`.
            schedule: as for `programs`; here the compiler's unless told otherwise.
            record: a recording of this kernel, whose values the page shows; `record.report()` is
                shorter.

        Raises TimingError when the file of constants cannot be used.
        """
        programs: Sequence[Program] = ()
        profile: Profile | None = None
        try:
            programs = self.programs(
                constants, strict=strict, disable_dge=disable_dge, schedule=schedule
            )
            notice = str(programs[0].passed_over)
            profile = profile_of(simulate(programs, iterations=iterations))
        except NkiValidationError as error:
            notice = f"no listing and no timeline, for the kernel has {error.diagnostics.summary()}"
        except LoweringError as error:
            notice = f"no listing and no timeline: {error}"
        except SimulationError as error:
            notice = f"no timeline: {error}"
        made = report_of(
            self.module, self._kernels, self.diagnostics, programs, profile, notice, record
        )
        return html_of(made)

    def memory(self) -> MemoryReport:
        """What is in SBUF and PSUM at each instruction, for each core, also if it is too much.

        `print` it for a table and a map; in a notebook it is a picture, which `svg()` gives.
        """
        return memory_report(self._kernels)

    @called_by_authors
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
        """How long the kernel takes and why, by the cost model: `print` it for a summary.

        Nothing is run or measured. `to_perfetto()` of the result is the timeline of every
        instruction.

        Args:
            constants: a file of timing constants, in place of those of the target.
            iterations: how often loops are taken to run of which only the device knows it.
            progress: called now and then with the part that is done, from 0 to 1.
            strict: as for `programs`; the first line of the summary names the errors that did not
                stop it, and `Profile.passed_over` has them.
            disable_dge: as for `programs`.
            schedule: as for `programs`; here the compiler's unless told otherwise, for that is
                what runs on a device.

        Raises:
            TimingError: the file of constants cannot be used.
            LoweringError: the kernel is not modelled, or its tiles found no addresses.
            SimulationError: its cores wait for each other for ever.
        """
        programs = self.programs(
            constants, strict=strict, disable_dge=disable_dge, schedule=schedule
        )
        found = simulate(programs, iterations=iterations, progress=progress)
        if programs[0].changes is None:
            return profile_of(found)
        own = self.programs(constants, strict=strict, disable_dge=disable_dge, schedule="author")
        if own[0].changes is not None:  # as it is written it does not fit
            return profile_of(found)
        return profile_of(found, simulate(own, iterations=iterations).total)

    @called_by_authors
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
        """What would make the kernel faster, with the time that each change gains: `print` it.

        Each suggestion is an experiment that was run on the cost model: a copy of the kernel with
        the change in it (docs/advice.md). Nothing is run on a device.

        Args:
            constants: a file of timing constants, in place of those of the target.
            iterations: how often loops are taken to run of which only the device knows it.
            progress: called now and then with the part that is done, from 0 to 1.
            strict: as for `programs`.
            disable_dge: as for `programs`.
            schedule: whose times are compared: "compiler" compares what the compiler makes of the
                kernel and of its changed copies; "author" leaves them as they are written, and
                says what the compiler does itself.

        Raises what `profile` raises.

        >>> print(kernel.trace(x).advice())  # doctest: +SKIP
        advice on @kernel for trn2: 46.31 us, 1 change of 3 tried
        """
        checked = is_strict(strict)
        admitted = self.admit(strict=checked)
        conditions = Conditions(
            Schedule(schedule),
            self._timed(constants, disable_dge),
            iterations,
            None if checked else PassedOver.of(admitted),
        )
        return advise(self._kernels, conditions, progress)

    def _as_given(self, results: list[Any], inputs: Sequence[Any]) -> list[Any]:
        """Results in the data types of inputs, where those have NKI's only by name."""
        given = named_dtypes(inputs)
        if not given:
            return results
        kept = list(results)
        for index, value in enumerate(self._kernel.return_op.values):
            dtype = given.get(info_of(value).dtype.name)
            # In NKI_PRECISE_FP=0 float8 is float32.
            if dtype is not None and dtype.itemsize == results[index].dtype.itemsize:
                kept[index] = results[index].view(dtype)
        return kept

    def _packed(self, results: list[Any]) -> Any:
        end = self._kernel.return_op
        container = None if end.container is None else end.container.data
        if container is None:
            return results[0] if results else None
        if container == "dict":
            keys = cast(ArrayAttr[StringAttr], end.keys)
            return {key.data: result for key, result in zip(keys, results, strict=True)}
        if container == "tuple":
            return (self._named_tuple or tuple)(results)
        return results


def _sanitizes(asked: bool | None) -> bool:
    return os.environ.get(SANITIZE_VARIABLE, "0") == "1" if asked is None else asked


def _arrays(plan: Launch, inputs: Sequence[Any]) -> tuple[list[Any], Framework | None]:
    """The inputs as NumPy arrays, and the framework that they come from."""
    if all(isinstance(value, np.ndarray) for value in inputs):
        return list(inputs), None
    framework = common_framework(inputs)
    arrays = list(inputs)
    for index, (value, (name, is_written)) in enumerate(zip(inputs, plan.inputs, strict=False)):
        if isinstance(value, np.ndarray):
            continue
        if is_written and framework is not None and framework.immutable:
            raise ArgumentTypeError(
                f"the kernel writes its argument '{name}', but arrays of {framework.name} "
                "are immutable; write to a tensor that the kernel allocates and returns"
            )
        if framework is not None and framework.pending(value):
            raise ArgumentTypeError(
                f"argument '{name}' has no values yet, for it is traced by a transformation of "
                f"{framework.name}; run ranks outside of it"
            )
        array = as_array(name, value)
        arrays[index] = value if array is None else array
    return arrays, framework


def _check_writes(
    plan: Launch, ranks: Sequence[tuple[list[Any], Framework | None]], *, strict: bool
) -> None:
    """Refuse a run that would end with inputs written and an error, or with undetermined values.

    `ranks` has the arrays and the framework of each. Where the run is not strict, arrays of one
    rank that share memory are warned of, and those that are read become copies: the vendor's
    simulator gives every tensor memory of its own.
    """
    if not plan.writes_inputs:
        return
    for framework in {f.name: f for _, f in ranks if f is not None}.values():
        # Not every framework has every data type.
        _of_framework([np.empty(0, dtype) for _, dtype in plan.result_types], framework)
    inputs, given = plan.inputs, [arrays for arrays, _ in ranks]
    while (overlap := overlap_of(inputs, given)) is not None:
        if strict or overlap.across_ranks:
            raise InterpretationError(str(overlap))
        warn_author(str(overlap), NkiWarning)
        if overlap.both_written:
            return
        arrays = given[overlap.ranks[0]]
        arrays[overlap.number] = arrays[overlap.number].copy()


def _of_framework(results: list[Any], framework: Framework | None) -> list[Any]:
    return results if framework is None else [framework.result(array) for array in results]


def load(path: str | os.PathLike[str], kernel: str | None = None) -> TracedKernel:
    """Load a traced kernel from a `.mlir` file.

    Args:
        path: the file.
        kernel: the kernel's name; needed when the file has several.

    Raises ParseError for malformed text and ValueError when there is no such kernel.

    Example:

        traced = nki.load("kernel.mlir")
        out = traced.run(x[:128])
    """
    module = load_module(path)
    found = launches_of(module)
    if kernel is None:
        if len(found) != 1:
            raise ValueError(
                f"{os.fspath(path)} has {len(found)} kernels"
                + (f" ({', '.join(found)}); name one" if found else "")
            )
        kernel = next(iter(found))
    if kernel not in found:
        raise ValueError(f"{os.fspath(path)} has no kernel '{kernel}'; it has {', '.join(found)}")
    return TracedKernel(module, kernels=found[kernel])


@called_by_authors
def load_record(path: str | os.PathLike[str], *, budget: int = BUDGET) -> Record:
    """Load a recording that `Record.save` has written; `budget` is as for `TracedKernel.record`.

    The kernel in it is run again. Raises OSError when the file cannot be read, RecordError when it
    is no recording, or when this version of nkijit computes other results than the one that wrote
    it, and what a run raises.
    """
    found = read_record(path)
    traced = TracedKernel(found.module, kernels=[found.kernel])
    traced.loop_indices = found.indices
    traced.admit(strict=False)
    plan = Plan(found.kernel, precise=found.precise, launch=[found.kernel])
    record = Record(traced, found.module, plan, found.inputs, budget, found.indices)
    for now, then in zip(record.results, found.results, strict=True):
        if now.tobytes() != then.tobytes():
            raise RecordError(
                f"{os.fspath(path)}: this version of nkijit computes other results than the one "
                "that made the recording; record the kernel again"
            )
    return record
