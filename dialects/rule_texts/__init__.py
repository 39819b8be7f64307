"""What is said about every rule: id, category, sentence, way out, source.

`nkijit explain` prints these; diagnostics carry the id and the way out. The checks stand in
`declare/rules/` (rules that ops declare) and in the passes that look at whole kernels.
"""

from nkijit.dialects.rule_texts import (
    access,
    classic,
    classic_kernels,
    cores,
    dataflow,
    hazards,
    initialisation,
    lint,
    memory,
    operands,
    operators,
    portability,
    shapes,
    suppressions,
    targets,
)
from nkijit.dialects.rule_texts.registry import RULE_TEXTS

__all__ = [
    "RULE_TEXTS",
    "access",
    "classic",
    "classic_kernels",
    "cores",
    "dataflow",
    "hazards",
    "initialisation",
    "lint",
    "memory",
    "operands",
    "operators",
    "portability",
    "shapes",
    "suppressions",
    "targets",
]
