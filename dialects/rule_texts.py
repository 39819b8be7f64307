"""What is said about every rule: id, category, sentence, way out, source.

`nkijit explain` prints these; diagnostics carry the id and the way out. The checks stand in
`constraints.py` (rules that ops declare) and in the dataflow passes.
"""

from __future__ import annotations

from nkijit.dialects.declare import RuleText

RULE_TEXTS: dict[str, RuleText] = {}
"""Every rule by id."""


def _rule(id: str, category: str, sentence: str, help: str, source: str) -> RuleText:
    if id in RULE_TEXTS:
        raise ValueError(f"rule '{id}' is defined twice")
    text = RULE_TEXTS[id] = RuleText(id, category, sentence, help, source)
    return text


_ISA = "NKI API reference, nki.isa"
_SHARED = "NKI API reference, nki.api.shared"
_LANGUAGE = "NKI API reference, nki.language"
_ARCH = "Trainium architecture guides"

# ---------------------------------------------------------------- arguments and views
ARGUMENT = _rule(
    "argument",
    "operator",
    "An argument has the kind of value that the instruction's signature names.",
    "pass a value of the expected kind",
    _ISA,
)
VIEW = _rule(
    "view",
    "shape",
    "A view stays inside its tensor and fits its layout.",
    "change the index or the shape so that the view exists",
    _LANGUAGE,
)
UNSUPPORTED = _rule(
    "unsupported",
    "target",
    "What nkijit does not model yet is refused by name, never accepted and ignored.",
    "leave the argument out",
    "nkijit",
)
RETURN = _rule(
    "return-value",
    "buffer",
    "A kernel returns tensors in HBM: one, a tuple, a list, a dict, or nothing.",
    "copy the tile to a tensor allocated with buffer=nl.shared_hbm and return that",
    _LANGUAGE,
)

# ---------------------------------------------------------------- allocations
ALLOC_PARTITIONS = _rule(
    "alloc-partitions",
    "shape",
    "A tile in SBUF or PSUM has at most 128 partitions (dim 0).",
    "split the tensor into tiles of at most nl.tile_size.pmax rows",
    _LANGUAGE,
)
ALLOC_SIZE = _rule(
    "alloc-size",
    "shape",
    "A tile fits into the bytes that a partition of its buffer has.",
    "split the free dimension into smaller tiles",
    _ARCH,
)

ALLOC_ADDRESS = _rule(
    "alloc-address",
    "shape",
    "A fixed address is for a tile in SBUF or PSUM, and the tile fits behind it.",
    "choose a (partition, byte) address that leaves room for the tile, or leave address= out",
    _LANGUAGE,
)

# ---------------------------------------------------------------- access
PARTITION_STEP = _rule(
    "partition-step",
    "access",
    "An access to SBUF or PSUM takes neighbouring partitions: the partition dimension has no step.",
    "slice a run of partitions, or move rows with nisa.dma_copy to and from HBM",
    "NKI deep dive, access patterns",
)

