"""What commands that look at values share: a kernel with arrays for all of its tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from nkijit.cli.arguments import arrays_in_order, call_arguments, checked, named_arrays, stored_as
from nkijit.cli.selection import Selection
from nkijit.dialects.dtypes import DTYPES, Kind
from nkijit.names import as_dtype
from nkijit.passes.interpret.numerics import STORAGE
from nkijit.records import Record
from nkijit.spec import TensorSpec

Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "-i",
        "--input",
        metavar="NAME=FILE.npy",
        help="a tensor argument; one that has a shape only gets random numbers",
    ),
]


@dataclass(frozen=True, slots=True)
class Call:
    """A kernel and the arguments of a call, by name; of a `.mlir` file they are in order."""

    kernels: Selection
    inputs: Sequence[str]

    def record(self, strict: bool | None = None) -> Record:
        """The run, recorded."""
        arrays = dict(named_arrays(self.inputs))
        if self.kernels.is_ir:
            traced = self.kernels.one()
            leaves = traced.argument_types
            given = arrays or {n: drawn(shape, dtype, n) for n, shape, dtype in leaves}
            ordered = arrays_in_order(given, [name for name, _, _ in leaves])
            values = [
                stored_as(array, dtype, name)
                for array, (name, _, dtype) in zip(ordered, leaves, strict=True)
            ]
            return traced.record(*values, strict=strict)
        kernel = self.kernels.kernel()
        if strict is not None:
            kernel = kernel.strict(strict)
        return kernel.record(**self.arguments())

    def arguments(self) -> dict[str, Any]:
        """The arguments of the kernel of a Python file."""
        kernel = self.kernels.kernel()
        arrays = dict(named_arrays(self.inputs))
        if arrays:
            found = call_arguments(kernel, arrays, self.kernels.arg or [])
        else:
            found = checked(kernel, self.kernels.values)
        return {
            name: drawn(value.shape, as_dtype(value.dtype).name, name)
            if isinstance(value, TensorSpec)
            else value
            for name, value in found.items()
        }


def drawn(shape: Sequence[int], dtype: str, name: str) -> npt.NDArray[Any]:
    """Numbers for a tensor: normally distributed, the same for the same name; integers are 0."""
    if DTYPES[dtype].kind is not Kind.float:
        return np.zeros(shape, np.bool_ if dtype == "bool_" else STORAGE[dtype])
    random = np.random.default_rng(list(name.encode()))
    return random.standard_normal(shape, np.float32).astype(STORAGE[dtype])
