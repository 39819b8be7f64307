"""Export and import of kernels: the exported source is run as a file, and traced."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

from xdsl.dialects.arith import ConstantOp as NumberConstantOp
from xdsl.dialects.scf import WhileOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from nkijit.dialects.nki.allocation import MASKED, AllocOp
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.registers import ReadRegisterOp, RegisterOp
from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.tiles import info_of
from nkijit.export.facts import loop_start
from nkijit.kernels.arguments import TensorSpec
from nkijit.kernels.kernel import Kernel
from nkijit.traced.kernel import TracedKernel

_numbers = itertools.count()


def kernel_of_source(text: str, name: str) -> Kernel:
    """A kernel of a file with this text."""
    file = f"<export {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(text, file, "exec"), names)
    kernel = names[name]
    assert isinstance(kernel, Kernel)
    return kernel


def retraced(traced: TracedKernel, text: str | None = None) -> TracedKernel:
    """Trace the export of a kernel, for the same target, cores and arguments."""
    text = traced.source() if text is None else text
    kernel = kernel_of_source(text, traced.name).for_target(traced.target.platform)
    count = len(traced.cores())
    specs = [TensorSpec(shape, dtype) for _, shape, dtype in traced.argument_types]
    return (kernel if count == 1 else kernel[count]).trace(*specs)


def canonical(kernel: KernelOp, *, order: bool = True) -> list[str]:
    """Return the effect of a kernel as lines, without names of values, locations and comments.

    Values are numbered in the order of appearance. Views and numbers are printed at their uses, as
    the places of their operations have no effect. Of allocations only the order is printed, and
    without `order` only that of tensors in HBM. The mark `masked` of a tile is only for warnings,
    and omitted.
    """
    lines: list[str] = [f"{kernel.launch_name} {kernel.target_name} {kernel.core}"]
    numbers: dict[SSAValue, str] = {}

    def shown(value: SSAValue) -> str:
        owner = value.owner
        if isinstance(owner, NumberConstantOp):
            return str(owner.value)
        if isinstance(owner, ViewOp):
            index = "" if owner.index is None else f" index {shown(owner.index)}"
            rest = {k: str(v) for k, v in owner.properties.items() if k != "operandSegmentSizes"}
            return f"({shown(owner.source)} {sorted(rest.items())}{index} {owner.result.type})"
        if isinstance(owner, ReadRegisterOp):
            return f"read {shown(owner.source)}"
        if isinstance(owner, ConstantOp):
            return f"constant {owner.data} {owner.result.type}"
        if value not in numbers:
            numbers[value] = f"%{len(numbers)}: {value.type}"
            if isinstance(owner, AllocOp):
                lines.append(f"{numbers[value]} = nki.alloc {attributes(owner.properties)}")
        return numbers[value]

    def attributes(given: dict[str, Attribute]) -> str:
        return str(sorted((k, str(v)) for k, v in given.items() if k != MASKED))

    def block(inner: Block, indent: str) -> None:
        for argument in inner.args:
            shown(argument)
        for op in inner.ops:
            if not isinstance(op, AllocOp):
                operation(op, indent)

    def operation(op: Operation, indent: str) -> None:
        if isinstance(op, (NumberConstantOp, ViewOp, ConstantOp, RegisterOp, ReadRegisterOp)):
            return
        operands = " ".join(map(shown, op.operands))
        results = " ".join(map(shown, op.results))
        given = f"{attributes(op.properties)} {attributes(op.attributes)}"
        lines.append(f"{indent}{results} = {op.name} {operands} {given}")
        for region in op.regions:
            for inner in region.blocks:
                block(inner, f"{indent}  ")

    for argument in kernel.arguments:
        shown(argument)
    for op in kernel.operations:  # those of a loop's body are before the loop
        if isinstance(op, AllocOp) and (order or not info_of(op.result).region.on_chip):
            shown(op.result)
    block(kernel.body.block, "")
    return lines


def check_round_trip(traced: TracedKernel, *, order: bool = True, **options: Any) -> str:
    """The exported text of a kernel, which traces to the same kernel.

    Args:
        traced: the kernel.
        order: tiles are allocated in the same order.
        options: those of `source`.
    """
    text = traced.source(**options)
    again = retraced(traced, text)
    first = traced.cores(options.get("schedule", "author"))
    if any(map(has_own_condition, first)):
        # The API has such loops with an extra register: a kernel with the register is stable.
        first, again = again.cores(), retraced(again)
    for one, two in zip(first, again.cores(), strict=True):
        assert canonical(one, order=order) == canonical(two, order=order)
    return text


def has_own_condition(kernel: KernelOp) -> bool:
    """Whether a loop goes on while a register is not 0 that has other uses, as with `while`."""
    loops = (op for op in kernel.operations if isinstance(op, WhileOp))
    return any(loop_start(loop) is None for loop in loops)
