"""Single instructions from their text."""

from __future__ import annotations

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.ir.text import parse

TILES = {
    "x": "128x64xf32, #nki.sbuf",
    "y": "128x64xf32, #nki.sbuf",
    "k": "128x128xbf16, #nki.sbuf",
    "m": "128x512xbf16, #nki.sbuf",
    "p": "128x512xf32, #nki.psum",
    "column": "128x1xf32, #nki.sbuf",
    "hbm": "128x64xf32, #nki.private_hbm",
    "indices": "128x1xui32, #nki.sbuf",
}
"""Tiles that the text may name."""


def kernel_of(*lines: str, target: str = "trn3") -> KernelOp:
    """A kernel of these lines, in which the tiles above are known."""
    tiles = [f"  %{name} = nki.alloc : memref<{type}>" for name, type in TILES.items()]
    body = "\n".join([*tiles, *(f"  {line}" for line in lines)])
    (kernel,) = kernels_of(parse(f"nki.kernel @k() target={target} {{\n{body}\n  nki.return\n}}"))
    return kernel


def instructions_of(*lines: str, target: str = "trn3") -> list[NisaOp]:
    """The instructions among these lines."""
    kernel = kernel_of(*lines, target=target)
    return [op for op in kernel.operations if isinstance(op, NisaOp)]


def instruction_of(*lines: str, target: str = "trn3") -> NisaOp:
    """The last instruction of these lines."""
    return instructions_of(*lines, target=target)[-1]
