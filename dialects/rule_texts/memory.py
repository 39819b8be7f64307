"""Rules about the capacity of SBUF and PSUM."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import ARCH, rule
from nkijit.dialects.rule_texts.text import ErrorKind, WarningGroup

SBUF_CAPACITY = rule(
    "sbuf-capacity",
    "memory",
    "The tiles that are in use at one time fit into the bytes that a partition of SBUF has for a "
    "kernel.",
    "split long tiles along the free dimension, or load each inside the loop that uses it; "
    "nkijit memory shows what is in use together",
    f"{ARCH}; NKI simulator, memory model",
    kind=ErrorKind.does_not_fit,
)
SBUF_SPILL = rule(
    "sbuf-spill",
    "memory",
    "The tiles that are in use at one time fit into the bytes that a partition of SBUF has for a "
    "kernel; a compiler keeps some of them in HBM for the time being, where it can.",
    "split long tiles along the free dimension, or load each inside the loop that uses it; "
    "nkijit memory shows what is in use together",
    "Neuron Explorer, summary page (spilled and reloaded bytes); kernel optimization tutorial",
    group=WarningGroup.advice,
)
PSUM_CAPACITY = rule(
    "psum-capacity",
    "memory",
    "The tiles that are in use at one time fit into the banks of PSUM, 8 of 2 KiB per partition; a "
    "tile that fits into a bank lies in one.",
    "copy each result to SBUF with nisa.tensor_copy before the next matmuls, so that its banks "
    "are free again; nkijit memory shows what is in use together",
    f"{ARCH}; NKI migration guide, improved allocation API",
    kind=ErrorKind.does_not_fit,
)
NO_LAYOUT = rule(
    "no-layout",
    "memory",
    "There are enough bytes for the tiles in use at each time, but no addresses were found for "
    "all: fixed addresses, or tiles that live long, leave gaps that are too small.",
    "move fixed addresses together so that the free bytes are in one piece, or leave address= out",
    "NKI migration guide, improved allocation API",
    group=WarningGroup.advice,
)
