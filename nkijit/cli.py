"""The `nkijit` command: trace, verify, list, memory, profile, diff, report, run, explain."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json as json_text
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from xdsl.dialects.builtin import ModuleOp

from nkijit.catalogue import explain_instruction, explain_rule, list_rules, rules_as_markdown
from nkijit.cli_arguments import (
    argument,
    call_arguments,
    checked,
    in_order,
    named_arrays,
    result_arrays,
    save,
    stored_as,
)
from nkijit.dialects.core_program import CoreProgram
from nkijit.dialects.engine.program import ProgramOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.failures import UsageError, failure_of
from nkijit.ir_text import launches_of, parse, text_of
from nkijit.kernel import Kernel
from nkijit.passes.diagnostics.diagnostic import Findings, NkiValidationError
from nkijit.passes.diagnostics.documents import KernelFindings, as_json, as_sarif
from nkijit.passes.lower.listing import listing, listing_json
from nkijit.passes.lower.passes import LOWERING, lowered, run_lowering
from nkijit.passes.lower.program import Program
from nkijit.passes.profile.compare import profiles_text, programs_text
from nkijit.passes.profile.profile import Profile
from nkijit.terminal import progress_bar, tell
from nkijit.traced import SANITIZE_VARIABLE, TracedKernel

app = typer.Typer(
    name="nkijit",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Trace, check and run kernels for AWS Trainium on this machine.

    A kernel is named as FILE.py:KERNEL (the name may be left out when the file has one kernel),
    or as FILE.mlir, the text that `nkijit trace` prints.

    Give the kernel's arguments with -a: a tensor as NAME=SHAPE:DTYPE, anything else as a Python
    literal. Example:

        nkijit trace kernel.py -a x=128x512:float32 -a scale=2.0
    """,
)

_File = Annotated[
    str, typer.Argument(metavar="FILE[:KERNEL]", help="FILE.py, FILE.py:KERNEL, or FILE.mlir")
]
_Arguments = Annotated[
    list[str] | None,
    typer.Option(
        "-a",
        "--arg",
        metavar="NAME=VALUE",
        help="an argument: x=128x512:float32 for a tensor, scale=2.0 for a value",
    ),
]
_Target = Annotated[
    str | None,
    typer.Option(
        "-t",
        "--target",
        metavar="NAME",
        help="trn1, trn2 or trn3; default trn3 (classic kernels: trn2)",
    ),
]
_Cores = Annotated[
    int | None,
    typer.Option("-c", "--cores", metavar="N", help="launch on so many cores, 1 or 2"),
]
_Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="write here instead of the terminal"),
]
_Locations = Annotated[
    bool, typer.Option("--locations", help="print file:line:column behind every operation")
]
_LOWERING = ", ".join(step.lowering.name for step in LOWERING)


@app.command()
def trace(
    file: _File,
    arg: _Arguments = None,
    target: _Target = None,
    cores: _Cores = None,
    locations: _Locations = False,
    generic: Annotated[bool, typer.Option("--generic", help="print MLIR's generic form")] = False,
    output: _Output = None,
) -> None:
    """Trace a kernel and print its IR. Findings go to standard error, the IR is printed anyway."""
    with _errors():
        for traced in _open(file, arg, target, cores):
            _write(traced.text(locations=locations, generic=generic), output)
            if traced.diagnostics:
                tell(traced.diagnostics, sys.stderr)


