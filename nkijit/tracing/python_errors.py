"""Findings for Python errors that tensors or registers cause, with an alternative for each.

Python's errors only name types. The failed expression also shows the operation and the tensor, so
the finding can recommend the API function that computes it. The expression is parsed only after an
error has ended the trace.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from types import FrameType, FunctionType, ModuleType
from typing import Any, cast

from nkijit.dialects.other_names import SYNONYMS
from nkijit.dialects.rule_texts.operands import PYTHON_ON_TENSOR
from nkijit.dialects.rule_texts.python import UNKNOWN_NAME
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.dialects.spelling import did_you_mean
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.source_text import source_line
from nkijit.releases.table import has_row
from nkijit.tracing.locations import enclosing, span_of
from nkijit.tracing.register_errors import help_for
from nkijit.tracing.registers import VirtualRegister, refuse_value
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracebacks import Raised

BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
    ast.Mod: "mod",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift",
    ast.RShift: "right_shift",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}
"""Maps syntax nodes of Python's binary operators to the nl functions that compute them."""

UNARY: dict[type[ast.AST], str] = {ast.USub: "negative", ast.Invert: "invert"}
"""Maps syntax nodes of Python's unary operators to the nl functions that compute them."""

REDUCTIONS = ("sum", "mean", "max", "min", "prod", "var", "all")
"""Functions of nl that take an axis."""

MEMBERS: dict[str, tuple[str, str]] = {
    "T": (
        "nl.transpose({t}) gives a new tile; {t}.permute(dims) is a view with its free dimensions "
        "in another order",
        "nisa.nc_transpose(dst, {t}) writes a tile that you have",
    ),
    "astype": (
        "write nl.copy({t}, dtype=...)",
        "nisa.tensor_copy(dst, {t}) writes a tile of another type that you have",
    ),
    "broadcast_to": ("write nl.broadcast_to({t}, shape=...)", ""),
    "clamp": ("write nl.minimum(nl.maximum({t}, low), high)", ""),
    "concatenate": (
        "allocate one tile for all parts with nl.ndarray, and write each part into its slice, e.g. "
        "whole[:, 0:{t}.shape[1]] = {t}",
        "nisa.tensor_copy(dst, {t}) writes a slice as well",
    ),
    "expand_dims": ("write {t}.expand_dim(dim)", ""),
    "fill": ("write {t}[...] = value", "nisa.memset({t}, value) does the same"),
    "flatten": (
        "write {t}.reshape(shape) or {t}.flatten_dims(first, last); on chip dim 0 stays",
        "",
    ),
    "item": (
        "return the tensor and look at the array, or print it with nl.device_print",
        "nisa.register_load(register, {t}) loads one element for loops and indices on the device",
    ),
    "numpy": ("return the tensor and look at the array, or print it with nl.device_print", ""),
    "squeeze": ("write {t}.squeeze_dim(dim)", ""),
}
"""Alternatives to members of NumPy, PyTorch or JAX arrays that tiles lack, by the member's name.

`{t}` is the tile. The first text is valid for both APIs. The second text recommends an instruction
that writes to a tile, which only the current API has; the second text may be empty.
"""

_SAME_ADVICE_AS = {
    "transpose": "T",
    "mT": "T",
    "t": "T",
    "swapaxes": "T",
    "to": "astype",
    "cast": "astype",
    "type": "astype",
    "float": "astype",
    "half": "astype",
    "bfloat16": "astype",
    "broadcast": "broadcast_to",
    "expand": "broadcast_to",
    "repeat": "broadcast_to",
    "tile": "broadcast_to",
    "clip": "clamp",
    "cat": "concatenate",
    "concat": "concatenate",
    "hstack": "concatenate",
    "stack": "concatenate",
    "vstack": "concatenate",
    "unsqueeze": "expand_dims",
    "newaxis": "expand_dims",
    "fill_": "fill",
    "zero_": "fill",
    "ravel": "flatten",
    "tolist": "item",
    "cpu": "numpy",
    "detach": "numpy",
}
"""Further members, each mapped to the member of `MEMBERS` with the same advice."""

OF_VALUES = ("float", "int", "bool", "complex", "round", "asarray", "array", "index")
"""Names of Python and NumPy functions that need the values of a tensor."""


