"""Scopes: the vendor's compiler does not let tensors leave the loop that allocates them.

It gives the bodies of `for`, `if` and `else` scopes of their own. Published kernels use tensors
after unrolled loops, and after branches that only depend on the kernel's arguments, so these
have no scope here. Source: NKI API reference 2.26, nki.errors.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeGuard

from xdsl.ir import Operation

from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import ViewOp, views_of
from nkijit.dialects.rule_texts.classic_kernels import OUT_OF_SCOPE, SHARED_IN_LOOP
from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.places import positions
from nkijit.passes.diagnostics.source_text import text_around
from nkijit.tracing.tracer import Tracer

Block = tuple[ast.For | ast.If, str]
"""A statement, and the field with the statements of the block: `body` or `orelse`."""


def check_scopes(tracer: Tracer, function: Callable[..., Any]) -> None:
    """Record a finding for each variable that is used after the loop that allocates its tile.

    Also for each tensor in shared HBM that a loop allocates. The check reads the file of the
    kernel's function; functions of other files are not checked.
    """
    code = getattr(function, "__code__", None)
    source = "" if code is None else text_around(code)
    scopes = _scopes(source)
    if code is None or not scopes.blocks:
        return
    reported: set[str | int] = set()
    # Iterations of unrolled loops have the same location object.
    known: dict[int, list[int]] = {}
    for op in tracer.kernel.operations:
        if type(op) is not AllocOp:
            continue
        shared = info_of(op.result).region is MemoryRegion.shared_hbm
        if not shared and not scopes.escapes:
            continue
        lines = known.get(id(op.location))
        if lines is None:
            lines = known[id(op.location)] = _lines(op, code.co_filename)
        around = next((scopes.blocks[n] for n in lines if n in scopes.blocks), None)
        if shared and around is not None and lines[0] not in reported:
            reported.add(lines[0])
            message = f"'{op.result.name_hint}' is allocated in {_described(around)}"
            tracer.diagnostics.append(diagnose(SHARED_IN_LOOP, op, message))
        for escape in scopes.escapes:
            name = escape.assigned.name
            if name in reported or not escape.assigned.is_at(lines):
                continue
            use = _use(op, escape.read, code.co_filename)
            if use is not None:
                reported.add(name)
                _record(tracer, escape, op, use)


def _lines(op: Operation, file: str) -> list[int]:
    """Return the lines of an operation's calls in a file, the innermost first."""
    return [place.line for place in positions(op.location) if place.file == file]


def _use(alloc: AllocOp, read: Occurrence, file: str) -> Operation | None:
    """Return an instruction of the statement `read` that uses a tile."""
    for value in (alloc.result, *views_of(alloc.result)):
        for use in value.uses:
            op = use.operation
            if not isinstance(op, ViewOp) and read.is_at(_lines(op, file)):
                return op
    return None


def _record(tracer: Tracer, escape: Escape, alloc: AllocOp, use: Operation) -> None:
    name, block = escape.assigned.name, escape.block
    info = info_of(alloc.result)
    tile = f"{info.shape}, nl.{info.dtype.name}"
    help = f"write {name} = nl.ndarray({tile}) before the if, and {name}[...] = ... in each branch"
    if isinstance(block[0], ast.For):
        help = (
            f"after the loop it holds the last iteration only: write {name} = nl.zeros({tile}) "
            f"before the loop, and {name} += ... or {name}[...] = ... in it"
        )
    if escape.assigned.updates:
        word = "loop" if isinstance(block[0], ast.For) else "branch"
        help = f"write {name}[...] = ... in the {word}: it updates the tile allocated before it"
    message = f"'{name}' is allocated in {_described(block)} and used after it"
    related = [(alloc, "allocated here")]
    tracer.diagnostics.append(diagnose(OUT_OF_SCOPE, use, message, related=related, help=help))


