"""Views: the elements of an allocation that an instruction touches.

The address of a view is static, or an index determines part of it at run time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, IntegerAttr, IntegerType, LocationAttr
from xdsl.ir import Attribute, SSAValue, Use
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.access import AccessPattern, Indirection, ViewError
from nkijit.dialects.attributes import IndirectionAttr, integer_attr
from nkijit.dialects.declare.accessors import operand_tuple, value_at, with_direct_accessors
from nkijit.dialects.declare.creation import created
from nkijit.dialects.declare.kinds import OperandKind, Role, parse_defined_operand
from nkijit.dialects.declare.properties import PairsKind
from nkijit.dialects.declare.rules.wording import variable_of
from nkijit.dialects.declare.spec import Rule, Violation
from nkijit.dialects.dtypes import DType, dtype_of_type
from nkijit.dialects.hardware.targets import INDIRECTION_GROUP, Target
from nkijit.dialects.hardware.words import MemoryRegion, nc_version
from nkijit.dialects.nki.affine import add_inline, parse_affine, print_attributes, varying
from nkijit.dialects.reach import Reach, leaves, rows_of, span_of
from nkijit.dialects.rule_texts.access import (
    INDEX_TILE,
    INDIRECT_BASE,
    PARTITION_STEP,
    PATTERN_BOUNDS,
)
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import (
    NkiMemRef,
    TileInfo,
    ViewForm,
    info_of,
    is_tile,
    memref_type,
)

INDEX_DTYPES = ("int32", "uint32")
"""Data types of indices that address a tensor at run time."""


def numbers_held(index: TileInfo, group: int = INDIRECTION_GROUP) -> int:
    """Return the number of indices in an index tile for each group of partitions.

    `group` is the number of partitions in a group.
    """
    rows = index.partitions % group if index.partitions > group else index.partitions
    return (rows or group) * index.free_size


def base_of(value: SSAValue) -> SSAValue:
    """Return the allocation or kernel argument of a view; other values are returned unchanged."""
    owner = value.owner
    # Called for every operand, and xDSL's own access by name takes ten times as long.
    return value_at(operand_tuple(owner), 0) if type(owner) is ViewOp else value


def views_of(base: SSAValue) -> list[SSAValue]:
    """Return the views of an allocation or kernel argument."""
    return _uses_of(base)[0]


def used_of(base: SSAValue) -> list[SSAValue]:
    """Return the tiles through which operations use an allocation or kernel argument.

    These are its views, and the value itself if an operation other than a view uses it.
    """
    views, is_used = _uses_of(base)
    return [base, *views] if is_used else views


def uses_of(value: SSAValue) -> Iterator[Use]:
    """Yield the uses of a value; three times as fast as xDSL's own iterator."""
    use = value.first_use
    while use is not None:
        yield use
        use = use._next_use  # pyright: ignore[reportPrivateUsage]


def _uses_of(base: SSAValue) -> tuple[list[SSAValue], bool]:
    """Return the views of an allocation, and whether it has other uses."""
    found: list[SSAValue] = []
    is_used = False
    use = base.first_use
    while use is not None:
        op = use._operation  # pyright: ignore[reportPrivateUsage]
        if type(op) is ViewOp and use._index == 0:  # pyright: ignore[reportPrivateUsage]
            found.append(value_at(op.results, 0))
        else:
            is_used = True
        use = use._next_use  # pyright: ignore[reportPrivateUsage]
    return found, is_used


def reach_of(*bases: SSAValue) -> Reach:
    """Return an allocation or kernel argument, with the memory around it that its views touch.

    Args:
        bases: the values that denote the tensor in the programs of a launch.
    """
    views = (info_of(view) for base in bases for view in views_of(base))
    return Reach.of(info_of(bases[0]), views)


def leaves_its_tensor(value: SSAValue) -> bool:
    """Return True for a tile with elements outside its allocation."""
    owner = value.owner
    return type(owner) is ViewOp and leaves(info_of(base_of(value)), info_of(value))


def index_of(value: SSAValue) -> SSAValue | None:
    """Return the register or tile that indexes a view at run time; None for a static view."""
    owner = value.owner
    if type(owner) is not ViewOp:
        return None
    operands = operand_tuple(owner)
    return value_at(operands, 1) if len(operands) > 1 else None


