"""Edges between instructions: by handle, by name, and in blocks that keep their order."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.declare.operation import NisaOp
from nkijit.frameworks.calls import ArgumentTypeError
from nkijit.ir.text import parse
from nkijit.traced.kernel import TracedKernel

X = np.arange(1, 33, dtype=np.float32).reshape(4, 8)
SPEC = nki.TensorSpec(X.shape, "float32")


@nki.jit
def guide(t):
    """The kernel of the guide."""
    x, a, b, c = (nl.ndarray(t.shape, t.dtype, buffer=nl.sbuf) for _ in range(4))
    nisa.dma_copy(dst=x, src=t)
    nisa.reciprocal(dst=a, data=x, name="recip")
    nisa.tensor_scalar(dst=b, data=x, op0=nl.add, operand0=1, name="plus1")
    nisa.tensor_tensor(dst=c, data1=a, data2=b, op=nl.add, name="sum")
    out = nl.ndarray(t.shape, t.dtype, buffer=nl.hbm)
    nisa.dma_copy(dst=out, src=c)
    return out


def edges(traced: TracedKernel) -> dict[str, tuple[str, ...]]:
    """Which instructions of a kernel run after which."""
    ops = [op for op in traced.module.walk() if isinstance(op, NisaOp)]
    return {op.label or op.name: op.runs_after for op in ops if op.runs_after}


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ([("plus1", "recip")], {"plus1": ("recip",)}),
        ((("plus1", ["recip"]),), {"plus1": ("recip",)}),
        ([["sum", ("recip", "plus1")]], {"sum": ("recip", "plus1")}),
        ([("recip", "plus1"), ("sum", "recip")], {"recip": ("plus1",), "sum": ("recip",)}),
        ([("plus1", []), ("sum", "recip"), ("sum", ["recip"])], {"sum": ("recip",)}),
        ([], {}),
    ],
)
def test_schedules_by_name(schedule, expected):
    scheduled = guide.with_schedule(schedule)
    traced = scheduled.trace(SPEC)
    assert edges(traced) == expected
    assert np.array_equal(scheduled(X), guide(X))
    assert edges(TracedKernel(parse(traced.text()))) == expected
    assert edges(guide.trace(SPEC)) == {}


def test_schedules_add_up():
    twice = guide.with_schedule([("plus1", "recip")]).with_schedule([("sum", "plus1")])
    assert edges(twice.trace(SPEC)) == {"plus1": ("recip",), "sum": ("plus1",)}
    assert edges(twice.for_target("trn2").trace(SPEC)) == edges(twice.trace(SPEC))
    assert twice.trace(SPEC) is twice.trace(SPEC)
    assert twice.trace(SPEC) is not guide.trace(SPEC)


@pytest.mark.parametrize(
    ("schedule", "rule", "message"),
    [
        ([("plus1", "nobody")], "schedule-name", "no instruction has the name 'nobody'"),
        ([("nobody", "plus1")], "schedule-name", "no instruction has the name 'nobody'"),
        ([("recip", "recip")], "schedule-cycle", "'recip' after 'recip'"),
        ([("recip", "plus1"), ("plus1", "recip")], "schedule-cycle", "form a cycle"),
        ([("recip", "sum")], "schedule-cycle", "runs after 'sum', which needs what"),
    ],
)
def test_schedules_that_cannot_be_kept(schedule, rule, message):
    (found,) = guide.with_schedule(schedule).trace(SPEC).diagnostics
    assert found.rule.id == rule
    assert message in found.message
    with pytest.raises(nki.NkiValidationError):
        guide.with_schedule(schedule)(X)


@pytest.mark.parametrize(
    "schedule", [["plus1"], [("a", "b", "c")], [("a",)], [(1, "a")], [("a", [1])]]
)
def test_schedules_that_are_none(schedule):
    with pytest.raises(ArgumentTypeError, match="with_schedule expects"):
        guide.with_schedule(schedule)


def test_names_that_several_instructions_have():
    @nki.jit
    def kernel(x):
        tiles = [nl.ndarray(x.shape, x.dtype) for _ in range(3)]
        for tile in tiles:
            nisa.memset(tile, 0.0, name="same")
        nisa.memset(tiles[0], 1.0, name="other")

    (found,) = kernel.with_schedule([("other", "same")]).trace(SPEC).diagnostics
    assert "3 instructions have the name 'same'" in found.message


def test_a_schedule_does_not_come_along_into_another_kernel():
    scheduled = guide.with_schedule([("plus1", "recip")])

    @nki.jit
    def outer(x):
        return scheduled(x)

    with pytest.raises(nki.UnsupportedError, match="give the schedule to the outer one"):
        outer(X)


def test_edges_by_handle():
    @nki.jit
    def kernel(x):
        a, b, c = (nl.ndarray(x.shape, x.dtype) for _ in range(3))
        first = nisa.memset(a, 0.0)
        second = nisa.memset(b, 0.0, name="second")
        third = nisa.memset(c, 0.0, name="third")
        assert third.depends_on(second, first) is third
        third.depends_on(second).depends_on()
        assert isinstance(first, nisa.NkiInstruction)
        with pytest.raises(nki.NkiValidationError, match="expected an instruction, got 'second'"):
            third.depends_on("second")

    assert edges(kernel.trace(SPEC)) == {"third": ("second", "memset.0")}


def test_a_handle_of_another_kernel():
    kept = []

    @nki.jit
    def first(x):
        kept.append(nisa.memset(nl.ndarray(x.shape, x.dtype), 0.0))

    @nki.jit
    def second(x):
        nisa.memset(nl.ndarray(x.shape, x.dtype), 0.0).depends_on(kept[0])

    first.trace(SPEC)
    with pytest.raises(nki.NkiValidationError, match="belongs to another kernel"):
        second.trace(SPEC)


def test_a_wrong_instruction_has_a_handle_as_well():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray(x.shape, x.dtype)
        nisa.memset(tile, 0.0).depends_on(nisa.memset(tile, "zero"))

    assert [d.rule.id for d in kernel.trace(SPEC).diagnostics] == ["argument"]


def test_edges_and_loops_on_the_device():
    def kernel(x, inner, outer):
        a, b = nl.ndarray(x.shape, x.dtype), nl.ndarray(x.shape, x.dtype)
        before = nisa.memset(a, 0.0)
        inside = []

        def body(i):
            inside.append(nisa.memset(b, 0.0))
            if inner:
                inside[0].depends_on(before)

        nl.fori_loop(0, 2, body)
        if outer:
            nisa.memset(a, 1.0).depends_on(inside[0])

    jitted = nki.jit(kernel)
    assert not jitted.trace(SPEC, True, False).diagnostics.errors
    assert [d.rule.id for d in jitted.trace(SPEC, False, True).diagnostics] == ["schedule-loop"]


def test_edges_between_collectives():
    @nki.jit
    def kernel(x):
        a, b = (nl.ndarray(x.shape, x.dtype, buffer=nl.hbm) for _ in range(2))
        group = ncc.ReplicaGroup([[0]])
        nisa.dma_copy(dst=a, src=x, name="in")
        ncc.all_reduce([a], [b], group, nl.add, name="sum")

    assert edges(kernel.with_schedule([("sum", "in")]).trace(SPEC)) == {"sum": ("in",)}


def test_schedules_of_two_cores():
    scheduled = guide.with_schedule([("plus1", "recip")])
    found = edges(scheduled[2].trace(SPEC))
    assert found == {"plus1": ("recip",)}
    assert [d.rule.id for d in scheduled[2].trace(SPEC).diagnostics] == ["return-shared"]


def fill(tile, value):
    nisa.memset(tile, value)


def test_blocks_that_keep_their_order():
    """The block includes instructions of called functions; Python loops and nesting are allowed."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tiles = [nl.ndarray(x.shape, x.dtype) for _ in range(3)]
        with nl.no_reorder():
            for number, tile in enumerate(tiles):
                fill(tile, float(number))
            with nl.no_reorder():
                total = nl.add(tiles[1], tiles[2])
        nl.store(out, total)
        return out

    text = kernel.trace(SPEC).text()
    block = text[text.index("nki.no_reorder {") :]
    assert block.count("nisa.memset") == 3
    assert np.array_equal(kernel(X), np.full(X.shape, 3))
    assert np.array_equal(TracedKernel(parse(text)).run(X), np.full(X.shape, 3))


def test_a_block_is_closed_when_it_raises():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray(x.shape, x.dtype)
        try:
            with nl.no_reorder():
                nisa.memset(tile, 0.0)
                raise KeyError
        except KeyError:
            nisa.memset(tile, 1.0)

    traced = kernel.trace(SPEC)
    assert not traced.diagnostics.errors
    assert traced.text().index("}") < traced.text().index("value=1.0")


def test_a_block_inside_a_loop_on_the_device():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.zeros(x.shape, x.dtype)

        def body(i):
            with nl.no_reorder():
                nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
                nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)

        nl.fori_loop(0, 3, body)
        nl.store(out, tile)
        return out

    assert np.array_equal(kernel(X), np.full(X.shape, 14))
