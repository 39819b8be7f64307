"""`nkijit memory`, `profile`, `diff` and `report`."""

from __future__ import annotations

import sys
import webbrowser
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from nkijit.cli.options import WRITTEN, DisableDge, Output, ScheduleOf, Strict
from nkijit.cli.selection import File, Other, Selection, Tracing, only
from nkijit.cli.values import SEED, Call, Inputs
from nkijit.discovery.errors import UsageError
from nkijit.host.output_files import write_text
from nkijit.host.terminal import progress_bar, show, show_findings, waiting
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.profile.compare import counts_text, ir_text, profiles_text, queues_text
from nkijit.passes.profile.profile import Profile
from nkijit.passes.prove.proof import prove
from nkijit.traced.kernel import TracedKernel

if TYPE_CHECKING:
    from nkijit.traced.recording import TracedRecording


@dataclass(frozen=True, kw_only=True)
class Model:
    """Options of the timing model."""

    constants: Annotated[
        Path | None,
        typer.Option("--constants", metavar="FILE", help="timing constants, in TOML"),
    ] = None
    iterations: Annotated[
        int,
        typer.Option(
            "--iterations",
            metavar="N",
            min=0,
            help="assumed trip count of loops whose bounds are known only at run time",
        ),
    ] = 1

    disable_dge: DisableDge = False


@dataclass(frozen=True, kw_only=True)
class Prediction(Model):
    """Options of a prediction."""

    strict: Strict = None
    schedule: ScheduleOf = Schedule.compiler

    def profile(self, traced: TracedKernel) -> Profile:
        """Predict a kernel's time. The terminal shows progress."""
        with progress_bar(f"@{traced.name}") as progress:
            return traced.profile(
                self.constants,
                self.iterations,
                progress,
                strict=self.strict,
                disable_dge=self.disable_dge,
                schedule=self.schedule,
            )


def memory(
    kernels: Selection,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
    as_svg: Annotated[bool, typer.Option("--svg", help="draw the map as an SVG picture")] = False,
    output: Output,
) -> None:
    """Show the tiles in SBUF and PSUM over time, also for kernels that exceed the capacity."""
    if as_json and as_svg:
        raise UsageError("--json and --svg exclude each other")
    traced = kernels.traced()
    # A picture or a JSON document is about one kernel; texts can be concatenated.
    traced = [only(traced)] if as_json or as_svg else traced
    with waiting("mapping the memory"):
        reports = [each.memory() for each in traced]
        texts = [r.to_json() if as_json else r.svg() if as_svg else str(r) for r in reports]
    output.write("\n".join(texts))


def profile(
    kernels: Selection,
    *,
    prediction: Prediction,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="FILE[:KERNEL]", help="compare with another kernel"),
    ] = None,
    other: Other,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="write a trace for ui.perfetto.dev"),
        WRITTEN,
    ] = None,
) -> None:
    """Predict how long a kernel takes, and why: engines, DMA, critical path, waits."""
    if as_json and against is not None:
        raise UsageError("--json and --against exclude each other")
    kernels, compared = other.of(kernels, against)
    traced = kernels.traced()
    if as_json or against is not None or output is not None:
        traced = [only(traced)]
    found = [prediction.profile(t) for t in traced]
    if output is not None:
        write_text(output, found[0].to_perfetto())
    if as_json:
        print(found[0].to_json(), end="")
    elif compared is not None:
        second = prediction.profile(compared.one())
        for name, shown in (("this", found[0]), ("other", second)):
            if shown.passed_over:
                print(f"{name}: {shown.passed_over}")
        print(profiles_text(found[0], second, ("this", "other")), end="")
    else:
        print("\n".join(map(str, found)), end="")


