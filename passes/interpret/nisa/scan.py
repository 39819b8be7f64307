"""What scans along the free dimensions compute."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.nisa.scan import TensorTensorScanOp
from nkijit.passes.interpret.binding import Array, Binding, Compute, Step, semantics
from nkijit.passes.interpret.functions import BINARY
from nkijit.passes.interpret.nisa.stages import operator_stage

_ACCUMULATED = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
"""Operators whose operands may change places; NumPy accumulates these itself, one by one."""


def running(word: str) -> Compute:
    """`f(x, initial, out)`: `out[i] = x[i] op out[i - 1]`, with `initial` (P, 1) before the first.

    `out` may be `x`.
    """
    ufunc = _ACCUMULATED.get(word)
    if ufunc is None:
        function = BINARY[word]

        def element_by_element(x: Array, initial: Array, out: Array) -> None:
            rows = _transposed(x)
            state = initial[:, 0]
            for row in rows:
                function(row, state, row)
                state = row
            out[...] = rows.T

        return element_by_element

    def accumulated(x: Array, initial: Array, out: Array) -> None:
        if out is not x:
            out[...] = x
        ufunc(out[:, :1], initial, out=out[:, :1])
        ufunc.accumulate(out, axis=1, out=out)

    return accumulated


def _transposed(x: Array) -> Array:
    """A new array of the elements in the order in which a scan meets them."""
    return np.array(x.T, order="C")


@semantics(TensorTensorScanOp)
def tensor_tensor_scan(b: Binding) -> Step:
    initial = b.read("initial")
    first, _ = operator_stage(b.value("op0"), initial, b.value("reverse0"))
    second, _ = operator_stage(b.value("op1"), initial, b.value("reverse1"))

    def scan(x: Array, y: Array, before: Array | np.float32, out: Array) -> None:
        rows = _transposed(x)
        state = np.empty(len(x), np.float32)
        state[...] = np.ravel(before)
        for row, other in zip(rows, _transposed(y), strict=True):
            first(row, state, row)
            second(row, other, row)
            state = row
        out[...] = rows.T

    step, _ = b.compute(scan, [b.read("data0"), b.read("data1"), initial], early=3)
    return step
