"""Kernels that are exported and traced again are the same kernels."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest
from support.classic_kernels import classic_kernel
from support.exports import check_round_trip, kernel_of_source, retraced
from support.function_examples import IN_KERNELS, traced_example
from support.kernel_parts import random_kernel
from support.lowered_runs import numbers
from support.paths import ROOT
from support.random_kernels import PARTS, TARGETS
from support.redundant_kernels import redundant_kernel
from support.runtime_kernels import runtime_kernel
from support.tangled_kernels import tangled_kernel, visible_kernel
from xdsl.dialects.builtin import ModuleOp

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.ncc import Ncc
from nkijit.dialects.nisa import Nisa
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.ir.text import launches_of, load_module, parse
from nkijit.kernels.arguments import TensorSpec
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.pipeline import COMPILER, compiled
from nkijit.traced.kernel import TracedKernel

GOLDEN = sorted((ROOT / "tests" / "golden").rglob("*.mlir"))
LIT = sorted((ROOT / "tests" / "lit" / "dialects" / "nisa").rglob("ops.mlir"))


def golden(path: Path) -> TracedKernel:
    module = load_module(path)
    (kernels,) = launches_of(module).values()
    return TracedKernel(module, kernels=kernels)


every_example = pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)


@every_example
@pytest.mark.parametrize("loops", [True, False])
def test_examples(path: Path, loops: bool):
    check_round_trip(golden(path), loops=loops)


@every_example
def test_examples_as_the_compiler_has_them(path: Path):
    check_round_trip(golden(path), schedule="compiler", order=False)


@every_example
def test_exports_are_portable(path: Path):
    traced = golden(path)
    kernel = kernel_of_source(traced.source(), traced.name)
    specs = [TensorSpec(shape, dtype) for _, shape, dtype in traced.argument_types]
    assert list(kernel.portability(*specs)) == []


@pytest.mark.parametrize("name", ["matmul", "sharded_rmsnorm", "embedding_lookup", "mamba_scan"])
def test_results_are_the_same_bits(name: str):
    traced = golden(ROOT / "tests" / "golden" / f"{name}.mlir")
    specs = [TensorSpec(shape, dtype) for _, shape, dtype in traced.argument_types]
    inputs = [numbers(spec, seed) for seed, spec in enumerate(specs)]
    one = traced.run(*[array.copy() for array in inputs])
    two = retraced(traced).run(*[array.copy() for array in inputs])
    assert np.asarray(one).tobytes() == np.asarray(two).tobytes()


# ------------------------------------------------------------------ every instruction


@pytest.mark.parametrize(
    ("module", "name"), IN_KERNELS, ids=lambda value: getattr(value, "__name__", value)
)
def test_every_function_of_the_api(module: ModuleType, name: str):
    check_round_trip(traced_example(module, name))


def test_every_instruction_is_among_them():
    made = {
        type(op)
        for module, name in IN_KERNELS
        for kernel in traced_example(module, name).cores()
        for op in kernel.operations
    }
    known = {op for dialect in (Nisa, Ncc) for op in dialect.operations if issubclass(op, NisaOp)}
    # Python's operators on scalars make it.
    assert {op.name for op in known - made} <= {"nisa.register_compute"}


# The API has no functions for arithmetic on registers that instructions write.
@pytest.mark.parametrize(
    "path", [p for p in LIT if p.parent.name != "registers"], ids=lambda path: path.parent.name
)
def test_every_form_of_an_instruction(path: Path):
    for text in path.read_text(encoding="utf-8").split("// -----"):
        for kernels in launches_of(parse(text)).values():
            traced = TracedKernel(ModuleOp([kernel.clone() for kernel in kernels]))
            again = retraced(traced).cores()
            given = [op for core in kernels for op in core.operations if isinstance(op, NisaOp)]
            found = [op for core in again for op in core.operations if isinstance(op, NisaOp)]
            # Arguments of a kernel on one core are not in shared HBM, and defaults are left out.
            assert [_said(op) for op in given] == [_said(op) for op in found]


def _said(op: NisaOp) -> list[object]:
    fields = [f for f in op.SPEC.fields if not f.is_operand]
    # As text: NaN is nothing else than NaN, and -0.0 is not 0.0.
    return [op.name, op.label, len(op.operands), *(repr(op.value_of(f.name)) for f in fields)]


# ------------------------------------------------------------------ random kernels

SORTS: dict[str, Callable[[int, str], TracedKernel]] = {
    "tangled": lambda seed, target: tangled_kernel(seed, target, 24, 0)[0],
    "tangled in loops": lambda seed, target: tangled_kernel(seed, target, 6, 1)[0],
    "tangled in loops of loops": lambda seed, target: tangled_kernel(seed, target, 7, 2)[0],
    "run-time": lambda seed, target: runtime_kernel(seed, target, 6, 2, 1 + seed % 2)[0],
    "visible": lambda seed, target: visible_kernel(seed, target)[0],
    "redundant": lambda seed, target: redundant_kernel(seed, target, 8, 1)[0],
    "classic": lambda seed, target: classic_kernel(seed)[0],
}


@pytest.mark.parametrize("sort", SORTS)
def test_random_kernels(sort: str):
    for seed in range(11):
        check_round_trip(SORTS[sort](seed, TARGETS[seed % 3]), loops=bool(seed % 4))


@pytest.mark.parametrize("part", PARTS)
def test_random_kernels_of_parts(part: str):
    check_round_trip(random_kernel(Random(part), part).trace())


@pytest.mark.parametrize("sort", SORTS)
def test_random_kernels_that_were_compiled(sort: str):
    for seed in range(3):
        traced = SORTS[sort](seed, TARGETS[seed % 3])
        check_round_trip(_of([compiled(core).kernel for core in traced.cores()]), order=False)


@pytest.mark.parametrize("made", COMPILER, ids=lambda made: made.name)
def test_each_pass_of_the_compiler(made: type):
    for seed in range(2):
        kernel = redundant_kernel(seed, "trn2", 10, 1)[0].cores()[0].clone()
        made().change(Analyses(kernel), {})
        check_round_trip(_of([kernel]), order=False)


def _of(kernels: list[KernelOp]) -> TracedKernel:
    return TracedKernel(ModuleOp(kernels), kernels=kernels)


# ------------------------------------------------------------------ tools


def test_formatter_and_linter_leave_it_as_it_is(tmp_path: Path):
    for path in GOLDEN:
        text = golden(path).source(comments=False)
        (tmp_path / f"{path.parent.name}_{path.stem}.py").write_text(text)
    for sort, make in SORTS.items():
        for seed in range(2):
            traced = make(seed, "trn3")
            (tmp_path / f"{sort.replace(' ', '_')}_{seed}.py").write_text(traced.source())
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [*ruff, *command, "--isolated", str(tmp_path)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


def test_exported_text_is_exported_equally():
    traced = golden(ROOT / "tests" / "golden" / "softmax.mlir")
    text = traced.source(comments=False)
    assert retraced(traced, text).source(comments=False) == text
