"""Comments that suppress warnings."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.passes.diagnostics import suppression
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.source_text import source_lines
from nkijit.passes.diagnostics.suppression import suppress, suppressing
from nkijit.traced.kernel import load

WARNING = RULE_TEXTS["portable-try"]
OTHER = RULE_TEXTS["portable-value"]
ERROR = RULE_TEXTS["buffer"]


@pytest.fixture
def source(tmp_path: Path) -> Callable[[str], str]:
    """Writes a source file and returns its path."""

    def write(text: str) -> str:
        path = tmp_path / "kernel.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return str(path)

    return write


def at(file: str, *lines: int, rule: RuleText = WARNING, severity: str = "") -> Diagnostic:
    """A finding, with the lines of its calls, innermost first."""
    places = tuple(Position(file, line, 1) for line in lines)
    return Diagnostic(rule, "wrong", "nisa.thing", places, severity=severity)


def told(found: list[Diagnostic]) -> list[tuple[str, int]]:
    return [(d.rule.id, d.where[0].line) for d in found]


def judge(
    found: list[Diagnostic],
    file: str = "",
    lines: range = range(0),
    judged: Callable[[RuleText], bool] = lambda rule: True,
) -> list[tuple[str, int]]:
    return told(suppress(found, {file: lines} if file else {}, judged))


def test_a_warning_at_the_line_of_the_comment(source: Callable[[str], str]) -> None:
    file = source("""\
        f()  # nkijit: ignore[portable-try]
        f()
        f()  # noqa  # nkijit:ignore[ portable-try ,portable-value]
        """)
    found = [at(file, 1), at(file, 2), at(file, 3), at(file, 3, rule=OTHER)]
    assert judge(found) == [("portable-try", 2)]


def test_any_line_of_the_statement(source: Callable[[str], str]) -> None:
    file = source("""\
        f(
            1,  # nkijit: ignore[portable-try]
            2,
        )
        f(1,
          2)  # nkijit: ignore[portable-try]
        x = [
            f(),
            # nkijit: ignore[portable-try]
        ]
        if f():  # nkijit: ignore[portable-try]
            f()
        @f  # of a kernel, findings stand at its decorator
        def g():  # nkijit: ignore[portable-try]
            f()
        """)
    suppressed = [1, 2, 3, 4, 5, 6, 8, 11, 13, 14]
    found = [at(file, line) for line in (*suppressed, 12, 15)]
    assert judge(found) == [("portable-try", 12), ("portable-try", 15)]


def test_a_call_suppresses_findings_in_its_callees(source: Callable[[str], str]) -> None:
    file = source("""\
        def helper():
            f()
        helper()  # nkijit: ignore[portable-try]
        helper()
        """)
    found = [at(file, 2, 3), at(file, 2, 4)]
    assert suppress(found, {}, lambda rule: True) == [found[1]]


def test_strings_are_no_comments(source: Callable[[str], str]) -> None:
    file = source("""\
        f("# nkijit: ignore[portable-try]")
        f('''
        # nkijit: ignore[portable-try, nothing]
        ''')
        """)
    found = [at(file, 1), at(file, 2)]
    assert judge(found) == [("portable-try", 1), ("portable-try", 2)]


def test_errors_stay(source: Callable[[str], str]) -> None:
    file = source("f()  # nkijit: ignore[buffer, portable-try]\n")
    found = [at(file, 1, rule=ERROR), at(file, 1, rule=ERROR), at(file, 1, severity="error")]
    shown = suppress(found, {}, lambda rule: True)
    assert shown[:3] == found
    assert [(d.rule.id, d.severity, d.subject) for d in shown[3:]] == [
        ("suppression-of-error", "warning", "ignore[buffer]"),
        ("suppression-of-error", "warning", "ignore[portable-try]"),
    ]
    assert shown[3].where == (Position(file, 1, 8),)
    assert shown[3].related == ((Position(file, 1, 1), "the error"),)


def test_a_rule_reported_as_a_warning_can_be_suppressed(source: Callable[[str], str]) -> None:
    """The severity of the finding counts, not that of its rule."""
    file = source("f()  # nkijit: ignore[buffer]\n")
    assert judge([at(file, 1, rule=ERROR, severity="warning")]) == []


def test_unused(source: Callable[[str], str]) -> None:
    file = source("""\
        f()  # nkijit: ignore[portable-try, portable-value]
        g()  # nkijit: ignore[portable-value]
        h()  # nkijit: ignore[portable-value]
        """)
    shown = suppress([at(file, 1)], {file: {1, 2}}, lambda rule: True)
    # Line 3 was not looked at: it may be in a branch that this kernel does not take.
    assert [(d.rule.id, d.subject, d.where[0].line) for d in shown] == [
        ("unused-suppression", "ignore[portable-value]", 1),
        ("unused-suppression", "ignore[portable-value]", 2),
    ]
    # The checks that report portable-value have not been run.
    assert judge([at(file, 1)], file, range(1, 4), lambda rule: rule is WARNING) == []


def test_a_comment_on_its_own_line_does_nothing(source: Callable[[str], str]) -> None:
    file = source("""\
        # nkijit: ignore[portable-try]
        f()
        # nkijit: ignore[portable-try]
        g()
        """)
    expected = [("portable-try", 2), ("unused-suppression", 1)]
    assert judge([at(file, 2)], file, range(2, 3), lambda rule: False) == expected


def test_unknown_rules(source: Callable[[str], str]) -> None:
    file = source("""\
        f()  # nkijit: ignore[portable-tries]
        f()  # nkijit: ignore
        f()  # nkijit: ignore[]
        f()  # nkijit: ignorance
        """)
    assert judge([], file, range(1, 5)) == [("unknown-rule", line) for line in (1, 2, 3)]


def test_findings_about_comments_can_be_suppressed(source: Callable[[str], str]) -> None:
    """A suppression for a warning of some shapes is unused for the others."""
    file = source("""\
        f()  # nkijit: ignore[portable-try, unused-suppression]
        f()  # nkijit: ignore[portable-tries, unknown-rule]
        f()  # nkijit: ignore[unused-suppression]
        """)
    assert judge([], file, range(1, 4)) == []


@pytest.mark.parametrize(
    "text", ["builtin.module {} // nkijit: ignore[portable-try]", "f(  # nkijit: ignore[x]", ""]
)
def test_files_that_are_not_python(text: str, source: Callable[[str], str]) -> None:
    file = source(text)
    assert judge([at(file, 1), at("<stdin>", 1), at("nowhere.py", 1)]) == [("portable-try", 1)] * 3


def test_each_file_is_read_once(
    source: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = source("f()  # nkijit: ignore[portable-try]\n" * 10)
    read: list[str] = []

    def counting(name: str) -> Sequence[str]:
        read.append(name)
        return source_lines(name)

    monkeypatch.setattr(suppression, "source_lines", counting)
    assert judge([at(file, line) for line in range(1, 11)], file, range(1, 11)) == []
    assert read == [file]


# ---------------------------------------------------------------- kernels


@nki.jit
def kernel(x, wide=False):
    tile = nl.load(x)  # nkijit: ignore[activation-function]
    if wide:
        nisa.reciprocal(dst=tile, data=tile)  # nkijit: ignore[activation-function]
    nisa.activation(dst=tile, op=nl.add, data=tile)  # nkijit: ignore[activation-function]
    if x is None:  # nkijit: ignore[portable-identity]
        return x
    nisa.memset(dst=tile, value={1, 2})  # nkijit: ignore[portable-try]
    return x


X = nki.TensorSpec((128, 64), "float32")
START = kernel.__wrapped__.__code__.co_firstlineno


def lines(found: tuple[Diagnostic, ...]) -> list[tuple[str, int]]:
    return [(rule, line - START) for rule, line in told(list(found))]


def test_a_traced_kernel() -> None:
    expected = [
        ("activation-function", 5),
        ("argument", 8),
        ("unused-suppression", 2),
        ("suppression-of-error", 5),
    ]
    assert lines(kernel.trace(X).diagnostics) == expected
    # A branch that is taken; comments for rules of --portable are left to that check.
    with_branch = [*expected[:3], ("unused-suppression", 4), *expected[3:]]
    assert lines(kernel.trace(X, wide=True).diagnostics) == with_branch


def test_a_single_pass_does_not_report_unused_comments() -> None:
    found = kernel.trace(X).find("verify-operators")
    assert lines(found) == [("activation-function", 5), ("suppression-of-error", 5)]


def test_portability() -> None:
    assert lines(kernel.portability(nki="0.6")) == [
        ("portable-value", 8),
        ("unused-suppression", 8),
    ]


def test_a_loaded_kernel(tmp_path: Path) -> None:
    traced = kernel.trace(X)
    path = tmp_path / "kernel.mlir"
    path.write_text(traced.text(locations=True), encoding="utf-8")
    # Findings of tracing alone are not in the file.
    expected = [f for f in lines(traced.diagnostics) if f[0] != "argument"]
    assert lines(load(path).diagnostics) == expected
    path.write_text(traced.text(), encoding="utf-8")
    assert [d.rule.id for d in load(path).diagnostics] == ["activation-function"]


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("f()", "f()  # nkijit: ignore[new]"),
        ("f()  # a reason", "f()  # a reason  # nkijit: ignore[new]"),
        ("f()  # nkijit: ignore[old]", "f()  # nkijit: ignore[old, new]"),
        ("f()  # nkijit: ignore[a, b]  # why", "f()  # nkijit: ignore[a, b, new]  # why"),
        ("f()  # nkijit: ignore[]", "f()  # nkijit: ignore[new]"),
        ("f()  # nkijit: ignore", "f()  # nkijit: ignore[new]"),
    ],
)
def test_a_line_gets_one_comment(line: str, new: str) -> None:
    place, text = suppressing(line, "new")
    assert line[:place] + text + line[place:] == new
