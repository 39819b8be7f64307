"""A function of a classic kernel, rewritten statement by statement.

Expressions become values (`values.py`); what has to be computed before a statement stands in
lines before it. A statement that stays what it was is not touched.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nkijit.export.layout import INDENT, WIDTH, wrapped
from nkijit.migrate import calls, grids, operators, tiles
from nkijit.migrate.amounts import Amount
from nkijit.migrate.api import UNKNOWN, api_name, value_of
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.indices import Index, Mask
from nkijit.migrate.observing import Event, Observations, Seen
from nkijit.migrate.sources import Edit, Source, one_line
from nkijit.migrate.values import Grid, Plain, Tile, Value

Definition = ast.FunctionDef


@dataclass(frozen=True)
class Rewrite:
    """One change, for the report."""

    line: int
    rule: str
    """The family of rewrites, a key of `rules.RULES`."""
    before: str


@dataclass
class Module:
    """What functions of a module share while they are rewritten."""

    source: Source
    names: Mapping[str, Any]
    """The names of the module, with what they stand for."""
    observed: Observations
    nl: str = "nl"
    nisa: str = "nisa"
    needed: set[str] = field(default_factory=set[str])
    """Modules that rewritten functions need: `nl`, `nisa`."""


class FunctionRewriter:
    """Rewrites one function; `edits` are what changes in the module's text."""

    def __init__(
        self,
        module: Module,
        node: Definition,
        outer: FunctionRewriter | None = None,
        grid: Sequence[int] | None = None,
    ):
        """`outer`: the function around it, whose index expressions it sees.

        `grid`: that of a kernel whose instances become iterations.
        """
        self.grid = grid if outer is None else outer.grid
        self.spread: int | None = None
        """The dimension of the grid that is spread over cores."""
        self.module = module
        self.source = module.source
        self.node = node
        self.edits: list[Edit] = []
        self.rewrites: list[Rewrite] = []
        self.left: list[tuple[int, str]] = []
        """Lines of branches to which no run has come."""
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
        """Lines that the statement at hand needs before it."""
        self._values: dict[ast.expr, Value] = {}
        """Expressions of the statement at hand: lines before it are emitted once."""
        self.guard = ""
        """A condition for the next instructions: a mask without index expressions."""
        self._may_hoist = True
        self.statement: ast.stmt = node
        self._counts: list[dict[str, str]] = [{}]
        """Names of sizes under masks, by what they are, block by block."""
        self._accumulated: set[str] = set()

    # ---------------------------------------------------------------- what calls use

    def emit(self, line: str, node: ast.AST | None = None) -> None:
        """A line before the statement at hand."""
        if not self._may_hoist:
            raise NoRewriteError("a call that needs a statement of its own", node or self.statement)
        self._before.append(line)

    def call(self, callee: str, arguments: Mapping[str, str]) -> None:
        """An instruction before the statement at hand."""
        module = callee.partition(".")[0]
        self.module.needed.add(module)
        name = f"{getattr(self.module, module)}.{callee.partition('.')[2]}"
        text = f"{name}({', '.join(f'{k}={v}' for k, v in arguments.items())})"
        if self.guard:
            self.emit(f"if {self.guard}:")
            text = f"{INDENT}{text}"
        self.emit(text)

    def allocate(self, name: str, shape: str, dtype: str, buffer: str) -> None:
        """An allocation before the statement at hand."""
        self.module.needed.add("nl")
        nl = self.module.nl
        self.emit(f"{name} = {nl}.ndarray({shape}, dtype={dtype}, buffer={nl}.{buffer})")

    def fresh(self, hint: str) -> str:
        """A name that nothing has."""
        name, number = hint, 1
        while name in self._taken:
            name, number = f"{hint}_{number}", number + 1
        self._taken.add(name)
        return name

    def count(self, hint: str, amount: Amount) -> Amount:
        """A name for how many elements a mask leaves, computed once in a block."""
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

    def events(self, node: ast.AST) -> list[Event]:
        """What was seen at an expression."""
        n: Any = node
        place = (n.lineno, n.end_lineno, n.col_offset, n.end_col_offset)
        return self.module.observed.at(self.source.path, place)

    def note(self, rule: str, node: ast.AST) -> None:
        """A rewrite, for the report."""
        line = getattr(node, "lineno", self.statement.lineno)
        before = self.source.segment(node).split("\n")[0]
        entry = Rewrite(line, rule, before)
        if entry not in self.rewrites:
            self.rewrites.append(entry)

    def api(self, node: ast.AST) -> tuple[str, str] | None:
        """Module and name of what a dotted name stands for in the classic API."""
        value = self.value_named(node)
        return None if value is UNKNOWN else api_name(value)

    def value_named(self, node: ast.AST) -> Any:
        """What a dotted name of the module stands for."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self._imports:
            return value_of(node, self._imports)
        if isinstance(root, ast.Name) and root.id in self._local:
            return UNKNOWN
        return value_of(node, self.module.names)

    def variable(self, name: str) -> Seen | None:
        """The tensor that a variable held when the statement at hand ran last."""
        last = self.statement.end_lineno or self.statement.lineno
        if isinstance(self.statement, (ast.For, ast.If, ast.While, ast.With)):
            last = self.statement.body[0].lineno
        for line in range(self.statement.lineno, last + 1):
            found = self.module.observed.variables.get((self.source.path, line))
            if found is not None:
                return found.get(name)
        return None

    # ---------------------------------------------------------------- expressions

    def value(self, node: ast.expr) -> Value:
        """What an expression is."""
        known = self._values.get(node)
        if known is None:
            try:
                known = self._values[node] = self._value(node)
            except NoRewriteError as error:
                raise error.at(node) from None
        return known

    def _value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            owner = self._env.get(node.value.id) if isinstance(node.value, ast.Name) else None
            if isinstance(owner, Grid) and node.attr in _AXES:
                return owner.items[_AXES[node.attr]]
            return operators.attribute(self, node)
        if isinstance(node, ast.Subscript):
            return tiles.subscript(self, node)
        if isinstance(node, ast.Call):
            return calls.call(self, node, None)
        if isinstance(node, ast.BinOp):
            return operators.binary(self, node, None)
        if isinstance(node, ast.UnaryOp):
            return operators.unary(self, node, None)
        if isinstance(node, ast.Compare):
            return operators.compare(self, node, None)
        if isinstance(node, ast.BoolOp):
            values = [self.value(v) for v in node.values] if self._is_mask(node) else []
            if isinstance(node.op, ast.And) and any(isinstance(v, Mask) for v in values):
                joined = Mask()
                for value in values:
                    if not isinstance(value, (Mask, Plain)):
                        raise NoRewriteError("a mask that is joined with a tile", node)
                    condition = Mask((), (value.text,)) if isinstance(value, Plain) else value
                    joined = joined.joined(condition)
                return joined
        if isinstance(node, ast.Constant):
            return Plain(self.source.segment(node))
        return Plain(self.spliced(node))

    def _is_mask(self, node: ast.BoolOp) -> bool:
        return all(isinstance(v, (ast.Compare, ast.Name, ast.BinOp)) for v in node.values)

    def _name(self, node: ast.Name) -> Value:
        known = self._env.get(node.id)
        if isinstance(known, Tile):
            found = self.variable(node.id)
            return known if found is None or found.blocks else replace(known, seen=(found,))
        if known is not None:
            return known
        found = self.variable(node.id) if node.id in self._local or node.id in self._env else None
        found = found or self.variable(node.id)
        if found is not None:
            return Tile(node.id, (found,), is_name=True)
        return operators.named(self, node)

    def text(self, node: ast.expr) -> str:
        """An expression in today's API; index expressions have none."""
        value = self.value(node)
        if isinstance(value, (Plain, Tile)):
            return value.text
        if isinstance(value, Index) and value.is_plain:
            return str(value.begin)
        raise NoRewriteError("an index expression or a mask outside of an index", node)

    def amount(self, node: ast.expr) -> Amount:
        """An integer."""
        return Amount.of(one_line(self.text(node)))

    def spliced(self, node: ast.AST) -> str:
        """The text of a node whose parts are rewritten; they may not need lines before it."""
        start, end = self.source.span(node)
        text = self.source.text.encode()[start:end]
        # Names that a comprehension or a lambda binds are not those of the function.
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

    def tile(self, node: ast.expr) -> Tile:
        """A tensor."""
        value = self.value(node)
        if not isinstance(value, Tile):
            raise NoRewriteError("a tensor was expected", node)
        return value

    def bound(self, value: Tile, hint: str) -> Tile:
        """A tensor that a name or an index stands for; calls get a name."""
        if value.is_name or value.keys is not None or value.is_view:
            return value
        name = self.fresh(hint)
        self.emit(f"{name} = {value.text}")
        return Tile(name, value.seen, is_name=True)

    # ---------------------------------------------------------------- statements

    def rewrite(self) -> None:
        """Rewrite the body. Raises NoRewriteError where nothing is known for it."""
        self._block(self.node.body)
        if self.grid is not None:
            grids.loop_over(self, self.grid)

    def _block(self, body: Sequence[ast.stmt]) -> None:
        self._counts.append({})
        removed = 0
        for statement in body:
            self.statement = statement
            self._before = []
            self._values = {}
            self.guard = ""
            try:
                removed += self._statement(statement)
            except NoRewriteError as error:
                raise error.at(statement) from None
        if removed == len(body):
            last = body[-1]
            end = self.source.lines_of(last)[1]
            self.edits.append(Edit(end, end, f"{self.source.indentation(last)}pass\n"))
        self._counts.pop()

    def _statement(self, node: ast.stmt) -> bool:
        """Rewrite a statement; whether nothing of it is left."""
        if isinstance(node, (ast.For, ast.While, ast.If, ast.With)):
            self._compound(node)
            return False
        if isinstance(node, ast.FunctionDef):
            inner = FunctionRewriter(self.module, node, self)
            inner._block(node.body)
            self.edits += inner.edits
            self.rewrites += inner.rewrites
            self.left += inner.left
            return False
        lines: list[str] | None
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            lines = self._assign(node, targets, node.value)
        elif isinstance(node, ast.AugAssign):
            lines = tiles.augmented(self, node)
        elif isinstance(node, ast.Expr):
            lines = self._expression(node)
        elif isinstance(node, ast.Return) and node.value is not None and self.is_kernel:
            lines = tiles.returned(self, node, node.value)
        else:
            lines = [self.spliced(node)]
        return self._replace(node, lines)

    def _expression(self, node: ast.Expr) -> list[str]:
        if isinstance(node.value, ast.Constant):
            return [self.source.segment(node)]
        if isinstance(node.value, ast.Call):
            value = calls.call(self, node.value, None)
            return [value.text] if isinstance(value, Plain) and value.text else []
        return [self.text(node.value)]

    def _replace(self, node: ast.stmt, lines: list[str] | None) -> bool:
        """Put lines in the place of a statement; None leaves it as it is."""
        if lines is None:
            return False
        if not self._before and lines == [self.source.segment(node)]:
            return False
        new = [*self._before, *lines]
        if not self.source.is_alone(node):
            raise NoRewriteError("several statements in one line", node)
        indentation = self.source.indentation(node)
        start, end = self.source.lines_of(node)
        text = ""
        comments = self.source.comments(node)
        if new or comments:
            text += "".join(f"{indentation}{comment}\n" for comment in comments if new)
        depth = len(indentation) // len(INDENT)
        for line in new:
            if "\n" in line:
                text += f"{indentation}{line}\n"
                continue
            bare = line.lstrip(" ")
            deeper = line[: len(line) - len(bare)]
            for part in laid_out(bare, depth):
                text += f"{indentation}{deeper}{part[depth * len(INDENT) :]}\n"
        self.edits.append(Edit(start, end, text))
        return not new

    def _compound(self, node: ast.For | ast.While | ast.If | ast.With) -> None:
        headers: list[ast.expr]
        if isinstance(node, ast.For):
            headers = [node.iter]
        elif isinstance(node, ast.With):
            headers = [item.context_expr for item in node.items]
        else:
            headers = [node.test]
        header_edits: list[Edit] = []
        for header in headers:
            text = self.text(header)
            if text != self.source.segment(header):
                header_edits.append(Edit(*self.source.span(header), text))
        if self._before:
            is_elif = isinstance(node, ast.If) and self.source.segment(node).startswith("elif")
            if isinstance(node, ast.While) or is_elif:
                raise NoRewriteError("a condition that needs a statement of its own", node)
            start, _ = self.source.lines_of(node)
            indentation = self.source.indentation(node)
            lines = "".join(f"{indentation}{line}\n" for line in self._before)
            self.edits.append(Edit(start, start, lines))
        self.edits += header_edits
        env = dict(self._env)
        if isinstance(node, ast.For):
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name):
                    self._env.pop(name.id, None)
        for body in (node.body, getattr(node, "orelse", [])):
            if not body:
                continue
            first = body[0]
            if first.lineno == node.lineno:
                if self._is_of_api(body):
                    raise NoRewriteError("a body in the line of its header", first)
                continue
            if isinstance(node, (ast.If, ast.For)) and not self._has_run(body):
                if self._is_of_api(body):
                    self._leave(body)
                continue
            self._block(body)
        # What is known behind it: what was known before and still holds, and what the body has set.
        for name, value in env.items():
            if self._env.get(name) is not value and isinstance(node, (ast.If, ast.For)):
                continue
            self._env.setdefault(name, value)

    def _has_run(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a run has come to a block."""
        seen = self.module.observed.variables
        lines = {n.lineno for s in body for n in ast.walk(s) if isinstance(n, (ast.stmt, ast.expr))}
        return any((self.source.path, line) in seen for line in lines)

    def _is_of_api(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a block calls the classic API, or names index expressions."""
        for part in (n for s in body for n in ast.walk(s)):
            if isinstance(part, ast.Call) and self.api(part.func) is not None:
                return True
            if isinstance(part, ast.Name) and isinstance(
                self._env.get(part.id), (Index, Mask, Grid)
            ):
                return True
            owner = part.value if isinstance(part, ast.Subscript) else None
            if isinstance(owner, ast.Name) and owner.id in self._tensors():
                return True
        return False

    def _tensors(self) -> set[str]:
        """The variables that have held tensors somewhere in the function."""
        lines = range(self.node.lineno, (self.node.end_lineno or self.node.lineno) + 1)
        seen = self.module.observed.variables
        return {name for line in lines for name in seen.get((self.source.path, line), ())}

    def _leave(self, body: Sequence[ast.stmt]) -> None:
        """A block to which no run has come: what it was stands there as a comment."""
        indentation = self.source.indentation(body[0])
        start, end = self.source.lines_of(body[0])[0], self.source.lines_of(body[-1])[1]
        old = self.source.text.encode()[start:end].decode()
        lines = [
            f"# {line.removeprefix(indentation)}".rstrip() for line in old.rstrip("\n").split("\n")
        ]
        where = body[0].lineno
        lines.append(f'assert False, "line {where} was not migrated: nothing has run it"')
        text = "".join(f"{indentation}{line}\n" for line in lines)
        self.edits.append(Edit(start, end, text))
        self.left.append((where, "nothing has run what stands here; it is a comment now"))

    # ---------------------------------------------------------------- assignments

    def _assign(
        self, node: ast.stmt, targets: Sequence[ast.expr], value: ast.expr
    ) -> list[str] | None:
        stored = {
            name.id
            for target in targets
            for name in ast.walk(target)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
        before = {name: self._env.get(name) for name in stored}
        lines = self._assigned(node, targets, value)
        for name, known in before.items():
            if self._env.get(name) is known:
                self._env.pop(name, None)
            for counts in self._counts:
                for text in [t for t in counts if _mentions(t, name)]:
                    del counts[text]
        return lines

    def _assigned(
        self, node: ast.stmt, targets: Sequence[ast.expr], value: ast.expr
    ) -> list[str] | None:
        if len(targets) > 1:
            text = self.text(value)
            heads = " = ".join(self.text(t) for t in targets)
            return [f"{heads} = {text}"]
        (target,) = targets
        if isinstance(target, ast.Tuple):
            return self._unpack(node, target, value)
        if isinstance(target, ast.Name):
            return self._assign_name(node, target.id, value)
        if isinstance(target, ast.Subscript):
            lines = tiles.assign(self, target, value)
            if lines is not None:
                return lines
        text = self.text(value)
        if text == self.source.segment(value) and not self._before:
            return [self.source.segment(node)]
        return [f"{self.spliced(target)} = {one_line(text)}"]

    def _unpack(self, node: ast.stmt, target: ast.Tuple, value: ast.expr) -> list[str] | None:
        names = [n.id if isinstance(n, ast.Name) else None for n in target.elts]
        if isinstance(value, ast.Tuple) and len(value.elts) == len(names):
            values = [self.value(v) for v in value.elts]
        else:
            found = self.value(value)
            if not isinstance(found, Grid):
                if isinstance(found, (Index, Mask)):
                    raise NoRewriteError("an index expression is taken apart", node)
                text = found.text
                if text == self.source.segment(value):
                    return [self.source.segment(node)]
                return [f"{self.source.segment(target)} = {one_line(text)}"]
            values = list(found.items)
        if all(isinstance(v, (Plain, Tile)) for v in values):
            texts = [v.text for v in values if isinstance(v, (Plain, Tile))]
            if texts == [self.source.segment(v) for v in getattr(value, "elts", [])]:
                return [self.source.segment(node)]
            return [f"{self.source.segment(target)} = {', '.join(map(one_line, texts))}"]
        lines: list[str] = []
        for name, item in zip(names, values, strict=True):
            if name is None:
                raise NoRewriteError("an index expression is kept in an object", node)
            lines += self._keep(node, name, item)
        return lines

    def _keep(self, node: ast.stmt, name: str, value: Value) -> list[str]:
        """A name for a value; what is no number or tensor needs no line."""
        if isinstance(value, Index):
            self.note("index", node)
            if value.begin.number is None and str(value.begin) != name:
                self._env[name] = replace(value, begin=Amount.of(name))
                return [f"{name} = {value.begin}"]
            self._env[name] = value
            return []
        if isinstance(value, (Mask, Grid)):
            self.note("mask" if isinstance(value, Mask) else "index", node)
            self._env[name] = value
            return []
        if value.text == name:
            return []
        if isinstance(value, Tile) and value.is_view:
            self._env[name] = value
        return [f"{name} = {one_line(value.text)}"]

    def _assign_name(self, node: ast.stmt, name: str, value: ast.expr) -> list[str] | None:
        # A tile that is made anew of its own old value: instructions read the old one.
        reads = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))
        into = None if reads else name
        if isinstance(value, ast.Call):
            found = calls.call(self, value, into)
        elif isinstance(value, ast.BinOp):
            found = operators.binary(self, value, into)
        else:
            found = self.value(value)
        if isinstance(found, (Plain, Tile)):
            if found.text == name and isinstance(found, Tile):
                return []
            if found.text == self.source.segment(value) and not self._before:
                return [self.source.segment(node)]
        return self._keep(node, name, found)


