"""Mistakes that type checkers find: one in each line that says so, and none elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl
from nkijit.testing import assert_close, random_inputs


@nki.jit
def scaled(x: Any, scale: float = 2.0) -> Any:
    out = nl.ndarray(x.shape, dtype=32, buffer=nl.shared_hbm)  # mistake
    tile = nl.ndarray((128, 512), nl.float32, buffer="sbuf")  # mistake
    tile = nl.ndarray((128, "512"), nl.float32)  # mistake
    tile = nl.ndarray((128, 512), nl.flaot32)  # mistake
    nisa.activation(dst=tile, op="gelu", data=tile)  # mistake
    nisa.activation(dst=tile, op=nl.gelu, data=1.0)  # mistake
    nisa.activation(dst=tile, opp=nl.gelu, data=tile)  # mistake
    nisa.tensor_tensor(tile, tile, tile, nl.plus)  # mistake
    nisa.tensor_tensor(tile, tile, tile, nl.add, engine="vector")  # mistake
    nisa.tensor_reduce(tile, nl.add, tile, axis="free")  # mistake
    nl.sum(tile, axis=1.5)  # mistake
    nl.add(tile, "1")  # mistake
    nl.gelu(2.0)  # mistake
    nl.softmax([tile])  # mistake
    tile.shpae  # mistake
    tile + tile  # mistake
    return out


X = np.ones((128, 512), np.float32)
scaled()  # mistake
scaled(X, "2")  # mistake
scaled(X, scael=2.0)  # mistake
scaled.trace(X, scale=None)  # mistake
scaled[2](X, 1.0, 2.0)  # mistake
nki.simulate(scaled)(X, "2")  # mistake
nki.TensorSpec(128, "float32")  # mistake
random_inputs({"x": 5})  # mistake
assert_close(X, X, depth="512")  # mistake
