"""The declaration of an instruction as data: fields, rules, stages, accumulators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from nkijit.dialects.declare.cost import StageCost
from nkijit.dialects.declare.kinds import OperandKind, PropertyKind, Role
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion, engine, nc_version
from nkijit.dialects.rule_texts.text import RuleText


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The choice of the engine that runs an instruction, when the user makes none."""

    words: str
    """The choice in words, e.g. `tensor for …, else vector`."""
    choose: Callable[[Any, Target], engine]


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of an instruction."""

    name: str
    kind: OperandKind | PropertyKind
    index: int
    """The operand's position among the operands; -1 for a property."""

    @property
    def is_operand(self) -> bool:
        return self.index >= 0

    @property
    def required(self) -> bool:
        return self.kind.required

    @property
    def default(self) -> Any:
        return self.kind.default

    @property
    def role(self) -> Role | None:
        """How the instruction accesses an operand; None for a property."""
        return self.kind.role if isinstance(self.kind, OperandKind) else None

    @property
    def variadic(self) -> bool:
        return isinstance(self.kind, OperandKind) and self.kind.variadic

    @property
    def accepts_tile(self) -> bool:
        return isinstance(self.kind, OperandKind) and self.kind.accepts_tile


@dataclass(frozen=True, slots=True)
class Violation:
    """A report that an op breaks a rule."""

    message: str
    operands: tuple[str, ...] = ()
    """Names of the fields that break the rule."""
    help: str | None = None
    """A fix that is more specific than the help of the rule; None to show the rule's."""


Check = Callable[[Any, Target], Violation | None]
"""A function that returns how an operation breaks a rule on a target; None if it does not."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The buffers and data types that a rule allows for operands; None allows all."""

    operands: tuple[str, ...]
    buffers: tuple[MemoryRegion, ...] | None = None
    dtypes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """The condition under which an argument has an effect."""

    field: str
    condition: str
    """Completes the sentence "The argument has an effect only …"."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as declared for one op.

    Instructions with equal types and arguments are checked once. So `check` must depend only on:
    types, properties, scalar constants, fixed addresses, and which operands share an allocation.
    About the start of a tile, it may use the partition and, in PSUM, the byte. Between tiles of one
    allocation, it may compare the complete starts.
    """

    text: RuleText
    check: Check
    limits: Limits | None = None
    """The limits that `check` enforces, shown by `nkijit explain`."""
    by_offset: bool = False
    """True for a rule about the offset of a view or the address of an allocation.

    The rule is checked for every operation, not only once for equal operations.
    """
    effect: Effect | None = None
    """The condition without which `check` reports an argument, shown by `nkijit explain`."""


@dataclass(frozen=True, slots=True)
class Accumulators:
    """How an instruction uses the accumulator registers of its engine.

    `idle_clobbers`: with `reduce_cmd.idle` the registers are undefined afterwards. `operator` is
    the reduction of an instruction that supports only one operator; otherwise `operator_field` is
    the field with the operator. `command` is the command of an instruction without a `reduce_cmd`
    field. `initial_field` is the operand that `reduce_cmd.load_reduce` loads. `optional`: without a
    reduction the registers are unchanged, regardless of `reduce_cmd`.
    """

    engine: engine
    idle_clobbers: bool = False
    operator: str | None = None
    command: Enum | None = None
    operator_field: str = "reduce_op"
    initial_field: str = "reduce_init"
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """One of the engine instructions that an NKI instruction is lowered to.

    `operands` are the fields that it touches. A stage with `when` (an operand's name) is emitted
    only if that operand is present. `parts` returns the number of instructions that share the
    stage's work equally; None means one.
    """

    mnemonic: str
    operands: tuple[str, ...]
    cost: StageCost
    when: str | None = None
    parts: Callable[[Any], int] | None = None


@dataclass(frozen=True)
class InstructionSpec:
    """The complete declaration of an instruction."""

    name: str
    """The instruction's name in `nki.isa`."""
    fields: tuple[Field, ...]
    engines: tuple[engine, ...]
    """The engines that can run the instruction, the default first."""
    since: nc_version
    rules: tuple[Rule, ...]
    stages: tuple[Stage, ...]
    accumulators: Accumulators | None
    select_engine: EngineChoice | None
    """The choice among the engines when the user makes none; None for always the default."""
    transposes: bool
    """True when the instruction always only permutes dimensions.

    An instruction that transposes on request has the argument `is_transpose` instead.
    """
    per_partition: bool
    """True when the instruction computes each partition independently, in the same way."""
    by_name: Mapping[str, Field] = field(init=False)
    operand_fields: tuple[Field, ...] = field(init=False)
    has_segments: bool = field(init=False)
    main_stage: int = field(init=False)
    """Index of the last stage that always runs; the instruction ends when this stage ends."""

    def __post_init__(self) -> None:
        operand_fields = tuple(f for f in self.fields if f.is_operand)
        object.__setattr__(self, "by_name", {f.name: f for f in self.fields})
        object.__setattr__(self, "operand_fields", operand_fields)
        segments = any(not f.required or f.variadic for f in operand_fields)
        object.__setattr__(self, "has_segments", segments)
        main = max(number for number, stage in enumerate(self.stages) if stage.when is None)
        object.__setattr__(self, "main_stage", main)
