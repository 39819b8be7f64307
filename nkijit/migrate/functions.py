"""Rewrites a classic kernel's function, statement by statement.

Expressions become values (`values.py`). Instructions that compute them are written on new lines
before the statement. Unchanged statements keep their text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from nkijit.export.layout import INDENT, WIDTH, wrapped
from nkijit.migrate import calls, grids, operators, tiles
from nkijit.migrate.amounts import Amount
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.indices import Index, Mask
from nkijit.migrate.rewriting import Rewriter
from nkijit.migrate.sources import Edit, one_line
from nkijit.migrate.values import Grid, Plain, TensorValue, Value


class FunctionRewriter(Rewriter):
    """Rewrites the statements of one function."""

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
        if isinstance(known, TensorValue):
            found = self.variable(node.id)
            return known if found is None or found.blocks else replace(known, seen=(found,))
        if known is not None:
            return known
        found = self.variable(node.id) if node.id in self._local or node.id in self._env else None
        found = found or self.variable(node.id)
        if found is not None:
            return TensorValue(node.id, (found,), is_name=True)
        return operators.named(self, node)

    # ---------------------------------------------------------------- statements

    def rewrite(self) -> None:
        """Rewrite the body. Raises NoRewriteError where no rewrite is known."""
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
        """Rewrite a statement. Returns whether it is removed."""
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
        """Replace a statement by lines; None leaves it unchanged. Returns whether it is removed."""
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
        # After the statement, unchanged earlier values and those set in the body are known.
        for name, value in env.items():
            if self._env.get(name) is not value and isinstance(node, (ast.If, ast.For)):
                continue
            self._env.setdefault(name, value)

    def _has_run(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a block has run while the kernel was observed."""
        seen = self.module.observed.variables
        lines = {n.lineno for s in body for n in ast.walk(s) if isinstance(n, (ast.stmt, ast.expr))}
        return any((self.source.path, line) in seen for line in lines)

    def _is_of_api(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a block calls the classic API, or uses index expressions or tensors."""
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
        """Return the variables that have held tensors in the function."""
        lines = range(self.node.lineno, (self.node.end_lineno or self.node.lineno) + 1)
        seen = self.module.observed.variables
        return {name for line in lines for name in seen.get((self.source.path, line), ())}

    def _leave(self, body: Sequence[ast.stmt]) -> None:
        """Turn a block that has not run into a comment, followed by an assertion."""
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
        if all(isinstance(v, (Plain, TensorValue)) for v in values):
            texts = [v.text for v in values if isinstance(v, (Plain, TensorValue))]
            if texts == [self.source.segment(v) for v in getattr(value, "elts", [])]:
                return [self.source.segment(node)]
            return [f"{self.source.segment(target)} = {', '.join(map(one_line, texts))}"]
        lines: list[str] = []
        for name, item in zip(names, values, strict=True):
            if name is None:
                raise NoRewriteError("an index expression is kept in an object", node)
            lines += self._bind(node, name, item)
        return lines

    def _bind(self, node: ast.stmt, name: str, value: Value) -> list[str]:
        """Bind a name to a value. A line of source is written only for numbers and tensors."""
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
        if isinstance(value, TensorValue) and value.is_view:
            self._env[name] = value
        return [f"{name} = {one_line(value.text)}"]

    def _assign_name(self, node: ast.stmt, name: str, value: ast.expr) -> list[str] | None:
        # A tile that is computed from its own old value needs a new allocation.
        reads = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))
        into = None if reads else name
        if isinstance(value, ast.Call):
            found = calls.call(self, value, into)
        elif isinstance(value, ast.BinOp):
            found = operators.binary(self, value, into)
        else:
            found = self.value(value)
        if isinstance(found, (Plain, TensorValue)):
            if found.text == name and isinstance(found, TensorValue):
                return []
            if found.text == self.source.segment(value) and not self._before:
                return [self.source.segment(node)]
        return self._bind(node, name, found)


_AXES = {"p": 0, "x": 1, "y": 2, "z": 3, "w": 4}
"""Maps each attribute of an `nl.mgrid` to the number of the axis that it selects."""


_LISTS = re.compile(r"(?P<head>.*?)\[(?P<item>.*) for _ in range\((?P<count>[^()]*)\)\]")


def laid_out(line: str, depth: int) -> list[str]:
    """Wrap a statement at the line width, including nested lists of tiles."""
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


__all__ = ["FunctionRewriter"]
