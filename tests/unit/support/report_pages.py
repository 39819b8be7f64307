"""The data of a report, which its page has packed."""

from __future__ import annotations

import base64
import re
import zlib


def text_of(page: str) -> str:
    """The data of a page as JSON text."""
    packed = re.search(r'id="data">([^<]*)</script>', page)
    assert packed
    return zlib.decompress(base64.b64decode(packed[1])).decode()
