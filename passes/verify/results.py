"""Checks that the results of instructions are used."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.declare.rules.wording import variable_of
from nkijit.dialects.effects import effects, role_of
from nkijit.dialects.hardware.words import engine, nc_version
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of
from nkijit.dialects.nisa.movement import MemsetOp
from nkijit.dialects.nisa.reduce import TensorReduceOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of, used_of
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.rule_texts.lint import (
    DEAD_STORE,
    LOST_RESULT,
    OVERWRITTEN_RESULT,
    REDUNDANT_FILL,
)
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.writes.data_flow import data_flow
from nkijit.passes.analysis.writes.unused_results import CallResults, call_of, unused_results
from nkijit.passes.diagnostics.diagnose import diagnose, mention
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.places import positions

FOLLOW_THE_LOOP = "let the place that is written follow the loop, e.g. out[i * 128 : (i + 1) * 128]"
"""The help for a place in HBM that each iteration overwrites."""
READS_THE_LAST = "reads only the last result"
"""The label of a store after a loop that reads the result of the last iteration."""


def check_results(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a warning for each result that is lost, in program order."""
    returned = {base_of(value) for value in kernel.return_op.values}
    yield from _lost_results(kernel, returned)
    unused = unused_results(kernel)
    # Before a loop that loses its sum, a fill is the start of the sum.
    losing = {call_of(result.op) for result in unused if result.overwritten_by_itself}
    rebound = {_name(_written(r.op)) for r in unused if _loses_sum(kernel, r)}
    for result in unused:
        found = _finding(kernel, result)
        if found is None:
            continue
        by = result.overwriter
        starts_sum = by is not None and call_of(by) in losing - {call_of(result.op)}
        if by is None and _name(_written(result.op)) in rebound:
            starts_sum = True
        if not (starts_sum and _is_fill(result.op)):
            yield found


def _finding(kernel: KernelOp, result: CallResults) -> Diagnostic | None:
    op = result.op
    if result.serves_unused:
        return None  # the finding is about the results that are computed from these
    if result.unused == result.executions:
        rule = REDUNDANT_FILL if _is_fill(op) else DEAD_STORE
        if _presets_sum(kernel, result):
            return _overwritten(kernel, result)
        if rule is REDUNDANT_FILL or result.remaining or result.overwritten_by_itself:
            several = result.executions > 1 and not result.on_device
            times = f", {numbered(result.executions, 'time')}" if several else ""
            message = f"nothing reads what it writes: about {_amount(kernel, op)}{times}"
            help = _added_to(kernel, op) if rule is REDUNDANT_FILL else None
            related = _overwriter(result)
            return diagnose(rule, op, message, _written(op), related=related, help=help)
        return _overwritten(kernel, result)
    if _is_fill(op):
        return None
    if result.remaining:
        return _mostly_unread(kernel, result) if _is_mostly_unread(result) else None
    return _overwritten(kernel, result) if _is_mostly_overwritten(result) else None


def _is_mostly_overwritten(result: CallResults) -> bool:
    """Whether more results are overwritten than the last iterations of inner loops can explain.

    The last iteration of an inner loop often computes a value for an iteration that never runs.
    Another instruction then overwrites the value. Each run of the inner loop loses one value and
    uses at least one.
    """
    if result.on_device:
        return result.overwritten_by_itself > 0
    lost = 2 * (result.overwritten + result.overwritten_by_itself)
    return lost > result.executions or (lost == result.executions and not result.overwritten)


def _is_mostly_unread(result: CallResults) -> bool:
    """Whether more results are unread than loops that compute for the next iteration can explain.

    Such a loop loses the result of its last iteration: at most half of its results, unless it has a
    single iteration.
    """
    return result.executions > 2 and 3 * result.unused >= 2 * result.executions


def _mostly_unread(kernel: KernelOp, result: CallResults) -> Diagnostic:
    op = result.op
    written = _shown(op)
    help = f"read '{_name(written)}' in every iteration, or run the instruction only when needed"
    accumulation = accumulation_of(op, kernel.target)
    if _loses_sum(kernel, result):
        name = _name(written)
        help = (
            f"to add up the iterations, write {name} += ..., with {name} = nl.zeros(...) before "
            "the loop"
        )
    elif accumulation is not None and (
        accumulation is not Accumulation.overwrites or kernel.classic is not None
    ):
        help = f"to add up the iterations, allocate '{_name(written)}' before the loop"
    return diagnose(
        DEAD_STORE,
        op,
        f"{result.unused} of {numbered(result.executions, 'result')} of this line are never "
        "read: about "
        f"{_amount(kernel, op)} each",
        written,
        related=_overwriter(result) or _last_reader(kernel, result),
        help=help,
    )


