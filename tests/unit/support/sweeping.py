"""A kernel to sweep over, and an executor that can be watched."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

SHAPE = {"x": "128x512:float32"}


@nki.jit
def tiled(x: Any, width: int = 128, copies: int = 1) -> Any:
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[1] // width):
        columns = nl.ds(i * width, width)
        tile = nl.load(x[:, columns])
        for _ in range(copies):
            nisa.tensor_copy(dst=tile, src=tile)
        nl.store(out[:, columns], tile)
    return out


class InTurn(Executor):
    """Runs a task when it is submitted; counts, and is interrupted at one of them."""

    def __init__(self, interrupted_at: int | None = None, may_fail: bool = False):
        self.count, self.interrupted_at, self.may_fail = 0, interrupted_at, may_fail

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.count == self.interrupted_at:
            raise KeyboardInterrupt
        self.count += 1
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            if not self.may_fail:
                raise
            future.set_exception(error)
        return future
