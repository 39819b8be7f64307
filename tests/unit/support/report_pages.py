"""The data of a report, which its page has packed; as a script, of the page in standard input."""

from __future__ import annotations

import base64
import json
import re
import sys
import zlib
from typing import Any


def text_of(page: str) -> str:
    """The data of a page as JSON text."""
    packed = re.search(r'id="data">([^<]*)</script>', page)
    assert packed
    return unpacked(packed[1])


def unpacked(packed: str) -> str:
    """Unpack packed columns of a page, as JSON."""
    text = zlib.decompress(base64.b64decode(packed)).decode()
    return json.dumps(json.loads(text, object_hook=read), separators=(",", ":"))


def read(found: dict[str, Any]) -> Any:
    """Return the list that an object represents."""
    match found:
        case {"~whole": differences}:
            return _sums(differences)
        case {"~tenths": differences}:
            return [number / 10 for number in _sums(differences)]
        case {"~rows": columns}:
            return [list(row) for row in zip(*columns, strict=True)]
        case {"~lists": [lengths, everything]}:
            rest = iter(everything)
            return [[next(rest) for _ in range(length)] for length in lengths]
        case _:
            return found


def _sums(differences: list[int]) -> list[int]:
    sums: list[int] = []
    for difference in differences:
        sums.append(difference + (sums[-1] if sums else 0))
    return sums


if __name__ == "__main__":
    print(text_of(sys.stdin.read()))
