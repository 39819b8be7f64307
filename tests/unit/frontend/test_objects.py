"""NKIObject: construction, defaults, equality, with and without @dataclass."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from nkijit.language import NKIObject


class Plain(NKIObject):
    x: int
    y: bool = False

    def toggle(self):
        self.y = not self.y


@dataclass
class Data(NKIObject):
    x: int
    z: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Frozen(NKIObject):
    x: int = 3


class Counted(Plain):
    total: int = 0

    def __post_init__(self):
        self.total = self.x + 1


def test_fields_by_position_name_and_default():
    c = Plain(1)
    c.toggle()
    assert (c.x, c.y) == (1, True)
    assert (Plain().x, Plain(x=2, y=True).y) == (None, True)
    assert Counted(4).total == 5
    assert Data(1).z == []
    assert Frozen().x == 3


def test_equality_is_structural():
    assert Plain(1, True) == Plain(1, True)
    assert Plain(1) != Plain(2)
    assert Plain(1) != Counted(1)
    assert Frozen(2) == Frozen(2)
    assert hash(Frozen(2)) == hash(Frozen(2))


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((1, 2, 3), {}, "has 2 fields, got 3 values"),
        ((1,), {"x": 2}, "two values for field 'x'"),
        ((), {"q": 2}, "has no field 'q'"),
    ],
)
def test_wrong_fields(arguments, keywords, message):
    with pytest.raises(TypeError, match=message):
        Plain(*arguments, **keywords)
