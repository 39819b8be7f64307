"""A stack of tiles in SBUF, and banks of PSUM, at addresses that the kernel fixes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import nkijit.language as nl

ROWS, COLUMNS, HEAD = 32, 64, 32
"""Rows and columns of a block, and columns of an attention head."""
PIECES = 4
"""The number of pieces in which a wide tile is loaded."""
BANK_BYTES = 2048
BANKS = 8


class Stack:
    """Allocates tiles one after the other; `scope` frees the tiles that were allocated in it."""

    def __init__(self) -> None:
        self.top = 0
        self.bank = 0

    def tile(self, rows: int, columns: int, dtype: str = nl.float32) -> Any:
        """Allocate a tile at the top of the stack."""
        at = self.top
        size = 2 if dtype == nl.bfloat16 else 4
        self.top += -(-columns * size // 32) * 32
        return nl.ndarray((rows, columns), dtype=dtype, buffer=nl.sbuf, address=(0, at))

    def psum(self, rows: int, columns: int, dtype: str = nl.float32) -> Any:
        """Allocate a tile in the next bank of PSUM."""
        at = self.bank * BANK_BYTES
        self.bank = (self.bank + 1) % BANKS
        return nl.ndarray((rows, columns), dtype=dtype, buffer=nl.psum, address=(0, at))

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Free the tiles that the body allocates."""
        top = self.top
        yield
        self.top = top
