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

from nkijit import isa, language
from nkijit.classic.tensors.tensors import ClassicTensor
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.operators import OPERATORS
from nkijit.discovery.examples import example
from nkijit.passes.diagnostics.source_text import lines_of
from nkijit.reference.catalogue import documented_arguments, signature_of
from nkijit.tracing.api_names import PACKAGES, parameters_of
from nkijit.tracing.dtype_names import CLASSIC
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
    if _is_in_text(before):
        return []
    if (match := _FROM.match(before)) is not None:
        return list(_members(_at(match[1])))
    names = _imported(lines)
    if not names:
        return []
    if (match := _DOTTED.search(before)) is not None:
        found = _resolved(match[1], names)
        if found is not None:
            return list(_members(found))
        is_variable = match[1] in _variables(lines, line)
        return list(_methods(_tensors(names))) if is_variable else []
    if _OF_VALUE.search(before) is not None:
        return list(_methods(_tensors(names)))
    call = _call_around(lines, line, before, names)
    if call is not None and call.function is example:
        return list(_parameters_below(lines, line, call.given))
    if call is None:
        return [_as_candidate(name) for name in _variables(lines, line).values()]
    return list(_arguments(call, _variables(lines, line), names))


_FROM = re.compile(r"\s*from\s+([\w.]+)\s+import\s+\(?(?:[\w\s]+,\s*)*\w*$")
_DOTTED = re.compile(r"([A-Za-z_][\w.]*)\.\w*$")
_OF_VALUE = re.compile(r"[)\]]\.\w*$")
"""The member of a call, a view or an expression in brackets, which is most often a tensor."""
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
    return _at(f"{names[first]}.{rest}" if rest else names[first])


def _at(path: str) -> Any:
    """Return the object of the API with an import path; None for other paths."""
    package = next(iter(_package(path)), None)
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


def _tensors(names: Mapping[str, str]) -> type[Any]:
    """Return the class of tensors in a file with these imports."""
    is_classic = any(PACKAGES[p] == CLASSIC for path in names.values() for p in _package(path))
    return ClassicTensor if is_classic else NkiTensor


def _package(path: str) -> list[str]:
    """Return the package of the API that an import path is in, as a list of at most one."""
    return [p for p in PACKAGES if path == p or path.startswith(f"{p}.")][:1]


_INTERNAL = ("fail", "part", "whole")
"""Methods of classic tensors that other classes of nkijit call."""


@lru_cache(maxsize=2)
def _methods(of: type[Any]) -> tuple[Candidate, ...]:
    """Return the public methods and properties of a class of tensors."""
    found: list[Candidate] = []
    for name in dir(of):
        if name.startswith("_") or name in _INTERNAL:
            continue
        value = inspect.getattr_static(of, name)
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
            is_continued = all(
                _is_continuation(each, lines[first - 1])
                for each in (*filter(str.strip, lines[first : line - 1]), before)
                if first < line
            )
            function = _resolved(name, names)
            has_signature = callable(function) and not isinstance(function, type)
            return _with_arguments(function, inside) if is_continued and has_signature else None
    return None


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _is_continuation(text: str, first: str) -> bool:
    """Whether a line continues the statement of the line `first`, which has an open bracket.

    A line that is not indented further begins a new statement: the one above is unfinished.
    """
    return _indent(text) > _indent(first) or text.lstrip()[:1] in (")", "]", "}")


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
        yield from _values(_annotation(signature.parameters[call.parameter]), variables, names)
    if call.is_named:
        return
    for name, parameter in signature.parameters.items():
        if name not in call.given and parameter.kind not in _VARIADIC:
            detail = "" if parameter.default is parameter.empty else f"default {parameter.default}"
            yield Candidate(f"{name}=", "argument", detail, texts.get(name, ""), rank=0)


def _annotation(parameter: inspect.Parameter) -> str:
    """Return the annotation of a parameter.

    Functions of the classic API have none: the annotation is that of a parameter of this name in
    the current API, or the enumeration of the default.
    """
    annotation = str(parameter.annotation)
    if annotation != "Any":
        return annotation
    if isinstance(parameter.default, Enum):
        return type(parameter.default).__name__
    return _annotations().get(parameter.name, annotation)


@lru_cache(maxsize=1)
def _annotations() -> dict[str, str]:
    """Return an annotation for each name of a parameter in the current API."""
    found: dict[str, str] = {}
    for module in (isa, language):
        for name in module.__all__:
            function = getattr(module, name)
            for each in parameters_of(function) if inspect.isfunction(function) else ():
                found.setdefault(each.name, str(each.annotation))
    return found


def _parameters_below(
    lines: Sequence[str], line: int, given: frozenset[str]
) -> Iterator[Candidate]:
    """Yield arguments for the parameters of the function below a decorator."""
    below = range(line + 1, len(lines) + 1)
    number = next((n for n in below if _DEFINITION.match(lines[n - 1])), None)
    for name in () if number is None else _parameters(lines, number):
        if name not in given:
            yield Candidate(f"{name}=", "argument", "example argument", rank=0)


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


