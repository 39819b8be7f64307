"""Reads and writes of operations."""

from __future__ import annotations

from support.instructions import instruction_of

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import Touched, effects

VIEW = (
    "%rows = nki.view %hbm offset=0 pattern=[[64, 128], [1, 64]] vector=%indices scale=64 bound=128"
)


def test_the_tile_that_says_where_an_operand_is_comes_first() -> None:
    op = instruction_of(VIEW, "nisa.dma_copy dst=%y, src=%rows")
    index, dst, src = effects(op)
    assert index.touched == Touched("src", is_index=True)
    assert (index.name, index.role, index.partial) == ("index of src", Role.read, False)
    assert (dst.touched, dst.name, dst.role) == (Touched("dst"), "dst", Role.write)
    assert (src.touched, src.name, src.role) == (Touched("src"), "src", Role.read)
    assert not dst.partial


def test_an_instruction_that_skips_rows_touches_a_part() -> None:
    op = instruction_of(VIEW, "nisa.dma_copy dst=%y, src=%rows, oob_mode=skip")
    assert [(effect.name, effect.partial) for effect in effects(op)] == [
        ("index of src", False),
        ("dst", True),
        ("src", True),
    ]
    # Without indices there is nothing to skip.
    plain = instruction_of("nisa.dma_copy dst=%y, src=%x, oob_mode=skip")
    assert not any(effect.partial for effect in effects(plain))


def test_effects_are_those_of_the_operands_that_there_are() -> None:
    op = instruction_of("nisa.dma_copy dst=%y, src=%x")
    first = effects(op)
    assert effects(op) == first
    dst, src = op.operands
    op.operands[1] = dst
    assert [effect.value for effect in effects(op)] == [dst, dst]
    op.operands = [src, dst]
    assert [effect.value for effect in effects(op)] == [src, dst]
    op.operands = [dst, src]
    assert effects(op) == first


def test_effects_follow_the_index_of_a_view() -> None:
    op = instruction_of(VIEW, "nisa.dma_copy dst=%y, src=%rows")
    view = op.operands[1].owner
    first = effects(op)[0].value
    view.operands[1] = view.operands[0]
    assert effects(op)[0].value is not first
    assert effects(op)[0].value is view.operands[0]


def test_effects_follow_the_treatment_of_rows_out_of_bounds() -> None:
    op = instruction_of(VIEW, "nisa.dma_copy dst=%y, src=%rows")
    skipping = instruction_of(VIEW, "nisa.dma_copy dst=%y, src=%rows, oob_mode=skip")
    assert [effect.partial for effect in effects(op)] == [False, False, False]
    op.properties["oob_mode"] = skipping.properties["oob_mode"]
    assert [effect.partial for effect in effects(op)] == [False, True, True]
    del op.properties["oob_mode"]
    assert [effect.partial for effect in effects(op)] == [False, False, False]


def test_effects_are_found_once() -> None:
    for line in ("nisa.dma_copy dst=%y, src=%x", "nisa.dma_copy dst=%y, src=%rows"):
        op = instruction_of(VIEW, line)
        assert effects(op) is effects(op)
