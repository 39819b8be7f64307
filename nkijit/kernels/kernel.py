"""Kernels: functions that are traced once per specialisation and run many times."""

from __future__ import annotations

import functools
import inspect
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, MappingProxyType, MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, Self, cast, overload

import numpy as np
from typing_extensions import ParamSpec  # with defaults, which Python has since 3.13
from xdsl.dialects.builtin import ModuleOp, UnitAttr

from nkijit.dialects.collection import without_collection
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion, nc_version
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import memref_type
from nkijit.frameworks.arrays import check_gradients
from nkijit.frameworks.calls import Backward, DeferredCall
from nkijit.host.dynamo import is_in_dynamo
from nkijit.host.file_state import FileState
from nkijit.host.installed import is_library_file
from nkijit.kernels.arguments import (
    ArgumentTypeError,
    TensorArgument,
    TensorSpec,
    collect,
    map_tensors,
)
from nkijit.kernels.backward import BackwardOfCall
from nkijit.kernels.cache import CacheInfo, TraceCache
from nkijit.kernels.cache_key import UnkeyableError, image_of, named_images
from nkijit.kernels.dynamo import call_in_dynamo, on_grid
from nkijit.kernels.hooks import WATCHERS
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import Findings, render
from nkijit.passes.diagnostics.places import Position, positions
from nkijit.traced.findings import findings, found_by_passes
from nkijit.traced.kernel import TracedKernel
from nkijit.traced.strictness import is_strict
from nkijit.tracing.call_arguments import texts_of_arguments
from nkijit.tracing.combined_errors import error_with
from nkijit.tracing.dtype_names import CURRENT, as_dtype
from nkijit.tracing.kernel_errors import finding_of, without_consequences
from nkijit.tracing.locations import author_frame, definition_of, location_at
from nkijit.tracing.python_loops import PythonLoops
from nkijit.tracing.results import finish_trace, named_tuple_of, note_no_result
from nkijit.tracing.target import (
    GRIDS,
    PlatformTarget,
    cores_of_environment,
    platform_name,
    resolve_target,
)
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracebacks import without_own_frames
from nkijit.tracing.tracer import Storage, Tracer, active_tracer
from nkijit.typing import annotation_of

if TYPE_CHECKING:
    from nkijit.passes.values.bisect import Bisection
    from nkijit.traced.recording import TracedRecording

Watch = Callable[[Tracer], None]
"""A callback that receives the tracer before the body of a kernel runs."""


class UnsupportedError(NotImplementedError):
    """A part of the public API that nkijit does not model yet."""


_LONGEST_SIGNATURE = 120
"""The largest number of characters of a signature in a kernel's `repr`."""

_P = ParamSpec("_P", default=...)
_Rest = ParamSpec("_Rest")


def _of_function(name: str) -> property:
    """Return a property that reads an attribute of the kernel's function."""

    def read(kernel: Kernel) -> Any:
        return getattr(kernel.func, name)

    return property(read, doc=f"`{name}` of the kernel's function.")


