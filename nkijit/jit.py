"""`nki.jit`: kernels that are traced once per specialisation and run many times."""

from __future__ import annotations

import functools
import inspect
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, cast, overload

from nkijit.dialects.hardware import MemoryRegion, Target
from nkijit.dialects.nki import ReturnOp
from nkijit.dialects.rule_texts import RETURN
from nkijit.dialects.tiles import memref_type
from nkijit.passes.verify.diagnostics import NkiValidationError, render
from nkijit.source import location_of
from nkijit.spec import ArgumentTypeError, UnkeyableError, freeze, tensor_type
from nkijit.target import resolve_target
from nkijit.tensor import NkiTensor
from nkijit.traced import TracedKernel, findings
from nkijit.tracer import Storage, Tracer, active_tracer


class UnsupportedError(NotImplementedError):
    """Something of the public API that nkijit does not model yet."""


class Kernel:
    """A kernel: calling it specialises (cached), verifies and interprets it."""

    def __init__(self, function: Callable[..., Any], platform_target: str | None, grid: int | None):
        functools.update_wrapper(cast(Any, self), function)
        self.__name__: str = getattr(function, "__name__", type(function).__name__)
        self._function = function
        self._platform_target = platform_target
        self._grid = grid
        self.signature = inspect.signature(function)
        self._cache: dict[Any, TracedKernel] = {}
        self._lock = threading.Lock()

    def __getitem__(self, grid: Any) -> Kernel:
        """`kernel[1]`: the launch grid. Grids of one are what is modelled."""
        if grid != 1 and grid != (1,):
            raise UnsupportedError(
                f"kernel '{self.__name__}': a launch grid of {grid} is not modelled yet, only 1"
            )
        return Kernel(self._function, self._platform_target, 1)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel on NumPy arrays.

        Array arguments become tensors in HBM, all others are known while tracing. Returns NumPy
        arrays in the container that the kernel returned. Inputs that the kernel wrote are
        updated in place, no other input changes. Raises NkiValidationError with all findings
        when the kernel breaks a rule. Inside another kernel, the body is traced in place.
        """
        if active_tracer() is not None:
            return self._function(*args, **kwargs)
        bound = self._bind(args, kwargs)
        leaves: list[tuple[str, Any]] = []
        for name, value in bound.items():
            _flatten(name, value, leaves)
        traced = self._specialise(bound, leaves)
        return traced.run(*(value for _, value in leaves))

    def trace(self, *args: Any, **kwargs: Any) -> TracedKernel:
        """Trace the kernel for these arguments; arrays may be given as `TensorSpec`.

        Wrong instructions do not raise here: they are in `.diagnostics` of the result, and
        `.verify()` raises them. A view that cannot exist raises NkiValidationError.
        """
        bound = self._bind(args, kwargs)
        leaves: list[tuple[str, Any]] = []
        for name, value in bound.items():
            _flatten(name, value, leaves)
        return self._specialise(bound, leaves)

    def for_target(self, platform_target: str) -> Kernel:
        """The same kernel for another target."""
        resolve_target(platform_target)
        return Kernel(self._function, platform_target, self._grid)

    def with_schedule(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: schedules are not modelled yet."""
        raise UnsupportedError(f"kernel '{self.__name__}': with_schedule is not modelled yet")

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def _specialise(
        self, bound: Mapping[str, Any], leaves: Sequence[tuple[str, Any]]
    ) -> TracedKernel:
        target = resolve_target(self._platform_target)
        try:
            key = (
                target.version,
                tuple(_image(name, value) for name, value in bound.items()),
                freeze(self._function),
            )
            hash(key)
        except (UnkeyableError, TypeError):
            key = None
        if key is None:
            return self._trace(bound, leaves, target)
        traced = self._cache.get(key)
        if traced is None:
            traced = self._trace(bound, leaves, target)
            with self._lock:
                # Another thread may have been faster; one object serves all callers.
                traced = self._cache.setdefault(key, traced)
        return traced

    def _trace(
        self, bound: Mapping[str, Any], leaves: Sequence[tuple[str, Any]], target: Target
    ) -> TracedKernel:
        region = MemoryRegion.private_hbm
        types = [(name, *cast(Any, tensor_type(name, value))) for name, value in leaves]
        arguments = [(name, memref_type(dtype, shape, region)) for name, shape, dtype in types]
        tracer = Tracer(_symbol(self.__name__), target, arguments, 0 if self._grid is None else 1)
        tensors = iter(
            NkiTensor(shape, dtype.name, Storage(tracer, value, shape, dtype, region, name))
            for value, (name, shape, dtype) in zip(tracer.arguments, types, strict=True)
        )
        body = {name: _rebuild(name, value, tensors) for name, value in bound.items()}
        call = inspect.BoundArguments(self.signature, cast(Any, body))
        try:
            result = tracer.run(lambda: self._function(*call.args, **call.kwargs))
        except NkiValidationError:
            # The findings name the author's lines; frames inside nkijit would only hide them.
            found = findings(tracer.kernel, tracer.diagnostics)
            raise NkiValidationError(found) from None
        except Exception as error:
            found = findings(tracer.kernel, tracer.diagnostics)
            if found:
                error.add_note(f"nkijit found before this:\n{render(found)}")
            raise
        _finish(tracer, self._function, result)
        return TracedKernel(tracer.module, tracer.diagnostics)


