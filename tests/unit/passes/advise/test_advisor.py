"""The search for advice reports its progress."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.advise import advisor
from nkijit.passes.compile.schedules import Schedule


@nki.jit
def loads_twice(x):
    out = nl.ndarray((128, 64), x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 64), x.dtype, buffer=nl.sbuf)
    for part in range(2):
        other = nl.ndarray((128, 64), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=other, src=x)
        if part:
            nisa.tensor_tensor(dst=tile, data1=tile, data2=other, op=nl.add)
        else:
            nisa.tensor_copy(dst=tile, src=other)
    nisa.dma_copy(dst=out, src=tile)
    return out


@pytest.mark.parametrize("gains", [True, False])
def test_progress_follows_each_experiment_to_the_end(gains, monkeypatch):
    if not gains:
        monkeypatch.setattr(advisor, "_first_gain", lambda *_: None)
    traced = loads_twice.trace(np.zeros((128, 64), np.float32))
    reported: list[float] = []
    advice = advisor.advise(
        list(kernels_of(traced.module)),
        advisor.Conditions(Schedule.author, traced.target),
        reported.append,
    )
    assert bool(advice.suggestions) == gains
    assert reported == [(i + 1) / advice.tried for i in range(advice.tried)] != []
