"""Which parts of Python in a kernel the vendor's compiler would not take.

nkijit runs a kernel as Python, so it takes all of it. The vendor compiles the source, and its
language guide names the part of Python that it knows. This module reads the source of a kernel,
and of the author's functions and classes that it uses, for what the guide rules out. What the
guide does not mention (lambdas, comprehensions, `enumerate`) is not reported.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from types import CellType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from nkijit.dialects.rule_texts.portability import (
    PORTABLE,
    PORTABLE_CLASS,
    PORTABLE_CONTROL_FLOW,
    PORTABLE_DICT_KEY,
    PORTABLE_ENUM,
    PORTABLE_GENERATOR,
    PORTABLE_IDENTITY,
    PORTABLE_IMPORT,
    PORTABLE_KEYWORD_ONLY,
    PORTABLE_LIST_ARGUMENT,
    PORTABLE_NESTED_KERNEL,
    PORTABLE_SOURCE,
    PORTABLE_STATE,
    PORTABLE_TRY,
    PORTABLE_VALUE,
)
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.objects import NKIObject
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings, in_source_order
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.suppression import suppress
from nkijit.source import column_of
from nkijit.spec import is_library, is_library_file

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_UNKNOWN = object()


def portability(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Findings:
    """Warnings about a kernel's function, and about arguments that it is called with.

    In the order of the kernel's source; findings in functions that it calls stand at the call.
    """
    check = _Check()
    name = getattr(function, "__name__", type(function).__name__)
    subject = f"kernel '{name}'"
    code = getattr(function, "__code__", None)
    start = () if code is None else (Position(code.co_filename, code.co_firstlineno, 1),)
    check.function(function, subject, (), is_kernel=True)
    for argument, value in arguments.items():
        check.argument(argument, value, subject, start)
    found = suppress(check.found, check.looked_at, lambda rule: rule.category == PORTABLE)
    return Findings(in_source_order(found))


class _Check:
    """The findings, and what has been looked at."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []
        self.looked_at: dict[str, set[int]] = {}
        """The lines of source that have been looked at."""
        self._seen: set[int] = set()

    def report(
        self, rule: RuleText, subject: str, where: tuple[Position, ...], message: str
    ) -> None:
        self.found.append(Diagnostic(rule, message, subject, where))

    def use(self, value: Any, where: tuple[Position, ...]) -> None:
        """Look at a function, a class or an object that the source refers to."""
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
        """Look at a function, at what it decorates, and at all that they use."""
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
        definition = _definition(function)
        if definition is None:
            message = "its source cannot be read, so it has not been checked"
            self.report(PORTABLE_SOURCE, subject, called_from, message)
            return
        # Not the signature: arguments are judged there, and those may have been left out.
        start = definition.body if isinstance(definition, ast.Lambda) else definition.body[0]
        lines = range(start.lineno, (definition.end_lineno or start.lineno) + 1)
        self.looked_at.setdefault(function.__code__.co_filename, set()).update(lines)
        body = _Body(self, function, definition, subject, called_from)
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
            # Those that @dataclass makes are in no file.
            if written is not None and written.__code__.co_filename != "<string>":
                self.function(item, f"method '{item.__qualname__}'", where)

    def argument(self, name: str, value: Any, subject: str, where: tuple[Position, ...]) -> None:
        """A value that the kernel is called with, and what it contains."""
        if isinstance(value, (np.ndarray, np.generic)):
            return
        if isinstance(value, list):
            message = f"argument '{name}' is a list"
            self.report(PORTABLE_LIST_ARGUMENT, subject, where, message)
        elif isinstance(value, (set, frozenset, bytes, bytearray, complex)):
            message = f"argument '{name}' is of type {type(cast(Any, value)).__name__}"
            self.report(PORTABLE_VALUE, subject, where, message)
        elif _is_kernel(value):
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


def _is_kernel(value: Any) -> bool:
    return hasattr(value, "for_target") and callable(value)


# ---------------------------------------------------------------- source


@functools.lru_cache(maxsize=64)
def _parse(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _definition(function: Callable[..., Any]) -> _Definition | None:
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    tree = _parse("".join(linecache.getlines(code.co_filename)))
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.Lambda):
            if code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
                return node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if node.name == code.co_name and first == code.co_firstlineno:
                return node
    return None


