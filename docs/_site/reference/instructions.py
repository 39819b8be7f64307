"""Pages of the instructions, generated from their declarations."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from docs._site.reference.examples import example_kernel
from docs._site.reference.markdown import contents, fenced, folded, page
from docs._site.reference.violations import Violations
from nkijit import collectives, isa
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.dialects.nisa.universal_rules import all_rules_of
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.reference import catalogue

FOLDER = "reference/instructions"
_MODULES: dict[str, Any] = {"nisa": isa, "ncc": collectives}


def pages(found: Violations) -> Iterator[tuple[str, str]]:
    """Yield the index of the instructions, and a page for each."""
    yield f"{FOLDER}/index.md", _index()
    for op in (*INSTRUCTIONS, *COLLECTIVES):
        yield f"{FOLDER}/{op.name}.md", instruction_page(op, found)


def _index() -> str:
    parts = [
        "# Instructions",
        "One page for each instruction, generated from the declaration that tracing, verification, "
        "lowering and `nkijit explain` use.",
    ]
    for title, ops in (("nki.isa", INSTRUCTIONS), ("nki.collectives", COLLECTIVES)):
        rows = ["| instruction | does | engines | since |", "|---|---|---|---|"]
        for op in ops:
            facts = dict(catalogue.facts_of(op))
            does = catalogue.prose(facts["does"])
            engines, since = facts["engines"].replace(", ", " "), facts["since"]
            rows.append(f"| [{op.name}]({op.name}.md) | {does} | {engines} | {since} |")
        parts += [f"## {title}", "\n".join(rows)]
    return page(*parts, contents(op.name for op in (*INSTRUCTIONS, *COLLECTIVES)))


def instruction_page(op: type[NisaOp], found: Violations) -> str:
    """Return the page of an instruction: signature, arguments, example, cost and rules."""
    facts = catalogue.facts_of(op)
    by_name = dict(facts)
    dialect, _, name = op.name.partition(".")
    function = getattr(_MODULES[dialect], name, None)
    parts = [f"# {op.name}", catalogue.prose(by_name["does"])]
    if function is not None:
        parts.append(fenced(_broken(catalogue.signature_of(op.name, function)), "python"))
    parts.append(
        "\n".join(
            f"- **{title}:** {catalogue.prose(by_name[key])}"
            for title, key in (
                ("Engines", "engines"),
                ("Generations", "since"),
                ("API", "release"),
            )
            if by_name[key]
        ).replace(by_name["since"], f"{by_name['since']} and newer")
    )
    parts.append("## Arguments")
    parts += [
        f"`{argument}`\n: " + "\\\n  ".join(catalogue.prose(line) for line in text.split("\n"))
        for argument, text in catalogue.arguments_of(op)
    ]
    if function is not None:
        parts += _example(op, function)
    parts += _cost(facts)
    parts += _rules(op, found)
    return page(*parts)


def _broken(signature: str) -> str:
    """Break a signature into lines that fit a page."""
    if len(signature) <= 76:
        return signature
    name, _, arguments = signature.partition("(")
    lines = textwrap.fill(arguments.removesuffix(")") + ",", 72, break_long_words=False)
    return f"{name}(\n{textwrap.indent(lines, '    ')}\n)"


def _example(op: type[NisaOp], function: Any) -> list[str]:
    example = example_kernel(function)
    return [
        "## Example",
        "A complete kernel that can be traced; its tiles are not initialised.",
        fenced(example.source, "python"),
        "Its IR:",
        fenced("\n".join(example.ir(op.name)), "mlir"),
    ]


def _cost(facts: list[tuple[str, str]]) -> list[str]:
    stages = [text for key, text in facts if key == "lowers to"]
    if not stages:
        return []
    return [
        "## Cost",
        "The instructions of an engine or a DMA queue that it is lowered to, with the formulas of "
        "the timing model. `N(x)` is the number of elements per partition; names are constants of "
        "a generation, from `dialects/hardware/timings/`, which also documents their sources.",
        "\n".join(f"- {_stage(text)}" for text in stages),
    ]


def _stage(text: str) -> str:
    mnemonic, _, rest = text.partition(", ")
    unit, _, formula = rest.partition(": ")
    return f"`{mnemonic}`, {unit}: {catalogue.prose(formula)}"


def _rules(op: type[NisaOp], found: Violations) -> list[str]:
    parts = [
        "## Rules",
        "The rules that `nkijit verify` checks. A rule that unfolds has a kernel from the tests "
        "that violates it with this instruction.",
    ]
    for rule in dict.fromkeys(rule.text.id for rule in all_rules_of(op)):
        sentence = catalogue.literal(RULE_TEXTS[rule].sentence)
        violation = found.get((op.name, rule))
        if violation is None:
            parts.append(f"**[{rule}](../rules/{rule}.md)**: {sentence}")
            continue
        body = page(
            f"A kernel that violates [the rule](../rules/{rule}.md), and its finding:",
            fenced(violation.kernel, violation.language),
            fenced(violation.headline),
        )
        parts.append(folded(f"{rule}: {sentence}", body.strip()))
    return parts