def access_of(value: SSAValue) -> AccessPattern:
    """Return the access pattern of a tile relative to its allocation; indices count as 0."""
    info = info_of(value)
    if info.indirection is None:
        return info.pattern  # also for a view, as its type contains the offset
    owner = value.owner
    return owner.access if type(owner) is ViewOp else info.pattern


def row_elements(value: SSAValue) -> int:
    """Return the elements per partition of a tile's allocation, in the tile's data type."""
    source = info_of(base_of(value))
    return source.free_size * source.dtype.bits // info_of(value).dtype.bits


def fixed_address_of(value: SSAValue) -> tuple[int, int] | None:
    """Return the (partition, byte) that the user fixed for a tile's allocation, or None."""
    return getattr(base_of(value).owner, "fixed_address", None)


def start_partition(value: SSAValue) -> tuple[int, bool]:
    """Return the first partition of an on-chip tile, and True if its address is fixed.

    Without a fixed address the partition is relative to the allocation.
    """
    first, _ = access_of(value).start(row_elements(value))
    address = fixed_address_of(value)
    return (first, False) if address is None else (address[0] + first, True)


def access_in_partition(value: SSAValue) -> AccessPattern:
    """Return the access pattern of a tile's free dimensions, from the start of a partition."""
    access = access_of(value)
    _, element = access.start(row_elements(value))
    return AccessPattern(element, access.strides[1:], access.shape[1:])


@dataclass(frozen=True, slots=True)
class DynamicPart:
    """The part of a view's address that an index determines at run time, of one of three kinds.

    `scalar`: the view starts `index * scale` elements after its offset. `vector`: element `w` of
    dim 0 is `index[w] * scale` elements after the offset. For both kinds, `0 <= index < bound`.
    `tensor`: in every partition, the view selects `count` of the `bound` elements of the free
    dimensions. Element `i` of partition `p` is number `index[g + i % G, i // G]`, where `g` is the
    first of the `G` partitions of its group.
    """

    indirection: Indirection
    index: SSAValue
    scale: int
    bound: int
    count: int | None = None


def selectable(access: AccessPattern, part: DynamicPart) -> AccessPattern:
    """Return the pattern of all elements that an index can select.

    `scalar`: a new dim 0, the index, is added to the view. `vector`: the index replaces dim 0 of
    the view. `tensor`: the indices select among the view's own elements, so the result is the view.
    """
    if part.indirection is Indirection.tensor:
        return access
    kept = 1 if part.indirection is Indirection.vector else 0
    strides, shape = access.strides[kept:], access.shape[kept:]
    return AccessPattern(access.offset, (part.scale, *strides), (part.bound, *shape))


def _partition_step(op: ViewOp, target: Target) -> Violation | None:
    source, result = info_of(op.source), info_of(op.result)
    if not source.region.on_chip or result.partitions == 1:
        return None
    row = source.free_size * source.dtype.bits // result.dtype.bits
    step = op.access.strides[0]
    if step == row:
        return None
    return Violation(
        f"the partition dimension of the view has a step of {step / row:g}",
        ("result",),
    )


def _pattern_bounds(op: ViewOp, target: Target) -> Violation | None:
    source, result = info_of(op.source), info_of(op.result)
    if not leaves(source, result):
        return None
    rows, elements = span_of(source, result)
    count, size = rows_of(source)
    touched = f"elements {elements.start} to {elements.stop - 1}"
    own, name = size // result.dtype.itemsize, result.dtype.name
    if not source.region.on_chip:
        message = f"the pattern touches {touched} of a tensor of {own} {name}"
    elif rows.start < 0 or rows.stop > count:
        message = f"the pattern touches partitions {rows.start} to {rows.stop - 1} of {count}"
    else:
        message = f"the pattern touches {touched} of partitions of {own} {name}"
    return Violation(message, ("result",))


