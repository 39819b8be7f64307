"""Which kernels a command is about: those of a file, and how they are traced."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from xdsl.dialects.builtin import ModuleOp

from nkijit.cli.arguments import argument_values, checked
from nkijit.dialects.core_program import CoreProgram
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.spelling import did_you_mean
from nkijit.failures import UsageError
from nkijit.ir_text import launches_of, load_module
from nkijit.kernel import Kernel
from nkijit.traced import TracedKernel

File = Annotated[
    str, typer.Argument(metavar="FILE[:KERNEL]", help="FILE.py, FILE.py:KERNEL, or FILE.mlir")
]


@dataclass(frozen=True, kw_only=True)
class Tracing:
    """How the kernels of a Python file are traced."""

    arg: Annotated[
        list[str] | None,
        typer.Option(
            "-a",
            "--arg",
            metavar="NAME=VALUE",
            help="an argument: x=128x512:float32 for a tensor, scale=2.0 for a value",
        ),
    ] = None
    target: Annotated[
        str | None,
        typer.Option(
            "-t",
            "--target",
            metavar="NAME",
            help="trn1, trn2 or trn3; default trn3 (classic kernels: trn2)",
        ),
    ] = None
    cores: Annotated[
        int | None,
        typer.Option("-c", "--cores", metavar="N", help="launch on so many cores, 1 or 2"),
    ] = None

    def of(self, file: str) -> Selection:
        """The kernels of one of two files: what a .mlir file says already is for the other one."""
        if _is_ir(file):
            return Selection(file=file)
        return Selection(file=file, arg=self.arg, target=self.target, cores=self.cores)


@dataclass(frozen=True, kw_only=True)
class Selection(Tracing):
    """Kernels of a file, and how they are traced."""

    file: File

    @property
    def is_ir(self) -> bool:
        """Whether the file is IR, and its kernels are traced already."""
        return _is_ir(self.file)

    @property
    def values(self) -> dict[str, Any]:
        """The kernel's arguments as they are given."""
        return argument_values(self.arg or [])

    def traced(self) -> list[TracedKernel]:
        """The kernels, traced."""
        if self.is_ir:
            return launched(self.module((KernelOp,)))
        kernel = self.kernel()
        return [kernel.trace(**checked(kernel, self.values))]

    def one(self) -> TracedKernel:
        """The kernel, traced, when it is one."""
        return only(self.traced())

    def kernel(self) -> Kernel:
        """The kernel that a Python file has."""
        path, _, name = self.file.partition(":")
        if not Path(path).is_file():
            raise UsageError(f"no such file: {path}")
        members = cast(dict[str, object], vars(_import(Path(path))))
        kernels = {n: v for n, v in members.items() if isinstance(v, Kernel)}
        if not name:
            if len(kernels) != 1:
                known = f": {', '.join(kernels)}" if kernels else ""
                found = f"has {len(kernels)} kernels{known}"
                raise UsageError(f"{path} {found}; name one as {path}:KERNEL")
            (name,) = kernels
        if name not in kernels:
            known = ", ".join(kernels) or "none"
            raise UsageError(
                f"{path} has no kernel '{name}'; it has {known}{did_you_mean(name, kernels)}"
            )
        kernel = kernels[name] if self.cores is None else kernels[name].on_cores(self.cores)
        return kernel.for_target(self.target) if self.target else kernel

    def module(self, kinds: tuple[type[CoreProgram], ...]) -> ModuleOp:
        """What a .mlir file has of some kinds, without what has another name than the one given."""
        path, _, name = self.file.partition(":")
        if self.arg or self.target or self.cores:
            raise UsageError("a .mlir file is traced already: -a, -t and -c do not apply")
        module = load_module(path)
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


def launched(module: ModuleOp) -> list[TracedKernel]:
    """The kernels of a module."""
    return [TracedKernel(module, kernels=cores) for cores in launches_of(module).values()]


def only(traced: Sequence[TracedKernel]) -> TracedKernel:
    """The one kernel, for what is about one."""
    if len(traced) != 1:
        names = ", ".join(t.name for t in traced)
        raise UsageError(f"the file has several kernels, name one: {names}")
    return traced[0]


def _is_ir(file: str) -> bool:
    return file.partition(":")[0].endswith(".mlir")


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
