"""Results of predictions in a file, so that an interrupted run can be continued."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.fidelity.predicting import Prediction


class Results:
    """The predictions by row, each appended to a file of JSON lines as it is made."""

    def __init__(self, path: Path | None):
        self.found: dict[str, Prediction] = {}
        self._path = path
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                name, fields = json.loads(line)
                self.found[name] = Prediction(**fields)

    def add(self, name: str, prediction: Prediction) -> None:
        """Add the prediction of a row."""
        self.found[name] = prediction
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, asdict(prediction)]) + "\n")
