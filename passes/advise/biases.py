"""`subtracting-bias`: subtract by the bias of an activation instead of by a tensor_scalar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FloatAttr, LocationAttr, f32
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.attributes import OperatorAttr
from nkijit.dialects.declare.building import arguments_of, instruction
from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.declare.queries import is_set
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.nisa.activation import ActivationOp
from nkijit.dialects.nisa.elementwise import TensorScalarOp
from nkijit.dialects.nisa.reduce import TensorReduceOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.spelling import counted
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.advise.edit import Edit, allocation_of, erase, insert_before, tile_like
from nkijit.passes.advise.facts import Facts
from nkijit.passes.advise.fusion import is_in_place, only_source, unchanged
from nkijit.passes.advise.kinds import SUBTRACTING_BIAS
from nkijit.passes.advise.proposal import Proposal, name_of


@dataclass(frozen=True, slots=True)
class _Pair:
    first: TensorScalarOp
    second: ActivationOp
    reduction: TensorReduceOp | None
    """The reduction that computes the subtracted values for this pair only, and can negate them."""
    keeps_first: bool
    """True if the subtraction has other readers, so it remains."""


def subtracting_biases(facts: Facts) -> Iterator[Proposal]:
    """Yield a proposal for each pair of lines with a subtraction before an activation."""
    lines: dict[tuple[LocationAttr, LocationAttr], list[_Pair]] = {}
    for second in facts.instructions:
        if isinstance(second, ActivationOp):
            pair = _pair(second, facts)
            if pair is not None:
                lines.setdefault((pair.first.location, second.location), []).append(pair)
    for key, pairs in lines.items():
        tile = name_of(base_of(pair.first.required("dst")).name_hint for pair in pairs)
        about: list[NisaOp] = [op for pair in pairs for op in (pair.first, pair.second)]
        yield Proposal(
            SUBTRACTING_BIAS,
            key,
            0,
            key[1],
            f"subtract by the bias of the activation, without {tile}",
            (f"{counted(len(pairs), 'instruction')} of the Vector Engine fewer",),
            about,
            _Subtract(pairs),
        )


def _pair(second: ActivationOp, facts: Facts) -> _Pair | None:
    taken = second.operand_named("bias") is not None or second.operand_named("scale") is not None
    first = only_source(second, second.required("data"), facts)
    if taken or not isinstance(first, TensorScalarOp) or second.after is not None:
        return None
    value = first.operand_named("operand0")
    start, end = facts.position[first], facts.position[second]
    if (
        value is None
        or first.value_of("op0") != "subtract"
        or is_set(first, "op1")
        or info_of(first.required("dst")).dtype is not DTYPES["float32"]
        or not unchanged(first, ("data", "operand0"), start, end, facts)
    ):
        return None
    keeps = facts.readers.get(first) != {second}
    if keeps and is_in_place(first):
        return None
    return _Pair(first, second, None if keeps else _reduction(first, value, facts), keeps)


def _reduction(first: TensorScalarOp, value: SSAValue, facts: Facts) -> TensorReduceOp | None:
    if first.value_of("reverse0") or not is_tile(value):
        return None
    source = only_source(first, value, facts)
    if not isinstance(source, TensorReduceOp) or facts.readers.get(source) != {first}:
        return None
    return None if source.value_of("negate") else source


@dataclass(frozen=True, slots=True)
class _Subtract:
    """The change: `op(x - m)` becomes `op(x + -m)`, which has the same bits."""

    pairs: Sequence[_Pair]

    def __call__(self, edit: Edit) -> None:
        for pair in self.pairs:
            first, second = edit.of(pair.first), edit.of(pair.second)
            assert isinstance(first, TensorScalarOp)
            assert isinstance(second, ActivationOp)
            value = first.required("operand0")
            arguments = arguments_of(second) | {"data": first.required("data")}
            if first.value_of("reverse0"):
                arguments |= {"scale": _constant(-1.0, second), "bias": value}
            elif pair.reduction is not None:
                _negate(edit.of(pair.reduction))
                arguments["bias"] = value
            else:
                arguments["bias"] = _negated(value, second)
            insert_before(second, instruction(ActivationOp, second.location, **arguments))
            erase(second)
            if not pair.keeps_first:
                erase(first)


def _negate(reduction: Operation) -> None:
    """Negate the result of a reduction."""
    assert isinstance(reduction, TensorReduceOp)
    arguments = arguments_of(reduction) | {"negate": True}
    insert_before(reduction, instruction(TensorReduceOp, reduction.location, **arguments))
    erase(reduction)


def _negated(value: SSAValue, place: NisaOp) -> SSAValue:
    """Create the negated value of an operand with one element per partition, before `place`."""
    number = scalar_constant(value)
    if number is not None:
        return _constant(-number, place)
    info = info_of(value)
    tile = tile_like(allocation_of(value), place, info.shape, DTYPES["float32"])
    factor = _constant(-1.0, place)
    negate = instruction(
        TensorScalarOp,
        place.location,
        dst=tile.result,
        data=value,
        op0=OperatorAttr.of("multiply"),
        operand0=factor,
    )
    insert_before(place, negate)
    return tile.result


def _constant(number: float, place: NisaOp) -> SSAValue:
    constant = ConstantOp(FloatAttr(number, f32))
    insert_before(place, constant)
    return constant.result