def _loses_sum(kernel: KernelOp, result: CallResults) -> bool:
    """True if most iterations of a loop return a product of matrices that nothing reads."""
    op = result.op
    if kernel.classic is None or accumulation_of(op, kernel.target) is None:
        return False
    return result.remaining > 0 and _is_mostly_unread(result) and _is_returned(op)


def _is_returned(op: Operation) -> bool:
    """True if a call of the classic API both allocates its result and writes it."""
    owner = base_of(_written(op)[0][1]).owner
    return isinstance(owner, AllocOp) and owner.location == op.location


def _presets_sum(kernel: KernelOp, result: CallResults) -> bool:
    """True for a fill with another number than 0 that matmuls overwrite."""
    op, by = result.op, result.overwriter
    if not isinstance(op, MemsetOp) or op.value_of("value") == 0 or not isinstance(by, NisaOp):
        return False
    return accumulation_of(by, kernel.target) is not None


def _added_to(kernel: KernelOp, op: Operation) -> str | None:
    """Return the help for a fill of a tile whose name a product gets instead of adding to it."""
    base = base_of(_written(op)[0][1])
    if kernel.classic is None or base.name_hint is None:
        return None
    assigned = re.compile(rf"\s*{re.escape(base.name_hint)}\s*=[^=]")
    for other in kernel.operations:
        if not isinstance(other, NisaOp) or accumulation_of(other, kernel.target) is None:
            continue
        if base_of(_written(other)[0][1]).type != base.type or not _is_returned(other):
            continue
        place = next(iter(positions(other.location)), None)
        if place is not None and assigned.match(place.source_line() or ""):
            return (
                f"line {place.line} gives the name {base.name_hint} to another tile: to add to "
                f"this one, write {base.name_hint} += ..."
            )
    return None


def _amount(kernel: KernelOp, op: NisaOp) -> str:
    unit = "bytes" if engine_of(op, kernel.target) is engine.dma else "cycles"
    return f"{op.cycles(kernel.target):.0f} {unit}"


def _overwritten(kernel: KernelOp, result: CallResults) -> Diagnostic:
    op = result.op
    written = _shown(op)
    count = result.overwritten + result.overwritten_by_itself
    if result.on_device and result.unused < result.executions:
        which = ": the result of every iteration but the last is lost"
    elif result.executions > 1:
        which = f": {count} of {numbered(result.executions, 'result')} are lost"
    else:
        which = ""
    return diagnose(
        OVERWRITTEN_RESULT,
        op,
        f"'{_name(written)}' is overwritten before anything reads the result{which}",
        written,
        related=_overwriter(result) or _last_reader(kernel, result),
        help=_help(kernel, result),
    )


def _written(op: Operation) -> list[tuple[str, SSAValue]]:
    return [(e.name, e.value) for e in effects(op) if e.role is not Role.read]


def _shown(op: Operation) -> list[tuple[str, SSAValue]]:
    """Return the written operands for a finding, each with its name; `reduce_res` is first."""
    return sorted(_written(op), key=lambda operand: operand[0] != "reduce_res")


def _name(written: Sequence[tuple[str, SSAValue]]) -> str:
    return base_of(written[0][1]).name_hint or "?"


def _overwriter(result: CallResults) -> list[tuple[Operation, str]]:
    by = result.overwriter
    if by is None or call_of(by) == call_of(result.op):
        return []
    return [(by, f"overwritten by {mention(by)}")]


def _last_reader(kernel: KernelOp, result: CallResults) -> list[tuple[Operation, str]]:
    """Return the operation that alone reads results of a call, if it stores to a part of HBM."""
    if result.on_device:
        return []
    flow, call = data_flow(kernel), call_of(result.op)
    mine = {
        number
        for number, op in enumerate(flow.ops)
        if op.location == result.op.location and call_of(op) == call
    }
    readers = [
        flow.ops[number]
        for number, sources in enumerate(flow.sources)
        if number not in mine and not mine.isdisjoint(sources)
    ]
    stores = [op for op in readers if any(_is_part_of_hbm(value) for _, value in _written(op))]
    return [(op, READS_THE_LAST) for op in stores] if len(readers) == 1 else []


