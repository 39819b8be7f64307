"""Names of a kernel's values in listings."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.attributes import float_to_text
from nkijit.dialects.declare.operation import scalar_constant
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.loops import compared, condition_of, storage_of

NAME = "engine.name"
"""The attribute for the listed name of an operation's value, if the name in the IR differs."""


class Names:
    """Names of values, equal to those in the kernel's printed IR: the second `x` is `x_1`.

    Lowered programs declare values in an order other than the kernel's. Where this would change a
    name, the attribute `NAME` records the name.
    """

    def __init__(self, kernel: KernelOp):
        self._names: dict[SSAValue, str] = {}
        used: dict[str, int] = {}
        unnamed = 0
        # In the order of definition, in which xDSL's printer assigns names.
        for value in (*kernel.arguments, *_defined(kernel)):
            hint, noted = value.name_hint, _noted(value)
            if hint is None:
                name = str(unnamed)
                unnamed += 1
            else:
                count = used.get(hint, 0)
                used[hint] = count + 1
                name = f"{hint}_{count}" if count else hint
            self._names[value] = noted or name

    def of(self, value: SSAValue) -> str:
        """Return the name of a value, without `%`."""
        return self._names[value]

    def number(self, value: SSAValue) -> str:
        """Return a number as text; for a register, the register's name."""
        number = scalar_constant(value)
        if number is None:
            return self._names[storage_of(value)]
        return float_to_text(number) if isinstance(number, float) else str(number)

    def loop(self, op: ForOp | WhileOp) -> str:
        """Format the head of a loop: `loop i = 0 to 8 step 1`."""
        return f"loop {self.iterations(op)}"

    def iterations(self, op: ForOp | WhileOp) -> str:
        """Format a loop's index and bounds (`i = 0 to 8 step 1`) or condition (`while x != 0`)."""
        if isinstance(op, ForOp):
            index = self._names[op.body.block.args[0]]
            lower, upper, step = map(self.number, (op.lb, op.ub, op.step))
            return f"{index} = {lower} to {upper} step {step}"
        sides = compared(op)
        if sides is not None:
            return f"while {' != '.join(map(self.number, sides))}"
        return f"while {self.number(condition_of(op))}"


def _defined(kernel: KernelOp) -> Iterator[SSAValue]:
    for op in kernel.operations:
        yield from op.results
        for region in op.regions:
            yield from region.block.args


def _noted(value: SSAValue) -> str | None:
    owner = value.owner
    op = owner if isinstance(owner, Operation) else owner.parent_op()
    if op is None or not op.attributes:
        return None
    name = op.attributes.get(NAME)
    return name.data if isinstance(name, StringAttr) else None
