"""Rules about a kernel as a whole."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import ISA, rule

ACCUMULATOR_UNDEFINED = rule(
    "accumulator-undefined",
    "dataflow",
    "An instruction that continues on, or reads, an engine's accumulators needs them defined: "
    "reset or reduced into by an earlier instruction, and not clobbered since.",
    "start with reduce_cmd.reset_reduce",
    ISA,
)
ACCUMULATOR_MIXED = rule(
    "accumulator-mixed",
    "dataflow",
    "A reduction continues with the operator that the accumulators were reset for.",
    "start the new reduction with reduce_cmd.reset_reduce",
    ISA,
)
PSUM_ACCUMULATE = rule(
    "psum-accumulate",
    "dataflow",
    "A matmul with accumulate=True adds to what has been written in PSUM before; up to "
    "NeuronCore-v3, to what a matmul has written.",
    "use accumulate=False (or None) for the first matmul of a group",
    ISA,
)
