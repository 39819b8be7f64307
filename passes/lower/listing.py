"""The instruction listing: what each engine of the core is given, in program order.

Needs a verified kernel. Every NKI instruction becomes the engine instructions that its op
declares (`Stage`): a matmul loads its stationary tile and multiplies, reading accumulators out
is an instruction of its own. Numbers in front are positions in program order over all engines.
An address known at run time ends in its index and the elements that one step of it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, cast

from xdsl.context import Context
from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ConditionOp, ForOp, WhileOp
from xdsl.ir import Block, SSAValue
from xdsl.utils.target import Target

from nkijit.dialects.attributes import float_to_text
from nkijit.dialects.constraints import engine_of
from nkijit.dialects.declare import Field, NisaOp, scalar_constant
from nkijit.dialects.fields import OperandKind, PropertyKind, Role
from nkijit.dialects.hardware import engine
from nkijit.dialects.nki import AllocOp, KernelOp, NoReorderOp, kernels_of
from nkijit.dialects.registers import ReadRegisterOp
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.dialects.views import ViewOp, access_of, base_of

QUEUES = (
    engine.dma,
    engine.tensor,
    engine.vector,
    engine.scalar,
    engine.gpsimd,
    engine.sync,
)
"""Queues in the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class EngineInstruction:
    """One instruction of an engine."""

    queue: engine
    mnemonic: str
    writes: tuple[str, ...]
    reads: tuple[str, ...]
    options: tuple[str, ...]

    def __str__(self) -> str:
        operands = ", ".join((*self.writes, *self.reads, *self.options))
        return f"{self.mnemonic:<21} {operands}"


def listing(kernel: KernelOp) -> str:
    """The listing of a kernel: one block per engine, one instruction per line.

    A loop stands in every queue that has instructions in it.
    """
    writer = _Writer(kernel)
    queues = writer.block(kernel.body.block, "  ")
    target = kernel.target
    lines = [
        f"kernel {kernel.sym_name.data}, {target.platform} (NeuronCore-v{target.version.value})"
    ]
    for queue in QUEUES:
        count = writer.counts.get(queue)
        if count is not None:
            noun = "instruction" if count == 1 else "instructions"
            lines += ["", f"{queue.name}: {count} {noun}", *queues[queue]]
    return "\n".join(lines) + "\n"


class _Writer:
    """Writes the lines of each queue, block by block."""

    def __init__(self, kernel: KernelOp):
        self.counts: dict[engine, int] = {}
        """Instructions of each queue."""
        self._names = _Names(kernel)
        self._target = kernel.target
        # Engine and options depend on types and properties alone: equal instructions share them.
        # The keys hold identities of what lives as long as the kernel.
        self._known: dict[tuple[int, ...], tuple[engine, tuple[str, ...]]] = {}

    def block(self, block: Block, indent: str) -> dict[engine, list[str]]:
        """The lines of every queue that the operations of a block are in."""
        queues: dict[engine, list[str]] = {}
        for op in block.ops:
            if isinstance(op, NisaOp):
                for instruction in self._instructions(op):
                    position = sum(self.counts.values())
                    queue = instruction.queue
                    self.counts[queue] = self.counts.get(queue, 0) + 1
                    line = f"{indent}{position:>5}  {instruction}".rstrip()
                    queues.setdefault(queue, []).append(line)
            elif isinstance(op, NoReorderOp):
                for queue, lines in self.block(op.body.block, indent).items():
                    queues.setdefault(queue, []).extend(lines)
            elif isinstance(op, (ForOp, WhileOp)):
                body = op.body if isinstance(op, ForOp) else op.after_region
                head = f"{indent}{self._names.loop(op)} {{"
                for queue, lines in self.block(body.block, indent + "  ").items():
                    queues.setdefault(queue, []).extend([head, *lines, indent + "}"])
        return queues

    def _instructions(self, op: NisaOp) -> Iterator[EngineInstruction]:
        parts = (type(op), *op.properties.values(), *(value.type for value in op.operands))
        key = tuple(map(id, parts))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = (engine_of(op, self._target), tuple(_options(op)))
        return _lower(op, *found, self._names)


