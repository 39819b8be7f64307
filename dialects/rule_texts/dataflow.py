"""Rules about the data flow of a whole kernel."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import ARCH, ISA, rule
from nkijit.dialects.rule_texts.text import ErrorKind, WarningGroup

ACCUMULATOR_UNDEFINED = rule(
    "accumulator-undefined",
    "dataflow",
    "An instruction that reads an engine's accumulators, or continues a reduction in them, needs "
    "defined accumulators: an earlier instruction has reset them or reduced into them, and no "
    "instruction has clobbered them since. Each partition of the data has its own accumulator "
    "(lane).",
    "pass reduce_cmd=nisa.reduce_cmd.reset_reduce to the first instruction of the reduction",
    ISA,
    kind=ErrorKind.undefined,
)
ACCUMULATOR_MIXED = rule(
    "accumulator-mixed",
    "dataflow",
    "A reduction continues with the operator with which its accumulators were reset.",
    "pass reduce_cmd=nisa.reduce_cmd.reset_reduce where the new operator begins",
    ISA,
    kind=ErrorKind.undefined,
)
ACCUMULATOR_LOST = rule(
    "accumulator-lost",
    "dataflow",
    "An instruction reads out the accumulators after the last accumulation, before they are reset "
    "or clobbered and before the kernel ends.",
    "continue the reduction with reduce_cmd=nisa.reduce_cmd.reduce, pass reduce_res= to its last "
    "instruction, or do not reduce",
    ISA,
    group=WarningGroup.suspicious,
)
ACCUMULATOR_SHARED = rule(
    "accumulator-shared",
    "dataflow",
    "activation_reduce and other instructions share accumulators; the documents advise against "
    "mixing them in one reduction.",
    "begin the reduction with the instruction that continues it, and "
    "reduce_cmd=nisa.reduce_cmd.reset_reduce",
    f"{ISA}, activation_reduce",
    group=WarningGroup.suspicious,
)
ACCUMULATOR_RESUMED = rule(
    "accumulator-resumed",
    "dataflow",
    "Each lane, which is a partition of the data, has its own accumulator: reduce_cmd.reduce "
    "continues the last reduction of that lane. A reduction that was read out before another one "
    "began in other lanes is complete, and is rarely meant to continue.",
    "give all instructions of a reduction the same partitions, or begin with "
    "reduce_cmd=nisa.reduce_cmd.reset_reduce",
    f"{ISA}, activation",
    group=WarningGroup.suspicious,
)
PSUM_ACCUMULATE = rule(
    "psum-accumulate",
    "dataflow",
    "Every element of the dst of a matmul with accumulate=True has been written before; up to "
    "NeuronCore-v3, by a matmul.",
    "use accumulate=False (or None) for the first matmul of a group",
    f"{ISA}, nc_matmul",
    kind=ErrorKind.undefined,
)
PSUM_OVERWRITTEN = rule(
    "psum-overwritten",
    "dataflow",
    "Up to NeuronCore-v3, a matmul adds to results of the Tensor Engine in PSUM. Adding to values "
    "that another engine has written there is undefined.",
    "write the result to another tile, move the instruction after the last matmul, or add the "
    "parts with nisa.tensor_tensor",
    f"{ISA}, nc_matmul",
    group=WarningGroup.suspicious,
)
PSUM_OPEN_READ = rule(
    "psum-open-read",
    "dataflow",
    "The result of an accumulation group is read only after its last matmul.",
    "read it after the last matmul; for a new group pass accumulate=False, or allocate another "
    "tile",
    f"{ARCH}, accumulation in PSUM",
    group=WarningGroup.suspicious,
)
PSUM_INTERLEAVED = rule(
    "psum-interleaved",
    "dataflow",
    "Accumulation groups that are open at the same time are in PSUM banks of their own: eight "
    "banks per partition allow for eight groups.",
    "finish one group before the next begins, or give each a bank of its own",
    f"{ARCH}, accumulation in PSUM",
    group=WarningGroup.suspicious,
)
REGISTER_BITS = rule(
    "register-bits",
    "dataflow",
    "A register that bounds a loop, selects elements or is computed with is loaded from an "
    "integer tensor: register_load loads the bits of a float without a conversion.",
    "convert the value first: copy it with nisa.tensor_copy into an int32 tile, and load that",
    f"{ISA}, register_load",
    group=WarningGroup.suspicious,
)
