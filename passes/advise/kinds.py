"""The kinds of advice: the table of `nkijit advise --list` and docs/advice.md."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Numbers(StrEnum):
    """The effect of a change on the results of a kernel."""

    same = "same"
    """The results are the same, bit by bit."""
    rounding = "rounding"
    """The results are rounded in other places, or added up in another order."""
    change = "change"
    """The results lose precision, or the kernel's arguments change."""
    estimate = "estimate"
    """The experiment has no useful results: it only estimates the time of a rewritten kernel."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of advice."""

    id: str
    says: str
    """The recommended change."""
    experiment: str
    """The edit to the copy of the kernel that measures the gain."""
    numbers: Numbers
    source: str
    """The public document that recommends it."""


KINDS: dict[str, Kind] = {}
"""All kinds by id, in the order of the document."""


def _kind(id: str, says: str, experiment: str, numbers: Numbers, source: str) -> Kind:
    kind = KINDS[id] = Kind(id, says, experiment, numbers, source)
    return kind


_GUIDE = "NKI performance guide"

REPEATED_LOAD = _kind(
    "repeated-load",
    "Load a slice of HBM once and keep it in SBUF: hoist the load out of the loop that repeats it.",
    "Of loads that bring the same bytes the first one stays. What the others brought is read "
    "from its tile. A buffer that is filled again and again becomes tiles of its own first. Where "
    "SBUF has no room for all slices, a half or a quarter of them are kept.",
    Numbers.same,
    f"{_GUIDE}, Opt #1; matrix multiplication tutorial, hoisted loads",
)
LOOP_ORDER = _kind(
    "loop-order",
    "Exchange two loops, so that tiles stay where they are for more iterations.",
    "The iterations of a loop go inside the loop in it, or the loops in that, all or a few at a "
    "time; what is beside these runs for all of them before and after. Loads that then bring "
    "what the same line has just brought go. Every instruction still comes after all whose "
    "results it needs, and before what overwrites what it reads; a buffer that is in the way "
    "becomes tiles of its own.",
    Numbers.same,
    f"{_GUIDE}, Opt #1; matrix multiplication tutorial, blocked loops",
)
MERGED_DMA = _kind(
    "merged-dma",
    "Move neighbouring slices of HBM with one DMA.",
    "DMAs of one line that step through a tensor become one DMA of their union, into or out of "
    "one tile of which the tiles of before are parts.",
    Numbers.same,
    f"{_GUIDE}, Opt #9; NKI DMA bandwidth guide",
)
PARTITION_USE = _kind(
    "partition-use",
    "Work on more of the 128 partitions: do several iterations of a loop at once.",
    "Iterations whose tiles have 64 partitions or fewer are taken together. What each has in a "
    "tile of its own becomes partitions of one tile; instructions that treat all partitions alike, "
    "and DMAs of rows that follow each other, become one, and the others touch their part of it. "
    "What all iterations read is loaded, or computed, in as many partitions.",
    Numbers.same,
    "NKI architecture guide, partition dimension; NKI programming model, tile sizes",
)
WIDENED_MATMUL = _kind(
    "widened-matmul",
    "Multiply what came in with 16 or 8 bits as it is, without a cast to float32.",
    "Tiles of a matmul that nothing but casts from a narrower type fills get that type. PSUM adds "
    "up in float32 either way.",
    Numbers.rounding,
    "API reference, nki.isa.nc_matmul",
)
MATMUL_BF16 = _kind(
    "matmul-bf16",
    "Take the inputs of a float32 matmul as bfloat16.",
    "The tiles that are multiplied become bfloat16, with the arguments and transposes that they "
    "come from.",
    Numbers.change,
    "API reference, nki.isa.nc_matmul",
)
MATMUL_FP8 = _kind(
    "matmul-fp8",
    "Take the inputs of a 16-bit matmul as float8.",
    "The tiles that are multiplied become float8_e4m3, with the arguments and transposes that "
    "they come from. The same number of columns is multiplied: double_row would halve it.",
    Numbers.change,
    "API reference, nki.isa.nc_matmul",
)
FUSED = _kind(
    "fused-instructions",
    "Let one instruction do what two do one after the other on the same tile.",
    "Where the result of an instruction has one reader, both become one: tensor_scalar with two "
    "operators, scalar_tensor_tensor, activation with bias= and scale=; and a reduction of a "
    "result becomes the reduction that activation, tensor_scalar_reduce and "
    "scalar_tensor_tensor do beside their work.",
    Numbers.rounding,
    f"{_GUIDE}, Opt #6; API reference, nki.isa",
)
TENSOR_TRANSPOSE = _kind(
    "tensor-transpose",
    "Transpose on the Tensor Engine what a DMA transposes.",
    "A dma_transpose, or a load whose rows are columns of HBM, becomes a load of rows, nc_transpose"
    " into PSUM for each 128 of them, and copies to SBUF.",
    Numbers.same,
    f"{_GUIDE}, Opt #10",
)
DMA_TRANSPOSE = _kind(
    "dma-transpose",
    "Transpose with dma_transpose on the way from HBM.",
    "A load whose rows are columns of HBM becomes a dma_transpose; so do a load, the nc_transpose "
    "that alone reads it, and the copy from PSUM behind it.",
    Numbers.same,
    f"{_GUIDE}, Opt #10; API reference, nki.isa.dma_transpose",
)
TWO_CORES = _kind(
    "two-cores",
    "Launch the kernel on two cores, each of which computes half of the result.",
    "Of the stores to results only the first half stays, with what they need: the work of one core "
    "of two. Nothing is added for what cores have to tell each other.",
    Numbers.estimate,
    "Logical NeuronCore configuration page; NKI programming model, launch grid",
)
