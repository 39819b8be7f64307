"""Kernels under transformations of JAX that need several devices: a fresh process has two."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("jax")

PROGRAM = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

import nkijit as nki
from nkijit.frameworks.calls import ArgumentTypeError
import nkijit.language as nl

@nki.jit
def doubled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nl.add(tile, tile))
    return out

values = np.arange(128 * 8, dtype=np.float32).reshape(128, 8)
mesh = jax.make_mesh((2,), ("rows",), axis_types=(AxisType.Explicit,))
sharded = jax.device_put(values, NamedSharding(mesh, P("rows")))

def refused(call):
    try:
        call()
    except ArgumentTypeError as error:
        return str(error)

assert "'x' is sharded over 2 devices" in refused(lambda: doubled(sharded))
assert "'x' is sharded over the axes" in refused(lambda: jax.jit(doubled)(sharded))

# A kernel on each device.
each = jax.jit(jax.shard_map(doubled, mesh=mesh, in_specs=P("rows"), out_specs=P("rows")))
result = each(sharded)
assert len(result.sharding.device_set) == 2
assert np.array_equal(result, values * 2)
assert np.array_equal(doubled(jax.device_get(sharded)), values * 2)
"""


def test_sharded_arrays():
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment, timeout=600)
