"""`square-activation`: square on the Scalar Engine instead of the Vector Engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import LocationAttr

from nkijit.dialects.attributes import OperatorAttr
from nkijit.dialects.declare.building import instruction
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nisa.activation import ActivationOp
from nkijit.dialects.nisa.elementwise import TensorTensorOp
from nkijit.dialects.nki.views import base_of, index_of
from nkijit.dialects.spelling import counted
from nkijit.dialects.tiles import info_of
from nkijit.passes.advise.edit import Edit, erase, insert_before
from nkijit.passes.advise.facts import Facts
from nkijit.passes.advise.kinds import SQUARE_ACTIVATION
from nkijit.passes.advise.proposal import Proposal


def square_activations(facts: Facts) -> Iterator[Proposal]:
    """Yield a proposal for each line that multiplies a tile by itself on the Vector Engine."""
    lines: dict[LocationAttr, list[TensorTensorOp]] = {}
    for op in facts.instructions:
        if isinstance(op, TensorTensorOp) and _is_square(op):
            lines.setdefault(op.location, []).append(op)
    for location, ops in lines.items():
        yield Proposal(
            SQUARE_ACTIVATION,
            location,
            0,
            location,
            "square with nisa.activation, on the Scalar Engine",
            (f"{counted(len(ops), 'instruction')} of the Vector Engine fewer",),
            ops,
            _Square(ops),
        )


def _is_square(op: TensorTensorOp) -> bool:
    one, other = info_of(op.data1), info_of(op.data2)
    same = op.data1 is op.data2 or (
        op.data1.type == op.data2.type and one == other and _base(op) is not None
    )
    free = op.after is None and op.instruction_name is None
    chosen = op.value_of("engine") in (engine.unknown, engine.vector)
    return (
        same
        and free
        and chosen
        and op.value_of("op") == "multiply"
        and one.dtype.kind is Kind.float
    )


def _base(op: TensorTensorOp) -> object:
    """Return the tile that both operands are views of; None if they are of different tiles."""

    static = index_of(op.data1) is None and index_of(op.data2) is None
    return base_of(op.data1) if static and base_of(op.data1) is base_of(op.data2) else None


@dataclass(frozen=True, slots=True)
class _Square:
    """The change: `x * x` becomes `square(x)`."""

    ops: Sequence[TensorTensorOp]

    def __call__(self, edit: Edit) -> None:
        for original in self.ops:
            op = edit.of(original)
            assert isinstance(op, TensorTensorOp)
            square = instruction(
                ActivationOp, op.location, dst=op.dst, data=op.data1, op=OperatorAttr.of("square")
            )
            insert_before(op, square)
            erase(op)
