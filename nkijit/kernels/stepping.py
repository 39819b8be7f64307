"""Values of tiles during tracing: a request for a value interprets the trace up to this point.

A request copies the operations traced so far, closes the open loops in the copy, and interprets it
up to the last operation. The trace itself does not change, so its results are the same as in any
other call.
"""

from __future__ import annotations

import os
import pdb
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.scf import YieldOp
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.dtypes import DTYPES, Kind
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp, NoReorderOp, ReturnOp
from nkijit.dialects.python_values import one_line
from nkijit.frameworks.arrays import as_array
from nkijit.passes.interpret.plan.cursor import Cursor
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.environment import strided
from nkijit.passes.numerics.storage import STORAGE
from nkijit.tracing.locations import frame_at, is_internal
from nkijit.tracing.tracebacks import without_own_frames
from nkijit.tracing.tracer import Tracer
from nkijit.tracing.views import TensorView

Array = npt.NDArray[Any]


class Values:
    """The values of the tensors of a trace."""

    def __init__(self, tracer: Tracer, inputs: Sequence[Any]):
        """Start without values. `inputs`: one array per kernel argument; these are copied."""
        self._tracer = tracer
        self._inputs = [np.array(cast(Any, as_array("input", value))) for value in inputs]
        self._at = -1
        self._memory: dict[SSAValue, Array] = {}
        """The bytes of each tensor after the first `_at` operations."""

    def of(self, view: TensorView) -> Array:
        """Return a copy of the elements of a view. Raises ValueError where they are not known."""
        access = view._elements  # pyright: ignore[reportPrivateUsage]
        if access is None:
            raise ValueError("which elements it has is known on the device only")
        memory = self._now()[view.storage.value]
        dtype = DTYPES[view.dtype]
        values = strided(memory, access, STORAGE[dtype.name]).copy()
        return values != 0 if dtype.kind is Kind.boolean else values

    def shown(self, view: TensorView) -> str:
        """Return the elements of a view as text, or the reason why they are not known."""
        try:
            return str(self.of(view))
        except Exception as error:  # any error: printing a tile must not raise
            return f"no values: {error}"

    def _now(self) -> dict[SSAValue, Array]:
        history = self._tracer.history or []
        if self._at != len(history):
            self._memory = self._run(history)
            self._at = len(history)
        return self._memory

    def _run(self, history: Sequence[Operation]) -> dict[SSAValue, Array]:
        """Return the bytes of all tensors after the operations so far."""
        kernel, same = self._copy()
        tensors = [*self._tracer.arguments]
        tensors += [op.results[0] for op in self._tracer.kernel.walk() if isinstance(op, AllocOp)]
        kernel.body.block.add_op(ReturnOp.of([same[value] for value in tensors]))
        last: Operation | None = None
        if self._tracer.open_loops():
            last = next((op for op in reversed(history) if is_instruction(op)), None)
            # The terminators of loops that were added to the copy come after it.
            number = [*self._tracer.kernel.walk()].index(last) if last is not None else 0
            last = [*kernel.walk()][number + len(self._tracer.constants())]
        cursor = Cursor(plan := Plan(kernel), self._inputs)
        while (op := cursor.next()) is not None:
            cursor.run(shows=False)
            if op is last:
                break
        results = plan.results(cursor.env)
        return {
            value: np.ascontiguousarray(result).reshape(-1).view(np.uint8)
            for value, result in zip(tensors, results, strict=True)
        }

    def _copy(self) -> tuple[KernelOp, dict[SSAValue, SSAValue]]:
        """Return a copy of the kernel traced so far, with its open loops closed.

        The second result maps SSA values of the trace to SSA values of the copy.
        """
        same: dict[SSAValue, SSAValue] = {}
        constants = [op.clone(same) for op in self._tracer.constants()]
        blocks: Any = {}
        kernel = self._tracer.kernel.clone(same, blocks)
        for block, op in self._tracer.open_loops():
            if not isinstance(op, NoReorderOp):
                blocks[block].add_op(YieldOp())
        first = kernel.body.block.first_op
        if first is None:
            kernel.body.block.add_ops(constants)
        else:
            kernel.body.block.insert_ops_before(constants, first)
        return kernel, same


def watch_values(tracer: Tracer, inputs: Sequence[Any]) -> None:
    """Make the values of tensors available during a trace, computed from these inputs."""
    tracer.history = []
    tracer.values = Values(tracer, inputs)


@without_own_frames
def value_of(tile: Any) -> Array:
    """Return the current elements of a tile as an array.

    Works only in a kernel that runs by `kernel.step(...)`, and raises RuntimeError elsewhere.
    Raises ValueError for a view with an address that is known only on the device, and TypeError for
    an object that is no tile.

    Example:

        @nki.jit
        def copied_twice(x):
            tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x)
            assert nki.value_of(tile).shape == (128, 512)
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            nisa.dma_copy(dst=out, src=tile)
            return out

        out = copied_twice.step(x[:128])
    """
    # A tile of the classic API contains one of the current API.
    view = tile if isinstance(tile, TensorView) else getattr(tile, "value", None)
    if not isinstance(view, TensorView):
        raise TypeError(f"value_of expects a tile, got {one_line(tile)}")
    values = view.storage.tracer.values
    if values is None:
        raise RuntimeError("tiles have values in a kernel that runs by kernel.step(...)")
    return values.of(view)


# ------------------------------------------------------------------ pdb


_SHARED_PACKAGES = {*sys.stdlib_module_names, "ml_dtypes", "numpy", "scipy"}
"""Packages that both nkijit and user code call."""


def _is_hidden(frame: FrameType) -> bool:
    """Return whether a frame belongs to nkijit, xDSL or a library called by one of these."""
    above: FrameType | None = frame
    while above is not None:
        package = above.f_globals.get("__name__", "").partition(".")[0]
        if is_internal(above.f_code) or package == "xdsl":
            return True
        if package not in _SHARED_PACKAGES:
            return False
        above = above.f_back
    return False


class _Debugger(pdb.Pdb):
    """A pdb that shows only the user's frames, and library frames that user code has called."""

    def stop_here(self, frame: FrameType) -> bool:
        return not _is_hidden(frame) and super().stop_here(frame)

    def get_stack(
        self, f: FrameType | None, t: TracebackType | None
    ) -> tuple[list[tuple[FrameType, int]], int]:
        """Return the visible frames of a stack, and the index of the current frame among them."""
        stack, current = super().get_stack(f, t)
        shown = [
            (number, entry)
            for number, entry in enumerate(stack)
            if number == current or not _is_hidden(entry[0])
        ]
        place = next(n for n, (number, _) in enumerate(shown) if number == current)
        return [entry for _, entry in shown], place


@contextmanager
def debugging() -> Generator[None]:
    """Make `breakpoint()` stop in pdb without nkijit's frames, unless there is another debugger."""
    before = sys.breakpointhook
    if before is sys.__breakpointhook__ and not os.environ.get("PYTHONBREAKPOINT"):
        debugger = _Debugger()

        def stop(*_args: Any, **_kwargs: Any) -> None:
            debugger.set_trace(frame_at(1))

        sys.breakpointhook = stop
    try:
        yield
    finally:
        sys.breakpointhook = before