def _is_part_of_hbm(value: SSAValue) -> bool:
    whole = info_of(base_of(value))
    return not whole.region.on_chip and info_of(value).size < whole.size


def _help(kernel: KernelOp, result: CallResults) -> str | None:
    """Return a help text for both instructions; None if the rule's own help applies."""
    op, by = result.op, result.overwriter
    is_loop = by is not None and call_of(by) == call_of(op)
    if not isinstance(by, NisaOp):
        return None
    accumulation = accumulation_of(by, kernel.target)
    if accumulation is not None and is_loop:
        if kernel.classic is not None:
            name = variable_of(_written(op)[0][1], "sum")
            return f"to add up the iterations, write {name} += ... to a tile of zeros"
        if accumulation is Accumulation.by_location:
            return (
                "run the first iteration before the loop, and pass accumulate=True in the loop; "
                "or read 'dst' in every iteration"
            )
        return (
            "to add up the iterations, pass accumulate=True in all but the first, e.g. "
            "accumulate=k > 0; else read 'dst' in every iteration"
        )
    if is_loop and by.declares("reduce_res") and by.get("reduce_res") is not None:
        if by.declares("reduce_cmd"):
            return (
                "to reduce over all iterations, pass reduce_cmd=nisa.reduce_cmd.reduce in all but "
                "the first; else read 'reduce_res' in every iteration"
            )
        return "to reduce over all iterations, add each 'reduce_res' to a sum in the loop"
    if accumulation is not None and accumulation_of(op, kernel.target) is not None:
        return "pass accumulate=True to the later one to add both, or give each its own 'dst'"
    if accumulation is not None:
        adds_to_all = kernel.target.version >= nc_version.gen4
        after = "add it after the last matmul, e.g. with nisa.tensor_tensor"
        return f"pass accumulate=True to add to it, or {after}" if adds_to_all else after
    if _is_fill(by) and (result.executions > 1 or result.on_device):
        return "fill the tile once, before the loop"
    if is_loop and isinstance(op, TensorReduceOp):
        return _combined(op, is_classic=kernel.classic is not None)
    if is_loop and not info_of(_written(op)[0][1]).region.on_chip:
        return FOLLOW_THE_LOOP
    return None


def _combined(op: TensorReduceOp, *, is_classic: bool) -> str:
    """Return the help for a reduction whose result the next iteration overwrites."""
    name, operator = variable_of(op.dst, "dst"), op.value_of("op")
    if is_classic and operator == "add":
        return f"to add up the iterations, write {name} += ... to a tile of zeros"
    if is_classic:
        return f"to combine the iterations, write {name}[...] = nl.{operator}({name}, ...)"
    return (
        f"to combine the iterations, write nisa.tensor_tensor(dst=acc, data1=acc, data2={name}, "
        f"op=nl.{operator}) after it; to keep all results, allocate a tile for each ([tile] * 4 "
        "is one tile)"
    )


def _is_fill(op: Operation) -> bool:
    """True for an instruction whose result depends on no tile and no register."""
    reads_register = any(isinstance(value.type, RegisterType) for value in op.operands)
    return not reads_register and all(effect.role is Role.write for effect in effects(op))


def _lost_results(kernel: KernelOp, returned: Collection[SSAValue]) -> Iterator[Diagnostic]:
    """Yield a finding for each HBM tensor that is written but neither read nor returned.

    Kernels that return nothing and write no argument are skipped, because tracing reports them.
    """
    if kernel.core[1] > 1:
        return  # the other core may read shared tensors
    arguments = kernel.body.block.args
    if not returned and not any(Role.write in _roles(argument) for argument in arguments):
        return
    for op in kernel.operations:
        if type(op) is not AllocOp:
            continue
        base = op.result
        if info_of(base).region.on_chip or base in returned or _roles(base) != {Role.write}:
            continue
        yield diagnose(
            LOST_RESULT,
            op,
            f"'{base.name_hint or '?'}' ({info_of(base)}) is written, but not returned or read",
            related=[(_first_writer(kernel, base), "written here")],
        )


def _roles(base: SSAValue) -> set[Role]:
    """Return how the kernel uses an allocation or argument, through all of its views."""
    return {
        role for value in used_of(base) for use in value.uses if (role := role_of(use)) is not None
    }


def _first_writer(kernel: KernelOp, base: SSAValue) -> Operation:
    return next(
        op
        for op in kernel.operations
        for effect in effects(op)
        if base_of(effect.value) is base and effect.role is not Role.read
    )
