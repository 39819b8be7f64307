"""Walks over the operations of a program, and what is found of it once while nobody changes it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from xdsl.ir import Block, Operation

_KEPT = "_nki_operations"
"""What the operations of a program, and those of a block, are kept by; see `unchanged`."""
_FOUND = "_nki_found"
"""What else is known of a program is kept by."""
_ProgramT = TypeVar("_ProgramT", bound=Operation)
_R = TypeVar("_R")


def operations(block: Block) -> Iterator[Operation]:
    """The operations of a block and of the regions in it, in program order."""
    for op in directly_in(block):
        yield op
        if op.regions:
            for region in op.regions:
                for inner in region.blocks:
                    yield from operations(inner)


def directly_in(block: Block) -> Iterable[Operation]:
    """The operations of a block, without those of the regions in it."""
    kept: Sequence[Operation] | None = vars(block).get(_KEPT)
    return _linked(block) if kept is None else kept


def _linked(block: Block) -> Iterator[Operation]:
    # Every pass walks the program: xDSL's own iterator takes three times as long.
    op = block.first_op
    while op is not None:
        following = op._next_op  # pyright: ignore[reportPrivateUsage]
        yield op
        op = following


def all_in(program: Operation) -> Iterable[Operation]:
    """The operations in a program, also those inside loops, in program order."""
    kept: Sequence[Operation] | None = vars(program).get(_KEPT)
    return operations(program.regions[0].block) if kept is None else kept


@contextmanager
def unchanged(programs: Iterable[Operation]) -> Generator[None]:
    """Nobody changes the programs meanwhile: their operations are found in one walk.

    Most passes ask for them, and an operation is far from the next one in memory.
    """
    holders: list[Operation | Block] = []
    try:
        for program in programs:
            if _KEPT not in vars(program):
                block = program.regions[0].block
                _keep(block, holders)
                # Complete when it is there: another thread may look.
                vars(program)[_FOUND] = {}
                vars(program)[_KEPT] = list(operations(block))
                holders.append(program)
        yield
    finally:
        for holder in holders:
            vars(holder).pop(_KEPT, None)
            vars(holder).pop(_FOUND, None)


def _keep(block: Block, holders: list[Operation | Block]) -> None:
    """Keep what is directly in a block, and in the blocks in it."""
    vars(block)[_KEPT] = kept = list(_linked(block))
    holders.append(block)
    for op in kept:
        if op.regions:
            for region in op.regions:
                for inner in region.blocks:
                    _keep(inner, holders)


def found_once(program: _ProgramT, find: Callable[[_ProgramT], _R]) -> _R:
    """`find(program)`, once for all who ask while nobody changes the program (`unchanged`)."""
    found: dict[object, Any] | None = vars(program).get(_FOUND)
    if found is None:
        return find(program)
    if find not in found:
        found[find] = find(program)
    return found[find]
