"""The constants of time of a NeuronCore generation, read from one data file per generation.

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
import tomllib
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

Factors between two pairs are interpolated; beyond the first and the last pair they are constant.
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
    """The clock that profilers count in."""


@dataclass(frozen=True, slots=True)
class Vector:
    """The Vector Engine. 'Narrow' is floating point of 16 bits."""

    min_interval_cycles: float
    """Shortest time between two instructions."""
    min_interval_dynamic_cycles: float
    """The same for an instruction with an address that is known only at run time."""
    startup_ns: float
    """From the start to the result of an instruction, without the time of its elements."""
    stride_factors: StrideFactors
    fp8_is_narrow: bool
    """True when float8 has the fast modes of 16 bits."""
    rate: float
    """Default rate of instructions."""
    narrow_rate: float
    """tensor_copy, tensor_scalar: narrow to narrow, contiguous, in SBUF."""
    narrow_strided_rate: float
    """The same with elements that are not contiguous."""
    narrow_psum_rate: float
    """tensor_copy, tensor_scalar: narrow to narrow, contiguous, one of the two in PSUM."""
    wide_rate: float
    """tensor_copy, tensor_scalar: other data types, contiguous, in SBUF."""
    widening_rate: float
    """The same to a wider data type."""
    tensor_tensor_rate: float
    """Two tiles in the same memory."""
    tensor_tensor_psum_rate: float
    """Two tiles, one in PSUM and one in SBUF."""
    tensor_tensor_narrow_rate: float
    """Two narrow tiles in SBUF with a narrow result."""
    scalar_tensor_tensor_rate: float
    scalar_tensor_tensor_psum_rate: float
    """The same with one of the two tiles in PSUM."""
    predicated_rate: float
    """tensor_copy_predicated, select_reduce."""
    predicated_psum_rate: float
    """The same with one of the two tiles in PSUM."""
    scan_rate: float
    scan_seed_ns: float
    """Added to the startup when the initial value of a scan is in a tile."""
    reciprocal_cycles_per_element: float
    memset_rate: float
    memset_narrow_zero_rate: float
    """Zeros of 16-bit floating point."""
    memset_startup_ns: float
    bn_aggr_cycles_per_element: float
    exponential_rate: float
    quantize_rate: float
    rand2_rate: float
    shuffle_mask_ns: float
    """Loading the mask of nc_stream_shuffle."""
    transpose_cycles: float
    """Shortest time between two transposes."""
    transpose_ns: float
    """From the start to the result of a transpose."""
    accumulator_read_cycles: float
    accumulator_read_ns: float
    """From the start to the result of reading the accumulators."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """The Scalar Engine. A 'function' is any activation function except copy."""

    min_interval_cycles: float
    min_interval_dynamic_cycles: float
    stride_factors: StrideFactors
    rate: float
    narrow_rate: float
    """tensor_copy, tensor_scalar with 16 bits on both sides."""
    copy_startup_ns: float
    """tensor_copy from SBUF."""
    copy_psum_startup_ns: float
    """tensor_copy from PSUM."""
    affine_startup_ns: float
    """activation with copy, and tensor_scalar."""
    function_startup_ns: float
    function_psum_startup_ns: float
    function_psum_rate: float
    silu_psum_rate: float
    column_operand_ns: float
    """Added to the startup for each operand that is a column, [P, 1]."""
    accumulator_read_cycles: float
    accumulator_read_ns: float
    table_load_ns: float
    """Loading the table of an activation function."""


@dataclass(frozen=True, slots=True)
class GpSimd:
    """The GpSimd Engine."""

    min_interval_cycles: float
    min_interval_dynamic_cycles: float
    start_cycles: float
    """Start of a program of the GpSimd Engine (iota, affine_select, ...)."""
    startup_ns: float
    stride_factors: StrideFactors
    rate: float
    function_rate: float
    """rsqrt and power."""
    read_bytes_per_cycle: float
    """Bytes per partition, of all inputs together."""
    topk_element_cycles: float
    """topk: cycles per element; each result takes one more cycle."""
    gather_index_cycles: float
    """local_gather: cycles per index."""
    gather_element_cycles: float
    """local_gather: cycles per element of an index."""
    gather_word_bytes: float
    """local_gather: bytes that are moved at once."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """The Tensor Engine. A column is one column, with all rows, of the moving or stationary tile;
    the 'feed' is the number of cycles in which a tile streams in."""

    min_interval_cycles: float
    overhead_cycles: float
    """Cycles of a multiplication in addition to its columns."""
    fp32_passes: float
    fp32_onezero_passes: float
    """`fp32_passes` with a hint that one of the tiles holds only zeros and ones."""
    fp32_overhead_cycles: float
    """`overhead_cycles` of float32."""
    latency_ns: float
    """From the start of a multiplication to its result, without its columns."""
    latency_cycles_per_column: float
    fp32_latency_cycles: float
    """`latency_ns` of float32, to which the longest feed is added ..."""
    fp32_latency_moving_share: float
    """... and this share of the feed of the moving tile."""
    load_columns_per_cycle: float
    """Columns of a stationary tile."""
    fp32_load_columns_per_cycle: float
    load_latency_ns: float
    fp32_load_latency_ns: float
    """Latency of the loads of an isolated float32 matmul, to which ..."""
    fp32_load_latency_moving_share: float
    """... this share of the feed of the moving tile is added."""
    fp32_transpose_passes: float
    fp32_transpose_latency_ns: float
    """Latency in addition to the interval of the transpose."""
    stride_factors: StrideFactors
    throttle: bool
    """True to slow down all multiplications, as the power limit does."""
    throttle_factor: float


@dataclass(frozen=True, slots=True)
class Dma:
    """The DMA engines of a core, and the triggers of transfers."""

    engines: int
    rings: int
    """Rings per engine."""
    engine_bytes_per_ns: float
    hbm_bytes_per_ns: float
    """A core's share of the HBM bandwidth of its chip."""
    descriptor_ns: float
    """Time of an engine per descriptor in addition to its bytes, in a stream of transfers."""
    efficient_descriptor_bytes: int
    """Length from which the vendor's documents call descriptors efficient."""
    max_descriptor_bytes: int
    """Longest descriptor; a longer run of bytes becomes several descriptors."""
    burst_descriptors: int
    """Descriptors per engine whose `descriptor_ns` an isolated transfer does not pay."""
    load_ns: float
    """Time of an isolated transfer into SBUF in addition to its bytes."""
    load_stretch: float
    """Factor by which its bytes take longer than at the bandwidth of all engines."""
    store_ns: float
    store_stretch: float
    load_dispatch_ns: float
    """From the end of the trigger to the first byte."""
    store_dispatch_ns: float
    load_notify_ns: float
    """From the last byte until an instruction that waits can start."""
    store_notify_ns: float
    hwdge_load_ns: float
    """Trigger of a transfer with descriptors generated by hardware."""
    hwdge_store_ns: float
    hwdge_free_descriptors: int
    """Number of descriptors that the trigger includes ..."""
    hwdge_descriptor_ns: float
    """... and the time of each further one."""
    swdge_ns: float
    """Trigger of a transfer with descriptors generated by the GpSimd Engine ..."""
    swdge_indirect_ns: float
    """... with a vector of indices ..."""
    swdge_descriptor_ns: float
    """... and the additional time of each descriptor."""
    prebuilt_ns: float
    """Trigger of a transfer with prebuilt descriptors ..."""
    prebuilt_dispatch_ns: float
    """... and the time from its end to the first byte."""
    transpose_hbm_share: float
    """Share of the bandwidth in a transpose from HBM."""
    transpose_sbuf_share: float
    transpose_block_bytes: int
    """Bytes of each descriptor of a transpose."""
    compute_share: float
    """Share of the bandwidth when data is added to other data."""
    gpsimd_bytes_per_ns: float
    """Bandwidth of the GpSimd Engine's DMA engine in each of its two directions."""


