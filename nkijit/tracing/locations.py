"""Source locations of calls in the user's code, and the variables that receive the results.

Both are needed once per instruction, so they are cached per call site: a code object and the offset
of an instruction in it. Code objects are distinguished by identity, because equal code objects can
be in different files.
"""

from __future__ import annotations

import ast
import dis
import inspect
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from types import CodeType, FrameType, ModuleType
from typing import Any, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    CallSiteLoc,
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    StringAttr,
)

from nkijit.host.folders import OWN
from nkijit.passes.diagnostics.places import Position, Span
from nkijit.passes.diagnostics.source_text import (
    source_line,
    source_lines,
    source_of_code,
    text_around,
)

_Site = tuple[int, int]
"""`id` of a code object, and the offset of an instruction in it."""

_Position = tuple[int | None, int | None, int | None, int | None]


class _Known:
    """Cached facts about a code object; the keys are offsets of bytecode instructions."""

    def __init__(self, code: CodeType):
        self.code = code
        self.is_internal = code.co_filename.startswith(OWN)
        """Whether the code is nkijit's own."""
        self.names: dict[int, str | None] = {}
        """The variable that the call at an offset is assigned to, if any; see `assigned_name`."""
        self.locations: dict[int, LocationAttr] = {}

    @cached_property
    def positions(self) -> dict[int, _Position]:
        """First line, last line, first and last column of each bytecode instruction, by offset."""
        # One entry for each two bytes of bytecode.
        return {index * 2: place for index, place in enumerate(self.code.co_positions())}

    @cached_property
    def instructions(self) -> tuple[list[int], list[dis.Instruction]]:
        """The offsets of the bytecode instructions, and the instructions in the same order."""
        steps = list(dis.get_instructions(self.code))
        return [step.offset for step in steps], steps

    def location(self, offset: int) -> LocationAttr:
        """Return the location of the expression that an instruction evaluates."""
        location = self.locations.get(offset)
        if location is None:
            file = source_of_code(self.code)
            line, column = self.code.co_firstlineno, 1
            position = self.positions.get(offset)
            if position is not None:
                start, _, start_column, _ = position
                line = line if start is None else start
                column = column_in_line(file, line, start_column or 0)
                column = _behind_keyword(file, line, column)
            location = FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))
            self.locations[offset] = location
        return location


def _behind_keyword(file: str, line: int, column: int) -> int:
    """Return the column of the test or the iterable of a statement that starts at a column.

    In Python 3.11, the instructions of a loop or a test have the position of the whole statement,
    in later versions that of the expression.
    """
    keyword = _KEYWORD.match(source_line(file, line), column - 1)
    return column if keyword is None else keyword.end() + 1


_KEYWORD = re.compile(r"(?:(?:if|elif|while|assert)\b|for\b.*?\bin\b)\s*(?=\S)")


_codes: dict[int, _Known] = {}
"""Cached facts by the `id` of a code object.

Each value references its code object, so Python cannot reuse the `id`.
"""
_chains: dict[tuple[_Site, ...], LocationAttr] = {}


def _known(code: CodeType) -> _Known:
    known = _codes.get(id(code))
    if known is None:
        known = _codes[id(code)] = _Known(code)
    return known


def is_internal(code: CodeType) -> bool:
    """Return whether code is nkijit's own."""
    return _known(code).is_internal


frame_at = sys._getframe  # pyright: ignore[reportPrivateUsage]
"""Returns the frame at a depth of the stack: 0 is the caller's own frame, 1 its caller's."""


def author_frame(inner: int = 1) -> FrameType | None:
    """Return the innermost frame that is not nkijit's own.

    `inner`: the number of innermost frames to skip, including the frame of this function.
    """
    frame: FrameType | None = frame_at(inner)
    while frame is not None:
        code = frame.f_code
        if not (_codes.get(id(code)) or _known(code)).is_internal:
            return frame
        frame = frame.f_back
    return None


