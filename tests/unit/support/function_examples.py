"""The examples in the docstrings of functions that kernels call, and kernels of each of them."""

from __future__ import annotations

import inspect
import re
import textwrap
from types import ModuleType
from typing import Any

import numpy as np

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.traced.kernel import TracedKernel

EXAMPLE = re.compile(r"^Example:\n\n((?:    .*\n|\n)+)", re.M)


def example_of(function: Any) -> str:
    """The code of an example; empty if there is none."""
    found = EXAMPLE.search(inspect.cleandoc(function.__doc__ or "") + "\n")
    return "" if found is None else textwrap.dedent(found[1])


def functions_of(module: ModuleType) -> list[tuple[ModuleType, str]]:
    return [(module, n) for n in dir(module) if inspect.isfunction(getattr(module, n))]


def names() -> dict[str, Any]:
    """Return the names that examples assume."""

    def tile(rows: int, *columns: int, dtype: str = nl.float32, buffer: Any = nl.sbuf) -> Any:
        return nl.ndarray((rows, *columns), dtype, buffer=buffer)

    def hbm(rows: int, columns: int = 512, dtype: str = nl.float32) -> Any:
        return tile(rows, columns, dtype=dtype, buffer=nl.hbm)

    return {
        **{name: tile(128, 512) for name in ("x", "y", "out", "factors")},
        **{name: tile(128, 1) for name in ("column", "low", "high", "total")},
        "row": tile(1, 512),
        "bf16": tile(128, 512, dtype=nl.bfloat16),
        "weights": tile(128, 128, dtype=nl.bfloat16),
        "transposed": tile(128, 128, dtype=nl.bfloat16),
        "psum": tile(128, 512, buffer=nl.psum),
        "psum_bf16": tile(128, 512, dtype=nl.bfloat16, buffer=nl.psum),
        "mask": tile(128, 512, dtype=nl.uint8),
        "positions": tile(128, 512, dtype=nl.uint32),
        "position": tile(1, 1, dtype=nl.int32),
        "largest": tile(128, 8),
        "places": tile(128, 8, dtype=nl.uint32),
        "statistics": tile(128, 6),
        "mean_and_variance": tile(128, 2),
        "short_indices": tile(128, 16, dtype=nl.uint16),
        "gathered": tile(128, 256),
        "counted": tile(128, 513, dtype=nl.int32),
        "quantized": tile(128, 128, dtype=nl.float8_e4m3fn_x4),
        "scales": tile(128, 128, dtype=nl.float8_e8m0fnu),
        "state": tile(128, 24, dtype=nl.uint32),
        "bounds": tile(1, 2, 512),
        "segments": tile(1, 512),
        "seed": tile(1, 1, dtype=nl.uint32),
        "register": nisa.register_alloc(1),
        **{name: hbm(256) for name in ("hbm", "other_hbm", "third_hbm")},
        "shared": nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm),
        "twice": hbm(512),
        "four": hbm(1024),
        "other_four": hbm(1024),
        "metadata": hbm(3, 4, nl.uint32),
        "metadata_of_parts": hbm(4, 4, nl.uint32),
        "core": nl.program_id(0),
        **{"nki": nki, "nisa": nisa, "nl": nl, "ncc": ncc, "np": np},
    }


IN_KERNELS = [*functions_of(nisa), *functions_of(nl), *functions_of(ncc)]
"""Functions for kernels, by module and name."""


def traced_example(module: ModuleType, name: str) -> TracedKernel:
    """Trace a kernel that contains the example of a function."""
    code = example_of(getattr(module, name))

    @nki.jit
    def kernel():
        exec(compile(code, f"<example of {name}>", "exec"), names())
        return nl.ndarray((128, 1), nl.float32, buffer=nl.shared_hbm)

    needs_two = any(word in code for word in ("barrier", "sendrecv", "_v(", "_v_prepare("))
    return kernel[2 if needs_two else 1].trace()
