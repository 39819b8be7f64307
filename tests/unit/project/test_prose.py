"""The prose lint finds rejected words in docstrings, comments and pages, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.prose import findings, rejected

WORDS = rejected(
    """\
## Prose

<!-- words -->

| not | but |
|---|---|
| told, tells | reported |
| so many | the number of |

Other text | told | 1 |
"""
)
PYTHON = '''\
"""A queue is told
of it."""

WHAT = "who is told"  # so  many of them


class Told:
    told: int
    """Says "told", `told` and ``told``."""

    def tells(self) -> str:
        """Return the text."""
        return f"""told {self.told}"""
        # CHECK-NEXT: told
'''
PAGE = """\
# Queues

The queue is TOLD of so
many DMAs.

```sh
told
```

<!-- told -->
`told`, "told", [a link](told.md).
"""


def found(name: str, text: str) -> list[tuple[int, str]]:
    return [(finding.line, finding.word) for finding in findings(Path(name), text, WORDS)]


def test_the_table_of_words_has_a_replacement_for_each() -> None:
    assert WORDS == {"told": "reported", "tells": "reported", "so many": "the number of"}


def test_docstrings_and_comments_are_checked() -> None:
    assert found("a.py", PYTHON) == [(1, "told"), (4, "so many")]


def test_pages_are_checked_without_their_code() -> None:
    assert found("a.md", PAGE) == [(3, "told"), (3, "so many")]


def test_a_guide_without_a_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="no table of words"):
        rejected("| not | but |")
