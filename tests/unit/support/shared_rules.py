"""Rules that many instructions share, tried on every operand of an instruction.

A form is the text of an instruction with types in place of names:

    nisa.reciprocal dst=<128x64xf32, #nki.sbuf>, data=<128x64xf32, #nki.sbuf>

`Form.broken` changes one property of one operand at a time (its memory, data type, partitions,
elements, dimensions), then the engine and the target, and lists the shared rules that each change
breaks, with the operands that the finding names. `shared_rules.txt` has the forms of all
instructions, each with its broken rules below.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations

from support.paths import ROOT
from xdsl.ir import SSAValue

from nkijit.dialects.attributes import EngineAttr
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import HBM
from nkijit.dialects.dtypes import DTYPES, DType, Kind
from nkijit.dialects.hardware.words import MemoryRegion, engine
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.rule_texts.operands import (
    BOTH_PSUM,
    BUFFER,
    COMPUTABLE,
    DTYPE,
    GPSIMD_PSUM,
    SAME_DTYPE,
)
from nkijit.dialects.rule_texts.shapes import (
    COLUMN,
    FREE_SIZE,
    FREE_SIZE_RANGE,
    MAX_DIMS,
    PARTITIONS,
)
from nkijit.dialects.rule_texts.targets import ENGINE, GENERATION
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.dialects.tiles import allocation_type, info_of, is_tile
from nkijit.ir.text import parse
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.verify.passes import VerifyInstructionsPass

TARGET = "trn3"
OLDER_TARGETS = ("trn1", "trn2")
MANY_DIMS = 6
MORE, FEWER = "more elements", "fewer elements"
TABLE = ROOT / "tests" / "unit" / "dialects" / "shared_rules.txt"


@dataclass(frozen=True)
class _Tile:
    """The allocation of an operand."""

    shape: tuple[int, ...]
    dtype: DType
    region: MemoryRegion


@dataclass(frozen=True)
class Change:
    """Operands that become other tiles, or another engine."""

    rules: tuple[RuleText, ...]
    """The rules that it is about; others are left to their own tests."""
    subject: str
    """The operand, operands or property."""
    value: str
    """The new value."""
    tiles: Mapping[int, _Tile] = field(default_factory=dict[int, "_Tile"])
    engine: engine | None = None


Broken = dict[tuple[str, str], dict[str, list[str]]]
"""By rule and named operands, joined by `+`: the changes that break it, values by subject."""


class Form:
    """An instruction with given operands, alone in a kernel."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kernel = self._kernel(TARGET)
        (self.op,) = (op for op in self.kernel.operations if isinstance(op, NisaOp))
        self._tiles = {
            position: (f"{f.name}[{number}]" if f.variadic else f.name, _tile(value))
            for f, positions in zip(self.op.SPEC.operand_fields, self._positions(), strict=True)
            for number, position in enumerate(positions)
            if is_tile(value := self.op.operands[position])
        }

    @property
    def operands(self) -> list[str]:
        """The names of the operands that are tiles."""
        return [name for name, _ in self._tiles.values()]

    def broken(self) -> Broken:
        """The shared rules that changes break."""
        found: Broken = {}
        for change, kernel in self.variants():
            for finding in findings(kernel):
                if finding.rule in change.rules:
                    named = "+".join(operand.name for operand in finding.operands)
                    changes = found.setdefault((finding.rule.id, named), {})
                    changes.setdefault(change.subject, []).append(change.value)
        return found

    def variants(self) -> Iterator[tuple[Change, KernelOp]]:
        """Each change, with the kernel as it is after it and until the next one."""
        for change in self._changes():
            with self._changed(change):
                yield change, self.kernel
        for target in OLDER_TARGETS:
            yield Change((GENERATION,), "target", target), self._kernel(target)

    def _kernel(self, target: str) -> KernelOp:
        lines: list[str] = []

        def named(match: re.Match[str]) -> str:
            held = match[1]
            source = f"nki.alloc : memref<{held}>" if "#" in held else f"arith.constant {held}"
            lines.append(f"%v{len(lines)} = {source}")
            return f"%v{len(lines) - 1}"

        instruction = re.sub(r"<([^<>]+)>", named, self.text)
        body = "\n".join([*lines, instruction])
        (kernel,) = kernels_of(parse(f"nki.kernel @k() target={target} {{\n{body}\nnki.return\n}}"))
        return kernel

    def _positions(self) -> Sequence[range]:
        """The positions of each operand's values."""
        one_each = [range(i, i + 1) for i in range(len(self.op.operands))]
        return self.op.segments or one_each

    @contextmanager
    def _changed(self, change: Change) -> Generator[None]:
        """The form with a change, which is undone."""
        op, block = self.op, self.op.parent_block()
        assert block is not None
        operands, properties = list(op.operands), dict(op.properties)
        allocations: list[AllocOp] = []
        for position, tile in change.tiles.items():
            alloc = AllocOp.of(allocation_type(tile.dtype, tile.shape, tile.region))
            block.insert_op_before(alloc, op)
            op.operands[position] = alloc.result
            allocations.append(alloc)
        if change.engine is not None:
            op.properties["engine"] = EngineAttr.of(change.engine)
        try:
            yield
        finally:
            op.operands = operands
            op.properties.clear()
            op.properties.update(properties)
            for alloc in allocations:
                block.erase_op(alloc)

    def _changes(self) -> Iterator[Change]:
        tiles = self._tiles
        for position, (name, tile) in tiles.items():
            for rules, value, changed in _changes_of(tile):
                yield Change(rules, name, value, {position: changed})
        psum = MemoryRegion.psum
        for (i, (first, a)), (j, (second, b)) in combinations(tiles.items(), 2):
            changed = {i: replace(a, region=psum), j: replace(b, region=psum)}
            yield Change((BOTH_PSUM,), f"{first}, {second}", "psum", changed)
        if not self.op.declares("engine"):
            return
        for runs_on in engine:
            yield Change((ENGINE,), "engine", runs_on.name, engine=runs_on)
        for position, (name, tile) in tiles.items():
            changed = {position: replace(tile, region=psum)}
            yield Change((GPSIMD_PSUM,), name, "psum on gpsimd", changed, engine.gpsimd)


