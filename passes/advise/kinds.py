"""The kinds of advice: the table of `nkijit advise --list` and of the documentation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Numbers(StrEnum):
    """The effect of a change on the results of a kernel."""

    same = "same"
    """The results are the same, bit by bit."""
    rounding = "rounding"
    """Results are rounded at other points, or added up in another order."""
    change = "change"
    """The results lose precision, or the kernel's arguments change."""
    estimate = "estimate"
    """The results are wrong: the experiment only estimates the time of a rewritten kernel."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of advice."""

    id: str
    says: str
    """The recommended change."""
    experiment: str
    """The change of the kernel's copy that measures the gain."""
    numbers: Numbers
    source: str
    """The public document that recommends the change."""


KINDS: dict[str, Kind] = {}
"""All kinds of advice by id, in the order of the document."""


def _kind(id: str, says: str, experiment: str, numbers: Numbers, source: str) -> Kind:
    kind = KINDS[id] = Kind(id, says, experiment, numbers, source)
    return kind


_GUIDE = "NKI performance guide"

REPEATED_LOAD = _kind(
    "repeated-load",
    "Load a slice of HBM once and keep it in SBUF: hoist the load out of the loop that repeats it.",
    "Remove all loads of the same bytes but the first. Their readers read the first tile. A buffer "
    "that is filled several times is split into tiles first. If SBUF has no space for all slices, "
    "keep half of them, or a quarter.",
    Numbers.same,
    f"{_GUIDE}, Opt #1; matrix multiplication tutorial, hoisted loads",
)
REPEATED_RESULT = _kind(
    "repeated-result",
    "Compute a tile once and keep it in SBUF: hoist its instructions out of the loop.",
    "Remove the instructions of all tiles with the contents of an earlier tile. Their readers read "
    "the earlier tile. Contents are compared from loads onwards, also through PSUM and for tiles "
    "that are filled in parts.",
    Numbers.same,
    f"{_GUIDE}, Opt #1",
)
LOOP_ORDER = _kind(
    "loop-order",
    "Exchange two loops, so that tiles stay where they are for more iterations.",
    "Move a loop inside one or more of the loops in its body, with all of its iterations or a few "
    "at a time. Other instructions of its body run for all of these iterations, before or after "
    "the inner loops. Remove loads of bytes that the same line has just loaded. All dependences "
    "are preserved; a buffer that prevents the exchange is split into tiles first.",
    Numbers.same,
    f"{_GUIDE}, Opt #1; matrix multiplication tutorial, blocked loops",
)
MERGED_DMA = _kind(
    "merged-dma",
    "Move neighbouring slices of HBM with one DMA.",
    "Merge DMAs of one line that step through a tensor into one DMA. Their tiles become parts of "
    "one tile. Loads of consecutive rows of one tile merge as well, also from the same place: the "
    "merged DMA reads with a stride of 0.",
    Numbers.same,
    f"{_GUIDE}, Opt #9; NKI DMA bandwidth guide",
)
PARTITION_USE = _kind(
    "partition-use",
    "Work on more of the 128 partitions: do several iterations of a loop at once.",
    "Merge iterations with tiles of 64 partitions or fewer. Their tiles become partitions of one "
    "tile. Instructions that treat all partitions equally are merged, and so are DMAs of "
    "consecutive rows; the others access their part of the tile. Values that all iterations read "
    "are loaded, or computed, for each part.",
    Numbers.same,
    "NKI architecture guide, partition dimension; NKI programming model, tile sizes",
)
LONGER_ROWS = _kind(
    "longer-rows",
    "Do the work of several iterations with one instruction on longer rows.",
    "Run iterations of a loop in lockstep. Merge their element-wise instructions, their matmuls "
    "with the same stationary tile, and their DMAs: the tiles of the iterations become parts of "
    "one tile, or the views of one tile become one view. "
    "All dependences are preserved; a buffer that prevents this is split into tiles first.",
    Numbers.same,
    f"{_GUIDE}, Opt #5a; NKI programming model, tile sizes",
)
WIDENED_MATMUL = _kind(
    "widened-matmul",
    "Multiply 8-bit and 16-bit inputs as they are, without a cast to float32.",
    "Give tiles of a matmul the narrower dtype that all of their values are cast from. PSUM "
    "accumulates in float32 either way.",
    Numbers.rounding,
    "API reference, nki.isa.nc_matmul",
)
MATMUL_BF16 = _kind(
    "matmul-bf16",
    "Use bfloat16 inputs for a float32 matmul.",
    "Change the multiplied tiles, and the arguments and transposes of their data, to bfloat16.",
    Numbers.change,
    "API reference, nki.isa.nc_matmul",
)
MATMUL_FP8 = _kind(
    "matmul-fp8",
    "Use float8 inputs for a 16-bit matmul.",
    "Change the multiplied tiles to float8_e4m3, and the arguments and transposes that they come "
    "from. The number of columns is unchanged: double_row, which halves it, is not used.",
    Numbers.change,
    "API reference, nki.isa.nc_matmul",
)
FUSED = _kind(
    "fused-instructions",
    "Replace two consecutive instructions on the same tile by one.",
    "Merge an instruction with the only reader of its result: into tensor_scalar with two "
    "operators, scalar_tensor_tensor, or activation with bias= and scale=. Replace the reduction "
    "of a result by the reduction of the instruction that computes it (activation, "
    "tensor_scalar_reduce, scalar_tensor_tensor).",
    Numbers.rounding,
    f"{_GUIDE}, Opt #6; API reference, nki.isa",
)
SUBTRACTING_BIAS = _kind(
    "subtracting-bias",
    "Subtract by the bias of an activation.",
    "Replace a subtraction of one value per partition, and the activation of its result, by an "
    "activation with the negated value as bias. A reduction that computes the value for this "
    "purpose only negates it itself; other values are negated by an instruction.",
    Numbers.same,
    "API reference, nki.isa.activation",
)
SQUARE_ACTIVATION = _kind(
    "square-activation",
    "Square on the Scalar Engine, which can add up the squares as well.",
    "Replace the product of a tile with itself by nisa.activation with nl.square.",
    Numbers.same,
    "API reference, nki.isa.activation",
)
TENSOR_TRANSPOSE = _kind(
    "tensor-transpose",
    "Transpose on the Tensor Engine instead of in a DMA.",
    "Replace a dma_transpose, or a load of columns of HBM as rows, by a load of rows, an "
    "nc_transpose into PSUM for each 128 of them, and copies to SBUF. On trn1, nc_transpose is a "
    "product with the identity matrix, which keeps finite numbers only.",
    Numbers.same,
    f"{_GUIDE}, Opt #10",
)
DMA_TRANSPOSE = _kind(
    "dma-transpose",
    "Transpose with dma_transpose on the way from HBM.",
    "Replace a load of columns of HBM as rows by a dma_transpose. Replace a load, the nc_transpose "
    "that is its only reader, and the copy out of PSUM by a dma_transpose, too. On trn1, results "
    "that are not finite may differ: nc_transpose is a product with the identity matrix there.",
    Numbers.same,
    f"{_GUIDE}, Opt #10; API reference, nki.isa.dma_transpose",
)
TWO_CORES = _kind(
    "two-cores",
    "Launch the kernel on two cores, each of which computes half of the result.",
    "Keep the first half of the stores to results and the instructions that they need: the work of "
    "one core of two. Communication between the cores is not included.",
    Numbers.estimate,
    "Logical NeuronCore configuration page; NKI programming model, launch grid",
)