def _described(block: Block) -> str:
    kind = "the loop" if isinstance(block[0], ast.For) else "a branch of the if"
    return f"{kind} at line {block[0].lineno}"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A statement, or the head of one, that assigns or reads a variable."""

    name: str
    first: int
    """The first line of the statement."""
    last: int
    """The last line of the statement, or of its head."""
    blocks: tuple[Block, ...]
    """The blocks around the statement, the outermost first."""
    updates: bool = False
    """Whether the statement assigns the variable and reads it: `t = t + x`."""

    def is_at(self, lines: Sequence[int]) -> bool:
        """Return whether one of the lines is a line of the statement."""
        return any(self.first <= line <= self.last for line in lines)

    def is_inside(self, blocks: Sequence[Block]) -> bool:
        """Return whether all of `blocks` are around the statement."""
        return self.blocks[: len(blocks)] == tuple(blocks)


@dataclass(frozen=True, slots=True)
class Escape:
    """A variable that is assigned in a block and read after it."""

    assigned: Occurrence
    read: Occurrence

    @property
    def block(self) -> Block:
        """The outermost block around the assignment that is not around the use."""
        pairs = zip(self.assigned.blocks, (*self.read.blocks, None), strict=False)
        return next(one for one, other in pairs if one != other)


@dataclass(frozen=True, slots=True)
class Scopes:
    """The blocks with a scope of their own in a file, and the variables that leave them."""

    blocks: dict[int, Block]
    """Maps the lines of statements to the outermost block around each, if any."""
    escapes: tuple[Escape, ...]


@lru_cache(maxsize=64)
def _scopes(source: str) -> Scopes:
    """Return the scopes in the source of a file."""
    try:
        module = ast.parse(source)
    except SyntaxError:
        return Scopes({}, ())
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    found = [list(_occurrences(function.body, ())) for function in functions]
    inside = [one for each in found for one, _ in each if one.blocks]
    blocks = {line: one.blocks[0] for one in inside for line in range(one.first, one.last + 1)}
    return Scopes(blocks, tuple(escape for each in found for escape in _escapes(each)))


def _escapes(occurrences: Sequence[tuple[Occurrence, bool]]) -> Iterator[Escape]:
    """Yield the variables of a function that are used after the block that assigns them."""
    stores: dict[str, list[Occurrence]] = {}
    for found, is_store in occurrences:
        before = stores.setdefault(found.name, [])
        if is_store:
            # An assignment that every path to later reads passes replaces earlier ones.
            before[:] = [other for other in before if not other.is_inside(found.blocks)]
            before.append(found)
            continue
        hidden = max((i for i, s in enumerate(before) if found.is_inside(s.blocks)), default=-1)
        for store in before[hidden + 1 :]:
            yield Escape(store, found)


def _occurrences(
    statements: Sequence[ast.stmt], blocks: tuple[Block, ...]
) -> Iterator[tuple[Occurrence, bool]]:
    """Yield the variables in statements, in order; the flag is True for assignments."""
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        bodies = [name for name in _BODIES if getattr(node, name, None)]
        head = [value for name, value in ast.iter_fields(node) if name not in _BODIES]
        last = getattr(node, bodies[0])[0].lineno - 1 if bodies else node.end_lineno
        names = _names(ast.Tuple(head, ast.Load()) if bodies else node)
        for name, is_store in names:
            updates = is_store and (name, False) in names
            place = node.lineno, max(last or 0, node.lineno)
            yield Occurrence(name, *place, blocks, updates), is_store
        for body in bodies:
            inside = (*blocks, (node, body)) if _is_scope(node, blocks) else blocks
            yield from _occurrences(getattr(node, body), inside)


def _is_scope(node: ast.stmt, blocks: Sequence[Block]) -> TypeGuard[ast.For | ast.If]:
    """Return whether the vendor's compiler gives the blocks of a statement scopes of their own.

    These are loops that it does not unroll, and branches that depend on their loop variables:
    published kernels use tensors after branches that only depend on the kernel's arguments.
    """
    if isinstance(node, ast.For):
        function = node.iter.func if isinstance(node.iter, ast.Call) else None
        return isinstance(function, (ast.Name, ast.Attribute)) and _last(function) in _LOOPS
    loops = [block.target for block, _ in blocks if isinstance(block, ast.For)]
    variables = {name for target in loops for name, _ in _names(target)}
    return isinstance(node, ast.If) and any(name in variables for name, _ in _names(node.test))


_LOOPS = ("affine_range", "sequential_range", "range")


def _last(function: ast.Name | ast.Attribute) -> str:
    return function.id if isinstance(function, ast.Name) else function.attr


_BODIES = ("body", "handlers", "orelse", "finalbody")


def _names(node: ast.AST) -> list[tuple[str, bool]]:
    """Return the variables in an expression or a simple statement, those it reads first.

    `t += x` writes to the tile that `t` is.
    """
    names = [child for child in ast.walk(node) if isinstance(child, ast.Name)]
    updated = node.target if isinstance(node, ast.AugAssign) else None
    found = [(n.id, isinstance(n.ctx, ast.Store) and n is not updated) for n in names]
    return sorted(found, key=lambda each: each[1])
