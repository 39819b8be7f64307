"""Arrays in NumPy's file format."""

from __future__ import annotations

import os
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nkijit.dialects.files import check_regular

_MAGIC = b"\x93NUMPY"


def load_array(path: str | os.PathLike[str], *, mapped: bool = False) -> npt.NDArray[Any]:
    """Return the array of a `.npy` file.

    Args:
        path: the file.
        mapped: whether to map the file into memory, so that data is read on access. Writes to the
            array do not change the file.

    Raises OSError when the file cannot be read and ValueError when its content is not one array of
    numbers.
    """
    check_regular(path)
    try:
        with open(path, "rb") as file:
            is_array = file.read(len(_MAGIC)) == _MAGIC
            file.seek(0)
            if mapped and is_array:
                found = cast(object, np.load(path, mmap_mode="c", allow_pickle=False))
            else:
                found = cast(object, np.load(file, allow_pickle=False))
    except OSError:
        raise
    except MemoryError:
        raise ValueError("its header declares more data than fits into memory") from None
    except Exception as error:  # NumPy reads the header with Python's parser
        raise ValueError(f"is not an array in NumPy's format: {error}") from None
    if not isinstance(found, np.ndarray):
        raise ValueError("is an archive of arrays (.npz); expected one array (.npy)")
    array = cast(npt.NDArray[Any], found)
    # Void (V): bytes of a type without a name in NumPy's format, such as bfloat16.
    if array.dtype.kind not in "biufV" or array.dtype.fields is not None:
        raise ValueError(f"holds {array.dtype}, expected numbers")
    return array
