"""The functions of the two API generations, by their names in kernels and in findings."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from nkijit.tracing.dtype_names import CLASSIC, CURRENT

MODULES = {"nl": "language", "nisa": "isa", "ncc": "collectives"}
"""The modules of an API by their short names in findings."""

_PUBLIC = {CURRENT: "nki", CLASSIC: "neuronxcc.nki"}
"""Maps the package of each API generation to the name that kernels import."""

PACKAGES = {
    path: generation
    for generation in (CLASSIC, CURRENT)
    for path in (generation, _PUBLIC[generation])
}
"""Maps import paths of both APIs to the packages that implement the APIs, longer paths first."""

_CALLED = {CURRENT: "current", CLASSIC: "classic"}


@dataclass(frozen=True, slots=True)
class ApiName:
    """A name of one of the two APIs."""

    generation: str
    """The package of the API: `nkijit` or `nkijit.classic`."""
    short: str
    """The short name of the module: nl, nisa or ncc."""
    name: str

    @property
    def in_findings(self) -> str:
        """The name as in findings: `nl.load`."""
        return f"{self.short}.{self.name}"

    @property
    def value(self) -> Any:
        """The function or other value that has the name; None if there is none."""
        module = _module(self.generation, self.short)
        return None if module is None else vars(module).get(self.name)

    @property
    def other(self) -> ApiName:
        """The same name in the other API."""
        return ApiName(CURRENT if self.is_classic else CLASSIC, self.short, self.name)

    @property
    def is_classic(self) -> bool:
        """Whether the name is of the classic API."""
        return self.generation == CLASSIC

    @property
    def api(self) -> str:
        """The API in words: `the classic API`."""
        return f"the {_CALLED[self.generation]} API"

    @property
    def package(self) -> str:
        """The name that kernels import: `nki` or `neuronxcc.nki`."""
        return _PUBLIC[self.generation]

    @property
    def as_import(self) -> str:
        """The import statement of the API."""
        return "import nki" if self.package == "nki" else f"import {self.package} as nki"


def _module(generation: str, short: str) -> ModuleType | None:
    if short not in MODULES or (short == "ncc" and generation == CLASSIC):
        return None
    return import_module(f"{generation}.{MODULES[short]}")


def api_name_of(value: Any) -> ApiName | None:
    """Return the name of a function or an operator of one of the two APIs; None for others.

    Example: `api_name_of(nl.load)` is the name `load` of nl, in the API of this function.
    """
    name = getattr(value, "__name__", None)
    module = getattr(value, "__module__", None) or type(value).__module__
    if not isinstance(name, str) or not str(module).startswith(f"{CURRENT}."):
        return None
    # A function that both APIs have is of the current one.
    generations = (CLASSIC, CURRENT) if str(module).startswith(CLASSIC) else (CURRENT, CLASSIC)
    for generation in generations:
        for short in MODULES:
            found = ApiName(generation, short, name)
            if found.value is value:
                return found
    return None


def api_module_of(value: Any) -> tuple[str, str] | None:
    """Return generation and short name of a module of one of the two APIs; None for others."""
    if not isinstance(value, ModuleType):
        return None
    for generation in (CLASSIC, CURRENT):
        for short, module in MODULES.items():
            if value.__name__ == f"{generation}.{module}":
                return generation, short
    return None


def api_function(call: str, generation: str) -> Any:
    """Return the function with a name as in findings (`nl.load`), or None."""
    short, _, name = call.partition(".")
    return ApiName(generation, short, name).value


def parameters_of(function: Any) -> list[inspect.Parameter]:
    """Return the parameters of a function, without `self` and `**kwargs`.

    Returns an empty list for None, and for objects without a signature.
    """
    if function is None:
        return []
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in parameters if p.name != "self" and p.kind is not p.VAR_KEYWORD]


def names_of(parameters: Iterable[inspect.Parameter]) -> list[str]:
    """Return the names of parameters, without `*args`."""
    return [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
