"""Check of the names and arguments of NKI's API that a function uses, against a release."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any, cast

from nkijit import collectives, isa, language
from nkijit.reference.portability.names import UNKNOWN, SourceNames
from nkijit.releases.table import (
    Release,
    has_row,
    releases,
    removed_in,
    replacement,
    since,
)

_TENSOR = "nki.language.NkiTensor"


class ApiUse:
    """Finds the API names and arguments that a function uses and that a release lacks.

    Methods of tensors are checked, too, because releases have added some. An expression is known to
    be a tensor if it is a parameter of a kernel, or a local variable that is only assigned results
    of API functions.
    """

    def __init__(self, names: SourceNames, release: Release, tensors: ast.arguments | None):
        self._names = names
        self._release = release
        self._parameters: set[str] = set(() if tensors is None else _tensors_among(tensors))
        self._pending: set[str] = set()
        """Variables whose type is being inferred."""

    def of_name(self, node: ast.Name | ast.Attribute) -> str | None:
        """Return the reason why a name is not portable; None if it is portable."""
        name = self._public_name(node)
        return None if name is None else self._wrong(name, f"'{ast.unparse(node)}'")

    def of_call(self, node: ast.Call) -> Iterator[tuple[ast.expr, str]]:
        """Yield the arguments of a call that are not portable, with messages."""
        name = self._public_name(node.func)
        if name is None or self._wrong(name, "") is not None:
            return
        shown = ast.unparse(node.func)
        calls = f"{name}()"
        wrong = self._wrong(calls, f"calling '{shown}'") if has_row(calls) else None
        if wrong is not None:
            yield node.func, wrong
            return
        arguments = self._in_position(name, node)
        for r in releases():
            first = r.reorders.get(name)
            if first is not None and self._release < r and len(arguments) > first:
                place = arguments[first][0]
                del arguments[first:]
                yield (
                    place,
                    f"'{shown}' has its arguments from number {first + 1} on in this order since "
                    f"{r}, not in {self._release}; give them by name",
                )
        arguments += [(k.value, k.arg) for k in node.keywords]
        for place, argument in arguments:
            if argument is None:
                continue
            wrong = self._wrong(f"{name}({argument})", f"'{argument}' of '{shown}'")
            if wrong is not None:
                yield place, wrong

    def type_of(self, node: ast.expr) -> str | None:
        """Infer the name of an expression's type from return annotations of the API's functions."""
        if isinstance(node, ast.Name):
            kinds: set[str | None] = {"NkiTensor"} if node.id in self._parameters else set()
            # A variable may be assigned from itself: `x = x.reshape(…)`.
            if node.id not in self._pending:
                self._pending.add(node.id)
                calls = self._names.assigned_calls.get(node.id, ())
                kinds |= {self.type_of(call) for call in calls}
                self._pending.discard(node.id)
            return kinds.pop() if len(kinds) == 1 else None
        if isinstance(node, ast.Subscript):
            return "NkiTensor" if self.type_of(node.value) == "NkiTensor" else None
        if not isinstance(node, ast.Call):
            return None
        if isinstance(node.func, ast.Attribute) and self.type_of(node.func.value) == "NkiTensor":
            method: Any = getattr(language.NkiTensor, node.func.attr, None)
            returns = getattr(method, "__annotations__", {}).get("return")
            return "NkiTensor" if returns == "Self" else returns
        value = self._names.value_of(node.func)
        if value is UNKNOWN or id(value) not in _public_names():
            return None
        return getattr(value, "__annotations__", {}).get("return")

    def _in_position(self, name: str, node: ast.Call) -> list[tuple[ast.expr, str | None]]:
        """Return the positional arguments of a call, each with the name of its parameter.

        The name is None if the parameter has another name in the release.
        """
        value = self._names.value_of(node.func)
        if value is UNKNOWN or not callable(value):
            return []
        parameters = inspect.signature(value).parameters
        renamed = {
            new for r in releases() for old, new in r.renames.items() if old.startswith(name)
        }
        arguments: list[tuple[ast.expr, str | None]] = []
        for place, parameter in zip(node.args, parameters, strict=False):
            if isinstance(place, ast.Starred):
                break
            arguments.append((place, None if parameter in renamed else parameter))
        return arguments

    def _public_name(self, node: ast.expr) -> str | None:
        """Return the name that NKI's reference has for an expression's value, or None."""
        if isinstance(node, ast.Attribute):
            owner = self._names.value_of(node.value)
            if owner is UNKNOWN:
                is_tensor = self.type_of(node.value) == "NkiTensor"
                return f"{_TENSOR}.{node.attr}" if is_tensor else None
            inside = _owner_name(owner)
            return None if inside is None else f"{inside}.{node.attr}"
        value = self._names.value_of(node) if isinstance(node, ast.Name) else UNKNOWN
        return None if value is UNKNOWN else _public_names().get(id(value))

    def _wrong(self, name: str, shown: str) -> str | None:
        if not name.endswith(")") and not has_row(name) and removed_in(name) is None:
            return f"{shown} is in the reference of no release"
        removed, begun = removed_in(name), since(name)
        if removed is not None and removed <= self._release:
            advice = replacement(name)
            return f"{shown} was removed in {removed}{f'; {advice}' if advice else ''}"
        if self._release < begun:
            return f"{shown} is there since {begun}, not in {self._release}"
        return None


def _tensors_among(parameters: ast.arguments) -> Iterator[str]:
    """Yield the parameters of a kernel that are tensors.

    A parameter is a tensor if it has no default and its annotation is missing or contains `tensor`.
    """
    plain = [*parameters.posonlyargs, *parameters.args]
    for parameter in plain[: len(plain) - len(parameters.defaults)]:
        annotation = "" if parameter.annotation is None else ast.unparse(parameter.annotation)
        if not annotation or "tensor" in annotation.lower():
            yield parameter.arg


def _owner_name(owner: Any) -> str | None:
    """Return the public name of a module or class of the API, None for others."""
    if isinstance(owner, ModuleType):
        package, _, module = owner.__name__.partition(".")
        public = package == "nkijit" and module in ("", "isa", "language", "collectives", "typing")
        return f"nki.{module}".rstrip(".") if public else None
    return _public_names().get(id(owner))


@functools.cache
def _public_names() -> dict[int, str]:
    """Return the public name of each value of the API, by the `id` of the value.

    Strings, integers and `range` are left out: their identity is not specific to NKI.
    """
    names: dict[int, str] = {}
    for module in (isa, language, collectives):
        for name in module.__all__:
            value: Any = getattr(cast(Any, module), name)
            if not isinstance(value, (str, int)) and value is not range:
                names.setdefault(id(value), f"{_owner_name(module)}.{name}")
    return names
