"""The memory of a run's tiles: one arena, in which tiles lie by the time that they are in use.

Hardware gives tiles addresses that others have had before them; so does a plan. Time is the
position among the operations of the kernel's body; what a loop on the device touches is in use for
the whole loop. Arenas, and the arrays that point into them, are kept between calls, one of each
plan for each thread that runs it, so a warm call touches no new page.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from weakref import ref

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.addresses.allocation import Block, Space
from nkijit.passes.analysis.addresses.assignment import assign
from nkijit.passes.interpret.environment import Array, Env

ALIGNMENT = 64
"""Bytes; a line of the caches, and the widest vector of any CPU."""
KEPT_BYTES = 1 << 30
"""Arenas of a thread are kept between calls while all of them together are no larger."""


@dataclass(slots=True)
class Lifetime:
    """When a tensor is in use, as positions in the kernel's body, both inclusive."""

    first: int
    last: int
    read_first: bool
    """Something might read it before it is written completely."""
    written: bool


def lifetimes(
    kernel: KernelOp, ops: Sequence[Operation], overwrites: Callable[[Operation], bool]
) -> dict[SSAValue, Lifetime]:
    """When each tensor is in use that an operation touches.

    Args:
        kernel: whose tensors.
        ops: the operations of its body.
        overwrites: whether an operation that updates a tile does not read it all the same.
    """
    found: dict[SSAValue, Lifetime] = {}
    for position, outer in enumerate(ops):
        # A loop's body may not run at all.
        certain = outer.parent_op() is kernel
        for op in outer.walk() if outer.regions else (outer,):
            touched = reads_and_writes(op)
            # What an instruction reads, it reads before it writes.
            for value, role in sorted(touched, key=_writes):
                base = base_of(value)
                life = found.get(base)
                if life is None:
                    whole = role is not Role.read and certain and op is outer
                    whole = whole and (role is Role.write or overwrites(op))
                    read_first = not (whole and _is_whole(value, base))
                    life = found[base] = Lifetime(position, position, read_first, False)
                life.last = position
                life.written |= role is not Role.read
    return found


def _writes(item: tuple[SSAValue, Role]) -> bool:
    return item[1] is Role.write


def _is_whole(value: SSAValue, base: SSAValue) -> bool:
    """True when a tile is all of its tensor, each element once."""
    info, whole = info_of(value), info_of(base)
    if info.size * info.dtype.bits != whole.size * whole.dtype.bits:
        return False
    return info.indirection is None and all(
        s != 0 or n == 1 for s, n in zip(info.strides, info.shape, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Where tensors lie in an arena."""

    offsets: Mapping[int, int]
    """The first byte of the tensor in each slot."""
    size: int
    """Bytes of the arena."""


def arrange(tensors: Iterable[tuple[int, int, Lifetime]]) -> Arrangement:
    """Place tensors, each a slot, bytes and the time that it is in use."""
    entries = list(tensors)
    blocks = [
        Block(life.first, life.last, -(-size // ALIGNMENT) * ALIGNMENT, 128, align=ALIGNMENT)
        for _, size, life in entries
    ]
    layout = assign(blocks, Space(sys.maxsize), quick=True)
    places = zip(entries, layout.addresses, strict=True)
    return Arrangement({slot: at for (slot, _, _), (_, at) in places}, layout.height)


@dataclass(frozen=True, slots=True)
class MakesReady:
    """A step that puts into a tensor what memory holds that nothing has written."""

    slot: int
    elements: int
    value: Array
    """One element."""

    def __call__(self, env: Env) -> None:
        env[self.slot].view(self.value.dtype)[...] = self.value


def aligned(size: int) -> Array:
    """New memory of so many bytes, which begins with a line of the caches."""
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size]


class _Workspaces(threading.local):
    """What runs have left behind in a thread: environments whose arrays point into an arena."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], tuple[Env, int, ref[object]]] = OrderedDict()
        self._bytes = 0

    def take(self, plan: object, rank: int) -> Env | None:
        """The environment that a run of the plan on a rank has left, if it is still there."""
        kept = self._kept.pop((id(plan), rank), None)
        if kept is None:
            return None
        self._bytes -= kept[1]
        return kept[0]

    def give(self, plan: object, rank: int, env: Env, size: int) -> None:
        """Keep the environment of a run that has come to its end; `size`: bytes of its arena."""
        self.take(plan, rank)
        key = id(plan), rank
        self._kept[key] = env, size, ref(plan, lambda _: self._forget(key))
        self._bytes += size
        while self._bytes > KEPT_BYTES:
            self._forget(next(iter(self._kept)))

    def _forget(self, key: tuple[int, int]) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= kept[1]


WORKSPACES = _Workspaces()
"""Those of the current thread."""
