"""Completion in a kernel's file: names of the API, arguments of calls, their values, variables.

The text is being edited, so it usually does not parse: the words before the cursor are read line by
line. Nothing is executed.
"""

from __future__ import annotations

import ast
import inspect
import io
import keyword
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.operators import OPERATORS
from nkijit.passes.diagnostics.source_text import lines_of
from nkijit.reference.catalogue import documented_arguments, signature_of
from nkijit.tracing.api_names import PACKAGES
from nkijit.tracing.tensor import NkiTensor


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that can be inserted at the cursor."""

    text: str
    kind: str
    """`function`, `word` (an operator, data type or member of an enumeration), `module`,
    `argument`, `variable` or `method`."""
    detail: str = ""
    documentation: str = ""
    rank: int = 1
    """Candidates of a lower rank are listed first."""


def candidates(text: str, line: int, column: int) -> list[Candidate]:
    """Return the candidates for the word that ends at a position.

    Args:
        text: the document.
        line: the line, counted from 1.
        column: the column of the cursor, counted from 1, in characters.
    """
    lines = lines_of(text)
    before = lines[line - 1][: column - 1] if line <= len(lines) else ""
    names = _imported(lines)
    if not names or _is_in_text(before):
        return []
    if (match := _DOTTED.search(before)) is not None:
        found = _resolved(match[1], names)
        if found is not None:
            return list(_members(found))
        is_variable = match[1] in _variables(lines, line)
        return list(_methods()) if is_variable else []
    call = _call_around(lines, line, before, names)
    if call is None:
        return [_as_candidate(name) for name in _variables(lines, line).values()]
    return list(_arguments(call, _variables(lines, line), names))


_DOTTED = re.compile(r"([A-Za-z_][\w.]*)\.\w*$")
_WORD = re.compile(r"\w*$")


def _is_in_text(before: str) -> bool:
    """Whether the end of a part of a line is in a comment or a string."""
    quote = ""
    for index, character in enumerate(before):
        if quote:
            if character == quote and before[index - 1] != "\\":
                quote = ""
        elif character in "'\"":
            quote = character
        elif character == "#":
            return True
    return bool(quote)


# ------------------------------------------------------------------ names of the API


def _imported(lines: Sequence[str]) -> dict[str, str]:
    """Return the import path of each name that the file imports from NKI."""
    found: dict[str, str] = {}
    for text in lines:
        if "import" not in text:
            continue
        try:
            (node,) = ast.parse(text.strip()).body
        except (SyntaxError, ValueError):
            continue
        if isinstance(node, ast.Import):
            for name in node.names:
                found[name.asname or name.name.partition(".")[0]] = (
                    name.name if name.asname else name.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {n.asname or n.name: f"{node.module}.{n.name}" for n in node.names}
    packages = tuple(PACKAGES)
    return {n: path for n, path in found.items() if path.startswith((*packages, "neuronxcc"))}


def _resolved(dotted: str, names: Mapping[str, str]) -> Any:
    """Return the object of the API that a dotted name refers to; None for other names."""
    first, _, rest = dotted.partition(".")
    if first not in names:
        return None
    path = f"{names[first]}.{rest}" if rest else names[first]
    package = next((p for p in PACKAGES if path == p or path.startswith(f"{p}.")), None)
    if package is None:
        return None
    found: Any = import_module(PACKAGES[package])
    for part in path.removeprefix(package).lstrip(".").split("."):
        if not part:
            continue
        inner = getattr(found, part, None)
        if inner is None and isinstance(found, ModuleType):
            try:
                inner = import_module(f"{found.__name__}.{part}")
            except ImportError:
                return None
        found = inner
    return found


def _members(found: Any) -> Iterator[Candidate]:
    """Yield the public members of a module or an enumeration of the API."""
    if isinstance(found, type) and issubclass(found, Enum):
        for member in found:
            yield Candidate(member.name, "word", found.__name__)
    elif isinstance(found, ModuleType):
        public = getattr(found, "__all__", None) or [n for n in dir(found) if n[0] != "_"]
        for name in public:
            yield _of_api(name, getattr(found, name, None))


def _of_api(name: str, value: Any) -> Candidate:
    if inspect.isfunction(value):
        text = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
        return Candidate(name, "function", signature_of(name, value), text)
    if name in DTYPES:
        return Candidate(name, "word", "data type")
    if name in OPERATORS:
        return Candidate(name, "word", "operator")
    return Candidate(name, "module" if isinstance(value, ModuleType) else "word")


@lru_cache(maxsize=1)
def _methods() -> tuple[Candidate, ...]:
    """Return the public methods and properties of tensors."""
    found: list[Candidate] = []
    for name in dir(NkiTensor):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(NkiTensor, name)
        text = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
        found.append(Candidate(name, "method", documentation=text))
    return tuple(found)


# ------------------------------------------------------------------ arguments of calls


@dataclass(frozen=True, slots=True)
class _Call:
    """The innermost call of the API around the cursor."""

    function: Callable[..., Any]
    given: frozenset[str]
    """The parameters that have an argument."""
    parameter: str | None
    """The parameter whose value is at the cursor; None where a parameter's name may begin."""
    is_named: bool
    """Whether the value follows `parameter=`."""


