"""`unroll`: replaces every `nki.repeat` by its iterations in sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.core_program import IllFormedInside
from nkijit.dialects.declare.creation import append, created
from nkijit.dialects.declare.operation import SEGMENTS, NisaOp, is_instruction, segments_attr
from nkijit.dialects.declare.properties import PairsKind
from nkijit.dialects.nki.affine import HINT, TYPE, VARIES, Affine, varying
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.nki.repeat import (
    ElementOp,
    NumberOp,
    RepeatOp,
    TilesType,
    YieldOp,
    has_repeats,
)
from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.tiles import info_of, memref_type
from nkijit.passes.transform.constants import (
    constants_at_top,
    in_order_of_use,
    integer_constant,
)
from nkijit.passes.transform.numbers import Splits, join, join_text
from nkijit.passes.transform.views import AGAIN, Views

MAX_OPERATIONS = 1 << 20
"""The largest number of operations, and the largest number of iterations, of a kernel."""


def unrolled(kernel: KernelOp, origins: dict[Operation, Operation] | None = None) -> KernelOp:
    """Return an equivalent kernel without `nki.repeat`; the same kernel if it has none.

    Args:
        kernel: the kernel, which does not change.
        origins: receives the original operation of each new operation.

    Raises IllFormedInside for an operation that is invalid in some iteration, or when there are
    more than `MAX_OPERATIONS`.
    """
    if not has_repeats(kernel):
        return kernel
    return _Unroller(kernel, {} if origins is None else origins).run()


def unroll(module: ModuleOp, origins: dict[Operation, Operation] | None = None) -> None:
    """Replace each kernel of a module by the result of `unrolled`."""
    for kernel in kernels_of(module):
        made = unrolled(kernel, origins)
        if made is not kernel:
            replace_kernel(kernel, made)


def replace_kernel(kernel: KernelOp, made: KernelOp) -> None:
    """Replace a kernel in its block by another kernel."""
    block = kernel.parent
    assert block is not None
    block.insert_op_before(made, kernel)
    kernel.detach()
    kernel.drop_all_references()


class UnrollPass(ModulePass):
    """Write out the iterations of all `nki.repeat`."""

    name = "unroll"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        unroll(op)


class _Unroller:
    def __init__(self, kernel: KernelOp, origins: dict[Operation, Operation]):
        self._kernel = kernel
        self._origins = origins
        self._values: dict[SSAValue, SSAValue] = {}
        self._lists: dict[SSAValue, list[SSAValue]] = {}
        self._numbers: dict[SSAValue, int | None] = {}
        self._indices: dict[str, int] = {}
        self._splits = Splits()
        self._views = Views(self._splits)
        self._left = MAX_OPERATIONS
        self._constants: dict[Attribute, ConstantOp] = {}
        self._new: list[ConstantOp] = []

    def run(self) -> KernelOp:
        """Return the kernel with the iterations of all repeats written out."""
        old = self._kernel
        block = self._new_block(old.body.block)
        self._block(old.body.block, block)
        if self._new:
            self._place_constants(block)
        made = KernelOp(old.sym_name.data, old.target_name.data, Region(block))
        made.properties.update(old.properties)
        made.attributes.update(old.attributes)
        made.location = old.location
        self._origins[made] = old
        return made

    def _place_constants(self, block: Block) -> None:
        constants = constants_at_top(block)
        for op in constants:
            op.detach()
        constants += self._new
        used = in_order_of_use(block, constants)
        left = [op for op in constants if op not in set(used)]
        first = block.first_op
        assert first is not None
        block.insert_ops_before([*left, *used], first)

    def _new_block(self, old: Block) -> Block:
        block = Block(arg_types=old.arg_types)
        for before, after in zip(old.args, block.args, strict=True):
            after.name_hint = before.name_hint
            self._values[before] = after
        return block

    def _block(self, old: Block, block: Block) -> None:
        self._views.open()
        self._operations(old, block)
        self._views.close()

    def _operations(self, old: Block, block: Block) -> None:
        for op in old.ops:
            try:
                self._operation(op, block)
            except IllFormedInside:
                raise
            except Exception as error:  # IR from a file may be invalid in many ways
                raise IllFormedInside(str(error), op) from error

    def _count(self, op: Operation) -> None:
        self._left -= 1
        if self._left < 0:
            message = f"the repeats stand for more than {MAX_OPERATIONS} operations"
            raise IllFormedInside(message, op)

    def _operation(self, op: Operation, block: Block) -> None:
        self._count(op)
        if isinstance(op, RepeatOp):
            self._repeat(op, block)
        elif isinstance(op, ElementOp):
            self._element(op)
        elif isinstance(op, NumberOp):
            self._numbers[op.result] = op.value.data.at(self._indices)
        elif isinstance(op, ViewOp):
            self._view(op, block)
        elif not isinstance(op, YieldOp):
            self._copy(op, block)

    def _repeat(self, op: RepeatOp, block: Block) -> None:
        lists: list[list[SSAValue]] = [[] for _ in op.results]
        name = op.index.data
        for index in range(op.end.data.at(self._indices)):
            self._count(op)
            self._indices[name] = index
            self._operations(op.body.block, block)
            for found, value in zip(lists, op.yielded, strict=True):
                found += self._elements(value)
        self._indices.pop(name, None)
        self._lists.update(zip(op.results, lists, strict=True))

    def _elements(self, value: SSAValue) -> list[SSAValue]:
        if isinstance(value.type, TilesType):
            return self._lists[value]
        return [self._values[value]]

    def _element(self, op: ElementOp) -> None:
        position = op.position.data.at(self._indices)
        left = position
        for part in op.lists:
            elements = self._elements(part)
            if 0 <= left < len(elements):
                self._values[op.result] = elements[left]
                return
            left -= len(elements)
        raise IllFormedInside(f"there is no element {position} {self._where()}", op)

    def _where(self) -> str:
        at = ", ".join(f"{name} = {index}" for name, index in self._indices.items())
        return f"where {at}" if at else "in the list"

    def _integers(self, numbers: Sequence[Affine]) -> list[int]:
        return [number.at(self._indices) for number in numbers]

    def _constant(self, op: NumberOp, number: int) -> SSAValue:
        attr = IntegerAttr(number, op.result.type)
        found = self._constants.get(attr)
        if found is None:
            found = self._constants[attr] = integer_constant(number, op.result.type)
            self._new.append(found)
        return found.result

    def _operand(self, value: SSAValue) -> SSAValue | None:
        owner = value.owner
        if isinstance(owner, NumberOp):
            number = owner.value.data.at(self._indices)
            return None if number == owner.omitted else self._constant(owner, number)
        return self._values[value]

    def _operands(self, op: Operation) -> tuple[list[SSAValue], list[int]]:
        operands: list[SSAValue] = []
        given: list[int] = []
        for value in op.operands:
            found = self._operand(value)
            given.append(0 if found is None else 1)
            if found is not None:
                operands.append(found)
        return operands, given

    def _view(self, op: ViewOp, block: Block) -> None:
        operands, _ = self._operands(op)
        differing = varying(op)
        properties = dict(op.properties)
        for name, numbers in differing.items():
            if name in properties:
                properties[name] = join(properties[name], self._integers(numbers))
        kind = op.result.type
        if differing or operands[0].type != op.source.type:
            kind = _view_type(op, properties)
        made = created(ViewOp, operands, (kind,), properties, op.location)
        again = AGAIN in op.attributes
        key = self._views.key(made, operands)
        known = None if again else self._views.find(key)
        if known is not None:
            made.drop_all_references()
            self._values[op.result] = known
            return
        made.attributes = _plain_attributes(op)
        hint = op.result.name_hint
        if hint == op.source.name_hint:
            hint = operands[0].name_hint
        elif HINT in differing and hint is not None:
            hint = join_text(hint, self._integers(differing[HINT]))
        made.result.name_hint = hint
        append(block, made)
        self._origins[made] = op
        self._views.add(key, made.result)
        self._values[op.result] = made.result

    def _copy(self, op: Operation, block: Block) -> None:
        operands, given = self._operands(op)
        properties = dict(op.properties)
        differing = varying(op)
        for name, numbers in differing.items():
            if name not in (HINT, TYPE):
                self._vary(op, properties, name, self._integers(numbers))
        if len(operands) < len(given):
            if not is_instruction(op) or not op.SPEC.has_segments:
                raise ValueError(f"{op.name} has no operand that may be left out")
            segments = op.segments or ()
            present = [sum(given[i] for i in positions) for positions in segments]
            properties[SEGMENTS] = segments_attr(present)
        types = list(op.result_types)
        if TYPE in differing and len(types) == 1:
            types[0] = join(types[0], self._integers(differing[TYPE]))
        regions: list[Region] = []
        for region in op.regions:
            blocks: list[Block] = []
            for old in region.blocks:
                inner = self._new_block(old)
                self._block(old, inner)
                blocks.append(inner)
            regions.append(Region(blocks))
        if regions:
            made = type(op).create(
                operands=operands, result_types=types, properties=properties, regions=regions
            )
            made.location = op.location
        else:
            made = created(type(op), operands, types, properties, op.location)
        made.attributes = _plain_attributes(op)
        if regions:
            block.add_op(made)
        else:
            append(block, made)
        self._origins[made] = op
        for before, after in zip(op.results, made.results, strict=True):
            hint = before.name_hint
            if HINT in differing and hint is not None:
                hint = join_text(hint, self._integers(differing[HINT]))
            after.name_hint = hint
            self._values[before] = after
        if isinstance(made, ConstantOp) and block.parent is None and not self._indices:
            self._constants.setdefault(made.properties["value"], made)

    def _vary(
        self, op: Operation, properties: dict[str, Attribute], name: str, numbers: Sequence[int]
    ) -> None:
        """Set the numbers of a property to the numbers of the current iteration."""
        plain = name.removesuffix("?")
        declared = op.SPEC.by_name.get(plain) if is_instruction(op) else None
        if declared is None or declared.is_operand:
            if name not in properties:
                raise ValueError(f"{op.name} has no property '{name}'")
            properties[name] = join(properties[name], numbers)
            return
        kind: Any = declared.kind
        if name != plain and len(numbers) != 1:
            raise ValueError(f"'{plain}' is one number, not {len(numbers)}")
        if name != plain and numbers[0] == kind.default:
            properties.pop(name, None)
        elif plain in properties:
            properties[plain] = join(properties[plain], numbers)
        else:
            _insert(cast(NisaOp, op), properties, plain, kind.encode(*numbers))


def _insert(op: NisaOp, properties: dict[str, Attribute], name: str, attr: Attribute) -> None:
    """Insert a property at its position in declared order, as tracing does."""
    order = [f.name for f in op.SPEC.fields]
    behind = set(order[order.index(name) + 1 :])
    found = list(properties.items())
    at = next((i for i, (key, _) in enumerate(found) if key in behind or key not in order), None)
    found.insert(len(found) if at is None else at, (name, attr))
    properties.clear()
    properties.update(found)


def _view_type(op: ViewOp, properties: Mapping[str, Attribute]) -> Attribute:
    """Return the type of a view with changed properties."""
    result, source = info_of(op.result), info_of(op.source)
    offset: Attribute = properties["offset"]
    assert isinstance(offset, IntegerAttr)
    access = AccessPattern.from_pairs(PairsKind().decode(properties["pattern"]), offset.value.data)
    count = properties.get("count")
    shape = access.shape
    if isinstance(count, IntegerAttr):
        shape = (shape[0], count.value.data)
    return memref_type(result.dtype, shape, source.region, access, op.kind)


def _plain_attributes(op: Operation) -> dict[str, Attribute]:
    return {name: attr for name, attr in op.attributes.items() if name not in (VARIES, AGAIN)}
