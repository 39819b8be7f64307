"""Kernels of the classic API: decorators, modes and their options, targets, effects of calls."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.report_pages import text_of

import nkijit
import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
import nkijit.classic.typing as nt
from nkijit import NkiValidationError, TensorSpec, UnsupportedError
from nkijit.classic.launch import modes
from nkijit.kernels.arguments import ArgumentTypeError

X = np.arange(32, dtype=np.float32).reshape(8, 4)


def double(x: Any) -> Any:
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nisa.tensor_tensor(tile, tile, op=np.add))
    return out


def into(x: Any, out: Any) -> None:
    tile = nl.load(x)
    nl.store(out, nisa.tensor_tensor(tile, tile, op=np.add))


@pytest.fixture(autouse=True)
def _warned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The warning that there is no device is out."""
    monkeypatch.setattr(modes._OnDevice, "_warned", True)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("mode", ["auto", "simulation", "jax", "torchxla", "trace"])
def test_modes_that_interpret(mode: str) -> None:
    assert np.array_equal(nki.jit(double, mode)(X), 2 * X)
    assert np.array_equal(nki.jit(mode=mode)(double)(X), 2 * X)
    assert np.array_equal(nki.jit(nki.jit(double), mode=mode)(X), 2 * X)


@pytest.mark.parametrize("decorator", [nki.jit, nki.trace, nki.baremetal, nki.benchmark])
def test_decorators_with_and_without_arguments(decorator: Any) -> None:
    for kernel in (decorator(double), decorator()(double), decorator(nki.jit(double))):
        assert isinstance(kernel, nki.ClassicKernel)
        assert kernel.__name__ == "double"
        assert np.array_equal(kernel(X), 2 * X)


def test_options_and_modes_that_do_not_exist_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="no mode 'hardware'"):
        nki.jit(double, mode="hardware")
    with pytest.raises(
        UnsupportedError, match=r"debug_kernl, grid; it has .*; did you mean 'debug_kernel'"
    ):
        nki.jit(double, grid=(2,), debug_kernl=True)
    with pytest.raises(UnsupportedError, match="in mode 'simulation': iters"):
        nki.jit(mode="simulation", iters=3)
    with pytest.raises(UnsupportedError, match="FrameworkKernel is not modelled"):
        nki.FrameworkKernel()
    with pytest.raises(AttributeError, match=r"neuronxcc\.nki has no 'anything'"):
        _ = nki.anything
    with pytest.raises(AttributeError, match=r"nki\.typing\.scalar is not modelled"):
        _ = nt.scalar


def test_options_of_the_compiler_are_kept_and_have_no_effect() -> None:
    options = {
        "debug_kernel": True,
        "show_compiler_tb": False,
        "experimental_flags": "enable-mutable-parameter",
        "additional_compile_opt": "--lnc=1",
    }
    kernels = [
        nki.jit(double, mode="torchxla", **options),
        nki.jit(mode="torchxla", **options)(double),
        nki.jit(nki.jit(double), mode="torchxla", **options),
    ]
    for kernel in kernels:
        assert kernel.options == {"mode": "torchxla", **options}
        assert kernel[2].options == kernel.options
        assert np.array_equal(kernel(X), 2 * X)
    assert nki.jit(double).options == {}
    assert nki.trace(double, show_compiler_tb=True).options["show_compiler_tb"] is True


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("auto", {"additional_compile_opt": 3}),
        ("auto", {"kernel_return": 1}),
        ("baremetal", {"save_neff_name": 3}),
        ("benchmark", {"warmup": -1}),
        ("benchmark", {"iters": 0}),
        ("benchmark", {"iters": 2.5}),
        ("profile", {"working_directory": "/tmp", "profile_nth": 0}),
        ("profile", {"working_directory": "/tmp", "overwrite": "yes"}),
    ],
)
def test_values_of_options(mode: str, options: dict[str, Any]) -> None:
    name = list(options)[-1]
    with pytest.raises(ArgumentTypeError, match=name):
        nki.jit(double, mode=mode, **options)


def test_kernels_of_the_other_api_and_values_that_are_not_functions_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="of the current API"):
        nki.jit(nkijit.jit(double))
    for wrong in (3, "double", type("Class", (), {})):
        with pytest.raises(ArgumentTypeError, match="expects a function"):
            nki.jit(wrong)


