"""The verification passes that run the rules which ops declare, one pass per category."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cache

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.operation import NisaOp, form_key, is_instruction
from nkijit.dialects.declare.spec import Rule, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nisa.universal_rules import all_rules_of
from nkijit.dialects.nki import WITH_RULES
from nkijit.dialects.nki.kernel import KernelOp, ReturnOp
from nkijit.dialects.nki.views import ViewOp, access_of, base_of, fixed_address_of, index_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.analysis.bytes.rows import start_of
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic

CATEGORIES = ("buffer", "shape", "dtype", "operator", "target", "access")
"""Categories of declared rules, in the order in which `verify` runs them."""


def check_rules(kernel: KernelOp, categories: Collection[str] = CATEGORIES) -> Iterator[Diagnostic]:
    """Every declared rule of these categories that an operation breaks, in program order."""
    for _, found in _judged(kernel, categories):
        yield from found


def wrong_operations(kernel: KernelOp) -> set[Operation]:
    """The operations that break a declared rule and that no device takes."""
    return {
        op
        for op, found in _judged(kernel, CATEGORIES)
        if any(diagnostic.stops(strict=False) for diagnostic in found)
    }


def _judged(
    kernel: KernelOp, categories: Collection[str]
) -> Iterator[tuple[Operation, list[Diagnostic]]]:
    """The operations that break rules, in program order, with what is found."""
    target = kernel.target
    forms = _Forms(target)
    # Keys hold identities: what they name lives as long as the kernel.
    judged: set[tuple[object, ...]] = set()
    for op in kernel.operations:
        if not is_instruction(op) and type(op) not in WITH_RULES:
            continue
        key = forms.key(op)
        rules = _rules_of(type(op), key in judged)
        if not rules:
            continue
        broken = list(_findings(op, rules, target, categories))
        if broken:
            yield op, broken
        else:
            judged.add(key)


@cache
def _rules_of(op_class: type[Operation], judged: bool) -> tuple[Rule, ...]:
    """The rules of an operation, or those that are left when its form has been judged."""
    rules = all_rules_of(op_class)
    return tuple(rule for rule in rules if rule.by_offset) if judged else rules


_LIMITS = ("scale", "bound", "count")
"""The properties of a view that say what its index can select."""


class _Forms:
    """What rules may see of operations (`Rule`), as keys: what has one key is judged once."""

    def __init__(self, target: Target):
        self._target = target
        self._numbers: dict[object, int] = {}
        self._types: dict[int, int] = {}
        """The number of each type of a tile without its offset, by its identity."""
        self._values: dict[int, tuple[object, int, int]] = {}
        """What rules see of each operand, its allocation, and its index if it has one."""
        self._places: dict[tuple[int, int, bool], int] = {}
        """What they see of tiles at known places, by their types and that of the allocation."""

    def key(self, op: Operation) -> tuple[object, ...]:
        """All that rules may see of an operation."""
        # A tuple, for xDSL's own sequence takes long to make.
        operands = operand_tuple(op)
        if type(op) is ViewOp and len(operands) == 1:
            (source,), (result,) = operands, op.results
            return ViewOp, id(source.type), self._type(result)
        parts: list[object] = [form_key(op), *[id(result.type) for result in op.results]]
        if not operands:
            return tuple(parts)
        known, allocations, indices = self._values, list[int](), list[int]()
        for value in operands:
            seen = known.get(id(value))
            if seen is None:
                seen = known[id(value)] = self._matter(value)
            matter, allocation, index = seen
            parts.append(matter)
            allocations.append(allocation)
            if index:
                indices.append(index)
        if len(set(allocations)) < len(allocations):
            parts += map(allocations.index, allocations)
            parts += [id(value if indices else value.type) for value in operands]
        if len(indices) > 1:
            parts += map(indices.index, indices)
        return tuple(parts)

    def _type(self, value: SSAValue) -> int:
        """The same for tiles that differ in where they begin."""
        number = self._types.get(id(value.type))
        if number is None:
            tile = info_of(value)
            # Words by their identity, as hashing one is a call.
            words = id(tile.region), id(tile.indirection)
            form = (tile.dtype.name, words, tile.shape, tile.strides)
            number = self._types[id(value.type)] = self._number(form)
        return number

    def _number(self, form: object) -> int:
        return self._numbers.setdefault(form, len(self._numbers))

    def _matter(self, value: SSAValue) -> tuple[object, int, int]:
        """What rules may see of a value, the allocation that it is in, and its index or 0.

        Of a number that is its value, which its definition holds.
        """
        if not is_tile(value):
            return id(value), id(value), 0
        base, index, owner = base_of(value), index_of(value), value.owner
        place = self._place(value, base)
        if index is None or not isinstance(owner, ViewOp):
            return place, id(base), 0
        access = access_of(value)
        of_index = self._place(index, base_of(index)) if is_tile(index) else id(index.type)
        limits = [id(attr) for name, attr in owner.properties.items() if name in _LIMITS]
        form = (place, access.strides, access.shape, of_index, *limits)
        return self._number(form), id(base), id(index)

    def _place(self, value: SSAValue, base: SSAValue) -> int:
        """What rules may see of a tile without its index: its type, and where it begins."""
        tile = info_of(value)
        if not tile.region.on_chip:
            return self._type(value)
        address = fixed_address_of(value)
        if address is not None or tile.indirection is not None:
            return self._number(self._form(value, base, address))
        key = id(value.type), id(base.type), value is base
        number = self._places.get(key)
        if number is None:
            number = self._places[key] = self._number(self._form(value, base, None))
        return number

    def _form(
        self, value: SSAValue, base: SSAValue, address: tuple[int, int] | None
    ) -> tuple[object, ...]:
        """What rules may see of a tile on chip."""
        partition, byte = (0, 0) if base is value else start_of(value, access_of(value))
        form = (self._type(value), partition, address and address[0])
        if info_of(value).region is MemoryRegion.psum:
            # It matters where in a bank the tile is, and whether its allocation fits into one.
            byte += 0 if address is None else address[1]
            form = (*form, byte % self._target.psum_bank_bytes, id(base.type))
        return form


def _findings(
    op: Operation, rules: tuple[Rule, ...], target: Target, categories: Collection[str]
) -> Iterable[Diagnostic]:
    for rule in rules:
        if rule.text.category not in categories:
            continue
        finding = rule.check(op, target)
        if finding is not None:
            yield _diagnostic(op, rule, finding)


def _diagnostic(op: Operation, rule: Rule, finding: Violation) -> Diagnostic:
    operands: list[tuple[str, SSAValue]] = []
    for name in finding.operands:
        if isinstance(op, NisaOp):
            value = _operand(op, name)
        elif isinstance(op, ReturnOp):
            value = op.values[int(name.removeprefix("result "))]
        else:
            value = op.index if isinstance(op, ViewOp) and name == "index" else op.results[0]
        if value is not None:
            operands.append((name, value))
    return diagnose(rule.text, op, finding.message, operands, help=finding.help)


def _operand(op: NisaOp, name: str) -> SSAValue | None:
    """An operand by its name, or one of a list: `srcs[1]`."""
    field, _, position = name.partition("[")
    if not position:
        return op.operand_named(field)
    return op.operands_named(field)[int(position.rstrip("]"))]
