"""Dependences between operations, against sets of bytes; waits that no data explains, by hand."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.ir.text import parse
from nkijit.passes.analysis.flow.dependences import DependenceKind, Dependences

COLUMNS, TILES = 16, 3
ENGINES = ("vector", "gpsimd", "scalar")


@dataclass(frozen=True)
class Use:
    """Some columns of a tile of one partition."""

    tile: int
    first: int
    step: int
    count: int

    @property
    def bytes(self) -> set[tuple[int, int]]:
        return {(self.tile, self.first + i * self.step) for i in range(self.count)}

    @staticmethod
    def of(rng: random.Random, count: int) -> Use:
        step = rng.randint(1, 3)
        return Use(
            rng.randrange(TILES), rng.randint(0, COLUMNS - 1 - step * (count - 1)), step, count
        )


@dataclass(frozen=True)
class Call:
    engine: str
    dst: Use
    src: Use | None


def random_calls(seed: int) -> list[Call]:
    rng = random.Random(seed)
    calls: list[Call] = []
    for _ in range(rng.randint(2, 14)):
        count = rng.randint(1, 5)
        src = Use.of(rng, count) if rng.random() < 0.7 else None
        engine = rng.choice(ENGINES if src else ENGINES[:2])
        calls.append(Call(engine, Use.of(rng, count), src))
    return calls


def program_of(calls: list[Call]) -> Dependences:
    lines = ["nki.kernel @k() target=trn3 {"]
    lines += [f"%t{n} = nki.alloc : memref<1x{COLUMNS}xi8, #nki.sbuf>" for n in range(TILES)]
    names: dict[Use, str] = {}
    for call in calls:
        for use in (call.dst, call.src):
            if use is not None and use not in names:
                names[use] = f"%v{len(names)}"
                pairs = f"[[{COLUMNS}, 1], [{use.step}, {use.count}]]"
                view = f"nki.view %t{use.tile} offset={use.first} pattern={pairs}"
                lines.append(f"{names[use]} = {view}")
        if call.src is None:
            lines.append(f"nisa.memset dst={names[call.dst]}, value=0, engine={call.engine}")
        else:
            lines.append(
                f"nisa.tensor_copy dst={names[call.dst]}, src={names[call.src]}, "
                f"engine={call.engine}"
            )
    (kernel,) = kernels_of(parse("\n".join([*lines, "nki.return", "}"])))
    return Dependences(kernel)


@pytest.mark.parametrize("seed", range(300))
def test_against_sets_of_bytes(seed: int) -> None:
    calls = random_calls(seed)
    writer: dict[tuple[int, int], int] = {}
    readers: dict[tuple[int, int], set[int]] = {}
    for number, (event, call) in enumerate(zip(program_of(calls).events, calls, strict=True)):
        read = set() if call.src is None else call.src.bytes
        sources = {writer[byte] for byte in read if byte in writer}
        assert {source for source in event.sources if source >= 0} == sources
        wanted = {
            DependenceKind.true: sources,
            DependenceKind.output: {writer[byte] for byte in call.dst.bytes if byte in writer},
            DependenceKind.anti: {r for byte in call.dst.bytes for r in readers.get(byte, ())},
        }
        for kind, before in wanted.items():
            last: dict[str, int] = {}
            for earlier in before:
                engine = calls[earlier].engine
                if engine != call.engine:
                    last[engine] = max(earlier, last.get(engine, -1))
            told = {d.before for d in event.dependences if d.kind is kind}
            # Readers from before the last write are ordered through it, reported or not.
            assert set(last.values()) >= {b for b in told if b in before}
            assert told <= {e for e in range(number) if calls[e].engine != call.engine}
            if kind is not DependenceKind.anti:
                assert told == set(last.values())
            else:
                assert told >= {e for e in last.values() if _reads_since(calls, e, number)}
        for byte in read:
            readers.setdefault(byte, set()).add(number)
        for byte in call.dst.bytes:
            writer[byte] = number


def _reads_since(calls: list[Call], reader: int, number: int) -> bool:
    """Return whether the contested bytes are unchanged between a read and a later write."""
    src = calls[reader].src
    assert src is not None
    contested = src.bytes & calls[number].dst.bytes
    return not any(contested & calls[e].dst.bytes for e in range(reader, number))


def _advice(kernel: nki.Kernel, *specs: nki.TensorSpec) -> list[str]:
    return [d.rule.id for d in kernel.trace(*specs).find("verify-hazards")]


SPEC = nki.TensorSpec((4, 128, 512), nl.float32)


@pytest.mark.parametrize(("buffers", "waits"), [(1, 1), (2, 1), (4, 0)])
def test_tiles_that_take_turns(buffers: int, waits: int) -> None:
    """As many tiles as iterations: nothing waits. Fewer: a line waits, and is reported once."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tiles = [nl.ndarray((128, 512), x.dtype, buffer=nl.sbuf) for _ in range(buffers)]
        for i in range(4):
            result = nl.ndarray((128, 512), x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tiles[i % buffers], src=x[i])
            nisa.activation(dst=result, op=nl.exp, data=tiles[i % buffers])
            nisa.dma_copy(dst=out[i], src=result)
        return out

    assert _advice(kernel, SPEC) == ["anti-dependence"] * waits


def test_a_tile_that_is_filled_around_a_part() -> None:
    @nki.jit
    def kernel(x):
        out = nl.ndarray((128, 512), x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray((128, 512), x.dtype, buffer=nl.sbuf)
        nisa.memset(tile, 0.0)
        nisa.activation(dst=tile[:, 0:256], op=nl.exp, data=nl.load(x[0, :, 0:256]))
        nisa.dma_copy(dst=out, src=tile)
        return out

    assert _advice(kernel, SPEC) == ["output-dependence"]


def test_loops_in_loops_take_no_time_exponential_in_their_depth() -> None:
    depth = 20

    @nki.jit
    def kernel() -> None:
        tile = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=tile, value=0)

        def nest(depth: int) -> None:
            if depth == 0:
                nisa.activation(dst=tile, op=nl.exp, data=tile)
            else:
                nl.fori_loop(0, 2, lambda _: nest(depth - 1))

        nest(depth)

    events = Dependences(kernel.trace()._kernels[0]).events
    # The first iteration of all, and the second one of each level.
    assert [event.op.name for event in events][1:] == ["nisa.activation"] * (depth + 1)
