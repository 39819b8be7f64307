"""Rules on the buffers and data types of operands."""

from __future__ import annotations

from collections.abc import Callable

from nkijit.dialects.attributes import number_source
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.declare.queries import (
    HBM,
    PSUM,
    SBUF,
    constant_of,
    engine_of,
    is_bitvec,
    tile_of,
    tiles_in,
)
from nkijit.dialects.declare.rules.shape_helps import variable
from nkijit.dialects.declare.rules.wording import one_of, quoted
from nkijit.dialects.declare.spec import Limits, Rule, Violation
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion, engine
from nkijit.dialects.operators import LOGICAL, SHIFTS
from nkijit.dialects.rule_texts.operands import (
    BITVEC_DTYPE,
    BOTH_PSUM,
    BUFFER,
    COMPUTABLE,
    CONSTANT_RANGE,
    DTYPE,
    GPSIMD_PSUM,
    SAME_DTYPE,
)
from nkijit.dialects.tiles import TileInfo, is_tile


def gpsimd_without_psum(*names: str) -> Rule:
    """Return the rule that no operand is in PSUM if the GpSimd Engine runs the instruction."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        if engine_of(op, target) is not engine.gpsimd:
            return None
        bad = tuple(n for n in names if (t := tile_of(op, n)) is not None and t.region is PSUM)
        if not bad:
            return None
        return Violation(f"the GpSimd Engine cannot reach PSUM, but {quoted(bad)} is in PSUM", bad)

    return Rule(GPSIMD_PSUM, check)


# ------------------------------------------------------------------ buffers


def buffer_names(regions: tuple[MemoryRegion, ...]) -> tuple[str, ...]:
    """Return the names of memory regions; both kinds of HBM together become `hbm`."""
    any_hbm = set(HBM) <= set(regions)
    named = ["hbm" if any_hbm and r in HBM else r.value for r in regions]
    return tuple(dict.fromkeys(named))


def in_buffer(regions: tuple[MemoryRegion, ...], *names: str) -> Rule:
    """Return the rule that the named operands are in one of `regions`."""
    legal = one_of(buffer_names(regions))

    def check(op: NisaOp, target: Target) -> Violation | None:
        for name, tile in tiles_in(op, names):
            if tile.region not in regions:
                wrong = f"'{name}' must be in {legal}, it is in {tile.region.value}"
                return Violation(wrong, (name,), _other_buffer(op, name, regions, tile.region))
        return None

    return Rule(BUFFER, check, Limits(names, buffers=regions))


def _other_buffer(
    op: NisaOp, name: str, regions: tuple[MemoryRegion, ...], wanted: MemoryRegion
) -> str:
    """Return the help for an operand in an illegal buffer: how to copy it to or from a legal one.

    `regions` are the legal buffers, `wanted` is the illegal buffer that the kernel uses.
    """
    dst = tile_of(op, "dst") if "dst" in op.SPEC.by_name else None
    is_read = op.SPEC.by_name[name.partition("[")[0]].role is Role.read
    if is_read and dst is not None and dst.region in regions:
        legal = _legal(op, "dst")
        # Each of the two is legal in the place of the other.
        if wanted in legal and dst.region not in legal:
            return f"the operands look exchanged: 'dst' comes first, probably {variable(op, name)}"
    if is_read:
        return copied_before(variable(op, name), regions, wanted)
    return copied_after(regions, wanted)


def _legal(op: NisaOp, name: str) -> tuple[MemoryRegion, ...]:
    """Return the legal buffers of an operand; all if no rule limits them."""
    limits = [rule.limits for rule in op.SPEC.rules if rule.limits is not None]
    named = (limit.buffers for limit in limits if name in limit.operands)
    return next((buffers for buffers in named if buffers is not None), tuple(MemoryRegion))


def copied_before(operand: str, regions: tuple[MemoryRegion, ...], wanted: MemoryRegion) -> str:
    """Return the help for a read operand in the illegal buffer `wanted`: how to copy it first."""
    if not any(region.on_chip for region in regions):
        legal = f"a tensor that is allocated with buffer=nl.{regions[0].value}"
        if wanted.on_chip:
            return f"store {operand} to {legal} first, with nl.store, and pass that"
        return f"pass {legal}, instead of {operand}"
    if wanted in HBM:
        loaded = f"load it first, e.g. tile = nl.load({operand}), "
        if SBUF in regions:
            return f"{loaded}and pass the tile"
        return f"{loaded}copy the tile to PSUM with nisa.tensor_copy, and pass that"
    if SBUF in regions:
        return f"copy {operand} to a tile in SBUF first, with nisa.tensor_copy, and pass that"
    return f"copy {operand} to a tile in {regions[0].name.upper()} first, with nisa.tensor_copy"


def copied_after(regions: tuple[MemoryRegion, ...], wanted: MemoryRegion) -> str:
    """Return the help for a written operand in the illegal buffer `wanted`: how to copy it there.

    DMA does not reach PSUM, so results in PSUM are copied to SBUF before they are stored.
    """
    first = SBUF if wanted is PSUM and SBUF in regions else regions[0]
    written = f"write to a tile that is allocated with buffer=nl.{first.value}, and copy it"
    if first is PSUM and wanted in HBM:
        return f"{written} to SBUF with nisa.tensor_copy and from there with nl.store"
    copy = "nisa.dma_copy (nl.store)" if {wanted, first} & set(HBM) else "nisa.tensor_copy"
    return f"{written} from there with {copy}"


def not_both_in_psum(first: str, second: str) -> Rule:
    """Return the rule that the two operands are not both in PSUM."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        a, b = tile_of(op, first), tile_of(op, second)
        if a is None or b is None or a.region is not PSUM or b.region is not PSUM:
            return None
        return Violation(f"'{first}' and '{second}' are both in psum", (first, second))

    return Rule(BOTH_PSUM, check)


