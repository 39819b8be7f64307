"""Images of values, of which keys of traces are made; `imaging.py` says what they are."""

from nkijit.kernels.cache_key import code, values  # they say how values are read
from nkijit.kernels.cache_key.imaging import (
    UnkeyableError,
    difference,
    image_of,
    named_images,
    where,
)

__all__ = ["UnkeyableError", "code", "difference", "image_of", "named_images", "values", "where"]
