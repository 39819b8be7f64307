"""A recording as a page of text: the last values that each line of the kernel wrote."""

from __future__ import annotations

from collections.abc import Sequence

from nkijit.dialects.spelling import counted, numbered
from nkijit.passes.diagnostics.tables import aligned
from nkijit.passes.values.instructions import Statistics, short_place
from nkijit.passes.values.integers import RoundedIntegers
from nkijit.passes.values.items import RecordedInstruction

MOST_LINES = 40
"""The largest number of rows of the table."""


def record_text(
    kernel: str,
    instructions: Sequence[RecordedInstruction],
    names: Sequence[str],
    rounded: Sequence[RoundedIntegers] = (),
) -> str:
    """Return a table with a row for each kernel line that wrote a tile, in execution order.

    Args:
        kernel: the kernel's name.
        instructions: all instructions of the run, in execution order.
        names: the variables that can be looked up.
        rounded: the integers that instructions have rounded to float32.
    """
    last: dict[tuple[str, str, str], tuple[int, int]] = {}
    for number, instruction in enumerate(instructions):
        for operand in instruction.operands[:1]:
            if operand.is_written:
                key = short_place(instruction.location), instruction.op, operand.tile
                last[key] = number, last.get(key, (0, 0))[1] + 1
    shown = list(last.items())[:MOST_LINES]
    found: dict[int, tuple[str, ...]] = {}
    for (place, op, tile), (number, times) in sorted(shown, key=lambda item: item[1]):
        destination = instructions[number].operands[0]
        size = "x".join(map(str, destination.shape))
        values = Statistics.of(destination.after)
        found[number] = (
            place,
            f"{times:,}",
            op,
            tile,
            f"{size} {destination.dtype}",
            f"{values.least:.4g}",
            f"{values.largest:.4g}",
            f"{values.mean:.4g}",
            f"{values.nans:,}" if values.nans else "",
            f"{values.infinities:,}" if values.infinities else "",
        )
    head = ("line", "times", "instruction", "writes", "shape", "min", "max", "mean", "NaN", "Inf")
    rows = [head, *(found[number] for _, (number, _) in shown)]
    lines = [
        f"record of @{kernel}: {counts_text(len(instructions), len(names))}",
        "",
        "what each line wrote the last time that it ran",
        *aligned(rows, lambda place, _: place == 1 or place > 4, indent="  "),
    ]
    if len(last) > MOST_LINES:
        lines.append(f"  ... and {numbered(len(last) - MOST_LINES, 'more line')}")
    if rounded:
        lines += ["", "integers that float32 arithmetic rounded"]
        lines += [f"  {each.line}" for each in rounded[:MOST_LINES]]
    if len(rounded) > MOST_LINES:
        lines.append(f"  ... and {numbered(len(rounded) - MOST_LINES, 'more line')}")
    if names:
        name = names[0]
        lines += [
            "",
            f'record["{name}"][-1].value is an array, record.at("{shown[0][0][0]}")[0] an '
            "instruction; record.first(np.isnan) looks for NaN",
        ]
    return "\n".join(lines) + "\n"


def counts_text(instructions: int, variables: int) -> str:
    """Return the size of a record: `3 instructions, 1 variable`."""
    return f"{counted(instructions, 'instruction')}, {counted(variables, 'variable')}"
