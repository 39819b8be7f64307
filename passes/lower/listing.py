"""The instruction listing: the instructions of each queue of a core with addresses and waits.

Each instruction is one line:

    number  waits  MNEMONIC  operands, immediates  signal  file:line

- The number is the position in program order over all queues.
- `wait(vector>=3)`: the instruction starts when the count of the Vector Engine's queue is at least
  3. In a loop, each iteration counts from 0; `previous vector>=3` refers to the previous iteration.
- `name[buffer address, partitions, pattern, dtype]`: the address is the first byte, relative to the
  partition on chip and to the tensor in HBM. Tensors in HBM have no partitions. The pattern is
  `stride:count` pairs in elements over the free dimensions; in HBM, over all dimensions. An offset
  known only at run time follows the first byte.
- `signal(3)`: when the instruction ends, the count of its queue is 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nkijit.dialects.spelling import numbered
from nkijit.passes.lower.program import EngineInstruction, Item, Program, QueueLoop
from nkijit.passes.lower.texts import Texts

WIDEST = 32
"""The width of the column of waits; a line with longer waits is not aligned with the others."""


def listing(program: Program, headline: str = "") -> str:
    """Format the listing of a core: a header, then a section for each queue.

    Args:
        program: the queues of the core.
        headline: the header's line about the whole kernel; "" for none.
    """
    return "\n".join(_lines(program, headline)) + "\n"


def _lines(program: Program, headline: str) -> Iterator[str]:
    yield from _header(program, headline)
    texts = Texts(program)
    for queue, items in program.queues.items():
        count = sum(1 for item in program.items(queue) if isinstance(item, EngineInstruction))
        yield ""
        yield f"{queue.name}: {numbered(count, 'instruction')}"
        waits = [len(texts.waits(item)) for item in program.items(queue) if item.waits]
        width = max([w for w in waits if w <= WIDEST], default=0)
        yield from _rows(items, texts, width, "  ")


def _header(program: Program, headline: str) -> Iterator[str]:
    kernel, target, placed = program.kernel, program.target, program.placement
    if program.passed_over:
        yield str(program.passed_over)
    if headline:
        yield headline
    if program.changes is not None:
        done = ", ".join(f"{name} {count}" for name, count in program.changes.items() if count)
        yield f"schedule compiler: {done or 'nothing to change'}"
    yield f"kernel {kernel.sym_name.data}, {target.platform} (NeuronCore-v{target.version.value})"
    waits = sum(len(item.waits) for queue in program.queues for item in program.items(queue))
    signals = sum(program.signals.values())
    yield (
        f"{numbered(len(program.instructions), 'instruction')}, {numbered(waits, 'wait')}, "
        f"{numbered(signals, 'signal')}"
    )
    yield (
        f"SBUF {placed.sbuf_bytes} of {numbered(target.sbuf_usable_bytes, 'byte')} per partition, "
        f"PSUM {placed.psum_bytes} of {target.psum_partition_bytes}"
    )


def _rows(items: Sequence[Item], texts: Texts, width: int, indent: str) -> Iterator[str]:
    for item in items:
        waits = texts.waits(item)
        signal = f"  signal({item.signal})" if item.signal else ""
        if isinstance(item, EngineInstruction):
            row = f"{indent}{item.number:>5}  {waits:<{width}}  {texts.instruction(item)}{signal}"
            place = texts.place(item.op)
            yield f"{row}  {place}" if place else row.rstrip()
        elif isinstance(item, QueueLoop):
            head = f"{waits}  " if waits else ""
            yield f"{indent}{head}{texts.loop(item.body.op)} {{"
            yield from _rows(item.items, texts, width, indent + "  ")
            yield f"{indent}}}{signal}"
