"""The instruction listing as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from nkijit.passes.diagnostics.places import positions
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.lower.program import EngineInstruction, Item, Program, QueueLoop, Wait
from nkijit.passes.lower.texts import Texts


def listing_json(programs: Sequence[Program]) -> str:
    """Format the listings of a kernel's cores as JSON."""
    return json.dumps([_program(program) for program in programs], indent=1) + "\n"


def _program(program: Program) -> dict[str, Any]:
    kernel, target, placed = program.kernel, program.target, program.placement
    texts = Texts(program)
    return {
        "kernel": kernel.sym_name.data,
        "target": target.platform,
        "core": kernel.core[0],
        "passed_over": plain(program.passed_over),
        "sbuf_bytes": placed.sbuf_bytes,
        "psum_bytes": placed.psum_bytes,
        "queues": {
            queue.name: [_item(item, texts) for item in items]
            for queue, items in program.queues.items()
        },
    }


def _item(item: Item, texts: Texts) -> dict[str, Any]:
    waits = [
        {
            "queue": wait.queue.name,
            "count": wait.before.signal,
            "previous_iteration": wait.carried,
            "dependence": None if wait.kind is None else wait.kind.value,
            "for": _reason(wait, texts),
        }
        for wait in item.waits
    ]
    common: dict[str, Any] = {"waits": waits, "signal": item.signal}
    if isinstance(item, QueueLoop):
        inside = [_item(inner, texts) for inner in item.items]
        return {"loop": texts.iterations(item.body.op), **common, "items": inside}
    assert isinstance(item, EngineInstruction)
    return {
        "number": item.number,
        "mnemonic": item.mnemonic,
        "instruction": item.op.name,
        **common,
        "operands": [{"field": f, **operand.data} for f, operand in texts.operands(item)],
        "immediates": dict(texts.immediates(item)),
        **texts.transfer(item),
        "source": [str(position) for position in positions(item.op.location)],
    }


def _reason(wait: Wait, texts: Texts) -> str | None:
    if wait.value is None:
        return None
    return texts.operand(wait.value).text
