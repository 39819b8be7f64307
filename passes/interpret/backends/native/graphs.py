"""The element-wise computation of a chain of operators, as a graph from which code is generated.

The functions of the operators (`numerics/operators.py`) are called with `Traced` values instead of
arrays, and each NumPy function that they call becomes a node. So the operators are defined only
once. A function that is not element-wise cannot be traced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from nkijit.passes.interpret.backends.native.ufuncs import LoopError, loop_of


class Node(NamedTuple):
    """A value that is computed for each element."""

    name: str
    """The type of node: one of `LOADS`, 'number', 'literal', 'stored', an operation, or 'call'."""
    type: str
    """The type of the value.

    'f' float32, 'd' float64, 'B' uint8, 'H' uint16, 'I' uint32, 'q' int64, '?' a truth value.
    """
    inputs: tuple[int, ...] = ()
    """The numbers of the nodes that the value is computed from."""
    detail: Any = None
    """Further data, depending on the type of node.

    For loads the operand; for 'number' its index among the arguments; for 'literal' its bits; for
    'stored' the data type; for 'call' the index of the loop among the arguments.
    """


LOADS = ("load", "load_bits", "load_integer")
"""Nodes that read an operand: as float32, as bits, or as a 64-bit integer."""


class UntraceableError(Exception):
    """A function uses an operation that no node represents."""


@dataclass
class Graph:
    """Nodes in the order of computation."""

    nodes: list[Node] = field(default_factory=list[Node])
    loops: list[tuple[np.ufunc, str]] = field(default_factory=list[tuple[np.ufunc, str]])
    """The NumPy inner loops that the graph calls, each as a ufunc and its data types."""

    def add(self, node: Node) -> int:
        """Return the number of a node; the node is added unless an equal node exists."""
        if node in self.nodes:
            return self.nodes.index(node)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def call(self, ufunc: np.ufunc, result: str, inputs: tuple[int, ...]) -> int:
        """Return the node that calls a ufunc's inner loop on `inputs`; `result` is its type."""
        types = "".join(self.nodes[i].type for i in inputs)
        signature = f"{types}->{result}"
        try:
            loop_of(ufunc, signature)
        except LoopError as error:
            raise UntraceableError(str(error)) from None
        if (ufunc, signature) not in self.loops:
            self.loops.append((ufunc, signature))
        place = self.loops.index((ufunc, signature))
        return self.add(Node("call", result, inputs, place))


