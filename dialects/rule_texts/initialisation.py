"""Rules about uninitialised memory."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import LANGUAGE, rule
from nkijit.dialects.rule_texts.text import ErrorKind, WarningGroup

READ_UNWRITTEN = rule(
    "read-unwritten",
    "initialisation",
    "At least one element of each tile that an instruction reads has been written before; the "
    "contents of an allocation are undefined.",
    "write the tile first, e.g. with nisa.memset or nisa.dma_copy",
    f"{LANGUAGE}, ndarray",
    kind=ErrorKind.undefined,
)
UNDEFINED_USE = rule(
    "undefined-use",
    "initialisation",
    "Results, addresses and conditions of a kernel do not depend on unwritten memory. Computing on "
    "unwritten memory alone is legal.",
    "write all of the tile first, e.g. with nisa.memset or nisa.dma_copy, or use only the part "
    "that is written",
    f"{LANGUAGE}, ndarray",
    kind=ErrorKind.undefined,
)
READ_MASKED = rule(
    "read-masked",
    "initialisation",
    "Elements of a tile that a mask has left out are undefined, and so are results that depend on "
    "them.",
    "give the same mask to what reads the tile, or fill the tile first",
    "NKI API reference 2.26, nki.api.shared, NKI API Masking",
    group=WarningGroup.suspicious,
)
OUTPUT_UNWRITTEN = rule(
    "output-unwritten",
    "initialisation",
    "A tensor that a kernel returns has been written when it ends.",
    "write it before the kernel ends, e.g. nl.store(out, tile), also when a loop or a branch is "
    "not entered; or do not return it",
    f"{LANGUAGE}, ndarray",
    kind=ErrorKind.undefined,
)
OUTPUT_PARTLY_UNWRITTEN = rule(
    "output-partly-unwritten",
    "initialisation",
    "Every element of a tensor that a kernel returns has been written when it ends.",
    "let the loops reach the rest of it, or allocate and return a smaller tensor",
    f"{LANGUAGE}, ndarray",
    group=WarningGroup.suspicious,
)
