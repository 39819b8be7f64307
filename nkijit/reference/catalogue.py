"""Descriptions of terms, rules and names of the API, for `nkijit explain`, editors and the docs."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum, EnumType
from importlib import import_module
from types import ModuleType
from typing import Any, cast

from nkijit import collectives, isa, language
from nkijit.dialects.declare.cost import StageCost
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import rules_of
from nkijit.dialects.declare.rules.operands import buffer_names
from nkijit.dialects.declare.rules.wording import one_of
from nkijit.dialects.declare.spec import Field
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS, OF_SCALARS
from nkijit.dialects.nisa.universal_rules import UNIVERSAL_RULES, all_rules_of
from nkijit.dialects.nki import WITH_RULES
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.rule_texts.text import ErrorKind, RuleText
from nkijit.dialects.spelling import did_you_mean
from nkijit.passes.verify.rules import CATEGORIES
from nkijit.reference.glossary import term_of, terms
from nkijit.reference.pairs import command_of, pair_of, source_release
from nkijit.releases.table import since
from nkijit.tracing.api_names import MODULES, PACKAGES
from nkijit.tracing.dtype_names import CURRENT


def users_of(rule: RuleText) -> list[str]:
    """Return the names of the operations that declare a rule.

    The list is empty for rules of the dataflow passes, which are about whole kernels.
    """
    if any(r.text is rule for r in UNIVERSAL_RULES):
        return ["every instruction"]
    operations = (*WITH_RULES, *INSTRUCTIONS, *OF_SCALARS, *COLLECTIVES)
    return [op.name for op in operations if any(r.text is rule for r in rules_of(op))]


def applies_to(rule: RuleText) -> str:
    """Describe the scope of a rule: instructions, or a kernel as a whole."""
    if any(r.text is rule for r in UNIVERSAL_RULES):
        return "every instruction"
    return ", ".join(users_of(rule)) or "a kernel as a whole"


def explain(name: str) -> str:
    """Return the full description of each entry with a name: a term, a rule, a name of the API.

    Args:
        name: a term of the glossary; a rule's id; a name of the API with or without its module
            (`nisa.max8`, `max8`, `nki.jit`), also by its full name; a module (`nki.language`).

    Raises KeyError, with similarly spelt names, for an unknown name.
    """
    short = _short_name(name)
    found = [*_explanations(short)]
    if found:
        return "\n".join(found)
    names = [op.name for op in (*INSTRUCTIONS, *COLLECTIVES)]
    names += [f"{prefix}.{each}" for prefix, module in _modules() for each in module.__all__]
    module, _, last = short.rpartition(".")
    if module:  # nl.loda is another name of nl, nisa.load one of another module
        known = [each for each in names if module in each.split(".") or each.endswith(f".{last}")]
    else:
        known = [*RULE_TEXTS, *terms(), *names, *(each.partition(".")[2] for each in names)]
    similar = did_you_mean(short, known)
    raise KeyError(
        f"there is no rule, instruction, function or term '{name}'{similar}\n"
        "nkijit explain --list lists the rules, nkijit explain glossary the terms"
    )


def _short_name(name: str) -> str:
    """Return a name of the API as in findings: `nl.load` for `nki.language.load`."""
    name = name.removeprefix("@")
    for path in PACKAGES:
        if name == path:
            return _PACKAGE
        if name.startswith(f"{path}."):
            module, _, member = name.removeprefix(f"{path}.").partition(".")
            short = next((each for each in MODULES if MODULES[each] == module), None)
            if short is None:
                return name.replace(path, _PACKAGE, 1)
            return f"{short}.{member}" if member else short
    return name


_PACKAGE = "nki"


def _modules() -> list[tuple[str, ModuleType]]:
    """Return the modules of the API with their names in kernels; a bare name is of the first."""
    package = import_module(CURRENT)
    return [*((short, getattr(package, MODULES[short])) for short in MODULES), (_PACKAGE, package)]


def _explanations(name: str) -> Iterator[str]:
    """Yield the descriptions of the term, the rule and the member of the API with a name."""
    member = next(_members(name), None)
    # The glossary describes values such as nl.sbuf.
    term = term_of(name if member is None else name.rpartition(".")[2])
    if term is not None:
        yield _filled([("term", term[0]), ("means", term[1])])
    if name in RULE_TEXTS:
        yield explain_rule(name)
    if member is not None:
        yield member


def _members(name: str) -> Iterator[str]:
    """Yield the descriptions of the instructions and members of modules with a name."""
    instructions = [op.name for op in (*INSTRUCTIONS, *COLLECTIVES)]
    for known in (name, f"nisa.{name}", f"ncc.{name}"):
        if known in instructions:
            yield explain_instruction(known)
    for prefix, module in _modules():
        if name == prefix:
            yield _explain_member(name, module)
        last = name.removeprefix(f"{prefix}.")
        if last in module.__all__:
            yield _explain_member(f"{prefix}.{last}", getattr(module, last))


def _functions() -> dict[str, Any]:
    """Return the functions of the API by their usual names, such as `nl.load`."""
    return {
        f"{prefix}.{name}": getattr(module, name)
        for prefix, module in (("nl", language), ("nisa", isa), ("ncc", collectives))
        for name in module.__all__
        if callable(getattr(module, name)) and not isinstance(getattr(module, name), type)
    }


def _explain_member(name: str, member: Any) -> str:
    """Return the description of a member of the API: the signature of a function, docstrings."""
    parts: list[tuple[str, str]] = []
    if isinstance(member, ModuleType):
        parts = [("module", name), ("names", ", ".join(sorted(member.__all__)))]
    elif isinstance(member, EnumType):
        parts = [("class", name), ("members", ", ".join(member.__members__))]
    elif isinstance(member, type):
        parts = [("class", name)]
    elif callable(member):
        parts = [("function", signature_of(name, member))]
    else:
        parts = [("value", name), ("type", type(member).__name__)]
        member = cast(Any, type(member))
    is_builtin = getattr(member, "__module__", CURRENT) == "builtins"
    documentation = "" if is_builtin else inspect.cleandoc(member.__doc__ or "")
    return _filled(parts) + (f"\n{documentation}\n" if documentation else "")


def signature_of(name: str, function: Any) -> str:
    """Return a signature with all parameters and their defaults, without annotations."""
    parameters = ", ".join(
        _STARS.get(p.kind, "") + p.name
        if p.default is p.empty
        else f"{p.name}={default_in_words(p.default)}"
        for p in inspect.signature(function).parameters.values()
    )
    return f"{name}({parameters})"


_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def explain_as_markdown(name: str, function: Any) -> str:
    """Describe a function of the current or the classic API as Markdown.

    Args:
        name: the function's name in findings, e.g. `nisa.activation`.
        function: the function, for its signature.
    """
    parts = [f"```python\n{signature_of(name, function)}\n```"]
    op = {op.name: op for op in (*INSTRUCTIONS, *COLLECTIVES)}.get(name)
    if op is None:
        return "\n\n".join([*parts, documentation_as_markdown(function)])
    facts = facts_of(op)
    parts += [prose(text) for key, text in facts if key == "does"]
    shown = ("engines", "since", "release", "lowers to", "rules")
    parts.append("\n".join(f"- {key}: {prose(text)}" for key, text in facts if key in shown))
    parts.append("\n".join(f"- `{name}`: {prose(text)}" for name, text in arguments_of(op)))
    return "\n\n".join(parts)


_SECTION = re.compile(r"^(Args|Args of a call|Raises|Returns):$")
_ITEM = re.compile(r"^    (\w+): ", re.MULTILINE)


def documentation_as_markdown(function: Any) -> str:
    """Convert a docstring to Markdown: sections such as Args become lists."""
    lines: list[str] = []
    section = False
    for text in inspect.cleandoc(function.__doc__ or "").split("\n"):
        if _SECTION.match(text):
            section = True
            lines += [f"**{text.rstrip(':')}**", ""]
        elif section and text.startswith("    "):
            item = _ITEM.match(text)
            lines.append(f"- `{item[1]}`: {text[item.end() :]}" if item else f"  {text.strip()}")
        else:
            section = False
            lines.append(text)
    return "\n".join(lines)


def default_in_words(value: Any) -> str:
    """Return a parameter's default value as text for signatures."""
    return value.name if isinstance(value, Enum) else repr(value)


