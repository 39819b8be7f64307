"""Random tiles. Source: NKI API reference 2.26, nki.language."""

from __future__ import annotations

from typing import Any

import numpy as np

from nkijit import isa
from nkijit import language as current
from nkijit.classic.calls.calls import composed, fresh_since, functional, in_place, refuse_rest
from nkijit.classic.tensors.tensors import ClassicTensor, ClassicTile, as_tensor
from nkijit.dialects.python_values import as_index
from nkijit.language.broadcasting import broadcast_view
from nkijit.language.tiles import temporary
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def rand(shape: Any, dtype: Any = np.float32, **kwargs: Any) -> ClassicTensor:
    """A tile in SBUF of random numbers, uniform in [0, 1); see `nkijit.language.rand`."""
    call = "nl.rand"
    refuse_rest(call, kwargs)
    mark = tracer_for(call).mark()
    result = current.rand(shape, dtype)
    return ClassicTile(result, fresh_since(mark, result, False))


def random_seed(seed: Any, *, mask: Any = None, **kwargs: Any) -> None:
    """Seed `rand` and `dropout`: the same seed gives the same numbers.

    Args:
        seed: integer of 32 bits, or a (1, 1) tile of a 32-bit type.
        mask: whether the generators are seeded.
    """
    call = "nl.random_seed"
    refuse_rest(call, kwargs)
    if not isinstance(seed, (ClassicTensor, NkiTensor)):
        seed = _seed_tile(call, seed)
    in_place(
        call,
        current.random_seed,
        {"seed": as_tensor(call, "seed", seed)},
        mask=mask,
        updated=(),
    )


def _seed_tile(call: str, seed: Any) -> NkiTensor:
    """Return the bits of a number as a tile."""
    number = as_index(seed)
    if number is None or not -(2**31) <= number < 2**32:
        tracer_for(call).wrong_argument(call, "seed", "an integer of 32 bits or a tile", seed)
    tile = temporary("seed", (1, 1), "int32")
    isa.memset(tile, (number + 2**31) % 2**32 - 2**31)
    return tile


def dropout(
    x: Any, rate: Any, *, dtype: Any = None, mask: Any = None, **kwargs: Any
) -> ClassicTensor:
    """A tile with the elements of `x`, and zeros at random places; nothing is scaled.

    Args:
        x: tile in SBUF or PSUM.
        rate: probability of a zero: number from 0 to 1, or tile of one element, or one for each
            partition.
        dtype: data type of the result, by default that of `x`.
        mask: which elements are computed.

    See `nkijit.language.dropout`.
    """
    call = "nl.dropout"
    refuse_rest(call, kwargs)
    tile = as_tensor(call, "x", x)
    wanted = tile.dtype if dtype is None else dtype

    def compute(x: NkiTensor, rate: Any) -> NkiTensor:
        if isinstance(rate, NkiTensor) and rate.shape[0] != x.shape[0]:
            rate = broadcast_view(rate, (x.shape[0], *rate.shape[1:]))
        return current.dropout(x, rate, wanted)

    return functional(call, composed(compute), {"x": tile, "rate": rate}, dtype=wanted, mask=mask)


__all__ = ["dropout", "rand", "random_seed"]
