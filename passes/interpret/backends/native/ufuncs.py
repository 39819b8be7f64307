"""Addresses of the inner loops of NumPy's and SciPy's ufuncs, which native code calls.

A ufunc has a table of C functions, one for each combination of data types: `void loop(char **args,
npy_intp *dims, npy_intp *steps, void *data)`. The layout of that table is part of NumPy's public C
API (`numpy/ufuncobject.h`). Native code calls the same loop as NumPy, so exponentials and sums have
the same bits on every CPU.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import NamedTuple

import numpy as np


class _UFunc(ctypes.Structure):
    """The first fields of `PyUFuncObject`, as declared in the header."""

    _fields_ = [
        ("references", ctypes.c_ssize_t),
        ("type", ctypes.c_void_p),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.c_void_p),
    ]


class Loop(NamedTuple):
    """An inner loop of a ufunc for certain data types."""

    function: int
    """The address of the loop's machine code."""
    data: int
    """The `data` pointer that is passed to the loop."""


class LoopError(Exception):
    """A ufunc has no loop for the requested data types, or an unexpected layout."""


@cache
def loop_of(ufunc: np.ufunc, signature: str) -> Loop:
    """Return the loop of a ufunc for some data types, such as 'f->f'. Raises LoopError."""
    head = _UFunc.from_address(id(ufunc))
    expected = (ufunc.nin, ufunc.nout, ufunc.ntypes, ufunc.__name__.encode())
    if (head.nin, head.nout, head.ntypes, head.name) != expected:
        raise LoopError(f"{ufunc.__name__} is not laid out as NumPy's header says")
    if signature not in ufunc.types:
        raise LoopError(f"{ufunc.__name__} has no loop {signature}")
    number = ufunc.types.index(signature)
    function = head.functions[number]
    if not function:
        raise LoopError(f"{ufunc.__name__} has no code for {signature}")
    return Loop(function, (head.data[number] or 0) if head.data else 0)
