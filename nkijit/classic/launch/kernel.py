"""Classic kernels: traced with classic tensors, once for each point (instance) of a grid."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

from typing_extensions import ParamSpec

from nkijit.classic.calls.assignment import copy
from nkijit.classic.grids.grid import ONE_INSTANCE, LaunchGrid, nc
from nkijit.classic.grids.independence import Independence
from nkijit.classic.grids.instances import Instance, tracing
from nkijit.classic.indexing.conjunctions import with_conjunctions
from nkijit.classic.launch.errors import ClassicTracedKernel, with_error_name
from nkijit.classic.launch.modes import BenchmarkResult, Mode, Outcome
from nkijit.classic.launch.outputs import check_outputs, check_placements
from nkijit.classic.launch.scopes import check_scopes
from nkijit.classic.tensors.blocks import Blocks
from nkijit.classic.tensors.initialisation import settle
from nkijit.classic.tensors.tensors import ClassicTensor, ClassicTile
from nkijit.dialects.core_program import MAX_CORES
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nisa.movement import MemsetOp
from nkijit.dialects.rule_texts.classic import RETURNED_ON_CHIP
from nkijit.dialects.rule_texts.classic_kernels import NESTED_GRID
from nkijit.dialects.rule_texts.operands import RETURN
from nkijit.frameworks.calls import Backward
from nkijit.host.dynamo import is_in_dynamo
from nkijit.kernels.dynamo import call_in_dynamo, on_grid
from nkijit.kernels.kernel import Kernel, UnsupportedError
from nkijit.language.creation import allocate
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.interpret.records.errors import OutOfBoundsError
from nkijit.traced.kernel import TracedKernel
from nkijit.tracing.dtype_names import CLASSIC
from nkijit.tracing.locations import location_of_definition
from nkijit.tracing.target import resolve_target
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracebacks import without_own_frames
from nkijit.tracing.tracer import Tracer

_P = ParamSpec("_P", default=...)

CLASSIC_PLATFORM = "trn2"
"""The default target of classic kernels: the newest target that the classic API supports."""


@dataclass(frozen=True)
class Launch:
    """The grid, mode and placement with which a classic kernel is launched."""

    grid: LaunchGrid | None = None
    mode: Mode = field(default_factory=Mode)
    automatic: bool = False
    """Whether to place all tiles automatically, including tiles with an address."""

    @property
    def specialises(self) -> tuple[LaunchGrid | None, bool, bool]:
        """The settings that affect the trace; they are part of the cache key."""
        return self.grid, self.mode.kernel_return, self.automatic


class ClassicKernel(Kernel[_P]):
    """A kernel of the classic API: `neuronxcc.nki.jit`."""

    _TRACED = ClassicTracedKernel
    _GENERATION = CLASSIC

    def __init__(
        self,
        function: Callable[..., Any],
        platform_target: str | None,
        launch: Launch | None = None,
        outcome: Outcome | None = None,
        **rest: Any,
    ):
        """Create a kernel; `rest` are the other arguments of `Kernel`.

        Args:
            function: the kernel's function.
            platform_target: the name of the target; None: the environment decides.
            launch: the grid, mode and placement.
            outcome: the results of calls, shared by kernels that are derived from each other.
        """
        self._launched = launch or Launch()
        self._outcome = outcome or Outcome()
        rest["grid"] = self._launched.specialises
        super().__init__(function, platform_target, **rest)

    def _constructor_arguments(self) -> dict[str, Any]:
        own = {"launch": self._launched, "outcome": self._outcome}
        return {**super()._constructor_arguments(), **own}

    @property
    def _cores(self) -> int:
        return (self._launched.grid or ONE_INSTANCE).cores

    @property
    def _launch_grid(self) -> int | None:
        return self._grid

    @without_own_frames
    def __call__(self, /, *args: _P.args, **kwargs: _P.kwargs) -> Any:
        """Run the kernel, as `Kernel` does; an index beyond its tensor raises IndexError."""
        if is_in_dynamo():
            return call_in_dynamo(self, None, args, kwargs)
        try:
            return super().__call__(*args, **kwargs)
        except OutOfBoundsError as error:
            # The text and the class are those of the vendor's simulation.
            described = IndexError(
                f"index {error.element} is out of bounds for axis 0 with size {error.elements}"
            )
            described.add_note(str(error))
            raise described from None

    @without_own_frames
    def __getitem__(self, grid: Any) -> Self:
        """Launch an instance of the kernel for each point of a grid: `kernel[4, 2]`.

        Instances run independently of each other; `nl.nc(2)` as a factor of a dimension spreads
        them over two cores. Raises ValueError for an invalid grid.
        """
        if is_in_dynamo():
            return cast(Any, on_grid(self, grid))
        return self._changed(launch=replace(self._launched, grid=LaunchGrid.of(grid)))

    @without_own_frames
    def on_cores(self, cores: int) -> Self:
        """Return the kernel with one instance on each of several cores: `kernel[nl.nc(cores)]`."""
        if cores > MAX_CORES:
            name = self.__name__
            raise UnsupportedError(
                f"kernel '{name}': {MAX_CORES} cores at most, got {cores}: for a grid of {cores}, "
                f"write {name}{cores} = {name}[{cores}] in the file and name that: "
                f"FILE.py:{name}{cores}"
            )
        return self[nc(cores)]

    @property
    def launch_grid(self) -> LaunchGrid | None:
        """The grid of a call; None if the call has no grid."""
        return self._launched.grid

    def in_mode(self, mode: Mode) -> Self:
        """Return the kernel for calls in another mode."""
        return self._changed(launch=replace(self._launched, mode=mode), outcome=Outcome())

    @property
    def mode(self) -> Mode:
        """The mode of a call."""
        return self._launched.mode

    def placed_automatically(self) -> Self:
        """Return the kernel with automatic placement of all tiles, even tiles with an address."""
        return self._changed(launch=replace(self._launched, automatic=True))

    @property
    def target(self) -> Target:
        """The hardware that the kernel is traced for; trn2 by default."""
        return resolve_target(self._platform_target, CLASSIC_PLATFORM)

    @property
    def benchmark_result(self) -> BenchmarkResult:
        """The result of the last call in the mode benchmark.

        Raises AttributeError if there was no such call.
        """
        if self._outcome.benchmark is None:
            raise AttributeError(
                f"kernel '{self.__name__}' has no benchmark_result before it is called in the mode "
                "benchmark"
            )
        return self._outcome.benchmark

    def portability(self, /, *args: Any, nki: str | None = None, **kwargs: Any) -> Findings:
        """Refused: the vendor's compilers of the two APIs accept different Python."""
        raise UnsupportedError("portability is checked for kernels of the current API only")

    def _run(
        self, traced: TracedKernel, values: Sequence[Any], backward: Backward | None = None
    ) -> Any:
        return self.mode.run(
            traced, values, self._outcome, strict=self.is_strict, backward=backward
        )

    def _check_grid_inside(self, tracer: Tracer) -> None:
        if self._launched.grid is not None:
            tracer.fail(
                NESTED_GRID,
                f"kernel '{self.__name__}'",
                "it is called with a grid inside another kernel",
            )

    def _parameter(self, tensor: NkiTensor) -> Any:
        return ClassicTile(tensor)

    def _found(
        self,
        tracer: Tracer,
        recorded: Sequence[Diagnostic],
        *ended: Diagnostic,
        passes: bool = True,
    ) -> Findings:
        found = super()._found(tracer, recorded, *ended, passes=passes)
        return Findings(map(with_error_name, found))

    def _body(self, tracer: Tracer, call: inspect.BoundArguments) -> Any:
        function = with_conjunctions(self._function)
        grid = self._launched.grid or ONE_INSTANCE
        shared: list[NkiTensor] = []
        lazy: list[MemsetOp] = []
        independence = Independence(tracer)
        results: list[Any] = []
        for at in independence.instances(grid.instances(tracer.core[0])):
            instance = Instance(grid, at, shared, independence, lazy, self._launched.automatic)
            with tracing(instance):
                results.append(function(*call.args, **call.kwargs))
        first = _mapped(results[0], functools.partial(_returned, tracer, self._function))
        for other in results[1:]:
            _check_same_tensors(tracer, self._function, results[0], other)
        independence.check()
        settle(lazy)
        check_outputs(tracer, self._function, call.arguments, first, self.mode.kernel_return)
        check_placements(tracer)
        check_scopes(tracer, self._function)
        return first