def _symbol(name: str) -> str:
    return re.sub(r"[^\w]", "_", name)


def _image(name: str, value: Any) -> Any:
    """A hashable image of an argument: tensors by type, everything else by content."""
    found = tensor_type(name, value)
    if found is not None:
        return (found[0], found[1].name)
    # Only the plain containers: a subclass may keep more than its items.
    if type(value) in (tuple, list) or hasattr(value, "_fields"):
        items = cast(Sequence[Any], value)
        return (type(items), *(_image(f"{name}_{i}", item) for i, item in enumerate(items)))
    if type(value) is dict:
        entries = cast(dict[Any, Any], value).items()
        return (dict, *((freeze(k), _image(f"{name}_{k}", item)) for k, item in entries))
    return freeze(value)


def _flatten(name: str, value: Any, leaves: list[tuple[str, Any]]) -> None:
    """Collect the tensors of an argument, also from tuples, lists and dicts, in order."""
    if tensor_type(name, value) is not None:
        leaves.append((name, value))
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(cast(Sequence[Any], value)):
            _flatten(f"{name}_{index}", item, leaves)
    elif isinstance(value, dict):
        for key, item in cast(dict[Any, Any], value).items():
            _flatten(f"{name}_{key}", item, leaves)


def _rebuild(name: str, value: Any, tensors: Any) -> Any:
    """The argument as the kernel sees it: every array replaced by its tensor."""
    if tensor_type(name, value) is not None:
        return next(tensors)
    if isinstance(value, (tuple, list)):
        items = [_rebuild(name, item, tensors) for item in cast(Sequence[Any], value)]
        container = cast(Any, type(cast(Any, value)))
        # A named tuple takes its fields one by one.
        return container(*items) if hasattr(container, "_fields") else container(items)
    if isinstance(value, dict):
        return {k: _rebuild(name, v, tensors) for k, v in cast(dict[Any, Any], value).items()}
    return value


def _finish(tracer: Tracer, function: Callable[..., Any], result: Any) -> None:
    container: str | None = None
    keys: list[str] | None = None
    if result is None:
        items: list[Any] = []
    elif isinstance(result, (tuple, list)):
        container = "tuple" if isinstance(result, tuple) else "list"
        items = list(cast(Sequence[Any], result))
    elif isinstance(result, dict):
        entries = cast(dict[Any, Any], result)
        container, keys, items = "dict", [str(key) for key in entries], list(entries.values())
        for key in entries:
            if not isinstance(key, str):
                tracer.record_at(function, RETURN, f"the key {key!r} of the result is no string")
    else:
        items = [result]
    values: list[Any] = []
    for index, item in enumerate(items):
        problem = _unreturnable(tracer, item)
        if problem is None:
            values.append(item.ssa_value())
            continue
        which = "the result" if container is None else f"result {index}"
        tracer.record_at(function, RETURN, f"{which} is {problem}")
    if len(values) < len(items):
        # Something wrong was left out, so the container no longer fits.
        container, keys, values = None, None, []
    tracer.finish(ReturnOp.of(values, container, keys), location_of(None))


def _unreturnable(tracer: Tracer, item: Any) -> str | None:
    if not isinstance(item, NkiTensor):
        return f"not a tensor but {item!r} ({type(item).__name__})"
    if item.storage.tracer is not tracer:
        return f"tensor '{item.name}' of another kernel"
    if item.buffer.on_chip:
        return f"tensor '{item.name}' in {item.buffer.value}"
    if item.is_indirect():
        return f"a view of '{item.name}' whose address is known at run time only"
    return None


@overload
def jit(fn: Callable[..., Any], *, platform_target: str | None = None) -> Kernel: ...
@overload
def jit(
    fn: None = None, *, platform_target: str | None = None
) -> Callable[[Callable[..., Any]], Kernel]: ...
def jit(
    fn: Callable[..., Any] | None = None,
    *,
    platform_target: str | None = None,
    **options: Any,
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Make a kernel of a function: `@nki.jit` or `@nki.jit(platform_target="trn2")`.

    Args:
        fn: the function; its array arguments become tensors in HBM.
        platform_target: trn1, inf2, gen2, trn2, gen3, trn3 or gen4; by default the environment
            variable NEURON_PLATFORM_TARGET_OVERRIDE at the time of the call, else trn3.

    Other options of the vendor's decorator are refused by name (UnsupportedError).
    Source: NKI API reference, nki.jit.
    """
    if options:
        raise UnsupportedError(f"nki.jit does not model these options yet: {', '.join(options)}")
    if platform_target is not None:
        resolve_target(platform_target)
    if fn is None:
        return functools.partial(jit, platform_target=platform_target)
    if isinstance(fn, Kernel):
        return fn
    if not callable(fn):
        raise ArgumentTypeError(f"nki.jit expects a function, got {fn!r}")
    return Kernel(fn, platform_target, None)


def simulate(kernel: Kernel | Callable[..., Any]) -> Kernel:
    """The kernel itself: calling it interprets it on this machine (`nki.simulate`)."""
    return kernel if isinstance(kernel, Kernel) else jit(kernel)
