"""Results of predictions in a file, so that an interrupted run can be continued."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.fidelity.predicting import Prediction
from nkijit.passes.profile.spread import BASES


class Results:
    """The predictions by row, each appended to a file of JSON lines as it is made."""

    def __init__(self, path: Path | None):
        self.found: dict[str, Prediction] = {}
        self._path = path
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                name, fields = json.loads(line)
                self.found[name] = _with_range(Prediction(**fields))

    def add(self, name: str, prediction: Prediction) -> None:
        """Add the prediction of a row."""
        self.found[name] = prediction
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, asdict(prediction)]) + "\n")


def _with_range(made: Prediction) -> Prediction:
    """Return a prediction with the range that the spreads of `passes/profile/spread.py` give."""
    if made.predicted_us is None:
        return made
    low, high = BASES[made.basis].ends(made.predicted_us - made.launch_us)
    return replace(made, low_us=low + made.launch_low_us, high_us=high + made.launch_high_us)