def test_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEURON_PLATFORM_TARGET_OVERRIDE", raising=False)
    kernel = nki.jit(double)
    assert kernel.target.platform == "trn2"
    assert kernel.trace(X).target.platform == "trn2"
    assert nki.jit(double, platform_target="trn1").target.platform == "trn1"
    assert nki.jit(kernel, mode="simulation", platform_target="inf2").target.platform == "trn1"
    assert nki.jit(platform_target="trn3")(double).target.platform == "trn3"
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn1")
    assert kernel.target.platform == "trn1"
    assert nki.jit(kernel, platform_target="trn2").target.platform == "trn2"
    with pytest.raises(ValueError, match="unknown platform target 'trn9'"):
        nki.jit(double, platform_target="trn9")


def test_grids_and_targets_survive_a_change_of_mode() -> None:
    kernel = nki.jit(double, platform_target="trn1")[1]
    changed = nki.jit(kernel, mode="simulation")
    assert changed.target.platform == "trn1"
    two = nki.jit(nki.jit(double)[2], mode="simulation")
    assert any("two instances write" in d.message for d in two.trace(X).diagnostics)


# ---------------------------------------------------------------------------- outputs


def test_simulate_kernel_of_kernels_and_functions() -> None:
    for kernel in (nki.jit(double), double, nki.trace(double), nki.benchmark(double)):
        assert np.array_equal(nki.simulate_kernel(kernel, X), 2 * X)
        assert np.array_equal(nki.simulate_kernel(kernel, x=X), 2 * X)
    for kernel in (nki.jit(into), into, nki.trace(into)):
        out = np.zeros_like(X)
        assert nki.simulate_kernel(kernel, X, out) is None
        assert np.array_equal(out, 2 * X)


def test_simulate_kernel_with_a_grid() -> None:
    def rows(x: Any, out: Any) -> None:
        i = nl.program_id(0)
        nl.store(out[i], nl.load(x[i]))

    x, out = X.reshape(2, 4, 4), np.zeros((2, 4, 4), np.float32)
    nki.simulate_kernel(nki.trace(rows)[2], x, out)
    assert np.array_equal(out, x)


def writes_and_returns(x: Any) -> Any:
    nl.store(x, nisa.tensor_tensor(nl.load(x), nl.load(x), op=np.add))
    return x


def test_parameters_are_written_where_they_may_be() -> None:
    for kernel in (nki.trace(writes_and_returns), nki.jit(writes_and_returns, kernel_return=False)):
        x = X.copy()
        assert np.array_equal(kernel(x), 2 * X)
        assert np.array_equal(x, 2 * X)
    x = X.copy()
    with pytest.raises(NkiValidationError, match="err_cannot_update_immutable_parameter"):
        nki.jit(writes_and_returns)(x)
    assert np.array_equal(x, X)


@pytest.mark.parametrize(
    "annotation", [nt.mutable_tensor, nt.mutable_tensor[8, 4], "nt.mutable_tensor"]
)
def test_mutable_parameters(annotation: Any) -> None:
    def kernel(x: Any) -> Any:
        return writes_and_returns(x)

    kernel.__annotations__["x"] = annotation
    x = X.copy()
    assert np.array_equal(nki.jit(kernel)(x), 2 * X)
    assert np.array_equal(x, 2 * X)


def test_a_part_of_a_parameter_is_the_parameter() -> None:
    def kernel(pair: Any) -> Any:
        nl.store(pair[1][0:4], nl.load(pair[0][0:4]))
        return pair[0]

    with pytest.raises(NkiValidationError, match="parameter 'pair_1' is written"):
        nki.jit(kernel)((X, X.copy()))


def test_modes_of_a_kernel_under_trace_let_it_write() -> None:
    out = np.zeros_like(X)
    nki.baremetal(nki.trace(into))(X, out)
    assert np.array_equal(out, 2 * X)
    x = X.copy()
    nki.baremetal(nki.trace(writes_and_returns))(x)
    assert np.array_equal(x, 2 * X)


# ---------------------------------------------------------------------------- device modes


