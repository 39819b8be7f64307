"""Texts of all rules: id, category, sentence, help, source.

`nkijit explain` prints all of these texts; findings show the id and the help. The checks are in
`declare/rules/` (rules that ops declare) and in the passes that verify whole kernels.
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
    python,
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
    "python",
    "shapes",
    "suppressions",
    "targets",
]