class _Names:
    """What the names in a function's source stand for, as far as that is known beforehand."""

    def __init__(self, function: FunctionType, definition: _Definition):
        self._globals = function.__globals__
        self._cells: dict[str, CellType] = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        self._locals: set[str] = set()
        counts: dict[str, int] = {}
        dicts: dict[str, int] = {}
        integers: dict[str, int] = {}
        for node in ast.walk(definition):
            if isinstance(node, ast.arg):
                self._locals.add(node.arg)
                counts[node.arg] = counts.get(node.arg, 0) + 1
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._locals.add(node.id)
                counts[node.id] = counts.get(node.id, 0) + 1
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node is not definition:
                self._locals.add(node.name)
            elif isinstance(node, ast.Assign) and _makes_dict(node.value):
                _count(dicts, node.targets)
            elif isinstance(node, ast.AnnAssign) and node.value and _makes_dict(node.value):
                _count(dicts, [node.target])
            elif isinstance(node, (ast.For, ast.comprehension)) and _is_range(node.iter):
                _count(integers, [node.target])
        for node in ast.walk(definition):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self._locals.difference_update(node.names)
        # Names that are nothing else anywhere in the function.
        self.dicts = {name for name, count in dicts.items() if counts[name] == count}
        self.integers = {name for name, count in integers.items() if counts[name] == count}

    def value_of(self, node: ast.expr) -> Any:
        """The value of a name outside of the function, or of a name in a module or class."""
        if isinstance(node, ast.Attribute):
            owner = self.value_of(node.value)
            found = isinstance(owner, (ModuleType, type)) and hasattr(owner, node.attr)
            return getattr(cast(Any, owner), node.attr) if found else _UNKNOWN
        if not isinstance(node, ast.Name) or node.id in self._locals:
            return _UNKNOWN
        if node.id in self._cells:
            try:
                return self._cells[node.id].cell_contents
            except ValueError:  # not assigned yet
                return _UNKNOWN
        return self._globals.get(node.id, getattr(builtins, node.id, _UNKNOWN))

    def is_no_string(self, node: ast.expr | None) -> bool:
        """Whether an expression is known to be something else than a string."""
        if isinstance(node, ast.Constant):
            return not isinstance(node.value, str)
        if isinstance(node, (ast.Tuple, ast.UnaryOp)):
            return True
        if isinstance(node, ast.BinOp):
            return self.is_no_string(node.left)
        if isinstance(node, ast.Name) and node.id in self.integers:
            return True
        value = _UNKNOWN if node is None else self.value_of(node)
        return value is not _UNKNOWN and not isinstance(value, str)


def _count(counts: dict[str, int], targets: list[ast.expr]) -> None:
    for target in targets:
        if isinstance(target, ast.Name):
            counts[target.id] = counts.get(target.id, 0) + 1


