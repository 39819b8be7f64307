"""Classic kernels: the same tracer, with classic tensors, and an instance per point of a grid."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast

from nkijit.classic.assignment import copy
from nkijit.classic.conjunctions import with_conjunctions
from nkijit.classic.launch import ONE_INSTANCE, LaunchGrid
from nkijit.classic.tensors import Blocks, Tensor, Tile
from nkijit.dialects.hardware import MemoryRegion
from nkijit.dialects.rule_texts.classic import RETURNED_ON_CHIP
from nkijit.dialects.rule_texts.operands import RETURN
from nkijit.jit import Kernel, UnsupportedError
from nkijit.language.tensors import allocate
from nkijit.passes.interpret import OutOfBoundsError
from nkijit.tensor import NkiTensor
from nkijit.tracebacks import called_by_authors
from nkijit.traced import TracedKernel
from nkijit.tracer import Tracer


@dataclass(slots=True)
class Instance:
    """The instance of a grid that is being traced, and what it shares with the others."""

    grid: LaunchGrid
    at: tuple[int, ...]
    """Its index in the grid."""
    shared: list[NkiTensor]
    """Tensors in shared HBM, in the order in which every instance allocates them."""
    allocated: int = field(default=0)
    """How many of them this instance has allocated."""


_instance: ContextVar[Instance | None] = ContextVar("nkijit_instance", default=None)


def active_instance() -> Instance | None:
    """The instance that is being traced in this context, if any."""
    return _instance.get()


class ClassicKernel(Kernel):
    """A kernel of the classic API: `neuronxcc.nki.jit`."""

    def __init__(
        self,
        function: Callable[..., Any],
        platform_target: str | None,
        grid: LaunchGrid | None,
        cache: dict[Any, TracedKernel] | None = None,
        schedule: tuple[tuple[str, str], ...] = (),
    ):
        super().__init__(function, platform_target, cast(Any, grid), cache, schedule)

    @property
    def _launch(self) -> LaunchGrid:
        return cast("LaunchGrid | None", self._grid) or ONE_INSTANCE

    @property
    def _cores(self) -> int:
        return self._launch.cores

    @called_by_authors
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel, as `Kernel` does; an index beyond its tensor raises IndexError."""
        try:
            return super().__call__(*args, **kwargs)
        except OutOfBoundsError as error:
            # The text and the class are what the vendor's simulation has.
            told = IndexError(
                f"index {error.element} is out of bounds for axis 0 with size {error.elements}"
            )
            told.add_note(str(error))
            raise told from None

    def __getitem__(self, grid: Any) -> ClassicKernel:
        """`kernel[4, 2]`: an instance of the kernel for each point of a grid.

        Instances run independently of each other; `nl.nc(2)` as a factor of a dimension spreads
        them over two cores. Raises ValueError for a grid that does not exist.
        """
        return cast(ClassicKernel, self._changed(grid=LaunchGrid.of(grid)))

    def _check_inside(self, tracer: Tracer) -> None:
        if self._grid is not None:
            raise UnsupportedError(
                f"err_nested_kernel_with_spmd_grid: kernel '{self.__name__}' is called with a "
                "grid inside another kernel"
            )

    def _parameter(self, tensor: NkiTensor) -> Any:
        return Tile(tensor)

    def _body(self, tracer: Tracer, call: inspect.BoundArguments) -> Any:
        function = with_conjunctions(self._function)
        shared: list[NkiTensor] = []
        results: list[Any] = []
        for at in self._launch.instances(tracer.core[0]):
            token = _instance.set(Instance(self._launch, at, shared))
            try:
                results.append(function(*call.args, **call.kwargs))
            finally:
                _instance.reset(token)
        first = _mapped(results[0], functools.partial(_returned, tracer, self._function))
        for other in results[1:]:
            _check_alike(tracer, self._function, results[0], other)
        return first


def _mapped(result: Any, change: Callable[[Any], Any]) -> Any:
    """A result with every item of its container changed."""
    if isinstance(result, (tuple, list)):
        items = [change(item) for item in cast("list[Any]", result)]
        kind = cast(Any, type(cast(Any, result)))
        return getattr(kind, "_make", kind)(items)
    if isinstance(result, dict):
        return {key: change(item) for key, item in cast("dict[Any, Any]", result).items()}
    return change(result)


def _returned(tracer: Tracer, function: Callable[..., Any], item: Any) -> Any:
    """A returned tensor as the current API has it; a tile is copied to HBM, with a warning."""
    if not isinstance(item, Tensor) or (isinstance(item, Blocks) and len(item.block_shape) > 0):
        return item
    view = item.whole()
    if not view.buffer.on_chip:
        return view
    tracer.record_at(function, RETURNED_ON_CHIP, f"the kernel returns tile '{view.name}'")
    out = allocate("return", view.shape, view.dtype, MemoryRegion.shared_hbm, "")
    copy(out, view)
    return out


def _check_alike(tracer: Tracer, function: Callable[..., Any], one: Any, two: Any) -> None:
    """Instances return the same tensors: those that they share."""
    storages: list[list[Any]] = [[], []]
    for result, found in zip((one, two), storages, strict=True):
        _mapped(result, lambda item, found=found: found.append(_identity(item)))
    if storages[0] != storages[1]:
        tracer.record_at(
            function,
            RETURN,
            "instances of the grid return different tensors; allocate what is returned with "
            "buffer=nl.shared_hbm",
        )


def _identity(item: Any) -> Any:
    return item.whole().storage.value if isinstance(item, Tensor) else item
