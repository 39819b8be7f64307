"""What matmuls have written in PSUM along a kernel: `accumulate=True` needs something to add to."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.constraints import engine_of
from nkijit.dialects.declare import NisaOp
from nkijit.dialects.hardware import engine
from nkijit.dialects.nki import KernelOp, base_of, kernels_of
from nkijit.dialects.rule_texts import PSUM_ACCUMULATE
from nkijit.dialects.tiles import info_of
from nkijit.passes.verify.diagnostics import Diagnostic, diagnose


def check_psum(module: Operation) -> list[Diagnostic]:
    """Every matmul that accumulates where no matmul has written."""
    return [found for kernel in kernels_of(module) for found in _check_kernel(kernel)]


def _check_kernel(kernel: KernelOp) -> Iterator[Diagnostic]:
    written: dict[SSAValue, set[AccessPattern]] = {}
    for op in kernel.body.block.ops:
        if not isinstance(op, NisaOp) or engine.tensor not in op.SPEC.engines:
            continue
        if engine_of(op, kernel.target) is not engine.tensor:
            continue
        dst = op.operands[op.SPEC.by_name["dst"].index]
        patterns = written.setdefault(base_of(dst), set())
        pattern = info_of(dst).pattern
        accumulates = "accumulate" in op.SPEC.by_name and op.value_of("accumulate") is True
        if accumulates and pattern not in patterns and not _touches(pattern, patterns):
            yield diagnose(
                PSUM_ACCUMULATE,
                op,
                "'accumulate' is True, but no matmul has written 'dst' before",
                [("dst", dst)],
            )
        patterns.add(pattern)


def _touches(pattern: AccessPattern, patterns: set[AccessPattern]) -> bool:
    # Partly written counts as written: convolutions accumulate into shifted windows.
    return any(pattern.overlaps(other) for other in patterns)
