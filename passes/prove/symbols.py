"""Contents of registers that depend on inputs."""

from __future__ import annotations

from typing import NoReturn

from nkijit.passes.prove.digests import Cells
from nkijit.passes.prove.errors import NotProvableError


class Symbol:
    """The content of a register as a digest; addresses can use it, computations cannot."""

    def __init__(self, cells: Cells):
        self.cells = cells

    def _refuse(self, *_: object) -> NoReturn:
        raise NotProvableError("a number in a register depends on inputs")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = _refuse
    __bool__ = __int__ = __index__ = __eq__ = __ne__ = __lt__ = __hash__ = _refuse
