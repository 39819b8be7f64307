"""Traversal of a kernel: its function, the functions and classes that it uses, its arguments."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from enum import Enum
from types import FunctionType
from typing import Any, cast

import numpy as np

from nkijit.dialects.rule_texts.portability import (
    PORTABLE_CLASS,
    PORTABLE_DICT_KEY,
    PORTABLE_LIST_ARGUMENT,
    PORTABLE_NESTED_KERNEL,
    PORTABLE_SOURCE,
    PORTABLE_VALUE,
)
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.host.installed import is_library, is_library_file
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.places import Position
from nkijit.reference.portability.body import FunctionChecker, is_jitted
from nkijit.reference.portability.definitions import definition_of
from nkijit.releases.table import Release, is_held
from nkijit.tracing.objects import NKIObject


class KernelChecker:
    """Checks a kernel and everything that it uses; collects the findings."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.found: list[Diagnostic] = []
        self.checked_lines: dict[str, set[int]] = {}
        """The numbers of the source lines that were checked, by file."""
        self._seen: set[int] = set()

    def report(
        self, rule: RuleText, subject: str, where: tuple[Position, ...], message: str
    ) -> None:
        if is_held(rule.id, self.release):
            self.found.append(Diagnostic(rule, message, subject, where))

    def use(self, value: Any, where: tuple[Position, ...]) -> None:
        """Check a function, a class or the class of an object, unless it is a library's."""
        if isinstance(value, functools.partial):
            self.use(cast("functools.partial[Any]", value).func, where)
        elif isinstance(value, FunctionType):
            self.function(value, f"function '{value.__name__}'", where)
        else:
            kind = cast(type[Any], value if isinstance(value, type) else type(value))
            if not is_library(kind):
                self.class_(kind, where)

    def function(
        self,
        function: Callable[..., Any],
        subject: str,
        called_from: tuple[Position, ...],
        *,
        is_kernel: bool = False,
    ) -> None:
        """Check a function, the function that it wraps, and everything that these use."""
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        wrapped = getattr(function, "__wrapped__", None)
        if isinstance(wrapped, FunctionType):
            self.function(wrapped, subject, called_from, is_kernel=is_kernel)
        if not isinstance(function, FunctionType):
            self.use(function, called_from)
            return
        if is_library(function) or is_library_file(function.__code__.co_filename):
            return
        definition = definition_of(function)
        if definition is None:
            message = "its source cannot be read, so it has not been checked"
            self.report(PORTABLE_SOURCE, subject, called_from, message)
            return
        # Without the signature: findings at it depend on the arguments, which may be missing.
        start = definition.body if isinstance(definition, ast.Lambda) else definition.body[0]
        lines = range(start.lineno, (definition.end_lineno or start.lineno) + 1)
        self.checked_lines.setdefault(function.__code__.co_filename, set()).update(lines)
        body = FunctionChecker(
            self, function, definition, subject, called_from, is_kernel=is_kernel
        )
        if is_kernel:
            body.signature()
        body.visit_body()

    def class_(self, kind: type[Any], where: tuple[Position, ...]) -> None:
        if id(kind) in self._seen or issubclass(kind, Enum):
            return
        self._seen.add(id(kind))
        subject = f"class '{kind.__name__}'"
        if kind.__bases__ != (NKIObject,):
            bases = ", ".join(base.__name__ for base in kind.__bases__)
            message = f"it inherits from {bases}, not from NKIObject alone"
            self.report(PORTABLE_CLASS, subject, where, message)
        elif "__slots__" in vars(kind):
            self.report(PORTABLE_CLASS, subject, where, "it has __slots__")
        for item in list(vars(kind).values()):
            written = inspect.unwrap(item) if isinstance(item, FunctionType) else None
            # Methods that @dataclass generates are not in a file.
            if written is not None and written.__code__.co_filename != "<string>":
                self.function(item, f"method '{item.__qualname__}'", where)

    def argument(self, name: str, value: Any, subject: str, where: tuple[Position, ...]) -> None:
        """Check an argument of the call, and the values inside it."""
        if isinstance(value, (np.ndarray, np.generic)):
            return
        if isinstance(value, list):
            message = f"argument '{name}' is a list"
            self.report(PORTABLE_LIST_ARGUMENT, subject, where, message)
        elif isinstance(value, (set, frozenset, bytes, bytearray, complex)):
            message = f"argument '{name}' is of type {type(cast(Any, value)).__name__}"
            self.report(PORTABLE_VALUE, subject, where, message)
        elif is_jitted(value):
            message = f"argument '{name}' is a function decorated with nki.jit"
            self.report(PORTABLE_NESTED_KERNEL, subject, where, message)
        elif isinstance(value, dict):
            for key in cast(dict[Any, Any], value):
                if not isinstance(key, str):
                    message = f"argument '{name}' has the key {key!r}"
                    self.report(PORTABLE_DICT_KEY, subject, where, message)
        else:
            self.use(value, where)
        for part, item in _parts(value):
            self.argument(f"{name}_{part}", item, subject, where)


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, (tuple, list)):
        yield from enumerate(cast(tuple[Any, ...], value))
    elif isinstance(value, dict):
        yield from cast(dict[Any, Any], value).items()
    elif isinstance(value, NKIObject) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    ):
        yield from getattr(value, "__dict__", {}).items()
