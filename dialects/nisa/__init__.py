"""The `nisa` dialect: one op per instruction of `nki.isa`, with the same name and arguments."""

from __future__ import annotations

from xdsl.ir import Dialect

from nkijit.dialects.attributes import WORD_ATTRIBUTES
from nkijit.dialects.declare.instruction import declared_in
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nisa import (
    activation,
    cores,
    elementwise,
    exponential,
    gather,
    matmul,
    movement,
    mx,
    pattern,
    random,
    reduce,
    registers,
    scan,
    search,
    select,
    statistics,
    transpose,
)

_FAMILIES = (
    *(movement, matmul, mx, transpose, elementwise, scan, reduce, statistics, select, activation),
    *(exponential, pattern, registers, cores, search, gather, random),
)

OF_SCALARS: tuple[type[NisaOp], ...] = (registers.RegisterComputeOp,)
"""Instructions that implement Python's operators on scalars; they are not functions of the API."""

INSTRUCTIONS: tuple[type[NisaOp], ...] = tuple(
    op for family in _FAMILIES for op in declared_in(family) if op not in OF_SCALARS
)
"""Every instruction of the API, in the order of the public API reference's families."""

Nisa = Dialect("nisa", [*INSTRUCTIONS, *OF_SCALARS], list(WORD_ATTRIBUTES))
