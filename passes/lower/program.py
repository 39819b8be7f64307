"""A kernel as the sequencers of one core run it: engine instructions in queues.

This is what lowering makes of a traced kernel (`engines.py`), what `schedule.py` adds waits and
signals to, and what the listing, the timeline and the engine-level interpreter read.

The model of the hardware that all of them share:

- Every engine has a queue. It starts its instructions in order, and an instruction sees the
  results of all earlier ones of its queue. Other queues learn of results by semaphores only.
- A DMA is two instructions. A *trigger* in the queue of an engine does the waiting and starts
  the transfer; the *transfer* runs in a ring. The transfers of a ring begin in order and end in
  order, but one begins before the one ahead of it has ended, and when in between it reads and
  writes is open. A ring takes transfers in the order in which their triggers run; a transfer goes
  by the registers that its trigger has read.
- A queue counts, for the body of each loop and for the program outside of loops, how many of its
  instructions that others wait for have ended. A `Wait` names a queue and a count.
- A loop stands in every queue that has instructions in it. Outside of it, a loop in a queue is
  one instruction: it waits before its first iteration and has ended with its last one. A ring
  runs it as often as the queue that starts its transfers does. The iteration in which the test
  of a loop fails counts as a whole one, for all that its queue signals in it.
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
from nkijit.passes.analysis.writes.liveness import Liveness
from nkijit.passes.diagnostics.fields import ShownFields
from nkijit.passes.diagnostics.passed_over import PassedOver
from nkijit.passes.diagnostics.places import positions


class What(Enum):
    """What an engine instruction does."""

    compute = "compute"
    """A stage of an NKI instruction."""
    trigger = "trigger"
    """Starts a DMA."""
    transfer = "transfer"
    """A DMA, in its ring."""
    load_table = "load_table"
    """Loads the table of an activation function."""
    test = "test"
    """Reads the registers that say whether, or how often, a loop runs."""
    print = "print"
    """Prints a tensor."""


class Wait(NamedTuple):
    """A semaphore that an instruction waits for before it begins.

    `before` is the instruction, or the loop, whose end is waited for; its queue has then counted
    to `before.signal` in its block, in each iteration from the loop's first one on. A `carried`
    wait is for the previous iteration of the loop that both are in; in the first one it is over.
    """

    before: Item
    carried: bool
    kind: DependenceKind | None
    """Why: the dependence; None for an edge that the author added, or a register."""
    value: SSAValue | None
    """The tile of the waiting instruction, or the register, that is the reason."""

    @property
    def queue(self) -> Queue:
        """The queue that is waited for."""
        return self.before.queue

    def __repr__(self) -> str:
        return f"<wait for {self.before!r}{' of the iteration before' * self.carried}>"


def _no_waits() -> list[Wait]:
    """What `list[Wait]()` makes, which takes three times as long: every item has two."""
    return []


@dataclass(slots=True, eq=False, repr=False)
class Item(ShownFields):
    """What stands in a queue: an instruction or a loop."""

    queue: Queue
    loop: Loop | None
    """The loop that it is directly in."""
    waits: list[Wait] = field(default_factory=_no_waits, init=False)
    signal: int = field(default=0, init=False)
    """What its queue has counted to in this block when it has ended; 0 when nothing waits."""
    edges: list[Wait] = field(default_factory=_no_waits, init=False)
    """Everything that it has to wait for, before `schedule.py` leaves out what is implied."""


@dataclass(slots=True, eq=False, repr=False)
class EngineInstruction(Item):
    """An instruction of one engine or ring."""

    number: int
    """Its place in program order, over all queues of the core, from 0."""
    op: Operation
    """The NKI instruction that it is a part of."""
    what: What
    mnemonic: str
    operands: tuple[str, ...]
    """The fields of `op` that it touches."""
    stage: int = -1
    """Which of the op's stages, -1 for what is none."""
    trigger: EngineInstruction | None = None
    """Of a transfer: what starts it."""
    weights: EngineInstruction | None = None
    """Of a multiplication: the instruction that has loaded its stationary tile."""
    table: str = ""
    """What `What.load_table` loads."""
    part: int = 0
    """Which part of the stage's work it does; the last of `parts` makes the results known."""
    parts: int = 1
    like: int = -1
    """Equal for two that differ in names and in where tiles begin only, and so take as long."""

    def __repr__(self) -> str:
        return f"<instruction #{self.number} {self.mnemonic} in {self.queue.name}>"


