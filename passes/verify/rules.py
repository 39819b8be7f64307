"""The verification passes that run the rules which ops declare, one pass per category."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.operation import NisaOp, form_key, is_instruction
from nkijit.dialects.declare.spec import Finding, Rule
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nisa.universal_rules import all_rules_of
from nkijit.dialects.nki import WITH_RULES
from nkijit.dialects.nki.kernel import KernelOp, ReturnOp
from nkijit.dialects.nki.views import ViewOp, base_of, fixed_address_of, index_of
from nkijit.dialects.tiles import is_tile
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
    # Equal instructions get one judgement: rules see types, properties and constants, besides
    # fixed addresses and which operands share an allocation. Keys hold identities: what they
    # name lives as long as the kernel.
    judged: set[tuple[object, ...]] = set()
    seen: dict[int, tuple[object, int]] = {}
    for op in kernel.operations:
        if not is_instruction(op) and type(op) not in WITH_RULES:
            continue
        key = _signature(op, seen, target)
        if key in judged:
            continue
        broken = list(_findings(op, all_rules_of(type(op)), target, categories))
        if broken:
            yield op, broken
        else:
            judged.add(key)


def _signature(
    op: Operation, seen: dict[int, tuple[object, int]], target: Target
) -> tuple[object, ...]:
    """All that rules may see of an operation; `seen` keeps what they see of each value."""
    parts: list[object] = [form_key(op)]
    allocations: list[int] = []
    for value in op.operands:
        known = seen.get(id(value))
        if known is None:
            known = seen[id(value)] = _matter(value, target)
        parts.append(known[0])
        allocations.append(known[1])
    if len(set(allocations)) < len(allocations):
        parts.append(tuple(map(allocations.index, allocations)))
    parts += [id(result.type) for result in op.results]
    return tuple(parts)


def _matter(value: SSAValue, target: Target) -> tuple[object, int]:
    """What rules may see of a value, and the allocation that it is in.

    Of a tile that is its type, where its index is and where the author placed it; of a number its
    value, which its definition holds.
    """
    if not is_tile(value):
        return id(value), id(value)
    base = base_of(value)
    if index_of(value) is not None:
        return id(value), id(base)
    address = fixed_address_of(value)
    if address is None:
        return id(value.type), id(base)
    # Inside a bank of PSUM it matters where; in SBUF only the partition does.
    partition, byte = address
    return (id(value.type), partition, byte % target.psum_bank_bytes), id(base)


def _findings(
    op: Operation, rules: tuple[Rule, ...], target: Target, categories: Collection[str]
) -> Iterable[Diagnostic]:
    for rule in rules:
        if rule.text.category not in categories:
            continue
        finding = rule.check(op, target)
        if finding is not None:
            yield _diagnostic(op, rule, finding)


def _diagnostic(op: Operation, rule: Rule, finding: Finding) -> Diagnostic:
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