Site = tuple[CodeType, int]
"""A call in the user's code: the code of the calling function, and the offset of the call in it."""
Sites = tuple[Site, ...]
"""A chain of calls, with the call in the kernel's function last."""


def calls_from(frame: FrameType | None) -> Iterator[Site]:
    """Yield the user's calls that are being executed, from a frame outwards."""
    while frame is not None and not is_internal(frame.f_code):
        yield frame.f_code, frame.f_lasti
        frame = frame.f_back


_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
"""Code names of comprehensions, which run in separate frames before Python 3.12 (PEP 709)."""


def _caller(frame: FrameType) -> FrameType | None:
    """Return the frame that called the function of a frame.

    Before Python 3.12 a comprehension has its own frame, which counts as part of its function.
    """
    around: FrameType | None = frame
    while around is not None and around.f_code.co_name in _COMPREHENSIONS:
        around = around.f_back
    return None if around is None else around.f_back


def location_of(frame: FrameType | None) -> LocationAttr:
    """Return the location of a frame's current call, with the chain of calls inside the kernel.

    The chain ends at the first frame of nkijit's own, which called the kernel.
    """
    if frame is None:
        return UNKNOWN_LOC
    code = frame.f_code
    caller = _caller(frame)
    if caller is None or is_internal(caller.f_code):
        return _known(code).location(frame.f_lasti)
    _known(code)  # adds it to `_codes`
    sites = [(id(code), frame.f_lasti)]
    while caller is not None and not is_internal(caller.f_code):
        sites.append((id(caller.f_code), caller.f_lasti))
        caller = _caller(caller)
    key = tuple(sites)
    chain = _chains.get(key)
    if chain is None:
        locations = [_codes[number].location(offset) for number, offset in sites]
        chain = locations.pop()
        for location in reversed(locations):
            chain = CallSiteLoc(location, chain)
        _chains[key] = chain
    return chain


class _Activation:
    """A running function of the user, identified by its code and the chain of calls to it."""

    __slots__ = ("callers", "calls", "places")

    def __init__(self, callers: Sites = ()):
        self.callers = callers
        """The chain of calls that led to this function, the innermost first."""
        self.places: dict[int, LocationAttr] = {}
        """Locations of calls in this function, by the offset of the call in the function's code."""
        self.calls: dict[_Site, _Activation] = {}
        """Functions called by this function, by the `id` of their code and the call's offset."""


_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Flags of functions that can be suspended and resumed by another caller (generators)."""


class CallSites:
    """Finds the locations of calls in one trace, like `location_of`, with cached chains of calls.

    A kernel's functions emit many instructions each time they run, so the callers of a function are
    looked up once.
    """

    __slots__ = ("_activations", "_frames", "_outermost")

    def __init__(self):
        self._outermost = _Activation()
        self._frames: list[FrameType] = []
        """The user's frames at the last call, the innermost last.

        The references keep the frames alive: a new frame never has the identity of an old one.
        """
        self._activations: list[_Activation] = []

    def location(self, frame: FrameType | None) -> LocationAttr:
        """The location of a frame's current call; see `location_of`."""
        activation = None if frame is None else self._activation(frame)
        if frame is None or activation is None:
            return location_of(frame)
        location = activation.places.get(frame.f_lasti)
        if location is None:
            location = activation.places[frame.f_lasti] = location_of(frame)
        return location

    def sites(self, frame: FrameType | None) -> Sites:
        """Return the result of `calls_from` as a tuple."""
        activation = None if frame is None else self._activation(frame)
        if frame is None or activation is None:
            return tuple(calls_from(frame))
        return (frame.f_code, frame.f_lasti), *activation.callers

    def forget(self) -> None:
        """Release the frames."""
        self._frames.clear()
        self._activations.clear()

    def _activation(self, frame: FrameType) -> _Activation | None:
        """Return the activation of a frame; None if a caller can be suspended (generators)."""
        if self._frames and self._frames[-1] is frame:
            return self._activations[-1]
        entered: list[FrameType] = []
        frames = self._frames
        caller: FrameType | None = frame
        depth = 0
        while caller is not None:
            depth = len(frames)
            while depth and frames[depth - 1] is not caller:
                depth -= 1
            if depth or is_internal(caller.f_code):
                break
            if caller.f_code.co_flags & _SUSPENDS:
                return None
            entered.append(caller)
            caller = caller.f_back
        del frames[depth:], self._activations[depth:]
        caller = None
        for callee in reversed(entered):
            code = callee.f_code
            if frames:
                caller, around = frames[-1], self._activations[-1]
                offset = caller.f_lasti
            else:
                around, offset = self._outermost, -1
            activation = around.calls.get((id(code), offset))
            if activation is None:
                callers = () if caller is None else ((caller.f_code, offset), *around.callers)
                activation = around.calls[id(code), offset] = _Activation(callers)
            frames.append(callee)
            self._activations.append(activation)
        return self._activations[-1]


