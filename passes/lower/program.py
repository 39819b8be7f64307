"""A lowered kernel: queues of engine instructions, as the sequencers of one core run the queues.

`engines.py` creates the program from a traced kernel, and `schedule.py` adds waits and signals. The
listing, the timeline and the engine-level interpreter read the program.

All of these modules share the following model of the hardware:

- Every engine has a queue. A queue starts its instructions in order, and an instruction sees the
  results of all earlier instructions of its queue. Results of other queues are visible only through
  semaphores.
- A DMA is two instructions. A *trigger* in the queue of an engine waits and starts the transfer.
  The *transfer* runs in a ring. The transfers of a ring start in order and end in order, but a
  transfer can start before the previous transfer has ended. The times of its reads and writes in
  between are not specified. A ring takes transfers in the order in which their triggers run. A
  transfer uses the register values that its trigger has read.
- A queue counts its ended instructions, if other instructions wait for them. There is one count for
  the body of each loop and one for the program outside of loops. A `Wait` names a queue and a
  count.
- A loop is an item of every queue that has instructions in it. From outside, a loop in a queue is
  one instruction: it waits before its first iteration and ends with its last. A ring runs the loop
  as often as the queue that triggers the ring's transfers. The iteration in which the loop's
  condition fails counts as complete for all signals in the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.effects import DependenceKind
from nkijit.dialects.engine.queues import Queue
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.spelling import counted
from nkijit.passes.analysis.writes.liveness import Liveness
from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.diagnostics.places import positions


class What(Enum):
    """The action of an engine instruction."""

    compute = "compute"
    """Run a stage of an NKI instruction."""
    trigger = "trigger"
    """Start a DMA."""
    transfer = "transfer"
    """Move the data of a DMA, in a ring."""
    load_table = "load_table"
    """Load the table of an activation function."""
    test = "test"
    """Read the registers that decide whether, or how often, a loop runs."""
    print = "print"
    """Print a tensor."""


class Wait(NamedTuple):
    """A semaphore wait of an item, or a dependence on another item.

    The item starts when `before`, an instruction or a loop, has ended: the count of its queue in
    the block is then at least `before.signal`. Each iteration has its own count. A `carried` wait
    refers to the previous iteration of the innermost loop that contains both items; in the first
    iteration, such a wait is satisfied.
    """

    before: Item
    carried: bool
    kind: DependenceKind | None
    """The type of dependence; None for the author's edges and for waits of registers."""
    value: SSAValue | None
    """The tile of the waiting instruction, or the register, that causes the dependence."""

    @property
    def queue(self) -> Queue:
        """The queue of the awaited item, `before`."""
        return self.before.queue

    def __repr__(self) -> str:
        return f"<wait for {self.before!r}{' of the iteration before' * self.carried}>"


def _no_waits() -> list[Wait]:
    """Return an empty list. Every item needs two, and `list[Wait]` takes three times as long."""
    return []


@dataclass(slots=True, eq=False, repr=False)
class Item(ShownFields):
    """An item of a queue: an instruction or a loop."""

    queue: Queue
    loop: Loop | None
    """The innermost loop around the item; None outside of loops."""
    waits: list[Wait] = field(default_factory=_no_waits, init=False)
    signal: int = field(default=0, init=False)
    """The count of the item's queue in the block when the item ends; 0 without waiters."""
    edges: list[Wait] = field(default_factory=_no_waits, init=False)
    """All dependences of the item; `waits` omits dependences that other waits imply."""


@dataclass(slots=True, eq=False, repr=False)
class EngineInstruction(Item):
    """An instruction of one engine or ring."""

    number: int
    """The instruction's position in program order over all queues of the core, from 0."""
    op: Operation
    """The NKI instruction that this engine instruction was lowered from."""
    what: What
    mnemonic: str
    operands: tuple[str, ...]
    """The fields of `op` that this instruction accesses."""
    stage: int = -1
    """The index of the stage in the declaration of `op`; -1 if the instruction is not a stage."""
    trigger: EngineInstruction | None = None
    """For a transfer, the trigger that starts the transfer."""
    weights: EngineInstruction | None = None
    """For a multiplication, the instruction that loaded the stationary tile."""
    table: str = ""
    """For `What.load_table`, the name of the table."""
    part: int = 0
    """The index of this part of the stage, below `parts`; the last part publishes the results."""
    parts: int = 1
    like: int = -1
    """A number, equal for instructions that differ only in names and offsets of tiles.

    Such instructions have the same duration.
    """

    def __repr__(self) -> str:
        return f"<instruction #{self.number} {self.mnemonic} in {self.queue.name}>"


