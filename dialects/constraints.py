"""Reusable rules: each function makes one rule for the named fields of an op.

A rule looks at types, properties and scalar constants only, so that equal instructions need to
be judged once. Facts about an operand that was left out are vacuously true.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.ir import SSAValue

from nkijit.dialects.declare import Finding, NisaOp, Rule, scalar_constant
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.hardware import (
    PARTITIONS_PER_GPSIMD_CORE,
    MemoryRegion,
    Target,
    engine,
    nc_version,
    reduce_cmd,
)
from nkijit.dialects.operators import BYPASS, OPERATORS, AluKind, AluOp
from nkijit.dialects.rule_texts.access import ONE_ELEMENT
from nkijit.dialects.rule_texts.cores import SAME_SHAPE
from nkijit.dialects.rule_texts.operands import (
    BITVEC_DTYPE,
    BOTH_PSUM,
    BUFFER,
    COMPUTABLE,
    DTYPE,
    GPSIMD_PSUM,
    SAME_DTYPE,
)
from nkijit.dialects.rule_texts.operators import (
    ACTIVATION,
    ALU_OPERATOR,
    COMPARISON,
    LOAD_NEEDS_INIT,
    OP1_NEEDS_OP0,
    OP_PAIR,
    OP_WITH_OPERAND,
    REDUCE_CMD,
    REDUCE_CMD_NEEDS_OP,
    REDUCE_INIT,
    REDUCE_OP,
    REVERSE_NEEDS_OP,
    SAME_KIND,
    UNARY_OPERAND,
)
from nkijit.dialects.rule_texts.shapes import (
    COLUMN,
    FREE_SIZE,
    FREE_SIZE_RANGE,
    GPSIMD_CORES,
    MAX_DIMS,
    PARTITIONS,
    PATTERN,
    SIZE,
)
from nkijit.dialects.rule_texts.targets import (
    ARGUMENT_GENERATION,
    ENGINE,
    GENERATION,
    OPERATOR_GENERATION,
)
from nkijit.dialects.tiles import TileInfo, info_of, is_tile

SBUF, PSUM = MemoryRegion.sbuf, MemoryRegion.psum
HBM = (MemoryRegion.private_hbm, MemoryRegion.shared_hbm)
ON_CHIP = (SBUF, PSUM)

Check = Callable[[NisaOp, Target], Finding | None]


def tile_of(op: NisaOp, name: str) -> TileInfo | None:
    """The tile given for an operand; None when it was left out or is a number."""
    value = op.operand_named(name)
    return info_of(value) if value is not None and is_tile(value) else None


def tiles_in(op: NisaOp, names: tuple[str, ...]) -> list[tuple[str, TileInfo]]:
    """The tiles given for these operands, by name; the first of a list is called `srcs[0]`."""
    found: list[tuple[str, TileInfo]] = []
    for name in names:
        listed = op.SPEC.by_name[name].variadic
        for position, value in enumerate(op.operands_named(name)):
            if is_tile(value):
                found.append((f"{name}[{position}]" if listed else name, info_of(value)))
    return found


def alu_of(op: NisaOp, name: str) -> AluOp | None:
    """The ALU operator in a field; None when it is left out, bypass, or not an ALU operator."""
    word = op.value_of(name)
    return None if word is None else OPERATORS[word].alu


def is_bitvec(op: NisaOp, *names: str) -> bool:
    """True when one of these fields holds a bitvec operator."""
    return any((a := alu_of(op, n)) is not None and a.kind is AluKind.bitvec for n in names)


def is_set(op: NisaOp, name: str) -> bool:
    """True when a field holds an operator other than bypass."""
    return op.value_of(name) not in (None, BYPASS)


def engine_of(op: NisaOp, target: Target) -> engine:
    """The engine that runs an instruction: the author's choice, else the documented one."""
    f = op.SPEC.by_name.get("engine")
    if f is None:
        chosen = engine.unknown
    else:
        chosen = op.value_of("engine") if "engine" in op.properties else f.default
    if chosen is not engine.unknown and chosen in op.SPEC.engines:
        return chosen
    select = op.SPEC.select_engine
    return op.SPEC.engines[0] if select is None else select(op, target)


