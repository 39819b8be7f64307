"""Help for Python expressions that need the value of a register, which only the device knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from math import prod
from types import FrameType
from typing import Any

from nkijit.tracing.locations import enclosing
from nkijit.tracing.registers import VirtualRegister, constant_bounds
from nkijit.tracing.tensor import NkiTensor

_HELP = (
    "nl.fori_loop and `while register:` loop by it, and it is an index of tensors; "
    "nisa.scalar_load gives a scalar, which takes +, - and *"
)


def help_for(register: Any, node: ast.AST | None, frame: FrameType) -> str:
    """Return the help for an expression that Python cannot evaluate.

    Args:
        register: the register in the expression, if it is known.
        node: the expression.
        frame: the frame with the variables of the expression.
    """
    bounds = constant_bounds(register) if isinstance(register, VirtualRegister) else None
    of_list = _of_list(node, frame)
    if bounds is None or node is None:
        return of_list or _HELP
    numbers = f"loop with {_range(*bounds)}, whose numbers are known while tracing"
    if of_list:
        return f"{numbers}; or {of_list}"
    if isinstance(node, ast.Compare) and _is_first(node, bounds[0]):
        return f"move the work of the first iteration before the loop; or {numbers}"
    offset = _offset(register, node, frame, bounds)
    return f"{offset or numbers}; {f'or {numbers}' if offset else _HELP}"


def _of_list(node: ast.AST | None, frame: FrameType) -> str:
    """Return the alternative to a Python list that a register indexes; "" for other expressions."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return ""
    name = node.value.id
    if not isinstance(_variable(name, frame), (list, tuple)):
        return ""
    index = ast.unparse(node.slice)
    return (
        f"replace the list '{name}' by one tile with a free dimension for its items, and write "
        f"to and read from {name}[:, {index}]"
    )


def _range(start: int, stop: int, step: int) -> str:
    shown = [start, stop, step] if step != 1 else [start, stop] if start else [stop]
    return f"range({', '.join(map(str, shown))})"


def _is_first(node: ast.Compare, start: int) -> bool:
    """Whether a comparison is true in the first iteration only."""
    values = [getattr(each, "value", None) for each in (node.left, *node.comparators)]
    return [type(op) for op in node.ops] == [ast.Eq] and start in values


# ------------------------------------------------------------------ offsets


def _offset(
    register: VirtualRegister, node: ast.AST, frame: FrameType, bounds: Sequence[int]
) -> str:
    """Return the access pattern for an index `i * size`; "" for other expressions."""
    size = _factor(node, frame)
    around = enclosing(frame.f_code, node)
    inside = next((n for n in around if isinstance(n, ast.Subscript)), None)
    if size is None or inside is None or inside.value in around:
        return ""
    name = register.ssa.name_hint
    loop = ", ".join(str(bound * size) for bound in bounds)
    pattern = _pattern(inside, node, size, frame)
    dim = _dim(inside, node)
    which = f", indirect_dim={dim}" if dim else ""
    view = f"{ast.unparse(inside.value)}.ap({pattern}, scalar_offset={name}{which})"
    return f"write for {name} in nl.dynamic_range({loop}) and {view}"


def _dim(index: ast.Subscript, node: ast.AST) -> int:
    """Return the dimension that a part of an index is about."""
    items = index.slice.elts if isinstance(index.slice, ast.Tuple) else [index.slice]
    return next(n for n, item in enumerate(items) if any(part is node for part in ast.walk(item)))


def _factor(node: ast.AST, frame: FrameType) -> int | None:
    """Return the number by which a product multiplies a register."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    return next((n for n in _integers((node.left, node.right), frame) if n > 0), None)


def _integers(nodes: Sequence[ast.expr], frame: FrameType) -> Iterator[int]:
    for node in nodes:
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(node, ast.Name):
            value = _variable(node.id, frame)
        if isinstance(value, int):
            yield value


def _variable(name: str, frame: FrameType) -> Any:
    return frame.f_locals.get(name, frame.f_globals.get(name))


def _pattern(index: ast.Subscript, node: ast.AST, size: int, frame: FrameType) -> str:
    """Return the access pattern of `size` rows of a whole tensor; "pattern" for other indices."""
    tensor = _variable(index.value.id, frame) if isinstance(index.value, ast.Name) else None
    if not isinstance(tensor, NkiTensor) or tensor.shape != tensor.storage.shape:
        return "pattern"
    rows = index.slice
    if not isinstance(rows, ast.Slice) or rows.lower is not node:
        return "pattern"
    if rows.step is not None or rows.upper is None or not _is_next(rows.upper, node):
        return "pattern"
    shape = (size, *tensor.shape[1:])
    steps = [prod(shape[dim + 1 :]) for dim in range(len(shape))]
    return str([list(pair) for pair in zip(steps, shape, strict=True)])


def _is_next(end: ast.expr, start: ast.AST) -> bool:
    """Whether an expression is `(i + 1) * size` or `i * size + size`, for a start `i * size`."""
    assert isinstance(start, ast.BinOp)
    one, two = ast.unparse(start.left), ast.unparse(start.right)
    ends = (
        f"({one} + 1) * {two}",
        f"{one} * ({two} + 1)",
        f"{one} * {two} + {one}",
        f"{one} * {two} + {two}",
    )
    return ast.unparse(end) in ends
