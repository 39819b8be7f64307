"""Types, numbers and operations that are created once equal those that xDSL creates."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.paths import GOLDEN
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    DenseArrayBase,
    FileLineColLoc,
    IntAttr,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.access import AccessPattern, Indirection
from nkijit.dialects.attributes import MEMORY_SPACES, integer_attr
from nkijit.dialects.declare.creation import (
    append,
    copied,
    copied_before,
    created,
    name_value,
)
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.effects import effects
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.nki.views import ViewOp, access_of, base_of, index_of, views_of
from nkijit.dialects.tiles import TileInfo, ViewForm, info_of, memref_type, tile_info
from nkijit.ir.text import load_module

DERIVED = ("free_size", "size", "partition_bytes", "run_bytes", "pattern", "byte_pattern")
INDIRECTIONS = (None, Indirection.scalar, Indirection.vector)
BORDERS = (0, 1, -1, 7, 2**31, -(2**31), 2**63 - 1, -(2**63))


def _by_xdsl(
    dtype: str, region: MemoryRegion, access: AccessPattern, kind: Indirection | None
) -> Any:
    strides: list[int | None] = list(access.strides)
    if kind is Indirection.vector:
        strides[0] = None
    offset = None if kind is Indirection.scalar else access.offset
    layout = StridedLayoutAttr(strides, offset)
    return MemRefType(DTYPES[dtype].type, access.shape, layout, MEMORY_SPACES[region])


@pytest.mark.parametrize("seed", range(20))
def test_types_of_views_are_those_that_xdsl_makes(seed):
    rng = random.Random(seed)
    rank = rng.randint(1, 4)
    dtype, region = rng.choice(list(DTYPES)), rng.choice(list(MemoryRegion))
    strides = tuple(rng.randint(-3, 600) for _ in range(rank))
    shape = tuple(rng.randint(1, 9) for _ in range(rank))
    kind = rng.choice(INDIRECTIONS)
    for offset in [*BORDERS, *(rng.randrange(10**6) for _ in range(5))]:
        access = AccessPattern(offset, strides, shape)
        made = memref_type(DTYPES[dtype], shape, region, access, kind)
        expected = _by_xdsl(dtype, region, access, kind)
        assert made == expected
        assert hash(made) == hash(expected)
        assert str(made) == str(expected)
        made.verify()
        assert made is memref_type(DTYPES[dtype], shape, region, access, kind)
        # The one is worked out of the type, the other of a neighbour.
        known, fresh = tile_info(made), tile_info(expected)
        assert known == fresh
        assert [getattr(known, n) for n in DERIVED] == [getattr(fresh, n) for n in DERIVED]


def test_facts_of_a_tile_do_not_mix_with_those_of_other_tiles():
    form = ViewForm.of(DTYPES["float32"], MemoryRegion.sbuf, (64, 1), (4, 8), (4, 8))
    here = tile_info(form.at(0)[0])
    assert here.pattern.offset == here.byte_pattern.offset == 0
    there = tile_info(form.at(5)[0])
    assert (there.pattern.offset, there.byte_pattern.offset) == (5, 20)
    assert form.pattern == ArrayAttr(
        [DenseArrayBase.from_list(i64, pair) for pair in ((64, 4), (1, 8))]
    )


def test_forms_are_equal_by_their_parts():
    arguments: Any = (DTYPES["float32"], MemoryRegion.sbuf, (64, 1), (4, 8), (4, 8))
    one, two = ViewForm.of(*arguments), ViewForm.of.__wrapped__(*arguments)
    assert one is not two
    assert one == two
    assert hash(one) == hash(two)
    assert one != ViewForm.of(DTYPES["float32"], MemoryRegion.sbuf, (32, 1), (4, 8), (4, 8))


def test_types_of_allocations_are_those_that_xdsl_makes():
    made = memref_type(DTYPES["bfloat16"], (4, 8), MemoryRegion.psum)
    space = MEMORY_SPACES[MemoryRegion.psum]
    assert made == MemRefType(DTYPES["bfloat16"].type, (4, 8), NoneAttr(), space)
    expected = TileInfo((4, 8), DTYPES["bfloat16"], MemoryRegion.psum, (8, 1), 0)
    assert tile_info(made) == expected


def test_numbers_are_those_that_xdsl_makes():
    for number in BORDERS:
        assert integer_attr(number) == IntegerAttr(number, i64)
        assert integer_attr(number).value == IntAttr(number)
        integer_attr(number).verify()
    for number in (2**64, -(2**63) - 1):
        with pytest.raises(VerifyException):
            integer_attr(number)


def _state(op: Operation) -> list[Any]:
    return [
        type(op),
        tuple(op.operands),
        [(use.operation, use.index) for use in op._operand_uses],
        [(result.type, result.index, result.name_hint) for result in op.results],
        op.properties,
        op.attributes,
        op.location,
        tuple(op.regions),
        tuple(op.successors),
    ]


def test_operations_are_those_that_xdsl_creates():
    location = FileLineColLoc(StringAttr("kernel.py"), IntAttr(3), IntAttr(1))
    memref = memref_type(DTYPES["float32"], (4, 8), MemoryRegion.sbuf)
    view = ViewForm.of(DTYPES["float32"], MemoryRegion.sbuf, (8, 1), (4, 2), (4, 2))
    blocks: list[Block] = []
    for ours in (True, False):
        block, source = Block(), AllocOp.create(result_types=[memref])
        block.add_op(source)
        for offset in (0, 2, 2, 4):
            kind, number = view.at(offset)
            properties: dict[str, Any] = {"offset": number, "pattern": view.pattern}
            if ours:
                op = created(ViewOp, (source.result,), (kind,), dict(properties), location)
                append(block, op)
                name_value(op.result, "tile_12")
            else:
                op = ViewOp.create(
                    operands=(source.result,),
                    result_types=(kind,),
                    properties=properties,
                    location=location,
                )
                block.add_op(op)
                op.result.name_hint = "tile_12"
        blocks.append(block)
    one, two = (list(block.ops) for block in blocks)
    numbers = [{op: number for number, op in enumerate(ops)} for ops in (one, two)]
    for left, right in zip(one, two, strict=True):
        left.verify()
        states = [_state(left), _state(right)]
        for state, ops in zip(states, numbers, strict=True):
            state[1] = [ops[value.owner] for value in state[1]]
            state[2] = [(ops[op], index) for op, index in state[2]]
        assert states[0] == states[1]
        assert left.parent is blocks[0]
    for values in ((one[0].results[0], one), (two[0].results[0], two)):
        value, ops = values
        assert [ops.index(use.operation) for use in value.uses] == [4, 3, 2, 1]
    assert [op for op in reversed(list(blocks[0].ops))] == one[::-1]
    first = one[1]
    first.detach()
    first.erase()
    assert [use.operation for use in one[0].results[0].uses] == one[:1:-1]


def test_the_first_operation_of_a_block_is_its_last_one():
    block = Block()
    memref = memref_type(DTYPES["float32"], (4, 8), MemoryRegion.sbuf)
    op = AllocOp.of(memref)
    append(block, op)
    assert block.first_op is block.last_op is op
    assert op.location == UNKNOWN_LOC
    assert not op.operands


def _kernels() -> list[KernelOp]:
    return [kernel for path in GOLDEN.rglob("*.mlir") for kernel in kernels_of(load_module(path))]


def test_operands_by_name_are_those_of_their_segments():
    seen: set[type[NisaOp]] = set()
    for kernel in _kernels():
        for op in filter(is_instruction, kernel.operations):
            seen.add(type(op))
            sizes: Any = op.properties.get("operandSegmentSizes")
            fields = op.SPEC.operand_fields
            counts = [1] * len(fields) if sizes is None else list(sizes.get_values())
            rest = list(op.operands)
            given: list[tuple[Any, Any]] = []
            for field, count in zip(fields, counts, strict=True):
                values, rest = rest[:count], rest[count:]
                given += [(field, value) for value in values]
                assert list(op.operands_named(field.name)) == values
                if field.variadic:
                    assert list(getattr(op, field.name)) == values
                    continue
                expected = values[0] if values else None
                assert getattr(op, field.name) is expected
                assert op.operand_named(field.name) is expected
            assert not rest
            assert op.given_operands() == given
    assert len(seen) > 20


def test_the_kernels_operations_are_all_that_xdsl_walks_and_views_say_where_they_are():
    for kernel in _kernels():
        assert list(kernel.operations) == list(kernel.walk())[1:]
        for op in kernel.operations:
            assert all(isinstance(e.name, str) for e in effects(op))
            if isinstance(op, ViewOp):
                assert access_of(op.result) == op.access
                assert base_of(op.result) is op.source is op.operands[0]
                assert index_of(op.result) is op.index
                assert op.result is op.results[0]
                assert op.result in views_of(op.source)
                assert info_of(op.result).shape == op.result.type.get_shape()


def test_a_copy_equals_a_clone_of_xdsl():
    for path in GOLDEN.rglob("*.mlir"):
        module = load_module(path)
        before = str(module)
        copy, origins = copied(module)
        copy.verify()
        assert str(copy) == str(module.clone()) == before
        assert list(origins.items()) == list(zip(copy.walk(), module.walk(), strict=True))
        for made, op in origins.items():
            assert (made.location, made.attributes) == (op.location, op.attributes)
            assert made.properties == op.properties
            assert made.properties is not op.properties
            assert [r.name_hint for r in made.results] == [r.name_hint for r in op.results]
        for op in list(copy.walk())[::-1]:
            op.properties.clear()
            op.operands = ()
        assert str(module) == before


def test_a_copy_uses_outer_values_like_the_original():
    for kernel in _kernels():
        view = next((op for op in kernel.operations if isinstance(op, ViewOp)), None)
        if view is not None:
            copy, origins = copied(view)
            assert copy.operands == view.operands
            assert copy.parent is None
            assert origins == {copy: view}
            assert {use.operation for use in view.source.uses} >= {copy, view}


def test_copies_put_before_an_operation_use_earlier_copies():
    views = 0
    for kernel in _kernels():
        for alloc in [op for op in kernel.operations if isinstance(op, AllocOp)]:
            text = str(kernel)
            values: dict[int, SSAValue] = {}
            users = [use.operation for use in alloc.result.uses if not use.index]
            found = [op for op in users if isinstance(op, ViewOp)]
            made = copied_before(alloc, alloc, values)
            copies = [copied_before(view, view, values) for view in found]
            for copy, op in zip([made, *copies], [alloc, *found], strict=True):
                assert copy.next_op is op
                assert copy.result.type == op.result.type
                assert copy.result.name_hint == op.result.name_hint
                assert (copy.properties, copy.location) == (op.properties, op.location)
                assert values[id(op.result)] is copy.result
            for copy, view in zip(copies, found, strict=True):
                assert copy.source is made.result
                assert copy.operands[1:] == view.operands[1:]
            views += len(found)
            for copy in [*copies, made]:
                copy.detach()
                copy.erase()
            assert str(kernel) == text
    assert views
