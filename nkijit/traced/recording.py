"""Files of recorded runs: they contain the kernel, its inputs and its results, but no code.

A file is a ZIP archive, not compressed, with

    record.json     {"format": "nkijit record", "version": 1, "kernel": ..., "precise": ...,
                     "loops": ...}
    kernel.mlir     the IR with locations
    inputs/N.npy    the kernel's arguments, in order
    results/N.npy   the kernel's results, in order

All other values are computed from these. An array whose data type the `.npy` format cannot name is
stored as unsigned integers with the same bits; the IR has its data type. `numpy.load` reads the
arrays. `loops` maps the number of an operation in the IR to the loops around it in the kernel's
source: `[[name, value], ...]`, with `["", null]` for a loop on the device.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from nkijit.dialects.dtypes import DType
from nkijit.dialects.files import check_regular
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.python_values import described
from nkijit.dialects.tiles import info_of
from nkijit.host.output_files import StrPath, writing
from nkijit.ir.parser import MAX_TEXT_BYTES
from nkijit.ir.text import ir_text_of, launches_of, parse
from nkijit.passes.diagnostics.shown import ShownPage
from nkijit.passes.diagnostics.source_text import show_source_below
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.numerics.storage import storage
from nkijit.passes.values import record as values
from nkijit.passes.values.bisect import Bisection, against_names, against_record
from nkijit.passes.values.instructions import TracedIndices
from nkijit.passes.values.items import RecordError

FORMAT = "nkijit record"
VERSION = 1
_MOST_HEADER = 10_000
"""The maximum size of the header that NumPy writes before an array, in bytes."""

Array = npt.NDArray[Any]


class Reporting(Protocol):
    """The part of `TracedKernel` that a recording uses."""

    @property
    def report(self) -> Callable[..., ShownPage]:
        """The method that returns the report page as HTML."""
        ...


class TracedRecording(values.Recording):
    """A recorded run of a traced kernel, which `save` writes to a file."""

    def __init__(
        self,
        traced: Reporting,
        module: ModuleOp,
        plan: Plan,
        inputs: Sequence[Array],
        budget: int,
        indices: Mapping[Operation, TracedIndices],
    ):
        super().__init__(plan, inputs, budget=budget, indices=indices)
        self._traced, self._module = traced, module

    @property
    def traced(self) -> Reporting:
        """The `nkijit.TracedKernel` that was run."""
        return self._traced

    def save(self, path: StrPath) -> None:
        """Write the recording to a file, which `nkijit.load_record` reads. Raises OSError.

        The file has the kernel, the inputs and the results; `nkijit.traced.recording` documents the
        format.
        """
        loops = {
            str(number): self._indices[op]
            for number, op in enumerate(self._plan.kernel.walk())
            if op in self._indices
        }
        about = {
            "format": FORMAT,
            "version": VERSION,
            "kernel": self.kernel,
            "precise": self._plan.precise,
            "loops": loops,
        }
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("record.json", json.dumps(about))
            archive.writestr("kernel.mlir", ir_text_of(self._module, locations=True))
            for folder, arrays in (("inputs", self.inputs), ("results", self.results)):
                for number, array in enumerate(arrays):
                    archive.writestr(f"{folder}/{number}.npy", _npy(array))
        with writing(path) as file:
            file.write(buffer.getvalue())

    def bisect(self, against: Any) -> Bisection:
        """Return the first instruction whose difference from a reference exceeds its rounding.

        Args:
            against: the reference: `"float32"` for the same kernel with bfloat16 and float8 stored
                as float32 (`NKI_PRECISE_FP=0`), another recording, the arrays that the kernel
                returns, or named intermediates: `{"tile": array}`. For a variable with several
                instances, pass a list of arrays or a function of an instance's loop indices:
                `lambda i, j: ...`; None skips an instance.

        Raises RecordError for any other reference, and for arrays of the wrong shape or number.

        Example: `print(record.bisect({"p": lambda i: p[128 * i : 128 * (i + 1)]}))`.
        """
        if isinstance(against, str) and against == "float32":
            plan = Plan(self._plan.kernel, precise=False, launch=[self._plan.kernel])
            wide = values.Recording(plan, self.inputs, indices=self._indices)
            return against_record(self, wide, "the same kernel in float32")
        if isinstance(against, values.Recording):
            return against_record(self, against, f"another run of {against.kernel}")
        if isinstance(against, Mapping) and against:
            return against_names(self, cast("Mapping[str, Any]", against), "the reference")
        return against_names(self, self._named_results(against), "the reference")

    def _named_results(self, returned: Any) -> Mapping[str, Any]:
        """Map the names of the results to the arrays that a reference function has returned.

        Raises RecordError for anything but one array per result.
        """
        results = self._plan.kernel.return_op.values
        names = [base_of(value).name_hint or "" for value in results]
        is_several = isinstance(returned, (tuple, list))
        arrays: Sequence[Any] = cast("Sequence[Any]", returned) if is_several else (returned,)
        shapes = [getattr(array, "shape", None) for array in arrays]
        are_known = all(name in self for name in names) and len(set(names)) == len(names)
        if shapes and are_known and shapes == [info_of(value).shape for value in results]:
            return dict(zip(names, arrays, strict=True))
        shown = ", ".join(map(_described, arrays)) or "nothing"
        wanted = ", ".join(
            f"{'x'.join(map(str, info_of(value).shape))} for '{name}'"
            for name, value in zip(names, results, strict=True)
        )
        raise RecordError(
            "a run is compared with 'float32', a recording, an array for each result of the kernel "
            f"({wanted}), or a dict from names of variables to arrays, got {shown}; the kernel's "
            f"variables are {', '.join(self.names)}"
        )

    def report(self, **options: Any) -> ShownPage:
        """Return the kernel's report page as HTML, with the values of its instructions.

        `options` are those of `TracedKernel.report`. With `against=` another recording, the page
        also names the first instruction with a result that differs from that recording.

        Example: `record.report(against=other_kernel.record(x))`.
        """
        return self._traced.report(record=self, **options)


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    is_array = isinstance(shape, tuple)
    return f"{value.dtype} of shape {shape}" if is_array else described(value)


@dataclass(frozen=True, slots=True)
class RecordFile:
    """The contents of a recording's file; `indices` are the loop variables around operations."""

    module: ModuleOp
    kernel: KernelOp
    precise: bool
    indices: dict[Operation, TracedIndices]
    inputs: list[Array]
    results: list[Array]


