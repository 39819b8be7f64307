# RUN: nkijit trace %s:instances | filecheck --check-prefix=INSTANCES %s
# RUN: nkijit trace %s:outer | filecheck --check-prefix=OUTER %s
# RUN: nkijit trace %s:inner | filecheck --check-prefix=INNER %s
# RUN: nkijit trace %s:plain -c 2 | filecheck --check-prefix=CORES %s
# RUN: not nkijit verify %s:nested 2>&1 | filecheck --match-full-lines --check-prefix=NESTED %s
# RUN: not nkijit verify %s:axis 2>&1 | filecheck --check-prefix=AXIS %s

# All instances that a core runs are one kernel, in the order of the grid.

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


def fill():
    out = nl.ndarray((4, 2, 1, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    i, j = nl.program_id(0), nl.program_id(1)
    tile = nl.full((1, 1), 10 * i + j, nl.float32)
    nl.store(out[i, j], tile)
    return out


# INSTANCES: %out = nki.alloc : memref<4x2x1x1xf32, #nki.shared_hbm>
# INSTANCES-NOT: shared_hbm
# INSTANCES: nisa.memset dst=%tile, value=0{{$}}
# INSTANCES: nisa.memset dst=%tile_1, value=1{{$}}
# INSTANCES: nisa.memset dst=%tile_2, value=10{{$}}
# INSTANCES: nisa.memset dst=%tile_3, value=11{{$}}
# INSTANCES: nisa.memset dst=%tile_7, value=31{{$}}
# INSTANCES: nki.return %out
instances = nki.jit(fill)[4, 2]

# OUTER: @fill_core0() target=trn2 program=[0, 2]
# OUTER: nisa.memset dst=%tile, value=0{{$}}
# OUTER: nisa.memset dst=%tile_2, value=10{{$}}
# OUTER: @fill_core1() target=trn2 program=[1, 2]
# OUTER: nisa.memset dst=%tile, value=20{{$}}
# OUTER: nisa.memset dst=%tile_2, value=30{{$}}
outer = nki.jit(fill)[nl.spmd_dim(nl.nc(2), 2), 2]

# INNER: @fill_core0() target=trn2 program=[0, 2]
# INNER: nisa.memset dst=%tile, value=0{{$}}
# INNER: nisa.memset dst=%tile_2, value=20{{$}}
# INNER: @fill_core1() target=trn2 program=[1, 2]
# INNER: nisa.memset dst=%tile, value=10{{$}}
# INNER: nisa.memset dst=%tile_2, value=30{{$}}
inner = nki.jit(fill)[2 * nl.nc(2), 2]


@nki.jit
def plain():
    # CORES: @plain_core0() target=trn2 program=[0, 2]
    # CORES: nisa.memset dst=%tile, value=0{{$}}
    # CORES: @plain_core1() target=trn2 program=[1, 2]
    # CORES: nisa.memset dst=%tile, value=1{{$}}
    out = nl.ndarray((2, 1, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    core = nl.program_id(0)
    tile = nl.full((1, 1), core, nl.float32)
    nl.store(out[core], tile)
    return out


@nki.jit
def nested():
    # NESTED: error[err_nested_kernel_with_spmd_grid]: kernel 'fill': it is called with a grid inside another kernel
    # NESTED-NEXT: --> {{.*}}grids.py:[[# @LINE + 4]]:12
    # NESTED-NEXT: |
    # NESTED-NEXT: [[# @LINE + 2]] | return instances()
    # NESTED: = help: call it without a grid, and give the grid to the outer kernel
    return instances()


@nki.jit
def axis():
    # AXIS: error[argument]: nl.program_id: 'axis': the launch grid has 0 dimensions, got axis 3
    # AXIS: = help: pass an axis of the grid, which counts from 0; kernel[4, 2](...) has axes 0 and 1
    nl.program_id(3)
