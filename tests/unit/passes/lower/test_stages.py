"""Equivalent instructions, the stages of an instruction that run, and comparisons of loops."""

from __future__ import annotations

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.scf import ForOp, WhileOp

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nisa.activation import ActivationOp
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.dialects.nki.loops import compared, condition_of
from nkijit.passes.analysis.flow.ranges import surely_runs
from nkijit.passes.lower.likeness import Likeness


@nki.jit
def activations() -> None:
    tile = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    sums = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=0)
    nisa.activation(dst=tile[:, 0:32], op=nl.exp, data=tile[:, 0:32], name="first")
    nisa.activation(dst=tile[:, 32:64], op=nl.exp, data=tile[:, 32:64])
    nisa.activation(
        dst=tile[:, 0:32],
        op=nl.exp,
        data=tile[:, 0:32],
        reduce_op=nl.add,
        reduce_res=sums,
        reduce_cmd=nisa.reduce_cmd.reset_reduce,
    )


def instructions() -> list[NisaOp]:
    (kernel,) = kernels_of(activations.trace().module)
    return [op for op in kernel.walk() if isinstance(op, ActivationOp)]


def test_names_and_places_make_no_difference_but_operands_do() -> None:
    likeness = Likeness()
    one, two, three = map(likeness.number, instructions())
    assert one == two == 0
    assert three == 1


def test_a_stage_runs_when_its_operand_is_given() -> None:
    plain, _, reducing = instructions()
    first, second = ActivationOp.SPEC.stages
    assert plain.given_stages() == [first]
    assert reducing.given_stages() == [first, second]
    assert ActivationOp.SPEC.main_stage == 0


@nki.jit
def loops() -> None:
    left = nisa.register_alloc(3)
    for _ in nl.dynamic_range(0, 4):
        nisa.register_move(dst=left, src=left)
    for _ in nl.dynamic_range(0, left):
        nisa.register_move(dst=left, src=left)
    while left:
        nisa.register_move(dst=left, src=left)


def test_known_facts_of_loops() -> None:
    (kernel,) = kernels_of(loops.trace().module)
    found = [op for op in kernel.walk() if isinstance(op, (ForOp, WhileOp))]
    assert [surely_runs(loop) for loop in found] == [True, False, False]
    last = found[-1]
    assert isinstance(last, WhileOp)
    test = condition_of(last).owner
    assert isinstance(test, CmpiOp)
    assert compared(last) == (test.lhs, test.rhs)