def same_shape(first: str, second: str) -> Rule:
    """The two tiles have the same shape."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        a, b = tile_of(op, first), tile_of(op, second)
        if a is None or b is None or a.shape == b.shape:
            return None
        return Finding(
            f"'{first}' and '{second}' must have the same shape, they have {a.shape} and {b.shape}",
            (first, second),
        )

    return Rule(SAME_SHAPE, check)


def one_element(name: str) -> Rule:
    """The tile has a single element."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        tile = tile_of(op, name)
        if tile is None or tile.size == 1:
            return None
        return Finding(f"'{name}' must have one element, it has {tile.size}", (name,))

    return Rule(ONE_ELEMENT, check)


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def one_of(values: tuple[str, ...]) -> str:
    """Words as a choice: `a, b or c`."""
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"


# ------------------------------------------------------------------ targets and engines


def since(version: nc_version) -> Rule:
    """The instruction exists from this generation on."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        if target.version >= version:
            return None
        return Finding(
            f"the instruction needs NeuronCore-v{version.value}, "
            f"the target {target.platform} is NeuronCore-v{target.version.value}"
        )

    return Rule(GENERATION, check)


def operators_since(*names: str) -> Rule:
    """The operators in these fields exist on the target."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        for name in names:
            alu = alu_of(op, name)
            if alu is not None and alu.since > target.version:
                return Finding(
                    f"'{name}' is nl.{op.value_of(name)}, an operator of NeuronCore-"
                    f"v{alu.since.value}, the target {target.platform} is "
                    f"NeuronCore-v{target.version.value}"
                )
        return None

    return Rule(OPERATOR_GENERATION, check)


def argument_since(
    version: nc_version, what: str, given: Callable[[NisaOp], bool], *operands: str
) -> Rule:
    """An argument value, described by `what`, exists from a generation on."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        if target.version >= version or not given(op):
            return None
        return Finding(
            f"{what} needs NeuronCore-v{version.value}, the target {target.platform} is "
            f"NeuronCore-v{target.version.value}",
            operands,
        )

    return Rule(ARGUMENT_GENERATION, check)


def engine_supported() -> Rule:
    """`engine` is one that the instruction supports."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        chosen = op.value_of("engine")
        if chosen is engine.unknown or chosen in op.SPEC.engines:
            return None
        supported = one_of(tuple(e.name for e in op.SPEC.engines))
        return Finding(f"the instruction runs on {supported}, not on {chosen.name}")

    return Rule(ENGINE, check)


def gpsimd_without_psum(*names: str) -> Rule:
    """When the GpSimd Engine runs the instruction, none of these operands is in PSUM."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        if engine_of(op, target) is not engine.gpsimd:
            return None
        bad = tuple(n for n in names if (t := tile_of(op, n)) is not None and t.region is PSUM)
        if not bad:
            return None
        return Finding(f"the GpSimd Engine cannot reach PSUM, but {_quoted(bad)} is in PSUM", bad)

    return Rule(GPSIMD_PSUM, check)


# ------------------------------------------------------------------ buffers


def in_buffer(regions: tuple[MemoryRegion, ...], *names: str) -> Rule:
    """These operands live in one of `regions`."""
    any_hbm = set(HBM) <= set(regions)
    named = ["hbm" if any_hbm and r in HBM else r.value for r in regions]
    legal = one_of(tuple(dict.fromkeys(named)))

    def check(op: NisaOp, target: Target) -> Finding | None:
        for name, tile in tiles_in(op, names):
            if tile.region not in regions:
                return Finding(
                    f"'{name}' must be in {legal}, it is in {tile.region.value}", (name,)
                )
        return None

    return Rule(BUFFER, check)


def not_both_in_psum(first: str, second: str) -> Rule:
    """The two operands are not both in PSUM."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        a, b = tile_of(op, first), tile_of(op, second)
        if a is None or b is None or a.region is not PSUM or b.region is not PSUM:
            return None
        return Finding(f"'{first}' and '{second}' are both in psum", (first, second))

    return Rule(BOTH_PSUM, check)


# ------------------------------------------------------------------ shapes


def partitions_match(*names: str) -> Rule:
    """These tiles have the same partition size."""
    return Rule(PARTITIONS, _same(names, lambda t: t.partitions, "partitions"))


def free_size_match(*names: str) -> Rule:
    """These tiles have the same number of elements per partition."""
    return Rule(FREE_SIZE, _same(names, lambda t: t.free_size, "elements per partition"))


def size_match(*names: str) -> Rule:
    """These tensors have the same number of elements."""
    return Rule(SIZE, _same(names, lambda t: t.size, "elements"))


