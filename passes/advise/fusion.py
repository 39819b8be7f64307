"""`fused-instructions`: replaces two instructions on the same tile by a single instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FloatAttr, LocationAttr, f32
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.attributes import OperatorAttr
from nkijit.dialects.declare.building import arguments_of, instruction
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import is_set
from nkijit.dialects.hardware.words import engine, reduce_cmd
from nkijit.dialects.nisa.activation import ActivationOp
from nkijit.dialects.nisa.elementwise import (
    ScalarTensorTensorOp,
    TensorScalarOp,
    TensorScalarReduceOp,
    TensorTensorOp,
)
from nkijit.dialects.nisa.reduce import TensorReduceOp
from nkijit.dialects.nki.views import ViewOp, base_of
from nkijit.dialects.operators import OPERATORS, AluKind
from nkijit.dialects.spelling import counted
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.advise.edit import Edit, NotPossibleError, erase, insert_before, view
from nkijit.passes.advise.facts import Facts
from nkijit.passes.advise.kinds import FUSED
from nkijit.passes.advise.proposal import Proposal, name_of, place_of
from nkijit.passes.compile.analyses.ordering import Kept

_REDUCTIONS = ("add", "multiply", "maximum", "minimum")


class _Pair(NamedTuple):
    """Two instructions that a single instruction can replace."""

    first: NisaOp
    second: NisaOp
    becomes: str
    """The replacement in words, e.g. "one scalar_tensor_tensor"."""
    reduces: bool
    """True if the second instruction is a reduction that the replacement computes as well."""
    keeps_first: bool = False
    """True if the first instruction has other readers, so it remains."""


def fused_instructions(facts: Facts) -> Iterator[Proposal]:
    """Yield a proposal for each pair of source lines whose instructions can be fused."""
    lines: dict[tuple[LocationAttr, LocationAttr, str], list[_Pair]] = {}
    for pair in _pairs(facts):
        key = pair.first.location, pair.second.location, pair.becomes
        lines.setdefault(key, []).append(pair)
    for key, pairs in lines.items():
        first, second = pairs[0].first, pairs[0].second
        tile = name_of(base_of(first.required("dst")).name_hint for first, *_ in pairs)
        place = place_of(first.location)
        at = f" at line {place.line}" if place is not None else ""
        names = (op.name.partition(".")[2] for op in (second, first))
        yield Proposal(
            FUSED, key, 0, second.location,
            "let {} do this {} with the {}{}".format(pairs[0].becomes, *names, at),
            (_reason(tile, pairs),),
            [op for pair in pairs for op in (pair.first, pair.second)],
            _Fuse(pairs),
        )  # fmt: skip


def _reason(tile: str, pairs: Sequence[_Pair]) -> str:
    if any(pair.keeps_first for pair in pairs):
        return f"it does not wait for {tile}, which other instructions read as well"
    return (
        f"no other instruction in between accesses {tile}; {counted(len(pairs), 'instruction')} "
        "fewer"
    )


@dataclass(frozen=True, slots=True)
class _Fuse:
    pairs: Sequence[_Pair]

    def __call__(self, edit: Edit) -> None:
        gone: set[Operation] = set()
        for pair in self.pairs:
            first, second = edit.of(pair.first), edit.of(pair.second)
            if gone & {first, second}:
                continue
            assert isinstance(first, NisaOp) and isinstance(second, NisaOp)  # noqa: PT018
            if pair.reduces:
                _declare_before(first, second)
            fused = _reducing(first, second) if pair.reduces else _together(first, second)
            insert_before(first if pair.reduces else second, fused)
            gone |= {second} if pair.keeps_first else {first, second}
            for op in (second,) if pair.keeps_first else (first, second):
                erase(op)
        if not gone:
            raise NotPossibleError


def _declare_before(first: NisaOp, second: NisaOp) -> None:
    """Make the destination of the second instruction usable at the first one."""
    number = list(second.operands).index(second.required("dst"))
    into = second.operands[number]
    tile = base_of(into)
    op = first.next_op
    while op is not None and op is not second and op is not tile.owner:
        op = op.next_op
    if op is not None and op is tile.owner:
        op.detach()
        insert_before(first, op)
    if isinstance(into.owner, ViewOp):
        info = info_of(into)
        second.operands[number] = view(tile, info.pattern, first, info.dtype)


def _pairs(facts: Facts) -> Iterator[_Pair]:
    accumulators = Kept.by(facts.kernel).accumulators
    for second in facts.instructions:
        if second.after is not None or second.instruction_name is not None:
            continue
        if isinstance(second, TensorReduceOp):
            first = only_source(second, second.data, facts)
            if first is not None and _can_reduce(first, second, accumulators, facts):
                yield _Pair(first, second, _BECOMES_REDUCING[type(first)], True)
        elif isinstance(second, (TensorScalarOp, ActivationOp, TensorTensorOp)):
            for value in _inputs(second):
                first = only_source(second, value, facts)
                if isinstance(first, TensorScalarOp) and _can_join(first, second, value, facts):
                    keeps = facts.readers.get(first) != {second}
                    if not (keeps and is_in_place(first)):
                        yield _Pair(first, second, _BECOMES[type(second)], False, keeps)
                        break


_BECOMES: dict[type[NisaOp], str] = {
    TensorScalarOp: "one tensor_scalar with two operators",
    ActivationOp: "activation, by its scale= and bias=,",
    TensorTensorOp: "one scalar_tensor_tensor",
}
_BECOMES_REDUCING: dict[type[NisaOp], str] = {
    ActivationOp: "activation, by its reduce_op= and reduce_res=,",
    TensorScalarOp: "one tensor_scalar_reduce",
    TensorTensorOp: "one scalar_tensor_tensor, by its reduce_op= and reduce_res=,",
}


def _inputs(op: NisaOp) -> list[SSAValue]:
    if isinstance(op, TensorTensorOp):
        return [op.data1, op.data2]
    return [op.required("data")]


def only_source(op: NisaOp, value: SSAValue, facts: Facts) -> NisaOp | None:
    """Return the instruction that alone writes all of a tile before `op`, in the same block.

    Returns None if several instructions write the tile, if the instruction has a name, or if it
    waits for a named instruction.
    """
    tile, position = info_of(value), facts.position[op]
    for access in reversed(facts.accesses[base_of(value)]):
        if access.position >= position or access.role is Role.read:
            continue
        if not info_of(access.value).overlaps(tile):
            continue
        first = access.op
        same = info_of(access.value) == tile and access.role is Role.write
        if not same or not isinstance(first, NisaOp) or not first.declares("dst"):
            return None
        usable = first.after is None and first.instruction_name is None
        near = first.parent_block() is op.parent_block()
        return first if near and usable and first.operand_named("dst") is access.value else None
    return None


def is_in_place(op: NisaOp) -> bool:
    """Whether an instruction overwrites a tile that it reads."""
    into = base_of(op.required("dst"))
    others = (value for value in op.operands if is_tile(value) and value is not op.required("dst"))
    return any(base_of(value) is into for value in others) or (
        sum(value is op.required("dst") for value in op.operands) > 1
    )


def unchanged(op: NisaOp, names: Sequence[str], first: int, last: int, facts: Facts) -> bool:
    """Whether no instruction between two positions writes the named operands of an instruction."""
    for name in names:
        value = op.operand_named(name)
        if value is not None and is_tile(value):
            others: set[Operation] = {op}
            if not facts.undisturbed(value, first, last, others, reads=False):
                return False
    return True


def _can_join(first: TensorScalarOp, second: NisaOp, value: SSAValue, facts: Facts) -> bool:
    if is_set(first, "op1") and not isinstance(second, ActivationOp):
        return False
    start, end = facts.position[first], facts.position[second]
    if not unchanged(first, ("data", "operand0", "operand1"), start, end, facts):
        return False
    kinds = [_kind(first, "op0")]
    if isinstance(second, TensorScalarOp):
        kinds.append(_kind(second, "op0"))
        same_engine = first.value_of("engine") is second.value_of("engine")
        return not is_set(second, "op1") and same_engine and len(set(kinds)) == 1
    if isinstance(second, ActivationOp):
        return _as_scale_and_bias(first) is not None and not _has_scale_or_bias(second)
    assert isinstance(second, TensorTensorOp)
    kinds.append(_kind(second, "op"))
    twice = second.data1 is second.data2
    binary = first.operand_named("operand0") is not None
    return binary and not twice and set(kinds) == {AluKind.arithmetic}


def _kind(op: NisaOp, name: str) -> AluKind | None:
    alu = OPERATORS[op.value_of(name)].alu
    return None if alu is None else alu.kind


def _as_scale_and_bias(op: TensorScalarOp) -> dict[str, SSAValue | None] | None:
    """Return the activation arguments with the effect of a tensor_scalar; None if impossible."""
    words = op.value_of("op0"), op.value_of("op1") if is_set(op, "op1") else None
    if words == ("multiply", None):
        return {"scale": op.operand_named("operand0")}
    if words == ("add", None):
        return {"bias": op.operand_named("operand0")}
    if words == ("multiply", "add"):
        return {"scale": op.operand_named("operand0"), "bias": op.operand_named("operand1")}
    return None


def _has_scale_or_bias(op: ActivationOp) -> bool:
    return op.operand_named("bias") is not None or op.operand_named("scale") is not None


def _together(first: NisaOp, second: NisaOp) -> NisaOp:
    """Create the instruction that replaces a pair."""
    arguments = arguments_of(second)
    if isinstance(second, ActivationOp):
        assert isinstance(first, TensorScalarOp)
        arguments |= _as_scale_and_bias(first) or {}
        return instruction(
            ActivationOp, second.location, **(arguments | {"data": first.required("data")})
        )
    front: dict[str, object] = {
        "dst": second.required("dst"),
        "data": first.required("data"),
        "op0": first.properties.get("op0"),
        "operand0": first.operand_named("operand0"),
        "reverse0": first.properties.get("reverse0"),
    }
    if isinstance(second, TensorScalarOp):
        return instruction(
            TensorScalarOp,
            second.location,
            **front,
            op1=second.properties.get("op0"),
            operand1=second.operand_named("operand0"),
            reverse1=second.properties.get("reverse0"),
            engine=second.properties.get("engine"),
        )
    assert isinstance(second, TensorTensorOp)
    mid = base_of(first.required("dst"))
    is_reversed = base_of(second.data1) is not mid
    return instruction(
        ScalarTensorTensorOp,
        second.location,
        **front,
        op1=second.properties.get("op"),
        operand1=second.data1 if is_reversed else second.data2,
        reverse1=is_reversed,
    )


def _can_reduce(
    first: NisaOp, second: TensorReduceOp, accumulators: frozenset[engine], facts: Facts
) -> bool:
    word = second.value_of("op")
    data, dst = info_of(second.data), info_of(second.dst)
    if second.value_of("negate") or dst.free_size != 1 or word not in _REDUCTIONS:
        return False
    if len(second.value_of("axis")) < len(data.shape) - 1:
        return False
    start, end = facts.position[first], facts.position[second]
    if not facts.undisturbed(second.dst, start, end, {first, second}, reads=True):
        return False
    if base_of(second.dst) in {base_of(value) for value in first.operands if is_tile(value)}:
        return False
    if isinstance(first, ActivationOp):
        idle = first.value_of("reduce_cmd") is reduce_cmd.idle and not is_set(first, "reduce_op")
        mine = first.value_of("engine") is engine.scalar and engine.scalar not in accumulators
        return word == "add" and idle and mine
    if engine.vector in accumulators:
        return False
    if isinstance(first, TensorScalarOp):
        plain = not is_set(first, "op1") and not first.value_of("reverse0")
        return plain and _kind(first, "op0") is AluKind.arithmetic
    return isinstance(first, TensorTensorOp) and _kind(first, "op") is AluKind.arithmetic


def _reducing(first: NisaOp, second: NisaOp) -> NisaOp:
    """Create the first instruction of a pair, with the reduction of the second one added."""
    reduction: dict[str, object] = {
        "reduce_op": second.properties.get("op"),
        "reduce_res": second.required("dst"),
        "reduce_cmd": reduce_cmd.reset_reduce,
    }
    if isinstance(first, ActivationOp):
        return instruction(ActivationOp, first.location, **(arguments_of(first) | reduction))
    if isinstance(first, TensorScalarOp):
        shared = {name: arguments_of(first)[name] for name in ("dst", "data", "op0", "operand0")}
        return instruction(TensorScalarReduceOp, first.location, **shared, **reduction)
    assert isinstance(first, TensorTensorOp)
    one = ConstantOp(FloatAttr(1.0, f32))
    insert_before(first, one)
    return instruction(
        ScalarTensorTensorOp,
        first.location,
        dst=first.dst,
        data=first.data1,
        op0=OperatorAttr.of("multiply"),
        operand0=one.result,
        op1=first.properties.get("op"),
        operand1=first.data2,
        **reduction,
    )
