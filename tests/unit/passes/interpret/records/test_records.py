"""Records, the layer between semantics and a backend, can be inspected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.paths import LIT

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS, OF_SCALARS
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.dialects.tiles import info_of
from nkijit.ir.text import parse
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.interpret.records.records import (
    Applied,
    Arithmetic,
    Chain,
    Copy,
    Fill,
    Matmul,
    Opaque,
    Record,
    Reduce,
    Scaled,
    Source,
    Table,
)

X = np.zeros((128, 64), np.float32)

OPAQUE = frozenset(
    {
        "affine_select",
        "dropout",
        "iota",
        "local_gather",
        "max8",
        "nc_find_index8",
        "nc_match_replace8",
        "nc_matmul",
        "nonzero_with_count",
        "quantize_mx",
        "rand2",
        "rand_get_state",
        "rand_set_state",
        "register_compute",
        "register_load",
        "register_move",
        "register_store",
        "rng",
        "sequence_bounds",
        "set_rng_seed",
        "tensor_copy_predicated",
        "topk",
    }
)
"""Instructions with an `Opaque` record, which only the NumPy backend can run. This is a decision:
an instruction is added here if no other record can express it."""


def test_opaque_records_are_a_decision() -> None:
    found: dict[str, set[type[Any]]] = defaultdict(set)
    for path in sorted((LIT / "dialects" / "nisa").rglob("*.mlir")):
        if path.name not in ("ops.mlir", "valid.mlir"):
            continue
        for kernel in kernels_of(parse(path.read_text(encoding="utf-8"), str(path))):
            try:
                records = Plan(kernel).records
            except InterpretationError:  # unknown for a single core, or without an address
                continue
            for op, made in records.items():
                if not isinstance(op, COLLECTIVES):
                    found[op.name.partition(".")[2]].add(type(made))
    found["nc_transpose"].add(type(record(_transposed, target="trn1")))
    assert found.keys() == {op.name.partition(".")[2] for op in (*INSTRUCTIONS, *OF_SCALARS)}
    assert {name for name, kinds in found.items() if Opaque in kinds} == OPAQUE


def _transposed(x: Any, out: Any) -> None:
    nisa.nc_transpose(nl.ndarray((64, 128), x.dtype, buffer=nl.psum), x)


def record(body: Callable[[Any, Any], object], target: str = "trn2") -> Record:
    """The record of the last instruction that `body(x, out)` emits on tiles in SBUF."""

    @nki.jit(platform_target=target)
    def kernel(x: Any) -> Any:
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        body(tile, out)
        result = nl.ndarray((1, 1), nl.float32, buffer=nl.shared_hbm)
        return result

    (ir,) = kernels_of(parse(str(kernel.trace(X)), "kernel"))
    *_, last = Plan(ir).records.values()
    return last


def words(stages: tuple[Applied, ...]) -> list[tuple[str, bool]]:
    return [(stage.word, stage.reverse) for stage in stages]


def constant(source: Source | None) -> Any:
    assert source is not None
    return source.constant


def test_a_chain_says_its_operators_in_order() -> None:
    made = record(
        lambda x, out: nisa.tensor_scalar(
            out, x, nl.subtract, 2.0, reverse0=True, op1=nl.maximum, operand1=-1.0
        )
    )
    assert isinstance(made, Chain)
    assert words(made.stages) == [("subtract", True), ("maximum", False)]
    assert [constant(stage.operand) for stage in made.stages] == [2.0, -1.0]
    assert made.arithmetic is Arithmetic.float32
    assert made.accumulators is None
    assert made.into.dtype.name == "float32"


def test_an_operator_of_one_operand_takes_none() -> None:
    made = record(lambda x, out: nisa.tensor_scalar(out, x, nl.rsqrt, 0.0))
    assert isinstance(made, Chain)
    assert made.stages == (Applied("rsqrt"),)


def test_bits_are_a_chain_of_another_arithmetic() -> None:
    def body(x: Any, out: Any) -> None:
        bits = nl.ndarray((128, 64), nl.int16, buffer=nl.sbuf)
        nisa.memset(bits, 3)
        nisa.tensor_scalar(bits, bits, nl.bitwise_and, 0x1FF)

    made = record(body)
    assert isinstance(made, Chain)
    assert made.arithmetic is Arithmetic.bits
    assert constant(made.stages[0].operand) == np.int16(0x1FF)
    assert made.data.dtype is None


def test_an_activation_with_a_row_sum() -> None:
    def body(x: Any, out: Any) -> None:
        sums = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
        nisa.activation(
            out,
            nl.exp,
            x,
            scale=0.5,
            reduce_op=nl.add,
            reduce_res=sums,
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
        )

    made = record(body)
    assert isinstance(made, Chain)
    assert words(made.stages) == [("multiply", False), ("exp", False)]
    assert made.stages[-1].table is Table.activation
    use = made.accumulators
    assert use is not None
    assert (use.start, use.word, use.negate) == (0.0, "add", False)
    assert use.registers.lanes == slice(0, 128)
    assert use.into is not None
    assert use.into.shape == (128, 1)


@pytest.mark.parametrize("dtype", [nl.float32, nl.bfloat16])
def test_a_copy_says_whether_it_converts(dtype: Any) -> None:
    def body(x: Any, out: Any) -> None:
        nisa.tensor_copy(nl.ndarray((128, 64), dtype, buffer=nl.sbuf), x)

    made = record(body)
    assert isinstance(made, Copy)
    assert (made.source.dtype is not None) == (dtype is nl.bfloat16)
    assert str(made.into.dtype.name) in ("float32", "bfloat16")


def test_matmuls_say_where_they_add() -> None:
    def product(*accumulate: bool | None) -> Matmul:
        def body(x: Any, out: Any) -> None:
            sums = nl.ndarray((64, 64), nl.float32, buffer=nl.psum)
            for adds in accumulate:
                nisa.nc_matmul(sums, x, x, accumulate=adds)

        made = record(body)
        assert isinstance(made, Matmul)
        return made

    assert product(None).added is False
    assert product(None).previous is None
    assert product(None, None).added is True
    assert product(None, None).previous is not None
    assert product(True).added is True
    assert product(None, False).added is False


def test_a_matmul_adds_where_an_earlier_one_has_written() -> None:
    def body(x: Any, out: Any) -> None:
        sums = nl.ndarray((64, 64), nl.float32, buffer=nl.psum)
        nisa.nc_matmul(sums[:, 0:16], x, x[:, 0:16])
        nisa.nc_matmul(sums, x, x)

    made = record(body)
    assert isinstance(made, Matmul)
    assert isinstance(made.added, np.ndarray)
    assert np.array_equal(made.added, np.broadcast_to(np.arange(64) < 16, (64, 64)))


def test_mx_operands_name_their_packed_type() -> None:
    text = (LIT / "dialects" / "nisa" / "mx" / "valid.mlir").read_text(encoding="utf-8")
    made = [
        record
        for kernel in kernels_of(parse(text, "mx"))
        for record in Plan(kernel).records.values()
        if isinstance(record, Matmul)
    ]
    assert made
    for product in made:
        assert isinstance(product.stationary, Scaled)
        assert product.stationary.element.startswith("float")


def test_a_reduction_over_partitions_that_averages() -> None:
    def body(x: Any, out: Any) -> None:
        row = nl.ndarray((1, 64), nl.float32, buffer=nl.sbuf)
        nisa.tensor_partition_reduce(row, nl.average, x)

    made = record(body, target="trn3")
    assert isinstance(made, Reduce)
    assert (made.word, made.over_partitions, made.divisor) == ("add", True, 128)


def test_an_iota_with_a_known_offset_is_a_fill() -> None:
    def body(x: Any, out: Any) -> None:
        nisa.iota(nl.ndarray((128, 64), nl.int32, buffer=nl.sbuf), [[1, 64]], 5)

    made = record(body)
    assert isinstance(made, Fill)
    assert made.values[0, 0] == 5


def test_runs_do_not_change_a_plan() -> None:
    path = LIT / "dialects" / "nisa" / "elementwise" / "valid.mlir"
    kernels = kernels_of(parse(path.read_text(encoding="utf-8"), str(path)))
    assert kernels
    for kernel in kernels:
        plan = Plan(kernel)
        slots, views = list(plan.slots.template), list(plan.slots.views)
        infos = [info_of(value) for value in kernel.arguments]
        plan.run([np.ones(info.shape, plan.slots.stored(info.dtype)) for info in infos])
        assert len(plan.slots.template) == len(slots)
        assert all(one is two for one, two in zip(plan.slots.template, slots, strict=True))
        assert plan.slots.views == views
        with pytest.raises(AssertionError, match="after the kernel was compiled"):
            plan.slots.new()