def finding_of(
    error: BaseException, raised: Raised, functions: Container[str], *, writes: bool = True
) -> Diagnostic | None:
    """Return the finding for one of Python's errors, if a tensor or a register is its cause.

    Args:
        error: the exception that ended a trace.
        raised: the kernel's lines that led to the exception.
        functions: the names in nl, in the API that the kernel is written for.
        writes: whether the instructions of this API write to a destination tile (current API).
    """
    is_of_register = _refuses_value(raised)
    if raised.by_nkijit and not is_of_register:
        return None
    if not isinstance(error, (TypeError, AttributeError)):
        return None
    node = _iterable_of(raised.node)
    instead = _Instead(functions, writes)
    if isinstance(error, AttributeError):
        owner, name = error.obj, error.name or ""
        if not _is_ours(owner) or not reads_attribute(node, name):
            return None
        texts = _of_member(owner, name, node, instead)
    else:
        reader = _Reader(node, raised.frame, instead)
        if not is_of_register and not reader.is_reason(str(error)):
            return None
        texts = reader.read(str(error))
    where = raised.where
    return Diagnostic(
        texts.rule,
        texts.message,
        texts.subject,
        where,
        notes=() if is_of_register else (f"Python: {error}",),
        help=texts.help,
        marked=(span_of(where[0].file, node),) if isinstance(node, (ast.expr, ast.stmt)) else (),
    )


def _refuses_value(raised: Raised) -> bool:
    """Return whether a register has refused to give its value."""
    return bool(raised.inner) and raised.inner[-1].tb_frame.f_code is refuse_value.__code__


def _is_ours(value: object) -> bool:
    """Return whether a value is a tensor or a register, of either API."""
    return isinstance(value, VirtualRegister) or _is_tensor(value)


def _is_tensor(value: object) -> bool:
    # A classic tensor is no view, but has one.
    return isinstance(value, NkiTensor) or isinstance(
        getattr(type(value), "whole", None), FunctionType
    )


def _is_own(module: ModuleType) -> bool:
    return module.__name__.startswith("nki")


_NAMES = ("NkiTensor", "VirtualRegister", "NkiScalar", "'Tile'", "'Selected'")
_OF_A_CALL = ("positional argument", "keyword argument", "multiple values")


def _iterable_of(node: ast.AST | None) -> ast.AST | None:
    """Return the iterable if a node is a loop, else the node.

    An error in the iterable has the position of the whole loop.
    """
    if isinstance(node, ast.For):
        return node.iter
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return node.generators[0].iter
    return node


def reads_attribute(node: ast.AST | None, name: str) -> bool:
    """Return whether the user's expression reads the attribute, not a library that it calls."""
    function = node.func if isinstance(node, ast.Call) else node
    return isinstance(function, ast.Attribute) and function.attr == name


def _operands(node: ast.AST | None) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.AugAssign):
        return [node.target, node.value]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Call):
        function = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        passed = [*node.args, *(keyword.value for keyword in node.keywords)]
        items = [x for p in passed if isinstance(p, (ast.List, ast.Tuple)) for x in p.elts]
        return [*passed, *items, function]
    if isinstance(node, ast.Subscript):
        return [node, node.slice]
    return [node] if isinstance(node, ast.expr) else []


def _root(node: ast.AST) -> str:
    """Return the name of the variable that an expression indexes; "" for other expressions.

    Example: `t` for `t[0, 0]` and for `t`.
    """
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