def explain_rule(rule_id: str) -> str:
    """Return the full description of a rule. Raises KeyError, with the known ids."""
    rule = RULE_TEXTS.get(rule_id)
    if rule is None:
        raise KeyError(f"unknown rule '{rule_id}'; known: {', '.join(sorted(RULE_TEXTS))}")
    fields = [
        ("rule", rule.id),
        ("category", rule.category),
        *([("severity", f"warning, {rule.group.value}")] if rule.group is not None else []),
        *([("kind", rule.kind.value)] if rule.kind is not None else []),
        ("says", rule.sentence),
        ("do", rule.help),
        ("applies to", applies_to(rule)),
        ("source", rule.source),
    ]
    pair = pair_of(rule_id)
    parts = [] if pair is None else [pair.wrong, pair.finding, pair.right]
    titles = ("wrong:", f"{command_of(rule_id)}:", "right:")
    shown = [
        f"\n{title}\n\n{textwrap.indent(part, '    ')}"
        for title, part in zip(titles, parts, strict=False)
    ]
    return "".join([_filled(fields), *shown])


def rule_as_markdown(rule_id: str) -> str:
    """Return a rule's description as Markdown. Raises KeyError for an unknown id."""
    return _rule_as_markdown(RULE_TEXTS[rule_id])