INDEX_TILE = _rule(
    "index-tile",
    "access",
    "An address known at run time comes from a register or from an int32 or uint32 tile in SBUF: "
    "one element for the start of a view, one per element of dim 0 for a vector of indices, as "
    "many partitions as the tile for tensor indirection.",
    "load the indices into such a tile with nisa.dma_copy",
    "NKI deep dive, access patterns",
)
INDIRECT_BASE = _rule(
    "indirect-base",
    "access",
    "A vector of indices addresses a tensor in HBM; tensor indirection addresses a tile in SBUF "
    "or PSUM, on NeuronCore-v4 and newer.",
    "gather from HBM with vector_offset, from SBUF with nisa.nc_n_gather",
    _LANGUAGE,
)
INDIRECT_OPERAND = _rule(
    "indirect-operand",
    "access",
    "A vector of indices goes with DMA instructions, and `.indirect()` with the operands for which "
    "the instruction documents it.",
    "copy the elements to a tile of their own first",
    _ISA,
)
INDIRECT_PARTITION = _rule(
    "indirect-partition",
    "access",
    "The index of tensor indirection starts on a quadrant boundary, on the same partition as the "
    "tile that it gathers from, or as the data that is scattered.",
    "let the tile and its index start at partition 0, 32, 64 or 96 together",
    _ISA,
)
INDIRECT_COUNT = _rule(
    "indirect-count",
    "access",
    "Tensor indirection uses no more numbers than the index tile holds for each group of 16 "
    "partitions, 32 on the Tensor Engine; the last group may have fewer rows.",
    "pass a smaller num_elem, or an index tile with more columns",
    _LANGUAGE,
)
ONE_ELEMENT = _rule(
    "one-element",
    "shape",
    "What goes into or comes from a register is a tensor of one element.",
    "take one element of the tensor, e.g. tensor[0:1, 0:1]",
    _ISA,
)
VECTOR_DGE = _rule(
    "vector-dge",
    "operator",
    "A vector of indices is gathered or scattered with descriptors that software generates.",
    "leave dge_mode out, or use dge_mode.swdge",
    "NKI deep dive, descriptor generation engine",
)
LOOP_STEP = _rule(
    "loop-step",
    "operator",
    "The step of a loop on the device is a compile-time integer of at least 1.",
    "pass a positive int, or count backwards in the body",
    "NKI deep dive, dynamic loops",
)
LOOP_LEFT = _rule(
    "loop-left",
    "operator",
    "The body of a loop on the device is traced once and runs to its end.",
    "leave the loop by its condition: no break, return or exception in its body",
    "NKI deep dive, dynamic loops",
)
LOOP_CONDITION = _rule(
    "loop-condition",
    "operator",
    "A `while` on the device tests one register from its first iteration to its last.",
    "write that register with nisa.register_load or nisa.register_move, do not rebind its name",
    "NKI deep dive, dynamic loops",
)
NO_REORDER_LOOP = _rule(
    "no-reorder-loop",
    "operator",
    "A loop on the device is not inside nl.no_reorder.",
    "put the no_reorder block into the body of the loop",
    "NKI deep dive, dynamic loops",
)
FROZEN_REGISTER = _rule(
    "frozen-register",
    "operator",
    "The induction variable of a loop on the device is not written.",
    "move its value to a register of your own with nisa.register_move",
    "NKI deep dive, dynamic loops",
)

# ---------------------------------------------------------------- targets and engines
GENERATION = _rule(
    "generation",
    "target",
    "An instruction runs only on NeuronCore generations that have it.",
    "choose another instruction, or trace for a newer target with platform_target=",
    _ISA,
)
OPERATOR_GENERATION = _rule(
    "operator-generation",
    "target",
    "An operator runs only on NeuronCore generations that have it.",
    "choose another operator, or trace for a newer target with platform_target=",
    "NKI 0.4.0 release notes",
)
ARGUMENT_GENERATION = _rule(
    "argument-generation",
    "target",
    "Some argument values exist only from a NeuronCore generation on.",
    "leave the argument at its default, or trace for a newer target with platform_target=",
    _ISA,
)
ENGINE = _rule(
    "engine",
    "target",
    "The engine= argument names an engine that can run the instruction.",
    "leave engine= out, or name an engine that the instruction supports",
    _ISA,
)
ENGINE_OPERATOR = _rule(
    "engine-operator",
    "target",
    "Each engine runs the operators, or pairs of operators, that it has.",
    "leave engine= out, or use an operator that this engine has",
    _ISA,
)

# ---------------------------------------------------------------- buffers
BUFFER = _rule(
    "buffer",
    "buffer",
    "An operand lives in one of the buffers that its position allows.",
    "copy the tile to a buffer that the operand allows first",
    _ISA,
)
BOTH_PSUM = _rule(
    "both-in-psum",
    "buffer",
    "The two tiles that a Vector Engine instruction reads element by element are not both in PSUM.",
    "copy one of the two to SBUF with nisa.tensor_copy first",
    _ISA,
)
GPSIMD_PSUM = _rule(
    "gpsimd-psum",
    "buffer",
    "The GpSimd Engine cannot reach PSUM.",
    "copy the tile to SBUF first, or let another engine run the instruction",
    _ISA,
)

