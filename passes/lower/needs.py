"""The queues that run the instructions of loops, and the activation tables that the loops need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Operation

from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.kernel import DevicePrintOp
from nkijit.passes.lower.forms import LoweredForms
from nkijit.passes.lower.program import Queue


class Need(NamedTuple):
    """The needs of a loop's body, including the needs of nested loops."""

    queues: Sequence[Queue]
    """The queues of the body's instructions."""
    tables: dict[str, NisaOp]
    """The activation tables that the body needs, each with an instruction that uses the table."""


class Needs:
    """The needs of a kernel's loops, computed once per loop."""

    def __init__(self, forms: LoweredForms):
        self._forms = forms
        self._known: dict[Operation, Need] = {}

    def of(self, loop: ForOp | WhileOp) -> Need:
        """Return the needs of a loop."""
        found = self._known.get(loop)
        if found is None:
            queues, tables = set[Queue](), dict[str, NisaOp]()
            self._collect(loop, queues, tables)
            found = self._known[loop] = Need(sorted(queues), tables)
        return found

    def _collect(self, op: Operation, queues: set[Queue], tables: dict[str, NisaOp]) -> None:
        for region in op.regions:
            for inner in region.block.ops:
                if type(inner) in DECLARATIONS:
                    continue
                if is_instruction(inner):
                    form = self._forms.of(inner)
                    queues.update(
                        (form.queue, form.queue if form.trigger is None else form.trigger)
                    )
                    if form.table is not None:
                        tables.setdefault(form.table, inner)
                elif isinstance(inner, (ForOp, WhileOp)):
                    need = self.of(inner)
                    queues.update(need.queues)
                    for table, user in need.tables.items():
                        tables.setdefault(table, user)
                elif isinstance(inner, DevicePrintOp):
                    queues.add(Queue.sync)
                else:
                    self._collect(inner, queues, tables)