_INLINE: dict[np.ufunc, str] = {
    np.add: "add",
    np.subtract: "subtract",
    np.multiply: "multiply",
    np.divide: "divide",
    np.negative: "negative",
    np.absolute: "absolute",
    np.square: "square",
    np.sqrt: "sqrt",
    np.reciprocal: "reciprocal",
}
"""The node name for each ufunc of floats with results that IEEE 754 determines."""
_COMPARED: dict[np.ufunc, str] = {
    np.equal: "equal",
    np.not_equal: "not_equal",
    np.greater: "greater",
    np.greater_equal: "greater_equal",
    np.less: "less",
    np.less_equal: "less_equal",
}
_BITS: dict[np.ufunc, str] = {
    np.bitwise_and: "and",
    np.bitwise_or: "or",
    np.bitwise_xor: "xor",
    np.invert: "invert",
    np.left_shift: "left_shift",
    np.right_shift: "right_shift",
}
"""The node name for each ufunc of bit patterns."""
_LOGICAL: dict[np.ufunc, str] = {
    np.logical_and: "and",
    np.logical_or: "or",
    np.logical_xor: "xor",
}
_OF_INTEGERS: dict[np.ufunc, str] = {
    np.add: "add",
    np.subtract: "subtract",
    np.multiply: "multiply",
    np.absolute: "absolute",
    np.maximum: "maximum",
    np.minimum: "minimum",
}
"""The node name for each ufunc of 64-bit integers."""
_SCALARS: dict[str, Any] = {
    "f": np.float32,
    "d": np.float64,
    "B": np.uint8,
    "H": np.uint16,
    "I": np.uint32,
    "q": np.int64,
    "?": np.bool_,
}
_TYPES = {scalar: kind for kind, scalar in _SCALARS.items()}
_CONVERTED = {("f", "d"), ("d", "f"), ("?", "f"), ("?", "I"), ("?", "q")}
"""The supported conversions between node types: (from, to)."""


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """A value that represents the elements of an array; assigning to it changes its node."""

    def __init__(self, graph: Graph, node: int):
        self.graph = graph
        self.node = node

    @property
    def type(self) -> str:
        return self.graph.nodes[self.node].type

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(_SCALARS[self.type])

    def astype(self, dtype: Any, **_: Any) -> Traced:
        return Traced(self.graph, self._converted(_TYPES[np.dtype(dtype).type]))

    def view(self, dtype: Any) -> Traced:
        wanted = _TYPES[np.dtype(dtype).type]
        if wanted == self.type:
            return self
        if {wanted, self.type} != {"f", "I"}:
            raise UntraceableError("a view of another width")
        return _View(self, wanted)

    def __getitem__(self, key: Any) -> Traced:
        raise UntraceableError("a part of an array is looked at")

    def __setitem__(self, key: Any, value: Any) -> None:
        if key is not Ellipsis:
            raise UntraceableError("a part of an array is assigned to")
        self.assign(value)

    def assign(self, value: Any) -> None:
        """Set this value to another value of the same type."""
        other = self.of(value, self.type)
        self.node = Traced(self.graph, other)._converted(self.type)

    def of(self, value: Any, common: str) -> int:
        """Return the node of a traced value or a number; `common` is the type of Python numbers."""
        if isinstance(value, Traced):
            return value.node
        number: Any = value
        kind: Any = number.__class__
        if kind not in (int, float, np.float32, np.float64):
            raise UntraceableError(f"an operand is {number!r}")
        wanted: str = _TYPES.get(kind, "f" if common == "?" else common)
        stored: Any = _SCALARS[wanted](number)
        bits = int(stored.view(f"u{stored.itemsize}"))
        return self.graph.add(Node("literal", wanted, detail=bits))

    def _converted(self, wanted: str) -> int:
        if wanted == self.type:
            return self.node
        if (self.type, wanted) not in _CONVERTED:
            raise UntraceableError(f"{self.type} as {wanted}")
        return self.graph.add(Node("convert", wanted, (self.node,)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", (None,))[0]
        if method != "__call__" or kwargs or ufunc.nout != 1:
            raise UntraceableError(f"{ufunc.__name__}.{method}")
        if len(inputs) > ufunc.nin:
            inputs, out = inputs[:-1], inputs[-1]
        types = {value.type for value in inputs if isinstance(value, Traced)}
        common = "d" if "d" in types else "f" if "f" in types else types.pop()
        nodes = tuple(self.of(value, common) for value in inputs)
        if "d" in types:
            nodes = tuple(Traced(self.graph, node)._converted("d") for node in nodes)
        result = Traced(self.graph, self._apply(ufunc, common, nodes))
        if out is None:
            return result
        out.assign(result)
        return out

    def _apply(self, ufunc: np.ufunc, common: str, nodes: tuple[int, ...]) -> int:
        graph = self.graph
        operand_types = {graph.nodes[node].type for node in nodes}
        if operand_types != {common}:
            raise UntraceableError(f"{ufunc.__name__} of {operand_types}")
        if common in "fd" and ufunc in _INLINE:
            return graph.add(Node(_INLINE[ufunc], common, nodes))
        if common in "fd" and ufunc in _COMPARED:
            return graph.add(Node(_COMPARED[ufunc], "?", nodes))
        if common in "BHI" and ufunc in _BITS:
            return graph.add(Node(_BITS[ufunc], common, nodes))
        if common == "?" and (ufunc in _BITS or ufunc in _LOGICAL):
            return graph.add(Node(_BITS.get(ufunc) or _LOGICAL[ufunc], common, nodes))
        if common == "q":
            return self._of_integers(ufunc, nodes)
        if common == "I" and ufunc is np.negative:
            return graph.add(Node("negative", common, nodes))
        if common == "?" and ufunc is np.not_equal:
            return graph.add(Node("xor", common, nodes))
        if common == "f" and ufunc in (np.maximum, np.minimum) and later_zero_wins():
            return graph.add(Node(ufunc.__name__, common, nodes))
        if common in "fd":
            return graph.call(ufunc, common, nodes)
        raise UntraceableError(f"{ufunc.__name__} of {common}")

    def _of_integers(self, ufunc: np.ufunc, nodes: tuple[int, ...]) -> int:
        graph = self.graph
        if ufunc in _OF_INTEGERS:
            return graph.add(Node(_OF_INTEGERS[ufunc], "q", nodes))
        if ufunc in _COMPARED:
            return graph.add(Node(_COMPARED[ufunc], "?", nodes))
        if ufunc in _LOGICAL:
            zero = self.of(0, "q")
            truths = tuple(graph.add(Node("not_equal", "?", (node, zero))) for node in nodes)
            return graph.add(Node(_LOGICAL[ufunc], "?", truths))
        raise UntraceableError(f"{ufunc.__name__} of integers")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        handler = _FUNCTIONS.get(function)
        if handler is None:
            raise UntraceableError(function.__name__)
        return handler(*args, **kwargs)


def _where(condition: Traced, first: Any, second: Any) -> Traced:
    return _selected(condition, first, second)


def _copyto(into: Traced, value: Any, where: Any = True) -> None:
    into.assign(value if where is True else _selected(where, value, into))


def _clip(values: Traced, low: Any, high: Any) -> Any:
    # NaN is preserved, as in NumPy.
    minimum: Any = np.minimum
    maximum: Any = np.maximum
    return minimum(maximum(values, low), high)


def _selected(condition: Traced, first: Any, second: Any) -> Traced:
    common = first.type if isinstance(first, Traced) else second.type
    graph = condition.graph
    nodes = condition.node, condition.of(first, common), condition.of(second, common)
    if graph.nodes[nodes[1]].type != graph.nodes[nodes[2]].type:
        raise UntraceableError("where of two types")
    return Traced(graph, graph.add(Node("select", common, nodes)))


_FUNCTIONS: dict[Any, Callable[..., Any]] = {np.where: _where, np.copyto: _copyto, np.clip: _clip}


class _View(Traced):
    """The bits of a value in another type; assigning to the view changes the value."""

    def __init__(self, of: Traced, wanted: str):
        super().__init__(of.graph, of.graph.add(Node("bits", wanted, (of.node,))))
        self._viewed = of

    def assign(self, value: Any) -> None:
        super().assign(value)
        self._viewed.node = self.graph.add(Node("bits", self._viewed.type, (self.node,)))


@cache
def later_zero_wins() -> bool:
    """True if `np.maximum` and `np.minimum` of +0.0 and -0.0 return their second argument.

    NumPy's documentation does not specify this, and the result depends on the CPU.
    """
    for count in (1, 7, 64):
        zeros, negative = np.zeros(count, np.float32), np.full(count, -0.0, np.float32)
        for function in (np.maximum, np.minimum):
            if not np.signbit(function(zeros, negative)).all():
                return False
            if np.signbit(function(negative, zeros)).any():
                return False
    return True