# ------------------------------------------------------------------ alternatives


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of a finding: the operation on a tensor, and the alternative."""

    subject: str
    message: str
    help: str = ""
    rule: RuleText = PYTHON_ON_TENSOR


_UNKNOWN = "what it holds is known on the device only"
_ITERATING = ("sorted", "list", "tuple", "iter", "zip", "enumerate", "any", "set", "reversed")
_TO_LOOK = (
    "compute with functions of nl and nisa; to see the values, return the tensor or print it with "
    "nl.device_print"
)


_STEPS = (
    "run a fixed number of steps: for step in range(8); or compute the test into an int32 tile of "
    "one element, load it before the loop and at the end of its body with "
    "nisa.register_load(register, tile), and loop with while register"
)
"""The advice for a `while` that tests the elements of a tile."""


@dataclass(frozen=True, slots=True)
class _Instead:
    """The alternatives to Python operations in one of the two APIs."""

    functions: Container[str]
    writes: bool

    def function(self, name: str) -> str:
        """Return the nl function that replaces a function of Python, NumPy, PyTorch or JAX.

        Empty if there is none.
        """
        own = SYNONYMS.get(name, name)
        return own if own in self.functions and own not in _NOT_COMPUTING else ""

    def of_member(self, name: str, t: str) -> str | None:
        """Return the advice about an array member that tensors lack; None if there is none.

        `t` is the source text of the tile.
        """
        texts = MEMBERS.get(_SAME_ADVICE_AS.get(name, name))
        if texts is None:
            return None
        return "; ".join(text.format(t=t) for text in texts[: 1 + self.writes] if text)


class _Reader:
    """Analyses the expression that Python could not evaluate."""

    def __init__(self, node: ast.AST | None, frame: FrameType, instead: _Instead):
        self._node = node
        self._frame = frame
        self._instead = instead
        self._culprit: Any = None
        """The first operand that is a tensor or a register."""
        self._shown = "t"
        """The source text of `_culprit`."""
        for operand in _operands(node):
            value = self._value(_root(operand))
            if _is_ours(value):
                self._culprit, self._shown = value, _text(operand)
                break

    def _value(self, name: str) -> Any:
        return self._frame.f_locals.get(name, self._frame.f_globals.get(name))

    def is_reason(self, error: str) -> bool:
        """Return whether Python's error is about a tensor or a register."""
        node = self._node
        if isinstance(node, ast.Call):
            function = node.func
            if self._takes_a_tuple(function):
                return "positional argument" in error
            if any(part in error for part in _OF_A_CALL):
                return False  # the arguments do not match the function's parameters
            module = self._module_of(function)
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if module is not None and (self._culprit is not None or self._gives_tensor(given)):
                return not _is_own(module)
        elif self._culprit is not None:
            return True
        return any(name in error for name in _NAMES)

    def _module_of(self, function: ast.expr) -> ModuleType | None:
        """Return the module that a called function is looked up in, if it is one."""
        while isinstance(function, ast.Attribute):
            function = function.value
        module = self._value(_root(function))
        return module if isinstance(module, ModuleType) else None

    def _gives_tensor(self, expressions: Iterable[ast.expr]) -> bool:
        """Return whether expressions compute with tensors: `nl.load(x)`, `t + 1`."""
        for part in (part for each in expressions for part in ast.walk(each)):
            if isinstance(part, ast.Name) and _is_ours(self._value(part.id)):
                return True
            module = self._module_of(part.func) if isinstance(part, ast.Call) else None
            if module is not None and _is_own(module):
                return True
        return False

    def _takes_a_tuple(self, function: ast.expr) -> bool:
        if not isinstance(function, ast.Attribute) or function.attr not in _OF_TUPLES:
            return False
        return _is_tensor(self._value(_root(function.value)))

    def read(self, error: str) -> _Texts:
        """Return the finding's texts for the expression; `error` is the text of Python's error."""
        node = self._node
        if isinstance(self._culprit, VirtualRegister) or (
            self._culprit is None
            and any(name in error for name in ("VirtualRegister", "NkiScalar", "a register"))
        ):
            return self._of_register(error)
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.AugAssign)):
            message = f"{_UNKNOWN}, so Python's {_symbol(node)} does not compute with it"
            return self._texts(message, self._computed(node))
        if isinstance(node, ast.Compare):
            return self._texts(f"{_UNKNOWN}, so Python cannot compare it", self._compared(node))
        if "not callable" in error:
            return self._texts("it is no function", f"parts are taken with {self._shown}[...]")
        if isinstance(node, ast.Call):
            return self._call_texts(node)
        if "not iterable" in error:
            return self._iteration_texts()
        if isinstance(node, ast.Subscript):
            help = "index Python's lists and tuples with numbers that are known while tracing"
            return self._texts(f"{_UNKNOWN}, so it is no index of a Python object", help)
        return self._texts(_UNKNOWN, _TO_LOOK)

    def _texts(self, message: str, help: str) -> _Texts:
        subject = "a tensor" if self._culprit is None else f"tensor '{self._culprit.name}'"
        return _Texts(subject, message, help)

    def _of_register(self, error: str) -> _Texts:
        register = self._culprit
        name = None if register is None else register.ssa.name_hint
        use = error.partition(" so Python cannot ")[2].partition(";")[0] or "compute with it"
        return _Texts(
            f"register '{name}'" if name else "a register",
            f"{_UNKNOWN}, so Python cannot {use}",
            help_for(register, self._node, self._frame),
        )

    def _iteration_texts(self) -> _Texts:
        t = self._shown
        return self._texts(
            "Python cannot go through its elements",
            "instructions work on all elements at once; to take rows one by one, write "
            f"for i in range({t}.shape[0]): row = {t}[i:i+1]",
        )

    def _computed(self, node: ast.BinOp | ast.UnaryOp | ast.AugAssign) -> str:
        """Return the source of a call that computes the same value as an operator."""
        if isinstance(node, ast.UnaryOp):
            return self._write(self._call(node)) if type(node.op) in UNARY else ""
        is_update = isinstance(node, ast.AugAssign)
        one = _text(node.target if is_update else node.left)
        right = node.value if is_update else node.right
        two = _text(right)
        if isinstance(node.op, ast.FloorDiv) and is_update:
            return f"write {one} = {_floor_divided(one, two)}"
        if not is_update:
            return self._write(self._call(node))
        function = BINARY[type(node.op)]
        if function in _NO_WORDS:
            return f"write {one} = nl.{function}({one}, {two})"
        if isinstance(right, ast.Constant):
            return f"write nisa.tensor_scalar({one}, {one}, nl.{function}, {two})"
        return f"write nisa.tensor_tensor({one}, {one}, {two}, op=nl.{function})"

    def _compared(self, node: ast.Compare) -> str:
        first, second = _text(node.left), _text(node.comparators[0])
        if isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return f"nl.equal({second}, {first}) has 1 for each element that is equal, else 0"
        function = BINARY.get(type(node.ops[0]))
        if function is None or len(node.ops) > 1:
            return ""
        around = enclosing(self._frame.f_code, node)
        if any(isinstance(n, ast.While) and n.test in (node, *around) for n in around):
            return _STEPS
        return (
            f"nl.{function}({first}, {second}) has 1 or 0 for each element, and nl.where chooses "
            "by it; if and while can decide on shapes, dtypes and numbers"
        )

    def _call_texts(self, node: ast.Call) -> _Texts:
        callee = _text(node.func)
        name = callee.rpartition(".")[2]
        first, t = [_text(argument) for argument in node.args], self._shown
        is_builtin = "." not in callee
        message = f"{_UNKNOWN}, so {callee} cannot compute with it"
        if is_builtin and name in ("max", "min") and len(first) == 2:
            return self._texts(message, self._write(f"nl.{name}imum({', '.join(first)})"))
        if is_builtin and name in _ITERATING:
            return self._iteration_texts()
        if is_builtin and name == "range":
            help = "load it into a register (nisa.register_load) and loop with nl.dynamic_range"
            return self._texts(f"{_UNKNOWN}, so it cannot say how often a loop runs", help)
        if name in OF_VALUES:
            return self._texts(f"{_UNKNOWN}, so {callee} has nothing to convert", _TO_LOOK)
        if self._takes_a_tuple(node.func):
            help = self._write(f"{callee}(({', '.join(first)}))")
            return self._texts(f"{name} takes one tuple of ints", help)
        function = self._instead.function(name)
        if function:
            keywords = [f"{k.arg}={_text(k.value)}" for k in node.keywords if k.arg]
            axis = ["axis=1"] if function in REDUCTIONS and len(first) == 1 else []
            arguments = [*first, *keywords, *(axis if not keywords else [])]
            return self._texts(message, self._write(f"nl.{function}({', '.join(arguments)})"))
        return self._texts(message, self._instead.of_member(name, t) or _TO_LOOK)

    def _call(self, node: ast.expr) -> str:
        """Return the source of an expression with calls in place of operators on tensors."""
        if not any(
            isinstance(part, ast.Name) and _is_ours(self._value(part.id)) for part in ast.walk(node)
        ):
            return _text(node)
        if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
            return f"nl.{UNARY[type(node.op)]}({self._call(node.operand)})"
        if not isinstance(node, ast.BinOp):
            return _text(node)
        one, two = self._call(node.left), self._call(node.right)
        if isinstance(node.op, ast.FloorDiv):
            return _floor_divided(one, two)
        return f"nl.{BINARY[type(node.op)]}({one}, {two})"

    def _write(self, call: str) -> str:
        """Return the advice to write the user's line with a call in place of the expression.

        If the expression is an operand of another operator, a call replaces that operator too.
        """
        node = self._node
        if isinstance(node, ast.expr) and node.lineno == node.end_lineno:
            text = source_line(self._frame.f_code.co_filename, node.lineno)
            data = text.encode()
            start, end = node.col_offset, node.end_col_offset or 0
            indent = len(data) - len(data.lstrip())
            around = _operation_around(text.strip(), start - indent, end - indent)
            if around is not None:
                call = self._call(around)
                start, end = around.col_offset + indent, (around.end_col_offset or 0) + indent
            before, after = data[:start].decode(), data[end:].decode()
            return f"write {f'{before}{call}{after}'.partition('#')[0].strip()}"
        return f"write {call}"


