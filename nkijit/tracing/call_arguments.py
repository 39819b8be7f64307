"""Findings for calls of API functions whose arguments do not match the signature.

A call counts as written for the API whose signature accepts the arguments of the call.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

from nkijit.dialects.rule_texts.python import CALL_ARGUMENTS
from nkijit.dialects.spelling import did_you_mean, in_number, numbered
from nkijit.passes.diagnostics.diagnostic import Diagnostic, Fix
from nkijit.passes.diagnostics.places import Position, Span
from nkijit.passes.diagnostics.source_text import source_of_code, source_text
from nkijit.tracing.api_names import ApiName, api_name_of, names_of, parameters_of
from nkijit.tracing.hints import ONE_TUPLE
from nkijit.tracing.locations import evaluated, span_of, value_of
from nkijit.tracing.tracebacks import Raised

DST = "dst"
"""The parameter of the tile that an instruction of the current API writes to."""


@dataclass(frozen=True, slots=True)
class CallTexts:
    """The texts of a finding about the arguments of a call."""

    subject: str
    message: str
    notes: tuple[str, ...]
    help: str
    marked: tuple[Span, ...]
    """The keywords that the function does not have, else the name of the function."""
    fix: Fix | None = None
    quotes: bool = True
    """Whether Python's own error is about the same arguments, so that the finding quotes it."""

    def finding(self, where: tuple[Position, ...], error: TypeError | None = None) -> Diagnostic:
        """Return the finding.

        Args:
            where: the positions of the calls, the innermost first.
            error: the TypeError that Python raised, if any.
        """
        python = () if error is None or not self.quotes else (f"Python: {error}",)
        return Diagnostic(
            CALL_ARGUMENTS,
            self.message,
            self.subject,
            where,
            (*self.notes, *python),
            help=self.help,
            marked=self.marked,
            fix=self.fix,
        )


def finding_of(error: BaseException, raised: Raised) -> Diagnostic | None:
    """Return the finding for a call of an API function whose arguments do not match its signature.

    Returns None for other exceptions.

    Args:
        error: the exception that ended a trace.
        raised: the kernel's lines that led to the exception.
    """
    if not isinstance(error, TypeError) or not raised.is_direct:
        return None
    texts = texts_of(raised.node, raised.frame)
    return None if texts is None else texts.finding(raised.where, error)


def texts_of(node: ast.AST | None, frame: FrameType) -> CallTexts | None:
    """Return the texts for a call whose arguments do not match the signature.

    Args:
        node: the call in the source. The result is None if the node is no call of an API function,
            if the arguments match, or if the source does not show the arguments.
        frame: the frame with the variables of the call.
    """
    if not isinstance(node, ast.Call):
        return None
    function = value_of(node.func, frame)
    name = api_name_of(function)
    if name is None and not _is_method(function):
        return None
    passed = _Passed.of(node)
    parameters = parameters_of(function)
    mismatch = None if passed is None else _Mismatch.of(parameters, passed)
    if passed is None or mismatch is None:
        return None
    subject = ast.unparse(node.func) if name is None else name.in_findings
    is_explained = name is not None and not name.is_classic and inspect.isfunction(function)
    called = _Called(node, frame, subject, is_explained, parameters, passed)
    named = None if name is None else _named_in(name.other, passed)
    if name is not None and named is not None:
        return called.of_the_other_api(name, named)
    return called.texts(mismatch)


def texts_of_arguments(
    subject: str, signature: inspect.Signature, in_order: int, named: Iterable[str]
) -> CallTexts:
    """Return the texts for arguments of a call that do not match a kernel's parameters.

    Args:
        subject: the text that names the kernel in findings.
        signature: the parameters of the kernel.
        in_order: the number of positional arguments.
        named: the names of the keyword arguments.
    """
    parameters = list(signature.parameters.values())
    rest = [p for p in parameters if p.kind is p.VAR_KEYWORD]
    parameters = [p for p in parameters if p.kind is not p.VAR_KEYWORD]
    known = names_of(parameters)
    passed = _Passed([""] * in_order, {name: "" for name in named if name in known or not rest})
    mismatch = _Mismatch.of(parameters, passed)
    parts = [] if mismatch is None else _sentences(mismatch, parameters, passed)
    takes = f"{subject} takes {', '.join(known) or 'no arguments'}"
    help = "pass each argument of the kernel once"
    return CallTexts(subject, "; ".join(parts), (takes,), help, ())


