"""Texts that differ in numbers, as one text with expressions."""

from __future__ import annotations

from random import Random

import pytest

from nkijit.dialects.nki.affine import Affine
from nkijit.export.merging import Template, affine_source, tidied


@pytest.mark.parametrize(
    ("constant", "terms", "source"),
    [
        (0, (), "0"),
        (-3, (), "-3"),
        (0, (("m", 1),), "m"),
        (1, (("m", -1),), "1 - m"),
        (0, (("m", -4),), "-4 * m"),
        (64, (("m", 512), ("k", -1)), "512 * m - k + 64"),
        (-2, (("m", -1),), "-m - 2"),
    ],
)
def test_affine_source(constant: int, terms: tuple[tuple[str, int], ...], source: str):
    number = Affine(constant, terms)
    assert affine_source(number) == source
    for m in range(3):
        for k in range(3):
            assert eval(source, {"m": m, "k": k}) == number.at({"m": m, "k": k})


@pytest.mark.parametrize(
    ("base", "after", "source"),
    [
        ("x[0:4, 3]", "x[4:8, 3]", "x[4 * m : 4 * m + 4, 3]"),
        ("x[0:128:2]", "x[1:129:2]", "x[m : m + 128 : 2]"),
        ("x[0:128, 1]", "x[0:128, 2]", "x[0:128, m + 1]"),
        ("f(a=-1, b=0.5)", "f(a=2, b=0.5)", "f(a=3 * m - 1, b=0.5)"),
        ("f(1e-06, 2)", "f(1e-06, 3)", "f(1e-06, m + 2)"),
        ('f(name="load 0")', 'f(name="load 1")', 'f(name=f"load {m}")'),
        ('f(name="{0}")', 'f(name="{1}")', 'f(name=f"{{{m}}}")'),
        ("f(512 * i)", "f(256 * i)", "f((512 - 256 * m) * i)"),
        ("f(9 - i - 1)", "f(9 - i - 4)", "f(9 - i - (3 * m + 1))"),
        ("f(8 * i + 0)", "f(8 * i + 5)", "f(8 * i + 5 * m)"),
        ("tiles[0].ap([[1, 2]], offset=0)", "tiles[1].ap([[1, 2]], offset=8)", None),
    ],
)
def test_template(base: str, after: str, source: str | None):
    made = Template.of(base, {"m": (base, after)})
    assert made is not None
    assert made.at({"m": 0}) == base
    assert made.at({"m": 1}) == after
    assert made.source() == (source or "tiles[m].ap([[1, 2]], offset=8 * m)")


@pytest.mark.parametrize(
    ("base", "after"),
    [
        ("x[0:4]", "y[0:4]"),
        ("x[0:4]", "x[0:4, 0]"),
        ("f(0.5)", "f(1.5)"),
        ("f(1)", "f(1.5)"),
        ('f("a0")', 'f("b0")'),
        ('f("01")', 'f("02")'),
    ],
)
def test_differences_that_cannot_be_merged(base: str, after: str):
    assert Template.of(base, {"m": (base, after)}) is None


def test_random_slices():
    """Expressions of two indices equal the original texts in every iteration."""
    random = Random(0)
    for _ in range(200):
        start, m, k, size = (random.randrange(-9, 99) for _ in range(4))

        def text(i: int, j: int, at: tuple[int, ...] = (start, m, k, size)) -> str:
            start, m, k, size = at
            first = start + m * i + k * j
            return f"x[{first}, {first + size}:7]"

        base = text(0, 0)
        made = Template.of(base, {"i": (base, text(1, 0)), "j": (base, text(0, 1))})
        assert made is not None

        class Keys:
            def __getitem__(self, keys: object) -> object:
                return keys

        for i in range(3):
            for j in range(3):
                assert made.at({"i": i, "j": j}) == text(i, j)
                names = {"x": Keys(), "i": i, "j": j}
                assert eval(made.source(), names) == eval(text(i, j), names)


def test_constants_that_are_said_for_another_core():
    made = Template.of("x[0:4, 3]", {"m": ("x[0:4, 3]", "x[4:8, 3]")})
    assert made is not None
    assert made.source(constants=True) == "x[4 * m + 0 : 4 * m + 4, 3]"
    assert tidied(made.source(constants=True)) == made.source()
    assert tidied('f("a + 0", b + 0.5, c + 0)') == 'f("a + 0", b + 0.5, c)'
