"""Rules about access patterns of engines."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import ARCH, ISA, LANGUAGE, rule
from nkijit.dialects.rule_texts.text import ErrorKind, WarningGroup

PARTITION_STEP = rule(
    "partition-step",
    "access",
    "An access to SBUF or PSUM takes neighbouring partitions: the partition dimension has no step.",
    "slice a run of partitions, or move rows with nisa.dma_copy to and from HBM",
    "NKI deep dive, access patterns",
)

START_PARTITION = rule(
    "start-partition",
    "access",
    "A tile that a compute engine reads or writes starts at partition 0, 32, 64 or 96 if it has up "
    "to 32 partitions, at 0 or 64 if it has up to 64, and at 0 otherwise. DMA engines reach any "
    "partition.",
    "give the rows a tile of their own, or move them to a legal partition with nisa.dma_copy",
    ARCH,
)
PATTERN_BOUNDS = rule(
    "pattern-bounds",
    "access",
    "A pattern stays in its tensor, and in SBUF and PSUM each of its rows in its partition. Reads "
    "outside of it give undefined values; writes there are lost.",
    "change the pattern or its offset, or allocate a tensor that has these elements",
    "NKI deep dive, access patterns",
    kind=ErrorKind.undefined,
)
ACCESS_PATTERN = rule(
    "access-pattern",
    "access",
    "An engine walks up to four free dimensions of a tile, each with at most 65535 elements and a "
    "stride from -32768 to 32767 elements. Neighbouring dimensions that make one run count once.",
    "use several instructions, or copy the elements to a tile of their own with nisa.dma_copy",
    ARCH,
)
PSUM_BANK = rule(
    "psum-bank",
    "access",
    "Before NeuronCore-v4, an instruction of the Tensor Engine writes to a single PSUM bank, 2048 "
    "bytes of each partition.",
    "let the slice of dst begin and end in one bank, or give each bank a tile of its own",
    ARCH,
)
OVERLAP = rule(
    "overlap",
    "access",
    "An instruction may overwrite its own source, element by element. If it overwrites elements "
    "before it has read them, the values that it reads depend on the engine's pipeline.",
    "write to a tile of its own, or to exactly what is read",
    "NKI API reference, nki.isa: no instruction documents the order of reads and writes",
    group=WarningGroup.suspicious,
)
INDEX_BOUNDS = rule(
    "index-bounds",
    "access",
    "An address that is computed on the device is in bounds in every iteration, unless the "
    "instruction skips rows out of bounds (oob_mode.skip).",
    "change the bounds of the loop or the tensor's size, or pass oob_mode=nisa.oob_mode.skip",
    ISA,
)

INDEX_TILE = rule(
    "index-tile",
    "access",
    "An address known at run time comes from a register, or from an int32 or uint32 tile in SBUF."
    " The tile has one element for the start of a view, one element per element of dim 0 for a "
    "vector of indices, and as many partitions as the data for tensor indirection.",
    "load the indices into such a tile with nisa.dma_copy",
    "NKI deep dive, access patterns",
)
INDIRECT_BASE = rule(
    "indirect-base",
    "access",
    "A vector of indices addresses a tensor in HBM; tensor indirection addresses a tile in SBUF "
    "or PSUM, on NeuronCore-v4 and newer.",
    "gather from HBM with vector_offset, from SBUF with nisa.nc_n_gather",
    LANGUAGE,
)
INDIRECT_OPERAND = rule(
    "indirect-operand",
    "access",
    "A vector of indices goes with DMA instructions, and `.indirect()` with the operands for which "
    "the instruction documents it.",
    "gather into a tile first, with nisa.tensor_copy for .indirect() and nisa.dma_copy for "
    "vector_offset=, and pass that tile",
    ISA,
)
INDIRECT_PARTITION = rule(
    "indirect-partition",
    "access",
    "The index of tensor indirection starts on a quadrant boundary, on the same partition as the "
    "tile that it gathers from, or as the data that is scattered.",
    "let the tile and its index start at partition 0, 32, 64 or 96 together",
    ISA,
)
INDIRECT_COUNT = rule(
    "indirect-count",
    "access",
    "Tensor indirection uses at most as many indices as the index tile has for each group of 16 "
    "partitions (32 on the Tensor Engine). The last group may have fewer rows.",
    "pass a smaller num_elem, or an index tile with more columns",
    LANGUAGE,
)
ONE_ELEMENT = rule(
    "one-element",
    "shape",
    "A register is loaded from, and stored to, a tensor of one element.",
    "take one element of the tensor, e.g. tensor[0:1, 0:1]",
    ISA,
)
VECTOR_DGE = rule(
    "vector-dge",
    "operator",
    "A vector of indices is gathered or scattered with descriptors that software generates.",
    "leave dge_mode out, or pass dge_mode=nisa.dge_mode.swdge",
    "NKI deep dive, descriptor generation engine",
)
SCHEDULE_NAME = rule(
    "schedule-name",
    "operator",
    "An edge of a schedule is between two instructions that have a name of their own.",
    "give the instructions different name= arguments and use these",
    "NKI guide, scheduling APIs",
)
SCHEDULE_CYCLE = rule(
    "schedule-cycle",
    "dataflow",
    "Edges between instructions, together with nl.no_reorder blocks and the data that instructions "
    "pass on, form no cycle.",
    "remove one of the edges that the message names (with_schedule, depends_on)",
    "NKI guide, scheduling APIs",
)
SCHEDULE_LOOP = rule(
    "schedule-loop",
    "dataflow",
    "An instruction may be ordered after an instruction in the same device loop, or in a loop "
    "around it.",
    "put both instructions into the same loop, or remove the edge: an instruction that reads or "
    "overwrites the data of a loop waits for it anyway",
    "NKI API reference, nki.isa.NkiInstruction",
)
GATHER_TRANSPOSE = rule(
    "gather-transpose",
    "shape",
    "A transpose that gathers rows takes 2-byte elements, at most 128 in the last dimension, a "
    "multiple of 16 rows, and uint32 indices in 16 to 128 partitions (128 for several columns).",
    "gather with nisa.dma_copy and transpose with nisa.nc_transpose",
    ISA,
)
INDIRECT_ENGINE = rule(
    "indirect-engine",
    "operator",
    "tensor_copy with .indirect() runs on the Vector or Scalar Engine. The Scalar Engine does not "
    "scatter to PSUM.",
    "pass engine=nisa.engine.vector, or scatter to a tile in SBUF",
    ISA,
)
INDIRECT_ADDRESS = rule(
    "indirect-address",
    "operator",
    "tensor_scalar does no address arithmetic on tiles addressed with .indirect(): no add, "
    "subtract or multiply from 32-bit integers to 32-bit integers.",
    "copy the elements to a tile with nisa.tensor_copy first, or compute in float32",
    ISA,
)
MATMUL_INDIRECT = rule(
    "matmul-indirect",
    "operator",
    "A matmul with .indirect() uses the whole array, 16- or 8-bit floats, and a static moving tile "
    "in transpose mode; MX data and its scales are addressed with the same index.",
    "pass tiles of bfloat16, float16 or float8, leave tile_position out, and address data and "
    "scales with the same index",
    ISA,
)
DMA_COMPUTE = rule(
    "dma-compute",
    "operator",
    "dma_compute adds 1 to 16 tensors, each scaled by 1.0. With a vector of indices, it adds one "
    "tensor to another: one source is dst, the indices are unique, and they address the tensor in"
    " HBM. All other addresses are known at compile time.",
    "pass reduce_op=nl.add without scales; with a vector of indices pass srcs=[dst, src] (nkijit"
    " explain nisa.dma_compute has both forms)",
    ISA,
)
LOOP_STEP = rule(
    "loop-step",
    "operator",
    "The step of a loop on the device is a compile-time integer of at least 1.",
    "pass a positive int, or count backwards in the body",
    "NKI deep dive, dynamic loops",
)
LOOP_LEFT = rule(
    "loop-left",
    "operator",
    "The body of a loop on the device is traced once and runs to its end.",
    "leave the loop by its condition: no break, return or exception in its body",
    "NKI deep dive, dynamic loops",
)
LOOP_NUMBER = rule(
    "loop-number",
    "operator",
    "The body of a loop on the device is traced once: Python numbers that it changes do not change "
    "in each iteration.",
    "keep the number in a tile or a register that the body updates, or loop over Python's range",
    "NKI deep dive, dynamic loops",
    group=WarningGroup.suspicious,
)
LOOP_CONDITION = rule(
    "loop-condition",
    "operator",
    "A `while` on the device tests one register from its first iteration to its last. Its body "
    "writes that register (a warning).",
    "write that register with nisa.register_load or nisa.register_move, do not rebind its name",
    "NKI deep dive, dynamic loops",
)
NO_REORDER_LOOP = rule(
    "no-reorder-loop",
    "operator",
    "A loop on the device is not inside nl.no_reorder.",
    "put the no_reorder block into the body of the loop",
    "NKI deep dive, dynamic loops",
)
FROZEN_REGISTER = rule(
    "frozen-register",
    "operator",
    "The induction variable of a loop on the device is not written, and neither is a scalar.",
    "move its value to a register of your own with nisa.register_move",
    "NKI deep dive, dynamic loops",
)