@app.command()
def verify(
    file: _File,
    arg: _Arguments = None,
    target: _Target = None,
    cores: _Cores = None,
    portable: Annotated[
        bool,
        typer.Option("--portable", help="warn of Python that the vendor's compiler does not take"),
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("-p", "--pass", metavar="PASS", help="run this pass only, e.g. verify-access"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON document")] = False,
    sarif: Annotated[
        bool, typer.Option("--sarif", help="print a SARIF 2.1.0 document, for code hosts")
    ] = False,
    output: _Output = None,
) -> None:
    """Check a kernel against the rules of the hardware; prints every finding.

    With --portable, no arguments are needed: without any, only the kernel's source is judged.
    With --json and --sarif, there is a document also when the kernel cannot be traced.
    """
    with _errors():
        if json and sarif:
            raise UsageError("--json and --sarif are two documents; ask for one")
        form = as_json if json else as_sarif if sarif else None
        try:
            judged = _judged(file, arg, target, cores, portable, only or ())
        except Exception as error:
            if form is not None:
                _write_document(form([], failure_of(error), _version()), output)
            raise
        found = Findings(d for kernel in judged for d in kernel.findings)
        if form is not None:
            _write_document(form(judged, None, _version()), output)
        elif output is not None:
            output.write_text(f"{found}\n", encoding="utf-8")
        else:
            tell(found, sys.stdout)
        if any(d.severity == "error" for d in found):
            raise typer.Exit(1)


@app.command("list")
def list_(
    file: _File,
    arg: _Arguments = None,
    target: _Target = None,
    cores: _Cores = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON document")] = False,
    output: _Output = None,
) -> None:
    """Print what each queue of a core runs, with addresses, waits and signals.

    Takes kernels, and what `nkijit lower` prints.
    """
    with _errors():
        programs = _programs(file, arg, target, cores)
        _write(listing_json(programs) if as_json else "\n".join(map(listing, programs)), output)


@app.command()
def lower(
    file: _File,
    arg: _Arguments = None,
    target: _Target = None,
    cores: _Cores = None,
    stop_after: Annotated[
        str | None,
        typer.Option("--stop-after", metavar="PASS", help=f"the last pass to run: {_LOWERING}"),
    ] = None,
    dump_after_all: Annotated[
        bool, typer.Option("--dump-after-all", help="print the IR after every pass")
    ] = False,
    locations: _Locations = False,
    output: _Output = None,
) -> None:
    """Lower a kernel to queues of engine instructions and print the IR.

    Without --locations the IR does not say which lines instructions come from.
    """
    with _errors():
        module = _lowerable(file, arg, target, cores)
        steps = run_lowering(module, stop_after)
        if dump_after_all:
            _write(
                "\n".join(f"// after {s}\n{text_of(module, locations=locations)}" for s in steps),
                output,
            )
            return
        for _ in steps:
            pass
        _write(text_of(module, locations=locations), output)


@app.command()
def memory(
    file: _File,
    arg: _Arguments = None,
    target: _Target = None,
    cores: _Cores = None,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
    as_svg: Annotated[bool, typer.Option("--svg", help="draw the map as an SVG picture")] = False,
    output: _Output = None,
) -> None:
    """Show what is in SBUF and PSUM over time, by the names of tiles, also if it is too much."""
    with _errors():
        if as_json and as_svg:
            raise UsageError("--json and --svg exclude each other")
        traced = _open(file, arg, target, cores)
        # A picture or an object is of one kernel; text may follow text.
        reports = [t.memory() for t in ([_only(traced)] if as_json or as_svg else traced)]
        if as_json:
            _write(reports[0].to_json(), output)
        elif as_svg:
            _write(reports[0].svg(), output)
        else:
            _write("\n".join(map(str, reports)), output)


_Constants = Annotated[
    Path | None,
    typer.Option("--constants", metavar="FILE", help="timing constants, in TOML"),
]
_Iterations = Annotated[
    int,
    typer.Option(
        "--iterations",
        metavar="N",
        min=0,
        help="how often loops are taken to run of which only the device knows it; default 1",
    ),
]


@app.command()
def profile(
    file: _File,
    arg: _Arguments = None,
    target: _Target = None,
    cores: _Cores = None,
    constants: _Constants = None,
    iterations: _Iterations = 1,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="FILE[:KERNEL]", help="show what differs from another kernel"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="write a trace for ui.perfetto.dev"),
    ] = None,
) -> None:
    """Predict how long a kernel takes, and why: engines, DMA, critical path, waits."""
    with _errors():
        if as_json and against is not None:
            raise UsageError("--json and --against exclude each other")
        traced = _open(file, arg, target, cores)
        if as_json or against is not None or output is not None:
            traced = [_only(traced)]
        found = [_profile(t, constants, iterations) for t in traced]
        if output is not None:
            output.write_text(found[0].to_perfetto(), encoding="utf-8")
        if as_json:
            print(found[0].to_json(), end="")
        elif against is not None:
            other = _profile(_other(against, arg, target, cores), constants, iterations)
            print(profiles_text(found[0], other, ("this", "other")), end="")
        else:
            print("\n".join(map(str, found)), end="")


@app.command()
def diff(
    first: _File,
    second: _File,
    arg: _Arguments = None,
    target: _Target = None,
    cores: _Cores = None,
    constants: _Constants = None,
    iterations: _Iterations = 1,
) -> None:
    """Show what differs between two kernels: instructions, listings, memory, predicted time."""
    with _errors():
        pair = [_other(file, arg, target, cores) for file in (first, second)]
        one, other = (t.programs() for t in pair)
        print(programs_text(one, other, (first, second)))
        now, before = (_profile(t, constants, iterations) for t in pair[::-1])
        print(profiles_text(now, before, ("second", "first")), end="")


