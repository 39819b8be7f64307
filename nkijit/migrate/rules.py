"""The rules of rewriting, with examples of old and new source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A rule of rewriting."""

    short: str
    """The rule's name in the report."""
    before: str
    """An example in the classic API."""
    after: str
    """The example of `before`, rewritten in the current API."""


RULES: Mapping[str, Rule] = {
    "import": Rule("import", "import neuronxcc.nki.language as nl", "import nki.language as nl"),
    "decorator": Rule("decorator", "@nki.baremetal", "@nki.jit"),
    "load": Rule(
        "load as DMA",
        "t = nl.load(x[0:128])",
        "t = nl.ndarray((128, x.shape[1]), …); nisa.dma_copy(dst=t, src=x[0:128])",
    ),
    "store": Rule("store as DMA", "nl.store(x[0:128], t)", "nisa.dma_copy(dst=x[0:128], src=t)"),
    "instruction": Rule(
        "destination",
        "y = nisa.reciprocal(x)",
        "y = nl.ndarray(x.shape, …); nisa.reciprocal(dst=y, data=x)",
    ),
    "accumulate": Rule(
        "accumulation", "psum += nisa.nc_matmul(a, b)", "nisa.nc_matmul(dst=psum, …)"
    ),
    "assignment": Rule(
        "assignment",
        "t[i_p, i_f] = nisa.activation(nl.exp, x)",
        "nisa.activation(dst=t[0:128, 0:512], …)",
    ),
    "function": Rule(
        "function of tiles",
        "nl.exp(x, mask=i_p < n)",
        "nisa.activation(dst=y[0:n], op=nl.exp, data=x[0:n])",
    ),
    "operator": Rule("operator", "a + b", "nl.add(a, b)"),
    "index": Rule(
        "index", "x[i * 128 + nl.arange(128)[:, None], i_f]", "x[i * 128 : i * 128 + 128, 0:512]"
    ),
    "mask": Rule("mask", "mask=row < rows", "rows_left = min(128, rows - row); x[0:rows_left]"),
    "blocks": Rule(
        "block dimensions",
        "nl.ndarray((8, nl.par_dim(128), 512), …)",
        "[nl.ndarray((128, 512), …) for _ in range(8)]",
    ),
    "placement": Rule("placement", "buffer=nki.compiler.sbuf.alloc(…)", "buffer=nl.sbuf"),
    "loop": Rule("loop", "nl.affine_range(8)", "range(8)"),
    "grid": Rule(
        "grid",
        "kernel[4, 2](x); nl.program_id(0)",
        "kernel(x, grid=(4, 2)); for program_0 in range(grid[0]):",
    ),
    "launch": Rule("launch", "nki.simulate_kernel(kernel, x)", "nki.simulate(kernel)(x)"),
    "name": Rule(
        "name", "np.add, np.max, nl.fp32.min", "nl.add, nl.maximum, -3.4028234663852886e+38"
    ),
    "argument": Rule(
        "argument",
        "nisa.nc_matmul(…, is_moving_zero=True)",
        "nisa.nc_matmul(…, is_moving_onezero=True)",
    ),
    "enumeration": Rule("enumeration", "dge_mode=1", "dge_mode=nisa.dge_mode.swdge"),
}


__all__ = ["RULES", "Rule"]