class _Names:
    """Names of values as the printed IR has them: the second `x` is `x_1`."""

    def __init__(self, kernel: KernelOp):
        self._names: dict[SSAValue, str] = {}
        self._texts: dict[SSAValue, str] = {}
        used: dict[str, int] = {}
        unnamed = 0
        # In the order of definition, in which xDSL's printer gives out names.
        for value in (*kernel.arguments, *_defined(kernel)):
            hint = value.name_hint
            if hint is None:
                self._names[value] = str(unnamed)
                unnamed += 1
                continue
            count = used.get(hint, 0)
            used[hint] = count + 1
            self._names[value] = f"{hint}_{count}" if count else hint

    def operand(self, name: str, value: SSAValue) -> str:
        text = self._texts.get(value)
        if text is None:
            text = self._texts[value] = self._text(value)
        return f"{name}={text}"

    def _text(self, value: SSAValue) -> str:
        if not is_tile(value):
            return self.number(value)
        info = info_of(value)
        base = base_of(value)
        shape = "x".join(map(str, info.shape))
        text = f"{self._names[base]}@{info.region.value}[{shape} {info.dtype.name}]"
        if isinstance(base.owner, AllocOp) and base.owner.fixed_address is not None:
            partition, byte = base.owner.fixed_address
            text += f"@({partition}, {byte})"
        if base is not value:
            access = access_of(value)
            pairs = " ".join(f"{s}:{n}" for s, n in zip(access.strides, access.shape, strict=True))
            text += f"+{access.offset}({pairs})"
        owner = value.owner
        dynamic = owner.dynamic if isinstance(owner, ViewOp) else None
        if dynamic is not None:
            kind = dynamic.indirection.name
            text += f"+{kind} {self._text(dynamic.index)}*{dynamic.scale}"
        return text

    def number(self, value: SSAValue) -> str:
        """A number, or the name of the register that holds it."""
        number = scalar_constant(value)
        if number is None:
            owner = value.owner
            return self._names[owner.source if isinstance(owner, ReadRegisterOp) else value]
        return float_to_text(number) if isinstance(number, float) else str(number)

    def loop(self, op: ForOp | WhileOp) -> str:
        """The head of a loop."""
        if isinstance(op, ForOp):
            index = self._names[op.body.block.args[0]]
            lower, upper, step = map(self.number, (op.lb, op.ub, op.step))
            return f"loop {index} = {lower} to {upper} step {step}"
        end = cast(ConditionOp, op.before_region.block.last_op)
        test = end.condition.owner
        if isinstance(test, CmpiOp):
            return f"loop while {self.number(test.lhs)} != {self.number(test.rhs)}"
        return f"loop while {self.number(end.condition)}"


def _defined(kernel: KernelOp) -> Iterator[SSAValue]:
    for op in kernel.operations:
        yield from op.results
        for region in op.regions:
            yield from region.block.args


def _lower(
    op: NisaOp, queue: engine, options: tuple[str, ...], names: _Names
) -> Iterator[EngineInstruction]:
    given: dict[str, tuple[Field, list[SSAValue]]] = {}
    for f, value in op.given_operands():
        given.setdefault(f.name, (f, []))[1].append(value)
    # Compile-time arguments belong to the stage that computes: the last one that always runs.
    last = max(i for i, stage in enumerate(op.SPEC.stages) if stage.when is None)
    for index, stage in enumerate(op.SPEC.stages):
        if stage.when is not None and stage.when not in given:
            continue
        writes: list[str] = []
        reads: list[str] = []
        for name in stage.operands:
            if name not in given:
                continue
            f, values = given[name]
            assert isinstance(f.kind, OperandKind)
            touched = reads if f.kind.role is Role.read else writes
            touched += [names.operand(name, value) for value in values]
        yield EngineInstruction(
            queue, stage.mnemonic, tuple(writes), tuple(reads), options if index == last else ()
        )


def _options(op: NisaOp) -> Iterator[str]:
    for f in op.SPEC.fields:
        attr = op.properties.get(f.name)
        if isinstance(f.kind, PropertyKind) and attr is not None:
            value = f.kind.decode(attr)
            if value in op.SPEC.engines:
                continue  # said by the queue
            yield f"{f.name}={_shown(getattr(value, 'name', value))}"
    name = op.properties.get("name")
    if name is not None:
        yield f"name={name}"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        items = cast(tuple[object, ...], value)
        return f"[{', '.join(map(_shown, items))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class ListingTarget(Target):
    """Prints the listing of every kernel of a module."""

    name = "nki-listing"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write("\n".join(listing(kernel) for kernel in kernels_of(module)))
