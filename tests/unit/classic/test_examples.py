"""The classic examples: right, free of errors, and translated as before.

`tests/golden/classic` keeps their IR and listings. When a change of them is intended:

    .venv/bin/pytest tests/unit/classic/test_examples.py --update-golden
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.paths import ROOT

from nkijit.tracing.target import TARGET_VARIABLE

EXAMPLES = ROOT / "examples" / "classic"
GOLDEN = ROOT / "tests" / "golden" / "classic"

FILES = ("softmax", "masked_attention", "average_pool", "tensor_add", "transpose")


def load(name: str) -> Any:
    """The module of an example; the current API has examples of the same names."""
    sys.path.insert(0, str(EXAMPLES))
    spec = importlib.util.spec_from_file_location(f"classic_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(EXAMPLES))
    return module


def kernels() -> list[Any]:
    """The kernels of all examples, with their inputs and references."""
    found: list[Any] = []
    for name in FILES:
        module = load(name)
        if name == "transpose":
            found.append((module.transpose_free, module.INPUTS_FREE, module.reference_free))
            found.append((module.transpose_blocks, module.INPUTS_BLOCKS, module.reference_blocks))
        elif name == "tensor_add":
            found.append((module.tensor_add, module.INPUTS, module.reference))
        else:
            found.append((getattr(module, name), module.INPUTS, module.reference))
    return [pytest.param(*example, id=example[0].__name__) for example in found]


KERNELS = kernels()
every_kernel = pytest.mark.parametrize(("kernel", "inputs", "reference"), KERNELS)


@pytest.fixture(autouse=True)
def default_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TARGET_VARIABLE, raising=False)


@every_kernel
@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_result(kernel: Any, inputs: Any, reference: Any, target: str) -> None:
    traced = kernel.for_target(target).trace(**inputs)
    assert not traced.diagnostics.errors
    assert not [d for d in traced.diagnostics if d.rule.category == "initialisation"]
    expected = reference(**{name: a.astype(np.float64) for name, a in inputs.items()})
    result = traced.run(*inputs.values())
    assert np.allclose(result, expected, rtol=2e-6, atol=2e-6)


@every_kernel
def test_golden(kernel: Any, inputs: Any, reference: Any, request: pytest.FixtureRequest) -> None:
    traced = kernel.trace(**inputs)
    for suffix, text in ((".mlir", str(traced)), (".listing.txt", traced.listing())):
        path = GOLDEN / f"{kernel.__name__}{suffix}"
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")


def test_golden_has_no_other_files() -> None:
    names = [parameter.values[0].__name__ for parameter in KERNELS]
    expected = {f"{name}{suffix}" for name in names for suffix in (".mlir", ".listing.txt")}
    assert {path.name for path in GOLDEN.iterdir()} == expected


@every_kernel
def test_the_lowered_kernel_gives_the_same_bits(kernel: Any, inputs: Any, reference: Any) -> None:
    traced = kernel.trace(**inputs)
    one, two = traced.run(*inputs.values()), traced.run_lowered(*inputs.values())
    assert one.tobytes() == two.tobytes()


def test_two_cores_share_a_grid() -> None:
    module = load("tensor_add")
    traced = module.tensor_add_on_two_cores.trace(**module.INPUTS)
    assert "@add_block_core0" in str(traced)
    assert "@add_block_core1" in str(traced)
    assert np.array_equal(
        module.tensor_add_on_two_cores(**module.INPUTS), module.reference(**module.INPUTS)
    )


@pytest.mark.parametrize("name", FILES)
def test_main_program(name: str, tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    assert "agrees with NumPy" in finished.stdout
    assert finished.stderr == ""