def test_that_there_is_no_device_is_said_once_per_process() -> None:
    program = """
import warnings
import numpy as np
import nkijit.classic as nki, nkijit.classic.language as nl

def copy(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    x = np.ones((8, 4), np.float32)
    nki.jit(copy)(x)
    nki.simulate_kernel(copy, x)
    assert not told
    for decorator in (nki.baremetal, nki.benchmark, nki.benchmark):
        decorator(copy)(x)
assert [w.category.__name__ for w in told] == ["NoDeviceWarning"], told
assert "interpreted on this machine" in str(told[0].message)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600, capture_output=True)


def test_benchmark_predicts_the_latency(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = nki.benchmark(warmup=2, iters=3)(double)
    with pytest.raises(AttributeError, match="before it is called in the mode benchmark"):
        _ = kernel.benchmark_result
    assert np.array_equal(kernel(X), 2 * X)
    latency = kernel.benchmark_result.nc_latency
    expected = nki.jit(double).trace(X).profile().time / 1000
    assert expected > 0
    assert [latency.get_latency_percentile(p) for p in (0, 50, 99, 100)] == [expected] * 4
    with pytest.raises(ValueError, match="percentiles"):
        latency.get_latency_percentile(42)
    assert f"double: {expected:.2f} us on trn2" in capsys.readouterr().out


def test_a_benchmark_of_a_grid_is_the_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = nki.benchmark(nki.jit(double))
    kernel[1](X)
    small = kernel.benchmark_result.nc_latency.get_latency_percentile(50)
    kernel(np.ones((128, 2048), np.float32))
    assert kernel.benchmark_result.nc_latency.get_latency_percentile(50) > small
    assert capsys.readouterr().out.count("us on trn2") == 2
    with pytest.raises(AttributeError, match="benchmark_result"):
        _ = nki.benchmark(nki.jit(double)).benchmark_result


def test_shapes_can_replace_arrays_where_nothing_is_computed() -> None:
    spec = nt.tensor[[8, 4], nl.float32]
    assert spec == TensorSpec((8, 4), "float32")
    kernel = nki.benchmark(double)
    assert kernel(spec) is None
    assert kernel.benchmark_result.nc_latency.get_latency_percentile(50) > 0


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_profile_writes_timeline_summary_and_report(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "profiles"
    kernel = nki.profile(
        working_directory=folder, save_neff_name="file.neff", save_trace_name="run.ntff"
    )(double)
    assert np.array_equal(kernel(X), 2 * X)
    assert files(folder) == ["run.html", "run.perfetto.json", "run.summary.json"]
    assert json.loads((folder / "run.perfetto.json").read_text())
    assert json.loads((folder / "run.summary.json").read_text())["kernel"] == "double"
    assert "nisa.tensor_tensor" in text_of((folder / "run.html").read_text())
    with pytest.raises(FileExistsError, match="overwrite is False"):
        kernel(X)
    nki.profile(double, working_directory=str(folder), save_trace_name="run.ntff", overwrite=True)(
        X
    )


def test_profile_of_a_wrong_kernel_leaves_nothing(tmp_path: Path) -> None:
    def wrong(x: Any) -> Any:
        return nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

    with pytest.raises(NkiValidationError):
        nki.profile(wrong, working_directory=tmp_path)(X)
    assert files(tmp_path) == []


@pytest.mark.parametrize("folder", [None, "profiles", "./profiles"])
def test_the_working_directory_is_absolute(folder: str | None) -> None:
    with pytest.raises(ValueError, match="absolute path as 'working_directory'"):
        nki.profile(working_directory=folder)(double)


def test_baremetal_writes_the_requested_files(tmp_path: Path) -> None:
    trace, artifacts = tmp_path / "profile.ntff", tmp_path / "artifacts"
    kernel = nki.baremetal(
        save_neff_name="file.neff",
        save_trace_name=trace,
        artifacts_dir=artifacts,
        additional_compile_opt="--fast",
    )(double)
    assert np.array_equal(kernel(X), 2 * X)
    assert files(tmp_path) == ["double.mlir", "profile.perfetto.json"]
    loaded = nkijit.load(artifacts / "double.mlir")
    assert np.array_equal(loaded.run(X), 2 * X)
    with pytest.raises(FileExistsError, match="is not empty"):
        kernel(X)


def test_a_warning_that_is_an_error_is_reported_once() -> None:
    modes._OnDevice._warned = False  # pyright: ignore[reportPrivateUsage]
    kernel = nki.baremetal(double)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(nki.NoDeviceWarning):
            kernel(X)
        assert np.array_equal(kernel(X), 2 * X)


def test_simulate_kernel_of_a_result() -> None:
    message = r"expects a kernel, got ndarray: write nki\.simulate_kernel\(kernel, x\) in the place"
    with pytest.raises(TypeError, match=message):
        nki.simulate_kernel(X)


@pytest.mark.parametrize(
    "call",
    [
        lambda: nki.simulate_kernel(np.zeros((4, 4), np.float32)),  # pyright: ignore
        lambda: nki.jit(5),  # pyright: ignore
        lambda: nki.jit(mode="unknown"),
        lambda: nki.benchmark(lambda: None, unknown=3),
        lambda: nki.jit(lambda x: x)[-1],  # pyright: ignore
        lambda: nki.jit(lambda x: x).for_target("unknown"),  # pyright: ignore
    ],
)
def test_errors_of_wrong_calls_have_no_frames_of_nkijit(call: Any) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        call()
    assert [str(entry.path) for entry in caught.traceback] == [__file__] * 2