def _index_tile(op: ViewOp, target: Target) -> Violation | None:
    if op.index is None or not is_tile(op.index):
        return None
    index, result = info_of(op.index), info_of(op.result)
    name = variable_of(op.index, "the index")
    if index.region is not MemoryRegion.sbuf:
        how = "tensor_copy" if index.region.on_chip else "dma_copy"
        return Violation(
            f"'index' must be in sbuf, it is in {index.region.value}",
            ("index",),
            f"copy {name} to a tile in SBUF first, with nisa.{how}",
        )
    if index.dtype.name not in INDEX_DTYPES:
        return Violation(
            f"'index' must be {' or '.join(INDEX_DTYPES)}, it is {index.dtype.name}",
            ("index",),
            f"allocate {name} as nl.int32, or copy it into a tile of nl.int32 with "
            "nisa.tensor_copy, which converts the numbers",
        )
    if op.kind is Indirection.scalar and index.size != 1:
        return Violation(
            f"'index' must have one element, it has {index.size}",
            ("index",),
            f"take one element, {name}[0:1, 0:1]; rows with an index each are read from HBM with "
            "vector_offset",
        )
    rows = result.shape[0]
    if op.kind is Indirection.vector and index.size < rows:
        return Violation(
            f"dim 0 of the view needs {numbered(rows, 'index', 'indices')}, there are {index.size}",
            ("index",),
            f"give {name} the shape ({rows}, 1), or the view {numbered(index.size, 'row')}",
        )
    if op.kind is Indirection.vector and index.partitions < min(rows, target.pmax):
        return Violation(
            f"the {numbered(rows, 'index', 'indices')} go down the partitions, the index has "
            f"{index.partitions}",
            ("index",),
            f"give {name} the shape ({rows}, 1): load the indices as a column, "
            f"nl.load(indices.reshape(({rows}, 1)))",
        )
    if op.kind is Indirection.tensor and index.partitions != result.partitions:
        return Violation(
            f"the tile has {numbered(result.partitions, 'partition')}, the index "
            f"{index.partitions}",
            ("index",),
            f"give {name} {numbered(result.partitions, 'partition')}, or slice the tile",
        )
    return None


def _indirect_base(op: ViewOp, target: Target) -> Violation | None:
    region = info_of(op.source).region
    if op.kind is Indirection.vector and region.on_chip:
        return Violation(f"a vector of indices addresses HBM, not {region.value}", ("result",))
    if op.kind is not Indirection.tensor:
        return None
    if not region.on_chip:
        return Violation(
            f"tensor indirection addresses SBUF and PSUM, not {region.value}", ("result",)
        )
    if target.version < nc_version.gen4:
        return Violation(
            f"tensor indirection needs NeuronCore-v4, the target {target.platform} is "
            f"NeuronCore-v{target.version.value}",
            ("result",),
        )
    return None