@app.command()
def report(
    file: _File,
    arg: _Arguments = None,
    target: _Target = None,
    cores: _Cores = None,
    constants: _Constants = None,
    iterations: _Iterations = 1,
    output: _Output = None,
) -> None:
    """Write one HTML page: source, IR and listing side by side, timeline, profile, memory.

    Findings go to standard error. A kernel with errors has a page without listing and timeline.
    """
    with _errors():
        traced = _only(_open(file, arg, target, cores))
        _write(traced.report(constants, iterations), output)
        if traced.diagnostics:
            tell(traced.diagnostics, sys.stderr)


@app.command()
def run(
    file: _File,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "-i",
            "--input",
            metavar="NAME=FILE.npy",
            help="a tensor argument, in NumPy's format; NAME= may be left out, in order",
        ),
    ] = None,
    outputs: Annotated[
        list[Path] | None,
        typer.Option(
            "-o", "--output", metavar="FILE.npy", help="where results go, in order; else printed"
        ),
    ] = None,
    arg: _Arguments = None,
    target: _Target = None,
    cores: _Cores = None,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="stop at a read of what nothing has written")
    ] = False,
) -> None:
    """Run a kernel on NumPy files.

    Low-precision types that NumPy's format does not know are read and written as their bits
    (uint8 or uint16).
    """
    with _errors():
        if sanitize:
            os.environ[SANITIZE_VARIABLE] = "1"
        arrays = dict(named_arrays(inputs or []))
        if _is_ir(file):
            traced = _only(_open(file, arg, target, cores))
            leaves = traced.argument_types
            given = in_order(arrays, [name for name, _, _ in leaves])
            values = [
                stored_as(array, dtype, name)
                for array, (name, _, dtype) in zip(given, leaves, strict=True)
            ]
            result = traced.run(*values)
        else:
            kernel = _kernel(file, target, cores)
            result = kernel(**call_arguments(kernel, arrays, arg or []))
        results = result_arrays(result)
        if outputs and len(outputs) != len(results):
            raise UsageError(
                f"the kernel has {len(results)} results, -o is given {len(outputs)} times"
            )
        for index, array in enumerate(results):
            if outputs:
                save(outputs[index], array)
            else:
                print(array)


@app.command()
def explain(
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="RULE", help="a rule's id, e.g. both-in-psum, or an instruction, e.g. nisa.max8"
        ),
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="list all rules by category")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="print all rules as a Markdown document")
    ] = False,
) -> None:
    """Explain a rule (what it says, what to do, who has it, its source) or an instruction."""
    with _errors():
        if markdown:
            print(rules_as_markdown(), end="")
            return
        if rule is None or list_all:
            print(list_rules(), end="")
            return
        try:
            is_instruction = rule.startswith(("nisa.", "ncc."))
            print((explain_instruction if is_instruction else explain_rule)(rule), end="")
        except KeyError as error:
            raise UsageError(error.args[0]) from None


def main() -> None:
    """Entry point of the command."""
    app()


# ------------------------------------------------------------------ helpers


@contextmanager
def _errors() -> Generator[None]:
    """Mistakes of the user end the command with a message, not with a traceback."""
    try:
        yield
    except NkiValidationError as error:
        tell(error.diagnostics, sys.stderr)
        raise typer.Exit(1) from None
    except typer.Exit:
        raise
    except Exception as error:
        print(failure_of(error).message, file=sys.stderr)
        raise typer.Exit(1) from None


def _write(text: str, output: Path | None) -> None:
    if output is None:
        print(text, end="")
    else:
        output.write_text(text, encoding="utf-8")


def _write_document(document: Any, output: Path | None) -> None:
    _write(json_text.dumps(document, indent=2, ensure_ascii=False) + "\n", output)


def _version() -> str:
    return importlib.metadata.version("nkijit")


def _judged(
    file: str,
    arguments: Sequence[str] | None,
    target: str | None,
    cores: int | None,
    portable: bool,
    passes: Sequence[str],
) -> list[KernelFindings]:
    """The kernels of a file with what is found in them."""
    if _is_ir(file):
        if portable:
            raise UsageError(
                "--portable is about a kernel's Python source, which a .mlir file lacks"
            )
        return [
            KernelFindings(t.name, t.target.platform, t.find(*passes) if passes else t.diagnostics)
            for t in _open(file, arguments, target, cores)
        ]
    kernel = _kernel(file, target, cores)
    values = dict(argument(text) for text in arguments or [])
    found = list(kernel.portability(**values)) if portable else []
    if portable and not arguments:
        return [KernelFindings(kernel.__name__, None, Findings(found))]
    try:
        traced = kernel.trace(**checked(kernel, values))
        found += traced.find(*passes) if passes else traced.diagnostics
    except NkiValidationError as error:  # the trace has come to an end
        found += error.diagnostics
    # What is wrong with a comment is found by both.
    found = Findings(dict.fromkeys(found))
    return [KernelFindings(kernel.__name__, kernel.target.platform, found)]


