"""Targets: the NeuronCore generations, with their sizes and limits.

`TARGETS` is the only source of a generation's numbers. Timing constants come from the generation's
data file, see `hardware/timing.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, cast

from nkijit.dialects.hardware.timing import Timing, load_timing, timing_of
from nkijit.dialects.hardware.words import engine, nc_version
from nkijit.dialects.python_values import one_line
from nkijit.dialects.spelling import did_you_mean

PARTITIONS_PER_GPSIMD_CORE = 16
"""Number of neighbouring partitions that each of the GpSimd Engine's eight cores processes."""


def gpsimd_cores(partitions: int) -> range:
    """Return the first partition of each GpSimd core that a tile of `partitions` rows uses."""
    return range(0, partitions, PARTITIONS_PER_GPSIMD_CORE)


def gpsimd_core_elements(free_size: int) -> int:
    """Return the elements per GpSimd core of a tile with `free_size` elements per partition."""
    return free_size * PARTITIONS_PER_GPSIMD_CORE


INDIRECTION_GROUP = 16
"""Number of partitions that share the indices of tensor indirection (NKI API reference, indirect).

Applies to all engines but the Tensor Engine.
"""
TENSOR_ENGINE_GROUP = 32
"""Number of partitions that share the indices of tensor indirection on the Tensor Engine."""

PARTITIONS_PER_QUADRANT = 32
"""Number of partitions of a quadrant: the partitions that one bank of the Vector Engine reads.

The engine can move data between the partitions of a bank.
"""


def start_partitions(partitions: int) -> range:
    """Return the legal first partitions of a tile of `partitions` partitions.

    A tile of up to one quadrant can begin at any quadrant, a tile of up to two quadrants at either
    half, and a larger tile at partition 0 (architecture guide, NeuronCore-v2).
    """
    quadrant = PARTITIONS_PER_QUADRANT
    step = quadrant if partitions <= quadrant else 2 * quadrant
    return range(0, 4 * quadrant if partitions <= 2 * quadrant else 1, step)


HBM_BYTES_MAX = 144 * 2**30
"""HBM bytes of the device with the largest one, Trainium3 (Trainium3 architecture guide)."""

COMPUTE_ENGINES = frozenset({engine.tensor, engine.vector, engine.scalar, engine.gpsimd})
"""The engines that access all partitions of SBUF and PSUM in lockstep."""

ACCESS_COUNT_MAX = 2**16 - 1
"""The largest element count of a free dimension of an engine's access.

Source: architecture guide, NeuronCore-v2.
"""
ACCESS_STRIDES = range(-(2**15), 2**15)
"""Legal strides of a free dimension of an engine's access, in elements (architecture guide)."""


@dataclass(frozen=True, slots=True, repr=False)
class Target:
    """The sizes and limits of one NeuronCore generation.

    Sizes are per partition where the name says so. Sources: the Trainium architecture guides
    (clocks, SBUF and PSUM sizes, tile limits), the direct allocation guide (usable SBUF).
    """

    version: nc_version
    platform: str
    """The device's name on the command line: trn1, trn2, trn3."""
    pmax: int
    """Number of partitions of SBUF and PSUM."""
    sbuf_partition_bytes: int
    """SBUF bytes per partition."""
    sbuf_usable_bytes: int
    """SBUF bytes per partition that are available to a kernel."""
    psum_bank_bytes: int
    """Bytes per partition of one PSUM bank."""
    psum_banks: int
    gemm_stationary_fmax: int
    """Largest number of columns of a stationary tile."""
    gemm_moving_fmax: int
    """Number of columns of a moving tile that fills one PSUM bank with float32 (`nl.tile_size`)."""
    moving_columns_max: int
    """Largest number of columns of a moving tile with a float32 dst."""
    vector_transpose_max: int
    """Largest number of rows, and of columns, of a transpose on the Vector Engine."""
    bn_stats_fmax: int
    sbuf_min_align: int
    psum_min_align: int
    max_access_dims: int
    """Largest number of dimensions of an access pattern, including the partition dimension."""
    other_timing: Timing | None = None
    """Timing constants in the place of the generation's own; None for the own ones."""
    disable_dge: bool = False
    """True when DMA descriptors are generated before the kernel runs, except for addresses that
    are known only at run time. The vendor's compiler does so with `--disable-dge`, and did so on
    trn2 before release 2.19 (release notes of June 2025)."""

    def __repr__(self) -> str:
        return f"<target {self.platform}, NeuronCore-v{self.version.value}>"

    @property
    def timing(self) -> Timing:
        """The timing constants of the cost model."""
        return self.other_timing or timing_of(self.platform)

    @property
    def has_dge(self) -> bool:
        """True when hardware generates DMA descriptors by default."""
        return self.version >= nc_version.gen3 and not self.disable_dge

    def launch_ns(self, cores: int) -> float:
        """The time of a launch in addition to the kernel's instructions, in ns."""
        sequencer = self.timing.sequencer
        if cores > 1:
            return sequencer.kernel_two_cores_ns
        return sequencer.kernel_ns if self.has_dge else sequencer.kernel_prebuilt_ns

    @property
    def psum_partition_bytes(self) -> int:
        """PSUM bytes per partition of all banks."""
        return self.psum_bank_bytes * self.psum_banks

    @property
    def matmul_spans_banks(self) -> bool:
        """True when one matmul may write to several PSUM banks."""
        return self.moving_columns_max > self.gemm_moving_fmax


