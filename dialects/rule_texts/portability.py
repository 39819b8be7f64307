"""Rules about code that the vendor's compiler accepts."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import rule
from nkijit.dialects.rule_texts.text import RuleText, WarningGroup

PORTABLE = "portable"
"""The category of the rules of this module."""

_GUIDE = "NKI language guide"
_MIGRATION = "NKI migration guides, 0.3.0, language restrictions"

PORTABLE_CONTROL_FLOW = rule(
    "portable-control-flow",
    PORTABLE,
    "Control flow in a kernel is if, for and while: no match, and no with but nl.no_reorder().",
    "write it with if, for and while",
    _GUIDE,
    group=WarningGroup.portability,
)
PORTABLE_TRY = rule(
    "portable-try",
    PORTABLE,
    "Control flow in a kernel is if, for and while: exceptions are neither raised nor caught.",
    "test for the condition with if, or state it with assert",
    _GUIDE,
    group=WarningGroup.portability,
)
PORTABLE_GENERATOR = rule(
    "portable-generator",
    PORTABLE,
    "Functions run to their end when called, and loops go over ranges, lists and tuples: there are "
    "no generators and no coroutines.",
    "build a list and loop over that",
    _GUIDE,
    group=WarningGroup.portability,
)
PORTABLE_IMPORT = rule(
    "portable-import",
    PORTABLE,
    "A kernel's body imports nothing: it is compiled, and most Python libraries cannot be "
    "compiled.",
    "import at the top of the file",
    _GUIDE,
    group=WarningGroup.portability,
)
PORTABLE_IDENTITY = rule(
    "portable-identity",
    PORTABLE,
    "The operators is and is not do not exist in kernels.",
    "compare with == or !=",
    _MIGRATION,
    group=WarningGroup.portability,
)
PORTABLE_KEYWORD_ONLY = rule(
    "portable-keyword-only",
    PORTABLE,
    "The signature of a kernel has no * that makes parameters keyword-only.",
    "leave the * out and put parameters with defaults last",
    _MIGRATION,
    group=WarningGroup.portability,
)
PORTABLE_LIST_ARGUMENT = rule(
    "portable-list-argument",
    PORTABLE,
    "A kernel takes no lists as arguments.",
    "pass a tuple",
    _MIGRATION,
    group=WarningGroup.portability,
)
PORTABLE_DICT_KEY = rule(
    "portable-dict-key",
    PORTABLE,
    "The keys of dictionaries in kernels are strings.",
    "use strings as keys, or a list",
    _GUIDE,
    group=WarningGroup.portability,
)
PORTABLE_VALUE = rule(
    "portable-value",
    PORTABLE,
    "Values in kernels are None, booleans, numbers of 32 bits, strings and tensors, in tuples, "
    "lists, dictionaries and objects: no sets, bytes, complex numbers or wider integers.",
    "use a list, a tuple or a dictionary, and integers of 32 bits",
    _GUIDE,
    group=WarningGroup.portability,
)
PORTABLE_CLASS = rule(
    "portable-class",
    PORTABLE,
    "A class that a kernel uses inherits from NKIObject and from no other class, or is an Enum, "
    "and keeps its fields in the object's dictionary.",
    "inherit from nl.NKIObject alone, e.g. class Config(nl.NKIObject), and leave out __slots__",
    _GUIDE,
    group=WarningGroup.portability,
)
PORTABLE_ENUM = rule(
    "portable-enum",
    PORTABLE,
    "Members of an Enum are compared with == and !=; they have no other binary operators.",
    "compute with the member's .value",
    _GUIDE,
    group=WarningGroup.portability,
)
PORTABLE_STATE = rule(
    "portable-state",
    PORTABLE,
    "A kernel is a pure function of its arguments: it uses no variables outside that can change, "
    "because the vendor's cache of compiled kernels does not see such changes.",
    "pass the value as an argument, or make the outer variable a tuple or a number",
    _GUIDE,
    group=WarningGroup.portability,
)
PORTABLE_NESTED_KERNEL = rule(
    "portable-nested-kernel",
    PORTABLE,
    "A function that a kernel calls is not decorated with nki.jit.",
    "leave the decorator out, and call nki.jit(function) where the function is used as a kernel",
    "NKI migration guides, 0.2.0, sub-kernels",
    group=WarningGroup.portability,
)
PORTABLE_SOURCE = rule(
    "portable-source",
    PORTABLE,
    "The vendor's compiler reads the source of a kernel, so the source is in a file.",
    "define the function in a file",
    "NKI deep dive, the NKI compiler",
    group=WarningGroup.portability,
)

# ---------------------------------------------------------------- found while a kernel is traced
PORTABLE_NUMBER = rule(
    "portable-enum-number",
    PORTABLE,
    "An argument that takes a member of an enumeration is given the member: the vendor's compiler "
    "takes no numbers since NKI 0.3.",
    "write the member's name",
    "NKI migration guides, 0.3.0, integer enum constants",
    group=WarningGroup.portability,
)

PORTABLE_FIELD = rule(
    "portable-field",
    PORTABLE,
    "A field that has no default is given: left out, it is None for the vendor's compiler, and an "
    "error in Python.",
    "give the field, or a default in the class",
    "NKI language guide, class support",
    group=WarningGroup.portability,
)

PORTABLE_DEFECT = rule(
    "portable-defect",
    PORTABLE,
    "A kernel uses nothing that its release of NKI is known to compile or run incorrectly.",
    "do as the finding says, or choose the release with --nki",
    "NKI release notes, known issues and bug fixes; issues of aws-neuron-sdk",
    group=WarningGroup.portability,
)

PORTABLE_OUTPUT = rule(
    "portable-output",
    PORTABLE,
    "A kernel returns tensors in shared HBM: since NKI 0.3 the vendor's compiler fails for others.",
    "allocate the result with buffer=nl.shared_hbm",
    "NKI migration guides, 0.3.0, output tensors",
    group=WarningGroup.portability,
)

FOUND_BY_TRACING = (PORTABLE_NUMBER, PORTABLE_FIELD)
"""The portability rules that are checked while a kernel is traced, not on its source."""
FOUND_IN_TRACE = (PORTABLE_DEFECT, PORTABLE_OUTPUT)
"""The portability rules that are checked in a traced kernel, for a given release."""


def is_of_source(rule: RuleText) -> bool:
    """Return whether a rule is checked on a kernel's source, by `nkijit verify --portable`."""
    return rule.category == PORTABLE and rule not in (*FOUND_BY_TRACING, *FOUND_IN_TRACE)


_RELEASES = "NKI release notes and migration guides, 0.1.0 to 0.7.0"

PORTABLE_NAME = rule(
    "portable-name",
    PORTABLE,
    "A kernel uses the names that its release of NKI has.",
    "write what the notes name in its place, or choose the release with --nki",
    _RELEASES,
    group=WarningGroup.portability,
)
PORTABLE_ARGUMENT = rule(
    "portable-argument",
    PORTABLE,
    "Arguments are those that the functions of the kernel's release of NKI have, in their order.",
    "use what the release has; --nki names another one",
    _RELEASES,
    group=WarningGroup.portability,
)
PORTABLE_LOOP = rule(
    "portable-loop",
    PORTABLE,
    "A loop on the device is nl.fori_loop or nl.while_loop. Python's while runs while the kernel "
    "is traced, and the values of registers are known only at run time.",
    "use nl.while_loop",
    "NKI migration guides, 0.7.0",
    group=WarningGroup.portability,
)
