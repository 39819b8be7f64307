"""Results of the public API and their attributes show as a line, and print as a page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.sweeping import InTurn
from xdsl.ir import Attribute, Operation, SSAValue

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.kernels.arguments import TensorSpec
from nkijit.migrate.migration import migrate_file
from nkijit.passes.diagnostics.fields import ShownFields

LONGEST = 200
"""Characters of a line."""
STEPS = 2
"""The depth of the walk from the result of a call."""
ELSEWHERE = ("nkijit.dialects.", "nkijit.passes.interpret.")
"""The IR, which shows itself as xDSL has it, with tables of the hardware; plans of runs."""


@nki.jit
def shifted(x, shift=1.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    for i in nl.dynamic_range(0, x.shape[0], 128):
        nisa.dma_copy(dst=tile, src=x[nl.ds(i, 128)])
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=shift)
        nisa.activation(dst=tile, op=nl.log, data=tile)
        nisa.dma_copy(dst=out[nl.ds(i, 128)], src=tile)
    return out


SPEC = TensorSpec((256, 16), "float32")
X = np.full((256, 16), -3.0, np.float32)

RESULTS: dict[str, Callable[[], Any]] = {
    "kernel": lambda: shifted,
    "trace": lambda: shifted.trace(SPEC),
    "findings": lambda: shifted.trace(SPEC).diagnostics,
    "profile": lambda: shifted.trace(SPEC).profile(),
    "memory": lambda: shifted.trace(SPEC).memory(),
    "listing": lambda: shifted.trace(SPEC).listing(),
    "programs": lambda: shifted.trace(SPEC).programs(),
    "report": lambda: shifted.trace(SPEC).report(),
    "advice": lambda: shifted.trace(SPEC).advice(),
    "path": lambda: shifted.trace(SPEC).profile().timeline.critical_path(),
    "backend": lambda: shifted.trace(SPEC).backend,
    "cost": lambda: nki.cost(shifted, SPEC),
    "sweep": lambda: nki.sweep(
        shifted, {"shift": [1.0, 2.0]}, arguments={"x": SPEC}, run=True, executor=InTurn()
    ),
    "record": lambda: shifted.record(X),
    "first": lambda: shifted.record(X).first(),
    "bisect": lambda: shifted.bisect(X, against="float32"),
    "portability": lambda: shifted.portability(),
    "spec": lambda: SPEC,
}


@dataclass
class Walk:
    """Objects of nkijit that are a few attributes or items away from another one."""

    seen: set[int] = field(default_factory=set)
    kept: list[Any] = field(default_factory=list)

    def of(self, path: str, value: Any, steps: int) -> Iterator[tuple[str, Any]]:
        is_code = callable(value) and not isinstance(value, nki.Kernel)
        if is_code or isinstance(value, (Operation, SSAValue, Attribute)):
            return
        if type(value) in (list, tuple, set, frozenset, dict):
            items = [*value.items()] if isinstance(value, dict) else list(value)
            for item in items[:3]:
                for each in item if isinstance(value, dict) else (item,):
                    yield from self.of(f"{path}[]", each, steps)
            return
        module = type(value).__module__
        if not module.startswith("nkijit.") or module.startswith(ELSEWHERE):
            return
        if id(value) in self.seen:
            return
        self.seen.add(id(value))
        self.kept.append(value)  # so that its id stays its own
        yield path, value
        if steps:
            for name, each in self.next_to(value):
                yield from self.of(f"{path}{name}", each, steps - 1)

    @staticmethod
    def next_to(value: Any) -> Iterator[tuple[str, Any]]:
        for name in dir(value):
            if not name.startswith("_") and not inspect.isroutine(
                inspect.getattr_static(type(value), name, None)
            ):
                try:
                    yield f".{name}", getattr(value, name)
                except Exception:  # a property that does not apply here says so
                    continue
        if isinstance(value, Sequence):
            for item in value[:3]:
                yield "[]", item


@pytest.mark.parametrize("name", RESULTS)
def test_everything_is_a_short_line_in_a_session(name: str):
    for path, value in Walk().of(name, RESULTS[name](), STEPS):
        shown = repr(value)
        assert "\n" not in shown, f"{path}: {shown}"
        assert len(shown) <= LONGEST, f"{path}: {shown}"
        # A text of a class and its fields can be typed again.
        if shown.startswith(f"{type(value).__name__}("):
            assert len(re.findall(r"\w\(", shown)) == 1, f"{path}: {shown}"
            assert shown.count("=") <= 3, f"{path}: {shown}"
        if isinstance(value, ShownFields) and type(value).__str__ is ShownFields.__str__:
            first, *lines = str(value).splitlines()
            assert not first.startswith((" ", "<")), path
            assert all(line.startswith("  ") for line in lines), path


CLASSIC = """
from neuronxcc import nki
import neuronxcc.nki.language as nl

@nki.jit
def doubled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x) * 2)
    return out
"""


def test_migrations(tmp_path: Path):
    path = tmp_path / "old.py"
    path.write_text(CLASSIC)
    migration = migrate_file(path, {"x": TensorSpec((128, 16), "float32")})
    walked = list(Walk().of("migration", migration, STEPS))
    assert any(where == "migration.report.kernels[]" for where, _ in walked)
    for where, value in walked:
        assert "\n" not in repr(value), where
        assert len(repr(value)) <= LONGEST, where


def test_figures_are_named_in_a_line_and_all_there_in_print():
    profile = shifted.trace(SPEC).profile()
    queue = next(each for each in profile.queues if each.queue == "vector")
    assert repr(queue).startswith(
        f"<queue use: core 0, queue vector, instructions {queue.instructions}, busy "
    )
    lines = str(queue).splitlines()
    assert lines[:3] == ["queue use", "  core          0", "  queue         vector"]
    assert f"  waits         {queue.waits[0]!r}" in lines
    event = profile.timeline.events[0]
    assert (
        repr(event.instruction) == f"<instruction #{event.instruction.number} DMA_TRIGGER in sync>"
    )
    assert repr(event).endswith(f"ns, {event.instruction!r}>")
    assert "shape      128x16" in str(shifted.trace(SPEC).memory().cores[0].sbuf.tiles[0])
