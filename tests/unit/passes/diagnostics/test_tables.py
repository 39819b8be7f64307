"""Tables of Markdown pages as text."""

from __future__ import annotations

from nkijit.passes.diagnostics.tables import tables_as_text

PAGE = """\
Before | the table.

| name | meaning |
|---|---|
| `a|b` | one |
| longer name | several words that need more than one line |

After.
"""


def test_columns_are_aligned_and_the_last_is_wrapped() -> None:
    assert tables_as_text(PAGE, 40) == (
        "Before | the table.\n"
        "\n"
        "name         meaning\n"
        "`a|b`        one\n"
        "longer name  several words that need\n"
        "             more than one line\n"
        "\n"
        "After.\n"
    )


def test_several_columns_and_alignment_marks() -> None:
    page = "| a | b | c |\n|:--|--:|---|\n| 1 | 22 | 333 |\n| 4 | | 6 |"
    assert tables_as_text(page) == "a  b   c\n1  22  333\n4      6"


def test_other_text_is_unchanged() -> None:
    page = "No table: |x| and\n\n    | code |\n"
    assert tables_as_text(page) == page
