"""NKIObject: construction, defaults, equality, with and without @dataclass."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from typing import ClassVar

import numpy as np
import pytest

import nkijit as nki
import nkijit.language as nl
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


# ------------------------------------------------------------------ as the vendor has them

X = np.arange(128 * 4, dtype=np.float32).reshape(128, 4)


class Options(NKIObject):
    tile = 128
    dtype: str
    factor: float = 2.0
    op = nl.multiply
    kinds: ClassVar[int] = 3

    def half(self):
        return self.tile // 2


@dataclass
class Settings(NKIObject):
    rows: int
    columns: int
    factor: float = 3.0
    label = "settings"
    names: list[str] = field(default_factory=list)
    area: int = field(init=False, default=0)
    double: InitVar[bool] = False
    _: KW_ONLY
    last: int = 7

    def __post_init__(self, double):
        self.area = (self.rows or 0) * (2 if double else 1)


def test_class_attributes_are_fields_with_and_without_annotation():
    options = Options(dtype=nl.float32, tile=64)
    assert (options.tile, options.half(), options.factor) == (64, 32, 2.0)
    assert vars(options) == {"dtype": "float32", "factor": 2.0, "tile": 64, "op": nl.multiply}
    assert vars(Options(tile=1, dtype="int8")) == vars(Options(dtype="int8", tile=1))
    assert list(vars(Options(tile=1, dtype="int8"))) == list(vars(Options(dtype="int8", tile=1)))
    settings = Settings(2, 3, label="other")
    assert (settings.label, Settings(2, 3).label, Settings.label) == ("other", *["settings"] * 2)


def test_dataclasses_preserve_their_properties():
    settings = Settings(2, 3, 4.0, ["a"], True, last=1)
    assert (settings.area, settings.last, settings.names) == (4, 1, ["a"])
    assert Settings(2, 3).names is not Settings(2, 3).names
    assert replace(settings, rows=5, double=False).area == 5
    assert not hasattr(Settings, "double") or "double" not in vars(settings)
    assert repr(Data(1)) == "Data(x=1, z=[])"
    assert list(inspect.signature(Settings).parameters)[:4] == [
        "rows",
        "columns",
        "factor",
        "names",
    ]
    assert list(inspect.signature(Counted).parameters) == ["x", "y", "total"]
    with pytest.raises(TypeError, match="has 6 fields, got 7"):
        Settings(1, 2, 3, [], False, "label", 7)
    with pytest.raises(AttributeError):
        Frozen(3).x = 4

    @dataclass(slots=True)
    class Slots(NKIObject):
        x: int
        y: int = 2

    assert (Slots(1).x, Slots(1).y, Slots(1, 3).y) == (1, 2, 3)

    class Abstract(NKIObject, ABC):
        size: int

        @abstractmethod
        def rows(self): ...

    class Concrete(Abstract):
        def rows(self):
            return self.size

    assert Concrete(3).rows() == 3
    with pytest.raises(TypeError, match="abstract"):
        Abstract(3)

    class Own(NKIObject):
        x: int = 1

        def __init__(self, a):
            self.x = a

    assert Own(3).x == 3


def test_a_field_that_a_kernel_leaves_out_is_none():
    @nki.jit
    def kernel(x):
        plain = Options()
        settings = Settings(rows=2)
        assert plain.dtype is None
        assert settings.columns is None
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, plain.op(nl.load(x), settings.factor))
        return out

    assert np.array_equal(kernel(X), X * 3)
    found = [d for d in kernel.trace(X).diagnostics if d.rule.id == "portable-field"]
    assert [(d.severity, d.message) for d in found] == [
        ("warning", "field 'dtype' has no default and is left out, so it is None"),
        ("warning", "field 'columns' has no default and is left out, so it is None"),
    ]
    first = inspect.getsourcelines(kernel.func)[1]
    assert [(d.where[0].file, d.where[0].line) for d in found] == [
        (__file__, first + 2),
        (__file__, first + 3),
    ]


def test_outside_a_kernel_a_dataclass_needs_its_fields():
    with pytest.raises(TypeError, match="needs a value for field 'columns'"):
        Settings(3)
    assert Options().dtype is None


def test_a_misspelled_field_is_answered_with_the_one_that_was_meant():
    with pytest.raises(TypeError, match=r"has no field 'colums'; .* did you mean 'columns'"):
        Settings(1, colums=2)
