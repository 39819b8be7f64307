"""Arguments for the commands that run a kernel: arrays for all of its tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy.typing as npt
import typer

from nkijit.cli.arguments import arrays_in_order, call_arguments, named_arrays, stored_as
from nkijit.cli.selection import Selection
from nkijit.discovery.argument_text import RANDOM, Random
from nkijit.host.terminal import waiting
from nkijit.kernels.kernel import Kernel
from nkijit.passes.diagnostics.errors import stop_at_errors
from nkijit.testing.inputs import random_inputs
from nkijit.traced.kernel import TracedKernel

if TYPE_CHECKING:
    from nkijit.traced.recording import TracedRecording

Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "-i",
        "--input",
        metavar="NAME=FILE.npy",
        help="file of a tensor argument, in NumPy's format, or NAME=random; without NAME=, files "
        "are in the order of the arguments",
    ),
]

SEED = typer.Option("--seed", metavar="N", min=0, help="seed of the random data for other tensors")
Seed = Annotated[int, SEED]


@dataclass(frozen=True, slots=True)
class Call:
    """A kernel and the arguments of a call."""

    kernels: Selection
    inputs: Sequence[str]
    seed: int = 0

    def kernel(self, strict: bool | None) -> Kernel:
        """Return the kernel of a Python file; `strict` None keeps the kernel's own setting.

        Raises NkiValidationError if the kernel has denied warnings.
        """
        chosen = self.kernels.chosen()
        kernel = chosen.kernel
        if chosen.denial:
            with waiting(f"checking {chosen.name}"):
                stop_at_errors(chosen.reported(kernel.trace(**self.arguments()).diagnostics))
        return kernel if strict is None else kernel.strict(strict)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments for the kernel of a Python file, by name."""
        chosen = self.kernels.chosen()
        arrays = dict(named_arrays(self.inputs))
        return call_arguments(chosen, arrays, self.seed)

    def arrays(self, traced: TracedKernel) -> list[npt.NDArray[Any]]:
        """Return an array per tensor argument of a kernel from IR, in order."""
        leaves = traced.argument_types
        named = dict(named_arrays(self.inputs)) or {name: RANDOM for name, _, _ in leaves}
        ordered = arrays_in_order(named, [name for name, _, _ in leaves])
        drawn_arrays = random_inputs(traced, self.seed)
        return [
            drawn if isinstance(array, Random) else stored_as(array, dtype, name)
            for array, drawn, (name, _, dtype) in zip(ordered, drawn_arrays, leaves, strict=True)
        ]

    def record(self, strict: bool | None = None) -> TracedRecording:
        """Run the kernel and record the run."""
        if self.kernels.is_ir:
            traced = self.kernels.one()
            with waiting(f"recording a run of {traced.name}"):
                return traced.record(*self.arrays(traced), strict=strict)
        kernel = self.kernel(strict)
        with waiting(f"recording a run of {kernel.__name__}"):
            return kernel.record(**self.arguments())