@dataclass(frozen=True, slots=True)
class Semaphores:
    """Synchronisation between engines."""

    instruction_ns: float
    """An instruction that only waits or signals."""
    latency_ns: float
    """From a signal to the start of the waiting instruction."""


@dataclass(frozen=True, slots=True)
class Sequencer:
    """Work of the sequencers of the engines."""

    register_move_ns: float
    register_access_ns: float
    """Reading a register from a tensor, or writing it to one."""
    alu_ns: float
    """Arithmetic with registers."""
    core_barrier_ns: float
    kernel_ns: float
    """Launch of a kernel on one core, in addition to its instructions ..."""
    kernel_prebuilt_ns: float
    """... and with prebuilt descriptors."""
    kernel_two_cores_ns: float


@dataclass(frozen=True, slots=True)
class Collectives:
    """Transfers between ranks."""

    base_ns: float
    hop_ns: float
    """From a rank to its neighbour in the ring."""


class End(Enum):
    """An end of the ranges of constants."""

    fast = "fast"
    slow = "slow"


class Spread(NamedTuple):
    """The range of a constant, as factors of its likely value."""

    section: str
    key: str
    fast: float
    """The factor at the end at which a kernel is fastest."""
    slow: float
    """The factor at the other end."""


@dataclass(frozen=True, slots=True, repr=False)
class Timing:
    """The constants of one generation."""

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
    """Ranges of constants, where the data file has them."""

    def at(self, end: End) -> Timing:
        """Return the constants with all ranges at one of their ends."""
        sections: dict[str, Any] = {}
        for spread in self.spreads:
            section = sections.get(spread.section, getattr(self, spread.section))
            value = getattr(section, spread.key) * getattr(spread, end.value)
            sections[spread.section] = replace(section, **{spread.key: value})
        return replace(self, **sections)


def load_timing(path: str | PathLike[str]) -> Timing:
    """Read a data file.

    Raises:
        TimingError: the file cannot be read or is not TOML, a key is missing or unknown, or a
            value is of the wrong kind. Numbers are at most `LARGEST` and at least its inverse.
    """
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
"""Limit for constants, far above those of nkijit's files, so that all durations are finite."""

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
        if _is_positive(value):
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
    """True for a positive number that is neither too large nor too small."""
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
