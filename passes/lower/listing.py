"""The instruction listing: what each queue of a core runs, with addresses, waits and signals.

One instruction a line:

    number  waits  MNEMONIC  operands, immediates  signal  file:line

- The number is the place in program order over all queues.
- `wait(vector>=3)`: the instruction begins when the Vector Engine's queue has counted to 3. In a
  loop counts begin anew with each iteration; `previous vector>=3` is about the one before.
- `name[buffer address, partitions, pattern, dtype]`: the address is the first byte, within a
  partition on chip and within the tensor in HBM, which has no partitions. The pattern is
  `stride:count` pairs in elements over the free dimensions, over all of them in HBM. What an
  address known at run time adds stands after the first byte.
- `signal(3)`: when the instruction has ended, its queue has counted to 3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, cast

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import PropertyKind
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import DevicePrintOp
from nkijit.dialects.nki.views import ViewOp, access_of, base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.analysis.rows import start_of
from nkijit.passes.diagnostics.places import positions
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.names import Names
from nkijit.passes.lower.program import (
    Instruction,
    Item,
    Program,
    QueueLoop,
    Wait,
    What,
)
from nkijit.passes.lower.stages import main_stage

WIDEST = 32
"""Columns of waits beyond which a line is not aligned with the others."""


def listing(program: Program) -> str:
    """The listing of a core: a header, then a section for each queue."""
    return "\n".join(_lines(program)) + "\n"


def listing_json(programs: Sequence[Program]) -> str:
    """The listings of a kernel's cores as JSON text."""
    return json.dumps([_program(program) for program in programs], indent=1) + "\n"


# ------------------------------------------------------------------ text


def _lines(program: Program) -> Iterator[str]:
    yield from _header(program)
    texts = Texts(program)
    for queue, items in program.queues.items():
        count = sum(1 for item in program.items(queue) if isinstance(item, Instruction))
        yield ""
        yield f"{queue.name}: {_counted(count, 'instruction')}"
        waits = [len(texts.waits(item)) for item in program.items(queue) if item.waits]
        width = max([w for w in waits if w <= WIDEST], default=0)
        yield from _rows(items, texts, width, "  ")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _header(program: Program) -> Iterator[str]:
    kernel, target, placed = program.kernel, program.target, program.placement
    yield f"kernel {kernel.sym_name.data}, {target.platform} (NeuronCore-v{target.version.value})"
    waits = sum(len(item.waits) for queue in program.queues for item in program.items(queue))
    signals = sum(program.signals.values())
    yield (
        f"{_counted(len(program.instructions), 'instruction')}, {_counted(waits, 'wait')}, "
        f"{_counted(signals, 'signal')}"
    )
    yield (
        f"SBUF {placed.sbuf_bytes} of {target.sbuf_usable_bytes} bytes per partition, "
        f"PSUM {placed.psum_bytes} of {target.psum_partition_bytes}"
    )


def _rows(items: Sequence[Item], texts: Texts, width: int, indent: str) -> Iterator[str]:
    for item in items:
        waits = texts.waits(item)
        signal = f"  signal({item.signal})" if item.signal else ""
        if isinstance(item, Instruction):
            row = f"{indent}{item.number:>5}  {waits:<{width}}  {texts.instruction(item)}{signal}"
            place = texts.place(item.op)
            yield f"{row}  {place}" if place else row.rstrip()
        elif isinstance(item, QueueLoop):
            head = f"{waits}  " if waits else ""
            yield f"{indent}{head}{texts.loop(item.body.op)} {{"
            yield from _rows(item.items, texts, width, indent + "  ")
            yield f"{indent}}}{signal}"


@dataclass(frozen=True, slots=True)
class ListedOperand:
    """An operand of an engine instruction: a tile with its address, or a number or register."""

    text: str
    data: dict[str, Any]