_NO_WORDS = ("matmul", "mod")
"""nl functions that are not operators, so no instruction takes them as an argument."""
_NOT_COMPUTING = ("range", "load", "store", "tiles", "hbm", "sbuf", "psum", "float16", "float32")
"""nl names that also exist in other libraries, but that do not compute values of tiles."""
_OF_TUPLES = ("permute", "reshape", "broadcast_to")


def _of_member(owner: Any, name: str, node: ast.AST | None, instead: _Instead) -> _Texts:
    """Return the texts for a name that a tensor or a register does not have."""
    members = _public_members(owner)
    message = f"it has no '{name}'"
    if isinstance(owner, VirtualRegister):
        subject = f"register '{owner.ssa.name_hint}'"
        help = f"a register has {', '.join(members)}" if members else ""
        return _Texts(subject, message + did_you_mean(name, members), help, UNKNOWN_NAME)
    call = node if isinstance(node, ast.Call) else None
    expression = node if call is None else call.func
    t = _text(expression.value) if isinstance(expression, ast.Attribute) else "t"
    subject = f"tensor '{owner.name}'"
    help = instead.of_member(name, t)
    if help is not None:
        return _Texts(subject, message, help)
    function = instead.function(name)
    if function:
        axis = ", axis=1" if function in REDUCTIONS else ""
        return _Texts(subject, message, f"write nl.{function}({t}{axis})")
    help = f"a tensor has {', '.join(members)}; what computes are functions of nl and nisa"
    return _Texts(subject, message + did_you_mean(name, members), help, UNKNOWN_NAME)


