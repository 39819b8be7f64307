"""Texts for the parts of a lowered program, in listings and reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.kinds import PropertyKind
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import DevicePrintOp
from nkijit.dialects.nki.views import ViewOp, access_of, base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.analysis.bytes.rows import start_of
from nkijit.passes.diagnostics.places import positions
from nkijit.passes.lower.durations import Durations
from nkijit.passes.lower.names import Names
from nkijit.passes.lower.program import EngineInstruction, Item, Program, Wait, What


@dataclass(frozen=True, slots=True)
class ListedOperand:
    """An operand of an engine instruction: a tile with its address, a number, or a register."""

    text: str
    data: dict[str, Any]


class Texts:
    """Texts for the parts of a program, cached for equal parts."""

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
        """Format the semaphores that an item waits for."""
        if not item.waits:
            return ""
        return f"wait({', '.join(map(wait_text, item.waits))})"

    def instruction(self, instruction: EngineInstruction) -> str:
        """Format the mnemonic, the operands and the immediates of an instruction."""
        parts = [f"{name}={operand.text}" for name, operand in self.operands(instruction)]
        parts += [f"{name}={value}" for name, value in self.immediates(instruction)]
        return f"{instruction.mnemonic:<21} {', '.join(parts)}".rstrip()

    def operands(self, instruction: EngineInstruction) -> Iterator[tuple[str, ListedOperand]]:
        """Yield the operands with their names, written operands first."""
        op = instruction.op
        if isinstance(op, DevicePrintOp):
            yield "tensor", self.operand(op.tensor)
        if not is_instruction(op) or instruction.stage < 0:
            return
        values = operand_tuple(op)
        for name, position in self._places_of(op, instruction.stage):
            yield name, self.operand(values[position])

    def _places_of(self, op: NisaOp, stage: int) -> tuple[tuple[str, int], ...]:
        """Return the (name, position) of each operand of a stage.

        Cached by the class and the operand segments of `op`.
        """
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

    def transfer(self, instruction: EngineInstruction) -> dict[str, Any]:
        """Return a mapping from `transfer` to the descriptors and DMA engines of a transfer.

        Returns {} for instructions that are no transfers.
        """
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

    def immediates(self, instruction: EngineInstruction) -> tuple[tuple[str, str], ...]:
        """Return the (name, text) of each immediate; NKI arguments belong to the main stage."""
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
        if is_instruction(op) and op.label and instruction.stage == op.SPEC.main_stage:
            known = (*known, ("name", json.dumps(op.label)))
        if instruction.parts > 1:
            known = (*known, ("part", f"{instruction.part + 1} of {instruction.parts}"))
        if instruction.weights is not None:
            return (*known, ("weights", f"@{instruction.weights.number}"))
        return known

    def operand(self, value: SSAValue) -> ListedOperand:
        """Describe an operand: a tile with its address, a number, or a register."""
        found = self._operands.get(id(value))
        if found is None:
            found = self._operands[id(value)] = self._tile(value)
        return found

    def loop(self, op: ForOp | WhileOp) -> str:
        """Format the head of a loop; see `Names.loop`."""
        return self._names.loop(op)

    def iterations(self, op: ForOp | WhileOp) -> str:
        """Format the index and bounds of a loop, or its condition; see `Names.iterations`."""
        return self._names.iterations(op)

    def place(self, op: Operation) -> str:
        """Return the source line of an operation."""
        location = op.location
        found = self._places.get(id(location))
        if found is None:
            at = next(iter(positions(location)), None)
            found = "" if at is None else at.brief
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
        """Format the offset in bytes that is added to an address at run time; empty without one."""
        owner = value.owner
        dynamic = owner.dynamic if isinstance(owner, ViewOp) else None
        if dynamic is None:
            return ""
        step = dynamic.scale * info_of(value).dtype.itemsize
        return f"{dynamic.indirection.name} {self.operand(dynamic.index).text}*{step}"


def wait_text(wait: Wait) -> str:
    """Format a semaphore wait: the queue, and the count to wait for."""
    previous = "previous " if wait.carried else ""
    return f"{previous}{wait.queue.name}>={wait.before.signal}"


def _immediates(op: NisaOp, stage: int) -> Iterator[tuple[str, str]]:
    if stage != op.SPEC.main_stage:
        return
    for f in op.SPEC.fields:
        attr = op.properties.get(f.name)
        if isinstance(f.kind, PropertyKind) and attr is not None:
            value = f.kind.decode(attr)
            if value not in op.SPEC.engines:  # the queue's name is the engine
                yield f.name, _shown(getattr(value, "name", value))


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        items = cast(tuple[object, ...], value)
        return f"[{', '.join(map(_shown, items))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