def _tile(value: SSAValue) -> _Tile:
    info = info_of(value)
    return _Tile(info.shape, info.dtype, info.region)


def _changes_of(tile: _Tile) -> Iterator[tuple[tuple[RuleText, ...], str, _Tile]]:
    """A tile with one property changed: the rules that this is about, the property, the tile."""
    for region in MemoryRegion:
        yield (BUFFER, GPSIMD_PSUM), region.value, replace(tile, region=region)
    for dtype in DTYPES.values():
        yield (DTYPE, COMPUTABLE, SAME_DTYPE), dtype.name, replace(tile, dtype=dtype)
    partitions, *free = tile.shape
    shape = (partitions // 2 or 2, *free)
    yield (PARTITIONS, COLUMN), "other partitions", replace(tile, shape=shape)
    if free:
        rules = (FREE_SIZE, FREE_SIZE_RANGE, COLUMN)
        shape = (*tile.shape[:-1], 2 * free[-1])
        yield rules, MORE, replace(tile, shape=shape)
        if free[-1] % 2 == 0:
            shape = (*tile.shape[:-1], free[-1] // 2)
            yield rules, FEWER, replace(tile, shape=shape)
    shape = (partitions, *(1,) * (MANY_DIMS - len(tile.shape)), *free)
    yield (MAX_DIMS,), f"{MANY_DIMS} dimensions", replace(tile, shape=shape)


def findings(kernel: KernelOp) -> list[Diagnostic]:
    """The findings of the rules that instructions declare."""
    return list(VerifyInstructionsPass().find(kernel))


_GROUPS = (
    ("hbm", [region.value for region in HBM]),
    ("packed types", [name for name, dtype in DTYPES.items() if dtype.kind is Kind.packed]),
    ("other numbers of elements", [MORE, FEWER]),
)
_CHOICES = ([region.value for region in MemoryRegion], list(DTYPES))


def lines(broken: Broken) -> list[str]:
    """Broken rules as text; operands that differ in nothing else share a line."""
    operands: dict[tuple[str, str], list[str]] = {}
    for (rule, named), changes in sorted(broken.items()):
        shown = "; ".join(
            _values(values) if subject == named or not named else f"{subject} {_values(values)}"
            for subject, values in changes.items()
        )
        operands.setdefault((rule, shown), []).append(named)
    return [
        f"{rule} {', '.join(named)}".rstrip() + f": {shown}"
        for (rule, shown), named in operands.items()
    ]


def _values(values: list[str]) -> str:
    """A list of values, or of those that are not in it if they are fewer."""
    for known in _CHOICES:
        others = [value for value in known if value not in values]
        if values[0] in known and 0 < len(others) < len(values):
            return f"any but {', '.join(others)}"
    text = ", ".join(values)
    for name, members in _GROUPS:
        text = text.replace(", ".join(members), name)
    return text


def table() -> dict[str, list[str]]:
    """The forms of `shared_rules.txt`, each with its lines."""
    forms: dict[str, list[str]] = {}
    for block in TABLE.read_text(encoding="utf-8").split("\n\n"):
        form, *broken = block.strip().split("\n    ")
        forms[form] = broken
    return forms


@cache
def form_of(text: str) -> Form:
    return Form(text)
