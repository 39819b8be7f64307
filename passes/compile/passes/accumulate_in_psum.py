"""`accumulate-in-psum`: what is added up outside of PSUM, matmul by matmul, adds up in PSUM.

A matmul that accumulates rounds its product to float32 and adds it to what its destination holds,
in float32: the same as an addition of its result to a float32 tile. So a sum of matmuls is the same
bit by bit as long as each is added by itself, in the order in which they are multiplied. It then
takes one copy in the place of all additions.

Matmuls add to what matmuls have left only (up to NeuronCore-v3). So a sum begins with a copy of a
product, which is then added to where it is, or with a `memset` to zero. The first matmul overwrites
in the place of the latter. Both are the same but for a sum of nothing but negative zeros, which is
zero where it has begun with one: zero is added at the end.

A bank of PSUM is in use for as long as a sum takes. Sums for which there is no room stay as they
are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import copysign
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from nkijit.dialects.declare.creation import created
from nkijit.dialects.declare.operation import SEGMENTS, NisaOp, is_instruction, segments_attr
from nkijit.dialects.declare.properties import FlagKind
from nkijit.dialects.declare.queries import is_transpose
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of
from nkijit.dialects.nisa.elementwise import TensorScalarOp, TensorTensorOp
from nkijit.dialects.nisa.movement import MemsetOp, TensorCopyOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import ViewOp, base_of
from nkijit.dialects.tiles import TileInfo, info_of
from nkijit.passes.compile.analyses.accesses import (
    Access,
    Accesses,
    elements_of,
    is_free,
    is_own,
    overwrites,
    replace_tile,
)
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.memory_use import Room
from nkijit.passes.compile.passes.rename_tiles import Origins

PSUM_ROOM = 0.75
"""The part of PSUM that may be in use where a sum is; the rest is for results that come and go."""
_MOST_GOING = 8
"""Sums of one tile that are looked at side by side; PSUM has no more banks."""


def accumulate_in_psum(
    kernel: KernelOp, origins: Origins | None = None, analyses: Analyses | None = None
) -> int:
    """Let matmuls add up; returns how many additions went.

    `origins` gets those of the new operations. `analyses`: what is known of the kernel.
    """
    analyses = analyses or Analyses(kernel)
    added_to = {
        base_of(op.required("dst"))
        for op in cast(list[TensorTensorOp], analyses.of_kind.get(TensorTensorOp, ()))
        if op.value_of("op") == "add"
    }
    if not added_to:
        return 0
    accesses = analyses.accesses
    sums = [
        found
        for base, touched in accesses.items()
        if base in added_to
        and info_of(base).region is MemoryRegion.sbuf
        and info_of(base).dtype.name == "float32"
        for found in _sums_of(touched, accesses, kernel)
    ]
    if not sums:
        return 0
    room = Room(kernel, MemoryRegion.psum, PSUM_ROOM)
    changed = 0
    for found in sorted(sums, key=lambda one: one.terms[0].place):
        if room.takes(*_tiles(found), found.terms[0].matmul, found.terms[-1].addition):
            _rewrite(found, {} if origins is None else origins)
            changed += len(found.terms)
    if changed:
        analyses.changed()
    return changed


@dataclass(slots=True)
class _Term:
    """A matmul and the addition of its result."""

    matmul: NisaOp
    place: int
    """Where the matmul is in the program."""
    product: SSAValue
    """What it writes."""
    addition: NisaOp
    total: SSAValue
    """The tile that the result is added to."""


@dataclass(slots=True)
class _Sum:
    """Additions to one tile, in a row."""

    begins: NisaOp
    """What fills the tile before."""
    ready: int
    """The place in the program behind which the next matmul may be one of its."""
    terms: list[_Term] = field(default_factory=list[_Term])

    @property
    def held(self) -> SSAValue:
        """The tile in PSUM that holds the sum."""
        if isinstance(self.begins, TensorCopyOp):
            return self.begins.required("src")
        return self.terms[0].product

    def add(self, term: _Term) -> bool:
        """Add a term, if it can be added where its matmul is; False if not."""
        if self.begins.parent is not term.addition.parent:
            return False
        self.terms.append(term)
        held, product = self.held, term.product
        alike = base_of(held).type == base_of(product).type and info_of(held) == info_of(product)
        if not alike or term.place <= self.ready:
            self.terms.pop()
            return False
        self.ready = term.place
        return True


def _sums_of(touched: list[Access], accesses: Accesses, kernel: KernelOp) -> list[_Sum]:
    """The sums of a tensor that may be made in PSUM."""
    found: list[_Sum] = []
    going: dict[TileInfo, _Sum] = {}
    """The sums that may go on, by their elements."""
    for access in touched:
        term = _term(access, accesses, kernel)
        own = None if term is None else elements_of(term.total)
        ended = [
            tile
            for tile, one in going.items()
            if _touches(access, tile) and not (tile == own and term is not None and one.add(term))
        ]
        found += [going.pop(tile) for tile in ended]
        if term is None or own is None:
            begun = _begun(access, accesses)
            if begun is not None:
                going[info_of(access.effects[0].value)] = begun
        if len(going) > _MOST_GOING:
            found.append(going.pop(next(iter(going))))
    found += going.values()
    return [one for one in found if one.terms]


def _touches(access: Access, tile: TileInfo) -> bool:
    return any(info_of(effect.value).overlaps(tile) for effect in access.effects)


def _term(access: Access, accesses: Accesses, kernel: KernelOp) -> _Term | None:
    """The matmul whose result an instruction adds to a tile, if it does nothing else."""
    op = access.op
    if not isinstance(op, TensorTensorOp) or not is_free(op) or op.value_of("op") != "add":
        return None
    total = op.required("dst")
    before, product = op.required("data1"), op.required("data2")
    if base_of(product) is base_of(total):
        before, product = product, before
    used = accesses[base_of(product)]
    if elements_of(total) is None or elements_of(before) != elements_of(total):
        return None
    if base_of(before) is not base_of(total) or not _holds_sums(product):
        return None
    if len(used) != 2 or used[1].op is not op:
        return None
    matmul = used[0].op
    if not is_instruction(matmul) or not is_free(matmul) or matmul.parent is not op.parent:
        return None
    if not _multiplies(matmul):
        return None
    if accumulation_of(matmul, kernel.target) is not Accumulation.overwrites:
        return None
    written = matmul.required("dst")
    elements = elements_of(written)
    if elements is None or elements != elements_of(product):
        return None
    return _Term(matmul, used[0].place, written, op, total)


def _holds_sums(value: SSAValue) -> bool:
    """Whether a tile can hold a sum of matmuls."""
    base = base_of(value)
    tiles = (info_of(value), info_of(base))
    return is_own(base) and all(
        tile.region is MemoryRegion.psum and tile.dtype.name == "float32" for tile in tiles
    )


def _begun(access: Access, accesses: Accesses) -> _Sum | None:
    """What a sum can begin with in PSUM as well."""
    op = access.op
    if not isinstance(op, (MemsetOp, TensorCopyOp)) or not is_free(op):
        return None
    if len(access.effects) != 1 or not overwrites(access.effects[0]):
        return None
    if isinstance(op, MemsetOp):
        return _Sum(op, -1) if _is_zero(op.value_of("value")) else None
    source = op.required("src")
    *used, last = accesses[base_of(source)]
    if not _holds_sums(source) or elements_of(source) is None or last.op is not op or not used:
        return None
    if not all(_multiplies(one.op) and one.op.parent is op.parent for one in used):
        return None
    return _Sum(op, used[-1].place)


def _is_zero(value: float) -> bool:
    return value == 0 and copysign(1, value) > 0


def _multiplies(op: Operation) -> bool:
    """Whether an instruction leaves something to which matmuls may add."""
    return is_instruction(op) and op.declares("accumulate") and not is_transpose(op)


def _tiles(found: _Sum) -> tuple[SSAValue, set[SSAValue]]:
    """The tile that holds a sum, and those that hold its terms."""
    return base_of(found.held), {base_of(term.product) for term in found.terms}


def _rewrite(found: _Sum, origins: Origins) -> None:
    """Let the matmuls of a sum add to one tile, which is copied at the end."""
    held, last = found.held, found.terms[-1]
    adds = isinstance(found.begins, TensorCopyOp)
    Rewriter.erase_op(found.begins)
    view = held.owner
    if isinstance(view, ViewOp):  # which may stand behind the first matmul
        view.detach()
        Rewriter.insert_op(view, InsertPoint.after(cast(AllocOp, base_of(held).owner)))
    for term in found.terms:
        replace_tile(term.matmul, term.product, held)
        term.matmul.properties["accumulate"] = FlagKind().encode(adds)
        adds = True
    made = _copied(last, held) if isinstance(found.begins, TensorCopyOp) else _added(last, held)
    for op in made:
        origins[op] = origins.get(last.addition, last.addition)
    Rewriter.insert_op(made, InsertPoint.before(last.addition))
    for term in found.terms:
        Rewriter.erase_op(term.addition)


def _copied(last: _Term, held: SSAValue) -> list[Operation]:
    """What copies a sum."""
    return [created(TensorCopyOp, (last.total, held), (), {}, last.addition.location)]


def _added(last: _Term, held: SSAValue) -> list[Operation]:
    """What copies a sum and adds zero to it."""
    zero = arith.ConstantOp(FloatAttr(0.0, f32))
    given = {
        "op0": last.addition.properties["op"],
        SEGMENTS: segments_attr([1, 1, 1, 0]),
    }
    operands = (last.total, held, zero.result)
    return [zero, created(TensorScalarOp, operands, (), given, last.addition.location)]
