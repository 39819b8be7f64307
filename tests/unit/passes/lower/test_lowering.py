"""Waits and addresses, checked with the bytes that instructions touch by the listing.

The oracle uses only the JSON listing. It marks byte by byte the reads and writes of every
instruction, finds all pairs that touch a byte which one of them writes, and follows queues,
semaphores and triggers to determine which of the two certainly runs first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.kernel_parts import random_kernel
from support.random_kernels import PARTS, RandomKernel

import nkijit
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.ir.text import parse
from nkijit.passes.lower.listing_json import listing_json
from nkijit.passes.lower.placement import allocate
from nkijit.passes.lower.program import LoweringError, Queue
from nkijit.passes.lower.schedule import lower
from nkijit.traced.kernel import TracedKernel

WRITTEN = {"dst", "reduce_res", "val_dst", "idx_dst", "dst_idx", "dst_scale", "dsts"}
"""Operands that are written, of all instructions."""
BITS = {"float32": 32, "int32": 32, "uint32": 32, "tfloat32": 32}
BITS |= {"float8_e4m3fn_x4": 32, "float8_e5m2_x4": 32, "float4_e2m1fn_x4": 16}
BITS |= {"bfloat16": 16, "float16": 16, "int16": 16, "uint16": 16}


class Touched(NamedTuple):
    """Partitions, and the bytes of each of them as the bits of a number."""

    partitions: range
    bits: int

    def meets(self, other: Touched) -> bool:
        """True when both have a byte in common."""
        down = range(
            max(self.partitions.start, other.partitions.start),
            min(self.partitions.stop, other.partitions.stop),
        )
        return bool(down) and bool(self.bits & other.bits)


class Listed:
    """An instruction of the listing."""

    def __init__(self, queue: str, data: dict[str, Any]):
        self.queue = queue
        self.number: int = data["number"]
        self.mnemonic: str = data["mnemonic"]
        self.waits = [(w["queue"], w["count"], w["dependence"]) for w in data["waits"]]
        self.signal: int = data["signal"]
        self.reads: dict[str, list[Touched]] = {}
        self.writes: dict[str, list[Touched]] = {}
        for operand in data["operands"]:
            if "buffer" not in operand:
                continue
            on_chip = operand["buffer"] in ("sbuf", "psum")
            memory = operand["buffer"] if on_chip else operand["name"]
            meets = self.mnemonic == "CORE_BARRIER"
            touched = self.writes if meets or operand["field"] in WRITTEN else self.reads
            touched.setdefault(memory, []).append(_touched(operand))


def _touched(operand: dict[str, Any]) -> Touched:
    size = BITS.get(operand["dtype"], 8) // 8
    found = np.zeros(1, np.int64)
    for stride, count in operand["pattern"]:
        found = (found[:, None] + np.arange(count) * stride * size).ravel()
    found = (found[:, None] + np.arange(size)).ravel() + operand["address"]
    marks = np.zeros(int(found.max()) + 1, np.uint8)
    marks[found] = 1
    bits = int.from_bytes(np.packbits(marks, bitorder="little").tobytes(), "little")
    first, behind = map(int, operand.get("partitions", "0:1").split(":"))
    return Touched(range(first, behind), bits)


def listed(programs: list[Any]) -> list[list[Listed]]:
    """The instructions of every core, by number."""
    cores: list[list[Listed]] = []
    for core in json.loads(listing_json(programs)):
        found = [
            Listed(name, item)
            for name, items in core["queues"].items()
            for item in items
            if "loop" not in item
        ]
        cores.append(found)
    return cores


def conflicts(instructions: list[Listed]) -> Iterator[tuple[int, int]]:
    """Pairs of numbers, the earlier one first, that touch a byte which one of them writes."""
    ordered = sorted(instructions, key=lambda i: i.number)
    for position, later in enumerate(ordered):
        for earlier in ordered[:position]:
            if (
                _meet(earlier.writes, later.reads)
                or _meet(earlier.writes, later.writes)
                or _meet(earlier.reads, later.writes)
            ):
                yield earlier.number, later.number


def _meet(one: dict[str, list[Touched]], two: dict[str, list[Touched]]) -> bool:
    return any(
        a.meets(b) for memory in one.keys() & two.keys() for a in one[memory] for b in two[memory]
    )


class Order:
    """Which instructions have certainly ended when another one begins."""

    def __init__(self, instructions: list[Listed], without: tuple[int, int] | None = None):
        """`without`: the number of an instruction, and which of its waits is left out."""
        self._before: dict[tuple[str, int], list[tuple[str, int]]] = {}
        signals = {(i.queue, i.signal): i.number for i in instructions if i.signal}
        last: dict[str, int] = {}
        for i in instructions:
            begin, end = ("begin", i.number), ("end", i.number)
            self._add(begin, end)
            if i.queue in last:
                if i.queue.startswith("dma_"):
                    self._add(("begin", last[i.queue]), begin)
                    self._add(("end", last[i.queue]), end)
                else:
                    self._add(("end", last[i.queue]), begin)
            last[i.queue] = i.number
            if i.queue.startswith("dma_"):
                self._add(("end", i.number - 1), begin)  # its trigger
            for position, (queue, count, _) in enumerate(i.waits):
                if (i.number, position) != without:
                    self._add(("end", signals[queue, count]), begin)
        self._known: dict[tuple[str, int], frozenset[tuple[str, int]]] = {}

    def _add(self, first: tuple[str, int], then: tuple[str, int]) -> None:
        self._before.setdefault(then, []).append(first)

    def keeps(self, first: int, then: int) -> bool:
        """True when an instruction has ended before another one begins."""
        return ("end", first) in self._all(("begin", then))

    def _all(self, event: tuple[str, int]) -> frozenset[tuple[str, int]]:
        known = self._known.get(event)
        if known is None:
            before = self._before.get(event, ())
            known = self._known[event] = frozenset(before).union(*map(self._all, before))
        return known


def check(instructions: list[Listed]) -> None:
    """Every conflict is in order, and without any one wait some conflict is not."""
    pairs = list(conflicts(instructions))
    full = Order(instructions)
    # A transfer's conflicts are kept by its trigger.
    for first, then in pairs:
        assert full.keeps(first, then), f"{first} and {then} may run at the same time"
    for i in instructions:
        for position, (_, _, kind) in enumerate(i.waits):
            if kind is None:
                continue  # the author's own edge
            less = Order(instructions, (i.number, position))
            assert any(not less.keeps(*pair) for pair in pairs), (
                f"wait {position} of {i.number} is not needed"
            )


def is_static(kernel: TracedKernel) -> bool:
    """True for a kernel whose listing says all: no loops, registers and run-time addresses."""
    text = kernel.text()
    return not any(word in text for word in ("scf.", "nki.reg", "scalar=", "vector=", "tensor="))


def _small(kernel: RandomKernel) -> bool:
    return all(np.prod(spec.shape) <= 1 << 17 for _, spec in kernel.arguments)


@pytest.mark.parametrize("ahead", [None, 0])
@pytest.mark.parametrize("part", PARTS)
def test_waits_of_random_kernels_are_enough_and_needed(part: str, ahead: int | None) -> None:
    for seed in range(8):
        kernel = random_kernel(Random(f"{part} {seed}"), part)
        traced = kernel.trace()
        if not is_static(traced):
            continue
        programs = [lower(k, None, allocate(k, ahead=ahead)) for k in traced._kernels]
        for instructions in listed(programs):
            check(instructions)


def test_the_oracle_sees_a_missing_wait() -> None:
    @nkijit.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.activation(dst=tile, op=nl.exp, data=tile)
        nisa.dma_copy(dst=out, src=tile)
        return out

    (instructions,) = listed(kernel.trace(np.zeros((128, 64), np.float32)).programs())
    check(instructions)
    waiting = next(i for i in instructions if i.mnemonic == "ACTIVATE")
    waiting.waits.clear()
    with pytest.raises(AssertionError, match="may run at the same time"):
        check(instructions)


@pytest.mark.parametrize("instruction", [*INSTRUCTIONS, *COLLECTIVES], ids=lambda c: c.SPEC.name)
def test_every_operand_belongs_to_an_engine_instruction(instruction: type[NisaOp]) -> None:
    spec = instruction.SPEC
    touched = {name for stage in spec.stages for name in stage.operands}
    assert touched == {f.name for f in spec.operand_fields}


@pytest.mark.parametrize(("times", "waits"), [(3, 0), (None, 1)])
def test_a_load_in_a_loop_that_runs_implies_one_in_front_of_it(
    times: int | None, waits: int
) -> None:
    @nkijit.jit
    def kernel(x: Any, bound: Any) -> Any:
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        other = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        count = nisa.register_alloc()
        nisa.register_load(count, bound)
        nisa.memset(dst=other, value=0.0, engine=nisa.engine.vector)
        nisa.dma_copy(dst=tile, src=x)
        for _ in nl.dynamic_range(times or count):
            nisa.dma_copy(dst=tile[:, 0:32], src=x[:, 0:32])
            nisa.tensor_tensor(dst=other, data1=other, data2=tile, op=nl.add)
        nisa.dma_copy(dst=out, src=other)
        return out

    shapes = np.zeros((128, 64), np.float32), np.zeros((1, 1), np.int32)
    (program,) = kernel.trace(*shapes).programs()
    (loop,) = program.loops
    (vector,) = [item for item in loop.queues.values() if item.queue.name == "vector"]
    assert len(vector.waits) == waits


def multiplications(*flags: str) -> list[dict[str, Any]]:
    """The immediates of matmuls of the same tiles, each with one flag set, or none for ""."""

    @nkijit.jit
    def kernel() -> None:
        side = nl.ndarray((64, 64), dtype=nl.bfloat16, buffer=nl.sbuf)
        product = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.psum)
        nisa.memset(dst=side, value=0)
        for flag in flags:
            chosen = {flag: True} if flag else {}
            nisa.nc_matmul(dst=product, stationary=side, moving=side, accumulate=False, **chosen)

    (core,) = json.loads(listing_json(kernel.trace().programs()))
    listed = core["queues"]["tensor"]
    return [i["immediates"] for i in listed if i["mnemonic"] == "MULTIPLY_MOVING"]


def test_instructions_with_other_flags_are_not_equivalent() -> None:
    flags = ("is_stationary_onezero", "is_moving_onezero")
    for flag, immediates in zip(flags, multiplications(*flags), strict=True):
        assert [other for other in flags if other in immediates] == [flag]


@pytest.mark.parametrize(
    ("flag", "is_kept"), [("is_moving_onezero", True), ("is_stationary_onezero", False)]
)
def test_a_stationary_tile_is_kept_when_it_would_be_loaded_the_same_way(
    flag: str, is_kept: bool
) -> None:
    one, two = multiplications("", flag)
    assert (one["weights"] == two["weights"]) is is_kept


def test_loops_in_loops_take_no_time_exponential_in_their_depth() -> None:
    """Two walks for each of the two of the loop around would be a million here."""
    depth = 20

    @nkijit.jit
    def kernel() -> None:
        tile = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=tile, value=0)

        def nest(depth: int) -> None:
            if depth == 0:
                nisa.activation(dst=tile, op=nl.exp, data=tile)
                nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1)
            else:
                nl.fori_loop(0, 2, lambda _: nest(depth - 1))

        nest(depth)

    program = lower(kernel.trace()._kernels[0])
    assert [i.mnemonic for i in program.instructions] == [
        "MEMSET",
        "LOAD_TABLE",
        "ACTIVATE",
        "TENSOR_SCALAR",
    ]
    innermost = program.blocks[program.loops[-1]]
    waits = [[(w.before.queue, w.carried) for w in item.waits] for item in innermost]
    assert waits == [[(Queue.vector, True)], [(Queue.scalar, False)]]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            """
            nisa.register_move dst=%r, src=%c1
            %n = nki.read %r
            nisa.register_move dst=%r, src=%c2
            scf.for %i = %c0 to %n step %c1 : i32 {
              nisa.memset dst=%t, value=0.0
            }
            """,
            "scf.for: a register that bounds the loop is written after it was read",
        ),
        (
            """
            nisa.register_move dst=%r, src=%c1
            %n = nki.read %r
            nisa.register_move dst=%r, src=%n
            """,
            "nki.read: is for the bounds of loops; instructions take registers",
        ),
        (
            """
            scf.while () : () -> () {
              nisa.register_move dst=%r, src=%c0
              %v = nki.read %r
              %more = arith.cmpi ne, %v, %c0 : i32
              scf.condition(%more)
            } do {
              nisa.memset dst=%t, value=0.0
              scf.yield
            }
            """,
            "scf.while: the condition of a loop has no instructions",
        ),
    ],
    ids=["bound", "operand", "condition"],
)
def test_unmodelled_instructions_are_refused(body: str, message: str) -> None:
    text = f"""
    nki.kernel @k() target=trn2 {{
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %r = nki.register
      %t = nki.alloc : memref<128x64xf32, #nki.sbuf>
      {body}
      nki.return
    }}
    """
    (kernel,) = kernels_of(parse(text))
    with pytest.raises(LoweringError, match=message):
        lower(kernel)


def test_transfers_say_how_they_are_split() -> None:
    @nkijit.jit(platform_target="trn2")
    def kernel(x: Any) -> Any:
        out = nl.ndarray((64, 128), dtype=nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((64, 128), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.dma_copy(dst=out[0:8], src=tile[0:8])
        return out

    (core,) = json.loads(
        listing_json([lower(kernel.trace(np.zeros((64, 128), np.float32))._kernels[0])])
    )
    (load,), (store,) = core["queues"]["dma_load"], core["queues"]["dma_store"]
    # A row of 128 float32 is one descriptor; each of the 16 DMA engines moves eight partitions.
    assert load["transfer"] == {
        "descriptors": 64, "descriptor_bytes": 512, "engines": 8, "generation": "hwdge",
    }  # fmt: skip
    assert (store["transfer"]["descriptors"], store["transfer"]["engines"]) == (8, 1)
