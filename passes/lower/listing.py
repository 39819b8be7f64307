"""The instruction listing: what each engine of the core is given, in program order.

Needs a verified kernel. Every NKI instruction becomes the engine instructions that its op
declares (`Stage`): a matmul loads its stationary tile and multiplies, reading accumulators out
is an instruction of its own. Numbers in front are positions in program order over all engines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.utils.target import Target

from nkijit.dialects.attributes import float_to_text
from nkijit.dialects.constraints import engine_of
from nkijit.dialects.declare import Field, NisaOp, scalar_constant
from nkijit.dialects.fields import OperandKind, PropertyKind, Role
from nkijit.dialects.hardware import engine
from nkijit.dialects.nki import AllocOp, KernelOp, kernels_of
from nkijit.dialects.registers import RegisterType
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.dialects.views import base_of

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


def engine_instructions(kernel: KernelOp) -> Iterator[EngineInstruction]:
    """The engine instructions of a kernel in program order."""
    names = _Names(kernel)
    # Engine and options depend on types and properties alone: equal instructions share them.
    # The keys hold identities of what lives as long as the kernel.
    known: dict[tuple[int, ...], tuple[engine, tuple[str, ...]]] = {}
    for op in kernel.operations:
        if not isinstance(op, NisaOp):
            continue
        parts = (type(op), *op.properties.values(), *(value.type for value in op.operands))
        key = tuple(map(id, parts))
        found = known.get(key)
        if found is None:
            found = known[key] = (engine_of(op, kernel.target), tuple(_options(op)))
        yield from _lower(op, *found, names)


def listing(kernel: KernelOp) -> str:
    """The listing of a kernel: one block per engine, one instruction per line."""
    queues: dict[engine, list[str]] = {queue: [] for queue in QUEUES}
    for position, instruction in enumerate(engine_instructions(kernel)):
        queues[instruction.queue].append(f"  {position:>5}  {instruction}".rstrip())
    target = kernel.target
    lines = [
        f"kernel {kernel.sym_name.data}, {target.platform} (NeuronCore-v{target.version.value})"
    ]
    for queue, instructions in queues.items():
        if instructions:
            noun = "instruction" if len(instructions) == 1 else "instructions"
            lines += ["", f"{queue.name}: {len(instructions)} {noun}", *instructions]
    return "\n".join(lines) + "\n"


class _Names:
    """Names of values as the printed IR has them: the second `x` is `x_1`."""

    def __init__(self, kernel: KernelOp):
        self._names: dict[SSAValue, str] = {}
        self._texts: dict[SSAValue, str] = {}
        used: dict[str, int] = {}
        unnamed = 0
        results = (value for op in kernel.operations for value in op.results)
        # In the order of definition, in which xDSL's printer gives out names.
        for value in (*kernel.arguments, *results):
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
        if isinstance(value.type, RegisterType):
            return self._names[value]
        if not is_tile(value):
            number = scalar_constant(value)
            return float_to_text(number) if isinstance(number, float) else str(number)
        info = info_of(value)
        base = base_of(value)
        shape = "x".join(map(str, info.shape))
        text = f"{self._names[base]}@{info.region.value}[{shape} {info.dtype.name}]"
        if isinstance(base.owner, AllocOp) and base.owner.fixed_address is not None:
            partition, byte = base.owner.fixed_address
            text += f"@({partition}, {byte})"
        if base is not value:
            pairs = " ".join(f"{s}:{n}" for s, n in zip(info.strides, info.shape, strict=True))
            text += f"+{info.offset}({pairs})"
        return text


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
