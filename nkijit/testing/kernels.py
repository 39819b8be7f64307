"""The kernel arguments of test functions: traced kernels, or kernels with inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nkijit.discovery.argument_text import with_tensors
from nkijit.frameworks.calls import ArgumentTypeError
from nkijit.kernels.hooks import WATCHERS
from nkijit.kernels.kernel import Kernel
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import Findings
from nkijit.traced.kernel import TracedKernel

Inputs = Mapping[str, Any] | Sequence[Any]
"""Arguments of a kernel, by name or in order; text like `"128x512:bfloat16"` is a tensor."""


def traced_of(kernel: TracedKernel | Kernel, inputs: Inputs | None = None) -> TracedKernel:
    """Return the kernel, traced with `inputs` if it is not traced yet.

    Raises:
        NkiValidationError: tracing raises it.
        TypeError: `kernel` is not a kernel, does not have such arguments, or is already traced and
            `inputs` are given.
    """
    subject: Any = kernel
    if isinstance(subject, TracedKernel):
        if inputs is not None:
            raise TypeError(f"@{subject.name} is traced already: `inputs` are for kernels")
        for watcher in WATCHERS:
            watcher(subject)
        return subject
    if not isinstance(subject, Kernel):
        raise TypeError(f"expected a kernel or a traced kernel, got {subject!r}")
    positional, named = _arguments(inputs)
    try:
        subject.signature.bind(*positional, **named)
    except TypeError as error:
        raise ArgumentTypeError(
            f"kernel '{subject.__name__}': {error}; trace it first, {subject.__name__}.trace(...), "
            'or say what it is traced for, e.g. inputs={"x": "128x512:float32"}'
        ) from None
    return subject.trace(*positional, **named)


def findings_of(kernel: TracedKernel | Kernel | Findings, inputs: Inputs | None) -> Findings:
    """Return the findings of a kernel, even if its trace is aborted."""
    if isinstance(kernel, Findings):
        return kernel
    try:
        return traced_of(kernel, inputs).diagnostics
    except NkiValidationError as error:
        return error.diagnostics


def label_of(traced: TracedKernel) -> str:
    """Return the name of a traced kernel in messages."""
    return f"@{traced.name} for {traced.target.platform}"


def _arguments(inputs: Inputs | None) -> tuple[list[Any], dict[str, Any]]:
    if inputs is None:
        return [], {}
    if isinstance(inputs, Mapping):
        return [], {name: with_tensors(value) for name, value in inputs.items()}
    if isinstance(inputs, str):
        return [with_tensors(inputs)], {}
    return [with_tensors(value) for value in inputs], {}