def _same(names: tuple[str, ...], measure: Callable[[TileInfo], int], unit: str) -> Check:
    def check(op: NisaOp, target: Target) -> Finding | None:
        sizes = {name: measure(tile) for name, tile in tiles_in(op, names)}
        if len(set(sizes.values())) <= 1:
            return None
        listed = ", ".join(f"'{name}' has {size}" for name, size in sizes.items())
        return Finding(f"different numbers of {unit}: {listed}", tuple(sizes))

    return check


def column_of(name: str, data: str) -> Rule:
    """A tile in `name` has one element for each partition of `data`."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        column, tile = tile_of(op, name), tile_of(op, data)
        if column is None or tile is None:
            return None
        if column.partitions == tile.partitions and column.free_size == 1:
            return None
        shape = "x".join(map(str, column.shape))
        return Finding(
            f"'{name}' must have shape ({tile.partitions}, 1), one element for each partition of "
            f"'{data}', it is {shape}",
            (name, data),
        )

    return Rule(COLUMN, check)


def at_most_dims(limit: int, *names: str) -> Rule:
    """These tiles have at most `limit` dimensions."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        for name in names:
            tile = tile_of(op, name)
            if tile is not None and len(tile.shape) > limit:
                return Finding(
                    f"'{name}' has {len(tile.shape)} dimensions, at most {limit} are possible",
                    (name,),
                )
        return None

    return Rule(MAX_DIMS, check)


def free_size_in(low: int, high: int, *names: str) -> Rule:
    """These tiles have `low` to `high` elements per partition."""
    legal = str(low) if low == high else f"{low} to {high}"

    def check(op: NisaOp, target: Target) -> Finding | None:
        for name in names:
            tile = tile_of(op, name)
            if tile is not None and not low <= tile.free_size <= high:
                return Finding(
                    f"'{name}' must have {legal} elements per partition, it has {tile.free_size}",
                    (name,),
                )
        return None

    return Rule(FREE_SIZE_RANGE, check)


def whole_gpsimd_cores(*names: str) -> Rule:
    """These tiles have all partitions of each GpSimd core that they begin with."""
    group = PARTITIONS_PER_GPSIMD_CORE

    def check(op: NisaOp, target: Target) -> Finding | None:
        for name, tile in tiles_in(op, names):
            if tile.partitions % group:
                return Finding(
                    f"'{name}' has {tile.partitions} partitions, not a multiple of {group}", (name,)
                )
        return None

    return Rule(GPSIMD_CORES, check)


MAX_PATTERN_DIMS = 4
"""Dimensions of a generated pattern."""


def pattern_fits(name: str) -> Rule:
    """`pattern` is well formed and has an element for each one in a partition of the tile."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        pattern, tile = op.value_of("pattern"), tile_of(op, name)
        if not 1 <= len(pattern) <= MAX_PATTERN_DIMS:
            return Finding(
                f"'pattern' has {len(pattern)} pairs, 1 to {MAX_PATTERN_DIMS} are possible"
            )
        counts = [count for _, count in pattern]
        if min(counts) < 1:
            return Finding(f"'pattern' has counts {counts}, each must be positive")
        if tile is None or math.prod(counts) == tile.free_size:
            return None
        return Finding(
            f"'pattern' has {math.prod(counts)} elements, '{name}' has {tile.free_size} per "
            "partition",
            (name,),
        )

    return Rule(PATTERN, check)


# ------------------------------------------------------------------ data types


def dtype_in(dtypes: tuple[str, ...], *names: str) -> Rule:
    """Tiles in these operands have one of the named data types."""
    return _dtype(lambda d: d.name in dtypes, f"must be {one_of(dtypes)}, it is {{dtype}}", names)


def dtype_not(dtypes: tuple[str, ...], *names: str) -> Rule:
    """Tiles in these operands have none of the named data types."""
    return _dtype(lambda d: d.name not in dtypes, "cannot be {dtype}", names)


def dtype_float(*names: str) -> Rule:
    """Tiles in these operands are of a floating-point type."""
    return _dtype(lambda d: d.kind is Kind.float, "must be of a float type, it is {dtype}", names)


def _dtype(legal: Callable[[DType], bool], demand: str, names: tuple[str, ...]) -> Rule:
    def check(op: NisaOp, target: Target) -> Finding | None:
        for name in names:
            tile = tile_of(op, name)
            if tile is not None and not legal(tile.dtype):
                return Finding(f"'{name}' {demand.format(dtype=tile.dtype.name)}", (name,))
        return None

    return Rule(DTYPE, check)


def computable(*names: str, unless_same_dtype: bool = False) -> Rule:
    """None of these tiles is of a packed type; a plain copy may be, hence `unless_same_dtype`."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        tiles = dict(tiles_in(op, names))
        all_tiles = len(tiles) >= len(names)  # a number would have to be converted
        if unless_same_dtype and all_tiles and len({t.dtype for t in tiles.values()}) == 1:
            return None
        for name, tile in tiles.items():
            if tile.dtype.kind is Kind.packed:
                return Finding(f"engines do not convert '{name}', a {tile.dtype.name}", (name,))
        return None

    return Rule(COMPUTABLE, check)


