"""Semantics of random number instructions."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nisa.random import (
    GENERATORS,
    DropoutOp,
    Rand2Op,
    RandGetStateOp,
    RandSetStateOp,
    RngOp,
    SetRngSeedOp,
)
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array, Env
from nkijit.passes.interpret.records.errors import failure
from nkijit.passes.interpret.records.records import Constructor, Drawn, Opaque, Reach
from nkijit.passes.interpret.semantics.nisa.described import constructor
from nkijit.passes.interpret.semantics.registry import semantics
from nkijit.passes.numerics.xorwow import Words, draw, fractions, from_rows, seeded, to_rows

_INITIAL_SEEDS = {engine.vector: 0, engine.gpsimd: 1 << 32}
"""The seed of each engine at the start of a run.

No 32-bit seed gives the Vector Engine the initial states of the GpSimd Engine.
"""


def _generators(b: Binding) -> int:
    """Return the slot of the random generators of the engine that runs the instruction."""
    runs_on = engine_of(b.op, b.target)
    seed, lanes, generators = _INITIAL_SEEDS[runs_on], b.target.pmax, GENERATORS[runs_on]
    return b.slots.state(f"generators of {runs_on.name}", lambda: seeded(seed, lanes, generators))


@semantics(RngOp)
def rng(b: Binding) -> Opaque:
    state, lanes = _generators(b), b.lanes("dst")
    shape, columns = b.tile("dst").shape, b.tile("dst").free_size
    dst = b.as_stored().slot

    def step(env: Env) -> None:
        written = env[dst]
        # The cast to fewer bits keeps the low ones.
        numbers = draw(env[state][:, lanes], columns).astype(f"u{written.dtype.itemsize}")
        written[...] = numbers.view(written.dtype).reshape(shape)

    return Opaque(step, Drawn(_draw(b), state, lanes, (), b.into()))


def _draw(b: Binding) -> Constructor:
    return constructor(b, Reach.columns)


def _check_range(op: NisaOp, low: Array, high: Array) -> None:
    wrong = np.flatnonzero(~((low < high) & np.isfinite(high - low)))
    if len(wrong):
        partition = int(wrong[0])
        raise failure(
            op,
            f"in partition {partition} of the tile 'min' is {low[partition, 0]:g} and 'max' is "
            f"{high[partition, 0]:g}; min must be below max, a finite distance apart",
        )


@semantics(Rand2Op)
def rand2(b: Binding) -> Opaque:
    state, lanes = _generators(b), b.lanes("dst")
    dst = b.tile("dst")
    low, high = b.reader("min"), b.reader("max")
    checked = b.number("min") is None or b.number("max") is None
    scratch, store = b.rounds("dst", (dst.partitions, dst.free_size))

    def step(env: Env) -> None:
        least, most = low(env), high(env)
        if checked:
            column = (dst.partitions, 1)
            _check_range(b.op, np.broadcast_to(least, column), np.broadcast_to(most, column))
        out = env[scratch]
        np.multiply(fractions(draw(env[state][:, lanes], dst.free_size)), most - least, out)
        np.add(out, least, out)
        np.minimum(out, most, out=out)
        store(env)

    sources = (b.read("min"), b.read("max"))
    return Opaque(step, Drawn(_draw(b), state, lanes, sources, b.into()))


@semantics(DropoutOp)
def dropout(b: Binding) -> Opaque:
    state, lanes = _generators(b), b.lanes("data")
    shape, columns = b.tile("dst").shape, b.tile("dst").free_size
    read, probability = b.reader("data", shape, raw=True), b.reader("prob")
    dst = b.as_stored().slot
    bits = np.dtype(f"u{b.storage('dst').itemsize}")

    def step(env: Env) -> None:
        dropped = fractions(draw(env[state][:, lanes], columns)) < probability(env)
        mask = dropped.reshape(shape).astype(bits)
        mask -= 1  # all ones where nothing is dropped
        np.bitwise_and(read(env).view(bits), mask, env[dst].view(bits))

    sources = (b.read("data", raw=True), b.read("prob"))
    return Opaque(step, Drawn(_draw(b), state, lanes, sources, b.into()))


@semantics(SetRngSeedOp)
def set_rng_seed(b: Binding) -> Opaque:
    state, lanes = _generators(b), b.target.pmax
    read, generators = b.reader("src_seeds", raw=True), GENERATORS[engine.vector]

    def step(env: Env) -> None:
        seed = int(read(env).view(np.uint32)[0, 0])
        env[state][...] = seeded(seed, lanes, generators)

    sources = (b.read("src_seeds", raw=True),)
    return Opaque(step, Drawn(_draw(b), state, slice(None), sources, None))


@semantics(RandSetStateOp)
def rand_set_state(b: Binding) -> Opaque:
    state, lanes = _generators(b), b.lanes("src_seeds")
    read, generators = b.reader("src_seeds", raw=True), GENERATORS[engine_of(b.op, b.target)]

    def step(env: Env) -> None:
        env[state][:, lanes] = from_rows(read(env), generators)

    sources = (b.read("src_seeds", raw=True),)
    return Opaque(step, Drawn(_draw(b), state, lanes, sources, None))


@semantics(RandGetStateOp)
def rand_get_state(b: Binding) -> Opaque:
    state, lanes = _generators(b), b.lanes("dst")
    dst = b.into().slot

    def step(env: Env) -> None:
        rows: Words = to_rows(env[state][:, lanes])
        env[dst][...] = rows

    return Opaque(step, Drawn(_draw(b), state, lanes, (), b.into(), advances=False))
