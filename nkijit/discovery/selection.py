"""Selection of a Python file's kernels, each with its target, number of cores and arguments.

Target, cores and arguments come from the request (such as a command line), else from
`[tool.nkijit]`, else from `@nkijit.example`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from nkijit.dialects.spelling import did_you_mean, numbered
from nkijit.discovery.argument_text import Random
from nkijit.discovery.config import Config, KernelConfig, config_for
from nkijit.discovery.errors import UsageError
from nkijit.discovery.examples import examples_of
from nkijit.discovery.undecorated import without_decorator
from nkijit.kernels.kernel import Kernel
from nkijit.passes.diagnostics.denial import Denial
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings
from nkijit.tracing.target import TARGET_VARIABLE


@dataclass(frozen=True)
class KernelRequest:
    """Arguments, target and cores of a request, which override the settings of files."""

    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    target: str | None = None
    cores: int | None = None
    deny: tuple[str, ...] = ()
    """Selectors of warnings that count as errors, in addition to the selectors in files."""
    shared: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of a comparison: they apply to those of its kernels that have the parameter.

    `arguments` have priority.
    """


@dataclass(frozen=True)
class Chosen:
    """A kernel of a Python file with its target, number of cores and arguments."""

    path: str
    """The path of the file, as in the request."""
    name: str
    """The name of the kernel's variable in the file."""
    kernel: Kernel
    """The kernel, with the selected target and number of cores."""
    target_from: str
    """How the target was chosen: an option, a file, an environment variable or `default`."""
    requested: Mapping[str, Any]
    """The arguments in the request, by name."""
    config: Config
    entry: KernelConfig
    """The configuration of this kernel in `config`."""
    deny: tuple[str, ...] = ()
    """The request's selectors of warnings that count as errors."""
    portable: bool = False
    """Whether the kernel is checked against a release of NKI; never for a classic kernel."""
    nki: str | None = None
    """The version of this release; None for the newest."""

    def with_portability(self, portable: bool | None, nki: str | None) -> Chosen:
        """Return the kernel with the portability settings of a request.

        Args:
            portable: whether to check the kernel against a release; None: the project decides.
            nki: the version of the release; None: the project decides.
        """
        portable = self.config.portable if portable is None else portable
        is_checked = portable and not self.kernel.is_classic
        return replace(self, portable=is_checked, nki=nki or self.config.nki)

    @property
    def label(self) -> str:
        """The text that names the kernel in messages: `FILE:NAME`."""
        return f"{self.path}:{self.name}"

    @property
    def target_in_words(self) -> str:
        """The target and its origin, in words: `for trn3 (default)`."""
        return f"for {self.kernel.target.platform} ({self.target_from})"

    @cached_property
    def arguments(self) -> tuple[Mapping[str, Any], ...]:
        """The known sets of arguments; empty if none is known.

        The sets come from pyproject.toml, else from the examples. Arguments of the request replace
        arguments of the same name in each set. Raises ArgumentTextError and ExampleError for
        strings that cannot be parsed.
        """
        sets = [self.config.arguments(written) for written in self.entry.arguments]
        sets = sets or [example.arguments() for example in examples_of(self.kernel)]
        sets = sets or ([{}] if self.requested else [])
        return tuple(_merged(values, self.requested) for values in sets)

    @property
    def known(self) -> Mapping[str, Any]:
        """The first set of arguments, empty when none is known."""
        return self.arguments[0] if self.arguments else {}

    def checked(self) -> dict[str, Any]:
        """Return the first set of arguments. Raises UsageError when it is incomplete."""
        return checked(self.kernel, dict(self.known), label=self.label)

    @property
    def needed(self) -> list[str]:
        """Names of the parameters without a default."""
        return [
            p.name
            for p in self.kernel.signature.parameters.values()
            if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]

    @property
    def decorator(self) -> str:
        """A template of an `@nkijit.example` for this kernel, with placeholder shapes."""
        values = (f'{name}="128x512:float32"' for name in self.needed)
        return f"@nkijit.example({', '.join(values)})"

    @property
    def is_known(self) -> bool:
        """Whether the kernel has a set of arguments or needs none."""
        return bool(self.arguments) or not self.needed

    @property
    def denial(self) -> Denial:
        """The warnings that the request or the project counts as errors."""
        return Denial((*self.deny, *self.config.deny.selectors))

    def reported(self, found: Iterable[Diagnostic]) -> Findings:
        """Return the findings that the project does not suppress; denied warnings become errors.

        Duplicates, which several sets of arguments cause, are removed.
        """
        shown = (d for d in dict.fromkeys(found) if d.rule.id not in self.config.suppress)
        return Findings(self.denial.applied(shown))


def chosen_of(
    module: ModuleType,
    path: str,
    name: str | None = None,
    request: KernelRequest | None = None,
    *,
    shown: str = "",
) -> list[Chosen]:
    """Return the kernels that a Python file defines; if there are none, those that it imports.

    Args:
        module: the executed file.
        path: the path of the file, which determines the project's configuration.
        name: the only kernel to return; all by default.
        request: overrides the configuration.
        shown: name of the file in messages; by default its path.

    Raises UsageError when there is no kernel of this name, ConfigError for an invalid
    configuration.
    """
    kernels = {n: v for n, v in vars(module).items() if isinstance(v, Kernel)}
    if name is not None:
        if name not in kernels:
            known = ", ".join(kernels) or "none"
            near = did_you_mean(name, kernels)
            if undecorated := without_decorator(module, name):
                raise UsageError(f"{shown or path} has no kernel '{name}': {undecorated}")
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
            request or KernelRequest(),
            config,
            config.of(Path(path), n, alone=alone),
        )
        for n, k in kernels.items()
    ]


