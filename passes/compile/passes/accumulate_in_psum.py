"""`accumulate-in-psum`: replaces additions of matmul products in SBUF by accumulation in PSUM.

An accumulating matmul rounds its product to float32 and adds it, in float32, to its destination.
This equals the addition of the product to a float32 tile. So the sum is the same bit by bit if
matmuls add one at a time and in the same order. One copy then replaces all additions.

Up to NeuronCore-v3, matmuls add only to results of matmuls. So only two kinds of sums are replaced.
The first begins with a copy of a product; the matmuls then add to that product where it is. The
second begins with a `memset` to zero; the first matmul then overwrites. A sum of negative zeros
alone would be -0 instead of +0, so zero is added at the end.

A sum occupies a bank of PSUM from its first to its last matmul. Sums for which PSUM has no space
stay unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import copysign
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from nkijit.dialects.declare.building import instruction
from nkijit.dialects.declare.operation import NisaOp, is_instruction
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
from nkijit.passes.compile.analyses.memory_use import MemoryUse
from nkijit.passes.compile.passes.rename_tiles import Origins

MAX_PSUM_USE = 0.75
"""The largest fraction of PSUM in use during a sum; the rest is for short-lived results."""
_MAX_OPEN = 8
"""The largest number of sums per tensor that are tracked at a time: the number of PSUM banks."""


def accumulate_in_psum(
    kernel: KernelOp, origins: Origins | None = None, analyses: Analyses | None = None
) -> int:
    """Let matmuls accumulate in PSUM; returns the number of removed additions.

    `kernel` is changed in place, and `origins` gets the new operations.
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
    memory = MemoryUse(kernel, MemoryRegion.psum, MAX_PSUM_USE)
    changed = 0
    for found in sorted(sums, key=lambda one: one.terms[0].place):
        if memory.extend(*_tiles(found), found.terms[0].matmul, found.terms[-1].addition):
            _rewrite(found, {} if origins is None else origins)
            changed += len(found.terms)
    if changed:
        analyses.changed()
    return changed


@dataclass(slots=True)
class _Term:
    """A matmul and the addition of its product to the sum."""

    matmul: NisaOp
    place: int
    """The index of the matmul in program order."""
    product: SSAValue
    """The tile that the matmul writes."""
    addition: NisaOp
    total: SSAValue
    """The tile to which the addition adds the product."""


@dataclass(slots=True)
class _Sum:
    """Consecutive additions of products to one tile."""

    begins: NisaOp
    """The instruction that initialises the tile: a copy or a `memset`."""
    ready: int
    """The program position of the sum's latest instruction; the next matmul must come later."""
    terms: list[_Term] = field(default_factory=list[_Term])

    @property
    def held(self) -> SSAValue:
        """The PSUM tile in which the sum is accumulated."""
        if isinstance(self.begins, TensorCopyOp):
            return self.begins.required("src")
        return self.terms[0].product

    def add(self, term: _Term) -> bool:
        """Append a term; returns False if its matmul cannot add to `held`."""
        if self.begins.parent is not term.addition.parent:
            return False
        self.terms.append(term)
        held, product = self.held, term.product
        compatible = base_of(held).type == base_of(product).type and info_of(held) == info_of(
            product
        )
        if not compatible or term.place <= self.ready:
            self.terms.pop()
            return False
        self.ready = term.place
        return True


def _sums_of(touched: list[Access], accesses: Accesses, kernel: KernelOp) -> list[_Sum]:
    """Return the sums of a tensor that can be accumulated in PSUM."""
    found: list[_Sum] = []
    open_sums: dict[TileInfo, _Sum] = {}
    """The sums that may get further terms, keyed by the elements of the tile that holds the sum."""
    for access in touched:
        term = _term(access, accesses, kernel)
        own = None if term is None else elements_of(term.total)
        ended = [
            tile
            for tile, one in open_sums.items()
            if _touches(access, tile) and not (tile == own and term is not None and one.add(term))
        ]
        found += [open_sums.pop(tile) for tile in ended]
        if term is None or own is None:
            started = _started_by(access, accesses)
            if started is not None:
                open_sums[info_of(access.effects[0].value)] = started
        if len(open_sums) > _MAX_OPEN:
            found.append(open_sums.pop(next(iter(open_sums))))
    found += open_sums.values()
    return [one for one in found if one.terms]


def _touches(access: Access, tile: TileInfo) -> bool:
    return any(info_of(effect.value).overlaps(tile) for effect in access.effects)


def _term(access: Access, accesses: Accesses, kernel: KernelOp) -> _Term | None:
    """Return the matmul and addition that an access belongs to; None if it adds no product."""
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
    """Whether a tile can hold a sum of matmuls: float32 in PSUM, at no fixed address."""
    base = base_of(value)
    tiles = (info_of(value), info_of(base))
    return is_own(base) and all(
        tile.region is MemoryRegion.psum and tile.dtype.name == "float32" for tile in tiles
    )


def _started_by(access: Access, accesses: Accesses) -> _Sum | None:
    """Return a sum that starts with this access; None if no sum in PSUM can start with it."""
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
    """Whether a matmul may add to the results of an instruction."""
    return is_instruction(op) and op.declares("accumulate") and not is_transpose(op)


def _tiles(found: _Sum) -> tuple[SSAValue, set[SSAValue]]:
    """Return the tile that will hold a sum, and the tiles of the products in it."""
    return base_of(found.held), {base_of(term.product) for term in found.terms}


def _rewrite(found: _Sum, origins: Origins) -> None:
    """Let the matmuls of a sum add to one tile, and copy that tile at the end."""
    held, last = found.held, found.terms[-1]
    adds = isinstance(found.begins, TensorCopyOp)
    Rewriter.erase_op(found.begins)
    view = held.owner
    if isinstance(view, ViewOp):  # it may come after the first matmul
        view.detach()
        Rewriter.insert_op(view, InsertPoint.after(cast(AllocOp, base_of(held).owner)))
    for term in found.terms:
        replace_tile(term.matmul, term.product, held)
        term.matmul.properties["accumulate"] = FlagKind().encode(adds)
        adds = True
    new = _copied(last, held) if isinstance(found.begins, TensorCopyOp) else _added(last, held)
    for op in new:
        origins[op] = origins.get(last.addition, last.addition)
    Rewriter.insert_op(new, InsertPoint.before(last.addition))
    for term in found.terms:
        Rewriter.erase_op(term.addition)


def _copied(last: _Term, held: SSAValue) -> list[Operation]:
    """Create the copy of an accumulated sum to its destination."""
    return [instruction(TensorCopyOp, last.addition.location, dst=last.total, src=held)]


def _added(last: _Term, held: SSAValue) -> list[Operation]:
    """Create a constant zero, and the instruction that adds it to a sum."""
    zero = arith.ConstantOp(FloatAttr(0.0, f32))
    addition = instruction(
        TensorScalarOp,
        last.addition.location,
        dst=last.total,
        data=held,
        op0=last.addition.properties["op"],
        operand0=zero.result,
    )
    return [zero, addition]
