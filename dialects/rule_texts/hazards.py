"""Rules about operations that use the same memory without a defined order."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import ISA, rule
from nkijit.dialects.rule_texts.text import ErrorKind, WarningGroup

_SCHEDULING = "NKI deep dive, instruction scheduling; NKI performance guide"

ANTI_DEPENDENCE = rule(
    "anti-dependence",
    "hazard",
    "An engine that overwrites bytes waits until another engine has read their old contents, "
    "although it needs no data from that engine.",
    "take turns between two tiles (double buffering): allocate them inside an unrolled loop, or do "
    "two steps in each iteration of a loop on the device",
    _SCHEDULING,
    group=WarningGroup.advice,
)
OUTPUT_DEPENDENCE = rule(
    "output-dependence",
    "hazard",
    "Two engines write the same bytes, and only the order of the program says which comes last.",
    "write the parts of the tile that do not overlap, or let one engine write both",
    _SCHEDULING,
    group=WarningGroup.advice,
)
ADDRESS_OVERLAP = rule(
    "address-overlap",
    "hazard",
    "Tiles at fixed addresses that overlap are not in use at the same time.",
    "move one of them, or let the last use of one come before the first use of the other",
    "NKI API reference, nki.language, ndarray; direct allocation guide",
    kind=ErrorKind.does_not_fit,
)
CORE_RACE = rule(
    "core-race",
    "hazard",
    "A core does not read bytes of shared HBM that the other core writes, without a barrier "
    "between them.",
    "call nisa.core_barrier on the tensor between the write and the read",
    f"{ISA}, core_barrier",
    kind=ErrorKind.undefined,
)
CORE_DOUBLE_WRITE = rule(
    "core-double-write",
    "hazard",
    "If two cores write the same bytes of shared HBM without a barrier in between, they write the"
    " same values; otherwise the result depends on chance.",
    "let each core write its own part, chosen by nl.program_id, or let one of them write",
    f"{ISA}, core_barrier",
    group=WarningGroup.suspicious,
)
SAME_WORK = rule(
    "same-work",
    "hazard",
    "Two cores divide the work: each computes the part of the result that nl.program_id(0) "
    "selects.",
    "split the work by nl.program_id(0), which is 0 on one core and 1 on the other, e.g. for i in "
    "range(nl.program_id(0), n, 2); or launch the kernel on one core",
    "NKI guide, logical NeuronCores",
    group=WarningGroup.advice,
)
CORES_WAIT = rule(
    "cores-wait",
    "hazard",
    "Both cores come to the same barriers, exchanges and collectives in the same order.",
    "call barriers, exchanges and collectives outside of branches on nl.program_id, with the same "
    "arguments on both cores",
    f"{ISA}, core_barrier and sendrecv",
)
SENDRECV_PAIR = rule(
    "sendrecv-pair",
    "hazard",
    "Each core receives the tile that the other one sends: each names the other, and the tiles "
    "have the same shape and data type.",
    "pass 1 - nl.program_id(0) as send_to_rank and as recv_from_rank, and give both tiles one "
    "shape and data type",
    f"{ISA}, sendrecv",
)
