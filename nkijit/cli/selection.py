"""Which kernels a command is about: those of a file, and how they are traced."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from xdsl.dialects.builtin import ModuleOp

from nkijit.argument_text import Random
from nkijit.cli.arguments import argument_values, checked
from nkijit.config import Config, KernelConfig, config_for, split_kernel
from nkijit.dialects.core_program import CoreProgram
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.spelling import did_you_mean
from nkijit.failures import UsageError
from nkijit.ir_text import launches_of, load_module, parse
from nkijit.kernel import Kernel
from nkijit.python_files import STDIN, run_file, run_text
from nkijit.target import TARGET_VARIABLE
from nkijit.terminal import waiting
from nkijit.traced import TracedKernel

STANDARD_INPUT = "-"
FILE_HELP = "FILE.py, FILE.py:KERNEL, or FILE.mlir; - is standard input"

File = Annotated[str, typer.Argument(metavar="FILE[:KERNEL]", help=FILE_HELP)]


@dataclass(frozen=True, kw_only=True)
class Tracing:
    """How the kernels of a Python file are traced."""

    arg: Annotated[
        list[str] | None,
        typer.Option(
            "-a",
            "--arg",
            metavar="NAME=VALUE",
            help="an argument: x=128x512:float32 for a tensor, scale=2.0 for a value, "
            "mode=\"'fast'\" for a string; see docs/command-line.md",
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


@dataclass(frozen=True)
class Chosen:
    """A kernel of a Python file, and what it is looked at with."""

    path: str
    """The file, as it was named."""
    name: str
    """What the file calls it."""
    kernel: Kernel
    """For the target and the cores that were asked for."""
    target_from: str
    """Who says for which target."""
    arguments: tuple[Mapping[str, Any], ...]
    """Sets of arguments; none when nobody gives any."""
    suppressed: frozenset[str]
    """The ids of warnings that are not told."""

    @property
    def label(self) -> str:
        """File and name."""
        return f"{self.path}:{self.name}"

    @property
    def judged(self) -> str:
        """What it was traced for, in words: `for trn3 (default)`."""
        return f"for {self.kernel.target.platform} ({self.target_from})"

    @property
    def known(self) -> Mapping[str, Any]:
        """The first set of arguments."""
        return self.arguments[0] if self.arguments else {}

    def checked(self) -> dict[str, Any]:
        """The first set of arguments. Raises UsageError when it is not complete."""
        return checked(self.kernel, dict(self.known))

    @property
    def is_known(self) -> bool:
        """Whether there are arguments for all that need one."""
        needed = (p for p in self.kernel.signature.parameters.values() if p.default is p.empty)
        return bool(self.arguments) or all(
            p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in needed
        )


@dataclass(frozen=True, kw_only=True)
class Selection(Tracing):
    """Kernels of a file, and how they are traced."""

    file: File

    @property
    def is_ir(self) -> bool:
        """Whether the file is IR, and its kernels are traced already."""
        if self.file == STANDARD_INPUT:
            return _looks_like_ir(_stdin())
        return _is_ir(self.file)

    @property
    def values(self) -> dict[str, Any]:
        """The kernel's arguments as they are given."""
        return argument_values(self.arg or [])

    def traced(self) -> list[TracedKernel]:
        """The kernels, traced."""
        if self.is_ir:
            return launched(self.module((KernelOp,)))
        chosen = self.chosen()
        arguments = chosen.checked()
        with waiting(f"tracing {chosen.name}"):
            return [chosen.kernel.trace(**arguments)]

    def one(self) -> TracedKernel:
        """The kernel, traced, when it is one."""
        return only(self.traced())

    def kernel(self) -> Kernel:
        """The kernel that a Python file has."""
        return self.chosen().kernel

    def chosen(self) -> Chosen:
        """The kernel that a Python file has, with its arguments."""
        found = self.all_chosen()
        if len(found) != 1:
            path, _ = split_kernel(self.file)
            known = f": {', '.join(each.name for each in found)}" if found else ""
            raise UsageError(f"{path} has {len(found)} kernels{known}; name one as {path}:KERNEL")
        return found[0]

    def all_chosen(self) -> list[Chosen]:
        """The kernels that a Python file has, or the one that is named."""
        path, name = split_kernel(self.file)
        module = self._module
        kernels = {n: v for n, v in vars(module).items() if isinstance(v, Kernel)}
        if name is not None:
            if name not in kernels:
                known = ", ".join(kernels) or "none"
                near = did_you_mean(name, kernels)
                raise UsageError(f"{path} has no kernel '{name}'; it has {known}{near}")
            kernels = {name: kernels[name]}
        own = {n: k for n, k in kernels.items() if _is_of(k, module)}
        kernels = own or kernels
        shown = path if path != STANDARD_INPUT else STDIN
        config = config_for(Path(path))
        alone = len(kernels) == 1
        return [
            self._of(shown, n, k, config, config.of(Path(path), n, alone=alone))
            for n, k in kernels.items()
        ]

    def _of(
        self, path: str, name: str, kernel: Kernel, config: Config, said: KernelConfig
    ) -> Chosen:
        cores = self.cores or said.cores
        kernel = kernel if cores is None else kernel.on_cores(cores)
        target, source = self._target(kernel, said.target or config.target)
        kernel = kernel.for_target(target) if target else kernel
        given = self.values
        sets = [config.arguments(written) for written in said.arguments]
        arguments = tuple(_merged(values, given) for values in sets or ([{}] if given else []))
        return Chosen(path, name, kernel, source, arguments, config.suppress)

    def _target(self, kernel: Kernel, configured: str | None) -> tuple[str | None, str]:
        """The target to ask for, None to leave it as it is, and who says so."""
        if self.target:
            return self.target, "--target"
        if kernel.platform_target is not None:
            return None, "@nki.jit"
        if os.environ.get(TARGET_VARIABLE):
            return None, TARGET_VARIABLE
        return (configured, "pyproject.toml") if configured else (None, "default")

    @cached_property
    def _module(self) -> ModuleType:
        path, _ = split_kernel(self.file)
        if path == STANDARD_INPUT:
            return run_text(_stdin())
        if not Path(path).is_file():
            raise UsageError(f"no such file: {path}")
        if not path.endswith(".py"):
            raise UsageError(f"{path} is not a Python file")
        return run_file(Path(path))

    def module(self, kinds: tuple[type[CoreProgram], ...]) -> ModuleOp:
        """What a .mlir file has of some kinds, without what has another name than the one given."""
        path, name = split_kernel(self.file)
        if self.arg or self.target or self.cores:
            raise UsageError("a .mlir file is traced already: -a, -t and -c do not apply")
        module = parse(_stdin(), STDIN) if path == STANDARD_INPUT else load_module(path)
        found: list[str] = []
        for op in list(module.walk()):
            if isinstance(op, CoreProgram):
                kept = isinstance(op, kinds) and (not name or op.launch_name == name)
                found.append(op.launch_name)
                if not kept:
                    op.detach()
        if not any(isinstance(op, kinds) for op in module.walk()):
            near = did_you_mean(name, found) if name else ""
            raise UsageError(f"{path} has no kernel" + (f" '{name}'{near}" if name else ""))
        return module


def _merged(known: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with others in the place of some; `random` keeps the tensor that is known."""
    for name, value in given.items():
        if isinstance(value, Random) and name not in known:
            raise UsageError(
                f"-a {name}=random: of which shape? -a {name}=128x512:float32 is random data for "
                "`nkijit run`"
            )
    kept = {n: v for n, v in given.items() if not isinstance(v, Random)}
    return {**known, **kept}


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
    return split_kernel(file)[0].endswith(".mlir")


def _looks_like_ir(text: str) -> bool:
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("//")), "")
    return first.startswith(("builtin.module", '"builtin.module"', "module", "nki.", '"nki.'))


def _is_of(kernel: Kernel, module: ModuleType) -> bool:
    """Whether a kernel is defined in a module, not imported into it."""
    return getattr(kernel.func, "__module__", None) == module.__name__


@cache
def _stdin() -> str:
    """All of standard input, which can be read once."""
    return sys.stdin.read()
