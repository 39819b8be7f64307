"""Rules about features of generations and engines."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import ISA, rule

GENERATION = rule(
    "generation",
    "target",
    "An instruction runs only on NeuronCore generations that have it.",
    "choose another instruction, or trace for a newer target with platform_target=",
    ISA,
)
OPERATOR_GENERATION = rule(
    "operator-generation",
    "target",
    "An operator runs only on NeuronCore generations that have it.",
    "choose another operator, or trace for a newer target with platform_target=",
    "NKI 0.4.0 release notes",
)
ARGUMENT_GENERATION = rule(
    "argument-generation",
    "target",
    "Some argument values exist only from a NeuronCore generation on.",
    "leave the argument at its default, or trace for a newer target with platform_target=",
    ISA,
)
ENGINE = rule(
    "engine",
    "target",
    "The engine= argument names an engine that can run the instruction.",
    "leave engine= out, or pass one that the message lists",
    ISA,
)
ENGINE_OPERATOR = rule(
    "engine-operator",
    "target",
    "Each engine runs the operators, or pairs of operators, that it has.",
    "leave engine= out, or pass the operator to another engine, e.g. engine=nisa.engine.vector",
    ISA,
)