def _target(
    version: nc_version,
    platform: str,
    *,
    sbuf_partition_bytes: int,
    sbuf_usable_bytes: int,
    moving_columns_max: int,
) -> Target:
    return Target(
        version=version,
        platform=platform,
        pmax=128,
        sbuf_partition_bytes=sbuf_partition_bytes,
        sbuf_usable_bytes=sbuf_usable_bytes,
        psum_bank_bytes=2048,
        psum_banks=8,
        gemm_stationary_fmax=128,
        gemm_moving_fmax=512,
        moving_columns_max=moving_columns_max,
        vector_transpose_max=32,
        bn_stats_fmax=512,
        # The public pages name the two alignments without numbers. Every documented access
        # satisfies one byte and one float32.
        sbuf_min_align=1,
        psum_min_align=4,
        max_access_dims=5,
    )


TARGETS: dict[nc_version, Target] = {
    nc_version.gen2: _target(
        nc_version.gen2,
        "trn1",
        sbuf_partition_bytes=192 * 1024,
        sbuf_usable_bytes=180_224,
        moving_columns_max=512,
    ),
    nc_version.gen3: _target(
        nc_version.gen3,
        "trn2",
        sbuf_partition_bytes=224 * 1024,
        sbuf_usable_bytes=212_984,
        moving_columns_max=512,
    ),
    nc_version.gen4: _target(
        nc_version.gen4,
        "trn3",
        sbuf_partition_bytes=256 * 1024,
        sbuf_usable_bytes=245_752,
        moving_columns_max=4096,
    ),
}

PLATFORM_NAMES: dict[str, nc_version] = {
    "trn1": nc_version.gen2,
    "inf2": nc_version.gen2,
    "gen2": nc_version.gen2,
    "trn2": nc_version.gen3,
    "gen3": nc_version.gen3,
    "trn3": nc_version.gen4,
    "gen4": nc_version.gen4,
}
"""The generation of each value of `platform_target=` and `NEURON_PLATFORM_TARGET_OVERRIDE`."""

DEFAULT_PLATFORM = "trn3"


def target_named(name: str) -> Target:
    """Return the target called `name`. Raises ValueError with the known names if there is none."""
    version = PLATFORM_NAMES.get(name) if isinstance(cast(Any, name), str) else None
    if version is None:
        # Above the similarity of names that differ in the generation only: trn9 is not trn1.
        near = did_you_mean(name, PLATFORM_NAMES, 0.8) if isinstance(cast(Any, name), str) else ""
        raise ValueError(
            f"unknown platform target {one_line(name)}; known: {', '.join(PLATFORM_NAMES)}{near}"
        )
    return TARGETS[version]


def with_timing(target: Target, path: str | PathLike[str]) -> Target:
    """Return the target with the timing constants of another data file.

    Raises:
        TimingError: the file cannot be used, see `load_timing`.
    """
    return replace(target, other_timing=load_timing(path))


def without_dge(target: Target) -> Target:
    """Return the target with DMA descriptors that are prebuilt, see `Target.disable_dge`."""
    return replace(target, disable_dge=True)