def same_dtype(*names: str) -> Rule:
    """Tiles in these operands have the same data type."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        tiles = {name: tile.dtype.name for name, tile in tiles_in(op, names)}
        if len(set(tiles.values())) <= 1:
            return None
        listed = ", ".join(f"'{name}' is {dtype}" for name, dtype in tiles.items())
        return Finding(f"different data types: {listed}", tuple(tiles))

    return Rule(SAME_DTYPE, check)


def bitvec_on_integers(operators: tuple[str, ...], *names: str) -> Rule:
    """With a bitvec operator, tiles and numbers are integers, the tiles of one width."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        if not is_bitvec(op, *operators):
            return None
        tiles = {n: t for n in names if (t := tile_of(op, n)) is not None}
        for name in names:
            value = op.operand_named(name)
            if value is not None and not is_tile(value):
                number = scalar_constant(value)
                if isinstance(number, float):
                    return Finding(f"'{name}' must be an integer, it is {number}")
        for name, tile in tiles.items():
            if not tile.dtype.is_integer:
                return Finding(
                    f"'{name}' must be of an integer type, it is {tile.dtype.name}", (name,)
                )
        if len({tile.dtype.bits for tile in tiles.values()}) > 1:
            listed = ", ".join(f"'{n}' is {t.dtype.name}" for n, t in tiles.items())
            return Finding(f"integers of different widths: {listed}", tuple(tiles))
        return None

    return Rule(BITVEC_DTYPE, check)


# ------------------------------------------------------------------ operators


def activation_function(name: str) -> Rule:
    """The field holds an activation function."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        word = op.value_of(name)
        if OPERATORS[word].activation is not None:
            return None
        return Finding(f"'{name}' is nl.{word}, which is not an activation function")

    return Rule(ACTIVATION, check)


def alu_operator(
    *names: str,
    kinds: tuple[AluKind, ...] = (AluKind.arithmetic, AluKind.bitvec),
    arities: tuple[int, ...] = (2,),
    bypass: bool = False,
) -> Rule:
    """The fields hold ALU operators of these kinds and arities."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        for name in names:
            word = op.value_of(name)
            if word is None or (bypass and word == BYPASS):
                continue
            alu = OPERATORS[word].alu
            if alu is None:
                return Finding(f"'{name}' is nl.{word}, which is not an ALU operator")
            if alu.kind not in kinds:
                wanted = one_of(tuple(kind.value for kind in kinds))
                return Finding(f"'{name}' must be {wanted}, nl.{word} is {alu.kind.value}")
            if alu.arity not in arities:
                count = "one operand" if alu.arity == 1 else "two operands"
                return Finding(f"'{name}' is nl.{word}, an operator of {count}")
        return None

    return Rule(ALU_OPERATOR, check)


def comparison(*names: str, legal: tuple[str, ...]) -> Rule:
    """The fields hold one of these comparisons."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        for name in names:
            word = op.value_of(name)
            if word not in legal:
                listed = one_of(tuple(f"nl.{w}" for w in legal))
                return Finding(f"'{name}' must be {listed}, it is nl.{word}")
        return None

    return Rule(COMPARISON, check)


def same_kind(first: str, second: str) -> Rule:
    """Both operators are bitvec, or both arithmetic."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        a, b = alu_of(op, first), alu_of(op, second)
        if a is None or b is None or a.kind is b.kind:
            return None
        return Finding(
            f"'{first}' is {a.kind.value} (nl.{op.value_of(first)}), "
            f"'{second}' is {b.kind.value} (nl.{op.value_of(second)})"
        )

    return Rule(SAME_KIND, check)


def op_pair(first: str, second: str, legal: tuple[tuple[str, str], ...]) -> Rule:
    """The two operators are one of the legal pairs. Silent where `first` alone is the mistake."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        pair = (op.value_of(first), op.value_of(second))
        if pair in legal or (pair[0] == BYPASS and pair[1] != BYPASS):
            return None
        listed = ", ".join(f"({a}, {b})" for a, b in legal)
        return Finding(f"({first}, {second}) is ({pair[0]}, {pair[1]}), legal are {listed}")

    return Rule(OP_PAIR, check)


def op1_needs_op0(second: str, first: str) -> Rule:
    """`second` is set only when `first` is."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        if not is_set(op, second) or is_set(op, first):
            return None
        return Finding(f"'{second}' is nl.{op.value_of(second)}, but '{first}' is not set")

    return Rule(OP1_NEEDS_OP0, check)


