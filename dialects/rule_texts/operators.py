"""Rules about operators, flags and commands, and their combinations."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import ISA, SHARED, rule
from nkijit.dialects.rule_texts.text import WarningGroup

ACTIVATION = rule(
    "activation-function",
    "operator",
    "op is one of the Scalar Engine's activation functions.",
    "pass an activation function, e.g. nl.exp or nl.gelu; operators such as nl.add go to "
    "nisa.tensor_tensor and nisa.tensor_scalar",
    SHARED,
)
ALU_OPERATOR = rule(
    "alu-operator",
    "operator",
    "An operator argument is an ALU operator of the kind and arity that its position takes.",
    "pass an operator such as nl.add or nl.maximum; functions such as nl.exp go to nisa.activation",
    SHARED,
)
SAME_KIND = rule(
    "operators-same-kind",
    "operator",
    "Both operators of an instruction are bitvec, or both are arithmetic.",
    "split the instruction in two",
    ISA,
)
OP_PAIR = rule(
    "op-pair",
    "operator",
    "activate2 has six pairs (op0, op1): multiply-add, multiply-subtract, multiply-bypass, "
    "add-bypass, subtract-bypass, bypass-bypass.",
    "pass one of the six, e.g. op0=nl.multiply, op1=nl.add; nl.bypass leaves a step out",
    ISA,
)
OP1_NEEDS_OP0 = rule(
    "op1-needs-op0",
    "operator",
    "op1 requires op0 to be set.",
    "pass the operator as op0 and its operand as imm0, with op1=nl.bypass; or set op0 as well",
    ISA,
)
REVERSE_NEEDS_OP = rule(
    "reverse-needs-op",
    "operator",
    "reverse0 requires op0 to be set; reverse1 requires op1.",
    "set the operator, or leave the reverse flag out",
    ISA,
)
OP_WITH_OPERAND = rule(
    "op-with-operand",
    "operator",
    "op1 and operand1 are given together or not at all.",
    "give both, or leave both out",
    ISA,
)
NOT_REVERSIBLE = rule(
    "not-reversible",
    "operator",
    "tensor_scalar_reduce does not support reverse0 yet.",
    "run nisa.tensor_scalar with reverse0=True first, and reduce its result",
    ISA,
)
COMPARISON = rule(
    "comparison",
    "operator",
    "The operator that selects elements is one of the comparisons of the instruction.",
    "pass a comparison that the message lists, e.g. nl.less",
    ISA,
)
ON_FALSE_VALUE = rule(
    "on-false-value",
    "operator",
    "range_select fills with the lowest float32, -3.4028235e+38.",
    "leave on_false_value out",
    ISA,
)
INDEX_RANGE = rule(
    "index-range",
    "operator",
    "range_select compares indices in float32: from range_start to the last one they stay within "
    "2**24.",
    "move range_start and the bounds closer to 0 by the same number",
    ISA,
)
UNARY_OPERAND = rule(
    "unary-operand",
    "operator",
    "With a unary operator the operand is None or 0.",
    "leave the operand out, or pass op0=nl.add with the operand and the unary operator as op1",
    ISA,
)
REDUCE_OP = rule(
    "reduce-op",
    "operator",
    "reduce_op is one of the reductions that the instruction's accumulators have.",
    "pass a reduction that the message lists, e.g. reduce_op=nl.add, or reduce with "
    "nisa.tensor_reduce afterwards",
    ISA,
)
REDUCE_CMD = rule(
    "reduce-cmd",
    "operator",
    "reduce_cmd is one of the commands that the instruction supports.",
    "pass a command that the message lists, e.g. nisa.reduce_cmd.reset_reduce",
    ISA,
)
REDUCE_CMD_NEEDS_OP = rule(
    "reduce-cmd-needs-op",
    "operator",
    "A reducing command requires reduce_op, and so does a reset where the identity depends on it.",
    "pass reduce_op=, e.g. nl.add",
    ISA,
)
REDUCE_INIT = rule(
    "reduce-init",
    "operator",
    "reduce_init is left at its default unless reduce_cmd is load_reduce.",
    "pass reduce_cmd=nisa.reduce_cmd.load_reduce, or leave reduce_init out",
    ISA,
)
LOAD_NEEDS_INIT = rule(
    "load-needs-init",
    "operator",
    "reduce_cmd.load_reduce comes with the value that it loads into the accumulators.",
    "pass the initial value (reduce_init= or imm1=), or reduce_cmd=nisa.reduce_cmd.reset_reduce",
    ISA,
)
REDUCIBLE = rule(
    "reducible",
    "operator",
    "A reduction over dimensions takes one of the operators that its instruction has.",
    "pass an operator that reduces, e.g. op=nl.add or op=nl.maximum",
    SHARED,
)
NEGATE = rule(
    "negate-arithmetic",
    "operator",
    "negate applies only when the operator is arithmetic.",
    "leave negate out",
    ISA,
)
NO_EFFECT = rule(
    "no-effect",
    "operator",
    "An argument that is passed has an effect: no other argument of the instruction switches it "
    "off.",
    "leave the argument out, or change the argument that the message names as the reason",
    ISA,
    group=WarningGroup.suspicious,
)
DMA_ARGUMENTS = rule(
    "dma-arguments",
    "operator",
    "priority is 0 to 3; engine= names sync or scalar and goes with dge_mode.hwdge only.",
    "leave priority= and engine= out; or pass priority=0 to 3, and engine=nisa.engine.sync "
    "together with dge_mode=nisa.dge_mode.hwdge",
    ISA,
)
REGISTER_OPERATOR = rule(
    "register-operator",
    "operator",
    "Registers are added, subtracted and multiplied, nothing else.",
    "compute on a (1, 1) tile, e.g. with nisa.tensor_scalar, and load the result with "
    "nisa.register_load",
    "NKI deep dive, scalar values",
)
