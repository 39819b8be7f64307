"""Operations on tensors: assignments, Python's operators, copies.

These operations call functions of the language, which use tensors. Therefore, this module is a
layer above both, and `attach_operations` adds the operations to `ClassicTensor` once, when the
package is imported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nkijit.classic import language
from nkijit.classic.calls.assignment import accumulate, assign, update
from nkijit.classic.destinations.temporaries import is_only_added, is_temporary
from nkijit.classic.indexing.expressions import Index
from nkijit.classic.tensors.tensors import ClassicTensor, ClassicTile, Displaced
from nkijit.tracing.locations import frame_at

_BINARY: dict[str, Callable[..., Any]] = {
    "add": language.add,
    "sub": language.subtract,
    "mul": language.multiply,
    "truediv": language.divide,
    "pow": language.power,
    "mod": language.mod,
    "and": language.bitwise_and,
    "or": language.bitwise_or,
    "xor": language.bitwise_xor,
    "lshift": language.left_shift,
    "rshift": language.right_shift,
}
"""Maps parts of method names (`add` in `__add__`, `__radd__`, `__iadd__`) to functions."""
_COMPARISONS: dict[str, Callable[..., Any]] = {
    "lt": language.less,
    "le": language.less_equal,
    "gt": language.greater,
    "ge": language.greater_equal,
    "eq": language.equal,
    "ne": language.not_equal,
}
_UNARY: dict[str, Callable[..., Any]] = {
    "neg": language.negative,
    "abs": language.abs,
    "invert": language.invert,
}


def attach_operations() -> None:
    """Add the operations to the class of tensors."""
    for name, method in _METHODS.items():
        setattr(ClassicTensor, name, method)
    for name, function in _BINARY.items():
        setattr(ClassicTensor, f"__{name}__", _binary(function))
        setattr(ClassicTensor, f"__r{name}__", _binary(function, swapped=True))
        if name != "add":
            setattr(ClassicTensor, f"__i{name}__", _in_place(function))
    for name, function in _COMPARISONS.items():
        setattr(ClassicTensor, f"__{name}__", _binary(function))
    for name, function in _UNARY.items():
        setattr(ClassicTensor, f"__{name}__", _unary(function))


# ------------------------------------------------------------------ assignments


def _setitem(self: ClassicTensor, key: Any, value: Any) -> None:
    """Copy a tile to `t[key]`, with broadcasting, or fill it with a number.

    If `value` is the result of a function and is assigned immediately, it is computed in `t[key]`
    directly.
    """
    assign(self[key], value, _is_temporary(value))


def _iadd(self: ClassicTensor, other: Any) -> ClassicTensor:
    """Compute `t += other`; a matmul that is added to a tile in PSUM accumulates there."""
    frame = frame_at(1)
    fresh = other.fresh if isinstance(other, ClassicTile) else None
    only_added = fresh is not None and is_only_added(fresh.made, frame)
    added = accumulate(self, other, only_added or _is_temporary(other))
    return _updated(self, language.add, other) if added is None else added


def _is_temporary(value: Any) -> bool:
    """Return True for a result that only the assignment refers to."""
    fresh = value.fresh if isinstance(value, ClassicTile) else None
    if fresh is None:
        return False
    # The frame of the assignment, which called the operator's method, which called this.
    return is_temporary(fresh.made, frame_at(2))


def _updated(tensor: ClassicTensor, function: Callable[..., Any], other: Any) -> ClassicTensor:
    update(tensor, function, other)
    return tensor


# ------------------------------------------------------------------ operators


def _binary(
    function: Callable[..., Any], swapped: bool = False
) -> Callable[[ClassicTensor, Any], Any]:
    displaces = function is language.add

    def method(self: ClassicTensor, other: Any) -> Any:
        if displaces and isinstance(other, Index) and math.prod(self.shape) == 1:
            return Displaced(self, other)
        one, two = (other, self) if swapped else (self, other)
        return function(one, two)

    return method


def _in_place(function: Callable[..., Any]) -> Callable[[ClassicTensor, Any], ClassicTensor]:
    def method(self: ClassicTensor, other: Any) -> ClassicTensor:
        return _updated(self, function, other)

    return method


def _unary(function: Callable[..., Any]) -> Callable[[ClassicTensor], Any]:
    def method(self: ClassicTensor) -> Any:
        return function(self)

    return method


# ------------------------------------------------------------------ methods


def _expand_dims(self: ClassicTensor, axis: int) -> Any:
    """A view with a new dimension of size 1 at `axis`."""
    return language.expand_dims(self, axis)


def _broadcast_to(self: ClassicTensor, shape: Any) -> ClassicTensor:
    """The tile repeated to a shape by NumPy's rules."""
    return language.broadcast_to(self, shape=shape)


def _astype(self: ClassicTensor, dtype: Any) -> ClassicTensor:
    """A copy of the tile with elements of another type."""
    return language.copy(self, dtype=dtype)


_METHODS: dict[str, Callable[..., Any]] = {
    "__setitem__": _setitem,
    "__iadd__": _iadd,
    "expand_dims": _expand_dims,
    "broadcast_to": _broadcast_to,
    "astype": _astype,
}