def explain_instruction(name: str) -> str:
    """Return the description of an instruction. Raises KeyError for an unknown name."""
    op = {op.name: op for op in (*INSTRUCTIONS, *COLLECTIVES)}.get(name)
    if op is None:
        raise KeyError(f"there is no instruction '{name}'")
    return "\n".join((_filled(facts_of(op)), _filled(arguments_of(op))))


def list_instructions() -> str:
    """Return one line per instruction: its name and its effect."""
    operations = sorted((*INSTRUCTIONS, *COLLECTIVES), key=lambda op: op.name)
    width = max(len(op.name) for op in operations) + 2
    lines = (f"{op.name:<{width}}{' '.join((op.__doc__ or '').split())}" for op in operations)
    return "\n".join(lines) + "\n"


def facts_of(op: type[NisaOp]) -> list[tuple[str, str]]:
    """Return pairs (label, text) from an instruction's declaration: engines, rules, costs, …"""
    spec = op.SPEC
    rules = dict.fromkeys(rule.text.id for rule in all_rules_of(op))
    begun = since(public_name(op))
    return [
        ("instruction", op.name),
        ("does", " ".join((op.__doc__ or "").split())),
        ("arguments", ", ".join(f.name for f in spec.fields)),
        ("engines", ", ".join(each.name for each in spec.engines)),
        ("since", f"NeuronCore-v{spec.since.value}"),
        ("release", f"{begun} (Neuron SDK {begun.sdk}) and newer"),
        ("rules", ", ".join(rules)),
        *(
            ("lowers to", f"{stage.mnemonic}, {_unit(stage.cost)}: {stage.cost.text}")
            for stage in spec.stages
        ),
    ]


def arguments_of(op: type[NisaOp]) -> list[tuple[str, str]]:
    """Return pairs (argument, description): documentation, accepted values, first release."""
    # A trigger has the arguments of its prepare.
    documented = documented_arguments(_functions()[op.name.replace("_trigger", "_prepare")])
    return [
        (f.name, "\n".join(filter(None, (documented.get(f.name), *_facts_of_argument(op, f)))))
        for f in op.SPEC.fields
    ]


_ARGUMENTS = re.compile(r"^Args:\n((?:    .*\n|\n)*)", re.MULTILINE)


def documented_arguments(function: Any) -> dict[str, str]:
    """Return the documentation of each argument in a function's docstring, each as one line."""
    section = _ARGUMENTS.search(f"{inspect.cleandoc(function.__doc__ or '')}\n")
    _, *parts = _ITEM.split("" if section is None else section[1])
    names, texts = parts[::2], parts[1::2]
    return {name: " ".join(text.split()) for name, text in zip(names, texts, strict=True)}


def _facts_of_argument(op: type[NisaOp], f: Field) -> Iterator[str]:
    """Yield sentences about an argument: accepted values, when it has an effect, first release."""
    yield _accepted(op, f)
    for rule in rules_of(op):
        if rule.effect is not None and rule.effect.field == f.name:
            yield f"Has an effect only {rule.effect.condition}."
    function = public_name(op)
    begun = since(f"{function}({f.name})")
    if begun > since(function):
        yield f"Since {begun}."


def public_name(op: type[NisaOp]) -> str:
    """Return the name of an instruction's function in NKI's reference, e.g. `nki.isa.max8`."""
    dialect, _, name = op.name.partition(".")
    return f"{_MODULES[dialect]}.{name}"


_MODULES = {"nisa": "nki.isa", "ncc": "nki.collectives"}


def _accepted(op: type[NisaOp], f: Field) -> str:
    """Describe an argument: accepted values, role, the limits of rules, and its default."""
    facts = [f.kind.expected[:1].upper() + f.kind.expected[1:]]
    if f.role is not None:
        facts.append(_ROLES[f.role])
    limits = [r.limits for r in rules_of(op) if r.limits is not None]
    limits = [limit for limit in limits if f.name in limit.operands]
    for limit in limits:
        if limit.buffers is not None:
            facts.append(f"in {one_of(buffer_names(limit.buffers))}")
        if limit.dtypes is not None:
            facts.append(f"of type {one_of(limit.dtypes)}")
    if f.name == "engine" and f.default is engine.unknown and len(op.SPEC.engines) > 1:
        choice = op.SPEC.select_engine
        facts.append(f"by default {op.SPEC.engines[0].name if choice is None else choice.words}")
    elif not f.required:
        default = getattr(f.default, "name", f.default)
        facts.append(f"{default} by default")
    return f"{', '.join(facts)}."