def reverse_needs_op(*pairs: tuple[str, str]) -> Rule:
    """A reverse flag comes with its operator: pairs of (flag, operator)."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        for flag, operator in pairs:
            if op.value_of(flag) and not is_set(op, operator):
                return Finding(f"'{flag}' is True, but '{operator}' is not set")
        return None

    return Rule(REVERSE_NEEDS_OP, check)


def op_with_operand(operator: str, operand: str) -> Rule:
    """Operator and operand are given together; a unary operator needs none."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        alu = alu_of(op, operator)
        has_operand = op.operand_named(operand) is not None
        if op.value_of(operator) is None:
            if has_operand:
                return Finding(f"'{operand}' is given, but '{operator}' is not", (operand,))
        elif not has_operand and alu is not None and alu.arity == 2:
            word = op.value_of(operator)
            return Finding(f"'{operator}' is nl.{word}, which needs '{operand}'")
        return None

    return Rule(OP_WITH_OPERAND, check)


def unary_operand(*pairs: tuple[str, str]) -> Rule:
    """With a unary operator, the operand is None or 0: pairs of (operator, operand)."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        for operator, operand in pairs:
            alu, value = alu_of(op, operator), op.operand_named(operand)
            if alu is None or alu.arity != 1 or value is None:
                continue
            if is_tile(value) or scalar_constant(value) != 0:
                shown = "a tile" if is_tile(value) else str(scalar_constant(value))
                return Finding(
                    f"'{operator}' is nl.{op.value_of(operator)}, which takes no operand, but "
                    f"'{operand}' is {shown}"
                )
        return None

    return Rule(UNARY_OPERAND, check)


def reduce_op_in(*legal: str, name: str = "reduce_op") -> Rule:
    """The operator of the accumulators is one of these, or left out."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        word = op.value_of(name)
        if word is None or word in legal:
            return None
        listed = one_of(tuple(f"nl.{w}" for w in legal))
        return Finding(f"'{name}' must be {listed}, it is nl.{word}")

    return Rule(REDUCE_OP, check)


def reduce_cmd_in(*legal: reduce_cmd) -> Rule:
    """`reduce_cmd` is one of these."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        command = op.value_of("reduce_cmd")
        if command in legal:
            return None
        listed = one_of(tuple(command.name for command in legal))
        return Finding(f"'reduce_cmd' must be {listed}, it is {command.name}")

    return Rule(REDUCE_CMD, check)


def reduce_cmd_needs_op(*, reset: bool) -> Rule:
    """Every reducing command comes with `reduce_op`; with `reset` also the one that only resets,
    because the identity depends on the operator."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        command = op.value_of("reduce_cmd")
        needs_op = command.reduces or (reset and command is reduce_cmd.reset)
        if not needs_op or op.value_of("reduce_op") is not None:
            return None
        return Finding(f"'reduce_cmd' is {command.name}, but 'reduce_op' is not given")

    return Rule(REDUCE_CMD_NEEDS_OP, check)


def reduce_init_unset() -> Rule:
    """`reduce_init` is left at its default unless `reduce_cmd` loads it."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        init, command = op.operand_named("reduce_init"), op.value_of("reduce_cmd")
        if init is None or command is reduce_cmd.load_reduce:
            return None
        if not is_tile(init) and number_of(init) == op.SPEC.by_name["reduce_init"].default:
            return None
        return Finding(f"'reduce_init' is given, but 'reduce_cmd' is {command.name}")

    return Rule(REDUCE_INIT, check)


def load_needs_init(name: str) -> Rule:
    """With `reduce_cmd.load_reduce` the operand that it loads is given."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        command = op.value_of("reduce_cmd")
        if command is not reduce_cmd.load_reduce or op.operand_named(name) is not None:
            return None
        return Finding(f"'reduce_cmd' is {command.name}, but '{name}' is not given")

    return Rule(LOAD_NEEDS_INIT, check)


def number_of(value: SSAValue | None) -> float | None:
    """A scalar operand's constant as a float; None for a tile or an absent operand."""
    if value is None or is_tile(value):
        return None
    number = scalar_constant(value)
    return math.nan if number is None else float(number)