def _public_members(owner: Any) -> Sequence[str]:
    """Return the documented members of a tensor or a register, without internal members."""
    if isinstance(owner, NkiTensor):
        names = dir(cast(Any, type(owner)))
        return [each for each in names if has_row(f"nki.language.NkiTensor.{each}")]
    return getattr(cast(Any, type(owner)), "nki_members", ())


def _symbol(node: ast.BinOp | ast.UnaryOp | ast.AugAssign) -> str:
    blank = ast.Name("_")
    if isinstance(node, ast.UnaryOp):
        return ast.unparse(ast.UnaryOp(node.op, blank)).replace("_", "").strip()
    symbol = ast.unparse(ast.BinOp(blank, node.op, blank)).replace("_", "").strip()
    return f"{symbol}=" if isinstance(node, ast.AugAssign) else symbol


def _floor_divided(one: str, two: str) -> str:
    """Return the source of calls that compute `one // two`."""
    multiple = f"nl.subtract({one}, nl.mod({one}, {two}))"
    return f"nl.divide({multiple}, {two}, dtype=nl.int32)"


def _operation_around(line: str, start: int, end: int) -> ast.expr | None:
    """Return the outermost operation that an expression is an operand of, directly or not.

    None if there is none, or if the line is not a statement.

    Args:
        line: the text of the line.
        start: the byte of the line at which the expression starts.
        end: the byte after the last byte of the expression.
    """
    try:
        tree = ast.parse(line)
    except SyntaxError:
        return None
    for node in ast.walk(tree):  # the outermost first
        if not isinstance(node, (ast.BinOp, ast.UnaryOp)):
            continue
        operands = _operands(node)
        for operand in operands:
            if (operand.col_offset, operand.end_col_offset) == (start, end):
                return node
            if isinstance(operand, (ast.BinOp, ast.UnaryOp)):
                operands += _operands(operand)
    return None


def _text(node: ast.AST) -> str:
    return ast.unparse(node)