_ROLES = {Role.read: "read", Role.write: "written", Role.update: "updated"}


def _unit(cost: StageCost) -> str:
    return "cycles" if cost.transfer is None else "bytes"


def _filled(fields: list[tuple[str, str]]) -> str:
    """Format names and texts in two columns. Wraps long lines, and keeps line breaks."""
    width = max(len(name) for name, _ in fields) + 2
    lines = [
        textwrap.fill(
            line.rstrip(),
            100,
            initial_indent=f"{'' if number else name:<{width}}",
            subsequent_indent=" " * width,
            break_on_hyphens=False,
        )
        for name, text in fields
        for number, line in enumerate(text.split("\n"))
    ]
    return "\n".join(lines) + "\n"


_LONG_ID = 22
"""The maximum length of an id that shares a line with its rule's text, in characters.

Longer ids, which come from the public error reference, are on separate lines.
"""


def list_rules() -> str:
    """List all rules by category, with the severity or kind of those that are not `illegal`."""
    width = max(len(id) for id in RULE_TEXTS if len(id) <= _LONG_ID)
    indent = " " * (width + 4)
    lines: list[str] = []
    for category, rules in rules_by_category().items():
        lines.append(category)
        for rule in rules:
            label = kind_in_words(rule)
            severity = f"({label}) " if label else ""
            beside = len(rule.id) <= width
            if not beside:
                lines.append(f"  {rule.id}")
            lines.append(
                textwrap.fill(
                    severity + rule.sentence,
                    100,
                    initial_indent=f"  {rule.id:<{width}}  " if beside else indent,
                    subsequent_indent=indent,
                )
            )
    return "\n".join(lines) + "\n"


def kind_in_words(rule: RuleText) -> str:
    """Return the group of a warning or the kind of an error; "" for the kind `illegal`."""
    if rule.group is not None:
        return f"warning, {rule.group.value}"
    return "" if rule.kind in (None, ErrorKind.illegal) else rule.kind.value


def rules_as_markdown() -> str:
    """Return all rules as a Markdown document."""
    parts = [
        "# Rules\n",
        "The rules that `nkijit verify` checks, by category. `nkijit explain --markdown` prints "
        "this page; `nkijit explain\nRULE` describes one rule. Violations are errors unless a rule "
        "is marked as a warning; `# nkijit: ignore[rule]` on\na statement suppresses its "
        'warnings. A kernel that violates a rule marked as undefined or as "does not fit"\nstill '
        "runs with `nkijit run --no-strict`; kernels with other errors are illegal.\n",
    ]
    for category, rules in rules_by_category().items():
        parts.append(f"## {category}\n")
        parts += [_rule_as_markdown(rule) for rule in rules]
    return "\n".join(parts)


def _rule_as_markdown(rule: RuleText) -> str:
    label = kind_in_words(rule)
    severity = f" ({label})" if label else ""
    return "\n".join(
        [
            f"### {rule.id}{severity}\n",
            f"{literal(rule.sentence)}\n",
            f"- Do: {literal(rule.help)}",
            f"- Applies to: {applies_to(rule)}",
            f"- Source: {literal(rule.source)}\n",
            *_pair_as_markdown(rule.id),
        ]
    )


def _pair_as_markdown(rule_id: str) -> list[str]:
    pair = pair_of(rule_id)
    if pair is None:
        return []
    reported = (
        [f"`{command_of(rule_id)}` reports:\n"] if source_release(rule_id) is not None else []
    )
    return [
        f"```python\n{pair.wrong}```\n",
        *reported,
        f"```text\n{pair.finding}```\n",
        f"Corrected:\n\n```python\n{pair.right}```\n",
    ]


def literal(text: str) -> str:
    """Escape a text for Markdown."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", text)


def prose(text: str) -> str:
    """Escape a text for Markdown, except for code in backticks."""
    pieces = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(each if each.startswith("`") else literal(each) for each in pieces)


def rules_by_category() -> dict[str, list[RuleText]]:
    """Return the rules by category: first the categories of rules that operations declare."""
    rules: dict[str, list[RuleText]] = {category: [] for category in CATEGORIES}
    for rule in RULE_TEXTS.values():
        rules.setdefault(rule.category, []).append(rule)
    return rules
