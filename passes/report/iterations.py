"""Finds the iterations of unrolled loops that contain each operation."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import ViewOp
from nkijit.passes.report import model
from nkijit.passes.transform.nodes import Loop, Node, Unit
from nkijit.passes.transform.read import Reader


class Grouping:
    """The iterations of loops that were unrolled, recovered as in `reroll`."""

    def __init__(self) -> None:
        self.iterations = model.ReportIterations()
        self._found: dict[Operation, int] = {}

    def add(self, kernel: KernelOp) -> None:
        """Find the loops of a kernel."""
        self._visit(Reader(kernel).read(), -1)

    def of(self, ops: Sequence[Operation]) -> list[int]:
        """Return the iteration of each operation, or -1. `ops` are in the order of the text."""
        found = [-1] * len(ops)
        for number in range(len(ops) - 1, -1, -1):
            op = ops[number]
            if op in self._found:
                found[number] = self._found[op]
            elif isinstance(op, ViewOp) and number + 1 < len(ops):
                # A view belongs to the next operation, for which it was created.
                found[number] = found[number + 1]
        return found

    def _visit(self, nodes: Sequence[Node], iteration: int) -> None:
        for node in nodes:
            if isinstance(node, Unit):
                self._found[node.op] = iteration
                for region in node.regions:
                    self._visit(region.nodes, iteration)
            elif isinstance(node, Loop):
                count = len(node.iterations)
                for number, body in enumerate(node.iterations):
                    self._visit(body, self._add(iteration, number, count))

    def _add(self, parent: int, number: int, count: int) -> int:
        if count == 1:
            return parent
        rows = self.iterations
        rows.parent.append(parent)
        rows.number.append(number)
        rows.count.append(count)
        return len(rows.parent) - 1
