"""The modes in which kernels are called: `nki.jit(mode=…)`, `nki.benchmark`, `nki.profile`, ….

There is no device. A call interprets the kernel, times are predictions of the cost model, and the
files for profilers are a timeline for ui.perfetto.dev and a report, never a NEFF.

Source: NKI API reference 2.26, nki.jit, nki.baremetal, nki.benchmark and nki.profile.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from nkijit.dialects.python_values import one_line
from nkijit.dialects.spelling import did_you_mean
from nkijit.frameworks.calls import Backward
from nkijit.host.output_files import StrPath, write_text
from nkijit.kernels.arguments import ArgumentTypeError, TensorSpec
from nkijit.kernels.kernel import UnsupportedError
from nkijit.kernels.options import COMPILER_OPTIONS, unknown_options
from nkijit.traced.kernel import TracedKernel

PERCENTILES = (0, 1, 10, 25, 50, 90, 99, 100)
"""Percentiles that `nki.benchmark` supports (NKI API reference 2.26, nki.benchmark)."""


class NoDeviceWarning(UserWarning):
    """A mode for devices was requested; nkijit interprets the kernel and predicts times instead."""


class Latency:
    """The latency of a kernel, as the cost model predicts (`benchmark_result.nc_latency`)."""

    def __init__(self, microseconds: float):
        """`microseconds` is the value of all percentiles: a prediction has no spread."""
        self._microseconds = microseconds

    def get_latency_percentile(self, percentile: int) -> float:
        """Return microseconds. Raises ValueError for a percentile that is not in `PERCENTILES`."""
        if percentile not in PERCENTILES:
            raise ValueError(f"there are percentiles {PERCENTILES}, got {one_line(percentile)}")
        return self._microseconds


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """The result of `nki.benchmark`."""

    nc_latency: Latency


@dataclass(slots=True)
class Outcome:
    """Results of the last call that can be read afterwards, shared by all grids of a kernel."""

    benchmark: BenchmarkResult | None = None


@dataclass(frozen=True, kw_only=True)
class Mode:
    """A mode in which kernels are called; the fields are its public options."""

    additional_compile_opt: str = ""
    """Flags of the vendor's compiler, without effect."""
    kernel_return: bool = True
    """False for kernels that write their results to parameters, as under `nki.trace`."""

    def __post_init__(self) -> None:
        _expect(str, "additional_compile_opt", self.additional_compile_opt)
        _expect(bool, "kernel_return", self.kernel_return)

    def run(
        self,
        traced: TracedKernel,
        values: Sequence[Any],
        outcome: Outcome,
        *,
        strict: bool,
        backward: Backward | None = None,
    ) -> Any:
        """Run a specialisation on the arrays of a call; options are as for `TracedKernel.run`."""
        del outcome
        return traced.run(*values, strict=strict, backward=backward)


@dataclass(frozen=True, kw_only=True)
class Trace(Mode):
    """`nki.trace`: the kernel may write its parameters."""

    kernel_return: bool = False


@dataclass(frozen=True, kw_only=True)
class _OnDevice(Mode):
    """Modes that need a device with the vendor's compiler."""

    _warned: ClassVar[bool] = False
    save_neff_name: StrPath | None = None
    """The file name of the vendor's binary; no such file is written."""
    save_trace_name: StrPath | None = None
    """The file name of the timeline; the suffix is replaced: `profile.perfetto.json`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("save_neff_name", "save_trace_name"):
            if getattr(self, name) is not None:
                _expect((str, os.PathLike), name, getattr(self, name))

    def run(
        self,
        traced: TracedKernel,
        values: Sequence[Any],
        outcome: Outcome,
        *,
        strict: bool,
        backward: Backward | None = None,
    ) -> Any:
        if not _OnDevice._warned:
            _OnDevice._warned = True
            warnings.warn(
                "nkijit has no device: kernels in the modes baremetal, benchmark and profile are "
                "interpreted on this machine, times are predictions of a cost model, and no NEFF "
                "or NTFF file is written",
                NoDeviceWarning,
                stacklevel=2,
            )
        result = None
        if not any(isinstance(value, TensorSpec) for value in values):
            result = super().run(traced, values, outcome, strict=strict, backward=backward)
        self._finish(traced, outcome, strict)
        return result

    def _finish(self, traced: TracedKernel, outcome: Outcome, strict: bool) -> None:
        """Predict the time and write the files that the options request."""
        del outcome
        if self.save_trace_name is not None:
            trace = _trace_path(self.save_trace_name)
            _write({trace: traced.profile(strict=strict).to_perfetto()})


@dataclass(frozen=True, kw_only=True)
class Baremetal(_OnDevice):
    """`nki.baremetal`: a call without a framework."""

    artifacts_dir: StrPath | None = None
    """The folder for the kernel's IR; it must be empty, or not exist yet."""

    def run(
        self,
        traced: TracedKernel,
        values: Sequence[Any],
        outcome: Outcome,
        *,
        strict: bool,
        backward: Backward | None = None,
    ) -> Any:
        if self.artifacts_dir is not None:
            folder = Path(self.artifacts_dir)
            if folder.exists() and any(folder.iterdir()):
                raise FileExistsError(f"'artifacts_dir': {folder} is not empty")
        return super().run(traced, values, outcome, strict=strict, backward=backward)

    def _finish(self, traced: TracedKernel, outcome: Outcome, strict: bool) -> None:
        super()._finish(traced, outcome, strict)
        if self.artifacts_dir is not None:
            _write({Path(self.artifacts_dir) / f"{traced.name}.mlir": traced.text()})


