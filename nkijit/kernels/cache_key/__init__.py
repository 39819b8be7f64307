"""Images: descriptions of values as plain data, which are the parts of trace cache keys."""

from nkijit.kernels.cache_key import code, values  # they register the readers of values
from nkijit.kernels.cache_key.imaging import (
    UnkeyableError,
    difference,
    image_of,
    named_images,
    where,
)

__all__ = ["UnkeyableError", "code", "difference", "image_of", "named_images", "values", "where"]
