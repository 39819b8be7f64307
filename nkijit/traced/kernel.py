"""A traced kernel: what can be asked of it, and what it computes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from nkijit.dialects.collection import without_collection
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.tiles import info_of
from nkijit.host.file_state import FileState
from nkijit.ir.text import ir_text_of, launches_of, load_module
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.shown import ShownPage, ShownText
from nkijit.passes.values.budget import BUDGET
from nkijit.passes.verify.passes import VERIFICATION_PASSES, find_all
from nkijit.traced.findings import findings, found_by_passes, shown
from nkijit.tracing.tracebacks import called_by_authors

# What runs and predicts is imported when a kernel is run or predicted for the first time: it is
# more than half of nkijit, and to trace and verify a kernel needs none of it.
if TYPE_CHECKING:
    from nkijit.passes.advise.advice import Advice
    from nkijit.passes.interpret.backends.choice import BackendReport
    from nkijit.passes.lower.program import Program
    from nkijit.passes.profile.profile import Profile
    from nkijit.passes.profile.simulate import Progress
    from nkijit.passes.report.memory.report import MemoryReport
    from nkijit.passes.values.events import ListenerLike
    from nkijit.passes.values.instructions import TracedIndices
    from nkijit.traced.predictions import PredictionOptions, Predictions
    from nkijit.traced.recording import TracedRecording
    from nkijit.traced.runs import Runs


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
        self._named_tuple = named_tuple
        self._found: Findings | None = None
        self._found_by_passes: Sequence[Diagnostic] | None = None
        self._is_right: bool | None = None
        self._admitted: Findings | None = None
        self._files = dict(files or {})
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

    def __repr__(self) -> str:
        return f"<trace of {self._headline()}>"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from nkijit.traced.notebooks import html_of_trace

        return html_of_trace(self._headline(), self.diagnostics, self.text(rolled=True))

    def _headline(self) -> str:
        """Name, target and types, in a line."""
        types = self.argument_types
        inputs = ", ".join(f"{name} {_size(shape, dtype)}" for name, shape, dtype in types)
        results = ", ".join(_size(*of) for of in self.result_types) or "nothing"
        cores = f" on {len(self._kernels)} cores" if len(self._kernels) > 1 else ""
        return f"@{self.name} for {self.target.platform}{cores}: {inputs} -> {results}"

    def text(
        self, *, locations: bool = False, generic: bool = False, rolled: bool = False
    ) -> ShownText:
        """The IR as text.

        Args:
            locations: print the author's `file:line:column` after every operation.
            generic: print MLIR's generic form.
            rolled: print instructions that repeat themselves once, in loops (`nki.repeat`). It is
                the same kernel: `nkijit.load` and all commands read it.

        Example: `print(kernel.trace(x).text(rolled=True))`
        """
        text = ir_text_of(self.module, locations=locations, generic=generic, rolled=rolled)
        return self._shown("IR", text)

    def _shown(self, what: str, text: str) -> ShownText:
        return ShownText(text, f"{what} of @{self.name} for {self.target.platform}")

    def source(
        self, *, comments: bool = True, loops: bool = True, schedule: str = "author"
    ) -> ShownText:
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
        from nkijit.export.source import source_of

        text = source_of([self.cores(schedule)], comments=comments, loops=loops)
        return self._shown("source", text)

    def cores(self, schedule: str = "author") -> Sequence[KernelOp]:
        """The IR of each core's program; `schedule` is as for `programs`, which may raise."""
        if Schedule(schedule) is Schedule.author:
            return self._kernels
        return [program.kernel for program in self.programs(schedule=schedule)]

    @property
    @without_collection()
    def diagnostics(self) -> Findings:
        """Every finding of tracing and of the verification passes."""
        if self._found is None:
            self._found = findings(self._kernels, self._trace_diagnostics, found=self._judged())
        return self._found

    def _judged(self) -> Sequence[Diagnostic]:
        """What the passes have found, without advice."""
        if self._found_by_passes is None:
            self._found_by_passes = found_by_passes(self._kernels, self._trace_diagnostics)
        return self._found_by_passes

    @without_collection()
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
    @without_collection()
    def verify(self) -> None:
        """Raise one NkiValidationError with all findings if any of them is an error.

        `NKIJIT_STRICT` in the environment makes no difference to it.
        """
        if self._is_right is None:
            # Advice takes time, and is not given here.
            judged = self._judged()
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
        except NkiValidationError as error:
            if any(d.stops(strict=strict) for d in self.diagnostics):
                error.may_go_on = not any(d.stops(strict=False) for d in self.diagnostics)
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
        return self._runs.run(inputs, listener, sanitize, strict)

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
        return self._runs.run_ranks(inputs, strict)

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
        return self._runs.run_queues(self.programs(strict=True), inputs, listener, seed)

    @called_by_authors
    def record(
        self, *inputs: Any, budget: int = BUDGET, strict: bool | None = None
    ) -> TracedRecording:
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
        return self._runs.record(self, self.module, inputs, budget, self.loop_indices, strict)

    @property
    def backend(self) -> BackendReport:
        """What computes the next run: NumPy, or native code (`pip install nkijit[native]`).

        `NKIJIT_BACKEND` in the environment says which: `auto`, the default, has native code made in
        the background from the third run on, `native` before the first, `numpy` never.

        >>> print(kernel.trace(x).backend)  # doctest: +SKIP
        native: 37 of 40 instructions
          numpy: 3 × nisa.iota: Opaque
        """
        return self._runs.plan(False)[0].backend

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
        return self._predictions.programs(_asked(constants, strict, disable_dge, schedule))

    @called_by_authors
    @without_collection()
    def listing(
        self,
        *,
        strict: bool | None = None,
        disable_dge: bool = False,
        schedule: str = "author",
    ) -> ShownText:
        """The queues of each core as text: an engine instruction a line, with waits and signals.

        The arguments are those of `programs`; the first line names the errors that did not stop it.
        """
        text = self._predictions.listing(_asked(None, strict, disable_dge, schedule))
        return self._shown("listing", text)

    def cycles(self) -> list[dict[str, float]]:
        """For each core, how long its engines are busy, in cycles of their own clocks.

        A sum over the instructions, without waiting, in which the body of a loop on the device
        counts once; for `dma` it is bytes. `nkijit explain nisa.X` shows the formulas.
        """
        from nkijit.passes.profile.cycles import engine_cycles

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
        record: TracedRecording | None = None,
        advise: bool = False,
        against: TracedKernel | TracedRecording | None = None,
    ) -> ShownPage:
        """Source, IR, listing, timeline, profile, memory and findings as one HTML page.

        It is a string; in a notebook it shows itself, in a frame. The page needs nothing else, no
        network either. A kernel with errors, or one that lowering does not model, has no listing
        and no timeline, and its page says so.

        Args:
            constants: a file of timing constants, in place of those of the target.
            iterations: how often loops are taken to run of which only the device knows it.
            strict: as for `programs`: False shows listing and timeline in spite of some errors,
                which the page names.
            disable_dge: as for `programs`.
            schedule: as for `programs`; here the compiler's unless told otherwise.
            record: a recording of this kernel, whose values the page shows: figures of what every
                instruction wrote, pictures of as many as there is room for, where NaN, infinities
                and saturated numbers turned up first. `record.report()` is shorter.
            advise: also what `advice` says; this tries changes, which takes its time.
            against: another kernel, which the page compares this one with; or a recording of it,
                which is compared with `record` as well: the first instruction that departs.

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
        asked = _asked(constants, strict, disable_dge, schedule)
        reported = self._predictions.report(
            *(asked, iterations, self.module, self.diagnostics, record), advise=advise
        )
        other = None
        if against is not None:
            recorded = None if isinstance(against, TracedKernel) else against
            beside = against if isinstance(against, TracedKernel) else against.traced
            assert isinstance(beside, TracedKernel)
            other = beside._predictions.report(
                *(asked, iterations, beside.module, beside.diagnostics), compared=recorded
            )
        title = f"report of @{self.name} for {self.target.platform}"
        return ShownPage(reported.html(other), title)

    def memory(self) -> MemoryReport:
        """What is in SBUF and PSUM at each instruction, for each core, also if it is too much.

        `print` it for a table and a map; in a notebook it is a picture, which `svg()` gives.
        """
        from nkijit.passes.report.memory.report import memory_report

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
        asked = _asked(constants, strict, disable_dge, schedule)
        return self._predictions.profile(asked, iterations, progress)

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
        asked = _asked(constants, strict, disable_dge, schedule)
        return self._predictions.advice(asked, iterations, progress)

    @cached_property
    def _runs(self) -> Runs:
        """The kernel's runs, and with them the interpreter, when it runs for the first time."""
        from nkijit.traced.runs import Runs

        return Runs(self._kernels, self._admits, self._named_tuple)

    @cached_property
    def _predictions(self) -> Predictions:
        """What is predicted of the kernel, and with it the lowering, when that is asked for."""
        from nkijit.traced.predictions import Predictions

        return Predictions(self._kernels, self._admits)

    def _admits(self, strict: bool) -> Sequence[Diagnostic]:
        return self.admit(strict=strict)


def _size(shape: tuple[int, ...], dtype: str) -> str:
    """A tensor's shape and data type: `128x512 float32`."""
    return f"{'x'.join(map(str, shape)) or 'scalar'} {dtype}"


def _asked(
    constants: str | os.PathLike[str] | None, strict: bool | None, disable_dge: bool, schedule: str
) -> PredictionOptions:
    from nkijit.traced.predictions import PredictionOptions

    return PredictionOptions.of(constants, strict, disable_dge, schedule)


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
def load_record(path: str | os.PathLike[str], *, budget: int = BUDGET) -> TracedRecording:
    """Load a recording that `TracedRecording.save` wrote; `budget` is as for `TracedKernel.record`.

    The kernel in it is run again. Raises OSError when the file cannot be read, RecordError when it
    is no recording, or when this version of nkijit computes other results than the one that wrote
    it, and what a run raises.

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
