"""Queries of one instruction: its tiles, operators, numbers and engine."""

from __future__ import annotations

import math
from typing import cast

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import OperandKind
from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.declare.spec import Rule
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion, engine, nc_version, oob_mode
from nkijit.dialects.operators import BYPASS, OPERATORS, AluKind, AluOp
from nkijit.dialects.tiles import TileInfo, info_of, is_tile

SBUF, PSUM = MemoryRegion.sbuf, MemoryRegion.psum
HBM = (MemoryRegion.private_hbm, MemoryRegion.shared_hbm)
ON_CHIP = (SBUF, PSUM)


def tile_of(op: NisaOp, name: str) -> TileInfo | None:
    """Return the tile of an operand; None when the operand is omitted or not a tile."""
    value = op.operand_named(name)
    return info_of(value) if value is not None and is_tile(value) else None


def required_tile(op: NisaOp, name: str) -> TileInfo:
    """Return the tile of a required operand that accepts only tiles."""
    return info_of(op.required(name))


def constant_of(op: NisaOp, name: str) -> int | float | None:
    """Return the number in a field, or its default; None if it is not a compile-time constant."""
    field = op.SPEC.by_name[name]
    if not field.is_operand:
        return op.value_of(name)
    value = op.operand_named(name)
    return cast(OperandKind, field.kind).default if value is None else scalar_constant(value)


def tiles_in(op: NisaOp, names: tuple[str, ...]) -> list[tuple[str, TileInfo]]:
    """Return the tiles of these operands with their names; the first of a list is `srcs[0]`."""
    found: list[tuple[str, TileInfo]] = []
    for name in names:
        listed = op.SPEC.by_name[name].variadic
        for position, value in enumerate(op.operands_named(name)):
            if is_tile(value):
                found.append((f"{name}[{position}]" if listed else name, info_of(value)))
    return found


def alu_of(op: NisaOp, name: str) -> AluOp | None:
    """Return the ALU operator in a field; None if omitted, bypass, or not an ALU operator."""
    word = op.value_of(name)
    return None if word is None else OPERATORS[word].alu


def is_bitvec(op: NisaOp, *names: str) -> bool:
    """True when one of these fields holds a bitvec operator."""
    return any((a := alu_of(op, n)) is not None and a.kind is AluKind.bitvec for n in names)


def is_set(op: NisaOp, name: str) -> bool:
    """True when a field holds an operator other than bypass."""
    return op.value_of(name) not in (None, BYPASS)


def engine_of(op: NisaOp, target: Target) -> engine:
    """The engine that runs an instruction: a supported choice of the user, or the default."""
    chosen = op.get("engine", engine.unknown)
    if chosen is not engine.unknown and chosen in op.SPEC.engines:
        return chosen
    select = op.SPEC.select_engine
    return op.SPEC.engines[0] if select is None else select.choose(op, target)


def rules_of(op_class: type[Operation]) -> tuple[Rule, ...]:
    """The rules that a class of operations declares, in declared order."""
    if issubclass(op_class, NisaOp):
        return op_class.SPEC.rules
    return getattr(op_class, "RULES", ())


def is_transpose(op: NisaOp) -> bool:
    """True when an instruction permutes dimensions: nc_transpose, dma_transpose and
    `nc_matmul(is_transpose=True)`."""
    return op.SPEC.transposes or bool(op.get("is_transpose"))


def passes_bits_through(op: NisaOp, target: Target) -> bool:
    """True when a matmul runs in the transpose mode, which moves bits (NeuronCore-v3 and newer).

    On older cores `is_transpose` is a hint, and the instruction multiplies.
    """
    return bool(op.get("is_transpose")) and target.version >= nc_version.gen3


def skips_out_of_bounds(op: NisaOp) -> bool:
    """True when an instruction skips the accesses of indices that are out of bounds."""
    return op.get("oob_mode") is oob_mode.skip


def number_of(value: SSAValue | None) -> float | None:
    """Return the constant of a scalar operand as a float; NaN if the scalar is not constant.

    Returns None for a tile or an omitted operand.
    """
    if value is None or is_tile(value):
        return None
    number = scalar_constant(value)
    return math.nan if number is None else float(number)
