"""Conversion of a lowered program back to a kernel: its NKI instructions, ordered by number."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.builtin import i32
from xdsl.dialects.scf import ConditionOp, ForOp, YieldOp
from xdsl.dialects.scf import WhileOp as ScfWhileOp
from xdsl.ir import Block, Operation, Region, SSAValue

from nkijit.dialects.engine.ops import AnyLoopOp, IssueOp, LoopOp, QueueOp, WhileOp
from nkijit.dialects.engine.program import Contents, LoopNumber, ProgramOp
from nkijit.dialects.nki.kernel import KernelOp, NoReorderOp, ReturnOp
from nkijit.dialects.nki.registers import ReadRegisterOp
from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.register_type import RegisterType


class Raised:
    """The kernel of a lowered program, with maps from program to kernel."""

    def __init__(self, program: ProgramOp):
        self.contents = Contents(program)
        self.values: dict[SSAValue, SSAValue] = {}
        """Maps the program's values to the kernel's; equal views in several queues become one."""
        self.ops: dict[int, Operation] = {}
        """The NKI instructions, by the number of the `engine.issue` that contains each."""
        self.loops: dict[int, ForOp | ScfWhileOp] = {}
        self._views: dict[tuple[object, ...], SSAValue] = {}
        body = Block(arg_types=[value.type for value in program.arguments])
        for value, argument in zip(program.arguments, body.args, strict=True):
            argument.name_hint = value.name_hint
            self.values[value] = argument
        for op in program.body.block.ops:
            if not isinstance(op, (QueueOp, ReturnOp)):
                body.add_op(op.clone(self.values))
        self._block(None, body)
        body.add_op(program.return_op.clone(self.values))
        self.kernel = KernelOp(
            program.sym_name.data,
            program.target_name.data,
            Region(body),
            None if program.program is None else program.core,
        )
        self.kernel.attributes.update(program.attributes)
        self.kernel.location = program.location

    def _block(self, number: LoopNumber, body: Block) -> None:
        items = [
            item
            for queue in self.contents.blocks[number].items.values()
            for item in queue
            if isinstance(item, (IssueOp, AnyLoopOp))
        ]
        items.sort(key=self.contents.first_number)
        group: int | None = None
        into = body
        for item in items:
            if isinstance(item, AnyLoopOp):
                if item.number not in self.loops:
                    self._loop(item.number, body)
                group = None
                continue
            if item.group is None:
                into = body
            elif item.group != group:
                into = Block()
                body.add_op(NoReorderOp.create(regions=[Region(into)]))
            group = item.group
            for value in item.payload.operands:
                self._define(value, body if group is None else into)
            self.ops[item.number] = item.payload.clone(self.values)
            into.add_op(self.ops[item.number])

    def _define(self, value: SSAValue, body: Block) -> None:
        """Add the view that defines a value, unless it was already added for another queue."""
        if value in self.values:
            return
        owner = value.owner
        assert isinstance(owner, ViewOp), "only views stand in queues"
        for operand in owner.operands:
            self._define(operand, body)
        operands = [id(self.values[operand]) for operand in owner.operands]
        key = (value.name_hint, *operands, value.type, *owner.properties.items())
        if key not in self._views:
            view = owner.clone(self.values)
            body.add_op(view)
            self._views[key] = view.result
        self.values[value] = self._views[key]

    def _loop(self, number: int, body: Block) -> None:
        places = list(self.contents.loops[number].values())
        first = places[0]
        if isinstance(first, LoopOp):
            bounds = self._read(first.operands, body)
            inside = Block(arg_types=[i32])
            loop: ForOp | ScfWhileOp = ForOp(bounds[0], bounds[1], bounds[2], (), inside)
            for op in places:
                assert isinstance(op, LoopOp), "a loop is the same in all queues"
                inside.args[0].name_hint = op.variable.name_hint
                self.values[op.variable] = inside.args[0]
        else:
            assert isinstance(first, WhileOp)
            test, inside = Block(), Block()
            left, right = self._read((first.left, first.right), test)
            compared = CmpiOp(left, right, "ne")
            test.add_ops((compared, ConditionOp(compared.result)))
            loop = ScfWhileOp((), (), Region(test), Region(inside))
        loop.location = first.location
        loop.attributes.update(first.attributes)
        self.loops[number] = loop
        self._block(number, inside)
        inside.add_op(YieldOp())
        body.add_op(loop)

    def _read(self, values: Sequence[SSAValue], body: Block) -> list[SSAValue]:
        """Return the bounds of a loop as numbers, read from registers where necessary."""
        found: list[SSAValue] = []
        for value in values:
            value = self.values[value]
            if isinstance(value.type, RegisterType):
                read = ReadRegisterOp.of(value)
                read.result.name_hint = value.name_hint
                body.add_op(read)
                value = read.result
            found.append(value)
        return found
