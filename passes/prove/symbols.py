"""Contents of registers that depend on inputs."""

from __future__ import annotations

from typing import NoReturn

from nkijit.passes.prove.algebra import Algebra
from nkijit.passes.prove.digests import Cells
from nkijit.passes.prove.errors import NotProvableError


class Symbol:
    """The content of a register as a digest; constructors can use it, Python's operators cannot."""

    def __init__(self, cells: Cells):
        self.cells = cells

    def _refuse(self, *_: object) -> NoReturn:
        raise NotProvableError("a number in a register depends on inputs")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = _refuse
    __floordiv__ = __and__ = __or__ = __rshift__ = __le__ = __gt__ = __ge__ = _refuse
    __bool__ = __int__ = __index__ = __eq__ = __ne__ = __lt__ = __hash__ = _refuse


def register_cells(content: int | Symbol, algebra: Algebra) -> Cells:
    """Return the digest of a register's content."""
    return content.cells if isinstance(content, Symbol) else algebra.number(float(content))
