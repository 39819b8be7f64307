"""Launch grids: their instances, the cores that run them, and shared tensors."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import nkijit.classic as nki
import nkijit.classic.language as nl
from nkijit import NkiValidationError, UnsupportedError
from nkijit.classic.grids.grid import LaunchGrid


@nki.jit
def coordinates() -> Any:
    """Write the coordinates and grid sizes of each instance to its row."""
    i, j, k = (nl.program_id(axis) for axis in range(3))
    out = nl.ndarray((3, 2, 4, 1, 6), dtype=nl.int32, buffer=nl.shared_hbm)
    known = [i, j, k, nl.num_programs(), nl.num_programs((0, 2)), nl.program_ndim()]
    for column, number in enumerate(known):
        nl.store(out[i, j, k, :, column : column + 1], nl.full((1, 1), number, nl.int32))
    return out


def test_every_instance_knows_its_place() -> None:
    expected = np.array([(*at, 24, 12, 3) for at in product(range(3), range(2), range(4))])
    assert np.array_equal(coordinates[3, 2, 4](), expected.reshape(3, 2, 4, 1, 6))


def test_instances_on_two_cores_write_the_same_tensor() -> None:
    expected = coordinates[3, 2, 4]()
    assert np.array_equal(coordinates[3, nl.nc(2), 4](), expected)
    assert np.array_equal(coordinates[3, 2, 2 * nl.nc(2)](), expected)
    assert np.array_equal(coordinates[3, 2, nl.nc(2) * 2](), expected)


# The two assignments that the reference shows for nl.spmd_dim, of kernel[4, 2] to two cores.
FIRST_HALF = {(0, 0), (0, 1), (1, 0), (1, 1)}
EVEN = {(0, 0), (0, 1), (2, 0), (2, 1)}


@pytest.mark.parametrize(
    ("dim", "on_core_0"),
    [
        (nl.spmd_dim(nl.nc(2), 2), FIRST_HALF),
        (nl.nc(2) * 2, FIRST_HALF),
        (nl.spmd_dim(2, nl.nc(2)), EVEN),
        (2 * nl.nc(2), EVEN),
    ],
)
def test_which_core_runs_which_instance(dim: Any, on_core_0: set[tuple[int, int]]) -> None:
    grid = LaunchGrid.of((dim, 2))
    assert grid.cores == 2
    assert grid.sizes == (4, 2)
    assert set(grid.instances(0)) == on_core_0
    assert set(grid.instances(1)) == set(product(range(4), range(2))) - on_core_0


def test_the_order_of_several_factors() -> None:
    """Row-major over the factors: the core is the middle digit."""
    grid = LaunchGrid.of(nl.spmd_dim(3, nl.nc(2), 2))
    cores = [core for _, core, _ in product(range(3), range(2), range(2))]
    assert list(grid.placed) == cores


@pytest.mark.parametrize(
    "grid",
    [0, -1, 2.0, True, "2", (), (1, 1, 1, 1), (2, 0), (nl.nc(2), nl.nc(2)), nl.nc(4), None],
)
def test_grids_that_do_not_exist(grid: Any) -> None:
    with pytest.raises(ValueError, match="grid"):
        coordinates[grid]


def test_a_dimension_is_spread_once() -> None:
    with pytest.raises(ValueError, match="spread over cores once"):
        nl.spmd_dim(nl.nc(2), nl.nc(2))


def test_two_cores_need_neuroncore_v3() -> None:
    with pytest.raises(UnsupportedError, match="two cores need NeuronCore-v3"):
        coordinates.for_target("trn1")[3, nl.nc(2), 4]()


def test_a_kernel_without_a_grid_is_instance_0() -> None:
    @nki.jit
    def kernel() -> Any:
        out = nl.ndarray((1, 4), dtype=nl.int32, buffer=nl.shared_hbm)
        known = [nl.program_id(2), nl.num_programs(), nl.num_programs(1), nl.program_ndim()]
        for column, number in enumerate(known):
            nl.store(out[:, column : column + 1], nl.full((1, 1), number, nl.int32))
        return out

    assert kernel().tolist() == [[0, 1, 1, 0]]


@pytest.mark.parametrize("axis", [2, -1, 1.5, None])
def test_an_axis_that_the_grid_does_not_have(axis: Any) -> None:
    @nki.jit
    def kernel(axis: Any) -> Any:
        return nl.program_id(axis)

    with pytest.raises(NkiValidationError, match="the launch grid has 2 dimensions"):
        kernel[2, 2].trace(axis)


def test_instances_have_own_tiles_and_share_shared_tensors() -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        own = nl.ndarray((8, 4), dtype=x.dtype, buffer=nl.private_hbm)
        i = nl.program_id(0)
        nl.store(own, nl.load(x[i]))
        nl.store(out[i], nl.load(own))
        return out

    x = np.random.default_rng(1).random((5, 8, 4)).astype(np.float32)
    assert np.array_equal(kernel[5](x), x)
    text = str(kernel[5].trace(x))
    assert text.count("#nki.private_hbm>\n") == 5
    assert text.count("#nki.shared_hbm>\n") == 1


def test_instances_that_return_different_tensors() -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape[1:], dtype=x.dtype, buffer=nl.private_hbm)
        nl.store(out, nl.load(x[nl.program_id(0)]))
        return out

    with pytest.raises(NkiValidationError, match="instances of the grid return different tensors"):
        kernel[2](np.zeros((2, 8, 4), np.float32))


@pytest.mark.parametrize("arguments", [(4,), (1, 5), (8, 0, -3), (3, 3)])
def test_ranges_are_those_of_python(arguments: tuple[int, ...]) -> None:
    expected = range(*arguments)
    for loop in (nl.affine_range, nl.sequential_range, nl.static_range):
        made = loop(*arguments)
        assert list(made) == list(expected)
        assert list(reversed(made)) == list(reversed(expected))
        assert len(made) == len(expected)
        assert [made[i] for i in range(len(made))] == list(expected)
    with pytest.raises(TypeError):
        nl.affine_range(2.5)  # pyright: ignore[reportArgumentType]
