"""Rules about kernels that work, but waste time or memory."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import rule
from nkijit.dialects.rule_texts.text import RuleText, WarningGroup

_GUIDE = "NKI performance guide"


def _lint(
    id: str,
    sentence: str,
    help: str,
    source: str = _GUIDE,
    group: WarningGroup = WarningGroup.advice,
) -> RuleText:
    return rule(id, "lint", sentence, help, source, group=group)


UNUSED_TILE = _lint(
    "unused-tile",
    "A tensor that is allocated is used.",
    "remove the allocation, or use its tensor instead of another one",
)
DEAD_STORE = _lint(
    "dead-store",
    "Another instruction reads the result of an instruction, or the kernel returns it.",
    "use what it writes (read it, or store it to a tensor that is returned), or remove the "
    "instruction",
    group=WarningGroup.suspicious,
)
OVERWRITTEN_RESULT = _lint(
    "overwritten-result",
    "The result of an instruction is read before another one overwrites it.",
    "read it before it is overwritten, or write to another place",
    "NKI API reference, nki.isa, nc_matmul",
    WarningGroup.suspicious,
)
REDUNDANT_FILL = _lint(
    "redundant-fill",
    "Something reads a fill before its tile is overwritten and before the kernel ends.",
    "use the filled tile before it is overwritten, or remove the instruction",
)
NO_RESULT = _lint(
    "no-result",
    "The caller of a kernel sees only the tensors that it returns and the arguments that it "
    "writes.",
    "return the tensor in HBM that has the result, e.g. return out",
    "NKI quick start, step 7",
    group=WarningGroup.suspicious,
)
LOST_RESULT = _lint(
    "lost-result",
    "A tensor in HBM that a kernel writes is returned, or read by the kernel itself.",
    "return the tensor too, e.g. return out, stats; or remove it with what writes it",
    "NKI quick start, step 7",
    group=WarningGroup.suspicious,
)
REDUNDANT_COPY = _lint(
    "redundant-copy",
    "A copy changes something: the buffer, the data type or the partitions; or one of the two "
    "tiles is overwritten later.",
    "use 'src' where 'dst' is used, and remove the copy",
)
SMALL_DMA = _lint(
    "small-dma",
    "A DMA moves at least 512 neighbouring bytes with each descriptor; below that, moving a few "
    "takes as long.",
    "make the last dimension of both sides longer or contiguous, or load several rows at once",
    "NKI DMA bandwidth guide; NKI performance guide",
)
FEW_PARTITIONS = _lint(
    "few-partitions",
    "An instruction takes as long for one partition as for 128, so distribute long rows over many"
    " partitions.",
    "lay the rows over more partitions: reshape (1, n) in HBM to (128, n // 128) before loading it",
    "NKI performance guide; Trainium architecture guides",
)
SLOW_MODE = _lint(
    "slow-mode",
    "From NeuronCore-v3 on, the Vector Engine takes 16-bit elements two to four times as fast, if "
    "the free dimension is contiguous and all operands have 16 bits.",
    "write the operands one element after the other, and allocate them as nl.bfloat16 or "
    "nl.float16",
    "Trainium2 architecture guide, Vector Engine performance modes",
)
TABLE_RELOAD = _lint(
    "table-reload",
    "The Scalar Engine holds the table of one group of activation functions; alternating between "
    "groups reloads a table each time.",
    "do all of one function before the next: split the loop in two, one for each function",
    "NKI performance guide; DMA overview page",
)

REPEATED_LOAD = _lint(
    "repeated-load",
    "Data that fits into SBUF is loaded once: no load repeats bytes of HBM that have been loaded "
    "before and not been written since.",
    "load them once, before the loop, into a tile that stays (nkijit advise shows the gain)",
    "NKI performance guide, Opt #1; matrix multiplication tutorial",
)
WIDENED_MATMUL = _lint(
    "widened-matmul",
    "Matmuls multiply data of 16 or 8 bits as it was loaded. float32 takes several passes through "
    "the array, and PSUM accumulates in float32 for all data types.",
    "pass the tiles as they were loaded to the matmul, without the cast to float32",
    "API reference, nki.isa.nc_matmul",
)
BROADCAST_LOAD = _lint(
    "broadcast-load",
    "A row that all partitions need is not read from HBM once for each of them.",
    "load it into one partition, and repeat it with nl.broadcast_to(row, shape) or "
    "nisa.nc_stream_shuffle; load it once in front of loops",
    "NKI DMA overview; NKI performance guide",
)

ROUNDED_INTEGERS = _lint(
    "rounded-integers",
    "32-bit integers are added, subtracted and multiplied in float32 only up to 2**24; float32 "
    "rounds larger ones, unless they are multiples of a power of two.",
    "use nisa.tensor_tensor of int32 or uint32 tiles in SBUF, which the GpSimd Engine computes in "
    "integers",
    "NKI API reference, nki.isa, tensor_tensor and tensor_scalar",
    WarningGroup.suspicious,
)

SATURATED_SUM = _lint(
    "saturated-sum",
    "A data type holds the sum of as many ones as integers are added: uint8 saturates at 255, int8 "
    "at 127.",
    "give the sum the data type nl.int32 or nl.float32",
    "NKI API reference, nki.isa, tensor_reduce and tensor_tensor; NKI API reference, "
    "nki.api.shared",
    WarningGroup.suspicious,
)
ROUNDED_SUM = _lint(
    "rounded-sum",
    "A sum of many terms is kept in float32: a 16-bit type rounds it after each addition, and with "
    "2**8 (bfloat16) or 2**11 (float16) equal terms, further terms do not change it.",
    "allocate the sum as nl.float32, and convert it after the last addition",
    "NKI API reference, nki.isa, tensor_tensor; NKI API reference, nki.api.shared",
)

FALSE_PREDICATE = _lint(
    "false-predicate",
    "The predicate of a selection is true for some elements.",
    "correct the comparison, 'offset', or the signs in 'pattern' and 'channel_multiplier'; "
    "nisa.memset writes a number to all elements",
    "NKI API reference, nki.isa, affine_select",
    WarningGroup.suspicious,
)
ROUNDED_SEARCH = _lint(
    "rounded-search",
    "The values that an instruction searches for have the data type of the data.",
    "give 'vals' the data type of 'data'",
    "NKI API reference, nki.isa, nc_find_index8 and nc_match_replace8",
    WarningGroup.suspicious,
)
SUSPECTED = (
    OVERWRITTEN_RESULT,
    REDUNDANT_FILL,
    DEAD_STORE,
    NO_RESULT,
    LOST_RESULT,
    FALSE_PREDICATE,
    ROUNDED_SEARCH,
)
"""Rules about results that nothing uses, or that are not the intended ones.

They are reported only for kernels without errors.
"""
LINT = (
    UNUSED_TILE,
    REDUNDANT_COPY,
    SMALL_DMA,
    FEW_PARTITIONS,
    SLOW_MODE,
    TABLE_RELOAD,
    REPEATED_LOAD,
    WIDENED_MATMUL,
    BROADCAST_LOAD,
    ROUNDED_SUM,
)
"""Rules about time, memory and precision. They are reported only for kernels without errors."""
