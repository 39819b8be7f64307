"""Views as expressions, compared with the forms that users write."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from support.exports import check_round_trip

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.kernels.arguments import TensorSpec
from nkijit.traced.kernel import TracedKernel

X = TensorSpec((256, 4, 64), nl.float32)


def traced(take: Any) -> TracedKernel:
    """A kernel that copies a view of a tensor in HBM, and one of a tile, to others like them."""

    @nki.jit
    def kernel(x):
        tile = nl.ndarray((128, 4, 64), x.dtype, buffer=nl.sbuf)
        index = nl.ndarray((64, 1), nl.int32, buffer=nl.sbuf)
        register = nisa.register_alloc(2)
        nisa.memset(index, 0)
        view = take(x, tile, index, register)
        other = nl.ndarray(view.shape, view.dtype, buffer=view.buffer)
        copy = nisa.tensor_copy if nl.is_on_chip(view.buffer) else nisa.dma_copy
        copy(other, view)
        return x

    return kernel.trace(X)


@pytest.mark.parametrize(
    ("take", "source"),
    [
        (lambda x, t, i, r: x[0:128, 1], "src=x[0:128, 1, 0:64])"),
        (lambda x, t, i, r: x[5], "src=x[5, 0:4, 0:64])"),
        (lambda x, t, i, r: x[::2, 1:3, 7], "src=x[0:255:2, 1:3, 7])"),
        (lambda x, t, i, r: t[3], "src=tile[3:4, 0:4, 0:64])"),
        (lambda x, t, i, r: t[:, 2, 5], "src=tile[0:128, 2, 5:6])"),
        (lambda x, t, i, r: x.reshape((1024, 64)), "src=x.reshape((1024, 64)))"),
        (lambda x, t, i, r: t.permute((0, 2, 1)), "src=tile.permute((0, 2, 1)))"),
        (lambda x, t, i, r: t[:, 1:3].permute((0, 2, 1)), "[0:128, 1:3, 0:64].permute((0, 2, 1))"),
        (lambda x, t, i, r: t.view(nl.int32), "src=tile.view(nl.int32))"),
        (
            lambda x, t, i, r: t.view(nl.uint16)[:, :, 0:64],
            "tile.view(nl.uint16)[0:128, 0:4, 0:64]",
        ),
        (lambda x, t, i, r: t[:, :, 0:1].broadcast(2, 9), "tile.ap([[256, 128], [64, 4], [0, 9]])"),
        (lambda x, t, i, r: x[r, 1:3], "src=x[register, 1:3, 0:64])"),
        (lambda x, t, i, r: t[:, 1, nl.ds(r, 8)], "src=tile[0:128, 1, nl.ds(register, 8)])"),
        (
            lambda x, t, i, r: x.ap([[256, 64], [1, 64]], vector_offset=i),
            "src=x.ap([[256, 64], [1, 64]], vector_offset=index))",
        ),
        (
            lambda x, t, i, r: x.vector_select(0, i),
            "src=x.ap([[256, 64], [64, 4], [1, 64]], vector_offset=index))",
        ),
        (
            lambda x, t, i, r: x[0:128].ap([[256, 2], [1, 64]], scalar_offset=r, indirect_dim=1),
            "src=x[0:2, register, 0:64])",
        ),
        (
            # Of a view whose bound is less than the tensor's.
            lambda x, t, i, r: x[0:6:2].ap([[64, 2], [1, 64]], scalar_offset=r),
            "src=x.ap([[512, 3]]).ap([[64, 2], [1, 64]], scalar_offset=register))",
        ),
        (
            lambda x, t, i, r: t[:, 0:2].ap(
                [[256, 128], [1, 8]], scalar_offset=i[0:1], indirect_dim=1
            ),
            "src=tile.ap([[1, 1], [64, 2]]).ap([[256, 128], [1, 8]], "
            "scalar_offset=index[0:1, 0:1], indirect_dim=1))",
        ),
    ],
)
def test_forms(take: Any, source: str):
    text = check_round_trip(traced(take), comments=False)
    joined = " ".join(text.split()).replace("( ", "(").replace(" )", ")").replace(",)", ")")
    assert source in joined, text


def test_random_views():
    random = Random(0)
    for _ in range(40):

        def take(x: Any, t: Any, i: Any, r: Any) -> Any:
            view = random.choice((x, t))
            for _ in range(random.randint(1, 4)):
                dims = view.shape
                dim = random.randrange(1, len(dims)) if len(dims) > 1 else 0
                how = random.randrange(6)
                if how == 0:
                    start = random.randrange(dims[dim])
                    view = view.slice(dim, start, random.randint(start + 1, dims[dim]))
                elif how == 1:
                    view = view.slice(dim, 0, dims[dim], random.randint(1, 3))
                elif how == 2 and len(dims) > 2:
                    view = view.select(dim, random.randrange(dims[dim]))
                elif how == 3 and len(dims) > 2:
                    order = [*range(1, len(dims))]
                    random.shuffle(order)
                    view = view.permute((0, *order))
                elif how == 4 and len(dims) < 5:
                    view = view.expand_dim(len(dims))
                    view = view.broadcast(len(dims), random.randint(1, 3))
                elif how == 5 and dims[dim] % 2 == 0 and len(dims) < 5:
                    view = view.reshape_dim(dim, (dims[dim] // 2, 2))
            return view

        check_round_trip(traced(take))
