"""The grammar of the IR's text, derived from the declarations of the instructions."""

from __future__ import annotations

from collections.abc import Iterator

from docs._site.reference.markdown import fenced, page
from nkijit.dialects.declare.kinds import OperandKind
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.properties import (
    FlagKind,
    GroupsKind,
    IntegerKind,
    IntegersKind,
    NamesKind,
    NumberKind,
    NumbersKind,
    OperatorKind,
    PairsKind,
    StringKind,
    WordKind,
)
from nkijit.dialects.declare.spec import Field
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS, OF_SCALARS
from nkijit.dialects.operators import OPERATORS

_SYMBOLS = {
    FlagKind: "flag",
    IntegerKind: "integer",
    NumberKind: "number",
    StringKind: "string",
    OperatorKind: "operator",
    IntegersKind: "integers",
    PairsKind: "pairs",
    NumbersKind: "numbers",
    NamesKind: "strings",
    GroupsKind: "groups",
}
"""The symbol of the values of each kind of field."""

_VALUES = """\
flag     = "true" | "false" ;
integers = "[" [ integer { "," integer } ] "]" ;
numbers  = "[" [ number { "," number } ] "]" ;
pairs    = "[" [ "[" integer "," integer "]" { "," "[" integer "," integer "]" } ] "]" ;
groups   = "[" [ integers { "," integers } ] "]" ;
strings  = "[" [ string { "," string } ] "]" ;
values   = "[" [ value { "," value } ] "]" ;"""

_STRUCTURE = """\
module   = "builtin.module" "{" { kernel } "}" ;
kernel   = "nki.kernel" symbol "(" [ value ":" type { "," value ":" type } ] ")"
           "target=" word [ "core=" integer ] "{" { statement } "}" ;
statement = allocation | view | constant | instruction | return ;
allocation = value "=" "nki.alloc" [ "name=" string ] [ "address=" pair ] ":" type ;
view     = value "=" "nki.view" value "offset=" integer "pattern=" pairs [ index ] [ "as" type ] ;
return   = "nki.return" [ value { "," value } ] ;
value    = "%" word ;
type     = "memref<" shape element "," memory ">" ;
memory   = "#nki.sbuf" | "#nki.psum" | "#nki.private_hbm" | "#nki.shared_hbm" ;"""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the page of the grammar."""
    operations = sorted((*INSTRUCTIONS, *OF_SCALARS, *COLLECTIVES), key=lambda op: op.name)
    operators = " | ".join(f'"{name}"' for name in OPERATORS)
    yield (
        "reference/grammar.md",
        page(
            "# Grammar of the IR",
            "The textual form of instructions in EBNF, derived from their declarations: `[ … ]` is "
            "optional, `{ … }` repeated. The arguments of an instruction may be in any order; the "
            "grammar has the order in which they are printed. Comments (`// …`), locations "
            "(`loc(…)`), words, numbers and strings are MLIR's; an infinity or NaN is the bits "
            "of a float32, `0x7F800000`. The pages of the "
            "[dialects](dialects/index.md) have examples.",
            "## Structure",
            fenced(_STRUCTURE, "ebnf"),
            "The operations for loops, registers and branches are described in the "
            "[nki dialect](dialects/nki.md), queues of engine instructions in the "
            "[engine dialect](dialects/engine.md).",
            "## Values of arguments",
            fenced(f"{_VALUES}\noperator = {operators} ;", "ebnf"),
            "## Instructions",
            "Each instruction may end with `, name=string` and `, after=strings`, the scheduling "
            "edges.",
            fenced("\n".join(production(op) for op in operations), "ebnf"),
            "## Generic MLIR",
            "`nkijit trace --generic` prints the form that other MLIR tools read. It differs in "
            "these points:",
            _GENERIC,
        ),
    )


_GENERIC = """\
| text | generic form |
|---|---|
| `dst=%t, src=%x` | operands in the declared order: `"nisa.dma_copy"(%t, %x)` |
| an operand that is not given | a 0 in the property `operandSegmentSizes` |
| `op0=multiply` | a property: `<{op0 = #nisa.op<multiply>}>` |
| `reverse0=true`, `value=3`, `value=0.5` | `true`, `3 : i64`, `5.000000e-01 : f64` |
| `name="a"`, `after=["a"]` | properties `name` and `after` |
| a kernel's `@name`, `target=` | properties `sym_name` and `target`; a region |
| a number operand of a register or constant | `"arith.constant"() <{value = …}> : () -> f32` |
| no types after an instruction | the types of its operands: `: (memref<…>, memref<…>) -> ()` |"""


def production(op: type[NisaOp]) -> str:
    """Return the production of an instruction."""
    return f'{_symbol(op.name)} = "{op.name}" {_arguments(op.SPEC.fields)} ;'


def _symbol(name: str) -> str:
    return name.replace(".", "_")


def _arguments(fields: tuple[Field, ...]) -> str:
    """Return the arguments of an instruction; the first one is required and has no comma."""
    parts: list[str] = []
    for number, field in enumerate(fields):
        comma = '"," ' if number else ""
        text = f'{comma}"{field.name}=" {symbol_of(field)}'
        parts.append(text if field.required else f"[ {text} ]")
    return " ".join(parts)


def symbol_of(field: Field) -> str:
    """Return the symbol, or the words, of a field's values."""
    kind = field.kind
    if isinstance(kind, OperandKind):
        return "values" if kind.variadic else "value"
    if isinstance(kind, WordKind):
        words = " | ".join(f'"{word.name}"' for word in kind.attr_class.ENUM)
        return f"( {words} )"
    return _SYMBOLS[type(kind)]