# ------------------------------------------------------------------ data types


def dtype_in(dtypes: tuple[str, ...], *names: str) -> Rule:
    """Return the rule that tiles in the named operands have one of these data types."""
    demand = f"must be {one_of(dtypes)}, it is {{dtype}}"
    return _dtype(lambda d: d.name in dtypes, demand, names, Limits(names, dtypes=dtypes))


def dtype_not(dtypes: tuple[str, ...], *names: str) -> Rule:
    """Return the rule that tiles in the named operands have none of these data types."""
    return _dtype(lambda d: d.name not in dtypes, "cannot be {dtype}", names)


def dtype_float(*names: str) -> Rule:
    """Return the rule that tiles in the named operands are of a floating-point type."""
    return _dtype(lambda d: d.kind is Kind.float, "must be of a float type, it is {dtype}", names)


def _dtype(
    legal: Callable[[DType], bool],
    demand: str,
    names: tuple[str, ...],
    limits: Limits | None = None,
) -> Rule:
    def check(op: NisaOp, target: Target) -> Violation | None:
        for name in names:
            tile = tile_of(op, name)
            if tile is not None and not legal(tile.dtype):
                return Violation(f"'{name}' {demand.format(dtype=tile.dtype.name)}", (name,))
        return None

    return Rule(DTYPE, check, limits)


def computable(*names: str, unless_same_dtype: bool = False) -> Rule:
    """Return the rule that no named tile is of a packed type.

    `unless_same_dtype` allows packed types for a plain copy: all operands are tiles of one type.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        tiles = dict(tiles_in(op, names))
        all_tiles = len(tiles) >= len(names)  # a number requires a conversion
        if unless_same_dtype and all_tiles and len({t.dtype for t in tiles.values()}) == 1:
            return None
        for name, tile in tiles.items():
            if tile.dtype.kind is Kind.packed:
                return Violation(f"engines do not convert '{name}', a {tile.dtype.name}", (name,))
        return None

    return Rule(COMPUTABLE, check)


def same_dtype(*names: str) -> Rule:
    """Return the rule that tiles in the named operands have the same data type."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        tiles = {name: tile.dtype.name for name, tile in tiles_in(op, names)}
        if len(set(tiles.values())) <= 1:
            return None
        listed = ", ".join(f"'{name}' is {dtype}" for name, dtype in tiles.items())
        return Violation(f"different data types: {listed}", tuple(tiles))

    return Rule(SAME_DTYPE, check)


