"""The timing constants of a NeuronCore generation, read from one data file per generation.

`timings/trn1.toml`, `trn2.toml` and `trn3.toml` hold every number of the cost model, each with its
source and reliability. `load_timing` also reads a custom file, which must have all sections and
keys. A number can be written with a published or assumed range:
`{ likely = 751, fast = 740, slow = 1000 }`. The formulas that use the numbers are in `costs/`.

Units are in the names: `_ghz`, `_ns`, `_cycles` (of the engine's own clock), `_bytes`, and
`_rate` for elements per partition and cycle of the engine's clock. `startup` and `latency` are
times from the start of an instruction to its result.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cache
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast, get_type_hints

from nkijit.dialects.files import read_regular

StrideFactors = tuple[tuple[float, float], ...]
"""Pairs of a stride in bytes and the factor by which reads with that stride are slower.

Between two pairs, the factor is interpolated. Strides below the first pair have its factor, strides
above the last pair have the last factor.
"""


TIMINGS = Path(__file__).parent / "timings"
"""The folder of the data files."""


class TimingError(ValueError):
    """A data file is invalid. The message names the file and, if known, the key."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """Clocks of the engines."""

    tensor_ghz: float
    vector_ghz: float
    scalar_ghz: float
    gpsimd_ghz: float
    sync_ghz: float
    core_ghz: float
    """The clock of the cycle counts in profiles."""


@dataclass(frozen=True, slots=True)
class Vector:
    """Constants of the Vector Engine; "narrow" means 16-bit floating point."""

    min_interval_cycles: float
    """Shortest time between the starts of two instructions."""
    min_interval_dynamic_cycles: float
    """`min_interval_cycles` of an instruction with an address that is known only at run time."""
    overhead_cycles: float
    """Cycles that an instruction keeps the engine busy, in addition to those of its elements."""
    startup_ns: float
    """Time from the start of an instruction to its result, without streaming its elements."""
    stride_factors: StrideFactors
    fp8_is_narrow: bool
    """True when float8 is as fast as 16-bit floating point."""
    rate: float
    """Rate of instructions for which there is no specific rate."""
    narrow_rate: float
    """Rate of tensor_copy and tensor_scalar: contiguous narrow tiles, all in SBUF."""
    narrow_strided_rate: float
    """Rate of tensor_copy and tensor_scalar: narrow tiles that are not contiguous."""
    narrow_psum_rate: float
    """Rate of tensor_copy and tensor_scalar: contiguous narrow tiles, one of them in PSUM."""
    wide_rate: float
    """Rate of tensor_copy and tensor_scalar: contiguous tiles in SBUF that are not all narrow."""
    widening_rate: float
    """Rate of tensor_copy and tensor_scalar whose result has a wider data type than its input."""
    tensor_tensor_rate: float
    """Rate of tensor_tensor with both inputs in the same memory."""
    tensor_tensor_psum_rate: float
    """Rate of tensor_tensor with one input in PSUM and the other in SBUF."""
    tensor_tensor_narrow_rate: float
    """Rate of tensor_tensor with narrow inputs in SBUF and a narrow result."""
    scalar_tensor_tensor_rate: float
    scalar_tensor_tensor_psum_rate: float
    """`scalar_tensor_tensor_rate` with one of the two tiles in PSUM."""
    predicated_rate: float
    """Rate of tensor_copy_predicated and select_reduce."""
    predicated_psum_rate: float
    """`predicated_rate` with one of the two tiles in PSUM."""
    scan_rate: float
    scan_seed_ns: float
    """Added to the startup of a scan whose initial value is in a tile."""
    reciprocal_cycles_per_element: float
    memset_rate: float
    memset_narrow_zero_rate: float
    """Rate of memset with zeros of 16-bit floating point."""
    memset_startup_ns: float
    bn_aggr_cycles_per_element: float
    exponential_rate: float
    quantize_rate: float
    rand2_rate: float
    shuffle_mask_ns: float
    """Time to load the mask of nc_stream_shuffle."""
    transpose_cycles: float
    """Shortest time between the starts of two transposes."""
    transpose_ns: float
    """Time from the start of a transpose to its result."""
    accumulator_read_cycles: float
    accumulator_read_ns: float
    """Time from the start of a read of the accumulators to its result."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """Constants of the Scalar Engine; a "function" is any activation function except copy."""

    min_interval_cycles: float
    min_interval_dynamic_cycles: float
    stride_factors: StrideFactors
    rate: float
    narrow_rate: float
    """Rate of tensor_copy and tensor_scalar with 16-bit inputs and results."""
    copy_startup_ns: float
    """Startup of tensor_copy from SBUF."""
    copy_psum_startup_ns: float
    """Startup of tensor_copy from PSUM."""
    affine_startup_ns: float
    """Startup of tensor_scalar, and of activation with the function copy."""
    function_startup_ns: float
    function_psum_startup_ns: float
    function_psum_rate: float
    silu_psum_rate: float
    column_operand_ns: float
    """Added to the startup for each operand of shape [P, 1]."""
    accumulator_read_cycles: float
    accumulator_read_ns: float
    table_load_ns: float
    """Time to load the table of an activation function."""


@dataclass(frozen=True, slots=True)
class GpSimd:
    """Constants of the GpSimd Engine."""

    min_interval_cycles: float
    min_interval_dynamic_cycles: float
    start_cycles: float
    """Cycles to start a program of the GpSimd Engine (iota, affine_select, ...)."""
    startup_ns: float
    stride_factors: StrideFactors
    rate: float
    function_rate: float
    """Rate of rsqrt and power."""
    read_bytes_per_cycle: float
    """Bytes per partition and cycle that an instruction reads, all inputs together."""
    topk_element_cycles: float
    """Cycles of topk per element; each result takes an additional cycle."""
    gather_index_cycles: float
    """Cycles of local_gather per index."""
    gather_element_cycles: float
    """Cycles of local_gather per element that an index selects."""
    gather_word_bytes: float
    """Bytes that local_gather moves at once."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """Constants of the Tensor Engine.

    Columns are columns of the moving or stationary tile, with all rows. The "feed" of a tile is the
    number of cycles in which its columns stream in.
    """

    min_interval_cycles: float
    overhead_cycles: float
    """Cycles of a multiplication in addition to its columns."""
    fp32_passes: float
    fp32_onezero_passes: float
    """`fp32_passes` of a matmul with a hint that one of the tiles contains only zeros and ones."""
    fp32_overhead_cycles: float
    """`overhead_cycles` of a float32 multiplication."""
    latency_ns: float
    """Time from the start of a multiplication to its result, without streaming columns."""
    latency_cycles_per_column: float
    fp32_latency_cycles: float
    """Constant part of the latency of a float32 multiplication.

    The latency also includes the longest feed, and a share of the feed of the moving tile.
    """
    fp32_latency_moving_share: float
    """The share of the moving tile's feed that is part of the latency in float32."""
    load_columns_per_cycle: float
    """Columns of a stationary tile that the array loads per cycle."""
    fp32_load_columns_per_cycle: float
    load_latency_ns: float
    fp32_load_latency_ns: float
    """Constant part of the latency of loading a float32 stationary tile, for an isolated matmul."""
    fp32_load_latency_moving_share: float
    """The share of the moving tile's feed that is added to `fp32_load_latency_ns`."""
    fp32_transpose_passes: float
    fp32_transpose_latency_ns: float
    """Latency of a 32-bit transpose in addition to its own cycles."""
    stride_factors: StrideFactors
    throttle: bool
    """True to limit the array while little of it is in use, as the power limit does."""
    throttle_factor: float
    """The factor by which multiplications take longer while the array is limited."""
    throttle_window_ns: float
    """The time over which the use of the array decides whether it is limited."""
    throttle_below: float
    """The array is limited if a smaller share of it was in use within the window."""


