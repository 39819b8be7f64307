"""Names and arguments that a release of NKI does not have: each found, its neighbour not."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.collectives import rank_id
from nkijit.isa import dma_copy, oob_mode, topk

X = np.zeros((128, 8), np.float32)


def instruction(x):
    nisa.activate2(x, nl.exp, x, 1.0, 0.0, nl.multiply, nl.add)


def by_its_own_name(x):
    topk(x, x, x, 8)


def passed_on(x):
    return [nisa.activate2]


def keyword(x):
    nisa.dma_copy(x, x, priority=1)


def keyword_by_its_own_name(x):
    dma_copy(x, x, priority=1)


def in_position(x):
    nisa.dma_copy(x, x, 1)


def removed_argument(x):
    nisa.dma_copy(x, x, dst_rmw_op=nl.add)


def removed_name(x):
    nisa.tensor_copy_dynamic_src(x, x, 0)


def member(x):
    return nisa.dma_engine.gpsimd_dma


def limit(x):
    return nl.tile_size.psum_num_banks


def word(x):
    nisa.activation(x, nl.exp, x)


def called(x):
    return nl.exp(x)


def collective(x):
    return ncc.rank_id(name="r")


def collective_by_its_own_name(x):
    return rank_id()


def dtype(x):
    return nl.ndarray((1, 1), nl.float8_e8m0fnu)


def reordered(x):
    nisa.dma_compute(x, [x], nl.add)


def reordered_by_name(x):
    nisa.dma_compute(x, [x], reduce_op=nl.add)


def renamed_in_position(x):
    nisa.register_move(x, 1)


def renamed(x):
    nisa.register_move(x, src=1)


def loop(x):
    for _ in nl.dynamic_range(4):
        nisa.dma_copy(x, x)


def counted(x):
    nl.fori_loop(0, 4, lambda i: None)


def register_while(x):
    going = nisa.register_alloc(1)
    while going:
        nisa.register_move(going, 0)


def python_while(x):
    going = 4
    while going:
        going -= 1


def method(x):
    tile = nl.ndarray((128, 8), nl.float32)
    return tile.permute((0, 1))


def method_of_a_view(x):
    tile = nl.ndarray((128, 8), nl.float32)
    return tile[:, 0:4].reshape((128, 2, 2)).select(1, 0)


def method_of_a_parameter(x):
    return x.select(0, 1)


def method_of_an_unknown(x, options=None):
    other = options.tile
    return options.select(0, 1), other.select(0, 1)


def old_method(x):
    return x.reshape((8, 128)).ap([[1, 8]])


def starred(x):
    nisa.dma_copy(*[x, x, 1], **{"priority": 1})


LACKING = [
    (instruction, "0.3", "'nisa.activate2' is there since NKI 0.4, not in NKI 0.3"),
    (by_its_own_name, "0.5", "'topk' is there since NKI 0.6, not in NKI 0.5"),
    (passed_on, "0.3", "'nisa.activate2' is there since NKI 0.4, not in NKI 0.3"),
    (keyword, "0.3", "'priority' of 'nisa.dma_copy' is there since NKI 0.4, not in NKI 0.3"),
    (keyword_by_its_own_name, "0.3", "'priority' of 'dma_copy' is there since NKI 0.4, not in "
     "NKI 0.3"),
    (in_position, "0.3", "'priority' of 'nisa.dma_copy' is there since NKI 0.4, not in NKI 0.3"),
    (removed_argument, "0.3", "'dst_rmw_op' of 'nisa.dma_copy' was removed in NKI 0.3; use "
     "nisa.dma_compute"),
    (removed_name, "0.4", "'nisa.tensor_copy_dynamic_src' was removed in NKI 0.4; use "
     "nisa.tensor_copy with t.ap(..., scalar_offset=...)"),
    (removed_name, None, "'nisa.tensor_copy_dynamic_src' was removed in NKI 0.4; use "
     "nisa.tensor_copy with t.ap(..., scalar_offset=...)"),
    (member, "0.2", "'nisa.dma_engine.gpsimd_dma' is there since NKI 0.3, not in NKI 0.2"),
    (limit, "0.4", "'nl.tile_size.psum_num_banks' is there since NKI 0.5, not in NKI 0.4"),
    (called, "0.2", "calling 'nl.exp' is there since NKI 0.3, not in NKI 0.2"),
    (collective, "0.4", "'name' of 'ncc.rank_id' is there since NKI 0.5, not in NKI 0.4"),
    (collective_by_its_own_name, "0.1", "'rank_id' is there since NKI 0.2, not in NKI 0.1"),
    (dtype, "0.4", "'nl.float8_e8m0fnu' is there since NKI 0.5, not in NKI 0.4"),
    (reordered, "0.2", "'nisa.dma_compute' has its arguments from number 3 on in this order since "
     "NKI 0.3, not in NKI 0.2; give them by name"),
    (renamed, "0.2", "'src' of 'nisa.register_move' is there since NKI 0.3, not in NKI 0.2"),
    (loop, None, "'nl.dynamic_range' was removed in NKI 0.7; use nl.fori_loop"),
    (counted, "0.5", "'nl.fori_loop' is there since NKI 0.6, not in NKI 0.5"),
    (register_while, None, "'going' is a register"),
    (method, "0.4", "'tile.permute' is there since NKI 0.5, not in NKI 0.4"),
    (method_of_a_view, "0.4", "'tile[:, 0:4].reshape((128, 2, 2)).select' is there since NKI 0.5, "
     "not in NKI 0.4"),
    (method_of_a_parameter, "0.4", "'x.select' is there since NKI 0.5, not in NKI 0.4"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "release", "message"),
    LACKING,
    ids=[f"{item[0].__name__}-{item[1]}" for item in LACKING],
)
def test_names_that_a_release_lacks_are_found(function, release, message):
    (found,) = nki.jit(function).portability(nki=release)
    assert found.message == message
    assert found.severity == "warning"
    assert found.rule.id.startswith("portable-")
    assert found.where[0].file == __file__
    assert found.where[0].line > function.__code__.co_firstlineno


HAS = [
    *((function, "0.4") for function in (instruction, passed_on, keyword, in_position, member)),
    *((keyword_by_its_own_name, "0.4"), (by_its_own_name, "0.6"), (by_its_own_name, None)),
    *((removed_argument, "0.2"), (removed_name, "0.3"), (limit, "0.5"), (word, "0.1")),
    *((called, "0.3"), (collective, "0.5"), (collective_by_its_own_name, "0.2"), (dtype, "0.5")),
    *((reordered, "0.3"), (reordered_by_name, "0.1"), (renamed, "0.3"), (loop, "0.6")),
    *((renamed_in_position, "0.1"), (counted, "0.6"), (register_while, "0.6")),
    *((python_while, None), (method, "0.5"), (method_of_a_view, "0.5"), (old_method, "0.1")),
    *((method_of_a_parameter, "0.5"), (method_of_an_unknown, "0.1"), (starred, "0.1")),
]


@pytest.mark.parametrize(
    ("function", "release"), HAS, ids=[f"{item[0].__name__}-{item[1]}" for item in HAS]
)
def test_names_that_a_release_has_are_not_reported(function, release):
    assert nki.jit(function).portability(nki=release) == ()


def test_python_is_limited_up_to_0_6():
    def kernel(x):
        return [a for a in (b for b in {oob_mode.skip})]

    assert nki.jit(kernel).portability() == ()
    assert {d.rule.id for d in nki.jit(kernel).portability(nki="0.6")} == {
        "portable-generator",
        "portable-value",
    }


def test_an_unknown_release_is_refused():
    with pytest.raises(ValueError, match=r"unknown release '1\.0' of NKI; known: 0\.1, "):
        nki.jit(word).portability(X, nki="1.0")


def test_starting_does_not_read_the_table():
    program = """
import nkijit, nkijit.releases.table
assert nkijit.releases.table.releases.cache_info().misses == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
