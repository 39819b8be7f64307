"""Plans as native code: straight-line stretches become one call that walks a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from nkijit.passes.interpret.arena import MakesReady
from nkijit.passes.interpret.backends.native.compiler import Compiler
from nkijit.passes.interpret.backends.native.entries import (
    FIRST_SLOT,
    SCRATCH,
    Entry,
    UnsupportedError,
    entries_of,
    filled,
)
from nkijit.passes.interpret.environment import Env, Slots, Step
from nkijit.passes.interpret.records import Record

Words = npt.NDArray[np.int64]
STRETCH = 512
"""Instructions that run without a look at what else goes on, such as Ctrl-C."""


@dataclass
class Stretch:
    """Instructions in a row that run without Python."""

    table: list[int] = field(default_factory=list[int])
    count: int = 0


@dataclass
class Program:
    """What native code of a plan needs in a run."""

    slots: Slots
    compiler: Compiler
    pointers: int
    """The slot of the address of the bases."""
    scratch: int = 0
    """Bytes of scratch."""
    used: set[int] = field(default_factory=set[int])
    """Slots whose addresses are bases."""
    keep: list[Any] = field(default_factory=list[Any])
    """What addresses in the tables point to."""
    refused: dict[str, int] = field(default_factory=dict[str, int])
    """Why instructions are left to NumPy, with their numbers."""
    native: int = 0
    """Instructions that run natively."""

    def sequence(self, steps: Iterable[tuple[Record | None, Step]]) -> list[Step]:
        """Steps in order, those that can be natively: what each computes, and how NumPy does it."""
        sequence: list[Step] = []
        stretch = Stretch()
        for record, step in steps:
            entries = self._entries(record, step)
            if entries is None or stretch.count >= STRETCH:
                self._end(stretch, sequence)
                stretch = Stretch()
            if entries is None:
                sequence.append(step)
                continue
            for entry in entries:
                code = self.compiler.function(entry.form)
                stretch.table += [code, len(entry.words), *entry.words]
                stretch.count += 1
        self._end(stretch, sequence)
        return sequence

    def _entries(self, record: Record | None, step: Step) -> list[Entry] | None:
        if isinstance(step, MakesReady):
            entries = [filled(step.slot, step.elements, step.value)]
        elif record is None:
            return None
        else:
            try:
                entries = entries_of(record, self.slots)
            except UnsupportedError as error:
                reason = str(error)
                self.refused[reason] = self.refused.get(reason, 0) + 1
                return None
            self.native += 1
        for entry in entries:
            self.scratch = max(self.scratch, entry.scratch)
            self.keep += entry.keep
            self.used |= {base - FIRST_SLOT for base in entry.bases if base >= FIRST_SLOT}
        return entries

    def _end(self, stretch: Stretch, sequence: list[Step]) -> None:
        if stretch.count:
            table = np.array(stretch.table, np.int64)
            sequence.append(self._walking(table, stretch.count))

    def _walking(self, table: Words, count: int) -> Step:
        walk, address, pointers = self.compiler.walk, table.ctypes.data, self.pointers

        def step(env: Env, kept: Any = (self, table)) -> None:
            walk(address, env[pointers], count)

        return step

    def bases(self, scratch: int) -> Words:
        """The bases of a workspace, whose scratch has an address; slots are put in later."""
        bases = np.zeros(FIRST_SLOT + len(self.slots.template), np.int64)
        bases[SCRATCH] = scratch
        return bases


def put(bases: Words, env: Env, slots: Iterable[int]) -> None:
    """Put the addresses of the arrays in some slots among the bases."""
    for slot in slots:
        bases[FIRST_SLOT + slot] = env[slot].__array_interface__["data"][0]
