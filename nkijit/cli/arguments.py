"""Arguments of a call from the command line: values and tensor types (`-a`), arrays (`-i`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nkijit.dialects.spelling import counted
from nkijit.discovery.argument_text import RANDOM, Random
from nkijit.discovery.errors import UsageError
from nkijit.discovery.selection import Chosen, checked
from nkijit.host.array_files import load_array
from nkijit.host.missing_files import missing_file
from nkijit.host.output_files import writing
from nkijit.kernels.arguments import TensorSpec
from nkijit.passes.numerics.storage import STORAGE
from nkijit.testing.inputs import with_random_data
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.locations import ssa_name

Input = npt.NDArray[Any] | Random
"""The value of one `-i`: the array of a file, or random data."""


def named_arrays(inputs: Sequence[str]) -> Iterator[tuple[str, Input]]:
    """Yield each `-i` as a name and its array. Inputs without a name are called `#0`, `#1`, …

    The number is the position among all inputs. Raises UsageError for files without an array and
    for a name that is given twice.
    """
    seen: set[str] = set()
    for index, text in enumerate(inputs):
        name, equals, path = text.partition("=")
        if not equals:
            name, path = f"#{index}", text
        elif not name or name.startswith("#"):
            raise UsageError(f"-i {text}: expected NAME=FILE.npy or FILE.npy")
        try:
            array = RANDOM if path == str(RANDOM) else load_array(path, mapped=True)
        except FileNotFoundError:
            raise UsageError(f"-i {text}: {missing_file(path)}") from None
        except (OSError, ValueError) as error:
            raise UsageError(f"-i {text}: cannot read {path}: {error}") from None
        if name in seen:
            raise UsageError(f"-i {text}: input '{name}' is given twice")
        seen.add(name)
        yield name, array


def arrays_in_order(arrays: dict[str, Input], names: Sequence[str]) -> list[Input]:
    """Return the arrays of `-i`, ordered like the tensor arguments of a kernel loaded from IR.

    Args:
        arrays: the arrays that `named_arrays` yields; unnamed ones fill the remaining arguments in
            order.
        names: the names of the kernel's tensor arguments.
    """
    unnamed = [array for name, array in arrays.items() if name.startswith("#")]
    # A Python argument `x_1` is `x.1` in the IR; both names are accepted.
    renamed = {
        name if name.startswith("#") else ssa_name(name) or name: a for name, a in arrays.items()
    }
    if len(renamed) < len(arrays):
        raise UsageError(f"an input is given twice: {', '.join(arrays)}")
    arrays = renamed
    unknown = [name for name in arrays if not name.startswith("#") and name not in names]
    if unknown:
        raise UsageError(f"no tensor argument '{unknown[0]}'; there are {', '.join(names)}")
    result: list[Input] = []
    for name in names:
        if name in arrays:
            result.append(arrays[name])
        elif unnamed:
            result.append(unnamed.pop(0))
        else:
            raise UsageError(f"input '{name}' is missing: -i {name}=FILE.npy, or -i {name}=random")
    if unnamed:
        extra = counted(len(unnamed), "input")
        raise UsageError(f"{extra} too many; the kernel has {', '.join(names)}")
    return result


def call_arguments(chosen: Chosen, arrays: Mapping[str, Input], seed: int = 0) -> dict[str, Any]:
    """Return the arguments of a call: arrays from files, values, and random data for other tensors.

    With `-a x=128x512:bfloat16` and `-i x=x.npy`, the bits in the file are read as bfloat16.
    """
    kernel, static = chosen.kernel, dict(chosen.known)
    free = [n for n in kernel.signature.parameters if n not in arrays]
    named: dict[str, Any] = {}
    for name, array in arrays.items():
        if name.startswith("#"):
            candidates = [n for n in free if n not in static or isinstance(static[n], TensorSpec)]
            if not candidates:
                raise UsageError("more inputs than the kernel has arguments")
            name = candidates[0]
            free.remove(name)
        declared = static.get(name)
        if isinstance(array, Random):
            if not isinstance(declared, TensorSpec):
                raise UsageError(f"-i {name}=random needs a shape: add -a {name}=128x512:float32")
            continue
        if isinstance(declared, TensorSpec):
            array = stored_as(array, as_dtype(declared.dtype).name, name)
        elif array.dtype.kind == "V":
            shape = "x".join(map(str, array.shape))
            raise UsageError(
                f"input '{name}': the file does not name the data type of its "
                f"{array.dtype.itemsize}-byte values; add e.g. -a {name}={shape}:bfloat16"
            )
        named[name] = array
    arguments = checked(kernel, {**static, **named}, "-i {name}={name}.npy", label=chosen.label)
    return with_random_data(arguments, seed)


def stored_as(array: npt.NDArray[Any], dtype: str, name: str) -> npt.NDArray[Any]:
    """Return an array from a file in the data type of a tensor.

    Unsigned integers and void data (`V`) of the same item size are reinterpreted: NumPy's file
    format has no names for types such as bfloat16. Raises UsageError for other data types.
    """
    stored = STORAGE[dtype]
    if array.dtype == stored or (dtype == "bool_" and array.dtype == np.bool_):
        return array
    if array.dtype.kind in "uV" and array.dtype.itemsize == stored.itemsize:
        return np.ascontiguousarray(array).view(stored)
    raise UsageError(f"input '{name}': expected {dtype}, the file holds {array.dtype}")


def result_arrays(result: Any) -> list[npt.NDArray[Any]]:
    """Return the arrays that a kernel returned (one, a tuple, list or dict) as a list."""
    if result is None:
        return []
    if isinstance(result, dict):
        return list(result.values())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return list(result) if isinstance(result, (tuple, list)) else [result]  # pyright: ignore


def save(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array as `.npy`. Types that are not NumPy's own are written as unsigned integers."""
    standard = array.dtype.isbuiltin == 1
    with writing(path) as file:
        np.save(file, array if standard else array.view(f"u{array.dtype.itemsize}"))