_MOST_LINES = 40
"""The number of lines above the cursor in which the beginning of a call is searched for."""


def _call_around(
    lines: Sequence[str], line: int, before: str, names: Mapping[str, str]
) -> _Call | None:
    for first in range(line, max(line - _MOST_LINES, 0), -1):
        text = "\n".join([*lines[first - 1 : line - 1], before])
        opened = _open_call(text)
        if opened is not None:
            name, inside = opened
            function = _resolved(name, names)
            return _with_arguments(function, inside) if inspect.isfunction(function) else None
    return None


def _open_call(text: str) -> tuple[str, str] | None:
    """Return the name of the last call that is open at the end of a text, and its inside."""
    starts = [0]
    for part in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(part))
    opened: list[tuple[int, str]] = []
    words: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.string in ("(", "[", "{"):
                end = starts[token.end[0] - 1] + token.end[1]
                opened.append((end, "".join(words) if token.string == "(" else ""))
            elif token.string in (")", "]", "}") and opened:
                opened.pop()
            if token.type == tokenize.NAME or token.string == ".":
                is_joined = bool(words) and (token.string == ".") != (words[-1] == ".")
                words = [*words, token.string] if is_joined else [token.string]
            else:
                words = []
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # the text ends inside of a call
    calls = [(start, name) for start, name in opened if name and not keyword.iskeyword(name)]
    if not calls or opened[-1] != calls[-1]:
        return None  # inside of an index or a list
    start, name = calls[-1]
    return name, text[start:]


def _with_arguments(function: Callable[..., Any], inside: str) -> _Call:
    parts = _split(inside)
    parameters = list(inspect.signature(function).parameters)
    given: set[str] = set()
    for position, part in enumerate(parts[:-1]):
        named = _NAMED.match(part)
        if named is not None:
            given.add(named[1])
        elif position < len(parameters):
            given.add(parameters[position])
    last = _NAMED.match(parts[-1])
    if last is not None:
        return _Call(function, frozenset(given), last[1], True)
    is_word = re.fullmatch(r"\s*\w*", parts[-1]) is not None
    by_position = all(_NAMED.match(part) is None for part in parts[:-1])
    position = len(parts) - 1
    known = by_position and is_word and position < len(parameters)
    return _Call(function, frozenset(given), parameters[position] if known else None, False)


_NAMED = re.compile(r"\s*(\w+)\s*=(?!=)")


