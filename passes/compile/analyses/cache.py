"""Analyses of a kernel, computed once and cached until a pass changes the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

from xdsl.ir import Operation

from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.compile.analyses.accesses import Accesses, accesses_of
from nkijit.passes.compile.analyses.costs import Costs, InstructionCost
from nkijit.passes.compile.analyses.ordering import Kept, has_accumulators
from nkijit.passes.compile.analyses.regions import Regions


class Analyses:
    """Cached analyses of a kernel. A pass that changes the kernel must call `changed`."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.costs_by_form = Costs(kernel.target)
        """Cached costs of instructions. They stay valid when the kernel changes."""
        self.orders: dict[object, tuple[float, Sequence[int]]] = {}
        """The best order of regions and its time in ns, by a key of the scheduler's inputs."""

    def changed(self) -> None:
        """Discard the cached analyses: operations, operands or the order have changed."""
        for name in _FOUND:
            self.__dict__.pop(name, None)

    @cached_property
    def operations(self) -> list[Operation]:
        """All operations, including nested ones, in program order."""
        return list(self.kernel.operations)

    @cached_property
    def places(self) -> dict[int, int]:
        """The index of each operation in program order, by the operation's `id`."""
        return {id(op): place for place, op in enumerate(self.operations)}

    def ends_of(self, op: Operation) -> tuple[int, int]:
        """Return the program positions of an operation and of the last operation nested in it."""
        last = op
        while last.regions and (inner := last.regions[-1].blocks[-1].last_op) is not None:
            last = inner
        return self.places[id(op)], self.places[id(last)]

    @cached_property
    def of_kind(self) -> dict[type[Operation], list[Operation]]:
        """The operations of each class, in program order."""
        found: dict[type[Operation], list[Operation]] = {}
        for op in self.operations:
            kind = type(op)
            if kind in found:
                found[kind].append(op)
            else:
                found[kind] = [op]
        return found

    @cached_property
    def nests(self) -> list[Operation]:
        """The operations with regions, in program order; most kernels have none."""
        if not any(ops[0].regions for ops in self.of_kind.values()):
            return []
        return [op for op in self.operations if op.regions]

    @cached_property
    def accesses(self) -> Accesses:
        """The accesses to each tensor, in program order."""
        return accesses_of(self.operations)

    @cached_property
    def engine_state(self) -> Kept:
        """The engine state that instructions of the kernel leave for later instructions."""
        uses = [ops for kind, ops in self.of_kind.items() if has_accumulators(kind)]
        return Kept.by(self.kernel, chain.from_iterable(uses))

    @cached_property
    def costs(self) -> dict[int, InstructionCost]:
        """The cost of each movable instruction, by the operation's `id`, in program order."""
        found: dict[int, InstructionCost] = {}
        if_movable = self.costs_by_form.if_movable
        for op in self.operations:
            if is_instruction(op):
                cost = if_movable(op)
                if cost is not None:
                    found[id(op)] = cost
        return found

    @cached_property
    def regions(self) -> Regions:
        """The straight-line regions of the kernel, within which instructions may be reordered."""
        return Regions(
            *(self.kernel, self.nests, self.places, self.costs, self.accesses, self.engine_state)
        )


_FOUND = tuple(name for name, found in vars(Analyses).items() if isinstance(found, cached_property))
"""The names of all cached analyses, for `changed`."""
