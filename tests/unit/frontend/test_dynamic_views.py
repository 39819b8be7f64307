"""Views with addresses known only at run time: how they are created, and which are refused."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

X = np.arange(4 * 6 * 8, dtype=np.float32).reshape(4, 6, 8)


class Made:
    """Tensors and indices to make views of; one kernel is traced around them."""

    def __init__(self, x):
        self.x = x
        self.flat = x.reshape((24, 8))
        self.tile = nl.ndarray((4, 6, 8), nl.float32, buffer=nl.sbuf)
        self.index = nl.ndarray((1, 1), nl.int32, buffer=nl.sbuf)
        self.rows = nl.ndarray((5, 1), nl.int32, buffer=nl.sbuf)
        self.numbers = nl.ndarray((4, 3), nl.uint32, buffer=nl.sbuf)
        self.register = nisa.register_alloc(0)


def _trace(make):
    made = []

    @nki.jit
    def kernel(x):
        made.append(make(Made(x)))
        return x

    kernel.trace(X)
    return made[0]


_SHAPES = {
    "select": (lambda m: m.x.select(0, m.index), (6, 8)),
    "select a middle dim": (lambda m: m.x.select(1, m.register), (4, 8)),
    "select the last dim": (lambda m: m.x.select(-1, m.register), (4, 6)),
    "select of a tile": (lambda m: m.tile.select(2, m.register), (4, 6)),
    "[index]": (lambda m: m.x[m.register], (6, 8)),
    "[:, index]": (lambda m: m.x[:, m.index], (4, 8)),
    "[..., index]": (lambda m: m.x[..., m.index], (4, 6)),
    "[..., index, :]": (lambda m: m.x[..., m.index, :], (4, 8)),
    "[ds]": (lambda m: m.x[nl.ds(m.register, 2), 1, 2:6], (2, 4)),
    "[2, ds]": (lambda m: m.x[2, nl.ds(m.register, 3)], (3, 8)),
    "[1, ..., ds]": (lambda m: m.x[1, ..., nl.ds(m.register, 3)], (6, 3)),
    "[ds] of a tile": (lambda m: m.tile[1:3, nl.ds(m.index, 2)], (2, 2, 8)),
    "an element of one dimension": (lambda m: m.x.reshape((192,))[m.index], (1,)),
    "slices behind": (lambda m: m.x.select(0, m.index)[2:5, ::2], (3, 4)),
    "slices before": (lambda m: m.x[1:4, :, 2:4].select(0, m.index), (6, 2)),
    "permute": (lambda m: m.x.select(0, m.index).permute((1, 0)), (8, 6)),
    "reshape": (lambda m: m.x.select(0, m.index).reshape((4, 12)), (4, 12)),
    "vector_select": (lambda m: m.x.vector_select(0, m.rows), (5, 6, 8)),
    "vector, then slices": (lambda m: m.x.vector_select(0, m.rows)[:, 1, 2:4], (5, 2)),
    "vector, then [...]": (lambda m: m.x.vector_select(0, m.rows)[..., 3], (5, 6)),
    "vector, permute": (lambda m: m.x.vector_select(0, m.rows).permute((0, 2, 1)), (5, 8, 6)),
    "vector, flatten": (lambda m: m.x.vector_select(0, m.rows).flatten_dims(1, 2), (5, 48)),
    "ap": (lambda m: m.flat.ap([[8, 3], [1, 4]], scalar_offset=m.register), (3, 4)),
    "ap of a vector": (lambda m: m.flat.ap([[8, 5], [1, 4]], vector_offset=m.rows), (5, 4)),
    "indirect": (lambda m: m.tile.indirect(m.numbers), (4, 12)),
    "indirect, some": (lambda m: m.tile.indirect(m.numbers, 5), (4, 5)),
}


@pytest.mark.parametrize("name", _SHAPES)
def test_shapes(name):
    make, shape = _SHAPES[name]
    view = _trace(make)
    assert view.shape == shape
    assert view.is_indirect()


def test_a_static_ap_replaces_a_view_that_is_indirect():
    assert not _trace(lambda m: m.flat.select(0, m.index).ap([[8, 3], [1, 8]])).is_indirect()


_REFUSED = {
    "two indices": (lambda m: m.x[m.register, m.index], "two indices"),
    "two ds": (lambda m: m.x[nl.ds(m.index, 1), nl.ds(m.index, 1)], "two indices"),
    "a second select": (lambda m: m.x.select(0, m.index).select(0, m.index), "indirect already"),
    "select and vector": (
        lambda m: m.x.select(0, m.index).vector_select(0, m.rows),
        "indirect already",
    ),
    "the partition dimension": (lambda m: m.tile.select(0, m.index), "partition dimension"),
    "[ds] on partitions": (lambda m: m.tile[nl.ds(m.register, 2)], "partition dimension"),
    "too many indices": (lambda m: m.x[0, 0, 0, m.index], "indices"),
    "select of no dim": (lambda m: m.x.select(3, m.index), "there is no dim 3"),
    "a window that is too wide": (lambda m: m.x[nl.ds(m.index, 5)], "out of its size 4"),
    "a backward dimension": (
        lambda m: m.x.ap([[48, 4], [-1, 8]], offset=7).select(1, m.index),
        "runs backwards",
    ),
    "an index that is indirect": (
        lambda m: m.x.select(0, m.numbers.select(1, m.register)[0:1]),
        "the address of the index",
    ),
    "a tile that is indirect by a tile": (
        lambda m: m.tile.indirect(m.numbers).indirect(m.numbers),
        "indirect already",
    ),
    "a slice of indirect": (lambda m: m.tile.indirect(m.numbers)[:, 0:2], "used as it is"),
    "indirect in HBM": (lambda m: m.x.indirect(m.numbers), "in HBM"),
    "indirect by a number": (lambda m: m.tile.indirect(3), "legal: a tensor"),
    "no elements": (lambda m: m.tile.indirect(m.numbers, 0), "at least 1"),
    "vector of dim 1": (lambda m: m.x.vector_select(1, m.rows), "legal: dim 0"),
    "vector of a number": (lambda m: m.x.vector_select(0, 3), "legal: a tensor"),
    "rows of a vector": (lambda m: m.x.vector_select(0, m.rows)[0:2], "selected by an index tile"),
    "a row of a vector": (lambda m: m.x.vector_select(0, m.rows)[1], "selected by an index tile"),
    "a row by select": (
        lambda m: m.x.vector_select(0, m.rows).select(0, 1),
        "selected by an index tile",
    ),
    "rows by slice": (
        lambda m: m.x.vector_select(0, m.rows).slice(-3, 0, 2),
        "selected by an index tile",
    ),
    "rows of one dimension": (
        lambda m: m.x.reshape((192,)).vector_select(0, m.rows)[..., 0],
        "selected by an index tile",
    ),
    "rows moved": (lambda m: m.x.vector_select(0, m.rows).permute((1, 0, 2)), "first"),
    "rows repeated": (
        lambda m: m.x.vector_select(0, m.rows[0:1]).broadcast(0, 5),
        "partition dimension",
    ),
    "bits of a dynamic view": (lambda m: m.x.select(0, m.index).view(nl.int32), "the bits"),
    "both offsets": (
        lambda m: m.flat.ap([[8, 5]], scalar_offset=m.register, vector_offset=m.rows),
        "exclude each other",
    ),
    "vector of another dim": (
        lambda m: m.flat.ap([[8, 5], [1, 8]], vector_offset=m.rows, indirect_dim=1),
        "legal: 0",
    ),
    "an offset of another kind": (
        lambda m: m.flat.ap([[8, 5], [1, 8]], scalar_offset=1.5),
        "a tensor or a register",
    ),
    "a vector of registers": (
        lambda m: m.flat.ap([[8, 5], [1, 8]], vector_offset=m.register),
        "a tensor or a register",
    ),
    "a pattern that leaves the tensor": (
        lambda m: m.flat.ap([[8, 25], [1, 8]], scalar_offset=m.register),
        "touches elements 0 to 199",
    ),
    "a slice limit": (lambda m: m.x[m.register :], "limit of a slice"),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_refused(name):
    make, message = _REFUSED[name]
    with pytest.raises(nisa.NkiValidationError) as caught:
        _trace(make)
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert found.where[0].file.endswith("test_dynamic_views.py")


def test_views_that_may_not_leave_the_kernel():
    @nki.jit
    def returned(x):
        return x.select(0, nisa.register_alloc(1))

    @nki.jit
    def printed(x):
        nl.device_print("x", x.select(0, nisa.register_alloc(1)))
        return x

    for kernel, rule in ((returned, "return-value"), (printed, "argument")):
        with pytest.raises(nisa.NkiValidationError) as caught:
            kernel(X)
        assert [d.rule.id for d in caught.value.diagnostics] == [rule]


def test_equal_views_are_made_once():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray((6, 8), nl.float32, buffer=nl.sbuf)
        one, two = nisa.register_alloc(1), nisa.register_alloc(2)
        for register in (one, two, one):
            nisa.dma_copy(dst=tile, src=x.select(0, register))
        for i in nl.dynamic_range(2):
            nisa.dma_copy(dst=tile, src=x.select(0, one))
            nisa.dma_copy(dst=tile, src=x.select(0, i))
            nisa.dma_copy(dst=tile, src=x.select(0, i))
        return x

    assert str(kernel.trace(X)).count("nki.view") == 3