@with_direct_accessors
@irdl_op_definition
class ViewOp(IRDLOperation):
    """A view of an allocation or kernel argument: an offset and `[stride, count]` pairs.

    Offset and strides count elements of the result's data type from the start of the
    allocation. They determine the result type, so the pretty form omits it; `as` names the
    element type when the view reinterprets the bits.

    `scalar=`, `vector=` and `tensor=` name the register or index tile that the address depends on
    (`DynamicPart`). Each instruction that uses the view reads this index when the instruction runs.
    """

    name = "nki.view"

    source = operand_def(OperandKind(Role.read))
    index = opt_operand_def(OperandKind(Role.read, accepts_register=True))
    offset = prop_def(IntegerAttr)
    pattern = prop_def(PairsKind())
    indirection = opt_prop_def(IndirectionAttr)
    scale = opt_prop_def(IntegerAttr)
    bound = opt_prop_def(IntegerAttr)
    count = opt_prop_def(IntegerAttr)
    result = result_def(OperandKind(Role.read))

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(PARTITION_STEP, _partition_step),
        Rule(PATTERN_BOUNDS, _pattern_bounds, by_offset=True),
        Rule(INDEX_TILE, _index_tile),
        Rule(INDIRECT_BASE, _indirect_base),
    )

    @staticmethod
    def of(
        source: SSAValue,
        access: AccessPattern,
        dtype: DType | None = None,
        dynamic: DynamicPart | None = None,
        location: LocationAttr = UNKNOWN_LOC,
    ) -> ViewOp:
        """Create a view. Raises ViewError if an index could move the view out of its allocation."""
        info = info_of(source)
        dtype = info.dtype if dtype is None else dtype
        strides, counts = access.strides, access.shape
        if dynamic is None:
            form = ViewForm.of(dtype, info.region, strides, counts, counts)
            return ViewOp.at(source, form, access.offset, location)
        _check(access, dynamic, info.size * info.dtype.bits // dtype.bits)
        shape = _shape(access, dynamic.count)
        form = ViewForm.of(dtype, info.region, strides, counts, shape, dynamic.indirection)
        memref, offset = form.at(access.offset)
        properties: dict[str, Attribute] = {"offset": offset, "pattern": form.pattern}
        properties["indirection"] = IndirectionAttr.of(dynamic.indirection)
        properties["scale"] = integer_attr(dynamic.scale)
        properties["bound"] = integer_attr(dynamic.bound)
        if dynamic.count is not None:
            properties["count"] = integer_attr(dynamic.count)
        return created(ViewOp, (source, dynamic.index), (memref,), properties, location)

    @staticmethod
    def at(
        source: SSAValue, form: ViewForm, offset: int, location: LocationAttr = UNKNOWN_LOC
    ) -> ViewOp:
        """Create the view with a given form that begins at element `offset` of an allocation."""
        memref, number = form.at(offset)
        properties: dict[str, Attribute] = {"offset": number, "pattern": form.pattern}
        return created(ViewOp, (source,), (memref,), properties, location)

    @property
    def access(self) -> AccessPattern:
        """The access pattern relative to the allocation; indices count as 0."""
        return AccessPattern.from_pairs(PairsKind().decode(self.pattern), _number(self.offset))

    @property
    def kind(self) -> Indirection | None:
        """The kind of run-time address; None for a static view."""
        return None if self.indirection is None else self.indirection.data

    @property
    def dynamic(self) -> DynamicPart | None:
        """The part of the address that is known only at run time; None for a static view."""
        if self.index is None or self.indirection is None:
            return None
        return DynamicPart(
            self.indirection.data,
            self.index,
            _number(self.scale),
            _number(self.bound),
            None if self.count is None else _number(self.count),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        offset = varying(self).get("offset", (_number(self.offset),))[0]
        printer.print_string(f" offset={offset} pattern=")
        PairsKind().print(printer, self.pattern)
        dynamic = self.dynamic
        if dynamic is not None:
            printer.print_string(f" {dynamic.indirection.name}=")
            printer.print_ssa_value(dynamic.index)
            printer.print_string(f" scale={dynamic.scale} bound={dynamic.bound}")
            if dynamic.count is not None:
                printer.print_string(f" count={dynamic.count}")
        element = cast(NkiMemRef, self.result.type).element_type
        if element != cast(NkiMemRef, self.source.type).element_type:
            printer.print_string(" as ")
            printer.print_attribute(element)
        print_attributes(printer, self, ("offset",))

    @classmethod
    def parse(cls, parser: Parser) -> ViewOp:
        start = parser.pos
        source = parse_defined_operand(parser)
        parser.parse_keyword("offset")
        parser.parse_punctuation("=")
        offset = parse_affine(parser)
        parser.parse_keyword("pattern")
        parser.parse_punctuation("=")
        pattern = PairsKind().decode(PairsKind().parse(parser))
        dynamic = _parse_dynamic(parser)
        dtype = None
        if parser.parse_optional_keyword("as"):
            pos = parser.pos
            dtype = dtype_of_type(parser.parse_type())
            if dtype is None:
                parser.raise_error("expected an element type of NKI", pos)
        attributes = parser.parse_optional_attr_dict()
        if not OperandKind(Role.read).verifies(source.type):
            parser.raise_error(f"expected a memref of NKI, got {source.type}", start)
        try:
            access = AccessPattern.from_pairs(pattern, offset.constant)
            op = cls.of(source, access, dtype, dynamic)
        except ViewError as error:
            parser.raise_error(str(error), start)
        op.attributes.update(add_inline(attributes, {"offset": (offset,)}))
        return op

    def verify_(self) -> None:
        if isinstance(self.source.owner, ViewOp):
            raise VerifyException("a view is taken of an allocation, not of another view")
        given = [self.index, self.indirection, self.scale, self.bound]
        if any(part is None for part in given) and any(part is not None for part in given):
            raise VerifyException("index, indirection, scale and bound go together")
        dynamic = self.dynamic
        source, result = info_of(self.source), info_of(self.result)
        access = self.access
        elements = math.prod(access.shape[1:])
        _verify_index(dynamic, None if self.count is None else _number(self.count), elements)
        kind = None if dynamic is None else dynamic.indirection
        shape = _shape(access, None if dynamic is None else dynamic.count)
        expected = memref_type(result.dtype, shape, source.region, access, kind)
        if self.result.type != expected:
            raise VerifyException(f"expected a result of type {expected}, got {self.result.type}")
        try:
            _check(access, dynamic, source.size * source.dtype.bits // result.dtype.bits)
            if source.region.on_chip and kind is not Indirection.vector:
                bits = source.free_size * source.dtype.bits
                if bits % result.dtype.bits:
                    raise ViewError(
                        f"a partition of {source} is not a whole number of {result.dtype.name}"
                    )
                elements = bits // result.dtype.bits
                rows = access.partition_range(elements)
                if dynamic is not None:
                    access.free_range(elements)
                if dynamic is not None and kind is Indirection.scalar:
                    last = _at_last_index(access, dynamic)
                    last.free_range(elements)
                    if last.partition_range(elements) != rows:
                        raise ViewError("an index of a tile moves it to other partitions")
        except ViewError as error:
            raise VerifyException(str(error)) from error


def _shape(access: AccessPattern, count: int | None) -> tuple[int, ...]:
    return access.shape if count is None else (access.shape[0], count)


def _check(access: AccessPattern, dynamic: DynamicPart | None, size: int) -> None:
    """Raise ViewError if a valid index can move a view out of its allocation.

    A view without an index may leave its allocation; a rule reports such views.
    """
    if dynamic is None:
        return
    if dynamic.indirection is Indirection.vector:
        access = AccessPattern(access.offset, access.strides, (1, *access.shape[1:]))
    access.check_bounds(size)
    if dynamic.bound < 1:  # reported separately
        return
    if dynamic.indirection is not Indirection.tensor:
        _at_last_index(access, dynamic).check_bounds(size)


def _at_last_index(access: AccessPattern, dynamic: DynamicPart) -> AccessPattern:
    offset = access.offset + (dynamic.bound - 1) * dynamic.scale
    return AccessPattern(offset, access.strides, access.shape)


def _verify_index(dynamic: DynamicPart | None, count: int | None, elements: int) -> None:
    if dynamic is None:
        if count is not None:
            raise VerifyException("a count goes with tensor indirection")
        return
    if index_of(dynamic.index) is not None:
        raise VerifyException("the address of an index is known before the kernel runs")
    if dynamic.bound < 1 or dynamic.scale < 0:
        raise VerifyException("expected a bound of at least 1 and a scale of at least 0")
    if dynamic.indirection is Indirection.tensor and dynamic.bound != elements:
        raise VerifyException(
            f"expected the {numbered(elements, 'element')} of a partition as bound, got "
            f"{dynamic.bound}"
        )
    if (dynamic.indirection is Indirection.tensor) != (count is not None and count > 0):
        raise VerifyException("a positive count goes with tensor indirection, and only with it")
    if dynamic.indirection is not Indirection.scalar and not is_tile(dynamic.index):
        raise VerifyException(f"{dynamic.indirection.name} indirection needs an index tile")


def _number(attr: Attribute | None) -> int:
    return cast(IntegerAttr[IntegerType], attr).value.data


def _parse_number(parser: Parser, keyword: str) -> int:
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    return parser.parse_integer(allow_boolean=False)


def _parse_dynamic(parser: Parser) -> DynamicPart | None:
    for kind in Indirection:
        if parser.parse_optional_keyword(kind.name):
            parser.parse_punctuation("=")
            pos = parser.pos
            index = parse_defined_operand(parser)
            if not OperandKind(Role.read, accepts_register=True).verifies(index.type):
                parser.raise_error(f"expected a register or a tile, got {index.type}", pos)
            scale, bound = _parse_number(parser, "scale"), _parse_number(parser, "bound")
            count = _parse_number(parser, "count") if kind is Indirection.tensor else None
            return DynamicPart(kind, index, scale, bound, count)
    return None