_WORDS = (
    ("OperatorLike", "operator", tuple(OPERATORS)),
    ("DTypeLike", "data type", tuple(DTYPES)),
    ("MemoryRegion", "memory", ("sbuf", "psum", "hbm", "private_hbm", "shared_hbm")),
)
"""Annotations, the kind of their values in words, and the names of the values in `nl`."""


def _values(
    annotation: str, variables: Mapping[str, _Variable], names: Mapping[str, str]
) -> Iterator[Candidate]:
    """Yield the values of a parameter: words of the API, then variables."""
    nl, nisa = (_alias(module, names) for module in ("language", "isa"))
    api = _resolved(nl, names) if nl else None
    for kind, word, values in _WORDS:
        if kind in annotation:
            # Each generation has some of them.
            known = (name for name in values if hasattr(api, name))
            yield from (Candidate(f"{nl}.{name}", "word", word, rank=0) for name in known)
    if "bool" in annotation:
        yield from (Candidate(word, "word", rank=0) for word in ("True", "False"))
    api = _resolved(nisa, names) if nisa else None
    for word in re.findall(r"\w+", annotation):
        found = getattr(api, word, None)
        if isinstance(found, type) and issubclass(found, Enum):
            for member in found:
                yield Candidate(f"{nisa}.{word}.{member.name}", "word", word, rank=0)
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
_ASSIGNED = re.compile(r"\s+\(?((?:\w+\s*,\s*)*\w+)\s*,?\s*\)?\s*(?::[^=]+)?=(?!=)\s*(.*)")
_IN_EXPRESSION = re.compile(r"\(\s*(\w+)\s*:=\s*([^)]*)")
_LOOP = re.compile(r"\s+(?:for\s+)([\w\s,()]+?)\s+in\s+(.*):")
_WITH = re.compile(r".*\sas\s+(\w+)\s*:")


def _variables(lines: Sequence[str], line: int) -> dict[str, _Variable]:
    """Return the variables that are bound above a line in the functions that the line is in."""
    around = _functions_around(lines, line)
    found: dict[str, _Variable] = {}
    ended: int | None = None
    """The indentation of a function that ends above the line, while its lines are skipped."""
    opening, depth = "", 0
    for number in range(min(around, default=line), line):
        text = lines[number - 1]
        if not text.strip() or (ended is not None and _indent(text) > ended):
            continue
        ended = None
        if _DEFINITION.match(text):
            if number in around:
                names = _parameters(lines, number)
                found |= {name: _Variable(name, "parameter") for name in names}
            else:
                ended = _indent(text)
            continue
        if depth == 0 or not _is_continuation(text, opening):
            opening, depth = text, 0
            found |= {name: _Variable(name, value) for name, value in _bound(text)}
        code = _NO_CODE.sub("", text)
        depth += sum((c in "([{") - (c in ")]}") for c in code)
    return found


_NO_CODE = re.compile(r"""'[^']*'|"[^"]*"|#.*""")
"""Strings and comments."""


def _functions_around(lines: Sequence[str], line: int) -> set[int]:
    """Return the lines of the definitions of the functions that a line is in."""
    above = [n for n in range(line - 1, 0, -1) if lines[n - 1].strip()]
    text = lines[line - 1] if line <= len(lines) else ""
    limit = _indent(text) if text else _indent(lines[above[0] - 1]) if above else 0
    found: set[int] = set()
    for number in above:
        text = lines[number - 1]
        if _indent(text) < limit and text.lstrip()[0] not in "#)]}":
            limit = _indent(text)
            if _DEFINITION.match(text):
                found.add(number)
    return found


def _parameters(lines: Sequence[str], number: int) -> list[str]:
    """Return the parameters of the function whose definition begins at a line."""
    text = " ".join(_NO_CODE.sub("", each) for each in lines[number - 1 : number + _MOST_LINES])
    names: list[str] = []
    inside = text.partition("(")[2]
    depth, end = 1, len(inside)
    for index, character in enumerate(inside):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            end = index
            break
    for part in _split(inside[:end]):
        name = part.partition("=")[0].partition(":")[0].strip(" *\t")
        if name.isidentifier():
            names.append(name)
    return names


def _bound(text: str) -> Iterator[tuple[str, str]]:
    if (match := _LOOP.match(text)) is not None:
        for name in re.findall(r"\w+", match[1]):
            yield name, f"in {match[2].strip()}"
    elif (match := _WITH.match(text)) is not None:
        yield match[1], ""
    elif (match := _ASSIGNED.match(text)) is not None:
        for name in re.findall(r"\w+", match[1]):
            if not keyword.iskeyword(name):
                yield name, match[2].strip()
    for name, value in _IN_EXPRESSION.findall(text):
        yield name, value.strip()