@dataclass(frozen=True, slots=True)
class Dma:
    """Constants of the DMA engines of a core, and of the triggers of transfers."""

    engines: int
    rings: int
    """Number of rings per DMA engine."""
    engine_bytes_per_ns: float
    store_bytes_per_ns: float
    """`engine_bytes_per_ns` of a transfer from SBUF or PSUM to HBM."""
    hbm_bytes_per_ns: float
    """One core's share of the HBM bandwidth of the chip."""
    descriptor_ns: float
    """Time that an engine takes per descriptor in a stream of transfers, without the bytes."""
    efficient_descriptor_bytes: int
    """The least number of bytes at which the vendor's documents call a descriptor efficient."""
    max_descriptor_bytes: int
    """Bytes of the longest descriptor; a longer contiguous run becomes several descriptors."""
    burst_descriptors: int
    """Descriptors per engine that take no `descriptor_ns` in an isolated transfer."""
    load_ns: float
    """Time of an isolated transfer that is not a store, in addition to the time of its bytes."""
    load_stretch: float
    """The factor by which an isolated load takes longer for its bytes than at full bandwidth."""
    store_ns: float
    store_stretch: float
    load_dispatch_ns: float
    """Time from the end of the trigger to the first byte."""
    store_dispatch_ns: float
    load_notify_ns: float
    """Time from the last byte until an instruction that waits for the transfer can start."""
    store_notify_ns: float
    hwdge_load_ns: float
    """Time to trigger a load with hardware-generated descriptors."""
    hwdge_store_ns: float
    hwdge_free_descriptors: int
    """Number of hardware-generated descriptors that take no additional trigger time."""
    hwdge_descriptor_ns: float
    """Trigger time of each further hardware-generated descriptor."""
    swdge_ns: float
    """Time to trigger a transfer with software-generated descriptors (GpSimd Engine)."""
    swdge_indirect_ns: float
    """`swdge_ns` of a transfer with a vector of indices."""
    swdge_descriptor_ns: float
    """Trigger time of each software-generated descriptor, in addition to `swdge_ns`."""
    prebuilt_ns: float
    """Time to trigger a transfer with prebuilt descriptors."""
    prebuilt_dispatch_ns: float
    """Time from the end of the trigger to the first byte, with prebuilt descriptors."""
    transpose_hbm_share: float
    """Share of the DMA bandwidth that a transpose from HBM reaches."""
    transpose_sbuf_share: float
    transpose_block_bytes: int
    """Bytes per descriptor of a transpose."""
    compute_share: float
    """Share of the DMA bandwidth that a dma_compute transfer reaches when it adds to other data."""
    gpsimd_bytes_per_ns: float
    """Bandwidth of the GpSimd Engine's own DMA engine, per direction."""