class Texts:
    """What the parts of a program are called; equal parts are put into words once."""

    def __init__(self, program: Program):
        self._program = program
        self._durations = Durations(program.target)
        self._names = Names(program.kernel)
        self._placement = program.placement
        self._operands: dict[int, ListedOperand] = {}
        self._immediates: dict[int, tuple[tuple[str, str], ...]] = {}
        self._places: dict[int, str] = {}
        self._stages: dict[tuple[type[NisaOp], bytes, int], tuple[tuple[str, int], ...]] = {}

    def waits(self, item: Item) -> str:
        """The semaphores that something waits for."""
        if not item.waits:
            return ""
        return f"wait({', '.join(map(wait_text, item.waits))})"

    def instruction(self, instruction: Instruction) -> str:
        """The mnemonic and what it works on."""
        parts = [f"{name}={operand.text}" for name, operand in self.operands(instruction)]
        parts += [f"{name}={value}" for name, value in self.immediates(instruction)]
        return f"{instruction.mnemonic:<21} {', '.join(parts)}".rstrip()

    def operands(self, instruction: Instruction) -> Iterator[tuple[str, ListedOperand]]:
        """The operands, those that are written first."""
        op = instruction.op
        if isinstance(op, DevicePrintOp):
            yield "tensor", self.operand(op.tensor)
        if not is_instruction(op) or instruction.stage < 0:
            return
        values = op._operands  # pyright: ignore[reportPrivateUsage]
        for name, position in self._places_of(op, instruction.stage):
            yield name, self.operand(values[position])

    def _places_of(self, op: NisaOp, stage: int) -> tuple[tuple[str, int], ...]:
        """Names and positions of the operands of a stage: the same for all with the same ones."""
        key = (type(op), op.segment_bytes, stage)
        found = self._stages.get(key)
        if found is None:
            segments = op.segments
            fields = [op.SPEC.by_name[name] for name in op.SPEC.stages[stage].operands]
            found = self._stages[key] = tuple(
                (f.name, position)
                for f in fields
                for position in ((f.index,) if segments is None else segments[f.index])
            )
        return found

    def transfer(self, instruction: Instruction) -> dict[str, Any]:
        """Of a transfer: into how many descriptors, over how many DMA engines, it is split."""
        if instruction.what is not What.transfer:
            return {}
        split = self._durations.transfer(instruction)
        return {
            "transfer": {
                "descriptors": split.descriptors,
                "descriptor_bytes": split.descriptor_bytes,
                "engines": split.engines,
                "generation": split.mode.name,
            }
        }

    def immediates(self, instruction: Instruction) -> tuple[tuple[str, str], ...]:
        """Compile-time arguments; the last stage of an instruction that always runs has them."""
        op, what = instruction.op, instruction.what
        if what is What.load_table:
            return (("table", instruction.table),)
        if what is What.trigger:
            transfer = self._program.instructions[instruction.number + 1]
            return (("transfer", f"{transfer.queue.name} @{transfer.number}"),)
        if what is What.print:
            return (("prefix", json.dumps(cast(DevicePrintOp, op).prefix.data)),)
        if what is What.test:
            return (("loop", self._names.iterations(cast("ForOp | WhileOp", op))),)
        known = self._immediates.get(instruction.like)
        if known is None:
            known = self._immediates[instruction.like] = tuple(
                _immediates(cast(NisaOp, op), instruction.stage)
            )
        if is_instruction(op) and op.label and instruction.stage == main_stage(type(op)):
            known = (*known, ("name", json.dumps(op.label)))
        if instruction.parts > 1:
            known = (*known, ("part", f"{instruction.part + 1} of {instruction.parts}"))
        if instruction.weights is not None:
            return (*known, ("weights", f"@{instruction.weights.number}"))
        return known

    def operand(self, value: SSAValue) -> ListedOperand:
        """A tile with its address, or a number, or a register."""
        found = self._operands.get(id(value))
        if found is None:
            found = self._operands[id(value)] = self._tile(value)
        return found

    def loop(self, op: ForOp | WhileOp) -> str:
        """The head of a loop."""
        return self._names.loop(op)

    def iterations(self, op: ForOp | WhileOp) -> str:
        """How often a loop runs."""
        return self._names.iterations(op)

    def place(self, op: Operation) -> str:
        """The line of the author's file that an operation comes from."""
        location = op.location
        found = self._places.get(id(location))
        if found is None:
            at = next(iter(positions(location)), None)
            found = "" if at is None else f"{PurePath(at.file).name}:{at.line}"
            self._places[id(location)] = found
        return found

    def _tile(self, value: SSAValue) -> ListedOperand:
        if not is_tile(value):
            text = self._names.number(value)
            return ListedOperand(text, {"value": text})
        info, base, access = info_of(value), base_of(value), access_of(value)
        partitions = ""
        if info.region.on_chip:
            owner = base.owner
            assert isinstance(owner, AllocOp)
            top, byte = self._placement.addresses.get(owner, (0, 0))
            down, along = start_of(value, access)
            first, top = byte + along, top + down
            partitions = f"{top}:{top + info.partitions}"
            pairs = list(zip(access.strides[1:], access.shape[1:], strict=True))
        else:
            first = access.offset * info.dtype.itemsize
            pairs = list(zip(access.strides, access.shape, strict=True))
        pattern = " ".join(f"{stride}:{count}" for stride, count in pairs) or "1:1"
        address, index = f"{info.region.value} {first}", self._index(value)
        if index:
            address += f" + {index}"
        parts = [address, *([partitions] if partitions else []), pattern, info.dtype.name]
        name = self._names.of(base)
        return ListedOperand(
            f"{name}[{', '.join(parts)}]",
            {
                "name": name,
                "buffer": info.region.value,
                "address": first,
                **({"partitions": partitions} if partitions else {}),
                "pattern": pairs,
                "dtype": info.dtype.name,
                **({"index": index} if index else {}),
            },
        )

    def _index(self, value: SSAValue) -> str:
        """What an address known at run time adds, in bytes."""
        owner = value.owner
        dynamic = owner.dynamic if isinstance(owner, ViewOp) else None
        if dynamic is None:
            return ""
        step = dynamic.scale * info_of(value).dtype.itemsize
        return f"{dynamic.indirection.name} {self.operand(dynamic.index).text}*{step}"


