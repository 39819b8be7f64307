"""Walks over the operations of a program, and a cache for results while it is unchanged."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from xdsl.ir import Block, Operation

_KEPT = "_nki_operations"
"""Name of the attribute that caches the operations of a program or block; see `unchanged`."""
_FOUND = "_nki_found"
"""Name of the attribute of a program that caches the results of `found_once`, by function."""
_ProgramT = TypeVar("_ProgramT", bound=Operation)
_R = TypeVar("_R")


def operations(block: Block) -> Iterator[Operation]:
    """Yield the operations of a block and of its nested regions, in program order."""
    for op in directly_in(block):
        yield op
        if op.regions:
            for region in op.regions:
                for inner in region.blocks:
                    yield from operations(inner)


def directly_in(block: Block) -> Iterable[Operation]:
    """Return the operations directly in a block, without the operations of nested regions."""
    kept: Sequence[Operation] | None = vars(block).get(_KEPT)
    return _linked(block) if kept is None else kept


def _linked(block: Block) -> Iterator[Operation]:
    # Every pass walks the program, and xDSL's own iterator takes three times as long.
    op = block.first_op
    while op is not None:
        following = op._next_op  # pyright: ignore[reportPrivateUsage]
        yield op
        op = following


def all_in(program: Operation) -> Iterable[Operation]:
    """Return the operations of a program, including those in loops, in program order."""
    kept: Sequence[Operation] | None = vars(program).get(_KEPT)
    return operations(program.regions[0].block) if kept is None else kept


@contextmanager
def unchanged(programs: Iterable[Operation]) -> Generator[None]:
    """Cache the operations of programs that do not change inside the `with` block.

    Most passes walk the program, and its operations are scattered in memory: a walk over a list
    is much faster. Also enables the cache of `found_once`.
    """
    holders: list[Operation | Block] = []
    try:
        for program in programs:
            if _KEPT not in vars(program):
                block = program.regions[0].block
                _keep(block, holders)
                # Another thread may read the list, so it is complete before it is set.
                vars(program)[_FOUND] = {}
                vars(program)[_KEPT] = list(operations(block))
                holders.append(program)
        yield
    finally:
        for holder in holders:
            vars(holder).pop(_KEPT, None)
            vars(holder).pop(_FOUND, None)


def _keep(block: Block, holders: list[Operation | Block]) -> None:
    """Cache the operations of a block and of its nested blocks, and add the blocks to `holders`."""
    vars(block)[_KEPT] = kept = list(_linked(block))
    holders.append(block)
    for op in kept:
        if op.regions:
            for region in op.regions:
                for inner in region.blocks:
                    _keep(inner, holders)


def found_once(program: _ProgramT, find: Callable[[_ProgramT], _R]) -> _R:
    """Return `find(program)`, cached inside `unchanged`."""
    found: dict[object, Any] | None = vars(program).get(_FOUND)
    if found is None:
        return find(program)
    if find not in found:
        found[find] = find(program)
    return found[find]