# ---------------------------------------------------------------- shapes
PARTITIONS = _rule(
    "partitions-match",
    "shape",
    "Tiles that an instruction works on in parallel have the same partition size (dim 0).",
    "slice the tiles to the same number of partitions",
    _ISA,
)
FREE_SIZE = _rule(
    "free-size-match",
    "shape",
    "Tiles that are combined element by element have the same number of elements per partition.",
    "slice, reshape or broadcast the tiles to the same number of elements per partition",
    _ISA,
)
SIZE = _rule(
    "size-match",
    "shape",
    "A copy's source and destination have the same number of elements.",
    "slice the larger tensor to the size of the smaller",
    _ISA,
)
COLUMN = _rule(
    "column",
    "shape",
    "A per-partition operand has shape (P, 1), P being the partition size of the data.",
    "pass a number, or a tile with one element per partition",
    _ISA,
)
MAX_DIMS = _rule(
    "max-dims",
    "shape",
    "A tile has at most the number of dimensions that the instruction can address.",
    "merge dimensions with reshape or flatten_dims",
    _ISA,
)
REDUCE_AXES = _rule(
    "reduce-axes",
    "shape",
    "Reduction axes are the last free dimensions, consecutive, without the partition dimension.",
    "permute the tile so that the reduced dimensions come last; to reduce over partitions, "
    "transpose first or multiply by a tile of ones",
    _ISA,
)
REDUCE_SHAPE = _rule(
    "reduce-shape",
    "shape",
    "The destination of a reduction has the elements that the axes leave.",
    "allocate dst with the size of the dimensions that are not reduced",
    _ISA,
)
PATTERN = _rule(
    "pattern",
    "shape",
    "A generated pattern has one to four [step, count] pairs with positive counts, and as many "
    "elements as a partition of dst.",
    "make the product of the counts equal to the elements per partition of dst",
    _ISA,
)
MATMUL_SHAPE = _rule(
    "matmul-shape",
    "shape",
    "In dst = stationary.T @ moving the contraction runs over the partitions of both inputs; "
    "dst has the stationary tile's free size as partitions and the moving tile's as free size.",
    "lay the operands out as stationary (K, M), moving (K, N), dst (M, N)",
    _ISA,
)
MATMUL_TILE = _rule(
    "matmul-tile",
    "shape",
    "Matmul tiles fit the PE array and PSUM: at most 128 rows, 128 stationary columns, and the "
    "moving columns that the generation allows.",
    "tile the matmul and accumulate over the tiles in PSUM",
    _ISA,
)
MATMUL_POSITION = _rule(
    "matmul-position",
    "shape",
    "tile_position and tile_size are given together and name a legal part of the PE array.",
    "use row and column sizes of 32 (NeuronCore-v3 and newer), 64 or 128 at multiples of them",
    _ISA,
)
TRANSPOSE_SHAPE = _rule(
    "transpose-shape",
    "shape",
    "A transpose of a (P, F) tile has shape (F, P) and fits the engine: 128x128 on the Tensor "
    "Engine, 32x32 on the Vector Engine.",
    "transpose in blocks that the engine can handle",
    _ISA,
)

# ---------------------------------------------------------------- data types
DTYPE = _rule(
    "dtype",
    "dtype",
    "An operand has one of the data types that its position allows.",
    "convert the tile with nisa.tensor_copy first",
    _ISA,
)
COMPUTABLE = _rule(
    "dtype-computable",
    "dtype",
    "Packed x4 types are only copied and used by MX instructions.",
    "convert to a type that the engines compute on",
    _SHARED,
)
BITVEC_DTYPE = _rule(
    "bitvec-dtype",
    "dtype",
    "A bitvec operator works on bit patterns: all its tiles are integers of one width.",
    "view the tile as an integer type of the same width, e.g. tile.view(nl.int32)",
    _SHARED,
)
SAME_DTYPE = _rule(
    "same-dtype",
    "dtype",
    "Operands that the instruction reads through one path have the same data type.",
    "convert one of the two with nisa.tensor_copy first",
    _ISA,
)
MATMUL_DTYPE = _rule(
    "matmul-dtype",
    "dtype",
    "Matmul inputs may differ in type, except that float32/tfloat32 go only together and "
    "float8_e4m3 not with float8_e4m3fn; dst is float32, on NeuronCore-v4 also bfloat16.",
    "convert one operand so that both are of a legal pair of types",
    _ISA,
)
PACKED_ZERO = _rule(
    "memset-packed",
    "dtype",
    "A tile of a packed x4 type can only be set to 0.",
    "set it to 0, or write the packed bits through a view of an integer type",
    _ISA,
)

