"""Compiles native code for plans: immediately, or in the background while NumPy is used."""

from __future__ import annotations

import atexit
import os
import queue
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from xdsl.ir import Operation

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.nki.views import base_of
from nkijit.passes.interpret.backends.native.compiler import Compiler
from nkijit.passes.interpret.backends.native.fusion import Foreign, Fusion, Item
from nkijit.passes.interpret.backends.native.instructions import (
    FIRST_SLOT,
    SCRATCH,
    NativeInstruction,
    UnsupportedError,
)
from nkijit.passes.interpret.backends.native.program import Program, put
from nkijit.passes.interpret.backends.native.translate import filled, instructions_of
from nkijit.passes.interpret.records.environment import Env, Slots
from nkijit.passes.interpret.steps.arena import FillUnwritten, aligned
from nkijit.passes.interpret.steps.body import Body


class Compilable(Protocol):
    """The members of a plan that the native compiler uses."""

    body: Body
    slots: Slots
    bases: int
    """The slot for the array of base addresses of a workspace."""

    @property
    def private_slots(self) -> set[int]:
        """The slots of tensors and states that no other core accesses."""
        ...

    @property
    def lasting_slots(self) -> set[int]:
        """Slots that have the same memory in every run of a workspace (memory reused by runs)."""
        ...

    def bytes_of_passing(self) -> dict[int, int]:
        """Return the bytes of each temporary tensor, by slot."""
        ...

    def adopt(self, code: Native | Exception) -> None:
        """Use native code from the next run on; an exception says why there is none."""
        ...


@cache
def compiler() -> Compiler:
    """Return the compiler of this process."""
    return Compiler()


@dataclass(frozen=True)
class Native:
    """A plan as native code."""

    program: Program
    bases: int
    """The slot for the array of base addresses of a workspace."""
    lasting: tuple[int, ...]
    """Slots that have the same memory in every run of a workspace."""
    changing: tuple[int, ...]
    """Slots used by native code that have different memory in each run."""
    lives: Mapping[int, tuple[int, int]]
    """For each tensor, by slot: the (first, last) position to which fusion extended its use."""
    complete: bool
    """True if native code runs all instructions."""
    count: int
    """The number of instructions in native code."""
    refused: Mapping[str, int]
    """The number of instructions that NumPy runs, by the reason why native code cannot."""

    def enter(self, prepared: Env, env: Env) -> None:
        """Prepare an environment for native steps.

        Args:
            prepared: the environment of the workspace.
            env: the complete environment of the run.
        """
        cached = prepared[self.bases]
        if cached is None:
            scratch = aligned(self.program.scratch)
            bases = self.program.bases(scratch.ctypes.data)
            put(bases, prepared, self.lasting)
            cached = prepared[self.bases] = bases, bases.ctypes.data, scratch
        put(cached[0], env, self.changing)
        env[self.program.pointers] = cached[1]


def make(plan: Compilable) -> Native:
    """Compile a plan to native code."""
    program = Program(compiler(), plan.body.native, len(plan.slots.template))
    bodies = list(plan.body.all())
    touching: dict[int, set[int]] = {}
    found = [_Translated(plan, body) for body in bodies]
    for number, translated in enumerate(found):
        for base in translated.touched:
            touching.setdefault(base, set()).add(number)
    lives: dict[int, tuple[int, int]] = {}
    private = {FIRST_SLOT + slot for slot in plan.private_slots} | {SCRATCH}
    passing = {FIRST_SLOT + slot: size for slot, size in plan.bytes_of_passing().items()}
    for number, translated in enumerate(found):
        alone = {base for base in passing if touching.get(base) == {number}}
        fusion = Fusion(translated.items, {base: passing[base] for base in alone}, private)
        body = translated.body
        body.fast, body.fast_drivers = program.sequence(fusion.run())
        if translated.body is plan.body:
            for base, (first, last) in fusion.moved_to.items():
                places = translated.positions[first], translated.positions[last]
                lives[base - FIRST_SLOT] = places
    lasting = program.used & plan.lasting_slots
    refused = sum((each.refused for each in found), Counter[str]())
    return Native(
        program,
        plan.bases,
        tuple(lasting),
        tuple(program.used - lasting),
        lives,
        not any(isinstance(item, Foreign) for each in found for item in each.items),
        sum(each.native for each in found),
        refused,
    )


class _Translated:
    """A body as native instructions and Python steps."""

    def __init__(self, plan: Compilable, body: Body):
        self.body = body
        self.items: list[Item] = []
        self.positions: list[int] = []
        """The position of each item in the body."""
        self.touched: set[int] = set()
        """The bases that the body's operations access."""
        self.native = 0
        self.refused: Counter[str] = Counter()
        slots = plan.slots
        for position, (op, record, step) in enumerate(
            zip(body.ops, body.records, body.steps, strict=True)
        ):
            for ready in body.before.get(position, ()):
                assert isinstance(ready, FillUnwritten)
                self._add([filled(ready.slot, ready.elements, ready.value)], position)
            read, written = _touched(op, slots)
            if not op.regions:
                self.touched |= read | written
            if record is not None and position not in body.wrapped:
                try:
                    self._add(instructions_of(record, slots), position)
                    self.native += 1
                    continue
                except UnsupportedError as error:
                    self.refused[f"{op.name}: {error}"] += 1
            driver = body.drivers.get(position)
            self._add([Foreign(step, driver, frozenset(read), frozenset(written))], position)

    def _add(self, items: Sequence[Item], position: int) -> None:
        for item in items:
            if isinstance(item, NativeInstruction):
                item.entry()  # raises for instructions without a form
        self.items += items
        self.positions += [position] * len(items)


def _touched(op: Operation, slots: Slots) -> tuple[set[int], set[int]]:
    """Return the bases that an operation and its nested operations read, and those they write."""
    read: set[int] = set()
    written: set[int] = set()
    for inner in op.walk():
        for value, role in reads_and_writes(inner):
            base = FIRST_SLOT + slots.base(base_of(value))
            # A partial write keeps the other bytes, so every write counts as a read.
            read.add(base)
            if role is not Role.read:
                written.add(base)
    return read, written


class _Worker:
    """A thread that compiles plans to native code, one after the other."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start without a thread. A forked child has no threads, so it starts again."""
        self._requests: queue.SimpleQueue[weakref.ref[Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def enqueue(self, plan: Compilable) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="nkijit-native", daemon=True)
                self._thread.start()
                atexit.register(self._stop)
        self._requests.put(weakref.ref(plan))

    def _run(self) -> None:
        while True:
            request = self._requests.get()
            if request is None:
                return
            plan = request()
            if plan is not None:
                try:
                    plan.adopt(make(plan))
                except Exception as error:  # NumPy continues to be used
                    plan.adopt(error)
            del plan

    def _stop(self) -> None:
        """Stop the thread, because LLVM must not run while the process ends."""
        if self._thread is None:  # in a forked child, which inherits the exit handler
            return
        while not self._requests.empty():
            self._requests.get()
        self._requests.put(None)
        self._thread.join()


_WORKER = _Worker()
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_WORKER.begin)


def make_later(plan: Compilable) -> None:
    """Compile native code of a plan in the background; `plan.adopt` receives it."""
    _WORKER.enqueue(plan)
