"""Runs plans as native code.

Each straight-line sequence of native instructions is one call, which runs a table of instructions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from nkijit.passes.interpret.backends.native.compiler import Compiler
from nkijit.passes.interpret.backends.native.fusion import Foreign, Item
from nkijit.passes.interpret.backends.native.instructions import (
    FIRST_SLOT,
    SCRATCH,
    Entry,
    Moved,
    NativeInstruction,
)
from nkijit.passes.interpret.records.environment import Env, Step
from nkijit.passes.interpret.steps.body import Driver

Words = npt.NDArray[np.int64]
MOST_INSTRUCTIONS = 512
"""The largest number of instructions that run before Python checks for signals such as Ctrl-C."""


@dataclass
class Program:
    """The data that a plan's native code needs in a run."""

    compiler: Compiler
    pointers: int
    """The slot that holds the address of the array of bases."""
    slots: int
    """The number of slots of the environment (the memory areas of a run)."""
    scratch: int = 0
    """The number of bytes of scratch memory."""
    elements: int = 0
    """The number of elements that the instructions compute."""
    used: set[int] = field(default_factory=set[int])
    """The slots whose array addresses native code uses as bases."""

    def sequence(self, items: Iterable[Item]) -> tuple[list[Step], dict[int, Driver]]:
        """Return the steps that run the items, and the drivers of steps by position.

        Adjacent native instructions become one step.
        """
        drivers: dict[int, Driver] = {}
        sequence: list[Step] = []
        table: list[int] = []
        arrays: list[Any] = []
        count = 0
        for item in items:
            if isinstance(item, NativeInstruction):
                self._enter(item.entry(), table)
                if isinstance(item, Moved) and item.keep is not None:
                    arrays.append(item.keep)
                count += 1
            if count and (count == MOST_INSTRUCTIONS or isinstance(item, Foreign)):
                sequence.append(self._walking(np.array(table, np.int64), count, arrays))
                table, arrays, count = [], [], 0
            if isinstance(item, Foreign):
                if item.driver is not None:
                    drivers[len(sequence)] = item.driver
                sequence.append(item.step)
        if count:
            sequence.append(self._walking(np.array(table, np.int64), count, arrays))
        return sequence, drivers

    def _enter(self, entry: Entry, table: list[int]) -> None:
        table += [self.compiler.function(entry.form), len(entry.words), *entry.words]
        self.scratch = max(self.scratch, entry.scratch)
        self.elements += entry.elements
        self.used |= {base - FIRST_SLOT for base in entry.bases if base >= FIRST_SLOT}

    def _walking(self, table: Words, count: int, arrays: list[Any]) -> Step:
        walk, address, pointers = self.compiler.walk, table.ctypes.data, self.pointers

        # The default argument keeps the arrays alive that the table's addresses refer to.
        def step(env: Env, _arrays: Any = (table, arrays)) -> None:
            walk(address, env[pointers], count)

        return step

    def bases(self, scratch: int) -> Words:
        """Return the array of base addresses for a workspace; `put` adds the slots' addresses.

        `scratch` is the address of the workspace's scratch.
        """
        bases = np.zeros(FIRST_SLOT + self.slots, np.int64)
        bases[SCRATCH] = scratch
        return bases


def put(bases: Words, env: Env, slots: Iterable[int]) -> None:
    """Set the bases of some slots to the addresses of their arrays."""
    for slot in slots:
        bases[FIRST_SLOT + slot] = env[slot].__array_interface__["data"][0]
