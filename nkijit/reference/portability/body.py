"""Portability rules for the source of one function."""

from __future__ import annotations

import ast
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any, Protocol, cast

import numpy as np

from nkijit.dialects.rule_texts.portability import (
    PORTABLE_ARGUMENT,
    PORTABLE_CLASS,
    PORTABLE_CONTROL_FLOW,
    PORTABLE_DICT_KEY,
    PORTABLE_ENUM,
    PORTABLE_GENERATOR,
    PORTABLE_IDENTITY,
    PORTABLE_IMPORT,
    PORTABLE_KEYWORD_ONLY,
    PORTABLE_LIST_ARGUMENT,
    PORTABLE_LOOP,
    PORTABLE_NAME,
    PORTABLE_NESTED_KERNEL,
    PORTABLE_STATE,
    PORTABLE_TRY,
    PORTABLE_VALUE,
)
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.host.installed import is_library
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.source_text import source_line
from nkijit.reference.portability.api import ApiUse
from nkijit.reference.portability.definitions import Definition
from nkijit.reference.portability.names import UNKNOWN, SourceNames, called_name
from nkijit.releases.table import Release
from nkijit.tracing.locations import column_in_line


def is_jitted(value: Any) -> bool:
    """Whether a value is a kernel."""
    return hasattr(value, "for_target") and callable(value)


_MUTABLE = (list, dict, set, bytearray, np.ndarray)


class Reporter(Protocol):
    """Receives the findings in a function, and the values that the function's source refers to."""

    release: Release
    """The release of NKI that the function is checked for."""

    def report(
        self, rule: RuleText, subject: str, where: tuple[Position, ...], message: str
    ) -> None:
        """Report a finding."""

    def use(self, value: Any, where: tuple[Position, ...]) -> None:
        """Check a function, a class or an object that the source refers to."""


class FunctionChecker(ast.NodeVisitor):
    """Checks the source of one function."""

    def __init__(
        self,
        check: Reporter,
        function: FunctionType,
        definition: Definition,
        subject: str,
        called_from: tuple[Position, ...],
        *,
        is_kernel: bool = False,
    ):
        self._check = check
        self._file = function.__code__.co_filename
        self._definition = definition
        self._names = SourceNames(function, definition)
        tensors = definition.args if is_kernel else None
        self._api = ApiUse(self._names, check.release, tensors)
        self._subject = subject
        self._called_from = called_from

    def signature(self) -> None:
        """Check the signature, by rules that apply to kernels only."""
        arguments = self._definition.args
        if arguments.kwonlyargs and arguments.vararg is None:
            name = arguments.kwonlyargs[0].arg
            message = f"'{name}' comes after a * and is keyword-only"
            self._report(PORTABLE_KEYWORD_ONLY, arguments.kwonlyargs[0], message)
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if isinstance(default, (ast.List, ast.ListComp)):
                self._report(PORTABLE_LIST_ARGUMENT, default, "a parameter's default is a list")

    def visit_body(self) -> None:
        """Check the function's body: not its decorators, defaults and annotations."""
        if isinstance(self._definition, ast.AsyncFunctionDef):
            self.visit_AsyncFunctionDef(self._definition)
        elif isinstance(self._definition, ast.Lambda):
            self.visit(self._definition.body)
        else:
            for statement in self._definition.body:
                self.visit(statement)

    def _where(self, line: int, offset: int) -> tuple[Position, ...]:
        column = column_in_line(self._file, line, offset)
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

    def visit_While(self, node: ast.While) -> None:
        if self._api.type_of(node.test) == "VirtualRegister":
            message = f"'{ast.unparse(node.test)}' is a register"
            self._report(PORTABLE_LOOP, node.test, message)
        self.generic_visit(node)

    def visit_With(self, node: ast.With) -> None:
        if any(called_name(item.context_expr) != "no_reorder" for item in node.items):
            message = "with is for nl.no_reorder() only"
            self._report(PORTABLE_CONTROL_FLOW, node, message)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self._report(PORTABLE_IMPORT, node, "an import is in the body")

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
        message = "a generator expression is not a value of the language"
        self._report(PORTABLE_GENERATOR, node, message)
        self.generic_visit(node)

    def visit_Set(self, node: ast.Set | ast.SetComp) -> None:
        self._report(PORTABLE_VALUE, node, "a set is not a value of the language")
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
            message = f"the key {ast.unparse(key)} is not a string"
            self._report(PORTABLE_DICT_KEY, key, message)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            if isinstance(operator, (ast.Is, ast.IsNot)):
                word = "is" if isinstance(operator, ast.Is) else "is not"
                self._check.report(
                    PORTABLE_IDENTITY, self._subject, self._after(left), f"'{word}' is used"
                )
            elif not isinstance(operator, (ast.Eq, ast.NotEq)):
                self._enum(left, right)
        self.generic_visit(node)

    def _after(self, operand: ast.expr) -> tuple[Position, ...]:
        """Return the position of the operator after an operand, or where that line ends."""
        line, end = operand.end_lineno or operand.lineno, operand.end_col_offset or 0
        rest = source_line(self._file, line).encode()[end:]
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
        function = self._names.value_of(node.func)
        if function in (set, frozenset, bytes, bytearray, complex):
            message = f"{function.__name__} does not create a value of the language"
            self._report(PORTABLE_VALUE, node, message)
        for place, message in self._api.of_call(node):
            self._report(PORTABLE_ARGUMENT, place, message)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self._name_of_api(node)
        self._reference(node)

    def _name_of_api(self, node: ast.Name | ast.Attribute) -> None:
        message = self._api.of_name(node)
        if message is not None:
            self._report(PORTABLE_NAME, node, message)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._name_of_api(node)
        if self._names.value_of(node) is UNKNOWN:
            self.generic_visit(node)
        else:
            self._reference(node)

    def _reference(self, node: ast.Name | ast.Attribute) -> None:
        value = self._names.value_of(node) if isinstance(node.ctx, ast.Load) else UNKNOWN
        if value is UNKNOWN or isinstance(value, (ModuleType, Enum)):
            return
        if isinstance(value, _MUTABLE):
            kind = type(cast(Any, value)).__name__
            message = f"'{ast.unparse(node)}' is a {kind} outside of the function"
            self._report(PORTABLE_STATE, node, message)
        elif is_jitted(value):
            message = f"'{ast.unparse(node)}' is decorated with nki.jit"
            self._report(PORTABLE_NESTED_KERNEL, node, message)
            self._check.use(cast(Any, value).__wrapped__, self._at(node))
        else:
            self._check.use(value, self._at(node))
