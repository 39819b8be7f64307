"""What is declared of an instruction: fields, rules, stages, accumulators."""

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
class Field:
    """One argument of an instruction, in the order of the public signature."""

    name: str
    kind: OperandKind | PropertyKind
    index: int
    """Position among the operands, or -1 for a property."""

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
        """What is done with an operand; None for a property."""
        return self.kind.role if isinstance(self.kind, OperandKind) else None

    @property
    def variadic(self) -> bool:
        return isinstance(self.kind, OperandKind) and self.kind.variadic

    @property
    def accepts_tile(self) -> bool:
        return isinstance(self.kind, OperandKind) and self.kind.accepts_tile


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that an op breaks."""

    message: str
    operands: tuple[str, ...] = ()
    """Names of the fields that the message is about."""
    help: str | None = None
    """A way out that is more exact than the rule's own."""


Check = Callable[[Any, Target], Violation | None]
"""What is wrong with an operation on a target; None for nothing."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What operands may be, where a rule lists it; None stands for anything."""

    operands: tuple[str, ...]
    buffers: tuple[MemoryRegion, ...] | None = None
    dtypes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as one op declares it.

    It may look at types, properties and scalar constants, at which operands share an allocation,
    and at fixed addresses. Of where a tile begins it may look at the partition, and in PSUM at the
    byte; at all of it for tiles of one allocation. So instructions of one form are judged once.
    """

    text: RuleText
    check: Check
    limits: Limits | None = None
    """What `check` compares with, for explaining an instruction."""
    by_offset: bool = False
    """Of views, it looks at where they begin: each is judged by itself."""


@dataclass(frozen=True, slots=True)
class Accumulators:
    """How an instruction uses the accumulator registers of its engine.

    `idle_clobbers` says that with `reduce_cmd.idle` the registers are undefined afterwards.
    `operator` is the reduction when the instruction has only one, `command` the command when it
    has no `reduce_cmd` field. `operator_field` names the reduction's field otherwise, and
    `initial_field` what `reduce_cmd.load_reduce` loads. `optional` says that without a reduction
    the registers are left alone, whatever `reduce_cmd` is.
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
    """One engine instruction that an NKI instruction becomes.

    `operands` are the fields that it touches; a stage is emitted when `when` (an operand's name)
    is given, always when it is None. `parts` says into how many instructions it is split, which do
    an equal part of the work each.
    """

    mnemonic: str
    operands: tuple[str, ...]
    cost: StageCost
    when: str | None = None
    parts: Callable[[Any], int] | None = None


@dataclass(frozen=True)
class InstructionSpec:
    """Everything that is declared of an instruction."""

    name: str
    """The name in `nki.isa`."""
    fields: tuple[Field, ...]
    engines: tuple[engine, ...]
    """Engines that can run it; the first is the choice when nothing speaks against it."""
    since: nc_version
    rules: tuple[Rule, ...]
    stages: tuple[Stage, ...]
    accumulators: Accumulators | None
    select_engine: Callable[[Any, Target], engine] | None
    transposes: bool
    """It permutes dimensions and computes nothing. What does so only when it is asked to has an
    argument `is_transpose`."""
    per_partition: bool
    """It does the same in every partition, with what is in that partition."""
    by_name: Mapping[str, Field] = field(init=False)
    operand_fields: tuple[Field, ...] = field(init=False)
    has_segments: bool = field(init=False)
    main_stage: int = field(init=False)
    """The number of the last stage that always runs: its end is the instruction's."""

    def __post_init__(self) -> None:
        operand_fields = tuple(f for f in self.fields if f.is_operand)
        object.__setattr__(self, "by_name", {f.name: f for f in self.fields})
        object.__setattr__(self, "operand_fields", operand_fields)
        segments = any(not f.required or f.variadic for f in operand_fields)
        object.__setattr__(self, "has_segments", segments)
        main = max(number for number, stage in enumerate(self.stages) if stage.when is None)
        object.__setattr__(self, "main_stage", main)