class Kernel(Generic[_P]):
    """A kernel: a call specialises it (cached), verifies it and interprets it.

    For type checkers a kernel has the parameters of its function. Parameters that are tensors
    should have no annotation, because callers pass arrays and the body receives tensors.

    Kernels that are derived from another one (for a grid, for a target, bound to an object) share
    its cache, because the cache key contains all differences.
    """

    _TRACED: ClassVar[type[TracedKernel]] = TracedKernel
    """The class of this kernel's specialisations."""
    _GENERATION: ClassVar[str] = CURRENT
    """The package with the API functions that the body calls."""

    # Attributes for introspection that `functools.update_wrapper` does not copy.
    __closure__ = _of_function("__closure__")
    __code__ = _of_function("__code__")
    __defaults__ = _of_function("__defaults__")
    __globals__ = _of_function("__globals__")
    __kwdefaults__ = _of_function("__kwdefaults__")

    def __init__(
        self,
        function: Callable[..., Any],
        platform_target: str | None,
        grid: int | None,
        cache: TraceCache | None = None,
        schedule: tuple[tuple[str, str], ...] = (),
        strict: bool | None = None,
        simulated: bool = False,
        options: Mapping[str, Any] = MappingProxyType({}),
        backward: Callable[..., Any] | None = None,
    ):
        """Create a kernel with default settings, or with the settings of an original kernel.

        Args:
            function: the kernel's function, a bound method or a `functools.partial`.
            platform_target: the name of the target; None: the environment decides.
            grid: the number of cores; None: the environment decides.
            cache: the trace cache to share; None creates a new one.
            schedule: edges between named instructions: (consumer, producer).
            strict: the user's choice of strictness; None: the environment decides.
            simulated: whether calls are not strict by default, as in the vendor's simulator.
            options: options of `nki.jit` that only the vendor's compiler reads.
            backward: the backward kernel, or a function of arrays (see `with_backward`).
        """
        self.options = MappingProxyType(dict(options))
        """Options of `nki.jit` that only the vendor's compiler reads, as passed by the user."""
        self._original = function
        self._function, self._args, _ = _unbound(function)
        functools.update_wrapper(cast(Any, self), self._function)
        # Since Python 3.14, this copies a function that evaluates the annotations. It may fail.
        with suppress(AttributeError, NameError):
            cast(Any, self).__annotations__ = self._function.__annotations__
        self.__name__: str = getattr(self._function, "__name__", type(self._function).__name__)
        self._function_parameters = FunctionParameters.by(self._function)
        self._platform_target = platform_target
        self._grid = grid
        self._schedule = schedule
        self._strict = strict
        self._simulated = simulated
        self._backward = backward
        self._cache = TraceCache() if cache is None else cache
        of_function = getattr(self._function, "__dict__", {})
        self._own = frozenset({"_own", *vars(self)} - set(of_function))
        """The names of nkijit's attributes of the kernel; all other attributes are the user's."""

    @property
    def signature(self) -> inspect.Signature:
        """The parameters of a call."""
        return inspect.signature(self._original)

    @property
    def _kwargs(self) -> dict[str, Any]:
        """The keywords of a `functools.partial`, read at each call, because they may change."""
        return _unbound(self._original)[2]

    @property
    def _parameters(self) -> inspect.Signature:
        return self._now().parameters

    def _now(self) -> FunctionParameters:
        """Return the function's current parameters: its defaults or code may have been replaced."""
        if not self._function_parameters.is_current():
            self._function_parameters = FunctionParameters.by(self._function)
        return self._function_parameters

    @property
    def func(self) -> Callable[..., Any]:
        """The function that the kernel was made from."""
        return self._function

    @without_own_frames
    def __getitem__(self, grid: Any) -> Self:
        """Launch on a number of cores, 1 or 2: `kernel[2]`.

        On two cores, the kernel is traced for each core (`nl.program_id(0)` is 0 or 1). Both cores
        see the arguments and the tensors in shared HBM, and both run together.
        """
        if is_in_dynamo():
            return cast(Any, on_grid(self, grid))
        sizes = cast("tuple[Any, ...]", grid) if isinstance(grid, tuple) else (grid,)
        for cores in GRIDS:
            if len(sizes) == 1 and _is_number(sizes[0], cores):
                return self._changed(grid=cores)
        raise UnsupportedError(
            f"kernel '{self.__name__}': a launch grid is {' or '.join(map(str, GRIDS))} cores, "
            f"got {one_line(grid)}: loop over the blocks in the kernel, and launch "
            f"{self.__name__}[{GRIDS[-1]}] to share them between the cores"
        )

    @without_own_frames
    def on_cores(self, cores: int) -> Self:
        """Return the kernel, launched on a number of cores; the same as `kernel[cores]`."""
        return self[cores]

    @property
    def _cores(self) -> int:
        """The number of cores that the kernel is launched on."""
        return self._launch_grid or 1

    @property
    def _launch_grid(self) -> int | None:
        """The number of cores that the user, or else the environment, requests."""
        return cores_of_environment() if self._grid is None else self._grid

    def by_value(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return a constructor and its arguments, as `__reduce__` does.

        With these, the kernel is pickled by value, without its cache, for processes that cannot
        import the kernel's module.
        """
        arguments = self._constructor_arguments()
        # Other processes compute costs, and no gradients.
        arguments |= {"cache": None, "options": dict(self.options), "backward": None}
        return _from_arguments, (type(self), arguments)

    def _changed(self, **changes: Any) -> Self:
        return type(self)(**{**self._constructor_arguments(), **changes})

    def _constructor_arguments(self) -> dict[str, Any]:
        return {
            "function": self._original,
            "platform_target": self._platform_target,
            "grid": self._grid,
            "cache": self._cache,
            "schedule": self._schedule,
            "strict": self._strict,
            "simulated": self._simulated,
            "options": self.options,
            "backward": self._backward,
        }

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Kernel[_P]: ...
    @overload
    def __get__(
        self: Kernel[Concatenate[Any, _Rest]], instance: object, owner: type[Any] | None = None
    ) -> Kernel[_Rest]: ...
    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Kernel[...]:
        """Return the kernel of a method, with the object as its first argument."""
        if instance is None:
            return self
        return self._changed(function=MethodType(self._original, instance))

    @without_own_frames
    def __call__(self, /, *args: _P.args, **kwargs: _P.kwargs) -> Any:
        """Run the kernel on arrays of NumPy, PyTorch or JAX.

        Array arguments become tensors in HBM; all others are known during tracing. Returns arrays
        of the same framework, in the container that the kernel returned. Inputs that the kernel
        wrote are updated in place; no other input changes. Raises NkiValidationError with all
        findings when the kernel breaks a rule (see `strict`). Inside another kernel, the body is
        traced in place.
        """
        if is_in_dynamo():
            return call_in_dynamo(self, None, args, kwargs)
        tracer = active_tracer()
        if tracer is not None:
            self._check_inside(tracer)
            given, named = (*self._args, *args), {**self._kwargs, **kwargs}
            try:
                return self._function(*given, **named)
            except TypeError as error:
                if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                    raise
                texts = texts_of_arguments(self._subject, self._parameters, len(given), named)
                raise TypeError(f"{texts.subject}: {texts.message}") from None
        arguments, tensors = self._collect(args, kwargs)
        traced = self._specialise(arguments, tensors)
        values = [tensor.value for tensor in tensors]
        return self._run(traced, values, self._gradients(arguments))

    def _run(
        self, traced: TracedKernel, values: Sequence[Any], backward: Backward | None = None
    ) -> Any:
        """Run a specialisation on the values of a call's tensors."""
        return traced.run(*values, strict=self.is_strict, backward=backward)

    def _gradients(self, arguments: Mapping[str, Any]) -> Backward | None:
        """Return the function that computes the gradients of a call, if the kernel has one."""
        if self._backward is None:
            return None
        return BackwardOfCall(self.__name__, self._parameters, arguments, self._backward)

    def deferred(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[DeferredCall, list[Any]]:
        """Return a call for a framework to run, and its arrays in the order of the run's inputs."""
        arguments, tensors = self._collect(args, kwargs)
        traced = self._specialise(arguments, tensors)
        call = traced.deferred(strict=self.is_strict, backward=self._gradients(arguments))
        values = [tensor.value for tensor in tensors]
        check_gradients(call, values)
        return call, values

    def _check_inside(self, tracer: Tracer) -> None:
        """Raise an error for settings that a kernel called by another kernel cannot have."""
        self._check_grid_inside(tracer)
        if self._schedule:
            raise UnsupportedError(
                f"kernel '{self.__name__}' with a schedule is called inside another kernel; give "
                "the schedule to the outer one"
            )

    def _check_grid_inside(self, tracer: Tracer) -> None:
        """Raise an error if this kernel's grid differs from the outer kernel's."""
        cores = tracer.core[1]
        if self._grid not in (None, cores):
            raise UnsupportedError(
                f"kernel '{self.__name__}' is called on {self._grid} cores inside a kernel that "
                f"runs on {cores}; it runs where that one does"
            )

    @without_own_frames
    def trace(self, /, *args: _P.args, **kwargs: _P.kwargs) -> TracedKernel:
        """Trace the kernel for these arguments; a `TensorSpec` can replace an array.

        Wrong instructions do not raise here: they are in `.diagnostics` of the result, and
        `.verify()` raises them. A view that cannot exist raises NkiValidationError.
        """
        return self._specialise(*self._collect(args, kwargs))

    @without_own_frames
    def record(self, /, *args: Any, **kwargs: Any) -> TracedRecording:
        """Run the kernel on these arguments and record the values that every instruction accesses.

        The kernel is traced anew, so that the recording knows the Python loops around instructions.
        Inputs are copied, and not written. `nkijit.TracedKernel.record` takes a memory budget.

        Raises RecordError for a kernel on two cores, and the errors of a call.

        Example:

            record = kernel.record(x)
            print(record)                          # the last results of each line
            record["tile"][0].value                # the first tensor called `tile`
            record.at("kernel.py:14")[3].result    # the fourth result of line 14
        """
        arguments, tensors = self._collect(args, kwargs)
        loops = PythonLoops()
        traced = self._trace(arguments, tensors, self.target, watch=loops.watch)
        traced.loop_indices = loops.indices
        return traced.record(*(tensor.value for tensor in tensors), strict=self.is_strict)

    @without_own_frames
    def step(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the kernel so that `breakpoint()` and `print` show the values of its tiles.

        In the kernel `print(tile)` shows numbers, `nkijit.value_of(tile)` is an array of them, and
        a `breakpoint()` stops in pdb, without nkijit's own frames. The first request for a value
        after an instruction recomputes all earlier instructions, so inputs should be small. In a
        loop on the device, values are those of the first iteration.

        Results and errors are those of a call. Raises UnsupportedError on two cores.

        Example: `kernel.step(x[:8])`.
        """
        if self._cores > 1:
            raise UnsupportedError(
                f"kernel '{self.__name__}' runs on {numbered(self._cores, 'core')}, and can be "
                "stepped through "
                "on one only"
            )
        arguments, tensors = self._collect(args, kwargs)
        values = [tensor.value for tensor in tensors]
        from nkijit.kernels.stepping import debugging, watch_values

        with debugging():
            traced = self._trace(
                arguments,
                tensors,
                self.target,
                watch=lambda tracer: watch_values(tracer, values),
            )
        return self._run(traced, values)

    @without_own_frames
    def bisect(self, /, *args: Any, against: Any, **kwargs: Any) -> Bisection:
        """Return the first instruction that departs from a reference by more than its rounding.

        Args:
            args: the arguments of a call; inputs are copied, and not written.
            against: the reference: a function of the same arguments that returns named
                intermediates (`{"tile": array}`, see `TracedRecording.bisect`), another version of
                the kernel, or `"float32"`: the same kernel with bfloat16 and float8 stored as
                float32.
            kwargs: further arguments of the call.

        Printing the result shows the line, the element and its operands. Raises RecordError if the
        kernel and the reference cannot be compared, and the errors of `record`.

        Example:

            def reference(x):
                exponentials = np.exp(x - x.max(axis=1, keepdims=True))
                return {"p": exponentials, "total": exponentials.sum(axis=1)}

            print(kernel.bisect(x, against=reference))
        """
        record = self.record(*args, **kwargs)
        if isinstance(against, Kernel):
            return record.bisect(against.record(*args, **kwargs))
        if callable(against):
            copies = [_copied(value) for value in args]
            named = {name: _copied(value) for name, value in kwargs.items()}
            against = _reference_of(against, copies, named)
        return record.bisect(against)

    def portability(self, /, *args: Any, nki: str | None = None, **kwargs: Any) -> Findings:
        """Return warnings for names, arguments and Python constructs that a release of NKI lacks.

        Reads the source of the kernel and of the user's functions and classes that the kernel uses.
        Arguments are optional; arguments that are passed are checked as well. `nki` is the version
        of the release, e.g. `"0.5"`; the newest by default. Raises ValueError for unknown versions.
        """
        from nkijit.reference.portability import portability

        keywords = {**self._kwargs, **kwargs}
        bound = self._parameters.bind_partial(*self._args, *args, **keywords)
        return portability(self._function, bound.arguments, nki)

    @property
    def is_classic(self) -> bool:
        """Whether this is a kernel of the classic API, `neuronxcc.nki`."""
        return self._GENERATION != CURRENT

    @property
    def platform_target(self) -> str | None:
        """The target that the kernel names; None: the environment decides."""
        return self._platform_target

    @property
    def target(self) -> Target:
        """The hardware that the kernel is traced for."""
        return resolve_target(self._platform_target)

    @without_own_frames
    def for_target(self, platform_target: PlatformTarget) -> Self:
        """Return the same kernel for another target.

        Args:
            platform_target: the name of a target, or the `target` of a kernel or of a trace.

        Raises ValueError for other values.

        Example: `kernel.for_target("trn2")`, `kernel.for_target(other.trace(x).target)`.
        """
        return self._changed(platform_target=platform_name(platform_target))

    def strict(self, strict: bool = True) -> Self:
        """Return the same kernel with calls that stop at every error, or that continue after some.

        Args:
            strict: True stops at every error. False continues where values are undefined (unwritten
                memory, cores that race) and where tiles do not fit the memories of the target, and
                issues each such finding as an `NkiWarning` at the user's line. Errors that no
                device or compiler accepts stop both kinds of calls.

        The argument overrides `NKIJIT_STRICT` in the environment. Example:
        `kernel[2].strict(False)(x)`.
        """
        return self._changed(strict=strict)

    def simulated(self) -> Self:
        """Return the same kernel with calls that are not strict by default: see `nki.simulate`."""
        return self._changed(simulated=True)

    @property
    def is_strict(self) -> bool:
        """Whether every error stops a call. Raises ValueError for a wrong `NKIJIT_STRICT`."""
        return is_strict(self._strict, default=not self._simulated)

    @without_own_frames
    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return the same kernel with `options` added to `kernel.options`.

        `options` are for the vendor's compiler; nkijit stores these options and does not use them.
        """
        if not isinstance(cast(Any, options), Mapping):
            raise ArgumentTypeError(f"with_options expects a mapping, got {one_line(options)}")
        return self._changed(options={**self.options, **options})

    @without_own_frames
    def with_backward(self, backward: Callable[..., Any]) -> Self:
        """Return the same kernel with a backward kernel, for gradients in PyTorch and JAX.

        Args:
            backward: a kernel, or a function of arrays. It is called as `backward(*arguments,
                *results, *gradients)`: all arguments of the call, the results of the kernel, and
                the gradient of each result. It returns the gradient of each floating-point array
                among the arguments, in order: one array, or a tuple.

        Raises ArgumentTypeError if `backward` is not callable.

        Example: `scaled.with_backward(lambda x, factor, y, dy: dy * factor)`.
        """
        if not callable(cast(Any, backward)):
            raise ArgumentTypeError(f"with_backward expects a kernel, got {one_line(backward)}")
        return self._changed(backward=backward)

    @without_own_frames
    def with_schedule(self, schedule: Sequence[Any]) -> Self:
        """Return the same kernel with edges between named instructions.

        Args:
            schedule: pairs of an instruction's name and the name, or names, of instructions that it
                runs after.

        The findings of the kernel report names that match no instruction or several, cycles, and
        edges into or out of loops on the device. Source: NKI guide, scheduling APIs.
        """
        edges: list[tuple[str, str]] = []
        if not isinstance(cast(Any, schedule), (tuple, list)):
            raise ArgumentTypeError(
                f"with_schedule expects a list of pairs, got {one_line(schedule)}"
            )
        for entry in schedule:
            parts = cast("Sequence[Any]", entry if isinstance(entry, (tuple, list)) else ())
            if len(parts) != 2:
                raise ArgumentTypeError(
                    f"with_schedule expects pairs of names, got {one_line(entry)}"
                )
            consumer, before = parts
            several = isinstance(before, (tuple, list))
            producers = list(cast(Sequence[Any], before)) if several else [before]
            if not all(isinstance(name, str) for name in (consumer, *producers)):
                raise ArgumentTypeError(f"with_schedule expects names, got {one_line(entry)}")
            edges += [(consumer, producer) for producer in producers]
        return self._changed(schedule=(*self._schedule, *edges))

    def __repr__(self) -> str:
        signature = inspect.signature(self.func)
        # Annotations, and long defaults, are in the source.
        parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
        text = f"({', '.join(map(str, parameters))})"
        text = text if len(text) <= _LONGEST_SIGNATURE else f"({', '.join(signature.parameters)})"
        text = text if len(text) <= _LONGEST_SIGNATURE else "(...)"
        cores = f", {numbered(self._cores, 'core')}" if self._cores > 1 else ""
        return f"<kernel {self.__name__}{text}{cores}>"

    def __reduce__(self) -> str:
        # As for functions: by name.
        return str(getattr(self, "__qualname__", self.__name__))

    def _collect(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], list[TensorArgument]]:
        given, named = (*self._args, *args), {**self._kwargs, **kwargs}
        try:
            bound = self._parameters.bind(*given, **named)
        except TypeError as error:
            texts = texts_of_arguments(self._subject, self._parameters, len(given), named)
            raise error_with(error, [texts.finding(self._place_of_call(), error)]) from None
        bound.apply_defaults()
        try:
            return collect(bound.arguments, self._function_parameters.names)
        except ArgumentTypeError as error:
            raise self._refused(error) from None

    if not TYPE_CHECKING:  # type checkers would accept any name

        def __getattr__(self, name: str) -> object:
            if hasattr(type(self), name):  # a property that has raised AttributeError
                return object.__getattribute__(self, name)
            if name.startswith("_") or not hasattr(self._TRACED, name):
                raise AttributeError(
                    f"{type(self).__name__!r} object has no attribute {name!r}",
                    name=name,
                    obj=self,
                )
            call = f"{self.__name__}.trace(…).{name}"
            call += "(…)" if callable(getattr(self._TRACED, name)) else ""
            error = AttributeError(f"{self._subject} has no {name!r} before it is traced: {call}")
            raise error

    @property
    def _subject(self) -> str:
        """The text that names the kernel in findings: `kernel 'softmax'`."""
        return f"kernel '{self.__name__}'"

    def _refused(self, error: ArgumentTypeError) -> Exception:
        """Return the exception with the finding for a value that cannot be a kernel argument."""
        where = self._place_of_call()
        finding = Diagnostic(ARGUMENT, str(error), self._subject, where, help=error.help)
        return error_with(error, [finding])

    def _place_of_call(self) -> tuple[Position, ...]:
        """Return the position of the user's call of the kernel, else of the kernel's definition."""
        frame = author_frame()
        if frame is not None and not is_library_file(frame.f_code.co_filename):
            return tuple(positions(location_at(frame.f_code, frame.f_lasti)))
        code = getattr(self._function, "__code__", None)
        return () if code is None else (definition_of(code),)

    @without_own_frames
    def run_ranks(self, ranks: Sequence[Sequence[Any]]) -> list[Any]:
        """Run the kernel on several ranks; see `nkijit.run_ranks`."""
        unchecked: Any = ranks
        if not isinstance(unchecked, (list, tuple)) or not unchecked:
            raise ArgumentTypeError("run_ranks expects a list with the arguments of each rank")
        collected: list[tuple[dict[str, Any], list[TensorArgument]]] = []
        for rank, args in enumerate(cast(Sequence[Any], unchecked)):
            if not isinstance(args, (list, tuple)):
                raise ArgumentTypeError(
                    f"run_ranks expects a list or tuple with the arguments of each rank, got "
                    f"{type(args).__name__} for rank {rank}"
                )
            collected.append(self._collect(tuple(cast(Sequence[Any], args)), {}))
        first = collected[0][0]
        for rank, (arguments, _) in enumerate(collected):
            for name, value in arguments.items():
                if not _have_same_trace(first[name], value):
                    raise ArgumentTypeError(
                        f"argument '{name}' is {one_line(value)} on rank {rank} and "
                        f"{one_line(first[name])} on rank 0; all ranks run one kernel, only the "
                        "contents of arrays may differ"
                    )
        traced = self._specialise(*collected[0])
        values = [[tensor.value for tensor in tensors] for _, tensors in collected]
        return traced.run_ranks(values, strict=self.is_strict)

    def _specialise(
        self, arguments: Mapping[str, Any], tensors: Sequence[TensorArgument]
    ) -> TracedKernel:
        target = self.target
        traced = self._cache.get(
            lambda: self._key(arguments, target),
            lambda: self._trace(arguments, tensors, target),
        )
        for watcher in WATCHERS:
            watcher(traced)
        return traced

    def _key(self, arguments: Mapping[str, Any], target: Target) -> tuple[Any, ...]:
        """Return the cache key: an image of everything that a trace depends on. Raises
        UnkeyableError.
        """
        launch = (
            ("target", target.version),
            ("grid", self._launch_grid),
            ("schedule", self._schedule),
        )
        named = {f"argument '{name}'": value for name, value in arguments.items()}
        return (*launch, *named_images({**named, f"kernel '{self.__name__}'": self._function}))

    def cache_info(self) -> CacheInfo:
        """Return how many calls found a cached trace, and why the other calls traced the kernel.

        Example: `kernel.cache_info()` gives `CacheInfo(hits=3, misses=2, maxsize=128, currsize=2,
        reasons={'first call': 1, ...})`. A cached trace is reused if the values that tracing can
        have read are unchanged: arguments, globals, closures, classes, modules, the environment. A
        kernel that reads values that may differ at every call (files, time, random numbers) is
        traced at every call. `NKIJIT_TRACE_CACHE` in the environment sets the number of cached
        traces; the least recently used trace is evicted first.
        """
        return self._cache.info()

    def cache_clear(self) -> None:
        """Forget all traces and counts."""
        self._cache.clear()

    def __trace_image__(self) -> tuple[Any, ...]:
        """Return the kernel's image, a part of the cache key of kernels that call this kernel.

        See `nkijit.kernels.cache_key`.
        """
        noted = {name: value for name, value in vars(self).items() if name not in self._own}
        return (self._original, self._platform_target, self._grid, self._schedule, noted)

    def _trace(
        self,
        arguments: Mapping[str, Any],
        tensors: Sequence[TensorArgument],
        target: Target,
        *,
        watch: Watch | None = None,
    ) -> TracedKernel:
        """Trace the kernel for each core; `watch` receives each tracer before the body runs."""
        try:
            _check_annotations(self._function, arguments)
        except ArgumentTypeError as error:
            raise self._refused(error) from None
        cores = self._cores
        if cores > 1 and target.version < nc_version.gen3:
            raise UnsupportedError(
                f"kernel '{self.__name__}': two cores need NeuronCore-v3, {target.platform} is "
                f"NeuronCore-v{target.version.value}"
            )
        kernels: list[KernelOp] = []
        recorded: list[Diagnostic] = []
        files: dict[Path, FileState] = {}
        named_tuple = launched = None
        # A decorator would add a frame to the user's tracebacks.
        with without_collection():
            for core in range(cores):
                tracer, result = self._trace_core(arguments, tensors, target, (core, cores), watch)
                kernels.append(tracer.kernel)
                recorded += tracer.diagnostics
                files |= tracer.files
                launched = launched or tracer.launched
                named_tuple = named_tuple_of(result)
        return self._TRACED(
            ModuleOp(kernels),
            recorded,
            kernels,
            named_tuple=named_tuple,
            files=files,
            launched=launched,
        )

    def _trace_core(
        self,
        arguments: Mapping[str, Any],
        tensors: Sequence[TensorArgument],
        target: Target,
        core: tuple[int, int],
        watch: Watch | None = None,
    ) -> tuple[Tracer, Any]:
        region = MemoryRegion.private_hbm if core[1] == 1 else MemoryRegion.shared_hbm
        types = [
            (tensor.name, memref_type(as_dtype(tensor.spec.dtype), tensor.spec.shape, region))
            for tensor in tensors
        ]
        dims = 0 if self._launch_grid is None else 1
        tracer = Tracer(_symbol(self.__name__), target, types, dims, core)
        if self.is_classic:
            tracer.kernel.properties["classic"] = UnitAttr()
        if watch is not None:
            watch(tracer)
        remaining = iter(zip(tracer.arguments, tensors, strict=True))

        def tensor_of(_name: str, _value: Any, spec: TensorSpec) -> NkiTensor:
            argument, tensor = next(remaining)
            dtype = as_dtype(spec.dtype)
            storage = Storage(tracer, argument, spec.shape, dtype, region, tensor.name)
            return self._parameter(NkiTensor(spec.shape, dtype.name, storage))

        body = map_tensors(arguments, tensor_of)
        call = inspect.BoundArguments(self._parameters, cast(Any, body))
        try:
            result = tracer.run(lambda: self._body(tracer, call))
        except NkiValidationError as error:
            # The findings name the user's lines; frames inside nkijit would only hide them.
            every = dict.fromkeys([*tracer.diagnostics, *error.diagnostics])
            recorded = without_consequences(every, error)
            raise type(error)(self._found(tracer, recorded)) from None
        except Exception as error:
            recorded = without_consequences(tracer.diagnostics, error)
            # Loops that are nested too deeply for Python are so for the passes, too.
            checked = not isinstance(error, RecursionError)
            finding = finding_of(error, self._function, self._GENERATION)
            if finding is None:
                if found := self._found(tracer, recorded, passes=checked):
                    error.add_note(f"nkijit found before this:\n{render(found)}")
                raise
            found = self._found(tracer, recorded, finding, passes=checked)
            raise error_with(error, found) from None
        finish_trace(tracer, self._function, result)
        tracer.schedule(self._schedule, self._function)
        return tracer, result

    def _found(
        self,
        tracer: Tracer,
        recorded: Sequence[Diagnostic],
        *ended: Diagnostic,
        passes: bool = True,
    ) -> Findings:
        """Return the findings of a trace that an exception ended.

        Args:
            tracer: the tracer, with the part of the kernel that was traced.
            recorded: the findings of tracing.
            ended: the finding for the exception, if there is one. Instructions before its line are
                complete.
            passes: whether the verification passes check the part that was traced.
        """
        kernels = [tracer.kernel]
        passes = passes and not tracer.is_too_long  # the passes would take long, too
        found = found_by_passes(kernels, recorded, complete=False) if passes else []
        return findings(kernels, [*recorded, *ended], complete=False, found=found)

    def _parameter(self, tensor: NkiTensor) -> Any:
        """Return a tensor as the body receives it."""
        return tensor

    def _body(self, tracer: Tracer, call: inspect.BoundArguments) -> Any:
        """Run the body with this tracer active and return its result: tensors in any container."""
        result = self._function(*call.args, **call.kwargs)
        if result is None:
            note_no_result(tracer, self._function)
        return result


def _copied(value: Any) -> Any:
    """Return a copy of an array; other values are returned unchanged."""
    return np.copy(cast(Any, value)) if isinstance(value, np.ndarray) else value


def _reference_of(
    against: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Return the result of a reference. Raises ArgumentTypeError if it refuses the arguments."""
    try:
        return against(*args, **kwargs)
    except TypeError as error:
        trace = error.__traceback__
        if trace is not None and trace.tb_next is None:  # not raised inside of it
            raise ArgumentTypeError(f"bisect calls 'against', but: {error}") from None
        raise


def _is_number(value: Any, number: int) -> bool:
    try:
        return not isinstance(value, bool) and operator.index(value) == number
    except TypeError:
        return False


def _have_same_trace(one: Any, two: Any) -> bool:
    """Return True when two arguments have equal images (cache key parts), so equal traces."""
    if one is two:
        return True
    try:
        return bool(image_of(one) == image_of(two))
    except UnkeyableError:
        return False


def _check_annotations(function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    for name, value in arguments.items():
        stated = annotation_of(function, name)
        if stated is not None and type(value) is TensorSpec and not stated.allows(value.shape):
            raise ArgumentTypeError(
                f"argument '{name}' has shape {value.shape}, the kernel states {stated}"
            )


def _unbound(
    function: Callable[..., Any],
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """Return a function, and the arguments that a bound method or a `functools.partial` adds.

    Bound arguments are treated like the arguments of a call: arrays among them become tensors.
    """
    if isinstance(function, Kernel):
        return _unbound(function._original)  # pyright: ignore[reportPrivateUsage]
    if isinstance(function, MethodType):
        inner, args, kwargs = _unbound(function.__func__)
        return inner, (*args, function.__self__), kwargs
    if isinstance(function, functools.partial):
        partial = cast("functools.partial[Any]", function)
        inner, args, kwargs = _unbound(partial.func)
        return inner, (*args, *partial.args), {**kwargs, **partial.keywords}
    return function, (), {}


def _from_arguments(kind: type[Kernel[...]], arguments: Mapping[str, Any]) -> Kernel[...]:
    """Return the kernel that `by_value` describes."""
    return kind(**arguments)


def _symbol(name: str) -> str:
    return re.sub(r"[^\w]", "_", name)


@dataclass(frozen=True, slots=True)
class FunctionParameters:
    """The parameters of a function at one time: its code and defaults may be replaced."""

    parameters: inspect.Signature
    """The function's own signature, also if it wraps another function."""
    names: dict[str, str]
    """Maps names of a wrapper's `*args` to parameters of the wrapped function."""
    _function: Callable[..., Any]
    _read: tuple[Any, ...]
    """The function's code and defaults when the parameters were read."""

    @staticmethod
    def by(function: Callable[..., Any]) -> FunctionParameters:
        """Return the current parameters of a function."""
        read = _read_of(function)
        parameters = inspect.signature(function, follow_wrapped=False)
        return FunctionParameters(parameters, _names_of_rest(function, parameters), function, read)

    def is_current(self) -> bool:
        """Return whether the function still has the code and defaults that were read."""
        read = _read_of(self._function)
        # By identity, because defaults may be arrays.
        return len(read) == len(self._read) and all(map(operator.is_, read, self._read))


def _read_of(function: Callable[..., Any]) -> tuple[Any, ...]:
    callee = function if isinstance(function, FunctionType) else type(function).__call__
    if not isinstance(callee, FunctionType):
        return ()
    named = callee.__kwdefaults__ or {}
    return callee.__code__, callee.__defaults__, *named, *named.values()


def _names_of_rest(function: Callable[..., Any], parameters: inspect.Signature) -> dict[str, str]:
    """Map names of a wrapper's `*args` to parameters of the wrapped function: `args_0` to `x`."""
    wrapped = list(inspect.signature(function).parameters)
    names = list(parameters.parameters)
    kinds = [parameter.kind for parameter in parameters.parameters.values()]
    if names == wrapped or inspect.Parameter.VAR_POSITIONAL not in kinds:
        return {}
    first = kinds.index(inspect.Parameter.VAR_POSITIONAL)
    return {f"{names[first]}_{i}": name for i, name in enumerate(wrapped[first:])}
