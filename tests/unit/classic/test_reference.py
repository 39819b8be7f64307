"""The classic API is complete: every name and every signature of the public reference."""

from __future__ import annotations

import ast
import inspect
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

REFERENCE = tomllib.loads(Path(__file__).with_name("reference.toml").read_text(encoding="utf-8"))
FUNCTIONS: dict[str, dict[str, str]] = {m: part["functions"] for m, part in REFERENCE.items()}
VALUES = {m: part["names"]["values"] for m, part in REFERENCE.items() if "names" in part}
CLASSES = {m: part["classes"] for m, part in REFERENCE.items() if "classes" in part}

_KINDS = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "",
    inspect.Parameter.KEYWORD_ONLY: "keyword ",
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def module_named(name: str) -> Any:
    """Return the nkijit module that corresponds to a module of `neuronxcc`."""
    return import_module(name.replace("nki", "nkijit.classic", 1))


def _stated(parameters: str) -> list[tuple[str, str | None]]:
    """Kind and name of each parameter of the reference, with the text of its default."""
    args = ast.parse(f"def f({parameters}): ...").body[0]
    assert isinstance(args, ast.FunctionDef)
    a = args.args
    defaults: list[ast.expr | None] = [None] * (len(a.args) - len(a.defaults))
    defaults += a.defaults
    stated = [(p.arg, d) for p, d in zip(a.args, defaults, strict=True)]
    result = [(name, d and ast.unparse(d)) for name, d in stated]
    if a.vararg is not None:
        result.append((f"*{a.vararg.arg}", None))
    keyword_only = zip(a.kwonlyargs, a.kw_defaults, strict=True)
    result += [(f"keyword {p.arg}", d and ast.unparse(d)) for p, d in keyword_only]
    if a.kwarg is not None:
        result.append((f"**{a.kwarg.arg}", None))
    return result


def _ours(function: Any) -> list[tuple[str, Any]]:
    empty = inspect.Parameter.empty
    return [
        (_KINDS[p.kind] + p.name, empty if p.default is empty else p.default)
        for p in inspect.signature(function).parameters.values()
    ]


def _is(default: Any, text: str | None, module: Any) -> bool:
    """Return whether a default equals the one in the text of the reference."""
    if text is None:
        return default is inspect.Parameter.empty
    if text in ("np.amax", "np.max"):
        return getattr(default, "__name__", None) in ("amax", "max")
    try:
        value = ast.literal_eval(text)
    except ValueError:
        value = eval(text, {**vars(module), "np": np, "bool": bool})
    return bool(type(default) is type(value) and default == value)


_ALL = [(module, name) for module, functions in FUNCTIONS.items() for name in functions]


@pytest.mark.parametrize(("module", "name"), _ALL)
def test_a_function_has_the_signature_of_the_reference(module: str, name: str) -> None:
    home = module_named(module)
    function = getattr(home, name)
    stated, ours = _stated(FUNCTIONS[module][name]), _ours(function)
    assert [parameter for parameter, _ in ours] == [parameter for parameter, _ in stated]
    for (parameter, default), (_, text) in zip(ours, stated, strict=True):
        assert _is(default, text, home), f"{parameter}={default!r}, the reference says {text}"


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in VALUES.items() for name in names]
)
def test_other_names_are_there(module: str, name: str) -> None:
    assert getattr(module_named(module), name) is not None


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in CLASSES.items() for name in names]
)
def test_classes_have_their_members(module: str, name: str) -> None:
    found = getattr(module_named(module), name)
    assert [member for member in CLASSES[module][name] if not hasattr(found, member)] == []


def test_the_list_is_as_long_as_it_was() -> None:
    """So that no part of it gets lost unseen."""
    counts = {module: len(names) for module, names in FUNCTIONS.items()}
    assert counts == {
        "nki": 5,
        "nki.isa": 34,
        "nki.language": 100,
        "nki.compiler": 6,
        "nki.compiler.sbuf": 3,
        "nki.compiler.psum": 3,
    }
