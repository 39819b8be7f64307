"""The `@instruction` decorator, which declares instructions.

An instruction is one op class. Its body lists its fields (`declare/fields.py`) in the order of the
public API's signature; the `Args` of the API function document them. `@instruction` adds engines,
first generation, rules and costs, and derives the xDSL definition, the textual form, the encoding
of arguments, and the effects. Every other layer reads the resulting `InstructionSpec`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

from xdsl.irdl import AttrSizedOperandSegments, irdl_op_definition

from nkijit.dialects.declare.accessors import with_direct_accessors
from nkijit.dialects.declare.kinds import OperandKind, PropertyKind
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.spec import (
    Accumulators,
    EngineChoice,
    Field,
    InstructionSpec,
    Rule,
    Stage,
)
from nkijit.dialects.hardware.words import engine, nc_version

_OpT = TypeVar("_OpT", bound=NisaOp)


def instruction(
    *,
    engines: tuple[engine, ...],
    rules: tuple[Rule, ...],
    stages: tuple[Stage, ...],
    since: nc_version = nc_version.gen2,
    accumulators: Accumulators | None = None,
    select_engine: EngineChoice | None = None,
    transposes: bool = False,
    per_partition: bool = False,
) -> Callable[[type[_OpT]], type[_OpT]]:
    """Declare an instruction.

    Args:
        engines: engines that can run the instruction, the default first.
        rules: the documented restrictions, checked by the verification passes.
        stages: the engine instructions to which the instruction is lowered, in order.
        since: the first NeuronCore generation that has the instruction.
        accumulators: the use of the engine's accumulator registers, if any.
        select_engine: chooses among `engines` when the user does not.
        transposes: True if the instruction always only permutes dimensions.
        per_partition: True if the instruction computes each partition alone, in the same way.
    """

    def declare(cls: type[_OpT]) -> type[_OpT]:
        fields: list[Field] = []
        operands = 0
        for name, definition in list(cls.__dict__.items()):
            kind = getattr(definition, "param", None)
            if isinstance(kind, OperandKind):
                fields.append(Field(name, kind, operands))
                operands += 1
            elif isinstance(kind, PropertyKind):
                fields.append(Field(name, kind, -1))
        spec = InstructionSpec(
            name=cls.name.partition(".")[2],
            fields=tuple(fields),
            engines=engines,
            since=since,
            rules=rules,
            stages=stages,
            accumulators=accumulators,
            select_engine=select_engine,
            transposes=transposes,
            per_partition=per_partition,
        )
        if spec.has_segments:
            options = (AttrSizedOperandSegments(as_property=True),)
            setattr(cls, "irdl_options", options)  # noqa: B010
        defined = with_direct_accessors(irdl_op_definition(cls))
        defined.SPEC = spec
        return defined

    return declare


def declared_in(module: ModuleType) -> tuple[type[NisaOp], ...]:
    """The instructions that a module declares, in source order."""
    members: list[object] = list(vars(module).values())
    return tuple(
        member
        for member in members
        if isinstance(member, type)
        and issubclass(member, NisaOp)
        and member.__module__ == module.__name__
    )
