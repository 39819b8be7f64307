"""The memory map of a kernel as data: the address of each tile in SBUF and PSUM, and its lifetime.

Addresses that the author did not fix are assigned by `assignment.py`. They are an example of an
assignment that fits; the vendor's compiler makes its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from xdsl.ir import Operation

from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.analysis.addresses.allocation import Block, Space
from nkijit.passes.analysis.addresses.assignment import assign
from nkijit.passes.analysis.addresses.blocks import SPACES, blocks_of, space_of
from nkijit.passes.analysis.addresses.bounds import Peak, lower_bound, lower_bound_of_banks
from nkijit.passes.analysis.writes.liveness import Liveness, LiveRange, liveness
from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.diagnostics.places import Position, positions


@dataclass(frozen=True, slots=True, repr=False)
class LiveTile(ShownFields):
    """A tile with its name in the kernel, and its lifetime."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    """The size of the tile in bytes per partition."""
    start: int
    """The first instruction at which the tile is in use, counted from 0; `end` is the last."""
    end: int
    allocated: Position | None
    first_use: Position | None
    last_use: Position | None

    @property
    def partitions(self) -> int:
        """The number of partitions."""
        return self.shape[0]

    @property
    def size(self) -> str:
        """The tile's shape and data type as text."""
        return f"{'x'.join(map(str, self.shape))} {self.dtype}"


@dataclass(frozen=True, slots=True, repr=False)
class TileMap(LiveTile):
    """A tile with its address on the map."""

    address: tuple[int, int]
    """The (partition, byte) at which the tile begins."""
    fixed: bool
    """True if the kernel fixes the address."""


@dataclass(frozen=True, slots=True, repr=False)
class SpaceMap(ShownFields):
    """The map of SBUF or PSUM of one core."""

    name: str
    """SBUF or PSUM."""
    capacity: int
    """Bytes per partition that a kernel may use."""
    bank: int | None
    """Bytes of a bank; None for SBUF."""
    peak: int
    """A lower bound of the largest number of bytes per partition in use at one instruction."""
    peak_at: int
    """The first instruction with the peak, counted from 0; -1 if there are no tiles."""
    peak_banks: int
    """A lower bound of the largest number of PSUM banks in use at once; 0 for SBUF."""
    peak_instruction: str
    peak_place: Position | None
    height: int
    """The byte after the last one that the map uses, per partition."""
    tiles: tuple[TileMap, ...]
    """The tiles in the order of allocation."""

    @property
    def at_peak(self) -> list[TileMap]:
        """The tiles in use at the peak, the largest first."""
        live = [t for t in self.tiles if t.start <= self.peak_at <= t.end]
        return sorted(live, key=lambda t: -t.bytes)


@dataclass(frozen=True, slots=True, repr=False)
class LoopMap(ShownFields):
    """A loop on the device. Tiles carried into the next iteration are live in the whole loop."""

    start: int
    """The first instruction of the loop's body, counted from 0; `end` is the last."""
    end: int
    place: Position | None


@dataclass(frozen=True, slots=True, repr=False)
class CoreMap(ShownFields):
    """The memory maps of one core."""

    core: int
    instructions: int
    unused: tuple[str, ...]
    """The names of tiles without accesses, which take no memory."""
    loops: tuple[LoopMap, ...]
    """Loops on the device, outer ones before inner ones."""
    spaces: tuple[SpaceMap, ...]

    @property
    def sbuf(self) -> SpaceMap:
        """The map of SBUF."""
        return self.spaces[0]

    @property
    def psum(self) -> SpaceMap:
        """The map of PSUM."""
        return self.spaces[1]


@dataclass(frozen=True, slots=True, repr=False)
class MemoryMap(ShownFields):
    """The on-chip memory of a kernel, for each core."""

    kernel: str
    target: str
    cores: tuple[CoreMap, ...]


def map_of(kernels: Sequence[KernelOp]) -> MemoryMap:
    """Compute the memory map of a kernel from its programs, one per core."""
    first = kernels[0]
    cores = tuple(_core(kernel) for kernel in kernels)
    return MemoryMap(first.launch_name, first.target.platform, cores)


def _core(kernel: KernelOp) -> CoreMap:
    found = liveness(kernel)
    unused = tuple(map(name_of, found.unused))
    spaces = tuple(_space(found, region, kernel.target) for region in SPACES)
    loops = tuple(LoopMap(loop.start, loop.end, _place(loop.op)) for loop in reversed(found.loops))
    return CoreMap(kernel.core[0], len(found.instructions), unused, loops, spaces)


def _space(found: Liveness, region: MemoryRegion, target: Target) -> SpaceMap:
    ranges = [live for live in found.ranges if live.tile.region is region]
    space = space_of(region, target)
    blocks = blocks_of(ranges, target)
    peak = lower_bound(blocks)
    layout = assign(blocks, space, peak.bytes)
    at_peak = found.instructions[peak.position] if blocks else None
    return SpaceMap(
        region.name.upper(),
        space.capacity,
        space.bank,
        peak.bytes,
        peak.position,
        _banks(blocks, peak, space),
        "" if at_peak is None else at_peak.name,
        None if at_peak is None else _place(at_peak),
        layout.height,
        tuple(
            _mapped(found, live, address)
            for live, address in zip(ranges, layout.addresses, strict=True)
        ),
    )


def _banks(blocks: Sequence[Block], peak: Peak, space: Space) -> int:
    if space.bank is None:
        return 0
    filled = lower_bound_of_banks(blocks, space.bank)
    return -(-max(peak.bytes, filled.bytes) // space.bank)


def live_tile(found: Liveness, live: LiveRange) -> LiveTile:
    """Describe a live range with the tile's name and source position."""
    tile, alloc = live.tile, live.alloc
    return LiveTile(
        name_of(alloc),
        tile.shape,
        tile.dtype.name,
        tile.partition_bytes,
        live.start,
        live.end,
        _place(alloc),
        _place(found.instructions[live.first]),
        _place(found.instructions[live.last]),
    )


def _mapped(found: Liveness, live: LiveRange, address: tuple[int, int]) -> TileMap:
    tile = live_tile(found, live)
    values = {f.name: getattr(tile, f.name) for f in fields(tile)}
    return TileMap(**values, address=address, fixed=live.alloc.fixed_address is not None)


def name_of(alloc: AllocOp) -> str:
    """Return an allocation's `name=`, else the name of the variable that it is assigned to."""
    if alloc.tensor_name is not None:
        return alloc.tensor_name.data
    return alloc.result.name_hint or "unnamed"


def _place(op: Operation) -> Position | None:
    return next(iter(positions(op.location)), None)