@dataclass(frozen=True, slots=True)
class Semaphores:
    """Constants of the synchronisation between engines."""

    instruction_ns: float
    """Time of an instruction that only waits or signals."""
    latency_ns: float
    """Time from a signal to the start of the waiting instruction."""


@dataclass(frozen=True, slots=True)
class Sequencer:
    """Constants of the sequencers of the engines."""

    register_move_ns: float
    register_access_ns: float
    """Time to load a register from a tensor, or to store one to a tensor."""
    alu_ns: float
    """Time of an arithmetic instruction on registers."""
    core_barrier_ns: float
    kernel_ns: float
    """Time to launch a kernel on one core, in addition to the kernel's instructions."""
    kernel_prebuilt_ns: float
    """`kernel_ns` of a kernel with prebuilt DMA descriptors."""
    kernel_two_cores_ns: float


@dataclass(frozen=True, slots=True)
class Collectives:
    """Constants of transfers between ranks."""

    base_ns: float
    hop_ns: float
    """Time to send data from a rank to its neighbour in the ring."""


class End(Enum):
    """The two ends of a constant's range: kernels are fastest at one end, slowest at the other."""

    fast = "fast"
    slow = "slow"


class Spread(NamedTuple):
    """The range of a constant, as factors of its likely value."""

    section: str
    key: str
    fast: float
    """The factor at the end of the range at which kernels are fastest."""
    slow: float
    """The factor at the end of the range at which kernels are slowest."""


@dataclass(frozen=True, slots=True, repr=False)
class Timing:
    """All constants of one generation."""

    clocks: Clocks
    vector: Vector
    scalar: Scalar
    gpsimd: GpSimd
    tensor: Tensor
    dma: Dma
    semaphores: Semaphores
    sequencer: Sequencer
    collectives: Collectives
    spreads: tuple[Spread, ...] = field(default=(), kw_only=True)
    """The constants whose range is in the data file, with that range."""

    def at(self, end: End) -> Timing:
        """Return the constants with every range replaced by its fast or its slow end."""
        sections: dict[str, Any] = {}
        for spread in self.spreads:
            section = sections.get(spread.section, getattr(self, spread.section))
            value = getattr(section, spread.key) * getattr(spread, end.value)
            sections[spread.section] = replace(section, **{spread.key: value})
        return replace(self, **sections)


@cache
def timing_of(platform: str) -> Timing:
    """Return the constants of a device, e.g. "trn2"; the file is read at the first call."""
    return load_timing(TIMINGS / f"{platform}.toml")


