"""Tensor Engine instructions."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic.calls import Axis, functional, refuse_rest
from nkijit.classic.tensors import Tensor
from nkijit.dialects.hardware import MemoryRegion


def nc_matmul(
    stationary: Any,
    moving: Any,
    *,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    is_transpose: bool = False,
    tile_position: tuple[int, ...] = (),
    tile_size: tuple[int, ...] = (),
    mask: Any = None,
    **kwargs: Any,
) -> Tensor:
    """`stationary.T @ moving` in a new float32 tile in PSUM; see `nkijit.isa.nc_matmul`."""
    call = "nisa.nc_matmul"
    refuse_rest(call, kwargs)
    return functional(
        call,
        isa.nc_matmul,
        {
            "stationary": stationary,
            "moving": moving,
            "is_stationary_onezero": is_stationary_onezero,
            "is_moving_onezero": is_moving_onezero,
            "is_transpose": is_transpose,
            "accumulate": False,
            "tile_position": tile_position,
            "tile_size": tile_size,
        },
        axes={"stationary": (0, 1), "moving": (0, 2)},
        shape=(Axis(1), Axis(2)),
        dtype="float32",
        mask=mask,
        buffer=MemoryRegion.psum,
        box_only=True,
    )


__all__ = ["nc_matmul"]
