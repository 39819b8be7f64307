"""Rewords findings so that they name the call in the user's source.

A finding is about an instruction and its operands, e.g. `nisa.dma_copy`. The user may have called a
function that is lowered to the instruction, e.g. `nl.store`. The source at the call's location
shows the name of the function and the expressions of its arguments. The source is read only when a
finding is shown, so it costs nothing while tracing.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from typing import Any

from nkijit.passes.diagnostics.diagnostic import Diagnostic, Operand
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.source_text import lines_of, source_text
from nkijit.tracing.api_names import MODULES, PACKAGES
from nkijit.tracing.locations import column_in_line, span_of, ssa_name

_SHORT = {module: short for short, module in MODULES.items()}


@dataclass(frozen=True, slots=True)
class _Call:
    """A call in the user's source, or an assignment to elements of a tensor."""

    name: str
    """The called function as findings name it, e.g. `nl.store`."""
    arguments: Mapping[str, ast.expr]
    """The expressions of the arguments in the source, by parameter."""


def as_user_call(finding: Diagnostic) -> Diagnostic:
    """Return the finding, reworded for the user's call, with the relevant expressions marked.

    A finding is returned unchanged if the source does not determine its call.
    """
    if finding.marked or not finding.where:
        return finding
    call = _call_at(finding.where[0])
    if call is None:
        return finding
    if finding.subject.startswith(_OF_VIEWS) and (indexed := _about_index(finding, call)):
        return indexed
    subject, message, operands, notes, help = (
        finding.subject,
        finding.message,
        finding.operands,
        finding.notes,
        finding.help,
    )
    names = {name: name for name in call.arguments}
    if call.name != subject and subject.startswith(_OF_THE_IR):
        names = dict(_parameters(operands, call))
        if not subject.startswith(_OF_VIEWS):
            message, help = (
                _QUOTED.sub(lambda m: f"'{names.get(m[1], m[1])}'", text)
                for text in (message, help)
            )
            operands = tuple(replace(o, name=names.get(o.name, o.name)) for o in operands)
            if subject.startswith(_INSTRUCTIONS):
                notes = (*notes, f"{call.name} is implemented with {subject}")
            subject = call.name
    elif not operands:
        imported = source_of(source_text(finding.where[0].file)).imported
        message, help = (_in_the_users_names(text, call, imported) for text in (message, help))
    about = [
        names[field]
        for operand in finding.operands
        if (field := _field(operand.name)) in names
        # An operand of a related operation may have the same name.
        and not (finding.related and f"%{_variable(call.arguments[names[field]])}" != operand.value)
    ]
    if not about:
        mentioned = (*_QUOTED.findall(finding.message), finding.rule.id)
        about = [names[name] for name in mentioned if name in names][:1]
    file = finding.where[0].file
    return replace(
        finding,
        subject=subject,
        message=message,
        operands=operands,
        notes=notes,
        help=help,
        marked=tuple(span_of(file, call.arguments[name]) for name in dict.fromkeys(about)),
    )


def _about_index(finding: Diagnostic, call: _Call) -> Diagnostic | None:
    """Return a finding about the index of a view with the index marked and renamed.

    The new name is the keyword that passes the index (`vector_offset`), or else its variable.
    Returns None for other findings, and unless the variable occurs exactly once in the call.
    """
    index = next((operand for operand in finding.operands if operand.name == "index"), None)
    if index is None:
        return None
    nodes = [node for argument in call.arguments.values() for node in ast.walk(argument)]
    uses = [n for n in nodes if isinstance(n, ast.Name) and f"%{ssa_name(n.id)}" == index.value]
    if len(uses) != 1:
        return None
    keywords = (n for n in nodes if isinstance(n, ast.keyword) and _variable(n.value) is not None)
    of_it = [n for n in keywords if uses[0] in ast.walk(n.value)]
    name = of_it[0].arg if of_it and of_it[0].arg else uses[0].id
    return replace(
        finding,
        message=finding.message.replace("'index'", f"'{name}'"),
        operands=tuple(replace(o, name=name) if o is index else o for o in finding.operands),
        marked=(span_of(finding.where[0].file, of_it[0].value if of_it else uses[0]),),
    )


def _in_the_users_names(message: str, call: _Call, imported: Container[str]) -> str:
    """Replace parameter names in a message by the variables that the call passes for them.

    Names followed by a colon are kept, as in `'x': expected …`, which is about the parameter.
    """

    def variable(match: re.Match[str]) -> str:
        node = call.arguments.get(match[1])
        name = None if node is None else _variable(node)
        if node is None or name is None or name in imported:  # a number, or `nl.add`
            return match[0]
        return f"'{ast.unparse(node)}'"

    return _SUBJECT.sub(variable, message)


_INSTRUCTIONS = ("nisa.", "ncc.")
_OF_VIEWS = "nki.view"
_OF_THE_IR = (*_INSTRUCTIONS, "nki.alloc", "nki.device_print", "nki.read", "scf.", _OF_VIEWS)
"""Prefixes of names of IR operations; the user may have called a function with another name."""
_QUOTED = re.compile(r"'(\w+)'")
_SUBJECT = re.compile(r"'(\w+)'(?!:)")
"""Matches a parameter name in the text of a message."""


def _field(operand: str) -> str:
    """Return the argument that an operand is part of: `srcs` for `srcs[1]` and `index of srcs`."""
    return operand.removeprefix("index of ").partition("[")[0]


