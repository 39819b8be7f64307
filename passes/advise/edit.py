"""Editing of kernel copies, for experiments."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.declare.creation import copied
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.dtypes import DType
from nkijit.dialects.effects import effects
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import ViewOp, base_of, index_of, row_elements
from nkijit.dialects.tiles import allocation_type, info_of


class NotPossibleError(Exception):
    """Raised where the kernel does not allow an experiment."""


class Edit:
    """A copy of one core's kernel, with a mapping from the original's operations and values."""

    def __init__(self, kernel: KernelOp):
        self.kernel, origins = copied(kernel)
        self._copies = {origin: copy for copy, origin in origins.items()}
        self._arguments = dict(zip(kernel.arguments, self.kernel.arguments, strict=True))

    @property
    def origins(self) -> dict[Operation, Operation]:
        """The original of each operation of the copy."""
        return {copy: origin for origin, copy in self._copies.items()}

    def of(self, op: Operation) -> Operation:
        """Return the copy of an operation of the original kernel."""
        return self._copies[op]

    def value(self, value: SSAValue) -> SSAValue:
        """Return the copy of a value of the original kernel."""
        if isinstance(value, OpResult):
            return self._copies[value.op].results[value.index]
        return self._arguments[value]


def erase(op: Operation) -> None:
    """Remove an operation with unused results."""
    op.detach()
    op.erase()


def insert_before(place: Operation, *ops: Operation) -> None:
    """Insert operations before `place`."""
    Rewriter.insert_op(ops, InsertPoint.before(place))


def insert_after(place: Operation, *ops: Operation) -> None:
    """Insert operations after `place`."""
    Rewriter.insert_op(ops, InsertPoint.after(place))


def view(
    source: SSAValue, access: AccessPattern, place: Operation, dtype: DType | None = None
) -> SSAValue:
    """Create a view of an allocation or argument before `place`."""
    view_op = ViewOp.of(source, access, dtype, location=place.location)
    view_op.result.name_hint = source.name_hint
    insert_before(place, view_op)
    return view_op.result


def tile_like(
    alloc: AllocOp, place: Operation, shape: Sequence[int], dtype: DType | None = None
) -> AllocOp:
    """Create a tile in the same memory as an allocation, before `place`."""
    info = info_of(alloc.result)
    memref = allocation_type(dtype or info.dtype, tuple(shape), info.region)
    tile = AllocOp.of(memref, location=alloc.location)
    tile.result.name_hint = alloc.result.name_hint
    insert_before(place, tile)
    return tile


def users_of(alloc: AllocOp) -> list[tuple[SSAValue, Operation, int]]:
    """Return the uses of an allocation and its views, as (value, operation, operand number).

    Raises:
        NotPossibleError: an address is known only at run time.
    """
    found: list[tuple[SSAValue, Operation, int]] = []
    for use in list(alloc.result.uses):
        op = use.operation
        if not isinstance(op, ViewOp):
            found.append((alloc.result, op, use.index))
            continue
        if use.index != 0 or op.index is not None:
            raise NotPossibleError
        for used in list(op.result.uses):
            if isinstance(used.operation, ViewOp):
                raise NotPossibleError
            found.append((op.result, used.operation, used.index))
    return found


def access_in(value: SSAValue) -> AccessPattern:
    """Return the static access pattern of a tile.

    Raises:
        NotPossibleError: the tile has an index that is known only at run time.
    """
    if index_of(value) is not None:
        raise NotPossibleError
    return info_of(value).pattern


def join(allocs: Sequence[AllocOp], place: Operation) -> AllocOp:
    """Join tiles of the same type into one new tile, before `place`.

    Tile number i becomes the free elements from `i * free_size` on. Uses of the tiles become uses
    of the joint tile, and the tiles are removed.

    Raises:
        NotPossibleError: the types differ, or the user has fixed an address.
    """
    first = info_of(allocs[0].result)
    if any(a.fixed_address is not None or info_of(a.result) != first for a in allocs):
        raise NotPossibleError
    users = [users_of(alloc) for alloc in allocs]
    joint = tile_like(allocs[0], place, (first.partitions, len(allocs) * first.free_size))
    for part, (alloc, uses) in enumerate(zip(allocs, users, strict=True)):
        for value, op, number in uses:
            access = part_access(access_in(value), row_elements(value), part, len(allocs))
            op.operands[number] = view(joint.result, access, op, info_of(value).dtype)
        remove_tile(alloc)
    return joint


def part_access(access: AccessPattern, row: int, part: int, parts: int) -> AccessPattern:
    """Translate the access pattern of a tile with `row` elements per partition to a joint tile.

    `part` is the tile's index in the joint tile, which consists of `parts` tiles.
    """
    partition, element = access.start(row)
    step, odd = divmod(access.strides[0], row)
    if odd and access.shape[0] > 1:
        raise NotPossibleError
    low, high = access.columns(row)
    if low < 0 or high >= row:
        raise NotPossibleError
    offset = partition * parts * row + part * row + element
    return AccessPattern(offset, (step * parts * row, *access.strides[1:]), access.shape)


def declare_first(op: Operation) -> None:
    """Move an operation without operands to the start of its block, where all others can use it."""
    block = op.parent_block()
    first = None if block is None else block.first_op
    if block is not None and first is not None and first is not op:
        op.detach()
        block.insert_op_before(op, first)


def remove_tile(alloc: AllocOp) -> None:
    """Remove an allocation and its views. They must be unused."""
    for use in list(alloc.result.uses):
        user = use.operation
        assert isinstance(user, ViewOp)
        if user.result.first_use is None:
            erase(user)
    erase(alloc)


def allocation_of(value: SSAValue) -> AllocOp:
    """Return the allocation of a tile; raises NotPossibleError for a tile of an argument."""
    owner = base_of(value).owner
    if not isinstance(owner, AllocOp):
        raise NotPossibleError
    return owner


def writes(op: Operation) -> list[SSAValue]:
    """Return the tiles that an operation writes."""
    return [e.value for e in effects(op) if e.role is not Role.read]


def reads(op: Operation) -> list[SSAValue]:
    """Return the tiles that an operation reads, including those that it updates in place."""
    return [e.value for e in effects(op) if e.role is not Role.write]