def _called(node: ast.expr) -> str:
    """The last part of the name of what is called."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _makes_dict(node: ast.expr) -> bool:
    return isinstance(node, (ast.Dict, ast.DictComp)) or _called(node) == "dict"


def _is_range(node: ast.expr) -> bool:
    return _called(node) in ("range", "affine_range", "sequential_range", "static_range")


_MUTABLE = (list, dict, set, bytearray, np.ndarray)


class _Body(ast.NodeVisitor):
    """Reads one function."""

    def __init__(
        self,
        check: _Check,
        function: FunctionType,
        definition: _Definition,
        subject: str,
        called_from: tuple[Position, ...],
    ):
        self._check = check
        self._file = function.__code__.co_filename
        self._definition = definition
        self._names = _Names(function, definition)
        self._subject = subject
        self._called_from = called_from

    def signature(self) -> None:
        """What holds for the signature of a kernel only."""
        arguments = self._definition.args
        if arguments.kwonlyargs and arguments.vararg is None:
            name = arguments.kwonlyargs[0].arg
            message = f"'{name}' comes behind a * and is keyword-only"
            self._report(PORTABLE_KEYWORD_ONLY, arguments.kwonlyargs[0], message)
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if isinstance(default, (ast.List, ast.ListComp)):
                self._report(PORTABLE_LIST_ARGUMENT, default, "a parameter's default is a list")

    def visit_body(self) -> None:
        """Everything in the function but its decorators and annotations."""
        if isinstance(self._definition, ast.AsyncFunctionDef):
            self.visit_AsyncFunctionDef(self._definition)
        elif isinstance(self._definition, ast.Lambda):
            self.visit(self._definition.body)
        else:
            for statement in self._definition.body:
                self.visit(statement)

    def _where(self, line: int, offset: int) -> tuple[Position, ...]:
        column = column_of(self._file, line, offset)
        return (Position(self._file, line, column), *self._called_from)

    def _at(self, node: ast.stmt | ast.expr | ast.arg) -> tuple[Position, ...]:
        return self._where(node.lineno, node.col_offset)

    def _report(self, rule: RuleText, node: ast.stmt | ast.expr | ast.arg, message: str) -> None:
        self._check.report(rule, self._subject, self._at(node), message)

    # ---------------------------------------------------------------- statements

    def visit_Try(self, node: ast.Try) -> None:
        self._report(PORTABLE_TRY, node, "try is not part of the language")
        self.generic_visit(node)

    def visit_TryStar(self, node: Any) -> None:
        self.visit_Try(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._report(PORTABLE_TRY, node, "raise is not part of the language")
        self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> None:
        self._report(PORTABLE_CONTROL_FLOW, node, "match is not part of the language")
        self.generic_visit(node)

    def visit_With(self, node: ast.With) -> None:
        if any(_called(item.context_expr) != "no_reorder" for item in node.items):
            message = "with is for nl.no_reorder() only"
            self._report(PORTABLE_CONTROL_FLOW, node, message)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self._report(PORTABLE_IMPORT, node, "import stands in the body")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.visit_Import(node)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        names = ", ".join(f"'{name}'" for name in node.names)
        self._report(PORTABLE_STATE, node, f"{names} outside of the function can be assigned to")

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.visit_Global(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        bases = [ast.unparse(base) for base in node.bases]
        last = [base.rpartition(".")[2] for base in bases]
        if last != ["NKIObject"] and not (last and last[-1].endswith("Enum")):
            message = f"class '{node.name}' inherits from {', '.join(bases) or 'nothing'}"
            self._report(PORTABLE_CLASS, node, f"{message}, not from NKIObject alone")
        for statement in node.body:
            self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._report(PORTABLE_GENERATOR, node, "async is not part of the language")
        for statement in node.body:
            self.visit(statement)

    # ---------------------------------------------------------------- expressions

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        self._report(PORTABLE_GENERATOR, node, "yield is not part of the language")
        self.generic_visit(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        self.visit_Yield(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        message = "a generator expression is no value of the language"
        self._report(PORTABLE_GENERATOR, node, message)
        self.generic_visit(node)

    def visit_Set(self, node: ast.Set | ast.SetComp) -> None:
        self._report(PORTABLE_VALUE, node, "a set is no value of the language")
        self.generic_visit(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self.visit_Set(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, (bytes, complex)):
            message = f"{value!r} is of type {type(value).__name__}"
            self._report(PORTABLE_VALUE, node, message)
        elif isinstance(value, int) and value >= 2**32:
            self._report(PORTABLE_VALUE, node, f"{value} does not fit in 32 bits")

    def visit_Dict(self, node: ast.Dict) -> None:
        for key in node.keys:
            self._key(key)
        self.generic_visit(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._key(node.key)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        if isinstance(node.ctx, ast.Store) and name in self._names.dicts:
            self._key(node.slice)
        self.generic_visit(node)

    def _key(self, key: ast.expr | None) -> None:
        if key is not None and self._names.is_no_string(key):
            message = f"the key {ast.unparse(key)} is no string"
            self._report(PORTABLE_DICT_KEY, key, message)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            if isinstance(operator, (ast.Is, ast.IsNot)):
                word = "is" if isinstance(operator, ast.Is) else "is not"
                self._check.report(
                    PORTABLE_IDENTITY, self._subject, self._behind(left), f"'{word}' is used"
                )
            elif not isinstance(operator, (ast.Eq, ast.NotEq)):
                self._enum(left, right)
        self.generic_visit(node)

    def _behind(self, operand: ast.expr) -> tuple[Position, ...]:
        """The operator behind an operand, if it is on the operand's line."""
        line, end = operand.end_lineno or operand.lineno, operand.end_col_offset or 0
        rest = linecache.getline(self._file, line).encode()[end:]
        skipped = len(rest) - len(rest.lstrip(b" )\t"))
        return self._where(line, end + skipped)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._enum(node.left, node.right)
        self.generic_visit(node)

    def _enum(self, *operands: ast.expr) -> None:
        for operand in operands:
            value = self._names.value_of(operand)
            if isinstance(value, Enum) and not is_library(type(value)):
                message = f"{ast.unparse(operand)} is the operand of an operator"
                self._report(PORTABLE_ENUM, operand, message)

    def visit_Call(self, node: ast.Call) -> None:
        called = self._names.value_of(node.func)
        if called in (set, frozenset, bytes, bytearray, complex):
            message = f"{called.__name__} makes no value of the language"
            self._report(PORTABLE_VALUE, node, message)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self._reference(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if self._names.value_of(node) is _UNKNOWN:
            self.generic_visit(node)
        else:
            self._reference(node)

    def _reference(self, node: ast.Name | ast.Attribute) -> None:
        value = self._names.value_of(node) if isinstance(node.ctx, ast.Load) else _UNKNOWN
        if value is _UNKNOWN or isinstance(value, (ModuleType, Enum)):
            return
        if isinstance(value, _MUTABLE):
            kind = type(cast(Any, value)).__name__
            message = f"'{ast.unparse(node)}' is a {kind} outside of the function"
            self._report(PORTABLE_STATE, node, message)
        elif _is_kernel(value):
            message = f"'{ast.unparse(node)}' is decorated with nki.jit"
            self._report(PORTABLE_NESTED_KERNEL, node, message)
            self._check.use(cast(Any, value).__wrapped__, self._at(node))
        else:
            self._check.use(value, self._at(node))
