"""Pages of the Python API, generated from docstrings: functions, and classes with members."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cached_property
from types import ModuleType
from typing import Any

import nkijit
from docs._site.reference.markdown import contents, page
from nkijit import collectives, isa, language, testing
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.passes.advise.advice import Advice, Suggestion
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.optimize.result import Optimized
from nkijit.passes.profile.profile import Profile
from nkijit.passes.report.memory.report import MemoryReport
from nkijit.passes.values.bisect import Bisection
from nkijit.passes.values.items import RecordedInstruction, RecordedOperand, RecordedTile
from nkijit.reference import catalogue
from nkijit.traced import recording as records
from nkijit.traced.optimized import OptimizedKernel

FOLDER = "reference/python"
_HAS_A_PAGE = frozenset(op.name for op in (*INSTRUCTIONS, *COLLECTIVES))


def pages() -> Iterator[tuple[str, str]]:
    """Yield the index of the API, and a page for each module and each group of classes."""
    made_pages = {
        "nkijit": _module_page("nkijit", nkijit, "The module that kernels and sessions import."),
        "kernels": _classes_page(
            "Kernels and traces",
            "The results of `@nki.jit`, and of `trace` and `nkijit.load`.",
            (nkijit.Kernel, nkijit.TracedKernel),
        ),
        "results": _classes_page(
            "Findings and predictions",
            "Results of a traced kernel's methods.",
            (
                Findings,
                Diagnostic,
                Position,
                Profile,
                MemoryReport,
                Advice,
                Suggestion,
                OptimizedKernel,
                Optimized,
                nkijit.Cost,
                nkijit.Sweep,
            ),
        ),
        "recordings": _classes_page(
            "Recordings of runs",
            "Results of `record` and `bisect`; [values](../../values.md) shows how to use them.",
            (
                records.TracedRecording,
                RecordedTile,
                RecordedInstruction,
                RecordedOperand,
                Bisection,
            ),
        ),
        "language": _module_page("nkijit.language", language, "Kernels import it as `nl`."),
        "isa": _module_page(
            "nkijit.isa",
            isa,
            "Kernels import it as `nisa`. Instructions have [pages of their "
            "own](../instructions/index.md); this page has the other members.",
        ),
        "collectives": _module_page(
            "nkijit.collectives",
            collectives,
            "Collectives have [pages of their own](../instructions/index.md) as well.",
        ),
        "testing": _module_page("nkijit.testing", testing, "For tests of kernels."),
    }
    index = page(
        "# Python API",
        "Generated from docstrings. Tests run their examples.",
        contents(made_pages, hidden=False),
    )
    yield f"{FOLDER}/index.md", index
    for name, text in made_pages.items():
        yield f"{FOLDER}/{name}.md", text


def _module_page(name: str, module: ModuleType, introduction: str) -> str:
    short = {"nkijit.isa": "nisa", "nkijit.collectives": "ncc"}.get(name, "")
    functions: list[str] = []
    values: list[str] = []
    for each in sorted(module.__all__):
        member = getattr(module, each)
        if isinstance(member, ModuleType) or f"{short}.{each}" in _HAS_A_PAGE:
            continue
        if inspect.isroutine(member):
            functions.append(_function(f"{name}.{each}", member))
        elif isinstance(member, type):
            if member in (nkijit.Kernel, nkijit.TracedKernel, nkijit.Cost, nkijit.Sweep):
                continue  # on the page with their members
            text = "" if inspect.getdoc(member) is None else _documentation(member)
            functions.append(_directive("class", f"{name}.{each}", text))
        else:
            values.append(f"`{each}`")
    others = [f"Further names: {', '.join(values)}."] if values else []
    return page(f"# {name}", introduction, *functions, *others)


def _classes_page(title: str, introduction: str, classes: tuple[type, ...]) -> str:
    parts = [f"# {title}", introduction]
    for each in classes:
        parts += [f"## {each.__name__}", _class(each)]
    return page(*parts)


def _class(owner: type) -> str:
    """Return a class with its public members, including those inherited from nkijit's classes."""
    parts = [_documentation(owner)]
    attributes = _documented_attributes(owner)
    names = dict.fromkeys(
        name
        for base in owner.__mro__
        if base.__module__.startswith("nkijit")
        for name in (*vars(base), *attributes)
        if not name.startswith("_")
    )
    for name in names:
        member = inspect.getattr_static(owner, name, None)
        if isinstance(member, (property, cached_property)):
            parts.append(_directive("attribute", name, _documentation(member)))
        elif inspect.isfunction(member) or isinstance(member, (classmethod, staticmethod)):
            function = getattr(owner, name)
            if inspect.getdoc(function):
                parts.append(_directive("method", _call(name, function), _documentation(function)))
        elif name in attributes:
            parts.append(_directive("attribute", name, catalogue.prose(attributes[name])))
    return _directive("class", f"{_module_of(owner)}.{owner.__name__}", "\n\n".join(parts), "::::")


def _module_of(owner: type) -> str:
    return "nkijit" if owner.__name__ in nkijit.__all__ else owner.__module__


def _documented_attributes(owner: type) -> dict[str, str]:
    """Return the fields of a class with the docstrings after them."""
    found: dict[str, str] = {}
    for base in reversed(owner.__mro__):
        if not base.__module__.startswith("nkijit"):
            continue
        try:
            source = inspect.getsource(base)
        except (OSError, TypeError):
            continue
        for match in _FIELD.finditer(source):
            if not match[1].startswith("_"):
                found[match[1]] = match[2] or ""
    return found


_FIELD = re.compile(r'^    (\w+): [^\n(]+\n(?:    """(.*?)""")?', re.M | re.S)


def _function(name: str, function: Any) -> str:
    return _directive("function", _call(name, function), _documentation(function))


def _call(name: str, function: Any) -> str:
    """Return the signature of a call, without `self` and annotations."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return f"{name}()"
    shown: list[str] = []
    keyword_only = False
    for p in parameters:
        if p.name in ("self", "cls", "_self"):
            continue
        if p.kind is p.VAR_POSITIONAL or p.kind is p.KEYWORD_ONLY:
            if p.kind is p.KEYWORD_ONLY and not keyword_only:
                shown.append("*")
            keyword_only = True
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else f"={_default(p.default)}"
        shown.append(f"{star}{p.name}{default}")
    return f"{name}({', '.join(shown)})"


def _default(value: Any) -> str:
    text = catalogue.default_in_words(value)
    return text if len(text) < 60 and "<" not in text and "\n" not in text else "..."


def _documentation(member: Any) -> str:
    """Convert a docstring to Markdown: indented code becomes blocks, sections become lists."""
    text = catalogue.documentation_as_markdown(member)
    return _INDENTED.sub(lambda found: _code(textwrap.dedent(found[1]).strip()), text)


def _code(text: str) -> str:
    try:
        ast.parse(text)
        language = "python"
    except SyntaxError:  # a formula or a session
        language = "pycon" if text.startswith(">>>") else "text"
    return f"\n```{language}\n{text}\n```\n"


_INDENTED = re.compile(r"(?<=\n)\n((?:    .*\n|\n)*    .*)(?:\n|\Z)")


def _directive(kind: str, signature: str, body: str, fence: str = ":::") -> str:
    return f"{fence}{{py:{kind}}} {signature}\n\n{body.strip()}\n{fence}"