def _split(inside: str) -> list[str]:
    """Split the inside of a call at its commas."""
    parts, depth = [""], 0
    for character in inside:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _arguments(
    call: _Call, variables: Mapping[str, _Variable], names: Mapping[str, str]
) -> Iterator[Candidate]:
    signature = inspect.signature(call.function)
    texts = documented_arguments(call.function)
    if call.parameter is not None and call.parameter in signature.parameters:
        annotation = str(signature.parameters[call.parameter].annotation)
        yield from _values(annotation, variables, names)
    if call.is_named:
        return
    for name, parameter in signature.parameters.items():
        if name not in call.given and parameter.kind not in _VARIADIC:
            detail = "" if parameter.default is parameter.empty else f"default {parameter.default}"
            yield Candidate(f"{name}=", "argument", detail, texts.get(name, ""), rank=0)


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _values(
    annotation: str, variables: Mapping[str, _Variable], names: Mapping[str, str]
) -> Iterator[Candidate]:
    """Yield the values of a parameter: words of the API, then variables."""
    language, isa = (_alias(module, names) for module in ("language", "isa"))
    if language and "OperatorLike" in annotation:
        yield from (Candidate(f"{language}.{n}", "word", "operator", rank=0) for n in OPERATORS)
    if language and "DTypeLike" in annotation:
        yield from (Candidate(f"{language}.{n}", "word", "data type", rank=0) for n in DTYPES)
    if language and "MemoryRegion" in annotation:
        for region in ("sbuf", "psum", "hbm", "private_hbm", "shared_hbm"):
            yield Candidate(f"{language}.{region}", "word", "memory", rank=0)
    if "bool" in annotation:
        yield from (Candidate(word, "word", rank=0) for word in ("True", "False"))
    api = _resolved(isa, names) if isa else None
    for word in re.findall(r"\w+", annotation):
        found = getattr(api, word, None)
        if isinstance(found, type) and issubclass(found, Enum):
            for member in found:
                yield Candidate(f"{isa}.{word}.{member.name}", "word", word, rank=0)
    takes_tensor = "Tensor" in annotation
    for variable in variables.values():
        rank = 0 if takes_tensor and variable.is_tensor else 2
        yield _as_candidate(variable, rank)


def _alias(module: str, names: Mapping[str, str]) -> str | None:
    """Return the name by which a file refers to a module of the API."""
    found = (n for n, path in names.items() if path in {f"{p}.{module}" for p in PACKAGES})
    return next(found, None)


# ------------------------------------------------------------------ variables


@dataclass(frozen=True, slots=True)
class _Variable:
    """A variable of the function around the cursor."""

    name: str
    value: str
    """The text of its value, `parameter`, or "" if it is unknown."""

    @property
    def is_tensor(self) -> bool:
        return self.value == "parameter" or re.search(r"\.\w+\(|\[", self.value) is not None


def _as_candidate(variable: _Variable, rank: int = 1) -> Candidate:
    return Candidate(variable.name, "variable", variable.value, rank=rank)


_DEFINITION = re.compile(r"(\s*)(?:async\s+)?def\s+\w+\s*\((.*)")
_ASSIGNED = re.compile(r"\s+((?:\w+\s*,\s*)*\w+)\s*=(?!=)\s*(.*)")
_LOOP = re.compile(r"\s+(?:for\s+)([\w\s,()]+?)\s+in\s+(.*):")
_WITH = re.compile(r".*\sas\s+(\w+)\s*:")


def _variables(lines: Sequence[str], line: int) -> dict[str, _Variable]:
    """Return the variables that are bound above a line in the function that the line is in."""
    found: dict[str, _Variable] = {}
    for number in range(line - 1, 0, -1):
        text = lines[number - 1]
        match = _DEFINITION.match(text)
        if match is None:
            for name, value in _bound(text):
                found.setdefault(name, _Variable(name, value))
            continue
        signature = " ".join(lines[number - 1 : line - 1]).partition("(")[2].partition("):")[0]
        for part in _split(signature.rpartition(")")[0] if ") ->" in signature else signature):
            name = part.partition("=")[0].partition(":")[0].strip(" *\t")
            if name.isidentifier():
                found.setdefault(name, _Variable(name, "parameter"))
        if not match[1]:
            break
    else:
        return {}
    return found


def _bound(text: str) -> Iterator[tuple[str, str]]:
    if (match := _LOOP.match(text)) is not None:
        for name in re.findall(r"\w+", match[1]):
            yield name, f"in {match[2].strip()}"
    elif (match := _WITH.match(text)) is not None:
        yield match[1], ""
    elif (match := _ASSIGNED.match(text)) is not None:
        for name in re.findall(r"\w+", match[1]):
            yield name, match[2].strip()
