"""The classic NKI API (`neuronxcc.nki`, versions 2.21 to 2.26), whose instructions return tiles.

`nkijit.classic` has the names of `neuronxcc.nki` that kernels use; with the distribution
nkijit-nki, `import neuronxcc.nki as nki` is equivalent to `import nkijit.classic as nki`. Kernels
are traced to the IR of the current API, so everything after the trace is the same for both APIs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, ParamSpec, overload

from nkijit.classic import compiler, isa, language, typing
from nkijit.classic.launch.frameworks import FrameworkKernel
from nkijit.classic.launch.kernel import CLASSIC_PLATFORM, ClassicKernel
from nkijit.classic.launch.modes import NoDeviceWarning, Trace, mode_named
from nkijit.classic.operations import attach_operations
from nkijit.classic.tensors.tensors import ClassicTensor
from nkijit.kernels.arguments import ArgumentTypeError
from nkijit.kernels.entry import Kernel, UnsupportedError, check_function
from nkijit.kernels.options import compiler_options
from nkijit.passes.diagnostics.errors import NkiValidationError, NkiWarning
from nkijit.tracing.dtype_names import missing
from nkijit.tracing.target import platform_name
from nkijit.tracing.tracebacks import without_own_frames

attach_operations()

tensor = ClassicTensor
"""The type of tensors and tiles (`nki.tensor`)."""


_P = ParamSpec("_P")


@overload
def jit(func: Callable[_P, Any], mode: str = "auto", **kwargs: Any) -> ClassicKernel[_P]: ...
@overload
def jit(
    func: None = None, mode: str = "auto", **kwargs: Any
) -> Callable[[Callable[_P, Any]], ClassicKernel[_P]]: ...
@without_own_frames
def jit(func: Any = None, mode: str = "auto", **kwargs: Any) -> Any:
    """Make a kernel of a function, or change the mode of a kernel.

    Args:
        func: the function, or a kernel; arrays among the arguments of a call become tensors in HBM.
        mode: auto, simulation, jax and torchxla are equivalent: a call interprets the kernel on
            this machine. trace, baremetal, benchmark and profile are equivalent to the functions
            with these names.
        kwargs: `platform_target` (trn1, inf2, trn2, …), by default the environment variable
            NEURON_PLATFORM_TARGET_OVERRIDE, else trn2, the newest platform of the classic API.
            Other keywords are the options of the mode (see `nkijit.classic.launch.modes`), or
            options that only the vendor's compiler reads. The latter have no effect and are stored
            in `kernel.options` (`nkijit.kernels.options`).

    Raises UnsupportedError for an unknown mode or option.
    Source: NKI API reference 2.26, nki.jit.
    """
    return _decorated(func, mode, kwargs)


@without_own_frames
def trace(func: Any = None, **kwargs: Any) -> Any:
    """Make a kernel that writes its results to parameters; arguments as for `jit`."""
    return _decorated(func, "trace", kwargs)


@without_own_frames
def baremetal(kernel: Any = None, **kwargs: Any) -> Any:
    """Make a kernel that is called without a framework; `modes.Baremetal` has its options.

    Source: NKI API reference 2.26, nki.baremetal.
    """
    return _decorated(kernel, "baremetal", kwargs)


@without_own_frames
def benchmark(kernel: Any = None, **kwargs: Any) -> Any:
    """Make a kernel that predicts its latency when it is called; `modes.Benchmark` has its options.

    `benchmark_result.nc_latency.get_latency_percentile(50)` of the kernel is the prediction of the
    last call, in microseconds. Source: NKI API reference 2.26, nki.benchmark.
    """
    return _decorated(kernel, "benchmark", kwargs)


@without_own_frames
def profile(func: Any = None, **kwargs: Any) -> Any:
    """Make a kernel that writes a timeline when it is called; `modes.Profiling` has its options.

    Source: NKI API reference 2.26, nki.profile.
    """
    return _decorated(func, "profile", kwargs)


@without_own_frames
def simulate_kernel(kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """Interpret a kernel; a plain function is converted to a kernel with `trace` first.

    Args:
        kernel: the kernel, e.g. `kernel[4, 2]` with a launch grid, or a function.
        args: positional arguments; arrays that the kernel writes are updated.
        kwargs: keyword arguments.

    Source: NKI API reference 2.26, nki.simulate_kernel.
    """
    if isinstance(kernel, ClassicKernel):
        returns = kernel.mode.kernel_return
        kernel = kernel.in_mode(mode_named("simulation", {"kernel_return": returns}))
    else:
        if not callable(kernel):
            raise ArgumentTypeError(
                f"nki.simulate_kernel expects a kernel, got {type(kernel).__name__}: write "
                "nki.simulate_kernel(kernel, x) in the place of nki.simulate_kernel(kernel(x))"
            )
        kernel = trace(kernel)
    return kernel(*args, **kwargs)


def _decorated(function: Any, mode: str, options: Mapping[str, Any]) -> Any:
    given = dict(options)
    platform = given.pop("platform_target", None)
    platform = None if platform is None else platform_name(platform)
    chosen = mode_named(mode, given)
    if function is None:

        @without_own_frames
        def decorate(function: Any) -> Any:
            return _decorated(function, mode, options)

        return decorate
    kept = compiler_options(mode, given)
    if isinstance(function, ClassicKernel):
        if isinstance(function.mode, Trace) and mode != "trace":
            chosen = mode_named(mode, {"kernel_return": False, **given})
        kernel = function.in_mode(chosen).with_options(kept)
        return kernel if platform is None else kernel.for_target(platform)
    if isinstance(function, Kernel):
        raise ArgumentTypeError(
            f"kernel '{function.__name__}' is of the current API; give neuronxcc.nki its function"
        )
    check_function(function)
    return ClassicKernel(function, platform, options=kept).in_mode(chosen)


def __getattr__(name: str) -> NoReturn:
    raise missing("neuronxcc.nki", name, globals())


__all__ = [
    "CLASSIC_PLATFORM",
    "ClassicKernel",
    "FrameworkKernel",
    "NkiValidationError",
    "NkiWarning",
    "NoDeviceWarning",
    "UnsupportedError",
    "baremetal",
    "benchmark",
    "compiler",
    "isa",
    "jit",
    "language",
    "profile",
    "simulate_kernel",
    "tensor",
    "trace",
    "typing",
]
