"""`DType.contains`, compared with conversions of every value of the narrow types by ml_dtypes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from nkijit.dialects.dtypes import DTYPES, DType, Kind
from nkijit.passes.numerics.storage import storage

NARROW = [d for d in DTYPES.values() if d.bits <= 16 and d.kind in (Kind.float, Kind.integer)]


def keeps_all(into: DType, dtype: DType) -> bool:
    """Whether every value of a narrow type is the same after a conversion."""
    patterns = np.arange(2**dtype.bits, dtype=f"uint{dtype.bits}")
    values = patterns.view(storage(dtype)).astype(np.float32)
    values = values[~np.isnan(values)]
    if into.is_integer:
        low, high = into.ends
        return bool(((values == np.floor(values)) & (values >= low) & (values <= high)).all())
    with np.errstate(all="ignore"):
        return bool((values.astype(storage(into)).astype(np.float32) == values).all())


@pytest.mark.parametrize(
    ("into", "dtype"), [*product(NARROW, NARROW)], ids=lambda dtype: getattr(dtype, "name", "")
)
def test_a_type_contains_another_one_if_no_value_changes(into: DType, dtype: DType) -> None:
    assert into.contains(dtype) is keeps_all(into, dtype)


def test_float32_contains_no_integers_that_it_rounds() -> None:
    assert [d.name for d in NARROW if not DTYPES["float32"].contains(d)] == []
    assert not DTYPES["float32"].contains(DTYPES["int32"])