_AXES = {"p": 0, "x": 1, "y": 2, "z": 3, "w": 4}
"""Names of the expressions of `nl.mgrid`."""


def _local_imports(node: Definition) -> dict[str, Any]:
    """Modules of the classic API that a function imports itself."""
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


_LISTS = re.compile(r"(?P<head>.*?)\[(?P<item>.*) for _ in range\((?P<count>[^()]*)\)\]")


def laid_out(line: str, depth: int) -> list[str]:
    """The lines of a statement, lists of tiles among them."""
    found = _LISTS.fullmatch(line)
    if found is None or len(INDENT) * depth + len(line) <= WIDTH:
        return wrapped(line, depth)
    return [
        f"{INDENT * depth}{found['head']}[",
        *laid_out(found["item"], depth + 1),
        f"{INDENT * (depth + 1)}for _ in range({found['count']})",
        f"{INDENT * depth}]",
    ]


def _mentions(text: str, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(ast.parse(text)))


def _expressions(node: ast.AST) -> list[ast.expr]:
    """The expressions directly inside of a node."""
    found: list[ast.expr] = []
    if isinstance(node, ast.JoinedStr):
        return []  # what f-strings show is no part of the kernel's language
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            found.append(child)
        elif isinstance(child, (ast.keyword, ast.comprehension)):
            found += _expressions(child)
    return found


__all__ = ["FunctionRewriter", "Module", "Rewrite"]