@dataclass(frozen=True, kw_only=True)
class Benchmark(_OnDevice):
    """`nki.benchmark`: predicts the latency, prints it, and stores it for `benchmark_result`."""

    warmup: int = 10
    """Runs before the measurement; without effect, because nothing is measured."""
    iters: int = 100
    """Runs that are measured; without effect, because all predictions are the same."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _expect_count("warmup", self.warmup, 0)
        _expect_count("iters", self.iters, 1)

    def _finish(self, traced: TracedKernel, outcome: Outcome, strict: bool) -> None:
        super()._finish(traced, outcome, strict)
        microseconds = traced.profile(strict=strict).time / 1000
        outcome.benchmark = BenchmarkResult(Latency(microseconds))
        print(
            f"{traced.name}: {microseconds:.2f} us on {traced.target.platform}, as the cost model "
            "predicts; all percentiles are the same"
        )


@dataclass(frozen=True, kw_only=True)
class Profiling(_OnDevice):
    """`nki.profile`: writes timeline, summary and report to a folder."""

    working_directory: StrPath | None = None
    """The folder, an absolute path; required."""
    save_trace_name: StrPath | None = "profile.ntff"
    overwrite: bool = False
    """Whether to replace the files of an earlier run."""
    profile_nth: int = 1
    """The run that is profiled; without effect, because all predictions are the same."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.working_directory is None or not Path(self.working_directory).is_absolute():
            raise ValueError(
                "nki.profile expects an absolute path as 'working_directory', got "
                f"{self.working_directory!r}"
            )
        _expect(bool, "overwrite", self.overwrite)
        _expect_count("profile_nth", self.profile_nth, 1)

    def _paths(self) -> list[Path]:
        assert self.working_directory is not None
        trace = _trace_path(Path(self.working_directory, self.save_trace_name or "profile.ntff"))
        stem = trace.name.removesuffix(_TRACE_SUFFIX)
        return [trace, trace.with_name(f"{stem}.summary.json"), trace.with_name(f"{stem}.html")]

    def run(
        self,
        traced: TracedKernel,
        values: Sequence[Any],
        outcome: Outcome,
        *,
        strict: bool,
        backward: Backward | None = None,
    ) -> Any:
        there = [path for path in self._paths() if path.exists()]
        if there and not self.overwrite:
            raise FileExistsError(f"nki.profile: {there[0]} exists, and overwrite is False")
        return super().run(traced, values, outcome, strict=strict, backward=backward)

    def _finish(self, traced: TracedKernel, outcome: Outcome, strict: bool) -> None:
        profile = traced.profile(strict=strict)
        texts = (profile.to_perfetto(), profile.to_json(), traced.report(strict=strict))
        _write(dict(zip(self._paths(), texts, strict=True)))


MODES: dict[str, type[Mode]] = {
    "auto": Mode,
    "simulation": Mode,
    "jax": Mode,
    "torchxla": Mode,
    "trace": Trace,
    "baremetal": Baremetal,
    "benchmark": Benchmark,
    "profile": Profiling,
}
"""The modes of `nki.jit`, by name."""


def mode_named(name: Any, options: Mapping[str, Any]) -> Mode:
    """Return a mode with options. Raises UnsupportedError for an unknown name or option."""
    if not isinstance(name, str) or name not in MODES:
        hint = did_you_mean(name, MODES) if isinstance(name, str) else ""
        known = ", ".join(MODES)
        raise UnsupportedError(f"nki.jit has no mode {one_line(name)}, only {known}{hint}")
    kind = MODES[name]
    own = [field.name for field in fields(kind)]
    if wrong := unknown_options(
        options, {"mode", "platform_target", *own, *COMPILER_OPTIONS}, name
    ):
        raise UnsupportedError(wrong)
    return kind(**{option: options[option] for option in own if option in options})


_TRACE_SUFFIX = ".perfetto.json"


def _trace_path(name: StrPath) -> Path:
    """Return the path of the timeline; the vendor's suffix would promise the vendor's format."""
    return Path(name).with_suffix(_TRACE_SUFFIX)


def _write(texts: Mapping[Path, str]) -> None:
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)


def _expect(kind: Any, name: str, value: Any) -> None:
    if not isinstance(value, kind):
        raise ArgumentTypeError(f"option '{name}' of nki.jit is {one_line(value)}")


def _expect_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ArgumentTypeError(
            f"option '{name}' is an integer from {least} on, got {one_line(value)}"
        )
