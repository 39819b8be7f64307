"""The table of releases against nkijit's API, and queries of the table."""

from __future__ import annotations

import inspect
from datetime import date

import pytest
from support import public_api as reference

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.compiler as compiler
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.releases import table
from nkijit.releases.table import deprecated_in, has_row, is_held, release, releases, since, until

MODULES = {
    "nki.compiler": compiler,
    "nki.isa": nisa,
    "nki.collectives": ncc,
    "nki.language": nl,
    "nki": nki,
}

OF_NKIJIT = {
    *("nki." + name for name in nki.__all__ if name not in reference.NKI),
    # Public in the reference, but not by these names.
    *("nki.language.NkiTensor." + name for name in ("address", "ssa_value", "storage")),
    # In published kernels and one guide, in the reference of no release.
    *("nki.language." + name for name in ("par_dim", "range")),
}
"""nkijit's additions, and the modules, which start with their first name."""

ROWS = sorted({row for r in releases() for row in r.adds})
REMOVED = sorted({row for r in releases() for row in r.removes})


def found(name: str):
    """Return the object of a dotted name of the API in nkijit. Raises AttributeError."""
    value = nki
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def members(owner: object) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def public_names() -> list[str]:
    names = [f"{module}.{name}" for module, value in MODULES.items() for name in value.__all__]
    for name in ("NkiTensor", "tile_size", "MemoryRegion"):
        owner = getattr(nl, name)
        listed = [m.name for m in owner] if name == "MemoryRegion" else members(owner)
        names += [f"nki.language.{name}.{member}" for member in listed]
    names += [
        f"nki.isa.{enum}.{member.name}"
        for enum in reference.ISA_ENUMS
        for member in getattr(nisa, enum)
    ]
    return sorted({name for name in names if name not in OF_NKIJIT})


@pytest.mark.parametrize("row", [row for row in ROWS if until(row) is None])
def test_listed_names_exist(row):
    name, _, argument = row.rstrip(")").partition("(")
    value = found(name)
    if "(" in row:
        parameters = inspect.signature(value).parameters
        assert (argument in parameters) if argument else callable(value)


@pytest.mark.parametrize("name", public_names())
def test_every_public_name_has_a_row(name):
    assert has_row(name)


def test_no_row_begins_twice_or_ends_before_it_begins():
    assert len(ROWS) == sum(len(r.adds) for r in releases())
    for row in REMOVED:
        assert has_row(row), row
        last = until(row)
        assert last is not None, row
        assert since(row) <= last, row
        assert sum(row in r.removes for r in releases()) == 1
    for r in releases():
        assert all(has_row(row) for row in r.deprecates)
        assert all(since(row) < r for row in r.deprecates)
        assert all(has_row(row) for row in r.reorders)


def test_rows_of_arguments_belong_to_functions_of_the_table():
    for row in ROWS:
        assert has_row(table.function_of(row)), row
        assert since(table.function_of(row)) <= since(row)


def test_rules_that_begin_and_end_exist():
    named = [rule for r in releases() for rule in (*r.imposes, *r.lifts)]
    assert all(RULE_TEXTS[rule].category == "portable" for rule in named)


def test_releases_and_their_sdks():
    assert [(r.version, r.sdk) for r in releases()] == [
        *(("0.1", "2.27"), ("0.2", "2.28"), ("0.3", "2.29"), ("0.4", "2.30")),
        *(("0.5", "2.31"), ("0.6", "2.32"), ("0.7", "2.33")),
    ]
    assert list(releases()) == sorted(releases())
    assert releases()[-1].date == date(2026, 10, 19)
    assert str(release()) == "NKI 0.7"


def test_a_release_by_its_version():
    assert release("0.5") is release("0.5.0") is releases()[4]
    assert release("0.5") < release("0.6")
    assert not release("0.5") < release("0.5")
    with pytest.raises(ValueError, match=r"unknown release '0\.8' of NKI; known: 0\.1, .*0\.7$"):
        release("0.8")


@pytest.mark.parametrize(
    ("name", "begins", "ends"),
    [
        ("nki.isa.nc_matmul", "0.1", None),
        ("nki.isa.nc_matmul(dst)", "0.1", None),
        ("nki.isa.nc_matmul(accumulate)", "0.3", None),
        ("nki.isa.nc_matmul(is_moving_zero)", "0.1", "0.1"),
        ("nki.isa.nc_matmul(is_moving_onezero)", "0.2", None),
        ("nki.isa.dma_copy(unique_indices)", "0.2", "0.2"),
        ("nki.isa.dma_compute(unique_indices)", "0.3", None),
        ("nki.isa.dma_compute(oob_mode)", "0.4", None),
        ("nki.isa.tensor_copy_dynamic_src", "0.1", "0.3"),
        ("nki.isa.tensor_copy_dynamic_src(dst)", "0.1", "0.3"),
        ("nki.isa.activate2", "0.4", None),
        ("nki.isa.topk", "0.6", None),
        ("nki.language.exp", "0.1", None),
        ("nki.language.exp()", "0.3", None),
        ("nki.language.dynamic_range", "0.1", "0.6"),
        ("nki.language.fori_loop", "0.6", None),
        ("nki.language.tile_size.psum_num_banks", "0.5", None),
        ("nki.collectives", "0.2", None),
        ("nki.collectives.all_reduce(priority)", "0.4", None),
        ("nki.collectives.all_reduce(name)", "0.5", None),
        ("nki.simulate", "0.3", None),
        ("nki.unheard_of", "0.1", None),
    ],
)
def test_since_and_until(name, begins, ends):
    assert since(name) is release(begins)
    last = until(name)
    assert last is (None if ends is None else release(ends))


def test_replacement_and_deprecation():
    assert "nisa.tensor_copy" in (table.replacement("nki.isa.tensor_copy_dynamic_dst") or "")
    assert table.replacement("nki.isa.register_move(imm)") == "use 'src'"
    assert table.replacement("nki.language.affine_range") == "use range"
    assert table.replacement("nki.isa.nc_matmul") is None
    assert deprecated_in("nki.language.dynamic_range") is release("0.6")
    assert deprecated_in("nki.isa.nc_matmul") is None


def test_rules_of_the_compiler_by_release():
    assert [r.version for r in releases() if is_held("portable-identity", r)] == [
        *("0.3", "0.4", "0.5", "0.6")
    ]
    assert all(is_held("portable-state", r) for r in releases())
    assert [r.version for r in releases() if is_held("portable-loop", r)] == ["0.7"]


def test_a_name_that_was_removed():
    with pytest.raises(AttributeError) as raised:
        _ = nisa.tensor_copy_dynamic_src
    assert str(raised.value) == (
        "nki.isa.tensor_copy_dynamic_src was removed in NKI 0.4; use nisa.tensor_copy with "
        "t.ap(..., scalar_offset=...)"
    )
