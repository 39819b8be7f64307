"""Runs of a traced kernel on arrays of NumPy, PyTorch or JAX.

This module is imported for the first run: tracing and verifying need no interpreter.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from nkijit.dialects.collection import without_collection
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of
from nkijit.dialects.walks import unchanged
from nkijit.frameworks.arrays import (
    Framework,
    as_array,
    check_gradients,
    common_framework,
    deferring_framework,
    named_dtypes,
)
from nkijit.frameworks.calls import ArgumentTypeError, Backward, DeferredCall
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import NkiWarning
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.queues.run import Queues
from nkijit.passes.interpret.records.errors import FoundError, InterpretationError
from nkijit.passes.interpret.run.launch import Launch
from nkijit.passes.interpret.run.overlaps import overlap_of
from nkijit.passes.lower.program import Program
from nkijit.passes.values.events import ListenerLike, as_listener
from nkijit.passes.values.instructions import TracedIndices
from nkijit.passes.values.items import RecordError
from nkijit.traced.call_names import as_user_call
from nkijit.traced.recording import Reporting, TracedRecording
from nkijit.traced.strictness import WarningIssuer, is_strict
from nkijit.tracing.tracebacks import warn_at_call

_P = ParamSpec("_P")
_R = TypeVar("_R")

PRECISE_VARIABLE = "NKI_PRECISE_FP"
SANITIZE_VARIABLE = "NKIJIT_SANITIZE"


def _in_users_words(run: Callable[_P, _R]) -> Callable[_P, _R]:
    """Wrap a run so that a finding that ends the run names the call in the user's source."""

    @functools.wraps(run)
    def reworded(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return run(*args, **kwargs)
        except FoundError as error:
            error.reword(as_user_call(error.finding))
            raise

    return reworded


Admit = Callable[[bool], Sequence[Diagnostic]]
"""`admit(strict)` raises if an error stops the kernel, else returns the remaining errors."""


class Runs:
    """The runs of one specialisation; `TracedKernel` documents them."""

    def __init__(
        self,
        kernels: Sequence[KernelOp],
        admit: Admit,
        suspicious: Callable[[], Sequence[Diagnostic]],
        named_tuple: Callable[[Iterable[Any]], Any] | None,
    ):
        self._kernels = kernels
        self._kernel = kernels[0]
        self._admit = admit
        self._suspicious = suspicious
        self._pack = _packer(self._kernel, named_tuple)
        self._plans: dict[bool, Launch] = {}
        self._lock = threading.Lock()

    @_in_users_words
    def run(
        self,
        inputs: Sequence[Any],
        listener: ListenerLike | None,
        sanitize: bool | None,
        strict: bool | None,
        backward: Backward | None = None,
    ) -> Any:
        """Interpret the kernel once, or have the framework of the inputs do so."""
        plan, tell = self.plan(strict)
        framework = deferring_framework(inputs)
        if framework is not None:
            call = self._deferred(plan, tell, backward)
            check_gradients(call, inputs)
            return self._pack(framework.run_later(call, inputs))
        arrays, framework = _arrays(plan, inputs)
        _check_writes(plan, [(arrays, framework)], strict=tell is None)
        return plan.run(
            arrays,
            as_listener(listener),
            sanitize=_sanitizes(sanitize),
            tell=tell,
            finish=lambda results: self._finished(results, arrays, framework),
        )

    def deferred(self, strict: bool | None, backward: Backward | None) -> DeferredCall:
        """Return a call of the kernel that a framework runs."""
        return self._deferred(*self.plan(strict), backward)

    def _deferred(
        self, plan: Launch, tell: WarningIssuer | None, backward: Backward | None
    ) -> DeferredCall:
        strict = tell is None

        def run(*inputs: Any) -> list[Any]:
            arrays = list(inputs)
            _check_writes(plan, [(arrays, None)], strict=strict)
            return plan.run(arrays, sanitize=_sanitizes(None), tell=tell)

        return DeferredCall(
            self._kernel.launch_name,
            plan.inputs,
            plan.result_types,
            run,
            lambda: f"{strict} {self._text()}",
            self._pack,
            backward,
        )

    def _text(self) -> str:
        from nkijit.ir.text import ir_text_of

        return ir_text_of(cast(ModuleOp, self._kernel.parent_op()))

    def run_ranks(self, inputs: Sequence[Sequence[Any]], strict: bool | None) -> list[Any]:
        """Interpret the kernel on several ranks, which communicate by collectives."""
        plan, tell = self.plan(strict)
        ranks = [_arrays(plan, rank) for rank in inputs]
        _check_writes(plan, ranks, strict=tell is None)
        return plan.run_ranks(
            [arrays for arrays, _ in ranks],
            sanitize=_sanitizes(None),
            tell=tell,
            finish=lambda results: [
                self._finished(result, *rank) for result, rank in zip(results, ranks, strict=True)
            ],
        )

    @_in_users_words
    def run_queues(
        self,
        programs: Sequence[Program],
        inputs: Sequence[Any],
        listener: ListenerLike | None,
        seed: int,
    ) -> Any:
        """Run the queues that the kernel was lowered to."""
        plan, _ = self.plan(True)
        arrays, framework = _arrays(plan, inputs)
        _check_writes(plan, [(arrays, framework)], strict=True)
        with without_collection():
            queues = Queues(programs)
        return queues.run(
            arrays,
            as_listener(listener),
            seed=seed,
            finish=lambda results: self._finished(results, arrays, framework),
        )

    @_in_users_words
    def record(
        self,
        traced: Reporting,
        module: ModuleOp,
        inputs: Sequence[Any],
        budget: int,
        indices: Mapping[Operation, TracedIndices],
        strict: bool | None,
    ) -> TracedRecording:
        """Run once and record the values that instructions read and write."""
        plan, _ = self.plan(strict)
        if len(plan.plans) > 1:
            raise RecordError(
                f"kernel '{self._kernel.launch_name}' runs on "
                f"{numbered(len(plan.plans), 'core')}, whose "
                "instructions have no order between them; record it on one core, or give run() a "
                "listener"
            )
        arrays, _ = _arrays(plan, inputs)
        return TracedRecording(traced, module, plan.plans[0], arrays, budget, indices)

    def plan(self, strict: bool | None) -> tuple[Launch, WarningIssuer | None]:
        """Return the kernel's plan, and the issuer of warnings for errors that do not stop a run.

        The issuer is None for a strict run.
        """
        checked = is_strict(strict)
        admitted = self._admit(checked)
        precise = os.environ.get(PRECISE_VARIABLE, "1") != "0"
        plan = self._plans.get(precise)
        if plan is None:
            with self._lock:
                plan = self._plans.get(precise)
                if plan is None:
                    kernels = self._kernels
                    with without_collection(), unchanged(kernels):
                        plans = [Plan(k, precise=precise, launch=kernels) for k in kernels]
                        plan = self._plans[precise] = Launch(plans)
                    WarningIssuer(self._suspicious())
        return plan, None if checked else WarningIssuer(admitted)

    def _finished(
        self, results: list[Any], inputs: Sequence[Any], framework: Framework | None
    ) -> Any:
        """Return the result of a call, made from the results of a run."""
        return self._pack(_of_framework(self._in_input_dtypes(results, inputs), framework))

    def _in_input_dtypes(self, results: list[Any], inputs: Sequence[Any]) -> list[Any]:
        """Return results with the caller's own dtypes instead of the NKI types of the same names.

        If an input has a dtype that equals an NKI type by name only, results of the NKI type get
        the input's dtype.
        """
        dtypes = named_dtypes(inputs)
        if not dtypes:
            return results
        views = list(results)
        for index, value in enumerate(self._kernel.return_op.values):
            dtype = dtypes.get(info_of(value).dtype.name)
            # With NKI_PRECISE_FP=0 float8 is stored as float32.
            if dtype is not None and dtype.itemsize == results[index].dtype.itemsize:
                views[index] = results[index].view(dtype)
        return views


def _packer(
    kernel: KernelOp, named_tuple: Callable[[Iterable[Any]], Any] | None
) -> Callable[[list[Any]], Any]:
    """Return a function that makes a kernel's result of a list of its tensors.

    `torch.compile` reads the code of that function.
    """
    end = kernel.return_op
    container = None if end.container is None else end.container.data
    if container is None:
        return lambda results: results[0] if results else None
    if container == "dict":
        keys = [key.data for key in cast(ArrayAttr[StringAttr], end.keys)]
        return lambda results: dict(zip(keys, results, strict=True))
    if container == "tuple":
        # The IR does not have the class of a named tuple, so a loaded kernel returns a plain tuple.
        return named_tuple or tuple
    return list


def _sanitizes(requested: bool | None) -> bool:
    return os.environ.get(SANITIZE_VARIABLE, "0") == "1" if requested is None else requested


def _arrays(plan: Launch, inputs: Sequence[Any]) -> tuple[list[Any], Framework | None]:
    """Return the inputs as NumPy arrays, and their framework; None if all are NumPy's."""
    if all(isinstance(value, np.ndarray) for value in inputs):
        return list(inputs), None
    framework = common_framework(inputs)
    arrays = list(inputs)
    for index, (value, (name, is_written)) in enumerate(zip(inputs, plan.inputs, strict=False)):
        if isinstance(value, np.ndarray):
            continue
        if is_written and framework is not None and framework.immutable:
            raise ArgumentTypeError(
                f"the kernel writes its argument '{name}', but arrays of {framework.name} "
                "are immutable; write to a tensor that the kernel allocates and returns"
            )
        if framework is not None and framework.pending(value):
            raise ArgumentTypeError(
                f"argument '{name}' has no values yet, for it is traced by a transformation of "
                f"{framework.name}; run ranks outside of it"
            )
        array = as_array(name, value)
        arrays[index] = value if array is None else array
    return arrays, framework


def _check_writes(
    plan: Launch, ranks: Sequence[tuple[list[Any], Framework | None]], *, strict: bool
) -> None:
    """Raise an error for a run that could fail after writing its inputs, or is undefined.

    `ranks` has the arrays and the framework of each rank. Without `strict`, input arrays of one
    rank that share memory get a warning. In this case, an array that is only read is copied,
    because in the vendor's simulator every tensor has its own memory.
    """
    if not plan.writes_inputs:
        return
    for framework in {f.name: f for _, f in ranks if f is not None}.values():
        # Raises if the framework lacks the data type of a result.
        _of_framework([np.empty(0, dtype) for _, dtype in plan.result_types], framework)
    inputs, arrays_of = plan.inputs, [arrays for arrays, _ in ranks]
    while (overlap := overlap_of(inputs, arrays_of)) is not None:
        if strict or overlap.across_ranks:
            raise InterpretationError(str(overlap))
        warn_at_call(str(overlap), NkiWarning)
        if overlap.both_written:
            return
        arrays = arrays_of[overlap.ranks[0]]
        arrays[overlap.number] = arrays[overlap.number].copy()


def _of_framework(results: list[Any], framework: Framework | None) -> list[Any]:
    return results if framework is None else [framework.result(array) for array in results]