def location_at(code: CodeType, offset: int) -> LocationAttr:
    """Return the location of the expression that the bytecode instruction at `offset` evaluates."""
    return _known(code).location(offset)


def evaluated(code: CodeType, offset: int) -> ast.AST | None:
    """Return the syntax node that the bytecode instruction at `offset` evaluates, if known."""
    place = _known(code).positions.get(offset, (None,))
    found = [] if None in place else nodes_of(code).get(cast(tuple[int, ...], place), [])
    # A statement of one expression has the same position as the expression.
    return next((node for node in found if not isinstance(node, ast.Expr)), None)


def value_of(node: ast.expr, frame: FrameType) -> Any:
    """Return the function that an expression names, without executing user code."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if not isinstance(node, ast.Attribute):
        return None
    owner = value_of(node.value, frame)
    if not isinstance(owner, ModuleType):
        owner = cast(type[Any], type(owner))
        return inspect.getattr_static(owner, node.attr, None)
    return vars(owner).get(node.attr)


@lru_cache(maxsize=64)
def nodes_of(code: CodeType) -> dict[tuple[int, ...], list[ast.AST]]:
    """Return the syntax nodes in a function's source, by their position.

    The position is (first line, last line, first column, last column).
    """
    try:
        module = ast.parse(text_around(code))
    except SyntaxError:
        return {}
    found: dict[tuple[int, ...], list[ast.AST]] = {}
    for node in ast.walk(module):
        if isinstance(node, (ast.expr, ast.stmt)):
            place = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
            found.setdefault(cast(tuple[int, ...], place), []).append(node)
    return found


def enclosing(code: CodeType, node: ast.AST) -> list[ast.AST]:
    """Return the expressions and statements around a node of `evaluated`, the innermost first."""
    known = [each for nodes in nodes_of(code).values() for each in nodes]
    around = (each for each in known if any(part is node for part in ast.walk(each)))
    return [each for each in reversed(list(around)) if each is not node]


def span_of(file: str, node: ast.expr | ast.stmt | ast.keyword) -> Span:
    """Return the span of a syntax node in a file."""
    last = node.end_lineno or node.lineno
    start = Position(file, node.lineno, column_in_line(file, node.lineno, node.col_offset))
    return Span(start, last, column_in_line(file, last, node.end_col_offset or 0))


def span_at(code: CodeType, offset: int) -> Span | None:
    """Return the span of the expression that the bytecode instruction at `offset` evaluates."""
    place = _known(code).positions.get(offset, (None,))
    file = source_of_code(code)
    if None in place or not source_line(file, place[0] or 0):
        return None
    line, last, column, end = cast(tuple[int, ...], place)
    start = Position(file, line, column_in_line(file, line, column))
    return Span(start, last, column_in_line(file, last, end))


def column_in_line(file: str, line: int, offset: int) -> int:
    """Return the column, counted from 1, of a byte in a line of source."""
    text = source_line(file, line).encode()
    return len(text[:offset].decode(errors="replace")) + 1 if text else offset + 1


def definition_of(code: CodeType) -> Position:
    """Return the position of a function's name in its definition, below its decorators."""
    file = source_of_code(code)
    named = re.compile(rf"\s*(?:async\s+)?def\s+(?={re.escape(code.co_name)}\b)")
    for line, text in enumerate(source_lines(file)[code.co_firstlineno - 1 :], code.co_firstlineno):
        match = named.match(text)
        if match is not None:
            return Position(file, line, match.end() + 1)
    return Position(file, code.co_firstlineno, 1)


