"""What experiments ask about a kernel: who touches a tile, when, and what instructions take."""

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
    """What an operation does with a tensor."""

    position: int
    """The operation's place in the program."""
    op: Operation
    value: SSAValue
    role: Role


class Facts:
    """Facts about the kernel of one core, each found when it is first asked for."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.target = kernel.target

    @cached_property
    def program(self) -> Dependences:
        """Which operations an operation reads from."""
        return Dependences(self.kernel)

    @cached_property
    def nests(self) -> list[tuple[Nest, int]]:
        """The author's loops with how many others are around each, outer ones first."""
        return list(nests_of(self.kernel))

    @cached_property
    def kept(self) -> Kept:
        """What instructions leave in engines for others."""
        return Kept.by(self.kernel)

    @cached_property
    def instructions(self) -> list[NisaOp]:
        """The instructions in program order."""
        return [op for op in self.kernel.operations if is_instruction(op)]

    @cached_property
    def position(self) -> dict[Operation, int]:
        """The place of each operation in the program."""
        return {op: number for number, op in enumerate(self.kernel.operations)}

    @cached_property
    def accesses(self) -> dict[SSAValue, list[Access]]:
        """What is done with each tensor, in program order."""
        found: dict[SSAValue, list[Access]] = {}
        for op, position in self.position.items():
            for effect in effects(op):
                access = Access(position, op, effect.value, effect.role)
                found.setdefault(base_of(effect.value), []).append(access)
        return found

    @cached_property
    def readers(self) -> dict[Operation, set[Operation]]:
        """The operations that read what an operation has written, byte by byte."""
        events = self.program.events
        found: dict[Operation, set[Operation]] = {}
        for event in events:
            for source in event.sources:
                if source >= 0:
                    found.setdefault(events[source].op, set()).add(event.op)
        return found

    @cached_property
    def sources(self) -> dict[Operation, set[Operation]]:
        """The operations that have written what an operation reads."""
        found: dict[Operation, set[Operation]] = {}
        for op, users in self.readers.items():
            for user in users:
                found.setdefault(user, set()).add(op)
        return found

    @cached_property
    def _meetings(self) -> list[int]:
        """Where other cores or ranks are met: what they have written is seen from there on."""
        return [at for op, at in self.position.items() if isinstance(op, WAITING)]

    def meets(self, first: int, last: int) -> bool:
        """Whether other cores or ranks are met between two places of the program."""
        return bisect_left(self._meetings, first) < bisect_left(self._meetings, last)

    def undisturbed(
        self, value: SSAValue, first: int, last: int, besides: Container[Operation], *, reads: bool
    ) -> bool:
        """Whether nothing between two places of the program writes bytes of a tile.

        `reads`: nor reads them. What `besides` has does not count.
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
    """Facts about a copy of a kernel in which buffers that are filled again are other tiles."""

    def __init__(self, kernel: KernelOp):
        edit = Edit(kernel)
        origins: Origins = {edit.of(op): op for op in kernel.walk()}
        rename_tiles(edit.kernel, origins)
        super().__init__(edit.kernel)
        self.origins = origins
        """The operation of the kernel itself that each one is a copy of."""


def blocks_around(op: Operation) -> Iterator[Block]:
    """The block that an operation is in, and those around it."""
    block = op.parent_block()
    while block is not None:
        yield block
        parent = block.parent_op()
        block = None if parent is None else parent.parent_block()
