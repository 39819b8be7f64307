"""Semantics of scans along the free dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from nkijit.dialects.nisa.scan import TensorTensorScanOp
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array
from nkijit.passes.interpret.records.records import Computed, Reach
from nkijit.passes.interpret.semantics.nisa.described import constructor
from nkijit.passes.interpret.semantics.registry import semantics
from nkijit.passes.numerics.operators import BINARY, transposed


@semantics(TensorTensorScanOp)
def tensor_tensor_scan(b: Binding) -> Computed:
    first, second = BINARY[b.value("op0")], BINARY[b.value("op1")]
    reverse0, reverse1 = b.value("reverse0"), b.value("reverse1")

    def scan(x: Array, y: Array, before: Any, out: Array) -> None:
        rows = transposed(x)
        state = np.empty(len(x), np.float32)
        state[...] = np.ravel(before)
        for row, other in zip(rows, transposed(y), strict=True):
            first(*((state, row) if reverse0 else (row, state)), row)
            second(*((other, row) if reverse1 else (row, other)), row)
            state = row
        out[...] = rows.T

    sources = (b.read("data0"), b.read("data1"), b.read("initial"))
    term = constructor(b, Reach.prefixes)
    return Computed(scan, sources, b.into(), early=3, constructor=term)