def load_timing(path: str | PathLike[str]) -> Timing:
    """Read a data file.

    Raises:
        TimingError: the file cannot be read or is not TOML, a key is missing or unknown, or a
            value is of the wrong kind. Numbers are at most `LARGEST` and at least its inverse.
    """
    import tomllib  # importing kernels needs no times

    try:
        tables = tomllib.loads(read_regular(path, _MAX_BYTES).decode())
    except OSError as error:
        raise TimingError(f"{path}: cannot be read: {error.strerror or error}") from error
    except RecursionError:
        raise TimingError(f"{path}: is not TOML: it is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise TimingError(f"{path}: is not TOML: byte {error.start} is not UTF-8") from None
    except ValueError as error:  # TOMLDecodeError, or a number with too many digits
        raise TimingError(f"{path}: is not TOML: {error}") from error
    kinds = {name: kind for name, kind in _kinds(Timing).items() if name != "spreads"}
    _check_keys(path, "", tables, kinds)
    spreads: list[Spread] = []
    sections = {
        name: _section(path, name, tables[name], kind, spreads) for name, kind in kinds.items()
    }
    return Timing(**sections, spreads=tuple(spreads))


LARGEST = 1e12
"""The largest legal constant, far above those of nkijit's files: all durations are finite."""

_MAX_BYTES = 1 << 20

_T = TypeVar("_T")


@cache
def _kinds(of: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(of)
    return {field.name: hints[field.name] for field in fields(of)}


def _section(path: object, name: str, table: object, kind: type[_T], spreads: list[Spread]) -> _T:
    if not isinstance(table, dict):
        raise TimingError(f"{path}: '{name}' must be a table, it is {_shown(table)}")
    values = cast("dict[str, object]", table)
    kinds = _kinds(kind)
    _check_keys(path, f"{name}.", values, kinds)
    likely = dict(values)
    for key, value in values.items():
        if kinds[key] is float and isinstance(value, dict):
            ends = cast("dict[str, object]", value)
            _check_keys(path, f"{name}.{key}.", ends, dict.fromkeys(_ENDS))
            found = {end: _value(path, f"{name}.{key}.{end}", ends[end], float) for end in _ENDS}
            likely[key] = found["likely"]
            factors = (found[end.value] / found["likely"] for end in End)
            spreads.append(Spread(name, key, *factors))
    return kind(**{key: _value(path, f"{name}.{key}", likely[key], kinds[key]) for key in kinds})


_ENDS = ("likely", *(end.value for end in End))


def _check_keys(path: object, prefix: str, given: dict[str, object], known: dict[str, Any]) -> None:
    for key in given:
        if key not in known:
            raise TimingError(f"{path}: unknown key '{prefix}{key}'; known: {', '.join(known)}")
    for key in known:
        if key not in given:
            raise TimingError(f"{path}: key '{prefix}{key}' is missing")


def _value(path: object, key: str, value: object, kind: object) -> Any:
    if kind is bool:
        if isinstance(value, bool):
            return value
        raise TimingError(f"{path}: '{key}' must be true or false, it is {_shown(value)}")
    if kind is int:
        if isinstance(value, int) and _is_positive(value):
            return value
        raise TimingError(
            f"{path}: '{key}' must be an integer above 0, it is {_shown(value)}; {_LEGAL}"
        )
    if kind is float:
        # Overheads are added, so they can be 0. Other numbers divide, or 0 would be a mistake.
        is_zero = value == 0 and not isinstance(value, bool) and key.endswith("overhead_cycles")
        if is_zero or _is_positive(value):
            return float(cast(float, value))
        raise TimingError(
            f"{path}: '{key}' must be a number above 0, it is {_shown(value)}; {_LEGAL}"
        )
    return _stride_factors(path, key, value)


_LEGAL = f"legal: {1 / LARGEST:g} to {LARGEST:g}"


def _shown(value: object) -> str:
    """The repr of a value, abbreviated if it is long or nested."""
    return reprlib.repr(value)


def _is_positive(value: object) -> bool:
    """Return True for a number from `1 / LARGEST` to `LARGEST`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 1 / LARGEST <= value <= LARGEST


def _stride_factors(path: object, key: str, value: object) -> StrideFactors:
    pairs = cast("list[list[float]]", value if isinstance(value, list) else [])
    good = [
        isinstance(pair, list) and len(pair) == 2 and all(map(_is_positive, pair))  # pyright: ignore[reportUnnecessaryIsInstance]
        for pair in pairs
    ]
    if not good or not all(good):
        raise TimingError(
            f"{path}: '{key}' must be a list of [bytes, factor], numbers above 0, "
            f"it is {_shown(cast(object, value))}; {_LEGAL}"
        )
    if any(a[0] >= b[0] for a, b in pairwise(pairs)):
        raise TimingError(
            f"{path}: the bytes of '{key}' must ascend, they are {_shown(cast(object, value))}"
        )
    return tuple((float(size), float(factor)) for size, factor in pairs)