def undocumented(call: str, frame: FrameType | None) -> CallTexts | None:
    """Return the texts for a running classic call whose arguments match the current API instead.

    Functions with `**kwargs` get their undocumented arguments, so Python reports no error.

    Args:
        call: the name of the function in findings.
        frame: the frame of the user's code that calls it.
    """
    node = None if frame is None else evaluated(frame.f_code, frame.f_lasti)
    if frame is None or not isinstance(node, ast.Call):
        return None
    name = api_name_of(value_of(node.func, frame))
    if name is None or name.in_findings != call:
        return None
    passed = _Passed.of(node)
    named = None if passed is None else _named_in(name.other, passed)
    if passed is None or named is None:
        return None
    called = _Called(node, frame, call, False, parameters_of(name.value), passed)
    return called.of_the_other_api(name, named)


def argument_of(frame: FrameType | None, name: str) -> ast.expr | None:
    """Return the expression that a running call of an API function passes for a parameter.

    Args:
        frame: the frame of the user's code that calls the function.
        name: the parameter.

    Returns None if the source does not show the argument.
    """
    node = None if frame is None else evaluated(frame.f_code, frame.f_lasti)
    if frame is None or not isinstance(node, ast.Call):
        return None
    parameters = parameters_of(value_of(node.func, frame))
    found: dict[str | None, ast.expr] = {}
    for parameter, argument in zip(_in_order(parameters), node.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        found[parameter] = argument
    found |= {keyword.arg: keyword.value for keyword in node.keywords}
    return found.get(name)


def _is_method(function: Any) -> bool:
    """Return whether a function is a method of an nkijit class, e.g. of tensors."""
    module = str(getattr(function, "__module__", None))
    return inspect.isfunction(function) and module.startswith("nkijit.")


# ------------------------------------------------------------------ arguments


@dataclass(frozen=True, slots=True)
class _Passed:
    """The arguments of a call, as source texts."""

    in_order: Sequence[str] = ()
    by_name: Mapping[str, str] = field(default_factory=dict[str, str])

    @staticmethod
    def of(node: ast.Call) -> _Passed | None:
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if starred or any(keyword.arg is None for keyword in node.keywords):
            return None
        named = {str(keyword.arg): ast.unparse(keyword.value) for keyword in node.keywords}
        return _Passed(list(map(ast.unparse, node.args)), named)

    def bound(self, parameters: Sequence[inspect.Parameter]) -> dict[str, str]:
        """Map each parameter that gets an argument to the argument's source text."""
        return {**dict(zip(_in_order(parameters), self.in_order, strict=False)), **self.by_name}


def _in_order(parameters: Sequence[inspect.Parameter]) -> list[str]:
    return names_of(p for p in parameters if p.kind is not p.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class _Mismatch:
    """The difference between the arguments of a call and the parameters of the function."""

    missing: Sequence[str]
    unknown: Sequence[str]
    twice: Sequence[str]
    surplus: int
    """The number of positional arguments beyond the number of positional parameters."""

    @staticmethod
    def of(parameters: Sequence[inspect.Parameter], passed: _Passed) -> _Mismatch | None:
        """Return the difference; None if the arguments match."""
        in_order = _in_order(parameters)
        given = in_order[: len(passed.in_order)]
        bound = passed.bound(parameters)
        needed = names_of(p for p in parameters if p.default is p.empty)
        names = names_of(parameters)
        takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        found = _Mismatch(
            [name for name in needed if name not in bound],
            [name for name in passed.by_name if name not in names],
            [name for name in passed.by_name if name in given],
            0 if takes_any else max(0, len(passed.in_order) - len(in_order)),
        )
        return found if any((found.missing, found.unknown, found.twice, found.surplus)) else None


def _named_in(name: ApiName, passed: _Passed) -> dict[str, str] | None:
    """Return the arguments by parameter name; None if the signature does not accept them."""
    parameters = parameters_of(name.value)
    if not callable(name.value) or _Mismatch.of(parameters, passed) is not None:
        return None
    return passed.bound(parameters)


# ------------------------------------------------------------------ texts


def _sentences(
    mismatch: _Mismatch, parameters: Sequence[inspect.Parameter], passed: _Passed
) -> list[str]:
    known = names_of(parameters)
    parts: list[str] = []
    if mismatch.surplus:
        most = len(_in_order(parameters))
        takes = f"at most {numbered(most, 'argument')}" if most else "no arguments"
        parts.append(f"it takes {takes} in order, the call has {most + mismatch.surplus}")
    for name in mismatch.unknown:
        hint = did_you_mean(name, [k for k in known if k not in passed.by_name])
        parts.append(f"there is no argument '{name}'{hint}")
    parts += [f"argument '{name}' is passed twice" for name in mismatch.twice]
    meant = {name for name in known if f"did you mean '{name}'?" in "".join(parts)}
    missing = [f"'{name}'" for name in mismatch.missing if name not in meant]
    if missing:
        few = len(missing) == 1
        listed = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
        arguments = in_number(len(missing), "argument")
        parts.append(f"{arguments} {listed} {'is' if few else 'are'} missing")
    return parts


@dataclass(frozen=True, slots=True)
class _Called:
    """A call of a function with arguments that do not match."""

    node: ast.Call
    frame: FrameType
    subject: str
    is_explained: bool
    """Whether `nkijit explain` describes the function."""
    parameters: Sequence[inspect.Parameter]
    passed: _Passed

    @property
    def _known(self) -> list[str]:
        return names_of(self.parameters)

    @property
    def _notes(self) -> tuple[str, ...]:
        known = ", ".join(self._known) or "no arguments"
        return (f"{self.subject} takes {known}",)

    def texts(self, mismatch: _Mismatch) -> CallTexts:
        """Return the texts for a call whose mistakes follow from the function's own signature."""
        message = "; ".join(_sentences(mismatch, self.parameters, self.passed))
        help = "pass each once, by name"
        if "dtype" in mismatch.twice and self.parameters[0].name == "shape":
            help = ONE_TUPLE
        elif self.is_explained:
            help += f"; nkijit explain {self.subject} describes them"
        if not mismatch.twice and not mismatch.surplus:
            help = f"write {self._written(self.passed.in_order, self._corrected(mismatch))}"
        marked, fix = self._marked(mismatch.unknown), self._renamed(mismatch)
        return CallTexts(self.subject, message, self._notes, help, marked, fix)

    def _renamed(self, mismatch: _Mismatch) -> Fix | None:
        """Return the edit of the only unknown keyword to the only missing parameter.

        Returns None if the names are not similar, or if the call has other mistakes.
        """
        if mismatch.twice or mismatch.surplus or len(mismatch.unknown) != 1:
            return None
        if len(mismatch.missing) != 1:
            return None
        (wrong,), (meant,) = mismatch.unknown, mismatch.missing
        if f"'{meant}'?" not in did_you_mean(wrong, self._known):
            return None
        (span,) = self._marked(mismatch.unknown)
        name = replace(span, end_line=span.start.line, end_column=span.start.column + len(wrong))
        return Fix(name, wrong, meant)

    def _corrected(self, mismatch: _Mismatch) -> dict[str, str]:
        """Return the keywords of the call, with the names of parameters.

        An unknown keyword becomes the most similar parameter, or the only missing one. Keywords of
        the other API are left out.
        """
        near = {name: did_you_mean(name, self._known).split("'") for name in mismatch.unknown}
        renamed = {name: parts[1] for name, parts in near.items() if len(parts) > 1}
        missing = [name for name in mismatch.missing if name not in renamed.values()]
        others = [name for name in mismatch.unknown if name not in renamed]
        if len(missing) == len(others) == 1 and others[0] not in self._known_elsewhere:
            renamed[others[0]] = missing.pop()
        named = {
            renamed.get(name, name): text
            for name, text in self.passed.by_name.items()
            if name in renamed or name in self._known
        }
        return {**named, **dict.fromkeys(missing, "...")}

    @property
    def _known_elsewhere(self) -> list[str]:
        """The names of the parameters that the function has in the other API."""
        name = api_name_of(value_of(self.node.func, self.frame))
        return [] if name is None else names_of(parameters_of(name.other.value))

    def of_the_other_api(self, name: ApiName, named: Mapping[str, str]) -> CallTexts:
        """Return the texts for a call whose arguments match the signature of the other API.

        Args:
            name: the called function in this API.
            named: maps parameters of the other API's function to source texts of arguments.
        """
        mismatch = _Mismatch.of(self.parameters, _Passed(by_name=named))
        other = name.other
        parts = [] if mismatch is None else _sentences(mismatch, self.parameters, self.passed)
        differs = mismatch is not None and DST in (*mismatch.missing, *mismatch.unknown)
        where = f", where instructions {_RESULT[other.is_classic]}" if differs else ""
        parts.append(f"the call fits {other.api}{where}")
        elsewhere = f"for a kernel of {other.api}, write {other.as_import}"
        if other.is_classic:
            elsewhere += "; nkijit migrate rewrites such a kernel"
        written, fix = self._rewritten(named, mismatch)
        help = "; ".join(filter(None, (written, elsewhere)))
        marked = self._marked(() if mismatch is None else mismatch.unknown)
        return CallTexts(
            self.subject, "; ".join(parts), self._notes, help, marked, fix, quotes=False
        )

    def _marked(self, unknown: Sequence[str]) -> tuple[Span, ...]:
        nodes = [keyword for keyword in self.node.keywords if keyword.arg in unknown]
        file = source_of_code(self.frame.f_code)
        return tuple(span_of(file, node) for node in nodes or [self.node.func])

    def _rewritten(
        self, named: Mapping[str, str], mismatch: _Mismatch | None
    ) -> tuple[str, Fix | None]:
        """Return the call for this API as advice, and as an edit if its destination is certain."""
        known = {key: text for key, text in named.items() if key in self._known}
        missing = [] if mismatch is None else list(mismatch.missing)
        unknown = [] if mismatch is None else list(mismatch.unknown)
        statement = self._statement()
        if missing == [DST] and not unknown:
            target = self._target(statement)
            call = self._written((), {DST: target or "...", **known})
            advice = f"write {call}" if target else f"allocate a tile and write {call}"
            return advice, self._fix(statement, call) if target else None
        if unknown == [DST] and not missing:
            call = self._written((), known)
            dst = named[DST]
            line = f"{dst}[...] = {call}" if dst.isidentifier() else f"{dst} = {call}"
            fits = isinstance(statement, ast.Expr) and not line.startswith("(")
            return f"write {line}", self._fix(statement, line) if fits else None
        if unknown and not missing:
            return f"leave out {', '.join(unknown)}", None
        return "", None

    def _written(self, in_order: Sequence[str], by_name: Mapping[str, str]) -> str:
        given = [*in_order, *(f"{key}={text}" for key, text in by_name.items())]
        return f"{ast.unparse(self.node.func)}({', '.join(given)})"

    def _statement(self) -> ast.Assign | ast.Expr | None:
        """Return the statement whose whole value is the call."""
        place = (self.node.lineno, self.node.col_offset)
        tree = ast.parse(source_text(source_of_code(self.frame.f_code)))
        for node in ast.walk(tree):
            if (
                isinstance(node, (ast.Assign, ast.Expr))
                and isinstance(node.value, ast.Call)
                and (node.value.lineno, node.value.col_offset) == place
            ):
                return node
        return None

    def _target(self, statement: ast.stmt | None) -> str:
        """Return the source text of the tile that a statement assigns the call's result to.

        Returns "" if the statement is not such an assignment, or if its variable does not hold a
        tile before the statement.
        """
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return ""
        target = statement.targets[0]
        variable: ast.expr = target.value if isinstance(target, ast.Subscript) else target
        if not isinstance(variable, ast.Name):
            return ""
        value = self.frame.f_locals.get(variable.id)
        return ast.unparse(target) if getattr(value, "storage", None) is not None else ""

    def _fix(self, statement: ast.stmt | None, new: str) -> Fix | None:
        if statement is None:
            return None
        file = source_of_code(self.frame.f_code)
        span = span_of(file, statement)
        old = ast.get_source_segment(source_text(file), statement)
        return None if old is None or "#" in old else Fix(span, old, new)


_RESULT = {True: "return a new tile", False: f"write to '{DST}'"}
"""For the classic API (True) and the current API (False): how instructions give their results."""
