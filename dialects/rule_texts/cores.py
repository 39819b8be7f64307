"""Rules about cores, ranks and collectives."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import ISA, rule
from nkijit.dialects.rule_texts.text import WarningGroup

_COLLECTIVES = "NKI API reference, nki.collectives"

TWO_CORES = rule(
    "two-cores",
    "target",
    "core_barrier and sendrecv connect the two cores of a kernel that is launched on two.",
    "launch the kernel with kernel[2], or leave the instruction out when nl.num_programs() is 1",
    ISA,
)
CORES_DIFFER = rule(
    "cores-differ",
    "dataflow",
    "The programs of two cores have the same arguments, allocate the same tensors in shared HBM in "
    "the same order, and return the same.",
    "allocate in shared HBM, and return, outside of branches on nl.program_id",
    "NKI guide, logical NeuronCores",
)
RETURN_SHARED = rule(
    "return-shared",
    "buffer",
    "A kernel that is launched on two cores returns tensors in shared HBM.",
    "allocate the result with buffer=nl.shared_hbm",
    "NKI guide, logical NeuronCores",
)
BARRIER_CORES = rule(
    "barrier-cores",
    "operator",
    "A core barrier is between cores 0 and 1.",
    "pass cores=(0, 1)",
    ISA,
)
BARRIER_ALONE = rule(
    "barrier-alone",
    "operator",
    "A core barrier is between cores 0 and 1: a single core has no other core to wait for.",
    "pass cores=(0, 1), or leave the barrier out",
    f"{ISA}, core_barrier",
    group=WarningGroup.suspicious,
)
BARRIER_ON_CHIP = rule(
    "barrier-on-chip",
    "buffer",
    "A core barrier synchronises a tensor in shared HBM; a tile on chip belongs to one core. A "
    "barrier on a tile applies to every tensor in shared HBM.",
    "pass the tensor in shared HBM that both cores use",
    f"{ISA}, core_barrier",
    group=WarningGroup.suspicious,
)
SENDRECV_RANK = rule(
    "sendrecv-rank",
    "operator",
    "sendrecv connects ranks 0 and 1.",
    "pass 1 - nl.program_id(0), the other core",
    ISA,
)
GPSIMD_DMA_SIZE = rule(
    "gpsimd-dma-size",
    "shape",
    "The GpSimd Engine's DMA moves 1024, 512 or 256 bytes per partition of 32, 16 or 8-bit types.",
    "pass dma_engine=nisa.dma_engine.dma, or send the tile in parts",
    ISA,
)
SAME_SHAPE = rule(
    "same-shape",
    "shape",
    "These tiles have the same shape.",
    "slice, or reshape, one of them to the shape of the other",
    ISA,
)
COLLECTIVE_LISTS = rule(
    "collective-lists",
    "shape",
    "A collective takes as many sources as destinations.",
    "pass lists of equal length",
    _COLLECTIVES,
)
COLLECTIVE_BUFFER = rule(
    "collective-buffer",
    "buffer",
    "The tensors of a collective are all in HBM, or all in SBUF if the collective allows it. In "
    "HBM, the sources of all_reduce and all_gather are all private or all shared; the same holds "
    "for the destinations.",
    "copy tiles to tensors in HBM with nl.store first",
    _COLLECTIVES,
)
COLLECTIVE_SBUF_DIMS = rule(
    "collective-sbuf-dims",
    "shape",
    "The tensors of a collective in SBUF have two dimensions: partitions and one free dimension.",
    "join the free dimensions, e.g. tile.flatten_dims(1, 2)",
    _COLLECTIVES,
)
COLLECTIVE_COALESCED = rule(
    "collective-coalesced",
    "shape",
    "Only collectives in HBM take several tensors; permutations and collectives of variable "
    "length take one.",
    "call the collective once for each tensor",
    _COLLECTIVES,
)
COLLECTIVE_GROUP = rule(
    "collective-group",
    "operator",
    "The groups of a collective are lists of ranks of equal length; a rank is in one of them, "
    "and is source and target of one pair.",
    "list every rank once, in groups of one length, e.g. [[0, 1], [2, 3]]",
    _COLLECTIVES,
)
COLLECTIVE_DIM = rule(
    "collective-dim",
    "operator",
    "Collectives split and join dim 0; all_gather in SBUF joins dim 0 or 1.",
    "use collective_dim=0",
    _COLLECTIVES,
)
COLLECTIVE_OPERATOR = rule(
    "collective-operator",
    "operator",
    "Collectives reduce with nl.add, nl.minimum or nl.maximum.",
    "pass op=nl.add, op=nl.minimum or op=nl.maximum",
    _COLLECTIVES,
)
COLLECTIVE_DTYPE = rule(
    "collective-dtype",
    "dtype",
    "Collectives do not convert: source and destination have the same data type.",
    "allocate the destination with the data type of the source",
    _COLLECTIVES,
)
COLLECTIVE_SHAPE = rule(
    "collective-shape",
    "shape",
    "The destination of a collective has the shape that the source and the size of the group give.",
    "allocate the destination with the shape that the message gives",
    _COLLECTIVES,
)
COLLECTIVE_CHANNELS = rule(
    "collective-channels",
    "operator",
    "Channels are numbered from 0 without a gap, there are at most four, and each has one tensor.",
    "pass channel_ids=[0, 1, …], one for each tensor",
    _COLLECTIVES,
)
COLLECTIVE_METADATA = rule(
    "collective-metadata",
    "dtype",
    "The metadata of a collective of variable length is uint32 and contiguous: three or four rows, "
    "a column for each rank of the group; in HBM, or in SBUF on one partition.",
    "allocate it with dtype=nl.uint32 and shape (3, ranks) in HBM or (1, 3, ranks) in SBUF",
    _COLLECTIVES,
)
COLLECTIVE_RDISPLS = rule(
    "collective-rdispls",
    "target",
    "Only all_to_all_v on NeuronCore-v4 accepts the positions of chunks in the destination; "
    "all_gather_v never does.",
    "leave has_rdispls out; chunks land at the starts of equal slots",
    _COLLECTIVES,
)
COLLECTIVE_LAUNCH = rule(
    "collective-launch",
    "target",
    "all_gather_v is for kernels that are launched on two cores, and for groups of four ranks.",
    "launch it with kernel[2] on groups of four ranks, or pad the chunks and use all_gather",
    _COLLECTIVES,
)
COLLECTIVE_SPLIT = rule(
    "collective-split",
    "dataflow",
    "One trigger of the same kind follows each prepare of a collective, in the same loop. Between"
    " them, no other prepare is allowed, because there is one slot, and the metadata must not "
    "change.",
    "call the trigger of a prepare before the next prepare, in the same loop",
    _COLLECTIVES,
)
RANDOM_RANGE = rule(
    "random-range",
    "operator",
    "Uniform random numbers are drawn from min to max with min < max, a finite distance apart.",
    "pass numbers with min below max",
    ISA,
)
PROBABILITY = rule(
    "probability",
    "operator",
    "The probability of dropping an element is a number from 0 to 1.",
    "pass a fraction, e.g. 0.1 for ten percent",
    ISA,
)
