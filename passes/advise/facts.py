"""Facts about a kernel that experiments use: accesses to tensors, readers, loops and positions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator
from functools import cached_property
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.effects import effects
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.advise.edit import Edit
from nkijit.passes.advise.nests import Nest, nests_of
from nkijit.passes.analysis.flow.dependences import Dependences
from nkijit.passes.compile.analyses.ordering import Kept
from nkijit.passes.compile.passes.rename_tiles import Origins, rename_tiles


class Access(NamedTuple):
    """One operation's access to a tensor."""

    position: int
    """The number of the operation in program order."""
    op: Operation
    value: SSAValue
    role: Role


class Facts:
    """Facts about the kernel of one core, computed when first used."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.target = kernel.target

    @cached_property
    def program(self) -> Dependences:
        """The dependences of the program: each event, with the events that wrote its data."""
        return Dependences(self.kernel)

    @cached_property
    def nests(self) -> list[tuple[Nest, int]]:
        """The kernel's loops, outer ones first, with the number of loops around each."""
        return list(nests_of(self.kernel))

    @cached_property
    def engine_state(self) -> Kept:
        """Engine state (accumulators, random generators) that instructions leave for later ones."""
        return Kept.by(self.kernel)

    @cached_property
    def instructions(self) -> list[NisaOp]:
        """The instructions in program order."""
        return [op for op in self.kernel.operations if is_instruction(op)]

    @cached_property
    def position(self) -> dict[Operation, int]:
        """The number of each operation in program order."""
        return {op: number for number, op in enumerate(self.kernel.operations)}

    @cached_property
    def accesses(self) -> dict[SSAValue, list[Access]]:
        """The accesses to each tensor, in program order."""
        found: dict[SSAValue, list[Access]] = {}
        for op, position in self.position.items():
            for effect in effects(op):
                access = Access(position, op, effect.value, effect.role)
                found.setdefault(base_of(effect.value), []).append(access)
        return found

    @cached_property
    def readers(self) -> dict[Operation, set[Operation]]:
        """For each operation, the operations that read bytes which it has written."""
        events = self.program.events
        found: dict[Operation, set[Operation]] = {}
        for event in events:
            for source in event.sources:
                if source >= 0:
                    found.setdefault(events[source].op, set()).add(event.op)
        return found

    @cached_property
    def sources(self) -> dict[Operation, set[Operation]]:
        """For each operation, the operations that have written bytes which it reads."""
        found: dict[Operation, set[Operation]] = {}
        for op, users in self.readers.items():
            for user in users:
                found.setdefault(user, set()).add(op)
        return found

    @cached_property
    def _meetings(self) -> list[int]:
        """The positions of operations that wait for other cores or ranks.

        At these positions, data that other cores have written becomes visible.
        """
        return [at for op, at in self.position.items() if isinstance(op, WAITING)]

    def meets(self, first: int, last: int) -> bool:
        """Whether the kernel waits for other cores or ranks between two positions."""
        return bisect_left(self._meetings, first) < bisect_left(self._meetings, last)

    def undisturbed(
        self, value: SSAValue, first: int, last: int, besides: Container[Operation], *, reads: bool
    ) -> bool:
        """Whether no operation between two positions writes bytes of a tile.

        With `reads`, no operation between the two positions may read these bytes either. Operations
        in `besides` are ignored.
        """
        accesses = self.accesses.get(base_of(value), [])
        begin = bisect_right(accesses, first, key=_position)
        end = bisect_left(accesses, last, key=_position)
        return not any(
            (reads or access.role is not Role.read)
            and access.op not in besides
            and info_of(access.value).overlaps(info_of(value))
            for access in accesses[begin:end]
        )


def _position(access: Access) -> int:
    return access.position


class Renamed(Facts):
    """Facts about a copy of a kernel in which each refill of a buffer has a separate tile."""

    def __init__(self, kernel: KernelOp):
        edit = Edit(kernel)
        origins: Origins = {edit.of(op): op for op in kernel.walk()}
        rename_tiles(edit.kernel, origins)
        super().__init__(edit.kernel)
        self.origins = origins
        """The kernel's own operation for each operation of the renamed copy."""


def blocks_around(op: Operation) -> Iterator[Block]:
    """Yield the blocks around an operation, innermost first."""
    block = op.parent_block()
    while block is not None:
        yield block
        parent = block.parent_op()
        block = None if parent is None else parent.parent_block()