def no_kernel(path: str, module: ModuleType) -> UsageError:
    """Return the error for an executed file without kernels."""
    undecorated = without_decorator(module)
    return UsageError(f"{path} has no kernel{f': {undecorated}' if undecorated else ''}")


def the_only(found: Sequence[Chosen], path: str, module: ModuleType) -> Chosen:
    """Return the only kernel of a file. Raises UsageError for none or several.

    Args:
        found: the kernels of the file.
        path: the file.
        module: the executed file.
    """
    if not found:
        raise no_kernel(path, module)
    if len(found) != 1:
        known = f": {', '.join(each.name for each in found)}" if found else ""
        raise UsageError(
            f"{path} has {numbered(len(found), 'kernel')}{known}; name one as {path}:KERNEL"
        )
    return found[0]


def _chosen(
    path: str,
    name: str,
    kernel: Kernel,
    request: KernelRequest,
    config: Config,
    entry: KernelConfig,
) -> Chosen:
    cores = entry.cores if request.cores is None else request.cores
    kernel = kernel if cores is None else kernel.on_cores(cores)
    target, source = _target(kernel, request.target, entry.target or config.target)
    kernel = kernel if target is None else kernel.for_target(target)
    shared = {n: v for n, v in request.shared.items() if takes(kernel, n)}
    requested = {**shared, **request.arguments}
    chosen = Chosen(path, name, kernel, source, requested, config, entry, request.deny)
    return chosen.with_portability(None, None)


def _target(
    kernel: Kernel, requested: str | None, configured: str | None
) -> tuple[str | None, str]:
    """Return the target to set (None for the kernel's own), and how it was chosen, in words."""
    if requested is not None:
        return requested, "--target"
    if kernel.platform_target is not None:
        return None, "@nki.jit"
    if os.environ.get(TARGET_VARIABLE):
        return None, TARGET_VARIABLE
    return (configured, "pyproject.toml") if configured else (None, "default")


def _is_of(kernel: Kernel, module: ModuleType) -> bool:
    """Whether a module defines a kernel, rather than importing it."""
    return getattr(kernel.func, "__module__", None) == module.__name__


def _merged(known: Mapping[str, Any], requested: Mapping[str, Any]) -> dict[str, Any]:
    """Update arguments with the arguments of a request.

    If the request is `random`, the argument remains the known tensor. Raises UsageError if no
    tensor of this name is known.
    """
    for name, value in requested.items():
        if isinstance(value, Random) and name not in known:
            raise UsageError(
                f"-a {name}=random needs a shape: -a {name}=128x512:float32 is random data for "
                "`nkijit run`"
            )
    replaced = {n: v for n, v in requested.items() if not isinstance(v, Random)}
    return {**known, **replaced}


def _as_argument(kernel: Kernel, name: str) -> str:
    """Return advice about a global of the kernel's file that is no argument; "" for other names."""
    value = getattr(kernel.func, "__globals__", {}).get(name)
    if not isinstance(value, (bool, int, float, str)):
        return ""
    parameters = kernel.signature.parameters.values()
    shown = [str(p.replace(annotation=p.empty)) for p in parameters]
    listed = ", ".join([*shown, f"{name}={value!r}"])
    return f". It is a global: make it an argument, def {kernel.__name__}({listed})"


def takes(kernel: Kernel, name: str) -> bool:
    """Return whether a kernel can be called with an argument of this name."""
    parameters = kernel.signature.parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def check_shared(values: Iterable[str], kernels: Sequence[Chosen]) -> None:
    """Raise UsageError for an argument of a comparison that none of its kernels has."""
    for name in values:
        if kernels and not any(takes(each.kernel, name) for each in kernels):
            known = [(each.label, list(each.kernel.signature.parameters)) for each in kernels]
            near = did_you_mean(name, [n for _, names in known for n in names])
            listed = "; ".join(dict.fromkeys(f"{k} has {', '.join(names)}" for k, names in known))
            raise UsageError(
                f"no kernel of the comparison has an argument '{name}': {listed}{near}"
            )


def checked(
    kernel: Kernel,
    values: dict[str, Any],
    tensor_option: str = "-a {name}=128x512:float32",
    value_option: str = "-a {name}=2.0",
    *,
    label: str = "",
) -> dict[str, Any]:
    """Return the arguments if they match the kernel's parameters.

    Raises UsageError for unknown and missing arguments.

    Args:
        kernel: the kernel.
        values: arguments by name.
        tensor_option: how to add a tensor, for the message; `{name}` is replaced.
        value_option: how to add another value.
        label: the text that names the kernel in messages; by default its name.
    """
    parameters = kernel.signature.parameters
    unknown = [name for name in values if not takes(kernel, name)]
    missing = [
        name
        for name, p in parameters.items()
        if p.default is p.empty
        and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        and name not in values
    ]
    known = ", ".join(parameters) or "none"
    label = label or f"kernel '{kernel.__name__}'"
    if unknown:
        near = did_you_mean(unknown[0], parameters)
        help = near or _as_argument(kernel, unknown[0])
        raise UsageError(f"{label} has no argument '{unknown[0]}'; it has {known}{help}")
    if missing:
        name = missing[0]
        tensor, value = tensor_option.format(name=name), value_option.format(name=name)
        raise UsageError(
            f"argument '{name}' is missing; {label} has {known}. Add {tensor} if it is a "
            f"tensor, {value} if it is a value"
        )
    return values
