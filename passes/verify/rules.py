"""The verification passes that check the rules that ops declare: one pass per category."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cache

from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.operation import NisaOp, form_key, is_instruction
from nkijit.dialects.declare.spec import Rule, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nisa.universal_rules import all_rules_of
from nkijit.dialects.nki import WITH_RULES
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp, ReturnOp
from nkijit.dialects.nki.views import ViewOp, access_of, base_of, fixed_address_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.dialects.walks import found_once
from nkijit.passes.analysis.bytes.rows import start_of
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic

CATEGORIES = ("buffer", "shape", "dtype", "operator", "target", "access")
"""Categories of declared rules, in the order in which `verify` checks the categories."""


def check_rules(kernel: KernelOp, categories: Collection[str] = CATEGORIES) -> Iterator[Diagnostic]:
    """Yield a finding for each declared rule that an operation breaks, in program order."""
    for _, found in found_once(kernel, _broken_rules):
        yield from (one for one in found if one.rule.category in categories)


def wrong_operations(kernel: KernelOp) -> set[Operation]:
    """Return the operations that break a rule and that no device accepts for this reason.

    Views with errors are included, and the instructions that use these views.
    """
    wrong: set[Operation] = set()
    for op, found in found_once(kernel, _broken_rules):
        if type(op) is ViewOp and any(diagnostic.severity == "error" for diagnostic in found):
            wrong |= {op, *(use.operation for use in op.result.uses)}
        elif any(diagnostic.stops(strict=False) for diagnostic in found):
            wrong.add(op)
    return wrong


def _broken_rules(kernel: KernelOp) -> list[tuple[Operation, list[Diagnostic]]]:
    """Return the operations that break rules, each with its findings, in program order."""
    wrong: list[tuple[Operation, list[Diagnostic]]] = []
    target = kernel.target
    forms = _Forms(target)
    # Keys hold identities of objects that live as long as the kernel.
    checked: set[tuple[object, ...]] = set()
    for op in kernel.operations:
        if not is_instruction(op) and type(op) not in WITH_RULES:
            continue
        exact = forms.exact_key(op)
        if exact in checked:
            continue
        key = forms.key(op)
        rules = _rules_of(type(op), key in checked)
        broken = list(_findings(op, rules, target)) if rules else []
        if broken:
            wrong.append((op, broken))
            continue
        checked.add(key)
        if exact is not None:
            checked.add(exact)
    return wrong


@cache
def _rules_of(op_class: type[Operation], checked: bool) -> tuple[Rule, ...]:
    """Return the rules to check: only `by_offset` rules if an equal op was checked, else all."""
    rules = all_rules_of(op_class)
    return tuple(rule for rule in rules if rule.by_offset) if checked else rules


_LIMITS = ("scale", "bound", "count")
"""The properties of a view that limit the elements selectable by an index."""


class _Forms:
    """Computes keys of operations. Operations with equal keys break the same rules.

    Rules that are declared as `by_offset` are the exception.
    """

    def __init__(self, target: Target):
        self._target = target
        self._numbers: dict[object, int] = {}
        self._types: dict[int, int] = {}
        """For each tile type, by `id`, a number that does not depend on the offset."""
        self._values: dict[int, tuple[object, int, int]] = {}
        """For each operand, by `id`: its key, its allocation's `id`, its index's `id` or 0."""
        self._places: dict[tuple[object, ...], int] = {}
        """The numbers of on-chip tiles without an index.

        Keys: `id` of the tile's type, `id` of the allocation's type, whether the tile is the
        allocation, the key of its address.
        """

    def exact_key(self, op: Operation) -> tuple[object, ...] | None:
        """Return a key that is equal only for operations that break the same rules.

        None for operations without `by_offset` rules, for which `key` is exact.
        """
        if type(op) is AllocOp:
            return AllocOp, id(op.results[0].type), _address_key(op)
        if type(op) is ViewOp:
            operands = operand_tuple(op)
            if len(operands) == 1:
                return ViewOp, id(operands[0].type), id(op.results[0].type), None
        return None

    def key(self, op: Operation) -> tuple[object, ...]:
        """Return a key of the properties of an operation that rules depend on.

        Operations with equal keys break the same rules, apart from `by_offset` rules.
        """
        if type(op) is AllocOp:
            return AllocOp, id(op.results[0].type)
        # A tuple: making xDSL's own sequence is slow.
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
                seen = known[id(value)] = self._value_key(value)
            value_key, allocation, index = seen
            parts.append(value_key)
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
        """Return a number that is equal for tiles that differ only in their offset."""
        number = self._types.get(id(value.type))
        if number is None:
            tile = info_of(value)
            # Enum members by identity: hashing one is a call.
            words = id(tile.region), id(tile.indirection)
            form = (tile.dtype.name, words, tile.shape, tile.strides)
            number = self._types[id(value.type)] = self._number(form)
        return number

    def _number(self, form: object) -> int:
        return self._numbers.setdefault(form, len(self._numbers))

    def _value_key(self, value: SSAValue) -> tuple[object, int, int]:
        """Return a value's key, the `id` of its allocation, and the `id` of its index or 0.

        A scalar's key is the value itself: rules may read the constant that defines it.
        """
        if not is_tile(value):
            return id(value), id(value), 0
        owner = value.owner
        if type(owner) is not ViewOp:
            return self._place(value, value), id(value), 0
        base, *indices = operand_tuple(owner)
        place = self._place(value, base)
        if not indices:
            return place, id(base), 0
        (index,) = indices
        access = access_of(value)
        of_index = self._place(index, base_of(index)) if is_tile(index) else id(index.type)
        limits = [id(attr) for name, attr in owner.properties.items() if name in _LIMITS]
        form = (place, access.strides, access.shape, of_index, *limits)
        return self._number(form), id(base), id(index)

    def _place(self, value: SSAValue, base: SSAValue) -> int:
        """Return the number of a tile without its index.

        The number identifies the tile's type and the position of its first element, as far as rules
        may depend on these.
        """
        tile = info_of(value)
        if not tile.region.on_chip:
            return self._type(value)
        if tile.indirection is not None:
            return self._number(self._form(value, base))
        key = id(value.type), id(base.type), value is base, _address_key(base.owner)
        number = self._places.get(key)
        if number is None:
            number = self._places[key] = self._number(self._form(value, base))
        return number

    def _form(self, value: SSAValue, base: SSAValue) -> tuple[object, ...]:
        """Return those properties of an on-chip tile that rules may depend on."""
        address = fixed_address_of(value)
        partition, byte = (0, 0) if base is value else start_of(value, access_of(value))
        form = (self._type(value), partition, address and address[0])
        if info_of(value).region is MemoryRegion.psum:
            # Rules may read its position in a bank, and whether its allocation fits into a bank.
            byte += 0 if address is None else address[1]
            form = (*form, byte % self._target.psum_bank_bytes, id(base.type))
        return form


def _address_key(owner: Operation | Block) -> int | None:
    """Return the `id` of the attribute with an allocation's fixed address; None without one."""
    address = owner.properties.get("address") if type(owner) is AllocOp else None
    return None if address is None else id(address)


def _findings(op: Operation, rules: tuple[Rule, ...], target: Target) -> Iterable[Diagnostic]:
    for rule in rules:
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
    """Return an operand by its name; `srcs[1]` is an element of the list operand `srcs`."""
    field, _, position = name.partition("[")
    if not position:
        return op.operand_named(field)
    return op.operands_named(field)[int(position.rstrip("]"))]