@dataclass(slots=True, eq=False, repr=False)
class Loop(ShownFields):
    """A loop on the device, in all queues."""

    op: ForOp | WhileOp
    parent: Loop | None
    number: int
    """The index of the loop among all loops, outer loops before inner ones, from 0."""
    queues: dict[Queue, QueueLoop] = field(default_factory=dict[Queue, "QueueLoop"])

    @property
    def depth(self) -> int:
        """The number of loops around this loop."""
        return 0 if self.parent is None else self.parent.depth + 1


@dataclass(slots=True, eq=False, repr=False)
class QueueLoop(Item):
    """The items of a loop that one queue runs."""

    body: Loop
    items: list[Item] = field(default_factory=list[Item])


@dataclass(frozen=True, slots=True, repr=False)
class Placement(ShownFields):
    """The addresses of a core's tiles."""

    live: Liveness
    addresses: dict[AllocOp, tuple[int, int]]
    """The (partition, byte in the partition) of every on-chip allocation in use."""
    sbuf_bytes: int
    """The bytes per partition of SBUF from byte 0 to the end of the last tile."""
    psum_bytes: int
    sbuf_live: int
    """The largest number of bytes of SBUF per partition in use at one instruction."""
    psum_live: int

    def fits(self, target: Target) -> bool:
        """Whether the memories of a target's core are large enough."""
        return (
            self.sbuf_bytes <= target.sbuf_usable_bytes
            and self.psum_bytes <= target.psum_partition_bytes
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
    """The queues of one core. `schedule` creates another program with the same items."""

    kernel: KernelOp
    target: Target
    placement: Placement
    queues: dict[Queue, list[Item]]
    """The items of each queue outside of loops, in order; queues without items are omitted."""
    instructions: list[EngineInstruction]
    """All engine instructions, ordered by number."""
    loops: list[Loop]
    blocks: dict[Loop | None, list[Item]]
    """The items of all queues in the body of each loop; None means outside of loops.

    Each item follows all items that it waits for.
    """
    signals: dict[tuple[Queue, Loop | None], int] = field(
        default_factory=dict[tuple[Queue, "Loop | None"], int]
    )
    """The final count of each queue in an iteration of each loop; None means outside of loops."""
    scheduled: bool = False
    """True if waits and signals are set."""
    origins: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    """If `kernel` is a changed copy, maps each of its operations to the original operation."""
    changes: Mapping[str, int] | None = None
    """The number of changes by each compiler pass; None for the author's own order and tiles."""
    passed_over: PassedOver = field(default_factory=PassedOver)
    """The errors of the kernel that were ignored for lowering."""

    def __repr__(self) -> str:
        instructions = counted(len(self.instructions), "instruction")
        counts = f"{instructions} in {counted(len(self.queues), 'queue')}"
        return f"<program of @{self.kernel.sym_name.data} for {self.target.platform}: {counts}>"

    def items(self, queue: Queue) -> Iterator[Item]:
        """Yield all items of a queue; a loop precedes its contents."""
        return walk(self.queues.get(queue, ()))


def walk(items: Sequence[Item]) -> Iterator[Item]:
    """Yield items, and the contents of loops among them, in order."""
    for item in items:
        yield item
        if isinstance(item, QueueLoop):
            yield from walk(item.items)


class LoweringError(ValueError):
    """An error in lowering: an operation is not modelled, or no addresses are found for tiles."""

    out_of_memory = False
    """True if no addresses were found for the tiles."""

    @staticmethod
    def at(op: Operation, message: str) -> LoweringError:
        """Create the error for an operation, with its source position."""
        places = positions(op.location)
        at = f"{places[0]}: " if places else ""
        return LoweringError(f"{at}{op.name}: {message}")
