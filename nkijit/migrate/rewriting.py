"""The state of a function that is being rewritten, and the values of its expressions.

The functions that rewrite a kind of expression (`tiles.py`, `calls.py`, `operators.py`, …) work on
a `Rewriter`; `functions.py` calls them.
"""

from __future__ import annotations

import ast
import builtins
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nkijit.export.layout import INDENT
from nkijit.migrate.amounts import Amount
from nkijit.migrate.api import UNKNOWN, api_name, value_of
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.indices import Index
from nkijit.migrate.observing import Observations, ObservedEvent, Seen
from nkijit.migrate.sources import Edit, Source, one_line
from nkijit.migrate.values import Plain, TensorValue, Value

Definition = ast.FunctionDef


@dataclass(frozen=True)
class Rewrite:
    """A change of the source, as the report lists it."""

    line: int
    rule: str
    """The rule that was applied, a key of `rules.RULES`."""
    before: str


@dataclass
class Module:
    """The state that a module's functions share."""

    source: Source
    names: Mapping[str, Any]
    """The values of the module's variables, by name."""
    observed: Observations
    nl: str = "nl"
    nisa: str = "nisa"
    needed: set[str] = field(default_factory=set[str])
    """The modules that rewritten functions need: `nl`, `nisa`."""


class Rewriter(ABC):
    """The rewriting of one function: `edits` change the module's text."""

    def __init__(
        self,
        module: Module,
        node: Definition,
        outer: Rewriter | None = None,
        grid: Sequence[int] | None = None,
    ):
        """Prepare the rewriting of a function.

        Args:
            module: the shared state.
            node: the function.
            outer: the function around it, whose index expressions it can use.
            grid: the grid of a kernel whose instances become iterations.
        """
        self.grid = grid if outer is None else outer.grid
        self.spread: int | None = None
        """The dimension of the grid that is distributed over cores."""
        self.module = module
        self.source = module.source
        self.node = node
        self.edits: list[Edit] = []
        self.rewrites: list[Rewrite] = []
        self.left: list[tuple[int, str]] = []
        """Pairs (line, reason) for branches that have not run and therefore need manual work."""
        self.is_kernel = False
        self._env: dict[str, Value] = {} if outer is None else dict(outer._env)
        self._local = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        self._local |= {
            n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        self._taken = (
            outer._taken
            if outer is not None
            else {n.id for n in ast.walk(module.source.tree) if isinstance(n, ast.Name)}
            | {n.arg for n in ast.walk(module.source.tree) if isinstance(n, ast.arg)}
            | set(module.names)
            | set(dir(builtins))
        )
        self._imports = _local_imports(node)
        self._before: list[str] = []
        """The lines to insert before the current statement."""
        self._values: dict[ast.expr, Value] = {}
        """The values of the current statement's expressions, so that each emits its lines once."""
        self.guard = ""
        """The condition of an `if` around the next instructions, from a mask without indices."""
        self._may_hoist = True
        self.statement: ast.stmt = node
        self._counts: list[dict[str, str]] = [{}]
        """For each open block, maps the expression of a size under a mask to its variable."""
        self._accumulated: set[str] = set()

    def emit(self, line: str, node: ast.AST | None = None) -> None:
        """Add a line before the current statement."""
        if not self._may_hoist:
            raise NoRewriteError("a call that needs a statement of its own", node or self.statement)
        self._before.append(line)

    def call(self, callee: str, arguments: Mapping[str, str]) -> None:
        """Add an instruction before the current statement."""
        module = callee.partition(".")[0]
        self.module.needed.add(module)
        name = f"{getattr(self.module, module)}.{callee.partition('.')[2]}"
        text = f"{name}({', '.join(f'{k}={v}' for k, v in arguments.items())})"
        if self.guard:
            self.emit(f"if {self.guard}:")
            text = f"{INDENT}{text}"
        self.emit(text)

    def allocate(self, name: str, shape: str, dtype: str, buffer: str) -> None:
        """Add an allocation before the current statement."""
        self.module.needed.add("nl")
        nl = self.module.nl
        self.emit(f"{name} = {nl}.ndarray({shape}, dtype={dtype}, buffer={nl}.{buffer})")

    def fresh(self, hint: str) -> str:
        """Return an unused name."""
        name, number = hint, 1
        while name in self._taken:
            name, number = f"{hint}_{number}", number + 1
        self._taken.add(name)
        return name

    def count(self, hint: str, amount: Amount) -> Amount:
        """Return a variable for the number of elements under a mask, computed once per block."""
        if amount.number is not None or not str(amount).startswith(("min(", "max(", "-(")):
            return amount
        text = str(amount)
        for known in reversed(self._counts):
            if text in known:
                return Amount.of(known[text])
        name = self.fresh(hint)
        self.emit(f"{name} = {text}")
        self._counts[-1][text] = name
        return Amount.of(name)

    def events(self, node: ast.AST) -> list[ObservedEvent]:
        """Return the recorded calls at an expression."""
        n: Any = node
        place = (n.lineno, n.end_lineno, n.col_offset, n.end_col_offset)
        return self.module.observed.at(self.source.path, place)

    def note(self, rule: str, node: ast.AST) -> None:
        """Record a rewrite for the report."""
        line = getattr(node, "lineno", self.statement.lineno)
        before = self.source.segment(node).split("\n")[0]
        entry = Rewrite(line, rule, before)
        if entry not in self.rewrites:
            self.rewrites.append(entry)

    def api(self, node: ast.AST) -> tuple[str, str] | None:
        """Return module and name of the classic API object that a dotted name refers to."""
        value = self.value_named(node)
        return None if value is UNKNOWN else api_name(value)

    def value_named(self, node: ast.AST) -> Any:
        """Return the module-level value of a dotted name; UNKNOWN for local names."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self._imports:
            return value_of(node, self._imports)
        if isinstance(root, ast.Name) and root.id in self._local:
            return UNKNOWN
        return value_of(node, self.module.names)

    def variable(self, name: str) -> Seen | None:
        """Return the tensor that a variable held when the current statement last ran."""
        last = self.statement.end_lineno or self.statement.lineno
        if isinstance(self.statement, (ast.For, ast.If, ast.While, ast.With)):
            last = self.statement.body[0].lineno
        for line in range(self.statement.lineno, last + 1):
            found = self.module.observed.variables.get((self.source.path, line))
            if found is not None:
                return found.get(name)
        return None

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        known = self._values.get(node)
        if known is None:
            try:
                known = self._values[node] = self._value(node)
            except NoRewriteError as error:
                raise error.at(node) from None
        return known

    @abstractmethod
    def _value(self, node: ast.expr) -> Value:
        """Compute the value of an expression."""

    def text(self, node: ast.expr) -> str:
        """Return the text of an expression in the current API; index expressions have none."""
        value = self.value(node)
        if isinstance(value, (Plain, TensorValue)):
            return value.text
        if isinstance(value, Index) and value.is_plain:
            return str(value.begin)
        raise NoRewriteError("an index expression or a mask outside of an index", node)

    def amount(self, node: ast.expr) -> Amount:
        """Return an integer expression as an `Amount`."""
        return Amount.of(one_line(self.text(node)))

    def spliced(self, node: ast.AST) -> str:
        """Return the text of a node with rewritten subexpressions.

        Subexpressions of comprehensions, lambdas and short-circuit operators must not need lines
        before the statement, because they may run several times or not at all.
        """
        start, end = self.source.span(node)
        text = self.source.text.encode()[start:end]
        # Names that a comprehension or lambda binds are not variables of the function.
        apart = isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp))
        lazy = apart or isinstance(node, (ast.Lambda, ast.IfExp, ast.BoolOp))
        before, self._may_hoist = self._may_hoist, self._may_hoist and not lazy
        changes: list[tuple[int, int, bytes]] = []
        try:
            for child in _expressions(node):
                if isinstance(getattr(child, "ctx", None), (ast.Store, ast.Del)):
                    continue
                first, last = self.source.span(child)
                new = self.text(child).encode()
                if new != text[first - start : last - start]:
                    changes.append((first - start, last - start, new))
        finally:
            self._may_hoist = before
        for first, last, new in sorted(changes, reverse=True):
            text = text[:first] + new + text[last:]
        return text.decode()

    def tile(self, node: ast.expr) -> TensorValue:
        """Return the tensor value of an expression."""
        value = self.value(node)
        if not isinstance(value, TensorValue):
            raise NoRewriteError("a tensor was expected", node)
        return value

    def bound(self, value: TensorValue, hint: str) -> TensorValue:
        """Return a tensor value that can be indexed: assign the result of a call to a variable."""
        if value.is_name or value.keys is not None or value.is_view:
            return value
        name = self.fresh(hint)
        self.emit(f"{name} = {value.text}")
        return TensorValue(name, value.seen, is_name=True)


def _local_imports(node: Definition) -> dict[str, Any]:
    """Return the classic API modules that are imported inside a function."""
    found: dict[str, Any] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            for alias in part.names:
                if alias.name.startswith("neuronxcc.nki") and alias.asname:
                    found[alias.asname] = sys.modules.get(alias.name, UNKNOWN)
        elif isinstance(part, ast.ImportFrom) and (part.module or "").startswith("neuronxcc.nki"):
            module = sys.modules.get(part.module or "")
            for alias in part.names:
                found[alias.asname or alias.name] = getattr(module, alias.name, UNKNOWN)
    return found


def _expressions(node: ast.AST) -> list[ast.expr]:
    """Return the expressions directly inside a node."""
    found: list[ast.expr] = []
    if isinstance(node, ast.JoinedStr):
        return []  # f-strings are not part of the kernel language
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            found.append(child)
        elif isinstance(child, (ast.keyword, ast.comprehension)):
            found += _expressions(child)
    return found