def read_record(path: StrPath) -> RecordFile:
    """Read a file that `TracedRecording.save` has written.

    Raises OSError when the file cannot be read, and RecordError when it is no recording.
    """
    check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except OSError:
        raise
    except RecordError as error:
        raise RecordError(f"{os.fspath(path)} {error}") from None
    except Exception as error:  # of the archive, of JSON, of the parser of IR
        raise RecordError(f"{os.fspath(path)} is not a recording of nkijit: {error}") from None


def _read(archive: zipfile.ZipFile) -> RecordFile:
    entries = {entry.filename: entry for entry in archive.infolist()}
    if len(entries) != len(archive.infolist()):
        raise RecordError("has entries of one name")
    about = json.loads(_bytes_of(archive, entries, "record.json", MAX_TEXT_BYTES))
    if not isinstance(about, dict) or about.get("format") != FORMAT:  # pyright: ignore[reportUnknownMemberType]
        raise RecordError("is not a recording of nkijit")
    about = cast(dict[str, Any], about)
    if about.get("version") != VERSION:
        raise RecordError(
            f"has version {about.get('version')!r} of the format, this nkijit "
            f"reads version {VERSION}"
        )
    text = _bytes_of(archive, entries, "kernel.mlir", MAX_TEXT_BYTES).decode()
    show_source_below(os.path.dirname(os.path.abspath(str(archive.filename))))
    module = parse(text, f"{archive.filename}:kernel.mlir")
    kernels = launches_of(module).get(about["kernel"], ())
    if len(kernels) != 1:
        raise RecordError("has no kernel of its name on one core")
    kernel, precise = kernels[0], about["precise"] is True
    files = {"inputs": kernel.arguments, "results": kernel.return_op.values}
    arrays: dict[str, list[Array]] = {}
    for folder, tiles in files.items():
        # Inputs have the data types of the IR; results may be wider (NKI_PRECISE_FP=0).
        exact = precise or folder == "inputs"
        arrays[folder] = [
            _array(archive, entries, f"{folder}/{number}.npy", info.shape, info.dtype, exact)
            for number, info in enumerate(map(info_of, tiles))
        ]
    return RecordFile(module, kernel, precise, _indices(kernel, about["loops"]), *arrays.values())


def _bytes_of(
    archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo], name: str, most: int
) -> bytes:
    entry = entries.get(name)
    if entry is None:
        raise RecordError(f"is not a recording of nkijit: it has no {name}")
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > most:
        raise RecordError(f"is damaged: {name} is compressed, or larger than it can be")
    return archive.read(entry)


def _array(
    archive: zipfile.ZipFile,
    entries: Mapping[str, zipfile.ZipInfo],
    name: str,
    shape: tuple[int, ...],
    dtype: DType,
    precise: bool,
) -> Array:
    stored = np.dtype(np.bool_) if dtype.name == "bool_" else storage(dtype, precise=precise)
    size = int(np.prod(shape, dtype=object)) * stored.itemsize
    data = _bytes_of(archive, entries, name, size + _MOST_HEADER)
    array = cast(Array, np.load(io.BytesIO(data), allow_pickle=False))
    if array.shape != shape or array.dtype != _plain(stored):
        raise RecordError(
            f"is damaged: {name} is {array.dtype} of shape {array.shape}, the kernel has "
            f"{dtype.name} of shape {shape}"
        )
    return np.ascontiguousarray(array).view(stored)


def _plain(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.isbuiltin == 1 else np.dtype(f"u{dtype.itemsize}")


def _npy(array: Array) -> bytes:
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array).view(_plain(array.dtype)).reshape(array.shape))
    return file.getvalue()


def _indices(kernel: KernelOp, loops: Any) -> dict[Operation, TracedIndices]:
    """Return the loops around each operation. A malformed structure may raise any exception."""
    ops = list(kernel.walk())
    found: dict[Operation, TracedIndices] = {}
    for number, entries in dict(loops).items():
        if not str(number).isdecimal() or int(number) >= len(ops):
            raise RecordError(
                f"is damaged: its loops name operation {number!r}, which it does not have"
            )
        checked: list[tuple[str, int | None]] = []
        for name, value in entries:
            if not isinstance(name, str) or not (value is None or type(value) is int):
                raise RecordError("is damaged: its loops are not names with whole numbers")
            checked.append((name, value))
        found[ops[int(number)]] = tuple(checked)
    return found