def constant_held(name: str, dst: str = "dst") -> Rule:
    """Return the rule that `dst` has a data type that can represent the constant in field `name`.

    The constant is stored unchanged.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        number = constant_of(op, name)
        return None if number is None else not_held(op, dst, f"'{name}'", number)

    return Rule(CONSTANT_RANGE, check)


def not_held(op: NisaOp, dst: str, what: str, number: float) -> Violation | None:
    """Return the violation for a number that a tile's data type cannot represent, or None."""
    tile = tile_of(op, dst)
    problem = None if tile is None else tile.dtype.cannot_hold(number)
    if tile is None or problem is None:
        return None
    shown = number_source(number)
    return Violation(f"'{dst}' is {tile.dtype.name}, but {what} is {shown}; {problem}", (dst,))


def bits_held(operators: tuple[tuple[str, str], ...], data: str) -> Rule:
    """Return the rule that a constant operand of a bitvec operator fits the width of `data`.

    A shift must be below that width. `operators` are pairs of fields: an operator, and its constant
    operand.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        tile = tile_of(op, data)
        if tile is None or not tile.dtype.is_integer:
            return None
        bits = tile.dtype.bits
        for operator, name in operators:
            number = constant_of(op, name) if is_bitvec(op, operator) else None
            if not isinstance(number, int):
                continue
            if op.value_of(operator) in SHIFTS and not op.value_of(f"reverse{operator[-1]}"):
                if not 0 <= number < bits:
                    return Violation(
                        f"'{name}' shifts {tile.dtype.name} by {number}, 0 to {bits - 1} keep bits",
                        (data,),
                    )
            elif not -(2 ** (bits - 1)) <= number < 2**bits:
                return Violation(
                    f"'{name}' is {number}, which has more bits than {tile.dtype.name}", (data,)
                )
        return None

    return Rule(CONSTANT_RANGE, check)


def _logical_help(op: NisaOp, operators: tuple[str, ...], name: str, tile: TileInfo) -> str | None:
    """Return the help for a bitwise operator on floats; None if the rule's own help applies."""
    words = (str(op.value_of(field)) for field in operators)
    logical = next((LOGICAL[word] for word in words if word in LOGICAL), None)
    if logical is None:
        return None
    return (
        f"use nl.{logical} for values that are true or false; for bit patterns view the tile as an "
        f"integer type of the same width, e.g. {variable(op, name)}.view(nl.int{tile.dtype.bits})"
    )


def bitvec_on_integers(operators: tuple[str, ...], *names: str) -> Rule:
    """Return the rule that a bitvec operator has integers only, and tiles of one width."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        if not is_bitvec(op, *operators):
            return None
        tiles = {n: t for n in names if (t := tile_of(op, n)) is not None}
        for name in names:
            value = op.operand_named(name)
            if value is not None and not is_tile(value):
                number = scalar_constant(value)
                if isinstance(number, float):
                    return Violation(f"'{name}' must be an integer, it is {number}")
        for name, tile in tiles.items():
            if not tile.dtype.is_integer:
                return Violation(
                    f"'{name}' must be of an integer type, it is {tile.dtype.name}",
                    (name,),
                    _logical_help(op, operators, name, tile),
                )
        if len({tile.dtype.bits for tile in tiles.values()}) > 1:
            listed = ", ".join(f"'{n}' is {t.dtype.name}" for n, t in tiles.items())
            return Violation(f"integers of different widths: {listed}", tuple(tiles))
        return None

    return Rule(BITVEC_DTYPE, check)