def diff(
    first: File,
    second: Annotated[
        str,
        typer.Argument(
            metavar="OTHER[:KERNEL]", help="the kernel to compare with", show_default=False
        ),
    ] = "",
    *,
    tracing: Tracing,
    other: Other,
    prediction: Prediction,
    queues: Annotated[
        bool, typer.Option("--queues", help="also compare the listings of the queues")
    ] = False,
) -> None:
    """Compare two kernels: terms of results, instructions, IR, memory, predicted time.

    The first line is that of `nkijit prove`: the level at which the kernels are equal.

    The IR is compared as `trace --rolled` prints it: with loops in place of repeated instructions.
    """
    if not second and not other.other_arg:
        path, _, names = first.rpartition(":") if "," in first else (first, "", "")
        one, two = (names or "A,B").split(",")[:2]
        raise UsageError(
            f"diff compares two kernels: nkijit diff {path}:{one} {path}:{two}, and -a for the "
            "arguments of both; or one kernel with other arguments: -b NAME=VALUE"
        )
    pair = [each.one() for each in other.pair(first, second or first, tracing)]
    with waiting("lowering both kernels"):
        one, two = (
            t.programs(
                strict=prediction.strict,
                disable_dge=prediction.disable_dge,
                schedule=prediction.schedule,
            )
            for t in pair
        )
        texts = [t.text(rolled=True) for t in pair]
    names = (first, second or f"{first} -b")
    for file, programs in zip(names, (one, two), strict=True):
        if programs[0].passed_over:
            print(f"{file}: {programs[0].passed_over}")
    with waiting("proving equality"):
        proof = prove(pair[0].cores(), pair[1].cores())
    print(proof)
    print(counts_text(one, two, names))
    print(ir_text(texts[0], texts[1], names))
    if queues:
        print(queues_text(one, two, names))
    now, before = (prediction.profile(t) for t in pair[::-1])
    print(profiles_text(now, before, ("second", "first")), end="")


def report(
    kernels: Selection,
    *,
    prediction: Prediction,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="file for the page; by default the kernel's name with .html; - is standard output",
        ),
        WRITTEN,
    ] = None,
    with_values: Annotated[
        bool,
        typer.Option(
            "--record",
            help="run the kernel as `nkijit run` does, and show the values that instructions write",
        ),
    ] = False,
    inputs: Inputs = None,
    seed: Annotated[int | None, SEED] = None,
    advise: Annotated[
        bool, typer.Option("--advise", help="include suggestions of `nkijit advise`; takes longer")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="FILE[:KERNEL]", help="include another kernel for comparison"
        ),
    ] = None,
    other: Other,
    open_page: Annotated[bool, typer.Option("--open", help="open the page in the browser")] = False,
) -> None:
    """Write an HTML page: source, IR and listing side by side, timeline, profile, memory.

    Findings, which are those of `nkijit verify`, go to standard error. The page of a kernel with
    errors has no listing and timeline, unless --no-strict ignores the errors.

    With --record, -i and --seed have the same meaning as for `nkijit run`. No page is written for a
    kernel that cannot be run. The kernel of --against runs on the same arrays.
    """
    if open_page and str(output) == "-":
        raise UsageError("--open needs a page in a file, not on standard output")
    if not with_values and (inputs or seed is not None):
        raise UsageError(f"{'-i' if inputs else '--seed'} needs --record")
    kernels, second = other.of(kernels, against)
    record: TracedRecording | None = None
    compared: TracedKernel | TracedRecording | None = None
    values: dict[str, Any] | None = None
    if with_values:
        call = Call(kernels, inputs or (), seed or 0)
        with waiting("recording a run"):
            record = call.record(prediction.strict)
            if second is not None:
                compared = replace(call, kernels=second).record(prediction.strict)
        traced = cast(TracedKernel, record.traced)
        values = None if kernels.is_ir else call.arguments()
    else:
        traced = kernels.one()
        compared = None if second is None else second.one()
    with waiting(f"reporting on {traced.name}"):
        page = traced.report(
            prediction.constants,
            prediction.iterations,
            strict=prediction.strict,
            disable_dge=prediction.disable_dge,
            schedule=prediction.schedule,
            record=record,
            advise=advise,
            against=compared,
        )
    path = Path(f"{traced.name}.html") if output is None else output
    if str(path) == "-":
        show(page)
    else:
        write_text(path, page)
    if findings := kernels.findings(traced, values):
        show_findings(findings, sys.stderr)
    if output is None:
        print(f"wrote {path}")
    if open_page:
        webbrowser.open(path.resolve().as_uri())
