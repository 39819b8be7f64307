"""The selective scan of Mamba: a linear recurrence of 16 states per channel.

    state[t] = exp(delta[t] * a) * state[t - 1] + delta[t] * u[t] * b[t]
    y[t] = sum(c[t] * state[t]) + d * u[t]

Channels are in partitions and time is the free dimension, along which the Vector Engine has an
instruction for such recurrences. Long sequences are divided into chunks. A chunk starts with the
states at the end of the previous one.

--rows is the number of channels, a multiple of 128; --columns the length of the sequence, a
multiple of 256 or at most that; --inner the number of states. Try it with --dtype bfloat16.
"""

from __future__ import annotations

import sys

import numpy as np
from common import DTYPES, UNIT, Array, Example, Options, run, sum_error, values

import nki
import nki.isa as nisa
import nki.language as nl

CHUNK = 256
"""Steps per chunk: limited by SBUF, which holds b, c and two states per step and channel."""


@nki.jit
def mamba_scan(u, delta, a, b, c, d):
    (channels, length), (_, states) = u.shape, a.shape
    pmax = nl.tile_size.pmax
    step = min(CHUNK, length)
    assert channels % pmax == 0, f"{channels} channels are not in tiles of {pmax}"
    assert length % step == 0, f"a sequence of {length} is not in chunks of {step}"
    out = nl.ndarray(u.shape, dtype=u.dtype, buffer=nl.shared_hbm)

    # Parameters of channels, and the states between chunks: columns for each 128 channels.
    groups = channels // pmax
    a_tile = nl.ndarray((pmax, groups, states), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a_tile, src=a.reshape((groups, pmax, states)).permute((1, 0, 2)))
    d_tile = nl.ndarray((pmax, groups), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=d_tile, src=d.reshape((groups, pmax)).permute((1, 0)))
    carried = nl.ndarray((pmax, groups, states), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=carried, value=0)

    for start in range(0, length, step):
        time = slice(start, start + step)
        # All channels use the same b and c: DMA writes them to every partition, once for all
        # groups of channels.
        b_tile = nl.ndarray((pmax, states, step), dtype=b.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=b_tile, src=b[:, time].expand_dim(0).broadcast(0, pmax))
        c_tile = nl.ndarray((pmax, states, step), dtype=c.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=c_tile, src=c[:, time].expand_dim(0).broadcast(0, pmax))

        for group in range(groups):
            rows = slice(group * pmax, (group + 1) * pmax)
            u_tile = nl.ndarray((pmax, step), dtype=u.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=u_tile, src=u[rows, time])
            delta_tile = nl.ndarray((pmax, step), dtype=delta.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=delta_tile, src=delta[rows, time])

            # The input of the states, delta * u * b: delta * u is the same for all states.
            delta_u = nl.ndarray((pmax, 1, step), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_tensor(dst=delta_u, data1=delta_tile, data2=u_tile, op=nl.multiply)
            state = nl.ndarray((pmax, states, step), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_tensor(
                dst=state, data1=delta_u.broadcast(1, states), data2=b_tile, op=nl.multiply
            )

            for n in range(states):
                # a has one value per partition here, so the Scalar Engine can multiply by it in
                # the same instruction as exp.
                decay = nl.ndarray((pmax, step), dtype=nl.float32, buffer=nl.sbuf)
                nisa.activation(
                    dst=decay, op=nl.exp, data=delta_tile, scale=a_tile[:, group, n : n + 1]
                )
                # The states overwrite their inputs.
                nisa.tensor_tensor_scan(
                    dst=state[:, n, :],
                    data0=decay,
                    data1=state[:, n, :],
                    initial=carried[:, group, n : n + 1],
                    op0=nl.multiply,
                    op1=nl.add,
                )
            if time.stop < length:
                nisa.tensor_copy(dst=carried[:, group, :], src=state[:, :, step - 1])

            # The sum over states reads a strided view with the states as the last dimension.
            nisa.tensor_tensor(dst=state, data1=state, data2=c_tile, op=nl.multiply)
            y = nl.ndarray((pmax, step), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_reduce(dst=y, op=nl.add, data=state.permute((0, 2, 1)), axis=2)
            result = nl.ndarray((pmax, step), dtype=out.dtype, buffer=nl.sbuf)
            nisa.scalar_tensor_tensor(
                dst=result,
                data=u_tile,
                op0=nl.multiply,
                operand0=d_tile[:, group : group + 1],
                op1=nl.add,
                operand1=y,
            )
            nisa.dma_copy(dst=out[rows, time], src=result)
    return out


# ------------------------------------------------------------------ checking it


def inputs(options: Options) -> dict[str, Array]:
    channels, length, states = options.rows, options.columns, options.inner
    rng = np.random.default_rng([options.seed, 4])
    # Steps from 0.001 to 0.1 and decays from 1 to the number of states, as models are initialised.
    delta = np.exp(rng.uniform(np.log(1e-3), np.log(0.1), (channels, length)))
    a = -np.tile(np.arange(1, states + 1, dtype=np.float32), (channels, 1))
    return {
        "u": values(options, channels, length),
        "delta": delta.astype(DTYPES[options.dtype]),
        "a": a,
        "b": values(options, states, length, seed=1),
        "c": values(options, states, length, seed=2),
        "d": rng.standard_normal(channels, dtype=np.float32),
    }


def reference(u: Array, delta: Array, a: Array, b: Array, c: Array, d: Array) -> Array:
    u, delta, a, b, c, d = (x.astype(np.float64) for x in (u, delta, a, b, c, d))
    state, y = np.zeros(a.shape), np.empty(u.shape)
    for t in range(u.shape[1]):
        state *= np.exp(delta[:, t, None] * a)
        state += (delta[:, t] * u[:, t])[:, None] * b[:, t]
        y[:, t] = state @ c[:, t]
    return y + d[:, None] * u


def float32_error(u: Array, delta: Array, a: Array, b: Array, c: Array, d: Array) -> Array:
    u, delta, a, b, c, d = (x.astype(np.float64) for x in (u, delta, a, b, c, d))
    state, error, result = np.zeros(a.shape), np.zeros(a.shape), np.empty(u.shape)
    for t in range(u.shape[1]):
        exponent = delta[:, t, None] * a
        decay = np.exp(exponent)
        fed = np.abs((delta[:, t] * u[:, t])[:, None] * b[:, t])
        # An error decays like the state. Rounded are the exponent, its exponential, the two
        # products of the input, and the product and the sum of the recurrence.
        error = decay * error + UNIT * ((5 - exponent) * decay * state + 3 * fed)
        state = decay * state + fed
        size = np.abs(c[:, t])
        result[:, t] = error @ size + (2 * UNIT + sum_error(a.shape[1])) * (state @ size)
    return result + 2 * UNIT * np.abs(d[:, None] * u)


SIZE = Options(rows=256, columns=2048, inner=16)

EXAMPLES = [
    Example(
        mamba_scan,
        inputs,
        reference,
        float32_error,
        small=Options(rows=256, columns=512, inner=4),
        production=SIZE,
        data=("random",),
        any_size=False,
    )
]


def main() -> int:
    return run(EXAMPLES, __doc__, SIZE)


if __name__ == "__main__":
    sys.exit(main())
