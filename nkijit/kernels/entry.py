"""The functions of `nki` itself: `nki.jit` creates kernels, the others run kernels."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType
from typing import Any, ParamSpec, cast, overload

import numpy as np

from nkijit.dialects.python_values import one_line
from nkijit.dialects.spelling import did_you_mean
from nkijit.kernels.arguments import ArgumentTypeError
from nkijit.kernels.kernel import Kernel, UnsupportedError
from nkijit.kernels.options import COMPILER_OPTIONS, compiler_options, unknown_options
from nkijit.tracing.target import PlatformTarget, platform_name
from nkijit.tracing.tracebacks import without_own_frames

_MODES = ("auto", "simulation", "trace", "torchxla", "jax")


_P = ParamSpec("_P")


@overload
def jit(
    fn: Callable[_P, Any],
    *,
    platform_target: PlatformTarget | None = None,
    mode: str = "auto",
    **options: Any,
) -> Kernel[_P]: ...
@overload
def jit(
    fn: None = None,
    *,
    platform_target: PlatformTarget | None = None,
    mode: str = "auto",
    **options: Any,
) -> Callable[[Callable[_P, Any]], Kernel[_P]]: ...
@without_own_frames
def jit(
    fn: Callable[_P, Any] | None = None,
    *,
    platform_target: PlatformTarget | None = None,
    mode: str = "auto",
    **options: Any,
) -> Any:
    """Make a kernel of a function: `@nki.jit` or `@nki.jit(platform_target="trn2")`.

    Args:
        fn: the function; its array arguments become tensors in HBM.
        platform_target: trn1, inf2, gen2, trn2, gen3, trn3 or gen4, or the `target` of a kernel or
            of a trace; by default the environment variable NEURON_PLATFORM_TARGET_OVERRIDE at the
            time of the call, else trn3.
        mode: auto, simulation, trace, torchxla or jax, which older kernels state; without effect,
            because the types of the arguments show the framework. Modes that need a device
            (baremetal, benchmark, profile) are refused.
        options: options that only the vendor's compiler reads (`debug_kernel`, `show_compiler_tb`,
            `experimental_flags`, `additional_compile_opt`, `compile_config`, …). They have no
            effect; `kernel.options` has them.

    Raises UnsupportedError for other options; the message names the known options.

    Example:

        @nki.jit(platform_target="trn2")
        def copied(x):
            out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
            nl.store(out, nl.load(x))
            return out

        out = copied(x[:128])

    Source: NKI API reference, nki.jit; `nkijit.kernels.options`.
    """
    if wrong := unknown_options(options, ("mode", "platform_target", *COMPILER_OPTIONS)):
        raise UnsupportedError(wrong)
    word = mode if isinstance(cast(Any, mode), str) else ""
    if word not in _MODES:
        raise UnsupportedError(
            f"nki.jit does not model mode={one_line(mode)}, only {', '.join(_MODES)}; a call "
            f"always interprets the kernel on this machine{did_you_mean(word, _MODES)}"
        )
    name = None if platform_target is None else platform_name(platform_target)
    if fn is None:
        chosen = {"mode": mode, **options}
        return functools.partial(cast(Any, jit), platform_target=name, **chosen)
    stored = compiler_options(mode, options)
    if isinstance(fn, Kernel):
        fn = fn if name is None else fn.for_target(name)
        return fn.with_options(stored) if stored else fn
    check_function(fn)
    return Kernel(fn, name, None, options=stored)


def check_function(fn: Any) -> None:
    """Raise ArgumentTypeError for an object that is no function to make a kernel of."""
    if isinstance(fn, (staticmethod, classmethod)):
        kind = type(cast(Any, fn)).__name__
        raise ArgumentTypeError(f"@nki.jit stands below @{kind}, next to the function")
    if isinstance(fn, (type, BuiltinFunctionType, np.ufunc)) or not callable(fn):
        raise ArgumentTypeError(f"nki.jit expects a function, got {one_line(fn)}")
    if inspect.isgeneratorfunction(fn) or inspect.iscoroutinefunction(fn):
        raise ArgumentTypeError(
            f"nki.jit expects a function that runs to its end when called; '{fn.__name__}' is a "
            "generator or a coroutine"
        )
    try:
        inspect.signature(fn)
    except ValueError as error:
        raise ArgumentTypeError(f"nki.jit expects a function of Python: {error}") from None


@without_own_frames
def run_ranks(kernel: Kernel | Callable[..., Any], ranks: Sequence[Sequence[Any]]) -> list[Any]:
    """Run a kernel on several ranks, which communicate by `nki.collectives`.

    Args:
        kernel: the kernel; `kernel[2]` runs on two cores of every rank.
        ranks: the arguments of rank 0, of rank 1, …, each a list or a tuple. Arrays may differ in
            their contents; all other arguments are the same for all ranks.

    Returns the result of each rank. Inputs that the kernel wrote are updated in place. Raises
    ArgumentTypeError when ranks differ in other respects, and InterpretationError when ranks wait
    for each other for ever.

    Example:

        first, second = nki.run_ranks(kernel, [[x[:128]], [x[128:]]])
    """
    return _kernel_of(kernel).run_ranks(ranks)


@without_own_frames
def simulate(kernel: Kernel[_P] | Callable[_P, Any], *, strict: bool | None = None) -> Kernel[_P]:
    """Return the kernel with calls that behave as in the vendor's simulator.

    Args:
        kernel: a kernel, `kernel[2]` for two cores, or a function to make a kernel of.
        strict: True stops at every error, as a plain call does. By default the environment variable
            `NKIJIT_STRICT` decides, 1 or 0; if it is not set, False.

    A call that is not strict runs a kernel with tiles that do not fit, or with undefined values:
    cores run in a fixed order, unwritten floats are NaN and unwritten integers 4. Each such finding
    is issued as an `NkiWarning`, once per rule and line. Errors of other kinds raise
    NkiValidationError.

    Example:

        out = nki.simulate(kernel)(x[:128])

    Source: NKI CPU Simulator (nki/guides/nki_simulator): sections Uninitialized Memory Detection
    and Memory Model.
    """
    simulated = _kernel_of(kernel).simulated()
    return simulated if strict is None else simulated.strict(strict)


def _kernel_of(kernel: Kernel[_P] | Callable[_P, Any]) -> Kernel[_P]:
    if isinstance(kernel, Kernel):
        return kernel
    check_function(kernel)
    return jit(kernel)