def _is_ir(file: str) -> bool:
    return file.partition(":")[0].endswith(".mlir")


def _open(
    file: str, arguments: Sequence[str] | None, target: str | None, cores: int | None
) -> list[TracedKernel]:
    if _is_ir(file):
        module = _module(file, arguments, target, cores)
        return [TracedKernel(module, kernels=cores) for cores in launches_of(module).values()]
    kernel = _kernel(file, target, cores)
    values = dict(argument(text) for text in arguments or [])
    return [kernel.trace(**checked(kernel, values))]


def _other(
    file: str, arguments: Sequence[str] | None, target: str | None, cores: int | None
) -> TracedKernel:
    """One of two kernels: what a .mlir file says already is for the other one."""
    if _is_ir(file):
        return _only(_open(file, None, None, None))
    return _only(_open(file, arguments, target, cores))


def _profile(traced: TracedKernel, constants: Path | None, iterations: int) -> Profile:
    with progress_bar(f"@{traced.name}") as progress:
        return traced.profile(constants, iterations, progress)


def _module(
    file: str,
    arguments: Sequence[str] | None,
    target: str | None,
    cores: int | None,
    kinds: tuple[type[CoreProgram], ...] = (KernelOp,),
) -> ModuleOp:
    """What a .mlir file has of some kinds, without what has another name than the one given."""
    path, _, name = file.partition(":")
    if arguments or target or cores:
        raise UsageError("a .mlir file is traced already: -a, -t and -c do not apply")
    module = parse(Path(path).read_text(encoding="utf-8"), path)
    found = False
    for op in list(module.walk()):
        if isinstance(op, CoreProgram):
            kept = isinstance(op, kinds) and (not name or op.launch_name == name)
            found = found or kept
            if not kept:
                op.detach()
    if not found:
        raise UsageError(f"{path} has no kernel" + (f" '{name}'" if name else ""))
    return module


def _lowerable(
    file: str, arguments: Sequence[str] | None, target: str | None, cores: int | None
) -> ModuleOp:
    """Kernels without errors, and lowered programs."""
    if _is_ir(file):
        module = _module(file, arguments, target, cores, (KernelOp, ProgramOp))
        traced = [TracedKernel(module, kernels=cores) for cores in launches_of(module).values()]
    else:
        traced = _open(file, arguments, target, cores)
        module = traced[0].module.clone()
    for kernel in traced:
        kernel.verify()
    return module


def _programs(
    file: str, arguments: Sequence[str] | None, target: str | None, cores: int | None
) -> list[Program]:
    """The programs of each core, which lowering may have begun with."""
    if not _is_ir(file):
        return [p for kernel in _open(file, arguments, target, cores) for p in kernel.programs()]
    return list(lowered(_lowerable(file, arguments, target, cores)))


def _only(traced: list[TracedKernel]) -> TracedKernel:
    if len(traced) != 1:
        names = ", ".join(t.name for t in traced)
        raise UsageError(f"the file has several kernels, name one: {names}")
    return traced[0]


def _kernel(file: str, target: str | None, cores: int | None) -> Kernel:
    path, _, name = file.partition(":")
    if not Path(path).is_file():
        raise UsageError(f"no such file: {path}")
    module = _import(Path(path))
    members = cast(dict[str, object], vars(module))
    kernels = {n: v for n, v in members.items() if isinstance(v, Kernel)}
    if not name:
        if len(kernels) != 1:
            found = f"has {len(kernels)} kernels" + (f": {', '.join(kernels)}" if kernels else "")
            raise UsageError(f"{path} {found}; name one as {path}:KERNEL")
        (name,) = kernels
    if name not in kernels:
        raise UsageError(f"{path} has no kernel '{name}'; it has {', '.join(kernels) or 'none'}")
    kernel = kernels[name] if cores is None else kernels[name].on_cores(cores)
    return kernel.for_target(target) if target else kernel


def _import(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # Neighbours of the file can be imported, as when it is run.
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules[path.stem] = module
    # Compiled under the path as it was typed, not the absolute one: diagnostics show it.
    exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    return module
