"""Rules about shapes and sizes."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import ARCH, ISA, rule
from nkijit.dialects.rule_texts.text import WarningGroup

PARTITIONS = rule(
    "partitions-match",
    "shape",
    "Tiles that an instruction works on in parallel have the same partition size (dim 0).",
    "slice the tiles to the same number of partitions",
    ISA,
)
FREE_SIZE = rule(
    "free-size-match",
    "shape",
    "Tiles that are combined element by element have the same number of elements per partition.",
    "slice, reshape or broadcast the tiles to the same number of elements per partition",
    ISA,
)
SIZE = rule(
    "size-match",
    "shape",
    "A copy's source and destination have the same number of elements.",
    "slice the larger tensor to the size of the smaller",
    ISA,
)
TRANSPOSED_COPY = rule(
    "transposed-copy",
    "shape",
    "A copy takes the elements of both sides in row-major order, whatever their shapes are: it "
    "permutes no dimensions.",
    "permute one side first (on chip with permute or nisa.nc_transpose, from HBM with "
    "nisa.dma_transpose); if row-major order is meant, reshape one side to the shape of the other",
    f"{ISA}, dma_copy and tensor_copy",
    group=WarningGroup.suspicious,
)
COLUMN = rule(
    "column",
    "shape",
    "A per-partition operand has shape (P, 1), P being the partition size of the data.",
    "pass a number, or a tile with one element per partition, e.g. t[:, 0:1]",
    ISA,
)
MAX_DIMS = rule(
    "max-dims",
    "shape",
    "A tile has at most the number of dimensions that the instruction can address.",
    "merge free dimensions first, with t.reshape((p, n)) or t.flatten_dims(first, last)",
    ISA,
)
REDUCE_AXES = rule(
    "reduce-axes",
    "shape",
    "Reduction axes are the last free dimensions, consecutive, without the partition dimension.",
    "permute the tile so that the reduced dimensions come last; to reduce over partitions, "
    "transpose first or multiply by a tile of ones",
    ISA,
)
REDUCE_SHAPE = rule(
    "reduce-shape",
    "shape",
    "The destination of a reduction has the elements that the reduction leaves.",
    "allocate dst with the size of the dimensions that are not reduced",
    ISA,
)
PATTERN = rule(
    "pattern",
    "shape",
    "A generated pattern has one to four [step, count] pairs with positive counts, and as many "
    "elements as a partition of dst.",
    "make the product of the counts equal to the elements per partition of dst",
    ISA,
)
STATISTICS_SHAPE = rule(
    "statistics-shape",
    "shape",
    "bn_stats takes up to 512 elements per partition and gives 6; bn_aggr takes triples (count, "
    "mean, variance * count) and gives 2.",
    "call bn_stats on tiles of at most nl.tile_size.bn_stats_fmax elements per partition, each "
    "into 6 elements of one tile, and bn_aggr on that tile",
    ISA,
)
SEQUENCE_SHAPE = rule(
    "sequence-shape",
    "shape",
    "Segment ids are in one partition; their bounds take a row of starts and a row of ends.",
    "lay the operands out as segment_ids (1, n), dst (1, 2, n)",
    ISA,
)
MATMUL_SHAPE = rule(
    "matmul-shape",
    "shape",
    "In dst = stationary.T @ moving the contraction runs over the partitions of both inputs; "
    "dst has the stationary tile's free size as partitions and the moving tile's as free size.",
    "lay the operands out as stationary (K, M), moving (K, N), dst (M, N)",
    ISA,
)
MATMUL_TILE = rule(
    "matmul-tile",
    "shape",
    "Matmul tiles fit the PE array and PSUM: at most 128 rows, 128 stationary columns, and the "
    "moving columns that the generation allows.",
    "loop over blocks of at most nl.tile_size.pmax rows, nl.tile_size.gemm_stationary_fmax and "
    "nl.tile_size.gemm_moving_fmax columns; matmuls over blocks of rows accumulate in one PSUM "
    "tile",
    ISA,
)
MATMUL_POSITION = rule(
    "matmul-position",
    "shape",
    "tile_position and tile_size are given together and name a legal part of the PE array.",
    "pass both, with sizes of 32 (NeuronCore-v3 and newer), 64 or 128 at multiples of them, e.g."
    " tile_position=(0, 64), tile_size=(64, 64); or leave both out",
    ISA,
)
MATMUL_MODE = rule(
    "matmul-mode",
    "operator",
    "Transpose mode (is_transpose, NeuronCore-v3 and newer) passes bits through: it does not "
    "accumulate and does not go with double_row.",
    "for a matmul leave is_transpose out; for a transpose leave accumulate and perf_mode out",
    ARCH,
)
MX_TILE = rule(
    "mx-tile",
    "shape",
    "MX data has a multiple of 32 partitions (whole quadrants), a stationary tile an even number "
    "of columns, and the source of a quantization a multiple of 4 elements.",
    "pad the data with zeros: rows to a multiple of 32, stationary columns to an even number, "
    "elements to quantize to a multiple of 4",
    ISA,
)
MX_SCALE = rule(
    "mx-scale",
    "shape",
    "A group of 8 partitions by 4 elements has one scale. The 4 scales of a quadrant of the data "
    "are in the same quadrant of the scale tile, in 4 consecutive partitions that begin at "
    "partition 0, 4, 8 or 12 of that quadrant.",
    "for data of (P, F) x4 elements allocate scales of (P, F), or of (P // 8, F) when P is 32; "
    "slice them at partition 0, 4, 8 or 12",
    "NKI deep dive, MXFP matrix multiplication",
)
QUANTIZE_SHAPE = rule(
    "quantize-shape",
    "shape",
    "quantize_mx packs 4 neighbouring elements of src into one of dst, in the same partition.",
    "allocate dst with the partitions of src and a quarter of its elements per partition",
    ISA,
)
TRANSPOSE_AXES = rule(
    "transpose-axes",
    "shape",
    "dma_transpose reverses 2-D and 3-D tensors, and permutes 4-D tensors by (3, 1, 2, 0).",
    "leave axes= out, which reverses the dimensions, and loop over those that stay in place",
    ISA,
)
DMA_TRANSPOSE_SHAPE = rule(
    "dma-transpose-shape",
    "shape",
    "The destination of dma_transpose has the shape of the transposed source, rank included.",
    "allocate dst with the permuted shape of src",
    "NKI 0.4.0 release notes",
)
HWDGE_TRANSPOSE = rule(
    "hwdge-transpose",
    "shape",
    "A transpose with hardware DGE requires 2-byte elements and at most 128 elements in the last "
    "dimension. A 2-D src has 16 rows. With more dimensions, dim 0 is 1, 2, 4, 8 or 16, and dim 0"
    " times dim -2 is a multiple of 16.",
    "leave dge_mode= out, or transpose in blocks of 16 rows",
    ISA,
)
DMA_TRANSPOSE_MODE = rule(
    "dma-transpose-mode",
    "operator",
    "A transpose with a static source is left to the compiler or done by hardware DGE; "
    "oob_mode.skip needs an indirect source.",
    "leave dge_mode= and oob_mode= out",
    ISA,
)
TRANSPOSE_SHAPE = rule(
    "transpose-shape",
    "shape",
    "A transpose of a (P, F) tile has shape (F, P) and fits the engine: 128x128 on the Tensor "
    "Engine, 32x32 on the Vector Engine.",
    "transpose in blocks that the engine can handle",
    ISA,
)

FREE_SIZE_RANGE = rule(
    "free-size-range",
    "shape",
    "A tile has as many elements per partition as the instruction's datapath takes.",
    "slice the tile to a size in the range, or split the work over several instructions",
    ISA,
)
GPSIMD_CORES = rule(
    "gpsimd-cores",
    "shape",
    "Each GpSimd core works on 16 neighbouring partitions together; a tile that the cores share "
    "has all of them.",
    "allocate the tile with a multiple of 16 partitions, and use a part of it",
    ISA,
)
SHUFFLE_START = rule(
    "shuffle-start",
    "shape",
    "Both tiles of a shuffle start at a partition that is legal for the larger of the two tiles.",
    "move the slice to a legal first partition, or shuffle a quadrant at a time",
    ISA,
)
SHUFFLE_MASK = rule(
    "shuffle-mask",
    "shape",
    "A shuffle mask has 32 entries, each 0 to 31 (a partition of the quadrant, inside src) or 255 "
    "(leave the partition of dst as it is).",
    "give one source partition or 255 for each of the 32 partitions of a quadrant",
    ISA,
)
GATHER_SIZE = rule(
    "gather-size",
    "shape",
    "local_gather takes 1, 2, 4, 8, 16 or 32 elements at each of at most 4096 indices per core, "
    "and dst has as many elements per partition as are gathered.",
    "pass num_elem_per_idx=1, 2, 4, 8, 16 or 32, and allocate dst with num_valid_indices * "
    "num_elem_per_idx elements per partition",
    ISA,
)
COUNT_SLOT = rule(
    "count-slot",
    "shape",
    "nonzero_with_count writes an index for each element of src and one count more.",
    "allocate dst with one more element per partition than src, for the count",
    ISA,
)
TOPK_SIZE = rule(
    "topk-size",
    "shape",
    "topk ranks 8 to 65535 elements, which fit into 16 partitions of src, and returns 1 to 32767 "
    "of them, no more than there are.",
    "pass n of at most 16 times the elements per partition of src, and a val_dst of at most n "
    "elements per partition",
    ISA,
)
TOPK_ORDER = rule(
    "topk-order",
    "operator",
    "The documents do not define the order of topk's results, nor the order that sorted=True "
    "requests.",
    "leave sorted= out, and sort the results afterwards, e.g. on the host",
    f"{ISA}, topk",
)
SEED_SHAPE = rule(
    "seed-shape",
    "shape",
    "A seed is a tile of one element.",
    "pass a (1, 1) tile, e.g. nl.full((1, 1), 42, dtype=nl.int32)",
    ISA,
)
