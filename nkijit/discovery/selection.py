"""The kernels of a Python file, each with what it is looked at with: target, cores, arguments.

That is what is asked for, else what `[tool.nkijit]` or `@nkijit.example` say.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from nkijit.dialects.spelling import did_you_mean
from nkijit.discovery.argument_text import Random
from nkijit.discovery.config import Config, KernelConfig, config_for
from nkijit.discovery.errors import UsageError
from nkijit.discovery.examples import examples_of
from nkijit.kernels.kernel import Kernel
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings
from nkijit.tracing.target import TARGET_VARIABLE


@dataclass(frozen=True)
class KernelRequest:
    """What somebody asks for, which outranks what files say."""

    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    target: str | None = None
    cores: int | None = None


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
    given: Mapping[str, Any]
    """Arguments that were asked for."""
    config: Config
    said: KernelConfig
    """What the configuration says of this kernel."""

    @property
    def label(self) -> str:
        """File and name."""
        return f"{self.path}:{self.name}"

    @property
    def judged(self) -> str:
        """What it was traced for, in words: `for trn3 (default)`."""
        return f"for {self.kernel.target.platform} ({self.target_from})"

    @cached_property
    def arguments(self) -> tuple[Mapping[str, Any], ...]:
        """Sets of arguments; none when nobody gives any.

        Raises ArgumentTextError and ExampleError for texts that are none.
        """
        sets = [self.config.arguments(written) for written in self.said.arguments]
        sets = sets or [example.arguments() for example in examples_of(self.kernel)]
        sets = sets or ([{}] if self.given else [])
        return tuple(_merged(values, self.given) for values in sets)

    @property
    def known(self) -> Mapping[str, Any]:
        """The first set of arguments."""
        return self.arguments[0] if self.arguments else {}

    def checked(self) -> dict[str, Any]:
        """The first set of arguments. Raises UsageError when it is not complete."""
        return checked(self.kernel, dict(self.known))

    @property
    def needed(self) -> list[str]:
        """The arguments that have to be known."""
        return [
            p.name
            for p in self.kernel.signature.parameters.values()
            if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]

    @property
    def decorator(self) -> str:
        """An example of the kernel, for its author to fill in."""
        values = (f'{name}="128x512:float32"' for name in self.needed)
        return f"@nkijit.example({', '.join(values)})"

    @property
    def is_known(self) -> bool:
        """Whether there are arguments for all that need one."""
        return bool(self.arguments) or not self.needed

    def told(self, found: Iterable[Diagnostic]) -> Findings:
        """Findings without those that the project suppresses, each once.

        What is wrong with a comment, or for several sets of arguments, is found again.
        """
        return Findings(d for d in dict.fromkeys(found) if d.rule.id not in self.config.suppress)


def chosen_of(
    module: ModuleType,
    path: str,
    name: str | None = None,
    asked: KernelRequest | None = None,
    *,
    shown: str = "",
) -> list[Chosen]:
    """The kernels that a Python file defines, or else imports.

    Args:
        module: the file, executed.
        path: the file, for which its project may say something.
        name: of the only one that is asked for.
        asked: what outranks what the project says.
        shown: what the file is called, if not by its path.

    Raises UsageError when there is no kernel of that name, ConfigError for a wrong configuration.
    """
    kernels = {n: v for n, v in vars(module).items() if isinstance(v, Kernel)}
    if name is not None:
        if name not in kernels:
            known = ", ".join(kernels) or "none"
            near = did_you_mean(name, kernels)
            raise UsageError(f"{path} has no kernel '{name}'; it has {known}{near}")
        kernels = {name: kernels[name]}
    own = {n: k for n, k in kernels.items() if _is_of(k, module)}
    kernels = own or kernels
    config = config_for(Path(path))
    alone = len(kernels) == 1
    return [
        _chosen(
            shown or path,
            n,
            k,
            asked or KernelRequest(),
            config,
            config.of(Path(path), n, alone=alone),
        )
        for n, k in kernels.items()
    ]


def the_only(found: Sequence[Chosen], path: str) -> Chosen:
    """The one kernel of a file, for what is about one. Raises UsageError when it has several."""
    if len(found) != 1:
        known = f": {', '.join(each.name for each in found)}" if found else ""
        raise UsageError(f"{path} has {len(found)} kernels{known}; name one as {path}:KERNEL")
    return found[0]


def _chosen(
    path: str, name: str, kernel: Kernel, asked: KernelRequest, config: Config, said: KernelConfig
) -> Chosen:
    cores = asked.cores or said.cores
    kernel = kernel if cores is None else kernel.on_cores(cores)
    target, source = _target(kernel, asked.target, said.target or config.target)
    kernel = kernel.for_target(target) if target else kernel
    return Chosen(path, name, kernel, source, asked.arguments, config, said)


def _target(kernel: Kernel, asked: str | None, configured: str | None) -> tuple[str | None, str]:
    """The target to ask for, None to leave it as it is, and who says so."""
    if asked:
        return asked, "--target"
    if kernel.platform_target is not None:
        return None, "@nki.jit"
    if os.environ.get(TARGET_VARIABLE):
        return None, TARGET_VARIABLE
    return (configured, "pyproject.toml") if configured else (None, "default")


def _is_of(kernel: Kernel, module: ModuleType) -> bool:
    """Whether a kernel is defined in a module, not imported into it."""
    return getattr(kernel.func, "__module__", None) == module.__name__


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


def checked(
    kernel: Kernel,
    values: dict[str, Any],
    tensor_option: str = "-a {name}=128x512:float32",
    value_option: str = "-a {name}=2.0",
) -> dict[str, Any]:
    """The arguments of a kernel, when they are those that it has."""
    parameters = kernel.signature.parameters
    unknown = [name for name in values if name not in parameters]
    missing = [
        name
        for name, p in parameters.items()
        if p.default is p.empty
        and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        and name not in values
    ]
    known = ", ".join(parameters)
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        near = did_you_mean(unknown[0], parameters)
        raise UsageError(f"the kernel has no argument '{unknown[0]}'; it has {known}{near}")
    if missing:
        name = missing[0]
        tensor, value = tensor_option.format(name=name), value_option.format(name=name)
        raise UsageError(
            f"argument '{name}' is missing; the kernel has {known}. Add {tensor} if it is a "
            f"tensor, {value} if it is a value"
        )
    return values
