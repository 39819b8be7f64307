"""The verification passes that run the rules which ops declare, one pass per category."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.constraints import UNIVERSAL_RULES
from nkijit.dialects.declare import Finding, NisaOp, Rule
from nkijit.dialects.hardware import Target
from nkijit.dialects.nki import AllocOp, KernelOp, ReturnOp
from nkijit.dialects.tiles import is_tile
from nkijit.dialects.views import ViewOp
from nkijit.passes.verify.diagnostics import Diagnostic, diagnose

CATEGORIES = ("buffer", "shape", "dtype", "operator", "target", "access")
"""Categories of declared rules, in the order in which `verify` runs them."""


def check_rules(kernel: KernelOp, categories: Collection[str] = CATEGORIES) -> Iterator[Diagnostic]:
    """Every declared rule of these categories that an operation breaks, in program order."""
    target = kernel.target
    # Rules see types, properties and constants only, so equal instructions get one judgement.
    # The key holds identities: everything it names lives as long as the kernel.
    judged: set[tuple[int, ...]] = set()
    for op in kernel.operations:
        if not isinstance(op, (NisaOp, AllocOp, ViewOp, ReturnOp)):
            continue
        key = _signature(op)
        if key in judged:
            continue
        rules = (*op.SPEC.rules, *UNIVERSAL_RULES) if isinstance(op, NisaOp) else op.RULES
        broken = list(_findings(op, rules, target, categories))
        if broken:
            yield from broken
        else:
            judged.add(key)


def _signature(op: Operation) -> tuple[int, ...]:
    # A tile matters by its type; a number by its value, which its definition holds. Where an
    # index tile is matters, too.
    parts: list[object] = [type(op)]
    parts += [_matter(value) for value in op.operands]
    parts += [result.type for result in op.results]
    for item in op.properties.items():
        parts += item
    return tuple(map(id, parts))


def _matter(value: SSAValue) -> object:
    if not is_tile(value):
        return value
    owner = value.owner
    return value if isinstance(owner, ViewOp) and owner.index is not None else value.type


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