@dataclass(slots=True, eq=False, repr=False)
class Loop(ShownFields):
    """A loop on the device, in all queues."""

    op: ForOp | WhileOp
    parent: Loop | None
    number: int
    """Its place among the loops, outer ones before inner ones, from 0."""
    queues: dict[Queue, QueueLoop] = field(default_factory=dict[Queue, "QueueLoop"])

    @property
    def depth(self) -> int:
        """How many loops are around it."""
        return 0 if self.parent is None else self.parent.depth + 1


@dataclass(slots=True, eq=False, repr=False)
class QueueLoop(Item):
    """A loop in one queue."""

    body: Loop
    items: list[Item] = field(default_factory=list[Item])


@dataclass(frozen=True, slots=True, repr=False)
class Placement(ShownFields):
    """Where the tiles of a core lie."""

    live: Liveness
    addresses: dict[AllocOp, tuple[int, int]]
    """(partition, byte in the partition) of every on-chip allocation in use."""
    sbuf_bytes: int
    """The byte after the last one in use, per partition."""
    psum_bytes: int
    sbuf_live: int
    """The most bytes per partition in use at one instruction of the program."""
    psum_live: int

    def fits(self, target: Target) -> bool:
        """Whether the memories of a core have so many bytes."""
        return (
            self.sbuf_bytes <= target.sbuf_usable_bytes
            and self.psum_bytes <= target.psum_partition_bytes
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
    """The queues of one core. `schedule` makes another program of the same items."""

    kernel: KernelOp
    target: Target
    placement: Placement
    queues: dict[Queue, list[Item]]
    """What each queue runs outside of loops, in order; queues without instructions are left out."""
    instructions: list[EngineInstruction]
    """All instructions, by number."""
    loops: list[Loop]
    blocks: dict[Loop | None, list[Item]]
    """The items of all queues together, outside of loops and in each: each item comes after all
    that it waits for."""
    signals: dict[tuple[Queue, Loop | None], int] = field(
        default_factory=dict[tuple[Queue, "Loop | None"], int]
    )
    """How far a queue counts in one iteration of a loop, or outside of loops."""
    scheduled: bool = False
    """True when its waits and signals are set."""
    origins: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    """Where `kernel` is a changed copy: the operation that each of its operations is a copy of."""
    changes: Mapping[str, int] | None = None
    """How much each pass of the compiler has changed; None for the author's own order and tiles."""
    passed_over: PassedOver = field(default_factory=PassedOver)
    """The kernel's errors, if it was to be lowered in spite of them."""

    def __repr__(self) -> str:
        counts = f"{len(self.instructions):,} instructions in {len(self.queues)} queues"
        return f"<program of @{self.kernel.sym_name.data} for {self.target.platform}: {counts}>"

    def items(self, queue: Queue) -> Iterator[Item]:
        """Everything in a queue, loops before what is in them."""
        return walk(self.queues.get(queue, ()))


def walk(items: Sequence[Item]) -> Iterator[Item]:
    """Items with those inside of loops, in order."""
    for item in items:
        yield item
        if isinstance(item, QueueLoop):
            yield from walk(item.items)


class LoweringError(ValueError):
    """A kernel that lowering does not model, or whose tiles found no addresses."""

    no_room = False
    """True when tiles found no addresses."""

    @staticmethod
    def at(op: Operation, message: str) -> LoweringError:
        """The error for an operation, with the place that it comes from."""
        places = positions(op.location)
        at = f"{places[0]}: " if places else ""
        return LoweringError(f"{at}{op.name}: {message}")
