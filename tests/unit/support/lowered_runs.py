"""Runs of lowered kernels under interleavings, compared with a plain run bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import nkijit as nki
from nkijit.dialects.dtypes import DTYPES
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.queues.interleavings import Interleaving
from nkijit.passes.interpret.queues.run import Queues
from nkijit.passes.interpret.run.launch import Launch
from nkijit.passes.lower.placement import allocate
from nkijit.passes.lower.program import Program
from nkijit.passes.lower.schedule import lower
from nkijit.passes.numerics.storage import storage
from nkijit.traced.kernel import TracedKernel

SEEDS = range(14)
"""Two interleavings of every sort."""

Bits = list[bytes]


class Written:
    """A listener that records the values that operations wrote, for each execution."""

    def __init__(self) -> None:
        self.bits: dict[Any, list[Bits]] = {}

    def did_run(self, op: Any, written: Sequence[Any]) -> None:
        self.bits.setdefault(op, []).append([array.tobytes() for array in written])


class Checked:
    """A lowered kernel with its expected results."""

    def __init__(self, programs: Sequence[Program], inputs: Sequence[Any], *, all_bits: bool):
        """`all_bits`: compare all values that instructions write, and not only the results.

        Not for instructions that write a part of an otherwise unwritten tile.
        """
        self.programs = programs
        self._all_bits = all_bits
        self._inputs = inputs
        self._queues = Queues(programs)
        listener = Written()
        arrays = [array.copy() for array in inputs]
        results = Launch([Plan(p.kernel) for p in programs]).run(arrays, listener)
        self._expected = self._told(results, arrays, listener)

    def _told(self, results: Sequence[Any], arrays: Sequence[Any], listener: Written) -> Any:
        bits = listener.bits if self._all_bits else None
        return [(a.shape, a.dtype, a.tobytes()) for a in (*results, *arrays)], bits

    def is_right(self, seed: int, interleaving: Interleaving | None = None) -> bool:
        """Return whether an interleaving computes the expected results."""
        listener = Written()
        arrays = [array.copy() for array in self._inputs]
        results = self._queues.run(arrays, listener, seed=seed, interleaving=interleaving)
        return self._told(results, arrays, listener) == self._expected

    def check(self, seeds: Sequence[int] = SEEDS) -> None:
        """Check that all interleavings compute the expected results."""
        for seed in seeds:
            assert self.is_right(seed), f"interleaving {seed}"


def lowered(traced: TracedKernel, ahead: int | None = None) -> list[Program]:
    """The programs of all cores; tiles keep their bytes as long as `allocate` says."""
    if ahead is None:
        return traced.programs()
    traced.verify()
    kernels = [program.kernel for program in traced.programs()]
    return [lower(kernel, None, allocate(kernel, ahead=ahead)) for kernel in kernels]


def numbers(spec: nki.TensorSpec, seed: int) -> Any:
    """Random numbers; small ones where they may be counts or indices."""
    random, stored = np.random.default_rng(seed), storage(DTYPES[spec.dtype])
    if np.issubdtype(stored, np.integer):
        return random.integers(0, 4, spec.shape).astype(stored)
    return random.standard_normal(spec.shape).astype(np.float32).astype(stored)
