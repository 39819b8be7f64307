"""The rows of the table: naive kernels with arguments, and kernels that people have optimised."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

_HERE = Path(__file__).parent
_EXAMPLES = _HERE.parents[1] / "examples"
MATMUL = "matrix_multiplication_nki_kernels.py"
MAMBA = "mamba_nki_kernels.py"


@dataclass(frozen=True, slots=True)
class Row:
    """A naive kernel, its arguments, and the best version by hand."""

    name: str
    file: str
    """The file of the naive kernel: in this folder, in `examples/`, or in the folder given."""
    kernel: str
    args: tuple[Any, ...]
    hand: tuple[str, str] | None = None
    """The file and the name of the best kernel by hand."""
    hand_args: tuple[Any, ...] | None = None
    hand_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    allow: str = "reassociated"


def _f32(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def _bf16(*shape: int) -> np.ndarray[Any, Any]:
    return _f32(*shape).astype(ml_dtypes.bfloat16)


def _positive(*shape: int) -> np.ndarray[Any, Any]:
    return np.abs(_f32(*shape))


def rows() -> list[Row]:
    """Return all rows; those of the SDK and of nki-samples need a folder with their files."""
    x, vector, flat = _f32(512, 1024), _f32(1, 1024), _f32(1024)
    a, b = _f32(512, 512), _f32(512, 1024)
    large = _bf16(1024, 1024), _bf16(1024, 1024)
    states = _f32(1, 16, 512)
    mamba = (0.1 * _positive(1, 256, 512), _f32(1, 256, 512), -_positive(256, 16), states, states)
    own, classic = "naive.py", "classic.py"
    heads = (_f32(128, 512), _f32(128, 512), _f32(512, 128))
    return [
        Row("add", own, "add", (x, x)),
        Row("scale and shift", own, "scale_shift", (x, _f32(512, 1), _f32(512, 1))),
        Row("gated", own, "gated", (x, x)),
        Row("softmax", own, "softmax", (x,), ("softmax.py", "softmax_trn2")),
        Row(
            *("layernorm", own, "layernorm", (x, vector, vector)),
            hand=("layernorm.py", "layernorm"),
            hand_args=(x, flat, flat),
        ),
        Row(
            *("rmsnorm", own, "rmsnorm", (x, vector)),
            hand=("rmsnorm.py", "rmsnorm"),
            hand_args=(x, flat),
        ),
        Row(
            *("matmul", own, "matmul", (a, b)),
            hand=("matmul.py", "matmul"),
        ),
        Row("matmul, sums in SBUF", own, "matmul_sums", (a, b)),
        Row(
            *("matmul, rows", own, "matmul_rows", (a, b)),
            hand=("matmul.py", "matmul"),
        ),
        Row("transpose", own, "transpose", (_f32(512, 512),)),
        Row("mlp", own, "mlp", (_f32(256, 1024), _f32(256, 512), _f32(512, 256))),
        Row("adamw", own, "adamw", (*(_f32(256, 1024),) * 3, _positive(256, 1024))),
        Row("conv2d", own, "conv2d", (_f32(1, 128, 18, 18), _f32(128, 128, 3, 3))),
        Row("bmm", own, "bmm", (_f32(4, 256, 256), _f32(4, 256, 512))),
        Row("attention", own, "attention", heads),
        Row("classic add", classic, "add", (x, x)),
        Row("classic gelu", classic, "gelu", (x,)),
        Row("classic softmax", classic, "softmax", (x,), ("softmax.py", "softmax_trn2")),
        Row(
            *("classic layernorm", classic, "layernorm", (x, vector, vector)),
            hand=("layernorm.py", "layernorm"),
            hand_args=(x, flat, flat),
        ),
        Row("classic matmul", classic, "matmul", (a, b), ("matmul.py", "matmul")),
        Row("classic transpose", classic, "transpose", (_f32(512, 512),)),
        Row("classic average pool", classic, "average_pool", (_f32(128, 32, 64),)),
        Row("classic scan", classic, "scan", (_f32(256, 1024), _f32(256, 1024))),
        Row(
            *("SDK matmul", MATMUL, "nki_matmul_tiled_", large),
            hand=(MATMUL, "nki_matmul_fully_optimized_"),
            hand_options={"TILES_IN_BLOCK_M": 8},
        ),
        Row(
            *("samples mamba", MAMBA, "mamba_v1", mamba),
            hand=(MAMBA, "mamba_v2"),
        ),
    ]


def kernel_of(file: str, name: str, folder: Path | None) -> Any:
    """Return a kernel of a file; None if there is no such file."""
    for place in (_HERE, _EXAMPLES, *([folder] if folder is not None else [])):
        if (place / file).is_file():
            return getattr(_module(place / file), name)
    return None


@cache
def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"optimized_{path.stem}_{path.parent.name}", path)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # the examples import modules of their folder
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module
