"""Where in the author's code a call comes from: source locations and variable names.

Both are asked once per instruction, so everything is cached per call site: a code object and
the offset of an instruction in it. Code objects are told apart by identity: equal ones may stand
in different files.
"""

from __future__ import annotations

import ast
import dis
import re
import sys
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    CallSiteLoc,
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    StringAttr,
)

from nkijit.passes.diagnostics.source_text import source_line, source_of_code, text_around

_PACKAGE = str(Path(__file__).parent)
# The alias package only forwards; its frames, if any, are not the author's either.
_Site = tuple[int, int]
"""`id` of a code object, and the offset of an instruction in it."""

_codes: dict[int, CodeType] = {}
"""Code objects by their `id`: as long as they are kept, no other one has it."""
_internal: dict[int, bool] = {}
_names: dict[_Site, str | None] = {}
_locations: dict[_Site, LocationAttr] = {}
_chains: dict[tuple[_Site, ...], LocationAttr] = {}


def is_internal(code: CodeType) -> bool:
    """Whether code is nkijit's own."""
    known = _internal.get(id(code))
    if known is None:
        known = _internal[_key(code)] = code.co_filename.startswith(_PACKAGE)
    return known


def _key(code: CodeType) -> int:
    return id(_codes.setdefault(id(code), code))


def author_frame() -> FrameType | None:
    """The innermost frame that is not nkijit's own."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and is_internal(frame.f_code):
        frame = frame.f_back
    return frame


def location_of(frame: FrameType | None) -> LocationAttr:
    """The location of a frame's current call, with the chain of calls inside the kernel.

    The chain ends where nkijit called the kernel, which is the first frame of its own.
    """
    if frame is None:
        return UNKNOWN_LOC
    code = frame.f_code
    caller = frame.f_back
    if caller is None or is_internal(caller.f_code):
        found = _locations.get((id(code), frame.f_lasti))
        return _site_location((_key(code), frame.f_lasti)) if found is None else found
    sites = [(_key(code), frame.f_lasti)]
    while caller is not None and not is_internal(caller.f_code):
        sites.append((id(caller.f_code), caller.f_lasti))
        caller = caller.f_back
    key = tuple(sites)
    chain = _chains.get(key)
    if chain is None:
        chain = _site_location(sites[-1])
        for site in reversed(sites[:-1]):
            chain = CallSiteLoc(_site_location(site), chain)
        _chains[key] = chain
    return chain


def _site_location(site: _Site) -> LocationAttr:
    location = _locations.get(site)
    if location is None:
        code, offset = _codes[site[0]], site[1]
        file = source_of_code(code)
        line, column = code.co_firstlineno, 1
        # One entry for each two bytes of bytecode.
        for index, (start, _, start_column, _) in enumerate(code.co_positions()):
            if index * 2 == offset:
                line = line if start is None else start
                column = column_in_line(file, line, start_column or 0)
                break
        location = FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))
        _locations[site] = location
    return location


def column_in_line(file: str, line: int, offset: int) -> int:
    """The column, counted from 1, at which a byte of a line of source stands."""
    text = source_line(file, line).encode()
    return len(text[:offset].decode(errors="replace")) + 1 if text else offset + 1


def position_of(frame: FrameType) -> tuple[int, ...]:
    """First line, last line, first and last column of what a frame is evaluating."""
    for index, place in enumerate(frame.f_code.co_positions()):
        if index * 2 == frame.f_lasti and None not in place:
            return cast(tuple[int, ...], place)
    return ()


def while_test(frame: FrameType) -> ast.While | None:
    """The `while` whose whole test a frame evaluates, if it does; its source is needed."""
    operation = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    if operation != "TO_BOOL" and "JUMP" not in operation:
        return None  # asked by a call: bool(x), any(…)
    return _while_tests(frame.f_code).get(position_of(frame))


@lru_cache(maxsize=256)
def _while_tests(code: CodeType) -> dict[tuple[int, ...], ast.While]:
    try:
        module = ast.parse(text_around(code))
    except SyntaxError:
        return {}
    found: dict[tuple[int, ...], ast.While] = {}
    for node in ast.walk(module):
        plain = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
        if isinstance(node, ast.While) and isinstance(node.test, plain):
            # Python 3.11 gives the jump the place of the statement, later ones that of its test.
            for n in (node, node.test):
                end = (n.end_lineno or n.lineno, n.col_offset, n.end_col_offset or 0)
                found[n.lineno, *end] = node
    return found


def has_break(loop: ast.While) -> bool:
    """True when a `break` in the body of a loop leaves this loop."""
    pending: list[ast.AST] = list(loop.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, (ast.For, ast.While)):
            pending += node.orelse  # a break in their bodies leaves them
        elif not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)
    return False


_STORES = ("STORE_FAST", "STORE_NAME", "STORE_DEREF", "STORE_GLOBAL")
_LOADS = ("LOAD_FAST", "LOAD_NAME", "LOAD_DEREF", "LOAD_GLOBAL")
_NOT_IN_A_NAME = re.compile(r"[^\w$.-]", re.ASCII)
_NUMBER_AT_END = re.compile(r"_(\d+)$")


def assigned_name(frame: FrameType | None) -> str | None:
    """The variable or attribute that the frame's current call is assigned to, if any."""
    if frame is None:
        return None
    site = (_key(frame.f_code), frame.f_lasti)
    if site in _names:
        return _names[site]
    name: str | None = None
    loaded = False
    for step in dis.get_instructions(frame.f_code):
        # Offsets up to f_lasti belong to the call, some Python versions count its caches.
        if step.offset <= frame.f_lasti or step.opname == "COPY":  # of `a = b = call()`
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
    _names[site] = name
    return name


def ssa_name(name: str) -> str | None:
    """`name` as an SSA name: characters that the IR's text has not become underscores.

    xDSL takes `_` and digits at the end for its own numbering, so `x_1` becomes `x.1`.
    """
    cleaned = _NUMBER_AT_END.sub(r".\1", _NOT_IN_A_NAME.sub("_", name))
    if not cleaned:
        return None
    return f"_{cleaned}" if cleaned[0].isdigit() else cleaned