def wait_text(wait: Wait) -> str:
    """A semaphore that is waited for: the queue, and what it has counted to."""
    previous = "previous " if wait.carried else ""
    return f"{previous}{wait.queue.name}>={wait.before.signal}"


def _immediates(op: NisaOp, stage: int) -> Iterator[tuple[str, str]]:
    if stage != main_stage(type(op)):
        return
    for f in op.SPEC.fields:
        attr = op.properties.get(f.name)
        if isinstance(f.kind, PropertyKind) and attr is not None:
            value = f.kind.decode(attr)
            if value not in op.SPEC.engines:  # else said by the queue
                yield f.name, _shown(getattr(value, "name", value))


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        items = cast(tuple[object, ...], value)
        return f"[{', '.join(map(_shown, items))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


# ------------------------------------------------------------------ JSON


def _program(program: Program) -> dict[str, Any]:
    kernel, target, placed = program.kernel, program.target, program.placement
    texts = Texts(program)
    return {
        "kernel": kernel.sym_name.data,
        "target": target.platform,
        "core": kernel.core[0],
        "sbuf_bytes": placed.sbuf_bytes,
        "psum_bytes": placed.psum_bytes,
        "queues": {
            queue.name: [_item(item, texts) for item in items]
            for queue, items in program.queues.items()
        },
    }


def _item(item: Item, texts: Texts) -> dict[str, Any]:
    waits = [
        {
            "queue": wait.queue.name,
            "count": wait.before.signal,
            "previous_iteration": wait.carried,
            "dependence": None if wait.kind is None else wait.kind.value,
            "for": _reason(wait, texts),
        }
        for wait in item.waits
    ]
    common: dict[str, Any] = {"waits": waits, "signal": item.signal}
    if isinstance(item, QueueLoop):
        inside = [_item(inner, texts) for inner in item.items]
        return {"loop": texts.iterations(item.body.op), **common, "items": inside}
    assert isinstance(item, Instruction)
    return {
        "number": item.number,
        "mnemonic": item.mnemonic,
        "instruction": item.op.name,
        **common,
        "operands": [{"field": f, **operand.data} for f, operand in texts.operands(item)],
        "immediates": dict(texts.immediates(item)),
        **texts.transfer(item),
        "source": [str(position) for position in positions(item.op.location)],
    }


def _reason(wait: Wait, texts: Texts) -> str | None:
    if wait.value is None:
        return None
    return texts.operand(wait.value).text
