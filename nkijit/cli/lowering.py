"""`nkijit list` and `nkijit lower`."""

from __future__ import annotations

from itertools import chain
from typing import Annotated

import typer
from xdsl.dialects.builtin import ModuleOp

from nkijit.cli.options import DisableDge, Locations, Output, ScheduleOf, Strict
from nkijit.cli.selection import Selection, launched
from nkijit.dialects.engine.program import ProgramOp, programs_of
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.discovery.errors import UsageError
from nkijit.host.terminal import waiting
from nkijit.ir.text import ir_text_of
from nkijit.passes.compile.listings import listing_of
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.lower.listing import listing
from nkijit.passes.lower.listing_json import listing_json
from nkijit.passes.lower.passes import LOWERING, run_lowering, scheduled
from nkijit.passes.lower.program import Program

_LOWERING = ", ".join(step.lowering.name for step in LOWERING)


def list_(
    kernels: Selection,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON document")] = False,
    strict: Strict = None,
    disable_dge: DisableDge = False,
    schedule: ScheduleOf = Schedule.author,
    output: Output,
) -> None:
    """Print the instructions of each queue, with addresses, waits and signals.

    The input may be a kernel, or the output of `nkijit lower`.
    """
    lowered, scheduled_before = _programs(
        kernels, strict=strict, disable_dge=disable_dge, schedule=schedule
    )
    programs = [*chain(*lowered), *scheduled_before]
    with waiting("writing the listing"):
        if as_json:
            text = listing_json(programs)
        else:
            parts = [listing_of(each) for each in lowered] + [*map(listing, scheduled_before)]
            text = "\n".join(parts)
    output.write(text)


def lower(
    kernels: Selection,
    *,
    stop_after: Annotated[
        str | None,
        typer.Option("--stop-after", metavar="PASS", help=f"the last pass to run: {_LOWERING}"),
    ] = None,
    dump_after_all: Annotated[
        bool, typer.Option("--dump-after-all", help="print the IR after every pass")
    ] = False,
    locations: Locations = False,
    output: Output,
) -> None:
    """Lower a kernel to queues of engine instructions and print the IR.

    Use --locations to include the source lines of instructions.
    """
    module = _lowerable(kernels)
    is_kernel = any(isinstance(op, KernelOp) for op in module.body.ops)
    steps = run_lowering(module, stop_after)
    with waiting("lowering"):
        dumps = [
            f"// after {step}\n{ir_text_of(module, locations=locations)}" if dump_after_all else ""
            for step in steps
        ]
        text = "\n".join(dumps) if dump_after_all else ir_text_of(module, locations=locations)
    output.write(f"// {Schedule.author.headline}\n{text}" if is_kernel else text)


def _lowerable(kernels: Selection) -> ModuleOp:
    """Return the module to lower: kernels without errors, or programs that are lowered already."""
    if kernels.is_ir:
        module = kernels.module((KernelOp, ProgramOp))
        traced = launched(module)
    else:
        traced = kernels.traced()
        module = traced[0].module.clone()
    for kernel in traced:
        with waiting(f"checking @{kernel.name}"):
            kernel.verify()
    return module


def _programs(
    kernels: Selection, *, strict: bool | None, disable_dge: bool, schedule: Schedule
) -> tuple[list[list[Program]], list[Program]]:
    """Return the programs of each core: by kernel, and of IR that `nkijit lower` printed."""
    programs = list[ProgramOp]()
    if kernels.is_ir:
        module = kernels.module((KernelOp, ProgramOp))
        traced, programs = launched(module), list(programs_of(module))
        if disable_dge and programs:
            raise UsageError("--disable-dge does not apply to lowered kernels, which have queues")
        if schedule is Schedule.compiler and programs:
            raise UsageError("--schedule does not apply to lowered kernels, whose order is fixed")
    else:
        traced = kernels.traced()
    lowered = list[list[Program]]()
    for kernel in traced:
        with waiting(f"lowering @{kernel.name}"):
            lowered.append(
                kernel.programs(strict=strict, disable_dge=disable_dge, schedule=schedule)
            )
    return lowered, [scheduled(p) for p in programs]