def location_of_definition(function: Any) -> LocationAttr:
    """Return the location of a function's definition; unknown for other callables."""
    code = getattr(function, "__code__", None)
    if code is None:
        return UNKNOWN_LOC
    place = definition_of(code)
    return FileLineColLoc(StringAttr(place.file), IntAttr(place.line), IntAttr(place.column))


def position_of(frame: FrameType) -> tuple[int, ...]:
    """Return first line, last line, first and last column of a frame's current expression."""
    place = _known(frame.f_code).positions.get(frame.f_lasti, (None,))
    return () if None in place else cast(tuple[int, ...], place)


def while_test(frame: FrameType) -> ast.While | None:
    """Return the `while` statement whose whole test a frame evaluates; requires the source."""
    operation = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    if operation != "TO_BOOL" and "JUMP" not in operation:
        return None  # evaluated by a call: bool(x), any(…)
    nodes, plain = nodes_of(frame.f_code), (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
    # The jump has the position of the statement in Python 3.11, of its test in later versions.
    here = nodes.get(position_of(frame), [])
    loops = (node for found in nodes.values() for node in found if isinstance(node, ast.While))
    at = (loop for loop in loops if loop in here or loop.test in here)
    return next((loop for loop in at if isinstance(loop.test, plain)), None)


def has_break(loop: ast.While) -> bool:
    """Return True when a `break` in the body of a loop leaves this loop."""
    pending: list[ast.AST] = list(loop.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, (ast.For, ast.While)):
            pending += node.orelse  # a break in the body of an inner loop leaves the inner loop
        elif not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)
    return False


_STORES = ("STORE_FAST", "STORE_NAME", "STORE_DEREF", "STORE_GLOBAL")
_LOADS = ("LOAD_FAST", "LOAD_NAME", "LOAD_DEREF", "LOAD_GLOBAL")
_NOT_IN_A_NAME = re.compile(r"[^\w$.-]", re.ASCII)
_NUMBER_AT_END = re.compile(r"_(\d+)$")


def assigned_name(frame: FrameType | None) -> str | None:
    """Return the variable or attribute that the frame's current call is assigned to, if any."""
    if frame is None:
        return None
    known, site = _known(frame.f_code), frame.f_lasti
    if site in known.names:
        return known.names[site]
    name: str | None = None
    loaded = False
    offsets, steps = known.instructions
    # Offsets up to f_lasti belong to the call, some Python versions count its caches.
    for number in range(bisect_right(offsets, frame.f_lasti), len(steps)):
        step = steps[number]
        if step.opname == "COPY":  # of `a = b = call()`
            continue
        if step.opname.startswith(_LOADS) and not loaded:  # `a` of `a.b = call()`
            loaded = True
            continue
        if step.opname.startswith("STORE_ATTR" if loaded else _STORES):
            # A fused instruction (Python 3.13) names two variables, the stored one first.
            target: Any = step.argval
            fused = isinstance(target, tuple)
            name = ssa_name(str(cast(Any, target)[0] if fused else target))
        break
    known.names[site] = name
    return name


def ssa_name(name: str) -> str | None:
    """Return `name` as an SSA name: characters that IR text does not allow become underscores.

    xDSL uses `_` and digits at the end for its own numbering, so `x_1` becomes `x.1`.
    """
    cleaned = _NUMBER_AT_END.sub(r".\1", _NOT_IN_A_NAME.sub("_", name))
    if not cleaned:
        return None
    return f"_{cleaned}" if cleaned[0].isdigit() else cleaned