# ---------------------------------------------------------------- operators
ACTIVATION = _rule(
    "activation-function",
    "operator",
    "op is one of the Scalar Engine's activation functions.",
    "see the table of activation functions in nki.api.shared",
    _SHARED,
)
ALU_OPERATOR = _rule(
    "alu-operator",
    "operator",
    "An operator argument is an ALU operator of the kind and arity that its position takes.",
    "use an operator of the right kind; see the table of math operators in nki.api.shared",
    _SHARED,
)
SAME_KIND = _rule(
    "operators-same-kind",
    "operator",
    "Both operators of an instruction are bitvec, or both are arithmetic.",
    "split the instruction in two",
    _ISA,
)
OP_PAIR = _rule(
    "op-pair",
    "operator",
    "activate2 has six pairs (op0, op1): multiply-add, multiply-subtract, multiply-bypass, "
    "add-bypass, subtract-bypass, bypass-bypass.",
    "use one of the six pairs",
    _ISA,
)
OP1_NEEDS_OP0 = _rule(
    "op1-needs-op0",
    "operator",
    "op1 requires op0 to be set.",
    "move the operation to op0, or set op0",
    _ISA,
)
REVERSE_NEEDS_OP = _rule(
    "reverse-needs-op",
    "operator",
    "reverse0 requires op0 to be set; reverse1 requires op1.",
    "set the operator, or leave the reverse flag out",
    _ISA,
)
OP_WITH_OPERAND = _rule(
    "op-with-operand",
    "operator",
    "op1 and operand1 are given together or not at all.",
    "give both, or leave both out",
    _ISA,
)
UNARY_OPERAND = _rule(
    "unary-operand",
    "operator",
    "With a unary operator the operand is None or 0.",
    "leave the operand out",
    _ISA,
)
REDUCE_OP = _rule(
    "reduce-op",
    "operator",
    "reduce_op is one of the reductions that the instruction's accumulators have.",
    "use a supported reduction, or reduce with nisa.tensor_reduce",
    _ISA,
)
REDUCE_CMD = _rule(
    "reduce-cmd",
    "operator",
    "reduce_cmd is one of the commands that the instruction supports.",
    "use a supported command",
    _ISA,
)
REDUCE_CMD_NEEDS_OP = _rule(
    "reduce-cmd-needs-op",
    "operator",
    "A reducing command requires reduce_op, and so does a reset where the identity depends on it.",
    "pass reduce_op=, e.g. nl.add",
    _ISA,
)
REDUCE_INIT = _rule(
    "reduce-init",
    "operator",
    "reduce_init is unset or 0.0 unless reduce_cmd is load_reduce.",
    "use reduce_cmd.load_reduce, or leave reduce_init out",
    _ISA,
)
REDUCIBLE = _rule(
    "reducible",
    "operator",
    "The operator of tensor_reduce is a legal reduction operator.",
    "see the column 'Legal Reduction op' in nki.api.shared",
    _SHARED,
)
NEGATE = _rule(
    "negate-arithmetic",
    "operator",
    "negate applies only when the operator is arithmetic.",
    "leave negate out",
    _ISA,
)
DMA_ARGUMENTS = _rule(
    "dma-arguments",
    "operator",
    "priority is 0 to 3; engine= names sync or scalar and goes with dge_mode.hwdge only.",
    "leave the argument out, or use a legal combination",
    _ISA,
)

# ---------------------------------------------------------------- dataflow
ACCUMULATOR_UNDEFINED = _rule(
    "accumulator-undefined",
    "dataflow",
    "An instruction that continues on, or reads, an engine's accumulators needs them defined: "
    "reset or reduced into by an earlier instruction, and not clobbered since.",
    "start with reduce_cmd.reset_reduce",
    _ISA,
)
ACCUMULATOR_MIXED = _rule(
    "accumulator-mixed",
    "dataflow",
    "A reduction continues with the operator that the accumulators were reset for.",
    "start the new reduction with reduce_cmd.reset_reduce",
    _ISA,
)
PSUM_ACCUMULATE = _rule(
    "psum-accumulate",
    "dataflow",
    "A matmul with accumulate=True adds to what has been written in PSUM before; up to "
    "NeuronCore-v3, to what a matmul has written.",
    "use accumulate=False (or None) for the first matmul of a group",
    _ISA,
)
