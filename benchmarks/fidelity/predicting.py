"""The prediction of a row, in a separate process, because it executes downloaded code."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.fidelity.rows import Row, Source, read_rows
from benchmarks.fidelity.sources import UnavailableError, kernel_text, text_of

if TYPE_CHECKING:
    from nkijit.traced.kernel import TracedKernel

TIMEOUT = 1800
"""Time limit of a prediction, in seconds."""


@dataclass(frozen=True)
class Prediction:
    """The predicted times of a row, or the reason why there are none."""

    predicted_us: float | None = None
    """Time of the kernel after the compiler's passes."""
    author_us: float = 0.0
    """Time of the kernel in the author's order; 0 where it does not fit into memory that way."""
    low_us: float = 0.0
    high_us: float = 0.0
    bound: str = ""
    basis: str = ""
    """The kind of kernels whose published times give the range (`passes/profile/spread.py`)."""
    launch_low_us: float = 0.0
    launch_us: float = 0.0
    launch_high_us: float = 0.0
    """The parts of `low_us`, `predicted_us` and `high_us` that are the launch."""
    busy_us: Mapping[str, float] = field(default_factory=dict[str, float])
    """The busy times of resources, by the names of `Row.busy_us`."""
    hbm_bytes: int = 0
    instructions: int = 0
    """The number of instructions that were simulated."""
    seconds: float = 0.0
    """Processor time of the trace and of one prediction."""
    refused: str = ""
    """Ids of the violated rules, or the exception, if nkijit rejects the kernel."""
    unavailable: str = ""
    """The reason why the source is not available. Such rows are not counted."""


def predicted(row: Row, rows: Path, folder: Path) -> Prediction:
    """Predict a row in a separate process.

    Args:
        row: to predict.
        rows: the TOML file with the row.
        folder: for downloaded sources.
    """
    command = [sys.executable, "-m", "benchmarks.fidelity.predicting"]
    try:
        done = subprocess.run(
            [*command, str(rows), str(folder), row.name],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Prediction(refused=f"takes more than {TIMEOUT} s")
    if done.returncode:
        last = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        return Prediction(refused=last[-1])
    return Prediction(**json.loads(done.stdout.splitlines()[-1]))


def _predict(row: Row, rows: Path, folder: Path) -> Prediction:
    from nkijit.passes.diagnostics.errors import NkiValidationError

    source = read_rows(rows).sources[row.source].file(row.file)
    try:
        begin = time.process_time()
        traced = traced_row(row, source, folder)
        found = prediction_of(traced, row)
        return replace(found, seconds=time.process_time() - begin)
    except UnavailableError as error:
        return Prediction(unavailable=str(error))
    except NkiValidationError as error:
        ids = sorted({d.rule.id for d in error.diagnostics if d.severity == "error"})
        return Prediction(refused=", ".join(ids))


def traced_row(row: Row, source: Source, folder: Path) -> TracedKernel:
    """Return the traced kernel of a row. This executes its source.

    Args:
        row: with the shapes.
        source: the file of the row.
        folder: for downloaded sources.
    """
    from nkijit import TensorSpec

    text = kernel_text(row, source, text_of(source, folder))
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "published.py"
        path.write_text(text)
        kernel = _function(path, row.function).for_target(row.target)
        specs = [TensorSpec(*_shape_and_dtype(text)) for text in row.inputs]
        return kernel.trace(*specs, **row.options)


def prediction_of(traced: TracedKernel, row: Row) -> Prediction:
    """Return the prediction of a traced row; the row has the conditions."""
    profile = traced.profile(disable_dge=row.disable_dge, schedule="compiler")
    ends, counts = profile.range, row.with_launch
    launches = (ends.launch_low, profile.launch, ends.launch_high)
    low, launch, high = (counts * time / 1000 for time in launches)
    author = profile.author and profile.author / 1000 + launch
    return Prediction(
        predicted_us=profile.time / 1000 + launch,
        author_us=author or 0.0,
        low_us=ends.low / 1000 + low,
        high_us=ends.high / 1000 + high,
        bound=profile.bound,
        basis=ends.basis,
        launch_low_us=low,
        launch_us=launch,
        launch_high_us=high,
        busy_us={name: share * profile.time / 1000 for name, share in profile.shares},
        hbm_bytes=profile.roofline.hbm_bytes,
        instructions=profile.instructions,
    )


def _shape_and_dtype(text: str) -> tuple[tuple[int, ...], str]:
    match = re.fullmatch(r"(\w+)\[([\d,]+)\]", text)
    assert match is not None, text
    return tuple(map(int, match[2].split(","))), match[1]


def _function(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def _main() -> None:
    rows, folder, name = sys.argv[1:]
    (row,) = (row for row in read_rows(Path(rows)).rows if row.name == name)
    print(json.dumps(asdict(_predict(row, Path(rows), Path(folder)))))


if __name__ == "__main__":
    _main()