def _mapped(result: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of a kernel's result, with `change` applied to every item of its container."""
    if isinstance(result, (tuple, list)):
        items = [change(item) for item in cast("list[Any]", result)]
        kind = cast(Any, type(cast(Any, result)))
        return getattr(kind, "_make", kind)(items)
    if isinstance(result, dict):
        return {key: change(item) for key, item in cast("dict[Any, Any]", result).items()}
    return change(result)


def _returned(tracer: Tracer, function: Callable[..., Any], item: Any) -> Any:
    """Return a tensor in a kernel's result as a tensor of the current API.

    A returned tile is copied to HBM, with a warning.
    """
    if not isinstance(item, ClassicTensor) or (
        isinstance(item, Blocks) and len(item.block_shape) > 0
    ):
        return item
    view = item.whole()
    if not view.buffer.on_chip:
        return view
    where = f"tile '{view.name}' in {view.buffer.value}"
    message = f"the kernel returns {where}; the vendor's compiler takes results in HBM only"
    tracer.record_at(function, RETURNED_ON_CHIP, message)
    block, last = tracer.mark()
    out = allocate("return", view.shape, view.dtype, MemoryRegion.shared_hbm, "")
    copy(out, view)
    # No call of the kernel copies the tile.
    op = block.first_op if last is None else last.next_op
    while op is not None:
        op.location = location_of_definition(function)
        op = op.next_op
    return out


def _check_same_tensors(tracer: Tracer, function: Callable[..., Any], one: Any, two: Any) -> None:
    """Record a finding if two instances of a grid return different tensors."""
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
    return item.whole().storage.value if isinstance(item, ClassicTensor) else item
