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
SCHEDULE_NAME = _rule(
    "schedule-name",
    "operator",
    "An edge of a schedule is between two instructions that have a name of their own.",
    "give the instructions different name= arguments and use these",
    "NKI guide, scheduling APIs",
)
SCHEDULE_CYCLE = _rule(
    "schedule-cycle",
    "dataflow",
    "Edges between instructions, together with nl.no_reorder blocks and the data that instructions "
    "pass on, form no cycle.",
    "remove one of the edges",
    "NKI guide, scheduling APIs",
)
SCHEDULE_LOOP = _rule(
    "schedule-loop",
    "dataflow",
    "An instruction runs after one in the same loop on the device, or in a loop around it.",
    "put both instructions into the same loop",
    "NKI API reference, nki.isa.NkiInstruction",
)
GATHER_TRANSPOSE = _rule(
    "gather-transpose",
    "shape",
    "A transpose that gathers rows takes 2-byte elements, at most 128 in the last dimension, a "
    "multiple of 16 rows, and uint32 indices in 16 to 128 partitions (128 for several columns).",
    "gather with nisa.dma_copy and transpose with nisa.nc_transpose",
    _ISA,
)
INDIRECT_ENGINE = _rule(
    "indirect-engine",
    "operator",
    "tensor_copy with .indirect() runs on the Vector or Scalar Engine; what the Scalar Engine "
    "scatters does not go to PSUM.",
    "choose another engine, or scatter to SBUF",
    _ISA,
)
INDIRECT_ADDRESS = _rule(
    "indirect-address",
    "operator",
    "tensor_scalar does no address arithmetic on tiles addressed with .indirect(): no add, "
    "subtract or multiply from 32-bit integers to 32-bit integers.",
    "copy the elements to a static tile first, or compute in float32",
    _ISA,
)
MATMUL_INDIRECT = _rule(
    "matmul-indirect",
    "operator",
    "A matmul with .indirect() uses the whole array, 16- or 8-bit floats, and a static moving tile "
    "in transpose mode; MX data and its scales are addressed with the same index.",
    "leave tile_position out, and address data and scales alike",
    _ISA,
)
DMA_COMPUTE = _rule(
    "dma-compute",
    "operator",
    "dma_compute adds 1 to 16 tensors, each scaled by 1.0. With a vector of indices it adds one "
    "tensor to another: dst is one of them, and the indices, which are unique, address the one in "
    "HBM. Other addresses are known at compile time.",
    "see nisa.dma_compute for the two forms, scatter and gather",
    _ISA,
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
CONSTANT_WRITTEN = _rule(
    "constant-written",
    "buffer",
    "Constant data (nl.shared_constant) is shared by all kernel instances and never written.",
    "write to a tensor of nl.ndarray, e.g. after copying the constant to it",
    _LANGUAGE,
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
    "The destination of a reduction has the elements that the reduction leaves.",
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
STATISTICS_SHAPE = _rule(
    "statistics-shape",
    "shape",
    "bn_stats takes up to 512 elements per partition and gives 6; bn_aggr takes triples (count, "
    "mean, variance * count) and gives 2.",
    "call bn_stats on tiles of at most nl.tile_size.bn_stats_fmax elements per partition, each "
    "into 6 elements of one tile, and bn_aggr on that tile",
    _ISA,
)
SEQUENCE_SHAPE = _rule(
    "sequence-shape",
    "shape",
    "Segment ids are in one partition; their bounds take a row of starts and a row of ends.",
    "lay the operands out as segment_ids (1, n), dst (1, 2, n)",
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
MATMUL_MODE = _rule(
    "matmul-mode",
    "operator",
    "Transpose mode (is_transpose, NeuronCore-v3 and newer) passes bits through: it does not "
    "accumulate and does not go with double_row.",
    "leave one of the two arguments out",
    _ARCH,
)
MX_TILE = _rule(
    "mx-tile",
    "shape",
    "MX data comes in whole quadrants of 32 partitions, a stationary tile in pairs of columns, and "
    "what is quantized in groups of 4 elements.",
    "pad the data with zeros",
    _ISA,
)
MX_SCALE = _rule(
    "mx-scale",
    "shape",
    "A group of 8 partitions by 4 elements has one scale. The 4 scales of a quadrant of the data "
    "are in 4 partitions of the same quadrant, from its partition 0, 4, 8 or 12 on.",
    "for data of (P, F) x4 elements allocate scales of (P, F), or of (P // 8, F) when P is 32; "
    "slice them at partition 0, 4, 8 or 12",
    "NKI deep dive, MXFP matrix multiplication",
)
QUANTIZE_SHAPE = _rule(
    "quantize-shape",
    "shape",
    "quantize_mx packs 4 neighbouring elements of src into one of dst, in the same partition.",
    "allocate dst with the partitions of src and a quarter of its elements per partition",
    _ISA,
)
TRANSPOSE_AXES = _rule(
    "transpose-axes",
    "shape",
    "dma_transpose reverses 2-D and 3-D tensors, and permutes 4-D tensors by (3, 1, 2, 0).",
    "leave axes= out, or reshape the source",
    _ISA,
)
DMA_TRANSPOSE_SHAPE = _rule(
    "dma-transpose-shape",
    "shape",
    "The destination of dma_transpose has the shape of the transposed source, rank included.",
    "allocate dst with the permuted shape of src",
    "NKI 0.4.0 release notes",
)
HWDGE_TRANSPOSE = _rule(
    "hwdge-transpose",
    "shape",
    "A transpose with hardware DGE has 2-byte elements, at most 128 in the last dimension; src has "
    "16 rows, or with more dimensions 1, 2, 4, 8 or 16 that make a multiple of 16 with dim -2.",
    "leave dge_mode= out, or transpose in blocks of 16 rows",
    _ISA,
)
DMA_TRANSPOSE_MODE = _rule(
    "dma-transpose-mode",
    "operator",
    "A transpose with a static source is left to the compiler or done by hardware DGE; "
    "oob_mode.skip needs an indirect source.",
    "leave dge_mode= and oob_mode= out",
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

FREE_SIZE_RANGE = _rule(
    "free-size-range",
    "shape",
    "A tile has as many elements per partition as the instruction's datapath takes.",
    "slice the tile to a size in the range, or split the work over several instructions",
    _ISA,
)
GPSIMD_CORES = _rule(
    "gpsimd-cores",
    "shape",
    "Each GpSimd core reaches 16 neighbouring partitions; a tile that the cores share begins "
    "with a core's first partition, and where all partitions take part it ends with a core's last.",
    "begin the slice at a multiple of 16 partitions and take a multiple of 16",
    _ISA,
)
START_PARTITION = _rule(
    "start-partition",
    "shape",
    "A cross-partition move of 96 or 128 partitions begins at partition 0, of 64 at 0 or 64, of 32 "
    "at 0, 32, 64 or 96; the larger tile, rounded up to quadrants, counts for both.",
    "move the slice to a legal first partition",
    _ISA,
)
SHUFFLE_MASK = _rule(
    "shuffle-mask",
    "shape",
    "A shuffle mask has 32 entries, each 0 to 31 (a partition of the quadrant, inside src) or 255 "
    "(leave the partition of dst as it is).",
    "give one source partition or 255 for each of the 32 partitions of a quadrant",
    _ISA,
)
GATHER_SIZE = _rule(
    "gather-size",
    "shape",
    "local_gather takes 1, 2, 4, 8, 16 or 32 elements at each of at most 4096 indices per core, "
    "and dst has as many elements per partition as are gathered.",
    "pass num_valid_indices and num_elem_per_idx, and allocate dst with their product",
    _ISA,
)
COUNT_SLOT = _rule(
    "count-slot",
    "shape",
    "nonzero_with_count writes an index for each element of src and one count more.",
    "allocate dst with one element per partition more than src",
    _ISA,
)
TOPK_SIZE = _rule(
    "topk-size",
    "shape",
    "topk ranks 8 to 65535 elements, which fit into 16 partitions of src, and returns 1 to 32767 "
    "of them, no more than there are.",
    "change n or the width of val_dst, or split the elements and merge the results",
    _ISA,
)
SEED_SHAPE = _rule(
    "seed-shape",
    "shape",
    "A seed is a tile of one element.",
    "pass a (1, 1) tile, e.g. nl.full((1, 1), 42, dtype=nl.int32)",
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
HWDGE_DTYPE = _rule(
    "hwdge-dtype",
    "dtype",
    "Descriptors that the hardware makes move bytes as they are: both sides have one data type.",
    "view one side as the other's data type, or convert with dge_mode.swdge",
    "NKI migration guide, 0.2.0 to 0.3.0",
)
MATMUL_DTYPE = _rule(
    "matmul-dtype",
    "dtype",
    "Matmul inputs may differ in type, except that float32/tfloat32 go only together and "
    "float8_e4m3 not with float8_e4m3fn; dst is float32, on NeuronCore-v4 also bfloat16.",
    "convert one operand so that both are of a legal pair of types",
    _ISA,
)
MEMSET_DTYPE = _rule(
    "memset-dtype",
    "dtype",
    "A tile of an integer type is set to an integer.",
    "write the value as an integer, e.g. 2 in the place of 2.0",
    "NKI 0.3.0 release notes",
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
NOT_REVERSIBLE = _rule(
    "not-reversible",
    "operator",
    "tensor_scalar_reduce does not support reverse0 yet.",
    "run nisa.tensor_scalar with reverse0=True first, and reduce its result",
    _ISA,
)
COMPARISON = _rule(
    "comparison",
    "operator",
    "What selects elements is one of the comparisons that the instruction has.",
    "use a comparison that the instruction has, e.g. nl.less",
    _ISA,
)
ON_FALSE_VALUE = _rule(
    "on-false-value",
    "operator",
    "range_select fills with the lowest float32, -3.4028235e+38.",
    "leave on_false_value out",
    _ISA,
)
INDEX_RANGE = _rule(
    "index-range",
    "operator",
    "range_select compares indices in float32: from range_start to the last one they stay within "
    "2**24.",
    "move range_start and the bounds closer to 0 by the same number",
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
    "reduce_init is left at its default unless reduce_cmd is load_reduce.",
    "use reduce_cmd.load_reduce, or leave reduce_init out",
    _ISA,
)
LOAD_NEEDS_INIT = _rule(
    "load-needs-init",
    "operator",
    "reduce_cmd.load_reduce comes with the value that it loads into the accumulators.",
    "pass the initial value, or start with reduce_cmd.reset_reduce",
    _ISA,
)
REDUCIBLE = _rule(
    "reducible",
    "operator",
    "A reduction over dimensions takes one of the operators that its instruction has.",
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

# ---------------------------------------------------------------- cores and ranks
_COLLECTIVES = "NKI API reference, nki.collectives"

TWO_CORES = _rule(
    "two-cores",
    "target",
    "core_barrier and sendrecv connect the two cores of a kernel that is launched on two.",
    "launch the kernel with kernel[2], or leave the instruction out when nl.num_programs() is 1",
    _ISA,
)
CORES_DIFFER = _rule(
    "cores-differ",
    "dataflow",
    "The programs of two cores have the same arguments, allocate the same tensors in shared HBM in "
    "the same order, and return the same.",
    "allocate in shared HBM, and return, outside of branches on nl.program_id",
    "NKI guide, logical NeuronCores",
)
RETURN_SHARED = _rule(
    "return-shared",
    "buffer",
    "A kernel that is launched on two cores returns tensors in shared HBM.",
    "allocate the result with buffer=nl.shared_hbm",
    "NKI guide, logical NeuronCores",
)
BARRIER_CORES = _rule(
    "barrier-cores", "operator", "A core barrier is between cores 0 and 1.", "pass (0, 1)", _ISA
)
SENDRECV_RANK = _rule(
    "sendrecv-rank",
    "operator",
    "sendrecv connects ranks 0 and 1.",
    "compute the other core as 1 - nl.program_id(0)",
    _ISA,
)
GPSIMD_DMA_SIZE = _rule(
    "gpsimd-dma-size",
    "shape",
    "The GpSimd Engine's DMA moves 1024, 512 or 256 bytes per partition of 32, 16 or 8-bit types.",
    "split the tile, or use dma_engine.dma",
    _ISA,
)
SAME_SHAPE = _rule(
    "same-shape", "shape", "These tiles have the same shape.", "reshape one of them", _ISA
)
COLLECTIVE_LISTS = _rule(
    "collective-lists",
    "shape",
    "A collective takes as many sources as destinations.",
    "pass lists of equal length",
    _COLLECTIVES,
)
COLLECTIVE_BUFFER = _rule(
    "collective-buffer",
    "buffer",
    "The tensors of a collective all live in HBM, or all in SBUF where the collective allows it.",
    "copy the tensors to HBM first",
    _COLLECTIVES,
)
COLLECTIVE_SBUF_DIMS = _rule(
    "collective-sbuf-dims",
    "shape",
    "The tensors of a collective in SBUF have two dimensions: partitions and one free dimension.",
    "join the free dimensions with flatten_dims",
    _COLLECTIVES,
)
COLLECTIVE_COALESCED = _rule(
    "collective-coalesced",
    "shape",
    "Several tensors in one collective: in HBM only, and not in permutations or in collectives "
    "of variable length.",
    "call the collective once for each tensor",
    _COLLECTIVES,
)
COLLECTIVE_GROUP = _rule(
    "collective-group",
    "operator",
    "The groups of a collective are lists of ranks of equal length; a rank is in one of them, "
    "and is source and target of one pair.",
    "list every rank once",
    _COLLECTIVES,
)
COLLECTIVE_DIM = _rule(
    "collective-dim",
    "operator",
    "Collectives split and join dim 0; all_gather in SBUF joins dim 0 or 1.",
    "use collective_dim=0",
    _COLLECTIVES,
)
COLLECTIVE_OPERATOR = _rule(
    "collective-operator",
    "operator",
    "Collectives reduce with nl.add, nl.minimum or nl.maximum.",
    "use one of them",
    _COLLECTIVES,
)
COLLECTIVE_DTYPE = _rule(
    "collective-dtype",
    "dtype",
    "Collectives do not convert: source and destination have the same data type.",
    "allocate the destination with the data type of the source",
    _COLLECTIVES,
)
COLLECTIVE_SHAPE = _rule(
    "collective-shape",
    "shape",
    "The destination of a collective has the shape that the source and the size of the group give.",
    "allocate the destination with that shape",
    _COLLECTIVES,
)
COLLECTIVE_CHANNELS = _rule(
    "collective-channels",
    "operator",
    "Channels are numbered from 0 without a gap, there are at most four, and each has one tensor.",
    "pass channel_ids=[0, 1, …], one for each tensor",
    _COLLECTIVES,
)
COLLECTIVE_METADATA = _rule(
    "collective-metadata",
    "dtype",
    "The metadata of a collective of variable length is uint32 and contiguous: three or four rows, "
    "a column for each rank of the group; in HBM, or in SBUF on one partition.",
    "allocate it as (3, ranks) in HBM or (1, 3, ranks) in SBUF",
    _COLLECTIVES,
)
COLLECTIVE_RDISPLS = _rule(
    "collective-rdispls",
    "target",
    "Where chunks land in the destination is given to all_to_all_v on NeuronCore-v4 only, and "
    "never to all_gather_v.",
    "leave has_rdispls out; chunks land at the starts of equal slots",
    _COLLECTIVES,
)
COLLECTIVE_LAUNCH = _rule(
    "collective-launch",
    "target",
    "all_gather_v is for kernels that are launched on two cores, and for groups of four ranks.",
    "launch it with kernel[2] on groups of four ranks, or pad the chunks and use all_gather",
    _COLLECTIVES,
)
RANDOM_RANGE = _rule(
    "random-range",
    "operator",
    "Uniform random numbers are drawn from min to max with min < max, a finite distance apart.",
    "pass min= below max=",
    _ISA,
)
PROBABILITY = _rule(
    "probability",
    "operator",
    "The probability of dropping an element is a number from 0 to 1.",
    "pass a fraction, e.g. 0.1 for ten percent",
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

# ---------------------------------------------------------------- what the vendor's compiler takes
_GUIDE = "NKI language guide"
_MIGRATION = "NKI migration guides, 0.3.0, language restrictions"

PORTABLE_CONTROL_FLOW = _rule(
    "portable-control-flow",
    "portable",
    "Control flow in a kernel is if, for and while: no match, and no with but nl.no_reorder().",
    "write it with if, for and while",
    _GUIDE,
)
PORTABLE_TRY = _rule(
    "portable-try",
    "portable",
    "Control flow in a kernel is if, for and while: exceptions are neither raised nor caught.",
    "test for the condition with if, or state it with assert",
    _GUIDE,
)
PORTABLE_GENERATOR = _rule(
    "portable-generator",
    "portable",
    "Functions run to their end when called, and loops go over ranges, lists and tuples: there are "
    "no generators and no coroutines.",
    "build a list and loop over that",
    _GUIDE,
)
PORTABLE_IMPORT = _rule(
    "portable-import",
    "portable",
    "A kernel's body imports nothing: it is compiled, and most Python libraries are not for it.",
    "import at the top of the file",
    _GUIDE,
)
PORTABLE_IDENTITY = _rule(
    "portable-identity",
    "portable",
    "The operators is and is not do not exist in kernels.",
    "compare with == or !=",
    _MIGRATION,
)
PORTABLE_KEYWORD_ONLY = _rule(
    "portable-keyword-only",
    "portable",
    "The signature of a kernel has no * that makes parameters keyword-only.",
    "leave the * out and put parameters with defaults last",
    _MIGRATION,
)
PORTABLE_LIST_ARGUMENT = _rule(
    "portable-list-argument",
    "portable",
    "A kernel takes no lists as arguments.",
    "pass a tuple",
    _MIGRATION,
)
PORTABLE_DICT_KEY = _rule(
    "portable-dict-key",
    "portable",
    "The keys of dictionaries in kernels are strings.",
    "use strings as keys, or a list",
    _GUIDE,
)
PORTABLE_VALUE = _rule(
    "portable-value",
    "portable",
    "Values in kernels are None, booleans, numbers of 32 bits, strings and tensors, in tuples, "
    "lists, dictionaries and objects: no sets, bytes, complex numbers or wider integers.",
    "use one of the values and containers that kernels have",
    _GUIDE,
)
PORTABLE_CLASS = _rule(
    "portable-class",
    "portable",
    "A class that a kernel uses inherits from NKIObject and from no other class, or is an Enum, "
    "and keeps its fields in the object's dictionary.",
    "make NKIObject the only base, and leave out __slots__",
    _GUIDE,
)
PORTABLE_ENUM = _rule(
    "portable-enum",
    "portable",
    "Members of an Enum are compared with == and !=; they have no other binary operators.",
    "compute with the member's .value",
    _GUIDE,
)
PORTABLE_STATE = _rule(
    "portable-state",
    "portable",
    "A kernel is a pure function of its arguments: it uses no variables outside that can change, "
    "because the vendor's cache of compiled kernels does not see such changes.",
    "pass the value as an argument, or make the outer variable a tuple or a number",
    _GUIDE,
)
PORTABLE_NESTED_KERNEL = _rule(
    "portable-nested-kernel",
    "portable",
    "A function that a kernel calls is not decorated with nki.jit.",
    "leave the decorator out, and call nki.jit(function) where the function is used as a kernel",
    "NKI migration guides, 0.2.0, sub-kernels",
)
PORTABLE_SOURCE = _rule(
    "portable-source",
    "portable",
    "The vendor's compiler reads the source of a kernel, so the source is in a file.",
    "define the function in a file",
    "NKI deep dive, the NKI compiler",
)
