"""Native code for plans: made at once, or in the background while NumPy serves."""

from __future__ import annotations

import atexit
import os
import queue
import threading
import weakref
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from nkijit.passes.interpret.arena import aligned
from nkijit.passes.interpret.backends.native.compiler import Compiler
from nkijit.passes.interpret.backends.native.program import Program, put
from nkijit.passes.interpret.environment import Env

if TYPE_CHECKING:
    from nkijit.passes.interpret.plan import Plan


@cache
def compiler() -> Compiler:
    """The compiler of this process."""
    return Compiler()


@dataclass(frozen=True)
class Native:
    """A plan as native code."""

    program: Program
    bases: int
    """The slot where a workspace keeps its bases."""
    lasting: tuple[int, ...]
    """Slots that hold the same memory in every run of a workspace."""
    passing: tuple[int, ...]
    """The other slots whose memory native code uses."""

    def enter(self, prepared: Env, env: Env) -> None:
        """Make an environment ready for native steps.

        Args:
            prepared: what the workspace keeps.
            env: that of the run, complete.
        """
        kept = prepared[self.bases]
        if kept is None:
            scratch = aligned(self.program.scratch)
            bases = self.program.bases(scratch.ctypes.data)
            put(bases, prepared, self.lasting)
            kept = prepared[self.bases] = bases, bases.ctypes.data, scratch
        put(kept[0], env, self.passing)
        env[self.program.pointers] = kept[1]


def make(plan: Plan) -> Native:
    """The plan as native code, now."""
    body = plan.body
    program = Program(plan.slots, compiler(), body.native)
    for each in body.all():
        each.fast = program.sequence(each.in_order())
    lasting = program.used & plan.lasting_slots
    return Native(program, plan.bases, tuple(lasting), tuple(program.used - lasting))


class _Worker:
    """A thread that makes native code of plans, one after the other."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[weakref.ref[Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def ask(self, plan: Plan) -> None:
        """Make native code of a plan when there is time."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="nkijit-native", daemon=True)
                self._thread.start()
                atexit.register(self._stop)
        self._asked.put(weakref.ref(plan))

    def _run(self) -> None:
        while True:
            asked = self._asked.get()
            if asked is None:
                return
            plan = asked()
            if plan is not None:
                try:
                    plan.use(make(plan))
                except Exception as error:  # NumPy goes on to serve
                    plan.use(error)
            del plan

    def _stop(self) -> None:
        """LLVM is not to be at work while the process ends."""
        while not self._asked.empty():
            self._asked.get()
        self._asked.put(None)
        assert self._thread is not None
        self._thread.join()

    def forked(self) -> None:
        """A child process has no thread but its first."""
        self.__init__()


_WORKER = _Worker()
os.register_at_fork(after_in_child=_WORKER.forked)


def make_later(plan: Plan) -> None:
    """Make native code of a plan in the background; `plan.use` gets it."""
    _WORKER.ask(plan)