def _parameters(operands: tuple[Operand, ...], call: _Call) -> Iterator[tuple[str, str]]:
    """Yield the name of each operand, and the parameter of the call that received the operand.

    The operand belongs to a parameter if its SSA name is derived from the variable in the argument,
    and no other argument contains this variable. Operands without such a parameter are omitted.
    """
    variables = {parameter: _variable(node) for parameter, node in call.arguments.items()}
    for operand in operands:
        of_it = [p for p, name in variables.items() if name and f"%{name}" == operand.value]
        if len(of_it) == 1:
            yield operand.name, of_it[0]
        elif operand.name in of_it:
            yield operand.name, operand.name


def _variable(node: ast.expr) -> str | None:
    """Return the SSA name of an expression's variable: `t` for `t[0]` and `t.reshape(…)`."""
    while not isinstance(node, ast.Name):
        if isinstance(node, (ast.Subscript, ast.Attribute)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value  # a view: t.reshape(…)
        else:
            return None
    return ssa_name(node.id)


# ------------------------------------------------------------------ the user's source


def _call_at(place: Position) -> _Call | None:
    """Return the call of an API function, or the assignment, that begins at a position."""
    source = source_of(source_text(place.file))
    found: list[_Call] = []
    for node in source.nodes.get(place.line, ()):
        if column_in_line(place.file, node.lineno, node.col_offset) != place.column:
            continue
        call = source.call(node) if isinstance(node, ast.Call) else _assignment(node)
        found += [call] if call is not None else []
    return found[0] if len(found) == 1 else None


def _assignment(node: ast.Assign) -> _Call | None:
    target = node.targets[0]
    if not isinstance(target, ast.Subscript):
        return None
    variable = _variable(target)
    return _Call(f"assignment to '{variable}'", {"dst": target, "src": node.value})


class Source:
    """The calls, assignments and names in a file, and its imports."""

    def __init__(self, text: str):
        self.tree = ast.Module([], [])
        """The syntax tree; empty if the text does not parse."""
        self.nodes: dict[int, list[ast.Call | ast.Assign]] = {}
        """Calls and assignments by their first line."""
        self.names: dict[int, list[ast.Attribute | ast.Name]] = {}
        """Names and attributes by their first line; an attribute precedes its object."""
        self.imported: dict[str, str] = {}
        """The import path of each imported name."""
        try:
            module = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            return
        self.tree = module
        for node in ast.walk(module):
            if isinstance(node, (ast.Call, ast.Assign)):
                self.nodes.setdefault(node.lineno, []).append(node)
            elif isinstance(node, (ast.Attribute, ast.Name)):
                self.names.setdefault(node.lineno, []).append(node)
            elif isinstance(node, ast.Import):
                for name in node.names:
                    shown = name.asname or name.name.partition(".")[0]
                    self.imported[shown] = name.name if name.asname else shown
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for name in node.names:
                    self.imported[name.asname or name.name] = f"{node.module}.{name.name}"

    def alias(self, module: str) -> str | None:
        """Return the name that the file gives to a module of the API (`language`, `isa`), or None.

        If the file imports both API generations, this is the module of the current API.
        """
        packages = tuple(reversed(PACKAGES))
        names = {path: name for name, path in self.imported.items()}
        known = [names[path] for p in packages if (path := f"{p}.{module}") in names]
        known += [f"{names[path]}.{module}" for path in packages if path in names]
        return known[0] if known else None

    def function(self, named: ast.expr) -> tuple[str, Any] | None:
        """Return an API function and its name in findings, if the expression names one."""
        parts: list[str] = []
        while isinstance(named, ast.Attribute):
            parts.append(named.attr)
            named = named.value
        if not isinstance(named, ast.Name) or named.id not in self.imported:
            return None
        return _function(".".join([self.imported[named.id], *reversed(parts)]))

    def call(self, node: ast.Call) -> _Call | None:
        """Return the call with its arguments; None if it calls no API function."""
        found = self.function(node.func)
        if found is None:
            return None
        name, function = found
        parameters = _parameters_of(function)
        arguments: dict[str, ast.expr] = {}
        for parameter, argument in zip(parameters, node.args, strict=False):
            if isinstance(argument, ast.Starred):
                break
            arguments[parameter] = argument
        for keyword in node.keywords:
            if keyword.arg in parameters:
                arguments[str(keyword.arg)] = keyword.value
        return _Call(name, arguments)


@lru_cache(maxsize=32)
def source_of(text: str) -> Source:
    """Return the calls and names of a source; none if it does not parse."""
    return Source(text)


def _function(path: str) -> tuple[str, Any] | None:
    """Look up the import path of an API function.

    Returns its name in findings, and the function; None for any other path.
    """
    package = next((p for p in PACKAGES if path.startswith(f"{p}.")), None)
    if package is None:
        return None
    module, _, name = path.removeprefix(package).lstrip(".").rpartition(".")
    if module not in _SHORT:
        return None
    found: Any = vars(import_module(f"{PACKAGES[package]}.{module}")).get(name)
    return (f"{_SHORT[module]}.{name}", found) if callable(found) else None


@lru_cache(maxsize=512)
def _parameters_of(function: Any) -> tuple[str, ...]:
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return tuple(p.name for p in parameters if p.kind not in variable)


def function_at(text: str, line: int, column: int) -> tuple[str, Any] | None:
    """Return the API function that the source names at a position, as (name in findings, function).

    Args:
        text: the source; if it does not parse, the result is None.
        line: the line, counted from 1.
        column: the column, counted from 1.

    Example: `function_at("import nki.isa as nisa\\nnisa.iota", 2, 6)` is `("nisa.iota",
    nkijit.isa.iota)`.
    """
    lines = lines_of(text)
    if line > len(lines):
        return None
    offset = len(lines[line - 1][: column - 1].encode())
    source = source_of(text)
    for node in source.names.get(line, ()):
        if node.col_offset <= offset <= (node.end_col_offset or 0) and node.end_lineno == line:
            found = source.function(node)
            if found is not None:
                return found
    return None
